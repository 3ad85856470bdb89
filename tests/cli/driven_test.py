"""Runs that walls, fields and thermostats drive: what the summary, the file and a checkpoint hold of their energy."""

import json
import unittest

import h5py

from program import ProgramTest

SCENE = """
[scene]
dimension = 2
seed = 3
[box]
size = [14.0, 10.0]
wall_temperature = [[2.0, 0.5], 0.0]
[spring]
stiffness = 2000.0
[[wall]]
shape = "plane"
normal = [0.0, 1.0]
velocity = 0.05
[[fill]]
radius = 0.5
mass = 1.0
count = 30
temperature = 1.0
[[stage]]
until = 4.0
thermostat = { kind = "andersen", temperature = 1.5, rate = 0.5 }
[[stage]]
until = 10.0
gravity = [0.0, -0.2]
"""


class Driven(ProgramTest):
    def summary(self, *arguments):
        result = self.carom("run", *arguments, "--json", "--quiet")
        self.assertEqual(result.status, 0, result.err)
        return json.loads(result.out)

    def test_the_balance_is_printed_and_goes_on_after_a_restart(self):
        (self.folder / "driven.toml").write_text(SCENE)
        for solver, bound in [("events", 1e-12), ("spring", 2e-3)]:
            with self.subTest(solver=solver):
                options = ["--solver", solver, "--force"]
                whole = self.summary("driven.toml", *options, "-o", "whole.h5")
                self.assertEqual(whole["time"], 10.0 if solver == "events" else whole["time"])
                self.assertLess(abs(whole["energy_balance"]), bound)
                self.assertEqual(list(whole["wall_heat"]), ["x_min", "x_max"])  # the floor moves, and reflects
                self.assertGreater(whole["wall_heat"]["x_min"], 0.0)
                self.assertLess(whole["wall_heat"]["x_max"], 0.0)
                self.assertNotEqual(whole["thermostat_heat"], 0.0)
                self.assertLess(abs(whole["energy_lost"]), 1e-9)  # rounding
                change = whole["energy_drift"]
                self.assertNotEqual(change, 0.0)
                part = self.summary("driven.toml", *options, "-o", "part.h5", "--until", "6", "--checkpoint",
                                    "part.check")
                rest = self.summary("--resume", "part.check", "--until", "10", "-o", "rest.h5", "--force")
                self.assertEqual(rest["state_hash"], whole["state_hash"])
                self.assertLess(abs(rest["energy_balance"]), bound)
                for wall in ["x_min", "x_max"]:
                    self.assertAlmostEqual(part["wall_heat"][wall] + rest["wall_heat"][wall],
                                           whole["wall_heat"][wall], 7)
                self.assertAlmostEqual(rest["heat"], sum(rest["wall_heat"].values()) + rest["thermostat_heat"], 9)

    def test_people_are_told(self):
        (self.folder / "driven.toml").write_text(SCENE)
        result = self.carom("run", "driven.toml", "--solver", "events")
        self.assertEqual(result.status, 0)
        self.assertRegex(result.err, r"energy balance: heat [+-][0-9.e+]+, work [+-][0-9.e+]+; closes to [0-9.]+e-1[0-9]\n"
                         r"heat by source: x-min \+[0-9.]+, x-max -[0-9.]+, thermostat [+-][0-9.]+\n")

    def test_rows_have_heat_and_work_of_driven_runs_alone(self):
        (self.folder / "driven.toml").write_text(SCENE)
        self.summary("driven.toml", "--solver", "events", "-o", "driven.h5")
        with h5py.File(self.folder / "driven.h5") as file:
            rows = file["observables"]
            self.assertEqual(rows["wall_heat/value"].shape[1], 5)
            total = rows["wall_heat/value"][-1].sum()
            self.assertGreater(abs(rows["heat/value"][-1] - total), 0.0)  # the rest is the thermostat's
            self.assertNotEqual(rows["work/value"][-1], 0.0)
        self.summary("two_balls", "-o", "plain.h5")
        with h5py.File(self.folder / "plain.h5") as file:
            self.assertNotIn("heat", file["observables"])

    def test_what_dashpots_lose_is_not_known_and_what_hard_contacts_lose_is(self):
        (self.folder / "driven.toml").write_text(SCENE)
        damped = self.summary("driven.toml", "--set", "physics.restitution=0.9", "-o", "damped.h5")
        self.assertIsNone(damped["energy_balance"])
        self.assertIsNone(damped["energy_lost"])
        hard = self.summary("driven.toml", "--set", "physics.restitution=0.9", "--solver", "events", "-o", "hard.h5")
        self.assertGreater(hard["energy_lost"], 0.0)
        self.assertLess(abs(hard["energy_balance"]), 1e-12)

    def mean_free_paths(self, *arguments):
        """That of an average, its error, and that of the engine's own count, of balls alone between periodic sides."""
        out = self.summary("gas.toml", "--solver", "events", "-o", "gas.h5", "--force", *arguments)
        with h5py.File(self.folder / "gas.h5") as file:
            group = file["observables/path"]
            return group["value"][-1].item(), group["error"][-1].item(), out["mean_free_path"]

    def test_free_paths_know_thermostats_and_the_gravity_of_a_stage(self):
        gas = """
            [scene]
            dimension = 2
            seed = 5
            [box]
            size = [30.0, 30.0]
            boundary = ["periodic", "wall"]
            [run]
            until = 400.0
            [[fill]]
            radius = 0.5
            mass = 1.0
            count = 100
            temperature = 1.0
            [[observe]]
            name = "path"
            kind = "mean_free_path"
            """
        thermostat = "[thermostat]\nkind = 'andersen'\ntemperature = 1.0\nrate = 3.0\n"
        for name, extra in [("plain", ""), ("thermostat", thermostat)]:
            with self.subTest(name):
                (self.folder / "gas.toml").write_text(gas.replace('"wall"', '"periodic"') + extra)
                path, error, counted = self.mean_free_paths()
                self.assertLess(abs(path - counted), 4.0 * error + 0.01 * counted)
        # A stage's gravity is the gravity of its flights, whatever [physics] says: the balls are the same to the bit.
        stage = "[[stage]]\nuntil = 400.0\ngravity = [0.0, -0.2]\n"
        (self.folder / "gas.toml").write_text(gas + stage)
        none = self.mean_free_paths()
        self.assertEqual(none, self.mean_free_paths("--set", "physics.gravity=[0.0, -0.2]"))

    def test_a_body_of_infinite_mass_is_stopped_by_a_warm_wall_too(self):
        self.write("body.toml", """
[scene]
dimension = 2
[box]
size = [20.0, 20.0]
boundary = ["wall", "periodic"]
wall_temperature = [1.0, 0.0]
[run]
until = 2.0
[[ball]]
radius = 0.5
mass = inf
position = [15.0, 10.0]
velocity = [5.0, 0.0]
[[ball]]
radius = 0.5
mass = 1.0
position = [5.0, 10.2]
""")
        for precision in ("single", "double"):
            result = self.carom("run", "body.toml", "--quiet", "--force", "--precision", precision)
            self.assertEqual(result.status, 3, result.err)
            self.assertIn("has passed the x-max face", result.err)

    def test_what_a_warm_wall_gives_hangs_on_no_spring(self):
        self.write("warm.toml", """
[scene]
dimension = 2
[box]
size = [10.0, 10.0]
boundary = ["wall", "periodic"]
wall_temperature = [1.0, 0.0]
[spring]
dt = 1e-3
[run]
until = 40.0
[output]
every = 0
[[ball]]
radius = 0.05
mass = 1.0
position = [5.0, 5.0]
velocity = [1.0, 0.3]
""")
        stiff, soft = (self.run_json("warm.toml", "--force", "--set", f"spring.stiffness={k}") for k in (1000, 0.1))
        self.assertEqual(stiff["state_hash"], soft["state_hash"])
        self.assertGreater(stiff["wall_impulse"][0], 1.0)
        self.assertEqual(stiff["wall_impulse"], soft["wall_impulse"])

    def test_frames_are_whole_while_a_thermostat_makes_new_engines(self):
        # Frames are finished by another thread, which must not meet an engine that goes.
        self.summary("gas2d", "--set", "fill[0].count=3000", "--set", "box.size=[80, 80]", "--set", "run.until=0.4",
                     "--set", "output.every=0.004", "--set", "thermostat.kind=rescale", "--set",
                     "thermostat.temperature=1.0", "--set", "thermostat.every=0.001", "-o", "scaled.h5")

    def test_the_name_of_a_stage_is_shown_as_it_is(self):
        text = SCENE.split("[thermostat]")[0]
        self.write("named.toml", text + '[[stage]]\nname = "a\\u202Eb\\u200Bc"\nuntil = 20.0\n')
        for command in (["check", "named.toml"], ["run", "named.toml", "--until", "0.1", "--force"]):
            result = self.carom(*command)
            said = result.out + result.err
            self.assertIn("a\\u{202e}b\\u{200b}c", said, result.status)
            self.assertNotRegex(said, "[\u202e\u200b]")

    def test_a_temperature_that_is_scaled_to_is_settled(self):
        # After the first time it is off by rounding alone, of which no statistics tell anything.
        self.write("scaled.toml", """
[scene]
dimension = 2
[box]
size = [40.0, 40.0]
boundary = ["periodic", "periodic"]
[run]
solver = "events"
until = 50.0
[thermostat]
kind = "rescale"
temperature = 1.0
every = 1.0
[[fill]]
count = 400
radius = 0.5
mass = 1.0
temperature = 1.5
""")
        for seed in range(1, 16):
            means = self.run_json("scaled.toml", "--force", "--set", f"scene.seed={seed}")["means"]
            self.assertIsNot(means["equilibrated"], False, (seed, means.get("reason")))
            self.assertAlmostEqual(means["values"]["temperature"]["mean"], 1.0, delta=1e-9)

    def test_rows_of_driven_runs_keep_their_names(self):
        (self.folder / "driven.toml").write_text(SCENE + "[[observe]]\nname = 'heat'\nkind = 'msd'\n")
        result = self.carom("check", "driven.toml")
        self.assertEqual(result.status, 2)
        self.assertIn("observe[0].name", result.err)


if __name__ == "__main__":
    unittest.main()
