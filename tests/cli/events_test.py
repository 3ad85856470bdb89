"""`carom run --solver events`: the log of collisions, what one looks at changes nothing, and how runs end."""

import csv
import json
import math
import random
import re
import unittest

import h5py
import numpy

from program import GAS, SOURCE, ProgramTest

GOLDEN = SOURCE / "tests/golden/data"

# A restitution below 1, and friction, so that spins and all kinds of impulses are there.
ROUGH = GAS.replace("[run]", '[physics]\nrestitution = 0.9\nfriction = 0.2\n\n[run]\nsolver = "events"')

CRADLE = """
[scene]
dimension = 2
[box]
size = [20.0, 2.0]
[run]
solver = "events"
until = 8.0
[output]
every = 0
""" + "".join(f"[[ball]]\nradius = 0.5\nmass = 1.0\nposition = [{x}, 1.0]\nvelocity = [{v}, 0.0]\n"
              for x, v in [(3.0, 1.0), (8.0, 0.0), (9.0, 0.0), (10.0, 0.0), (11.0, 0.0)])

# A ball that hops on a floor: time stops at 0.45 s * (1 + e) / (1 - e) = 1.35 s.
HOP = """
[scene]
dimension = 2
[box]
size = [1.0, 2.0]
[physics]
gravity = [0.0, -9.81]
restitution = 0.5
[run]
solver = "events"
until = 3.0
[[ball]]
radius = 0.1
mass = 1.0
position = [0.5, 1.1]
"""


def scene_of(golden):
    """The TOML of one scene of events.json."""
    dimension = golden["dim"]
    lines = ["[scene]", f"dimension = {dimension}", "[box]", f"size = {golden['L']}", "[physics]",
             f"restitution = {golden['e']}", f"friction = {golden['mu']}", 'simultaneous = "sequential"']
    if golden["g"]:
        lines.append(f"gravity = {golden['g']}")
    lines += ["[run]", 'solver = "events"', f"until = {1.0001 * golden['out']['events'][-1]['t']}", "[output]", "every = 0"]
    for ball in golden["balls"]:
        lines += ["[[ball]]", f"radius = {ball['r']}", f"mass = {ball['m']}", f"position = {ball['x']}",
                  f"velocity = {ball['v']}", f"radius_of_gyration = {ball['r'] * math.sqrt(golden['kr2'])!r}"]
        if ball.get("w"):
            lines.append(f"spin = {ball['w']}")
    return "\n".join(lines) + "\n"


class EventsRun(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("rough.toml", ROUGH)

    def log(self, name):
        with open(self.folder / name, newline="") as file:
            return list(csv.DictReader(file))

    def test_the_log_is_the_golden_list_of_events(self):
        for golden in json.loads((GOLDEN / "events.json").read_text())["scenes"]:
            with self.subTest(golden["id"]):
                self.write("scene.toml", scene_of(golden))
                self.run_json("scene.toml", "--force", "--events-log", "log.csv")
                events = golden["out"]["events"]
                rows = self.log("log.csv")
                self.assertGreaterEqual(len(rows), len(events))
                axes = ["x", "y", "z"][:golden["dim"]]
                for row, event in zip(rows, events):
                    self.assertEqual((row["kind"], int(row["i"]), int(row["j"])), (event["type"], event["i"], event["j"]))
                    self.assertAlmostEqual(float(row["time"]), event["t"], delta=max(1e-11, 100 * event["f64_time_dev"]))
                    for who in "ij" if event["type"] == "ball" else "i":
                        for axis, value in zip(axes, event["v_" + who]):
                            # Velocities after the k-th collision have gone through all the errors before it.
                            self.assertAlmostEqual(float(row[f"v{axis}_{who}"]), value,
                                                   delta=max(1e-11, 1000 * event["f64_time_dev"]))
                    if event["type"] == "wall":
                        self.assertEqual(row["vx_j"], "")

    def test_a_velocity_of_minus_zero_is_none(self):
        """As other programs write it; of many cells, whose borders a ball at rest never reaches."""
        for dimension in (2, 3):
            head = f"[scene]\ndimension = {dimension}\n[box]\nsize = {[24.0] * dimension}\nboundary = \"periodic\"\n"
            mover = f"[[ball]]\nradius = 0.5\nmass = 1.0\nposition = {[9.0] * dimension}\nvelocity = {[1.0] * dimension}\n"
            hashes = set()
            for zero in ("0.0", "-0.0"):
                still = f"[[ball]]\nradius = 0.5\nmass = 1.0\nposition = {[2.0] * dimension}\nvelocity = [{', '.join([zero] * dimension)}]\n"
                self.write("still.toml", head + "[run]\nsolver = \"events\"\nuntil = 2.0\n" + still + mover)
                hashes.add(self.run_json("still.toml", "--force")["state_hash"])
            self.assertEqual(len(hashes), 1)

    def test_how_often_one_looks_changes_nothing(self):
        hashes = {self.run_json("rough.toml", "-o", f"{k}.h5", "--set", f"output.every={every}", "--set",
                                f"output.observables_every={rows}", "--checkpoint-every", checkpoints)["state_hash"]
                  for k, (every, rows, checkpoints) in enumerate([(0, 0, 1), (0.1, 0.01, 0.2), (0.0007, 0.03, 0.07)])}
        self.assertEqual(len(hashes), 1)

    def test_a_resumed_run_ends_in_the_same_bits_and_counts_on(self):
        whole = self.run_json("rough.toml", "-o", "whole.h5", "--events-log", "whole.csv")
        self.run_json("rough.toml", "-o", "half.h5", "--until", "0.2", "--events-log", "half.csv")
        rest = self.run_json("--resume", "half.checkpoint.h5", "--until", "0.5", "-o", "rest.h5", "--events-log", "rest.csv")
        self.assertEqual(rest["state_hash"], whole["state_hash"])
        for key in ["ball_collisions", "wall_collisions", "collisions"]:
            self.assertEqual(rest[key], whole[key])
        self.assertEqual(self.log("half.csv") + self.log("rest.csv"), self.log("whole.csv"))

    def test_the_summary_counts_what_the_log_lists(self):
        summary = self.run_json("rough.toml", "--events-log", "log.csv")
        rows = self.log("log.csv")
        self.assertEqual(summary["ball_collisions"], sum(row["kind"] == "ball" for row in rows))
        self.assertEqual(summary["wall_collisions"], sum(row["kind"] == "wall" for row in rows))
        self.assertEqual(summary["collisions"], len(rows))
        self.assertGreater(summary["events"], len(rows))
        self.assertNotIn("steps", summary)
        self.assertEqual((summary["solver"], summary["backend"], summary["precision"]), ("events", "cpu", "double"))
        self.assertLess(summary["virial_defect"], 1e-9)
        self.assertLess(summary["worst_overlap"], 1e-13)
        # Two balls gain a collision each.
        self.assertAlmostEqual(summary["collision_rate"], 2 * summary["ball_collisions"] / (200 * 0.5), places=9)
        self.assertEqual(len(summary["wall_impulse"]), 6)
        self.assertGreater(summary["wall_impulse"][2], 0.0)
        self.assertEqual(summary["wall_impulse"][0], 0.0)  # periodic

    def test_the_pressure_of_a_gas_is_that_of_its_collisions(self):
        # Disks at a packing fraction of 0.3: Z = 2.063 (Kolafa and Rottner 2006); 200 disks leave some per cent.
        self.write("gas.toml", GAS.replace('"wall"]', '"periodic"]').replace("[24.0, 24.0]", "[22.883, 22.883]"))
        self.run_json("gas.toml", "--solver", "events", "--until", "40", "--set", "output.observables_every=4", "--set",
                      "output.every=0")
        with h5py.File(self.folder / "gas.h5") as file:
            pressure = file["observables/virial_pressure/value"][...]
        self.assertTrue(numpy.isnan(pressure[0]))
        ideal = 200 / 22.883**2
        self.assertAlmostEqual(numpy.mean(pressure[1:]) / ideal, 2.063, delta=0.03)

    def balls(self, name):
        return json.loads(self.succeed("state", name, "--json").out)["balls"]

    def test_both_solvers_agree_before_chaos(self):
        self.write("two.toml", CRADLE.replace("[8.0, 1.0]", "[6.0, 1.3]").replace("[9.0,", "[7.7,"))
        self.run_json("two.toml", "--until", "4.5", "-o", "hard.h5")
        self.run_json("two.toml", "--until", "4.5", "-o", "soft.h5", "--solver", "spring", "--set",
                      "spring.stiffness=1e8", "--precision", "double")
        for hard, soft in zip(self.balls("hard.h5"), self.balls("soft.h5")):
            numpy.testing.assert_allclose(hard["position"], soft["position"], atol=2e-3)

    def test_the_cradle_passes_the_blow_on(self):
        self.write("cradle.toml", CRADLE)
        self.assertEqual(self.run_json("cradle.toml")["clusters"], 1)
        self.assertEqual([ball["velocity"] for ball in self.balls("cradle.h5")], [[0, 0]] * 4 + [[1, 0]])

    def test_a_collapse_is_explained_and_keeps_what_there_was(self):
        self.write("hop.toml", HOP)
        result = self.carom("run", "hop.toml")
        self.assertEqual(result.status, 3)
        message = result.err.strip().splitlines()[-1]
        self.assertRegex(message, r"^carom: .*ball 0.*events\.(tc|cutoff_speed).*; \d+ frames in hop\.h5, checkpoint in ")
        self.assertRegex(result.err, r"warning: .*inelastic collapse")
        with h5py.File(self.folder / "hop.h5") as file:
            self.assertAlmostEqual(file["particles/all/position/time"][-1], 3 * math.sqrt(2 / 9.81), places=3)

    def test_hops_that_end_at_the_rounding_of_time_are_a_collapse_too(self):
        """They did not shrink any more where time cannot grow by less."""
        for restitution in (0.3, 0.5, 0.6, 0.66, 0.7, 0.8, 0.93, 0.95, 0.98, 0.99):
            for across in (0, 3):
                self.write("hop.toml", HOP.replace("size = [1.0, 2.0]", "size = [10.0, 10.0]").replace("= 0.5\n", f"= {restitution}\n")
                           .replace("until = 3.0", "until = 600.0").replace("-9.81", "-1").replace("radius = 0.1", "radius = 0.3")
                           .replace("position = [0.5, 1.1]", f"position = [5.0, 3.0]\nvelocity = [{across}, 0.3]"))
                result = self.carom("run", "hop.toml", "--quiet", "--force")
                self.assertEqual(result.status, 3, (restitution, across, result.err))
                self.assertIn("inelastic collapse", result.err)

    def test_where_nothing_falls_any_more_time_goes_on_and_signals_are_heard(self):
        ball = HOP.split("[[ball]]")[1].replace("[0.5, 1.1]", "[0.5, 1.1]\nvelocity = [0.0, 20.0]")
        for change, what in (('boundary = ["periodic", ["wall", "open"]]\n', ball),
                             ("", ball.replace("mass = 1.0", "mass = inf").replace("20.0", "0.0"))):
            self.write("gone.toml", HOP.split("[[ball]]")[0].replace("[physics]", change + "[physics]") + "[[ball]]" + what)
            self.succeed("run", "gone.toml", "--quiet", "--force", "--until", "1e13")

    def test_the_size_of_what_pushes_no_wall_changes_no_pressure(self):
        scene = HOP.replace("gravity = [0.0, -9.81]\nrestitution = 0.5\n", "").replace("[1.0, 2.0]", "[40.0, 10.0]")
        scene = scene.replace('[physics]\n', 'boundary = ["periodic", "wall"]\n').replace("[0.5, 1.1]", "[30.0, 3.0]\nvelocity = [0.0, 1.0]")
        scene = scene.replace("until = 3.0", "until = 2000.0\n[output]\nobservables_every = 100.0")
        scene += '[[observe]]\nname = "p"\nkind = "stress"\nevery = 10.0\n'
        told = []
        for body in ("", "[[ball]]\nradius = 4.5\nmass = inf\nposition = [10.0, 5.0]\n"):
            self.write("one.toml", scene + body)
            self.succeed("run", "one.toml", "--quiet", "--force")
            with h5py.File(self.folder / "one.h5") as file:
                told.append((file["observables/virial_pressure/value"][-1], file["observables/p/value"][-1][1]))
        self.assertEqual(told[0], told[1])
        self.assertAlmostEqual(told[0][1], 1.0 / (40.0 * (10.0 - 0.2)), delta=1e-12)

    def test_a_ball_that_slides_comes_to_rest_at_its_floor_all_the_same(self):
        for restitution in (0.95, 0.98, 0.99):
            self.write("slide.toml", HOP.replace("size = [1.0, 2.0]", "size = [10.0, 10.0]").replace("= 0.5\n", f"= {restitution}\n")
                       .replace("[0.0, -9.81]", "[1e-6, -1.0]").replace("until = 3.0", "until = 800.0")
                       .replace("radius = 0.1", "radius = 0.3").replace("[0.5, 1.1]", "[5.0, 3.0]"))
            result = self.carom("run", "slide.toml", "--quiet", "--force")
            self.assertEqual(result.status, 3, result.err)
            self.assertIn("inelastic collapse", result.err)

    def test_a_ball_slides_along_each_wall_that_it_only_just_touches(self):
        slide = ("[scene]\ndimension = 2\n[box]\nsize = [{}, {}]\n[run]\nsolver = \"events\"\nuntil = 1.0\n[[ball]]\nradius = 0.1\n"
                 "mass = 1.0\nposition = [{}, {}]\nvelocity = [{}, {}]\n")
        for place in ((1.0, 0.3, 0.5, 0.2, 0.3, 0.0), (1.0, 0.3, 0.5, 0.1, 0.3, 0.0), (0.3, 1.0, 0.2, 0.5, 0.0, 0.3)):
            self.write("slide.toml", slide.format(*place))
            result = self.run_json("slide.toml", "--force")
            self.assertEqual((result["time"], result["collisions"]), (1.0, 0), place)

    def test_a_run_too_short_or_slow_to_tell_has_miscounted_nothing(self):
        gas = HOP.replace("gravity = [0.0, -9.81]\nrestitution = 0.5\n", "").replace("[1.0, 2.0]", "[20.0, 20.0]")
        gas = gas.split("[[ball]]")[0] + "[[fill]]\nradius = 0.1\nmass = 1.0\ncount = 50\ntemperature = 1.0\n"
        self.write("gas.toml", gas)
        for setting in ("run.until=1e-9", "fill[0].temperature=1e-16", "box.size=[1e9, 1e9]"):
            result = self.succeed("run", "gas.toml", "--force", "--set", setting)
            self.assertNotIn("miscounted", result.err, setting)

    def test_a_run_that_ends_in_a_collapse_says_no_balance_of_two_times(self):
        self.write("hop.toml", HOP)
        result = self.carom("run", "hop.toml", "--json", "--set", "output.observables_every=1")
        self.assertEqual(result.status, 3)
        self.assertIsNone(json.loads(result.out)["energy_balance"])
        self.assertNotIn("closes to", result.err)
        self.assertNotIn("differs", result.err)

    def test_a_stage_in_which_nothing_is_otherwise_changes_nothing_where_contacts_last(self):
        text = CRADLE.replace("[20.0, 2.0]", "[2.0, 4.0]").split("[[ball]]")[0] + """
[physics]
restitution = 0.8
[events]
tc = 1.5
[[ball]]
radius = 0.5
mass = 1.0
position = [1.0, 2.0]
velocity = [1.0, 0.0]
"""
        self.write("tc.toml", text)
        whole = self.run_json("tc.toml")
        self.assertGreater(whole["elastic_by_tc"], 3)
        self.write("stages.toml", (self.folder / "tc.toml").read_text() + "[[stage]]\nuntil = 2.0\n[[stage]]\nuntil = 8.0\n")
        self.assertEqual(self.run_json("stages.toml")["elastic_by_tc"], whole["elastic_by_tc"])

    def test_a_ball_lies_on_a_floor_that_moves(self):
        """What keeps it hopping is reckoned from the wall, and not from a wall at rest."""
        for velocity, offset in ((0.2, 0.0), (0.2, 2.0), (-0.2, 2.0), (0.0, 2.0)):
            self.write("lift.toml", f"""
[scene]
dimension = 2
[box]
size = [5.0, 10.0]
[physics]
gravity = [0.0, -1.0]
wall_restitution = 0.0
[events]
cutoff_speed = 0.05
[[wall]]
shape = "plane"
normal = [0.0, 1.0]
offset = {offset}
velocity = {velocity}
[[ball]]
radius = 0.4
mass = 1.0
position = [2.5, {offset + 3.0}]
[run]
solver = "events"
until = 9.0
""")
            self.assertEqual(self.run_json("lift.toml", "--force")["time"], 9.0)
            (ball,) = self.balls("lift.h5")
            self.assertAlmostEqual(ball["position"][1], offset + 9.0 * velocity + 0.4, delta=0.01)

    def test_a_ball_rests_on_a_floor_that_moves_wherever_it_fell_from(self):
        """What an impact without rebound leaves is a rounding of either sign, behind which it did not hop on."""
        for k in range(12):
            self.write("rest.toml", f"""
[scene]
dimension = 2
[box]
size = [10.0, 10.0]
[physics]
gravity = [0.0, -1.0]
simultaneous = "sequential"
restitution = 0.0
wall_restitution = 0.0
[events]
cutoff_speed = 0.01
[[wall]]
shape = "plane"
normal = [0.0, 1.0]
offset = 1.0
velocity = 0.1
[[ball]]
radius = 0.3
mass = 1.0
position = [5.0, {6.0 + 0.05 * k}]
velocity = [1.0, 0.0]
[run]
solver = "events"
until = 6.0
""")
            self.run_json("rest.toml", "--force")

    def test_what_a_moving_floor_locks_in_a_corner_is_a_collapse(self):
        """It rattles within the rounding of places, which takes many roundings of time."""
        self.write("corner.toml", """
[scene]
dimension = 2
seed = 506
[box]
size = [5.0, 10.0]
[physics]
gravity = [0.3, -1.0]
wall_restitution = 0.5
friction = 1.0
simultaneous = "sequential"
[events]
cutoff_speed = 0.01
[run]
solver = "events"
until = 6.0
[output]
every = 1.0
observables_every = 0.5
[[fill]]
radius = 0.4
mass = 1.0
count = 12
temperature = 1.0
[[wall]]
shape = "plane"
normal = [1.0, 1.0]
offset = 1.5
[[wall]]
shape = "plane"
normal = [0.0, 1.0]
offset = 0.0
velocity = 0.1
""")
        result = self.carom("run", "corner.toml", "--quiet")
        self.assertEqual(result.status, 3, result.err)
        self.assertIn("inelastic collapse", result.err)

    def test_a_run_that_a_ball_has_left_goes_on_behind_a_stage_and_with_other_keys(self):
        self.write("left.toml", CRADLE.replace("size = [20.0, 2.0]", 'size = [20.0, 2.0]\nboundary = ["open", "wall"]')
                   .replace("[1.0, 0.0]", "[-2.0, 0.0]").replace("until = 8.0", "until = 10.0")
                   .replace("velocity = [0.0, 0.0]", "velocity = [0.1, 0.2]")
                   + "[[stage]]\nuntil = 3.0\n[[stage]]\nuntil = 10.0\n")
        whole = self.run_json("left.toml", "-o", "whole.h5")
        self.assertEqual(self.run_json("left.toml", "--until", "5", "-o", "a.h5")["balls_left"], 1)
        self.assertEqual(self.run_json("--resume", "a.checkpoint.h5", "--until", "10", "-o", "b.h5")["state_hash"],
                         whole["state_hash"])
        self.run_json("--resume", "a.checkpoint.h5", "--set", "physics.restitution=0.9", "--until", "6", "-o", "c.h5")
        self.run_json("--resume", "c.checkpoint.h5", "--until", "10", "-o", "d.h5")

    def test_what_meets_a_moving_body_without_rebound_and_falls_off_it_goes_on(self):
        self.write("off.toml", """
[scene]
dimension = 2
[box]
size = [10.0, 10.0]
boundary = "open"
[physics]
gravity = [0.0, -0.3]
restitution = 0.0
[run]
solver = "events"
until = 2.0
[[ball]]
radius = 0.1
mass = 1.0
position = [5.0, 5.0]
velocity = [0.36, 0.0]
[[ball]]
radius = 0.1
mass = inf
position = [5.3, 5.08]
velocity = [-0.18, 0.0]
""")
        for cutoff in (0.0, 0.01):
            summary = self.run_json("off.toml", "--set", f"events.cutoff_speed={cutoff}", "--force")
            self.assertGreater(summary["collisions"], 0)
            self.assertGreater(summary["work"], 0.0)
            # That a body does work is told row by row.
            with h5py.File(self.folder / "off.h5") as file:
                self.assertEqual(file["observables/work/value"][-1], summary["work"])

    def test_what_parts_from_a_wall_without_rebound_goes_on(self):
        """By gravity, or along it: rounding alone makes no collision of two that have just met."""
        draw = random.Random(3)

        def unit(dimension):
            x = numpy.array([draw.gauss(0.0, 1.0) for _ in range(dimension)])
            return x / numpy.linalg.norm(x)

        for turn in range(60):
            dimension = 2 + turn % 2
            shape = ("plane", "sphere", "cylinder")[turn % 3 if dimension == 3 else turn % 2]
            out, axis = unit(dimension), unit(dimension)
            keys = f"offset = {5.0 * sum(out) + 0.5}\nnormal = {list(out)}\nvelocity = {draw.choice((0.0, 0.1))}"
            if shape != "plane":
                keys = f"center = {[5.0] * dimension}\nradius = 0.7\nside = \"outside\""
            if shape == "cylinder":
                out = out - out @ axis * axis
                out /= numpy.linalg.norm(out)
                keys += f"\naxis = {list(axis)}"
            along = unit(dimension)
            gravity = draw.choice((0.0, 0.4)) * (out + 0.3 * (along - along @ out * out))
            self.write("wall.toml", f"""
[scene]
dimension = {dimension}
[box]
size = {[10.0] * dimension}
boundary = "open"
[physics]
gravity = {list(gravity)}
wall_restitution = 0.0
[run]
solver = "events"
until = 3.0
[[ball]]
radius = 0.1
mass = 1.3
position = {list(5.0 + 1.5 * out)}
velocity = {list(-draw.uniform(1.2, 2.0) * out + 0.2 * along)}
[[wall]]
shape = "{shape}"
{keys}
""")
            result = self.carom("run", "wall.toml", "--quiet", "--json", "--force")
            self.assertEqual(result.status, 0, (turn, shape, result.err))
            self.assertGreater(result.json["collisions"], 0)

    def test_of_a_long_run_that_all_have_left_nothing_is_miscounted(self):
        self.write("fall.toml", GAS.replace('["periodic", "wall"]', '"open"').replace("mass = 1.0", "mass = 0.1").replace(
            "[run]", '[physics]\ngravity = [0.0, -0.3]\n[run]\nsolver = "events"'))
        summary = self.run_json("fall.toml", "--until", "1.0e7", "--set", "output.every=1e7",
                                "--set", "output.observables_every=1e6")
        self.assertEqual(summary["balls_left"], summary["balls"])
        self.assertNotIn("warnings", summary)
        self.assertLess(summary["virial_defect"], 1e-9)

    BODY = """
[scene]
dimension = 2
[box]
size = [20.0, 20.0]
boundary = "open"
[physics]
friction = 0.5
[run]
solver = "events"
until = 2.0
[[ball]]
radius = 0.5
mass = 1.0
position = [8.0, 10.0]
velocity = [1.0, 0.0]
[[ball]]
radius = 0.5
mass = inf
position = [10.0, 10.0]
"""

    def test_a_body_that_spins_does_the_same_work_on_two_at_once(self):
        for apart in (0.0, 1e-7):
            self.write("spin.toml", self.BODY + f"""spin = 10.0
[[ball]]
radius = 0.5
mass = 1.0
position = [{12.0 + apart}, 10.0]
velocity = [-1.0, 0.0]
""")
            summary = self.run_json("spin.toml", "--force")
            self.assertAlmostEqual(summary["work"], 10.0, places=5)
            self.assertAlmostEqual(summary["energy_lost"], 7.0, places=5)

    def test_rows_of_work_go_on_when_the_body_has_left(self):
        self.write("gone.toml", self.BODY.replace("[10.0, 10.0]", "[10.0, 10.0]\nvelocity = [-2.0, 0.1]"))
        whole = self.run_json("gone.toml", "--until", "9", "-o", "whole.h5")
        self.assertGreater(whole["work"], 0.0)
        self.assertEqual(self.run_json("gone.toml", "--until", "7", "-o", "a.h5")["balls_left"], 2)
        self.run_json("--resume", "a.checkpoint.h5", "--until", "9", "-o", "b.h5")
        self.succeed("convert", "a.h5", "joined.h5", "--join", "b.h5", "--quiet")
        with h5py.File(self.folder / "joined.h5") as file:
            self.assertEqual(file["observables/work/value"][-1], whole["work"])

    def test_a_face_is_met_once_where_nothing_is_left_of_the_speed(self):
        for mass in (1.0, 2.958744595365971):
            self.write("once.toml", f"""
[scene]
dimension = 2
[box]
size = [10.0, 10.0]
[physics]
restitution = 0.0
[run]
solver = "events"
until = 6.0
[[ball]]
radius = 0.25548105275117783
mass = {mass}
position = [6.341581074183871, 2.0]
velocity = [-0.49840901649582936, -0.4036181225647293]
""")
            self.assertEqual(self.run_json("once.toml", "--force")["wall_collisions"], 1)

    def test_of_what_is_set_already_a_collapse_advises_nothing(self):
        self.write("inside.toml", self.BODY[:self.BODY.index("[[ball]]")] + """
[[ball]]
radius = 0.5
mass = 1.0
position = [5.0, 6.5]
velocity = [1.0, 0.0]
[[wall]]
shape = "sphere"
side = "inside"
center = [5.0, 5.0]
radius = 4.0
""")
        rest = ("--set", "physics.wall_restitution=0", "--set", "physics.friction=0", "--until", "20", "--force", "--quiet")
        for settings, says in ((), "Set events.tc or events.cutoff_speed above 0"), (
                ("--set", "events.cutoff_speed=0.1"), "A restitution closer to 1 avoids that; events.cutoff_speed holds"):
            result = self.carom("run", "inside.toml", *rest, *settings)
            self.assertEqual(result.status, 3, result.err)
            self.assertIn(says, result.err)

    def test_jammed_balls_end_the_run_before_many_clusters_have_found_no_end(self):
        # Each takes a thousand rounds: ten thousand of them, of some more balls, had taken a minute and more.
        text = ('[scene]\ndimension = 2\n[box]\nsize = [3.0, 3.0]\n[run]\nsolver = "events"\nuntil = 5.0\n[physics]\n'
                'restitution = 0.1\nwall_restitution = 0.5\nsimultaneous = "newton"\ngravity = [0.0, -1.0]\n')
        for k in range(9):
            text += (f"[[ball]]\nradius = 0.5\nmass = 1.0\nposition = {[k % 3 + 0.5, k // 3 + 0.5]}\n"
                     f"velocity = {[[1.0, -1.0, 0.0][k % 3], [0.0, 1.0][k % 2]]}\n")
        self.write("jam.toml", text)
        result = self.carom("run", "jam.toml")
        self.assertEqual(result.status, 3)
        self.assertIn("inelastic collapse", result.err)
        clusters = int(re.search(r"warning: (\d+) clusters of contacts found no end", result.out + result.err)[1])
        self.assertGreater(clusters, 100)
        self.assertLess(clusters, 500)

    def test_what_falls_from_roundings_of_its_place_rests(self):
        # Such hops went on at 1e-8 of time each: no end for a person.
        head = '[scene]\ndimension = 2\n[output]\nevery = 0\n[run]\nsolver = "events"\nuntil = 50.0\n'
        lies = ('[box]\nmin = [0.0, 2.181322200098367]\nsize = [3.5, 4.5]\n[physics]\ngravity = [0.0, -1.0]\n'
                '[[ball]]\nradius = 0.1\nmass = 1.0\nposition = [1.0, 2.281322200098367]\n')
        falls = ('[box]\nsize = [4.0, 4.0]\n[physics]\ngravity = [0.0, -0.85]\nwall_restitution = 0.8\n'
                 '[[wall]]\nshape = "plane"\nnormal = [0.0, 1.0]\noffset = 1.7\nvelocity = -0.0717\n'
                 '[[ball]]\nradius = 0.1\nmass = 1.0\nposition = [1.0, 2.3]\n')
        for scene, begin, end in ((lies, 0.0, 0.1), (falls, 9.0, 10.0)):
            self.write("rest.toml", head + scene)
            result = self.carom("run", "rest.toml", "--json", "--quiet", "--force")
            self.assertEqual(result.status, 3, result.err)
            self.assertIn("inelastic collapse", result.err)
            self.assertTrue(begin <= result.json["time"] <= end, result.json["time"])

    def test_a_thermostat_visits_at_the_multiples_that_one_means_and_at_the_begin_of_a_stage(self):
        ball = '[[ball]]\nradius = 0.1\nmass = 1.0\nposition = [2.0, 2.0]\nvelocity = [1.0, 0.0]\n'
        head = '[scene]\ndimension = 2\n[box]\nsize = [10.0, 10.0]\nboundary = "periodic"\n[output]\nevery = 0\n'
        for begin, every in ((1.0, 0.5), (0.3, 0.1), (0.2, 0.1), (0.7, 0.1)):
            text = (head + f'observables_every = {every}\n[run]\nuntil = {begin + 0.25 * every}\n' + ball +
                    f'[[stage]]\nuntil = {begin}\n[[stage]]\nuntil = {begin + 0.25 * every}\n'
                    f'thermostat = {{ kind = "rescale", temperature = 2.0, every = {every} }}\n')
            self.write("stage.toml", text)
            for solver in ("events", "spring"):
                energy = self.run_json("stage.toml", "--solver", solver, "--force")["energy_translational"]
                self.assertAlmostEqual(energy, 2.0, 4, (begin, solver))
        self.write("rows.toml", head + 'observables_every = 0.3\n[run]\nsolver = "events"\nuntil = 0.9\n' + ball +
                   '[thermostat]\nkind = "rescale"\ntemperature = 2.0\nevery = 0.9\n')
        energy = self.run_json("rows.toml", "--force")["energy_translational"]
        self.assertAlmostEqual(energy, 0.5, 4, "the row of that time is of before")

    FAR = """
[scene]
dimension = 2
[box]
size = [%(box)s, %(box)s]
boundary = "open"
[run]
solver = "events"
until = %(until)s
[[ball]]
radius = %(radius)s
mass = 1.0
position = [%(x)s, %(y)s]
velocity = [1.0, 0.0]
[[ball]]
radius = %(radius)s
mass = 1.0
position = [%(other)s, %(above)s]
"""

    def test_balls_meet_where_they_do_however_far_apart_they_began(self):
        """Places are known to 1e-16 of the way; from b^2 - v^2 c the contact would be off by that times the way over the radius."""
        for apart in (1e3, 1e6, 3e8):
            self.write("far.toml", self.FAR % {"box": 4 * apart, "until": 2 * apart, "radius": 0.5, "x": 1.5 * apart, "y": 2 * apart,
                                               "other": 2.5 * apart, "above": 2 * apart + 0.3})
            summary = self.run_json("far.toml", "--force")
            self.assertEqual(summary["collisions"], 1)
            with h5py.File(self.folder / "far.h5") as file:
                velocity = file["particles/all/velocity/value"][-1][:, :2]
            rounding = 1e-15 * apart
            across = 0.3 * math.sqrt(0.91)
            numpy.testing.assert_allclose(velocity, [[0.09, -across], [0.91, across]], atol=4 * rounding + 1e-9)

    PISTON = """
[scene]
dimension = 2
[box]
size = [20.0, 20.0]
[run]
solver = "events"
until = 3.0
[[wall]]
shape = "plane"
normal = [1.0, 0.0]
offset = 0.0
velocity = 1.0
[[ball]]
radius = 0.5
mass = 1.0
position = [1.5, 10.0]
velocity = [0.0, %s]
"""

    def test_a_gas_that_hardly_moved_at_first_is_no_collapse_when_it_does(self):
        for speed in ("0.0", "1e-30", "1e-13", "1e-3"):  # hit at t = 1, by a wall of speed 1: 2 fast, for 2 units of time
            self.write("piston.toml", self.PISTON % speed)
            self.assertAlmostEqual(self.run_json("piston.toml", "--force")["mean_free_path"], 4.0, delta=0.01)
        self.write("piston.toml", self.PISTON % "-6e-17" + "[[fill]]\nradius = 0.3\nmass = 1.0\ncount = 300\n"
                   "region = { min = [3.0, 0.0], max = [20.0, 20.0] }\n")
        self.assertGreater(self.run_json("piston.toml", "--force", "--until", "12")["collisions"], 5_000)

    def test_balls_that_go_on_side_by_side_come_to_their_next_stage(self):
        self.write("beside.toml", """
[scene]
dimension = 2
[box]
size = [1000.0, 1000.0]
boundary = "periodic"
[physics]
restitution = 0.0
[run]
solver = "events"
until = 2e7
[output]
every = 0
[[ball]]
radius = 0.5
mass = 1.0
position = [20.0, 20.3]
velocity = [1.0, 0.1]
[[ball]]
radius = 0.5
mass = 3.7
position = [26.1, 20.91]
[[stage]]
until = 1e7
[[stage]]
until = 2e7
""")
        self.run_json("beside.toml")
        self.run_json("--resume", "beside.checkpoint.h5", "--set", "physics.restitution=1.0", "--until", "2.00001e7", "-o", "on.h5")

    def test_the_angular_momentum_of_a_dense_gas_is_of_places_in_the_box(self):
        self.write("dense.toml", """
[scene]
dimension = 3
[box]
size = [7.0, 7.0, 7.0]
boundary = ["wall", "periodic", "periodic"]
[run]
solver = "events"
until = 1.0
[output]
every = 0.1
observables_every = 0.1
[[fill]]
radius = 0.5
mass = 1.0
packing_fraction = 0.44
temperature = 1.0
""")
        self.run_json("dense.toml")
        with h5py.File(self.folder / "dense.h5") as file:
            rows = file["observables/angular_momentum/value"][()]
            places, velocities = (file[f"particles/all/{name}/value"][()] for name in ("position", "velocity"))
        numpy.testing.assert_allclose(rows, numpy.cross(places - 3.5, velocities).sum(axis=1), atol=1e-9)

    def test_bodies_that_lie_on_each_other_make_no_cluster(self):
        self.write("underside.toml", """
[scene]
dimension = 2
[box]
size = [20.0, 20.0]
[physics]
gravity = [0.0, -1.0]
restitution = 0.0
[run]
solver = "events"
until = 1.2
[[ball]]
radius = 0.3
mass = 1.0
position = [10.09, 12.0]
velocity = [-0.12, 3.53]
[[ball]]
radius = 0.8
mass = inf
position = [9.0, 15.0]
[[ball]]
radius = 0.8
mass = inf
position = [10.0, 15.0]
""")
        summary = self.run_json("underside.toml")
        self.assertEqual((summary["clusters"], summary["ball_collisions"]), (0, 1))

    def test_the_rate_of_collisions_is_of_balls_that_are_there(self):
        self.write("lorentz.toml", """
[scene]
dimension = 2
[box]
size = [4.0, 4.0]
boundary = ["periodic", "periodic"]
[run]
solver = "events"
until = 200.0
[output]
every = 0
[[ball]]
radius = 0.9
mass = inf
position = [2.0, 2.0]
[[ball]]
radius = 0.1
mass = 1.0
position = [0.3, 0.4]
velocity = [0.8, 0.6]
""")
        summary = self.run_json("lorentz.toml")
        self.assertAlmostEqual(summary["collision_rate"], summary["ball_collisions"] / 200.0)
        self.assertAlmostEqual(summary["collision_rate"] * summary["mean_free_path"], 1.0)
        left = self.run_json("lorentz.toml", "--set", 'box.boundary=["open", "open"]', "--force")
        self.assertIsNone(left["collision_rate"])

    def test_a_run_that_a_body_ends_at_a_wall_leaves_a_checkpoint_of_that_time(self):
        self.write("body.toml", CRADLE.replace("mass = 1.0\nposition = [11.0", "mass = inf\nposition = [11.0")
                   .replace("position = [11.0, 1.0]\nvelocity = [0.0, 0.0]", "position = [11.0, 1.0]\nvelocity = [3.0, 0.0]"))
        result = self.carom("run", "body.toml", "--quiet", "--checkpoint-every", "0.7")
        self.assertEqual(result.status, 3, result.err)
        self.assertIn("at time 3", result.err)
        again = self.carom("run", "--resume", "body.checkpoint.h5", "--quiet", "-o", "again.h5")
        self.assertEqual(again.status, 3, again.err)
        self.assertIn("no wall can turn it", again.err)

    def test_a_cutoff_speed_gives_nothing_to_what_bounces_slowly_and_loses_nothing(self):
        self.write("slow.toml", HOP.replace("-9.81", "-1.0").replace("restitution = 0.5", "restitution = 1.0")
                   .replace("[0.5, 1.1]", "[0.5, 0.1000125]").replace("until = 3.0", "until = 1.0"))
        summary = self.run_json("slow.toml", "--set", "events.cutoff_speed=0.16")
        self.assertEqual((summary["wall_collisions"], summary["energy_lost"]), (100, 0.0))

    def test_a_cutoff_speed_lets_time_go_on_and_is_counted(self):
        self.write("hop.toml", HOP)
        summary = self.run_json("hop.toml", "--set", "events.cutoff_speed=0.01")
        self.assertEqual(summary["time"], 3.0)
        self.assertGreater(summary["elastic_by_cutoff"], 10)
        summary = self.run_json("hop.toml", "--force", "--set", "events.tc=0.001")
        self.assertGreater(summary["elastic_by_tc"], 10)
        text = self.succeed("run", "hop.toml", "--force", "--set", "events.tc=0.001").err
        self.assertRegex(text, r"made elastic by events\.tc: \d+, by events\.cutoff_speed: 0")

    def test_check_tells_what_a_run_will_be(self):
        result = json.loads(self.succeed("check", "rough.toml", "--json").out)
        self.assertEqual((result["solver"], result["precision"], result["balls"]), ("events", "double", 200))
        self.assertNotIn("dt", result)
        summary = self.run_json("rough.toml")
        self.assertEqual((result["frames"], result["rows"]), (summary["frames"], summary["rows"]))
        self.assertIn("solver            events\n", self.succeed("check", "rough.toml").out)

    def test_what_it_does_not_take_is_one_line(self):
        for arguments, message in [
                (["rough.toml", "--backend", "cuda"], r'rough\.toml: run\.backend: .*"cuda"; allowed: "auto", "cpu"'),
                (["rough.toml", "--steps", "5"], r"--steps: the events solver has no steps; allowed: --until T"),
                (["rough.toml", "--set", "physics.simultaneous=reflect"], r".*: physics\.simultaneous: must be .*friction.*"),
                (["rough.toml", "--set", "physics.simultaneous=newton"], r".*: physics\.simultaneous: must be .*friction.*"),
                (["rough.toml", "--events-log", "rough.toml"], r"rough\.toml: is the input, and would be overwritten.*"),
                (["rough.toml", "--solver", "spring", "--set", "physics.friction=0", "--events-log", "x.csv"],
                 r"--events-log: the spring solver has no events; allowed: --solver events")]:
            with self.subTest(arguments):
                result = self.carom("run", *arguments)
                self.assertEqual(result.status, 2)
                lines = result.err.strip().splitlines()
                self.assertEqual(len(lines), 1, result.err)
                self.assertRegex(lines[0], "^carom: " + message + "$")
                self.assertEqual(self.files(), ["rough.toml"])

    def test_a_log_that_cannot_be_written_is_a_failure_of_the_system(self):
        result = self.carom("run", "rough.toml", "--events-log", "/dev/full", "--force")
        self.assertEqual(result.status, 4)
        self.assertRegex(result.err, r"/dev/full: No space left on device")

    def test_no_ball_goes_through_an_image_of_a_fixed_one(self):
        # Of two cells along a periodic axis a ball sees each other in several images; from one it may come, to the next it goes.
        for dimension, width, fall in ((2, 2.1, -1.0), (2, 2.6, 1.0), (2, 2.9, -1.0), (2, 4.0, -1.0), (3, 2.1, -1.0), (3, 2.9, 1.0)):
            with self.subTest(dimension=dimension, width=width):
                size = [width] * (dimension - 1) + [6.0]
                self.write("peg.toml", f"[scene]\ndimension = {dimension}\n[box]\nsize = {size}\n"
                                       f"boundary = {['periodic'] * (dimension - 1) + ['wall']}\n[physics]\ngravity = {[0.0] * (dimension - 1) + [fall]}\n"
                                       "[run]\nsolver = 'events'\nuntil = 60.0\n[output]\nevery = 0.01\n"
                                       f"[[ball]]\nradius = 0.5\nmass = inf\nposition = {[1.05] * (dimension - 1) + [3.0]}\n"
                                       f"[[ball]]\nradius = 0.25\nmass = 1.0\nposition = {[0.5] * (dimension - 1) + [4.0]}\n"
                                       f"velocity = {[1.5, 0.3][:dimension - 1] + [0.0]}\n")
                self.succeed("run", "peg.toml", "--quiet", "--force", "-o", "peg.h5")
                with h5py.File(self.folder / "peg.h5") as file:
                    places = file["particles/all/position/value"][:]
                apart = places[:, 0] - places[:, 1]
                periodic = apart[:, :dimension - 1]
                periodic -= width * numpy.round(periodic / width)
                self.assertGreater(numpy.linalg.norm(apart, axis=1).min(), 0.75 - 1e-6)


class Scenes(ProgramTest):
    def test_every_scene_runs_with_the_events_solver(self):
        for scene in sorted((SOURCE / "scenes").glob("*.toml")):
            if scene.name.endswith(".sweep.toml"):
                continue
            with self.subTest(scene.name):
                summary = self.run_json(scene, "--solver", "events", "--until", "0.02", "--force", "-o", "out.h5")
                self.assertLess(summary["virial_defect"], 1e-9)
                self.assertFalse(re.search("warning", summary.get("error", "")))


if __name__ == "__main__":
    unittest.main()
