"""What carom says to somebody who took the wrong word, the wrong file or an impossible number."""

import os
import shutil
import subprocess
import unittest

from program import GAS, PROGRAM, ProgramTest, Result

MANY_FAULTS = """
[scene]
dimension = 2
titel = "x"
[box]
size = [10.0, -8.0]
boundary = ["pbc", "wall"]
[physics]
restitution = 2
[[species]]
name = "a"
radius = 0.5
mass = "heavy"
[[fill]]
species = "a"
number = 100
[[observe]]
name = "g"
kind = "rdf"
"""


class AllAtOnce(ProgramTest):
    def test_each_fault_of_a_scene_is_a_line_in_the_order_of_the_file(self):
        self.write("many.toml", MANY_FAULTS)
        for command in ["check", "run"]:
            result = self.carom(command, "many.toml")
            self.assertEqual(result.status, 2)
            lines = result.err.splitlines()
            starts = ['4:1: scene.titel: unknown key; did you mean "title"?', "6:15: box.size[1]: must be a number above 0, not -8",
                      '7:13: box.boundary[0]: must be "wall", "periodic" or "open"', "9:15: physics.restitution: must be a number from 0 to 1",
                      "13:8: species[0].mass: must be a number above 0", '16:1: fill[0].number: unknown key; did you mean "count"?',
                      "19:8: observe[0].kind: must be"]
            self.assertEqual(len(lines), len(starts), result.err)
            for line, start in zip(lines, starts):
                self.assertTrue(line.startswith("carom: many.toml:" + start), line)
            self.assertTrue(lines[2].endswith('not "pbc"; did you mean "periodic"?'), lines[2])
            self.assertTrue(lines[6].endswith('not "rdf"; did you mean "gr"?'), lines[6])
        self.assertEqual(self.files(), ["many.toml"])

    def test_what_follows_from_a_fault_is_not_told(self):
        # The ball would be outside of a box that is not what was meant, and of a species that cannot be read.
        self.write("one.toml", '[scene]\ndimension = 2\n[box]\nsize = ["ten", 8.0]\n[[species]]\nname = "a"\nradius = 0.5\n'
                               'mass = 1.0\n[[ball]]\nspecies = "a"\nposition = [5.0, 4.0]\n')
        result = self.carom("check", "one.toml")
        self.assertEqual(result.err, 'carom: one.toml:4:9: box.size[0]: must be a number above 0, not "ten"\n')

    def test_of_very_many_faults_the_first_are_told(self):
        self.write("balls.toml", "[scene]\ndimension = 2\n[box]\nsize = [9.0, 8.0]\n" + 1000 * "[[ball]]\nradius = -1\n")
        lines = self.carom("check", "balls.toml").err.splitlines()
        self.assertEqual((len(lines), lines[-1]), (21, "carom: and 980 more"))


class Meanings(ProgramTest):
    def test_a_key_without_its_table_is_found(self):
        for key, meant in [("gravity=[0,-1]", "physics.gravity or stage.gravity"), ("k=3", "spring.stiffness"),
                           ("restitution=1", "physics.restitution")]:
            result = self.carom("check", "two_balls", "--set", key)
            name = key.split("=")[0]
            self.assertEqual((result.status, result.err),
                             (2, f"carom: --set {key}: {name}: unknown table; did you mean the key {meant}?\n"))

    def test_files_are_named_for_what_they_are(self):
        self.succeed("run", "two_balls", "--quiet")
        self.write("table.h5", "a,b\n1,2\n")
        self.write("picture.toml", "\x7fELF\x00")
        self.write("empty.toml", "")
        trajectory = "an HDF5 file, as trajectories and checkpoints are"
        for arguments, says in [
                (["check", "two_balls.h5"], f"two_balls.h5: is {trajectory}, not a scene"),
                (["state", "table.h5"], "table.h5: is a CSV table, not a trajectory of carom"),
                (["report", "empty.toml"], "empty.toml: is empty, not a trajectory of carom"),
                (["run", "picture.toml"], "picture.toml: is a program, not a scene"),
                (["run", "--resume", "two_balls.h5"], "two_balls.h5: is not a whole checkpoint of carom: it is a trajectory; "
                                                      "the checkpoint of its run has checkpoint in its name")]:
            result = self.carom(*arguments)
            self.assertEqual((result.status, result.err), (2, f"carom: {says}\n"))
        scenes = self.carom("scenes").out.splitlines()[-1].removeprefix("in ")
        result = self.carom("run", f"{scenes}/pinfall.sweep.toml")
        self.assertEqual(result.err, f"carom: {scenes}/pinfall.sweep.toml: is a sweep, not a scene; carom sweep runs it\n")
        result = self.carom("sweep", "two_balls")
        self.assertEqual(result.err, f"carom: {scenes}/two_balls.toml: is a scene, not a sweep; carom run runs it\n")


class Scenes(ProgramTest):
    def test_installed_scenes_are_listed_with_what_they_are(self):
        out = self.succeed("scenes").out
        for line in ["  two_balls                 Two equal balls, one at rest, meet off centre\n", "sweeps, for carom sweep:\n",
                     "  pinfall                   Pinfall by position and entry angle: 8 x 8 = 64 throws at ten pins\n"]:
            self.assertIn(line, out)
        self.assertTrue(os.path.isdir(out.splitlines()[-1].removeprefix("in ")))

    def test_a_program_without_its_scenes_says_where_it_looked(self):
        (self.folder / "bin").mkdir()
        alone = shutil.copy(PROGRAM, self.folder / "bin" / "carom")
        folder = f"{self.folder.resolve()}/share/carom/scenes"
        def run(*arguments):
            return Result(subprocess.run([alone, *arguments], capture_output=True, text=True, cwd=self.folder, timeout=60))
        result = run("run", "gas2d")
        self.assertEqual((result.status, result.err),
                         (4, f"carom: gas2d: no such file, and no scenes are installed in {folder}\n"))
        result = run("sweep", "pinfall")
        self.assertEqual((result.status, result.err),
                         (4, f"carom: pinfall: no such file, and no scenes are installed in {folder}\n"))
        self.assertEqual(run("scenes").err, f"carom: no scenes are installed in {folder}\n")


class Impossible(ProgramTest):
    def test_an_unstable_time_step_needs_force(self):
        self.write("gas.toml", GAS)
        for command in [["check"], ["run", "--quiet"]]:
            result = self.carom(*command, "gas.toml", "--set", "spring.dt=0.1")
            self.assertRegex(result.err, r"\Acarom: --set spring.dt=0.1: spring.dt: dt = 0.1 is unstable: the stiffest contact "
                                         r"needs less than 0.014\d*; carom run --force insists\n\Z")
            self.assertEqual(result.status, 2)
        self.assertEqual(self.files(), ["gas.toml"])
        result = self.carom("run", "gas.toml", "--set", "spring.dt=0.1", "--force")
        self.assertIn("warning: dt = 0.1 is unstable", result.err)
        self.assertNotEqual(result.status, 2)

    def test_a_scene_without_balls_warns(self):
        self.write("empty.toml", "[scene]\ndimension = 2\n[box]\nsize = [9.0, 8.0]\n")
        warning = "warning: the scene has no balls: a [[ball]] or a [[fill]] would be some\n"
        self.assertIn(warning, self.succeed("check", "empty.toml").out)
        self.assertIn(warning, self.succeed("run", "empty.toml").err)


if __name__ == "__main__":
    unittest.main()
