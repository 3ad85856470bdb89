"""Averages, from [[observe]] to the file, the summary and the figures; and that a resume makes no difference."""

import json
import subprocess
import sys
import unittest

import h5py
import numpy

from program import ProgramTest

GAS = """
[scene]
title = "averaged gas"
dimension = 2
seed = 5

[box]
size = [16.0, 12.0]
boundary = ["periodic", "wall"]

[run]
solver = "%s"
backend = "cpu"
until = 6.0

[output]
every = 1.0
observables_every = 0.05

[[species]]
name = "light"
radius = 0.3
mass = 1.0

[[species]]
name = "heavy"
radius = 0.5
mass = 5.0

[[fill]]
species = "light"
count = 60
temperature = 1.0

[[fill]]
species = "heavy"
count = 30
temperature = 1.0
"""

KINDS = {
    "speed": "bins = 32\nspecies = \"light\"",
    "velocity": "bins = 16\nfrom = 1.0",
    "density": "axis = \"y\"",
    "temperature_profile": "bins = 6",
    "velocity_profile": "axis = \"x\"\nbins = 4",
    "density_map": "bins = 8",
    "gr": "species = \"light\"\nwith = \"heavy\"\nmax = 2.0",
    "msd": "",
    "vacf": "species = \"heavy\"",
    "temperature": "region = { min = [0.0, 0.0], max = [8.0, 12.0] }",
    "kurtosis": "",
}
# A frame holds these extents of each.
SHAPES = {"speed": (32,), "velocity": (2, 16), "density": (100,), "temperature_profile": (6,),
          "velocity_profile": (2, 4), "density_map": (6, 8), "gr": (200,), "temperature": (), "kurtosis": ()}


def observed(every=None):
    text = ""
    for kind, keys in KINDS.items():
        text += f'\n[[observe]]\nname = "a_{kind}"\nkind = "{kind}"\n{keys}\n'
        if every:
            text += f"every = {every}\n"
    return text


def averages(path):
    """All numbers of the last frame, and the summary's means."""
    with h5py.File(path) as file:
        found = {}
        for kind in KINDS:
            group = file[f"observables/a_{kind}"]
            for name in group:
                if name not in ("step", "time"):
                    found[f"{kind}/{name}"] = group[name][-1]
        return found, json.loads(file["parameters/summary"][()].decode())["means"]


class Averages(ProgramTest):
    def run_all(self, solver):
        self.write("gas.toml", GAS % solver + observed(every=0.02))
        self.assertEqual(self.carom("run", "gas.toml", "-o", "whole.h5", "--quiet").status, 0)

    def test_each_is_in_the_file_with_a_table_per_frame(self):
        self.run_all("events")
        with h5py.File(self.folder / "whole.h5") as file:
            frames = len(file["particles/all/position/time"])
            for kind in KINDS:
                group = file[f"observables/a_{kind}"]
                self.assertEqual(group["value"].shape[0], frames)
                self.assertEqual(group["error"].shape, group["value"].shape)
                self.assertEqual(list(group["time"]), list(file["particles/all/position/time"]))
                self.assertEqual(group.attrs["kind"].decode(), kind)
                self.assertGreater(len(group.attrs["normalisation"]), 20)
                if kind in SHAPES:
                    self.assertEqual(group["value"].shape[1:], SHAPES[kind])
            samples = file["observables/a_density/samples"][:]
            self.assertEqual(list(samples), [1 + 50 * k for k in range(frames)])
            # All balls are in the box: the profile adds up to them.
            density = file["observables/a_density/value"][-1]
            self.assertAlmostEqual(density.mean() * 16.0 * 12.0, 90.0, places=9)
            # And the map.
            self.assertAlmostEqual(file["observables/a_density_map/value"][-1].mean() * 16.0 * 12.0, 90.0, places=9)
            self.assertEqual(file["observables/a_velocity/samples"][-1], 1 + 250, "from = 1.0")

    def test_a_resumed_run_ends_with_the_averages_of_one_that_was_not_stopped(self):
        for solver in ["events", "spring"]:
            with self.subTest(solver=solver):
                self.run_all(solver)
                # Neither a sample nor a row nor a frame is due at 2.337.
                self.carom("run", "gas.toml", "-o", "part.h5", "--until", "2.337", "--quiet", "--force")
                done = self.carom("run", "--resume", "part.checkpoint.h5", "-o", "rest.h5", "--until", "6", "--quiet",
                                  "--force")
                self.assertEqual(done.status, 0, done.err)
                (whole, means), (rest, rest_means) = averages(self.folder / "whole.h5"), averages(
                    self.folder / "rest.h5")
                self.assertEqual(whole.keys(), rest.keys())
                for name in whole:
                    self.assertTrue(numpy.array_equal(whole[name], rest[name], equal_nan=True), name)
                self.assert_same_means(means, rest_means)
                for name in ["whole.h5", "whole.checkpoint.h5"]:
                    (self.folder / name).unlink()

    def assert_same_means(self, means, rest_means):
        # The spring solver rounds its wall impulses when it is looked at, at the end of a run too.
        for name in [name for name in means["values"] if name.startswith("wall_pressure")]:
            one, other = means["values"].pop(name), rest_means["values"].pop(name)
            for key in ["mean", "error", "correlation_time"]:
                self.assertAlmostEqual(one[key], other[key], delta=1e-12 * abs(one[key]))
        self.assertEqual(means, rest_means)

    def test_default_intervals_are_the_ones_that_the_run_started_with(self):
        self.write("gas.toml", GAS % "events" + observed())
        self.carom("run", "gas.toml", "-o", "whole.h5", "--quiet")
        self.carom("run", "gas.toml", "-o", "part.h5", "--quiet", "--checkpoint-every", "1.0")
        # The same end, reached in two goes: until is what defaults follow from.
        self.carom("run", "gas.toml", "-o", "first.h5", "--until", "6.0", "--quiet")
        done = self.carom("run", "--resume", "first.checkpoint.h5", "-o", "more.h5", "--until", "9.0", "--quiet")
        self.assertEqual(done.status, 0, done.err)
        with h5py.File(self.folder / "first.h5") as first, h5py.File(self.folder / "more.h5") as more:
            for kind in KINDS:
                self.assertEqual(first[f"observables/a_{kind}"].attrs["every"],
                                 more[f"observables/a_{kind}"].attrs["every"])
                self.assertGreaterEqual(more[f"observables/a_{kind}/samples"][-1],
                                        first[f"observables/a_{kind}/samples"][-1])

    def test_default_intervals_leave_time_for_the_run(self):
        self.write("gas.toml", GAS % "spring" + observed())
        self.carom("run", "gas.toml", "--until", "0.5", "--quiet")
        with h5py.File(self.folder / "gas.h5") as file:
            dt = file["parameters/solver"].attrs["dt"]
            every = {kind: file[f"observables/a_{kind}"].attrs["every"] for kind in KINDS}
        def expected(steps):  # in a short run for 32 samples, but at most four times as often
            return min(max(0.5 / 1000, steps * dt), max(0.5 / 32, steps * dt / 4))
        self.assertAlmostEqual(every["speed"], expected(2500), delta=dt)
        self.assertAlmostEqual(every["gr"], expected(7500), delta=dt)
        self.assertLessEqual(every["vacf"], every["speed"])
        for value in every.values():
            self.assertAlmostEqual(value / dt, round(value / dt), places=6, msg="whole steps")

    def test_check_tells_when_samples_are_taken(self):
        self.write("gas.toml", GAS % "events" + observed(every=0.02))
        told = json.loads(self.carom("check", "gas.toml", "--json").out)
        self.assertEqual(told["averages"]["a_velocity"], {"kind": "velocity", "every": 0.02, "from": 1.0})
        self.assertEqual(told["warnings"], [])
        self.assertIn("a_gr: gr, a sample every 0.02 s from t = 0 on", self.carom("check", "gas.toml").out)
        late = self.carom("check", "gas.toml", "--until", "0.5").out
        self.assertIn("warning: a_velocity takes no sample: it begins at t = 1, and the run ends at 0.5\n", late)

    def test_the_summary_has_means_with_errors(self):
        self.write("gas.toml", GAS % "events")
        result = self.carom("run", "gas.toml", "--json", "--force")
        means = result.json["means"]
        temperature = means["values"]["temperature"]
        self.assertAlmostEqual(temperature["mean"], 1.0, places=9)
        pressure = means["values"]["virial_pressure"]
        self.assertGreater(pressure["error"], 0.0)
        self.assertGreater(pressure["correlation_time"], 0.0)
        self.assertIn("means since t = ", result.err)
        with h5py.File(self.folder / "gas.h5") as file:
            rows = file["observables/virial_pressure/value"][:]
            time = file["observables/virial_pressure/time"][:]
        late = rows[time > means["since"] + 1e-9]
        self.assertAlmostEqual(pressure["mean"], late.mean(), places=9)
        self.assertEqual(means["rows"], len(late))

    def test_mdanalysis_reads_them_with_each_frame(self):
        self.run_all("events")
        code = ("import sys, warnings; warnings.simplefilter('ignore'); import MDAnalysis\n"
                "u = MDAnalysis.Universe.empty(90, trajectory=False)\n"
                "u.load_new(sys.argv[1], format='H5MD', convert_units=False)\n"
                "print([float(ts.data['a_density'].sum()) > 0 for ts in u.trajectory])\n")
        done = subprocess.run([sys.executable, "-c", code, str(self.folder / "whole.h5")], capture_output=True,
                              text=True, check=False)
        if "No module named" in done.stderr:
            self.skipTest("MDAnalysis is not installed")
        self.assertEqual(done.stdout.strip(), str([True] * 7), done.stderr)

    def test_figures_of_all_of_them(self):
        self.run_all("events")
        result = self.carom("plot", "whole.h5", "--all")
        self.assertEqual(result.status, 0, result.err)
        drawn = {path.name for path in self.folder.glob("whole-*.png")}
        curves = {f"whole-a_{kind}.png" for kind in KINDS if kind not in ("temperature", "kurtosis")}
        self.assertEqual(drawn, curves | {f"whole-{name}.png" for name in ["energy", "pressure", "temperature"]})
        for path in self.folder.glob("whole-*.png"):
            self.assertGreater(path.stat().st_size, 5000, path.name)
        self.assertEqual(self.carom("plot", "whole.h5", "--all").status, 2, "nothing is overwritten without --force")

    def test_kinds_are_quantities_and_runs_are_overlaid(self):
        self.run_all("events")
        self.carom("run", "gas.toml", "-o", "other.h5", "--seed", "9", "--quiet")
        for quantity in ["speed", "gr", "msd", "pressure"]:
            out = f"two-{quantity}.svg"
            result = self.carom("plot", "whole.h5", quantity, "--with", "other.h5", "-o", out)
            self.assertEqual(result.status, 0, result.err)
            self.assertIn("averaged gas", (self.folder / out).read_text())
        # What a run did not observe comes from its frames.
        self.write("plain.toml", GAS % "events")
        self.carom("run", "plain.toml", "--quiet")
        for quantity in ["speed", "velocity", "density", "density_map", "gr", "msd", "vacf"]:
            result = self.carom("plot", "plain.h5", quantity, "-o", f"plain-{quantity}.pdf")
            self.assertEqual(result.status, 0, result.err)
        result = self.carom("plot", "plain.h5", "kurtosis")
        self.assertEqual(result.status, 2)
        self.assertEqual(result.err.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
