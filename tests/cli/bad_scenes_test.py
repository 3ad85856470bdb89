"""Malformed scenes, each with its exact message: one line on standard error, status 2, nothing written."""

import re
import unittest

from program import SOURCE, ProgramTest, keys_of_reference


def bad_scenes():
    """The scenes of bad_scenes.txt: a name, what is said of it, and the text."""
    bases, words = {}, keys_of_reference()
    for block in re.split(r"^(?=(?:---|===) )", (SOURCE / "tests/cli/bad_scenes.txt").read_text(), flags=re.MULTILINE)[1:]:
        kind, name, *after = block.partition("\n")[0].replace(" after ", " ").split(" ")
        lines = block.rstrip("\n").split("\n")[1:]
        if kind == "---":
            bases[name] = "\n".join(lines) + "\n"
        else:
            message = re.sub(r"\{([\w.]+)\}", lambda key: words[key[1]], lines[0])
            yield name + ".toml", message, "".join(bases[base] for base in after) + "\n".join(lines[1:])


class BadScenes(ProgramTest):
    def test_each_is_refused_in_one_line_and_nothing_is_written(self):
        scenes = list(bad_scenes())
        self.assertGreaterEqual(len(scenes), 150)
        for name, _, text in scenes:
            self.write(name, text)
        before = self.files()
        self.assertEqual(len(before), len(scenes))
        for name, message, _ in scenes:
            for command in ["check", "run"]:
                with self.subTest(scene=name, command=command):
                    result = self.carom(command, name)
                    self.assertEqual(result.err, f"carom: {name}:{message}\n")
                    self.assertEqual(result.status, 2)
                    self.assertEqual(result.out, "")
                    self.assertEqual(self.files(), before)


# --set KEY=VALUE and what is said about it, for the scene two_balls.
OVERRIDES = [
    ("physics.restitution=2", "physics.restitution: must be a number from 0 to 1, not 2"),
    ("physics.restituton=1", 'physics.restituton: unknown key; did you mean "restitution"?'),
    ("physcs.restitution=1", 'physcs: unknown table; did you mean "physics"?'),
    ("ball[2].speed=1", "ball has 2 entries, the last is ball[1]"),
    ("ball.speed=1", "ball is an array: write ball[0].speed"),
    ("ball.0.speed=1", "ball is an array: write ball[0]"),
    ("fill[0].count=1", "the scene has no fill"),
    ("ball[0].position[2]=1", "ball[0].position has 2 entries, the last is ball[0].position[1]"),
    ("ball[0].position[0]=11", "ball[0].position[0]: must be inside the box, from 0 to 10, not 11"),
    ("ball[0]=3", "ball[0]: must be a table of a list, [[ball]], not 3"),
    ("ball=3", "ball: must be tables in a list: [[ball]]"),
    ("scene.title=" + 10_001 * "x", "scene.title: must be at most 10000 bytes long, not 10001"),
    ("run.until", "must be KEY=VALUE"),
    ("run..until=1", "the key must look like table.key or table[0].key[1]"),
    ("box.size=[10.0", 'box.size: must be an array of 2 numbers, not "[10.0"'),
]


# Assignments of which the spring solver cannot run with the first.
BEYOND_NUMBERS = [
    ["spring.stiffness=1e308"],
    ["spring.stiffness=1e308", "spring.law=hertz"],
    ["spring.stiffness=1e-60"],
    ["spring.stiffness=1e60", "spring.dt=0.01", "ball[0].velocity=[1e10,0]"],
    ["spring.wall_stiffness=1e100"],
    ["spring.wall_stiffness=1e100", "spring.stiffness=1e4", "spring.dt=0.01"],
    ["spring.damping=1e100"],
    ["spring.damping=1e100", "spring.dt=0.01"],
    ["spring.dt=1e-300"],
    ["spring.dt=1e300"],
    ["box.size=[1e12,1e12]"],
    ["box.min=[1e13,0]", "ball[0].position=[10000000000002,3.5]", "ball[1].position=[10000000000005,3]"],
    ["physics.gravity=[1e308,0]"],
    ["ball[0].velocity=[1e30,0]"],
    ["ball[0].velocity=[1e30,0]", "spring.dt=0.01"],
    ["ball[0].velocity=[1e30,0]", "physics.restitution=0.5", "physics.gravity=[0,-9.81]"],
    ["ball[0].velocity=[1e-60,0]"],
    ["species[0].mass=1e60"],
    ["species[0].mass=1e-60"],
    ["species[0].radius=1e-30"],
]


DRIVEN = """
[scene]
dimension = 2
[box]
size = [10.0, 8.0]
[spring]
dt = 0.001
[[wall]]
shape = "plane"
normal = [1.0, 0.0]
[[ball]]
radius = 0.5
mass = 1.0
position = [5.0, 4.0]
[[stage]]
until = 2.0
[[stage]]
until = 4.0
thermostat = { kind = "andersen", temperature = 1.0, rate = 1.0 }
"""

# The same of what drives the balls.
BEYOND_DRIVEN = ["physics.gravity=[0,1e60]", "stage[0].gravity=[0,1e60]", "wall[0].velocity=1e30",
                 "stage[1].wall_velocity=[1e30]", "box.wall_temperature=[1e60,0]", "stage[0].wall_temperature=[1e60,0]",
                 "wall[0].temperature=1e60", "stage[1].wall_entry_temperature=[1e60]",
                 "stage[1].thermostat.temperature=1e60"]


class BadOverrides(ProgramTest):
    def test_what_drives_too_hard_for_the_spring_solver_is_named(self):
        self.write("driven.toml", DRIVEN)
        self.succeed("check", "driven.toml")
        for assignment in BEYOND_DRIVEN:
            with self.subTest(assignment):
                result = self.carom("check", "driven.toml", "--set", assignment)
                key = assignment.split("=")[0]
                self.assertRegex(result.err, rf"\Acarom: --set {re.escape(assignment)}: {re.escape(key)}: the spring "
                                             r"solver cannot run this: .*\n\Z")
                self.assertEqual(result.status, 2)

    def test_stages_of_more_steps_than_can_be_counted_are_named(self):
        stages = "\n".join(line for line in DRIVEN.splitlines() if "andersen" not in line) + "\n"
        self.write("driven.toml", stages)
        for assignment in ["stage[1].until=1e300", "run.until=1e300"]:
            with self.subTest(assignment):
                result = self.carom("check", "driven.toml", "--set", assignment)
                self.assertRegex(result.err, rf"\Acarom: --set {re.escape(assignment)}: "
                                             rf"{re.escape(assignment.split('=')[0])}: takes more steps of 0.001 than "
                                             r"can be counted; allowed: up to 9.2e\+15\n\Z")
                self.assertEqual(result.status, 2)
        # In the file, and though the run itself is short.
        self.write("far.toml", stages.replace("until = 4.0", "until = 1e300") + "[run]\nuntil = 1.0\n")
        result = self.carom("check", "far.toml")
        self.assertRegex(result.err, r"\Acarom: far.toml:18:9: stage\[1\].until: takes more steps of 0.001 than can be ")
        self.assertEqual(result.status, 2)

    def test_what_the_spring_solver_cannot_run_with_is_named(self):
        for assignments in BEYOND_NUMBERS:
            with self.subTest(assignments):
                result = self.carom("check", "two_balls", *(word for one in assignments for word in ["--set", one]))
                key = assignments[0].split("=")[0]
                self.assertTrue(result.err.startswith(
                    f"carom: --set {assignments[0]}: {key}: the spring solver cannot run this: "), result.err)
                self.assertEqual(result.status, 2)
                self.assertEqual(result.err.count("\n"), 1)

    def test_each_is_refused_in_one_line_and_nothing_is_written(self):
        for assignment, message in OVERRIDES:
            with self.subTest(assignment):
                result = self.carom("run", "two_balls", "--set", assignment)
                self.assertEqual(result.err, f"carom: --set {assignment}: {message}\n")
                self.assertEqual(result.status, 2)
                self.assertEqual(self.files(), [])


class MissingScenes(ProgramTest):
    def test_a_file_that_is_not_there_is_status_4(self):
        result = self.carom("check", "folder/gas.toml")
        self.assertEqual((result.status, result.err), (4, "carom: folder/gas.toml: no such file\n"))

    def test_an_unknown_name_lists_the_installed_scenes(self):
        result = self.carom("check", "gas9d")
        self.assertEqual(result.status, 4)
        self.assertIn("gas9d: no such file, and no installed scene of this name (", result.err)
        self.assertIn("gas2d", result.err)

    def test_a_folder_is_no_scene(self):
        result = self.carom("check", ".")
        self.assertEqual(result.status, 4)


if __name__ == "__main__":
    unittest.main()
