"""`carom check`: what it predicts is what a run takes."""

import json
import re
import subprocess
import sys
import unittest

from program import GAS, PROGRAM, ProgramTest

# Runs the program and prints its peak memory in bytes; a process of its own, since that is counted over all children.
MEASURE = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""

MANY = """
[scene]
dimension = {dimension}
[box]
size = {size}
[output]
every = {every}
observables_every = 0
[[fill]]
count = {count}
radius = 0.5
mass = 1.0
temperature = 1.0
arrangement = "lattice"
"""


# All that can drive balls, and stages that change it.
DRIVEN = """
[scene]
dimension = 2
[box]
size = [14.0, 10.0]
wall_temperature = [[2.0, 0.0], 0.0]
[thermostat]
kind = "andersen"
temperature = 1.5
rate = 0.5
[[wall]]
shape = "plane"
normal = [0.0, 1.0]
velocity = 0.25
[[wall]]
shape = "sphere"
center = [7.0, 5.0]
radius = 1.0
side = "outside"
temperature = 1.0
[[fill]]
radius = 0.5
mass = 1.0
count = 20
temperature = 1.0
[[observe]]
name = "speeds"
kind = "speed"
every = 0.01
[[stage]]
name = "equilibrate"
until = 2.0
[[stage]]
until = 4.0
gravity = [0.0, -1.0]
thermostat = { kind = "rescale", temperature = 3.0, every = 0.1 }
wall_temperature = [[0.0, 1.5], 0.0]
wall_entry_temperature = ["same", 0.0]
wall_velocity = [0.0, "same"]
measure = true
[[stage]]
name = "hold"
until = 10.0
thermostat = { kind = "none" }
measure = false
"""


class Check(ProgramTest):
    def check_json(self, *arguments):
        return json.loads(self.succeed("check", *arguments, "--json").out)

    def test_it_prints_the_derived_numbers_and_writes_nothing(self):
        self.write("gas.toml", GAS)
        text = self.succeed("check", "gas.toml").out
        for word in ["200 in 2D", "packing fraction", "stiffness", "time step", "contact duration", "500 to t = 0.5",
                     "memory", "6 frames and 11 rows"]:
            self.assertIn(word, text)
        self.assertEqual(self.files(), ["gas.toml"])

    def test_it_says_how_well_a_restitution_is_met(self):
        self.write("gas.toml", GAS)
        self.assertNotIn("restitution", self.succeed("check", "gas.toml").out)
        for restitution, percent in [("0.75", "0.62"), ("0.4", "2.5")]:
            damped = ("gas.toml", "--set", f"physics.restitution={restitution}", "--set", "spring.dt=auto",
                      "--set", "output.every=0")
            self.assertIn(f"to {percent} %, with where in a step a contact begins", self.succeed("check", *damped).out)
            self.assertAlmostEqual(self.check_json(*damped)["restitution_scatter"], float(percent) / 100.0, delta=6e-4)
        self.assertNotIn("restitution_scatter", self.check_json("gas.toml", "--set", "physics.restitution=0.4",
                                                                "--set", "spring.law=hertz"))

    def test_what_it_predicts_is_what_the_run_says(self):
        self.write("gas.toml", GAS)
        for options in [[], ["--until", "0.123"], ["--steps", "77"], ["--set", "output.every=0"],
                        ["--set", "output.every=0.0004"]]:
            predicted = self.check_json("gas.toml", *options)
            done = self.run_json("gas.toml", "--force", *options)
            for key in ["balls", "steps", "frames", "rows", "dt", "precision", "backend"]:
                self.assertEqual(predicted[key], done[key], f"{key} with {options}")

    def test_the_time_that_a_run_takes_is_told(self):
        # Other programs take the processor now and then: a factor of ten is not the estimate's fault.
        self.write("gas.toml", GAS)
        for options in [["--until", "20"], ["--until", "0.001"], ["--solver", "events", "--until", "200"]]:
            predicted = self.check_json("gas.toml", *options)["estimated_seconds"]
            taken = self.run_json("gas.toml", *options, "--force")["wall_seconds"]
            self.assertLess(predicted, 10.0 * taken + 0.5, options)
            self.assertGreater(predicted, 0.1 * taken - 0.5, options)
        self.assertRegex(self.succeed("check", "gas.toml", "--until", "1e7").out,
                         r"\n  time              about \d+ (h|days), as its first moments go\n")

    def test_rows_of_many_balls_are_as_many_as_cost_little(self):
        self.write("many.toml", MANY.format(dimension=2, size=[500.0, 500.0], every=0, count=100_000).replace(
            "observables_every = 0\n", ""))
        # A twentieth of the run, a row costing four steps: 80 steps from one to the next.
        for steps, rows in [(800, 101), (3_000, 101), (20_000, 201), (200_000, 1001)]:
            self.assertEqual(self.check_json("many.toml", "--steps", steps)["rows"], rows, steps)
        few = MANY.format(dimension=2, size=[50.0, 50.0], every=0, count=1_000).replace("observables_every = 0\n", "")
        self.write("few.toml", few)
        self.assertEqual(self.check_json("few.toml", "--steps", 2_000)["rows"], 1001)
        said = self.succeed("run", "few.toml", "--steps", 100).err
        self.assertRegex(said, r"\nobserved: a row every \S+ s\n")

    def test_samples_are_as_many_as_cost_little(self):
        observed = "".join(f'[[observe]]\nname = "{kind}"\nkind = "{kind}"\n' for kind in ["msd", "vacf", "density"])
        self.write("gas.toml", GAS + observed)
        rate = '[[observe]]\nname = "rate"\nkind = "collision_rate"\n'
        self.write("rate.toml", GAS + rate)
        for solver in ["spring", "events"]:
            options = ["--solver", solver, "--until", "100"]
            every = {name: one["every"] for name, one in self.check_json("gas.toml", *options)["averages"].items()}
            collisions = self.run_json("rate.toml", "--solver", "events", "--until", "100", "--force")
            mean_free_time = 1.0 / collisions["averages"]["rate"]["mean"]
            for kind in ["msd", "vacf"]:
                # By Enskog's theory in the box; walls keep centres away, so that the gas is a little denser.
                self.assertAlmostEqual(every[kind] / mean_free_time, 0.22, delta=0.05, msg=f"{kind}, {solver}")
            self.assertAlmostEqual(every["density"], 0.1, delta=1e-3)
        # Of many balls samples cost what they cost.
        many = MANY.format(dimension=2, size=[500.0, 500.0], every=0, count=100_000) + observed
        self.write("many.toml", many)
        averages = self.check_json("many.toml", "--steps", 100_000)["averages"]
        dt = self.check_json("many.toml")["dt"]
        self.assertAlmostEqual(averages["density"]["every"] / dt, 3 * 4200 / 19, delta=1.0)
        self.assertAlmostEqual(averages["msd"]["every"] / dt, 3 * 4200 / 19, delta=1.0)
        self.assertLessEqual(averages["vacf"]["every"], averages["msd"]["every"])

    def test_frames_fall_on_the_times_asked_for(self):
        self.write("few.toml", MANY.format(dimension=2, size=[50.0, 50.0], every=0.25, count=100))
        self.succeed("run", "few.toml", "--quiet")
        for frame in range(5):
            said = self.carom("state", "few.h5", "--frame", frame).err
            self.assertIn(f"t = {0.25 * frame:.10g}, step", said)

    def test_the_size_of_the_output_is_near(self):
        # Small files are mostly structure, which is only roughly known.
        self.write("gas.toml", MANY.format(dimension=2, size=[120.0, 120.0], every=1e-3, count=5000))
        options = ["--steps", "500", "--set", "output.every=0.0015"]
        predicted = self.check_json("gas.toml", *options)["output_bytes"]
        self.run_json("gas.toml", *options)
        self.assertAlmostEqual((self.folder / "gas.h5").stat().st_size / predicted, 1.0, delta=0.25)

    def test_the_size_of_many_small_frames_is_near(self):
        # Few balls: the box, clocks and rows of each frame take more than the balls, and frames share chunks.
        for every, fields in [("1e-9", None), ("0.001", None), ("0.04", None), ("0.001", '["position"]')]:
            options = ["two_balls", "--set", f"output.every={every}"]
            if fields:
                options += ["--set", f"output.fields={fields}"]
            with self.subTest(every=every, fields=fields):
                predicted = self.check_json(*options)["output_bytes"]
                self.run_json(*options, "--force")
                size = (self.folder / "two_balls.h5").stat().st_size
                self.assertAlmostEqual(size / predicted, 1.0, delta=0.25)

    def test_the_size_of_averages_of_few_frames_is_near(self):
        kinds = ("speed", "velocity", "gr", "msd", "vacf", "temperature", "kurtosis", "stress", "density", "density_map")
        text = MANY.format(dimension=2, size=[24.0, 24.0], every=0.1, count=200)
        self.write("gas.toml", text + "".join(f'[[observe]]\nname = "a_{kind}"\nkind = "{kind}"\nevery = 0.05\n' for kind in kinds))
        for until in ("0.1", "1"):
            predicted = self.check_json("gas.toml", "--until", until)["output_bytes"]
            self.run_json("gas.toml", "--until", until, "--force")
            self.assertAlmostEqual((self.folder / "gas.h5").stat().st_size / predicted, 1.0, delta=0.25)

    def test_many_components_are_predicted_written_and_read(self):
        # The names of 16,000 components do not fit into an attribute.
        self.write("many.toml", MANY.format(dimension=2, size=[200.0, 200.0], every=0, count=16_000)
                   + '[[observe]]\nname = "each"\nkind = "displaced_each"\n')
        self.run_json("many.toml", "--steps", "1")
        self.assertTrue(self.succeed("state", "many.h5", "--csv").out)
        self.succeed("plot", "many.h5", "temperature", "-o", "figure.svg")

    def test_whole_numbers_are_not_rounded(self):
        self.write("gas.toml", GAS)
        self.run_json("gas.toml", "--seed", "9007199254740993", "--until", "0")
        self.succeed("check", "gas.toml", "--seed", "1234567890123456789")

    def test_memory_is_predicted_within_ten_per_cent(self):
        observe = '[[observe]]\nname = "moved"\nkind = "displaced"\n'
        for dimension, size, every, more in [(2, [700.0, 700.0], 0, ""), (2, [700.0, 700.0], 1e-4, ""),
                                             (3, [75.0, 75.0, 75.0], 0, ""), (2, [700.0, 700.0], 0, observe)]:
            with self.subTest(f"{dimension}D, every {every} {more}"):
                self.write("many.toml",
                           MANY.format(dimension=dimension, size=size, every=every, count=240_000) + more)
                options = ["many.toml", "--steps", "20", "--backend", "cpu"]
                predicted = self.check_json(*options)["memory_bytes"]
                measured = int(subprocess.run(
                    [sys.executable, "-c", MEASURE, PROGRAM, "run", *options, "--quiet", "--force"], cwd=self.folder,
                    check=True, capture_output=True, text=True, timeout=300).stdout)
                self.assertAlmostEqual(predicted / measured, 1.0, delta=0.1)

    def test_balls_for_which_there_is_no_memory_are_refused_before_they_are_placed(self):
        self.write("many.toml", MANY.format(dimension=2, size=[1e5, 1e5], every=0, count=2_000_000_000))
        limit = 2_000_000_000  # bytes of address space; the balls alone need some 100 GB
        result = subprocess.run(["prlimit", f"--as={limit}", PROGRAM, "check", "many.toml"], cwd=self.folder,
                                capture_output=True, text=True, timeout=100)
        self.assertEqual(result.returncode, 4)
        self.assertRegex(result.stderr, r"^carom: many.toml:\d+:\d+: fill\[0\].count: 2000000000 balls take 1\d\d GB "
                                        r"while they are placed, and this process may have 2 GB\n$")

    def test_where_a_run_stops_does_not_change_balls_that_start_at_rest(self):
        self.write("rest.toml", "[scene]\ndimension = 2\n[box]\nsize = [6.0, 5.0]\n"
                   "[[ball]]\nradius = 0.5\nmass = 1.0\nposition = [2.0, 2.0]\n"
                   "[[ball]]\nradius = 0.5\nmass = 1.0\nposition = [2.9, 2.0]\n")
        facts = [self.check_json("rest.toml", *options) for options in
                 [["--until", "1"], ["--until", "2"], ["--steps", "7"]]]
        for key in ["dt", "stiffness"]:
            self.assertEqual(len({one[key] for one in facts}), 1)
        self.assertIn("a pair of balls overlaps at the start by more than spring.max_overlap = 0.01, and will fly apart: "
                      "at most ball 0 and ball 1, by 0.2 of the smaller radius", facts[0]["warnings"][0])
        moved = self.check_json("rest.toml", "--set", "ball[0].position=[0.4, 2.0]")["warnings"]
        self.assertIn("a ball reaches into a wall at the start by more than spring.max_overlap = 0.01, and will fly off: "
                      "at most ball 0 into the x-min wall, by 0.2 of its radius", moved)
        self.assertEqual(self.check_json("rest.toml", "--set", "ball[0].position=[1.0, 2.0]")["warnings"], [])

    def test_contacts_of_many_steps_take_no_time(self):
        self.write("two.toml", """
[scene]
dimension = 2
[box]
size = [10.0, 10.0]
[physics]
restitution = 0.5
[spring]
dt = 1e-13
stiffness = 100.0
[run]
until = 1e-10
[[ball]]
radius = 0.5
mass = 1.0
position = [3.0, 5.0]
velocity = [1.0, 0.0]
[[ball]]
radius = 0.5
mass = 1.0
position = [6.0, 5.0]
""")
        found = {}
        for dt in ("1e-5", "1e-13"):
            found[dt] = self.check_json("two.toml", "--set", f"spring.dt={dt}")["restitution_scatter"]
        self.assertAlmostEqual(found["1e-13"] / found["1e-5"], 1e-8, delta=1e-10)

    def test_scales_that_the_event_solver_cannot_reckon_with_are_refused(self):
        scene = """
[scene]
dimension = 2
[box]
size = [{l}, {l}]
boundary = "periodic"
[run]
solver = "events"
until = {t}
[[ball]]
radius = {r}
mass = {m}
position = [{r}, {l}]
velocity = [{v}, 0.0]
"""
        usual = {"l": 10.0, "r": 1.0, "m": 1.0, "v": 1.0, "t": 1.0}
        for change, key, what in (({"l": 1e-99, "r": 1e-100, "v": 1e-80}, "box.size", "the size of the box times a speed is 10^-179"),
                                  ({"l": 1e142}, "box.size", "the size of the box is 10^142"),
                                  ({"r": 1e-141}, "ball[0].radius", "a radius is 10^-141"),
                                  ({"m": 1e-141}, "ball[0].mass", "a mass is 10^-141"),
                                  ({"v": 1e90, "t": 1e-90}, "ball[0].velocity", "an energy is 10^180")):
            with self.subTest(change):
                self.write("far.toml", scene.format(**(usual | change)))
                result = self.carom("check", "far.toml")
                self.assertEqual(result.status, 2, result.err)
                self.assertRegex(result.err, rf"\Acarom: far.toml:\d+:\d+: {re.escape(key)}: the events solver cannot run this: "
                                 rf"{re.escape(what)}; allowed: from 1e-140 to 1e\+140\n\Z")
        self.write("near.toml", scene.format(**usual))
        self.succeed("check", "near.toml")

    def test_more_steps_than_can_be_counted_are_refused(self):
        for options, key in [(["--until", "1e308"], "--until 1e308: run.until: takes more steps of "),
                             (["--steps", "18446744073709551615"], "--steps: 18446744073709551615 is more than ")]:
            result = self.carom("check", "two_balls", *options)
            self.assertEqual(result.status, 2)
            self.assertTrue(result.err.startswith("carom: " + key), result.err)
            self.assertEqual(result.err.count("\n"), 1)

    def test_a_body_of_infinite_mass_at_a_wall_gets_a_remedy_that_helps(self):
        self.write("heavy.toml", "[scene]\ndimension = 2\n[box]\nsize = [6.0, 5.0]\n"
                   "[[ball]]\nradius = 0.5\nmass = inf\nposition = [2.0, 2.0]\nvelocity = [5.0, 0.0]\n")
        result = self.carom("run", "heavy.toml", "--quiet")
        self.assertEqual(result.status, 3)
        self.assertIn("its mass is inf, so no wall turns it back: an open or periodic face lets it through", result.err)
        self.assertNotIn("spring.dt", result.err)
        self.succeed("run", "heavy.toml", "--quiet", "--force", "--set", 'box.boundary=["open", "wall"]')

    def test_warnings_are_printed_and_are_no_errors(self):
        self.write("gas.toml", GAS)
        self.assertIn("warning: ", self.succeed("check", "gas.toml", "--set", "spring.stiffness=1000").out)
        self.assertTrue(self.check_json("gas.toml", "--set", "spring.stiffness=1000")["warnings"])

    def test_what_drives_the_balls_is_listed(self):
        self.write("driven.toml", DRIVEN)
        text = self.succeed("check", "driven.toml").out
        for line in ["thermostat        andersen to 1.5 J, each ball 0.5 times a second",
                     "thermal walls     x-min 2 J, wall[1] 1 J",
                     "moving walls      wall[0] 0.25 m/s",
                     "stage 0           equilibrate, to t = 2 s: does not measure",
                     "stage 1           to t = 4 s: gravity [0, -1] m/s^2; thermostat rescale to 3 J, every 0.1 s; "
                     "walls x-min reflects, x-max 1.5 J, wall[1] reflects; moving wall[0] at rest; measures",
                     "stage 2           hold, to t = 10 s: thermostat none; does not measure"]:
            self.assertIn("\n  " + line + "\n", text)
        self.assertNotIn("warning", text)
        facts = self.check_json("driven.toml")
        self.assertEqual(facts["thermostat"], {"kind": "andersen", "temperature": 1.5, "rate": 0.5})
        self.assertEqual(facts["thermal_walls"], {"x_min": 2.0, "wall_1": 1.0})
        self.assertEqual(facts["moving_walls"], {"wall_0": 0.25})
        self.assertEqual([stage["measure"] for stage in facts["stages"]], [False, True, False])
        self.assertEqual(facts["stages"][1], {
            "name": "", "from": 2.0, "until": 4.0, "measure": True, "gravity": [0.0, -1.0],
            "thermostat": {"kind": "rescale", "temperature": 3.0, "every": 0.1}, "thermal_walls": {"x_max": 1.5}})
        started = self.carom("run", "driven.toml", "--solver", "events", "--until", "0.1").err
        self.assertIn("\nthermal walls: x-min 2 J, wall[1] 1 J\n", started)
        self.assertIn("\nstage 0: equilibrate, to t = 2 s: does not measure\n", started)
        # Nothing of it where nothing drives.
        self.assertNotRegex(self.succeed("check", "gas2d").out, "thermostat|walls|stage")
        for key in ["thermostat", "thermal_walls", "moving_walls", "stages"]:
            self.assertNotIn(key, self.check_json("gas2d"))

    def test_stages_that_the_run_does_not_come_to_are_told(self):
        self.write("driven.toml", DRIVEN)
        nothing = ('averages take no sample: the first stage that measures, stage[1], would begin at t = 2, and the run '
                   'ends at ')
        for until, warnings in [
                ("12", []),
                ("10", []),
                ("8", ['the run ends at t = 8, within stage[2] "hold", which would last until 10']),
                ("4", ['the run ends at t = 4; stage[2] "hold" never begins']),
                ("2", ['the run ends at t = 2; stage[1] to stage[2] "hold" never begin', nothing + "2"]),
                ("1", ['the run ends at t = 1, within stage[0] "equilibrate", which would last until 2; stage[1] to '
                       'stage[2] "hold" never begin', nothing + "1"])]:
            with self.subTest(until):
                self.assertEqual(self.check_json("driven.toml", "--until", until)["warnings"], warnings)
        self.assertEqual(self.check_json("driven.toml", "--set", "stage[1].measure=false")["warnings"],
                         ["averages take no sample: no stage has measure = true"])

    def test_a_piston_that_leaves_no_room_is_warned_of(self):
        # 20 disks of 15.71 in all want 17.45: of 14 wide, 1.247 high, which a floor at 0.25 a second leaves after 35 s.
        scene = DRIVEN.split("[[stage]]")[0]
        (self.folder / "piston.toml").write_text(scene)
        warnings = self.check_json("piston.toml", "--until", "40")["warnings"]
        self.assertIn("wall[0] leaves the balls no room from t = 35.01 on", warnings)
        self.assertNotIn("no room", " ".join(self.check_json("piston.toml", "--until", "34")["warnings"]))

    def test_a_piston_that_leaves_hard_balls_no_room_is_refused(self):
        # 20 disks want 1.247 of the height of 10, as above: 8.753 for the floor to move up in.
        (self.folder / "piston.toml").write_text(DRIVEN.split("[[stage]]")[0])
        stages = "[[stage]]\nuntil = 10.0\nwall_velocity = [0.0, 0.0]\n"
        stages += "[[stage]]\nuntil = 40.0\nwall_velocity = [1e12, 0.0]\n"
        (self.folder / "stages.toml").write_text(DRIVEN.split("[[stage]]")[0] + stages)
        line = len((self.folder / "stages.toml").read_text().splitlines())
        for scene, value, told, speed, when, possible in [
                ("piston.toml", "0.25", "wall[0].velocity", "0.25", "35.01", "0.2188"),
                ("piston.toml", "1e6", "wall[0].velocity", "1e+06", "8.753e-06", "0.2188"),
                ("piston.toml", "1e300", "wall[0].velocity", "1e+300", "8.753e-300", "0.2188"),
                ("stages.toml", None, "stage[1].wall_velocity", "1e+12", "10", "0.2918")]:
            with self.subTest(speed):
                options = ["--set", f"wall[0].velocity={value}"] if value else []
                where = f"--set wall[0].velocity={value}: " if value else f"stages.toml:{line}:17: "
                for command in ["check", "run"]:
                    result = self.carom(command, scene, "--solver", "events", "--until", "40", *options)
                    self.assertEqual(result.status, 2)
                    self.assertEqual(result.err, f"carom: {where}{told}: wall[0] moves in at {speed} m/s and leaves the "
                                     f"hard balls no room from t = {when} on, but the run ends at 40; possible: less "
                                     f"than {possible} m/s, or run.until below {when}\n")
        self.succeed("check", "piston.toml", "--solver", "events", "--until", "40", "--set", "wall[0].velocity=0.2187")
        # Nor does a plane leave any that has come through the whole box at an angle; one that moves out leaves more.
        tilted = ["--set", "wall[0].normal=[0.6,0.8]", "--set", "wall[0].velocity=1e6"]
        self.assertIn("no room", self.carom("check", "piston.toml", "--solver", "events", *tilted).err)
        tilted[-1] = "wall[0].velocity=-1e6"
        self.succeed("check", "piston.toml", "--solver", "events", *tilted)

    def test_samples_begin_with_the_first_stage_that_measures(self):
        (self.folder / "driven.toml").write_text(DRIVEN)
        self.assertEqual(self.check_json("driven.toml")["averages"]["speeds"]["from"], 2.0)


if __name__ == "__main__":
    unittest.main()
