"""Averages, from [[observe]] to the file, the summary and the figures; that a resume makes no difference; and those that
are numbers, with errors and theory."""

import json
import re
import os
import subprocess
import sys
import unittest

import h5py
import numpy

from program import GAS, MIXTURE, ProgramTest

KINDS = {
    "speed": "bins = 32\nspecies = \"light\"",
    "velocity": "bins = 16\nfrom = 1.0",
    "density": "axis = \"y\"",
    "temperature_profile": "bins = 6",
    "velocity_profile": "axis = \"x\"\nbins = 4",
    "density_map": "bins = 8",
    "temperature_map": "bins = 4",
    "velocity_map": "bins = 4",
    "gr": "species = \"light\"\nwith = \"heavy\"\nmax = 2.0",
    "msd": "",
    "self_diffusion": "species = \"light\"",
    "vacf": "species = \"heavy\"",
    "temperature": "region = { min = [0.0, 0.0], max = [8.0, 12.0] }",
    "kurtosis": "",
    "stress": "",
    "kinetic_stress": "",
    "collisional_stress": "",
    "pressure": "",
    "compressibility": "",
}
OF_EVENTS = {
    "free_path": "bins = 16\nspecies = \"light\"",
    "mean_free_path": "",
    "collision_rate": "species = \"heavy\"",
}
NUMBERS = ("self_diffusion", "temperature", "kurtosis", "stress", "kinetic_stress", "collisional_stress", "pressure", "compressibility", "mean_free_path", "collision_rate")
# A frame holds these extents of each.
SHAPES = {"speed": (32,), "velocity": (2, 16), "density": (100,), "temperature_profile": (6,),
          "velocity_profile": (2, 4), "density_map": (6, 8), "temperature_map": (3, 4), "velocity_map": (2, 3, 4), "gr": (200,), "self_diffusion": (), "temperature": (), "kurtosis": (), "stress": (3,), "kinetic_stress": (3,), "collisional_stress": (3,), "pressure": (),
          "compressibility": (), "free_path": (16,), "mean_free_path": (), "collision_rate": ()}


def kinds_of(solver):
    return KINDS | OF_EVENTS if solver == "events" else KINDS


def observed(solver, every=None):
    text = ""
    for kind, keys in kinds_of(solver).items():
        text += f'\n[[observe]]\nname = "a_{kind}"\nkind = "{kind}"\n{keys}\n'
        if every:
            text += f"every = {every}\n"
    return text


def averages(path):
    """All numbers of the last frame, and the summary's means."""
    with h5py.File(path) as file:
        found = {}
        for kind in KINDS | OF_EVENTS:
            if f"observables/a_{kind}" not in file:
                continue
            group = file[f"observables/a_{kind}"]
            for name in group:
                if name not in ("step", "time"):
                    found[f"{kind}/{name}"] = group[name][-1]
        return found, json.loads(file["parameters/summary"][()].decode())["means"]


class Averages(ProgramTest):
    def run_all(self, solver):
        self.write("gas.toml", MIXTURE % solver + observed(solver, every=0.02))
        self.assertEqual(self.carom("run", "gas.toml", "-o", "whole.h5", "--quiet").status, 0)

    def test_each_is_in_the_file_with_a_table_per_frame(self):
        self.run_all("events")
        with h5py.File(self.folder / "whole.h5") as file:
            frames = len(file["particles/all/position/time"])
            for kind in kinds_of("events"):
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

    STAGES = """
[scene]
dimension = 2
[box]
size = [6.0, 6.0]
[run]
solver = "events"
until = 6.0
[output]
observables_every = 1.0
[[species]]
name = "a"
radius = 0.5
mass = 1.0
[[fill]]
count = 20
species = "a"
temperature = 1.0
[[observe]]
name = "path"
kind = "mean_free_path"
species = "a"
every = 0.01
[[stage]]
until = 2.5
measure = false
[[stage]]
until = 4.0
measure = true
gravity = [0.0, -1.0]
[[stage]]
until = 6.0
gravity = [2.0, 0.0]
"""

    def test_a_run_that_is_stopped_in_a_stage_that_is_not_measured_or_before_its_first_impact(self):
        """Of how a run was cut in parts nothing may be seen: neither where nothing is measured, nor where gravity has just
        changed, and no ball has met any yet."""
        self.write("s.toml", self.STAGES)
        for solver in ("events", "spring"):
            text = self.STAGES.replace('"events"', f'"{solver}"')
            self.write("s.toml", text if solver == "events" else text.replace("mean_free_path", "temperature"))
            whole = self.succeed("run", "s.toml", "-o", "whole.h5", "--quiet", "--force", "--json").json
            self.assertEqual(whole["means"]["rows"], 3, "of 4, 5 and 6: what was before 2.5 is not in the means")
            self.assertAlmostEqual(whole["means"]["since"], 3.0, places=4)
            for stop in (2.2, 2.501, 4.001, 4.004):
                self.succeed("run", "s.toml", "-o", "part.h5", "--until", stop, "--quiet", "--force")
                rest = self.succeed("run", "--resume", "part.checkpoint.h5", "--until", "6", "-o", "rest.h5", "--quiet",
                                    "--force", "--json").json
                self.assertEqual(rest["state_hash"], whole["state_hash"])
                self.assertEqual(rest["averages"], whole["averages"], stop)
                self.assert_same_means(json.loads(json.dumps(whole["means"])), rest["means"])

    def test_balls_of_very_different_mass(self):
        """At one temperature the lightest are the fastest: sums must not be as coarse as the heaviest would need them."""
        self.write("k.toml", """
[scene]
dimension = 2
[box]
size = [20.0, 20.0]
boundary = "periodic"
[run]
solver = "events"
until = 5.0
[output]
observables_every = 0.5
[[species]]
name = "heavy"
radius = 1.0
mass = 1e15
[[fill]]
count = 4
species = "heavy"
temperature = 1.0
[[fill]]
count = 200
radius = 0.3
mass = 1.0
temperature = 1.0
""" + "".join(f'[[observe]]\nname = "a_{kind}{of}"\nkind = "{kind}"\n' + (f'species = "{of}"\n' if of else "")
                     for kind in ("kurtosis", "temperature", "pressure") for of in ("", "heavy") if kind != "pressure" or not of))
        told = self.succeed("run", "k.toml", "-o", "k.h5", "--quiet", "--json").json
        found = {name: value["mean"] for name, value in told["averages"].items()}
        self.assertAlmostEqual(found["a_temperature"], 1.0, delta=1e-9)
        self.assertAlmostEqual(found["a_temperatureheavy"], 1.0, delta=0.7)  # four balls
        self.assertAlmostEqual(found["a_kurtosis"], 3.0, delta=0.3)
        self.assertGreater(found["a_kurtosisheavy"], 0.9)  # the least that there is: 1
        rows = told["means"]["values"]["virial_pressure"]["mean"]
        self.assertAlmostEqual(found["a_pressure"], rows, delta=0.1 * rows)

    def test_the_sample_at_the_end_counts_where_multiples_are_rounded(self):
        self.write("end.toml", """
[scene]
dimension = 2
[box]
size = [10.0, 10.0]
[[fill]]
radius = 0.3
mass = 1.0
count = 20
temperature = 1.0
[run]
solver = "events"
until = 0.3
[[observe]]
name = "rate"
kind = "collision_rate"
every = 0.1
""")
        for until in (0.3, 0.4, 0.6, 0.7):  # 3 times 0.1 is 0.30000000000000004 to a computer
            summary = self.run_json("end.toml", "--until", until, "--force")
            self.assertGreater(summary["collision_rate"], 0.0)
            self.assertAlmostEqual(summary["averages"]["rate"]["mean"], summary["collision_rate"])

    def test_no_correlation_crosses_a_stage_that_no_sample_falls_into(self):
        self.write("kick.toml", """
[scene]
dimension = 2
[box]
size = [10.0, 10.0]
boundary = "periodic"
[run]
solver = "events"
until = 2.0
[[ball]]
radius = 0.1
mass = 1.0
position = [5.0, 5.0]
velocity = [1.0, 0.0]
[[ball]]
radius = 0.1
mass = 1.0
position = [5.0, 8.0]
velocity = [1.0, 0.0]
[[stage]]
until = 1.0
measure = true
[[stage]]
until = 1.05
measure = false
thermostat = { kind = "rescale", temperature = 5000.0, every = 0.01 }
[[stage]]
until = 2.0
[[observe]]
name = "vacf"
kind = "vacf"
every = 0.1
""")
        self.run_json("kick.toml", "-o", "kick.h5")
        with h5py.File(self.folder / "kick.h5") as file:
            group = file["observables/vacf"]
            lags, values = group["x"][-1], group["value"][-1]
        at = numpy.argmin(numpy.abs(lags - 0.3))
        self.assertAlmostEqual(values[at], (8 * 0.5 + 7 * 5000.0) / 15, delta=1e-6)

    def test_means_begin_with_the_rows_that_count_however_few_the_frames(self):
        """The only frame of a stage that is measured is the last one."""
        self.write("gas.toml", """
[scene]
dimension = 2
[box]
size = [12.0, 12.0]
boundary = "periodic"
[thermostat]
kind = "andersen"
temperature = 1.0
rate = 1.0
[run]
solver = "events"
until = 400.0
[output]
every = 400.0
observables_every = 1.0
[[fill]]
radius = 0.5
mass = 1.0
count = 20
temperature = 1.0
[[stage]]
until = 40.0
measure = false
[[stage]]
until = 400.0
""")
        means = self.run_json("gas.toml", "-o", "gas.h5")["means"]
        self.assertTrue(means["equilibrated"], means.get("reason"))
        self.assertTrue(40.0 <= means["since"] <= 220.0, means["since"])
        self.assertEqual(means["rows"], 400 - means["since"])

    def test_a_body_that_nothing_moves_goes_no_way(self):
        self.write("peg.toml", GAS.replace("[[fill]]", '''[physics]
gravity = [0.0, -1.0]
[[species]]
name = "peg"
radius = 0.5
mass = inf
[[ball]]
species = "peg"
position = [5.0, 5.0]
[[observe]]
name = "way"
kind = "mean_free_path"
species = "peg"
every = 0.5
[[fill]]''', 1))
        self.assertEqual(self.run_json("peg.toml", "--solver", "events")["averages"]["way"]["mean"], 0.0)

    def test_balls_that_leave_have_gone_their_last_ways(self):
        # Two of radius 0.5 meet at 10 after 1.5 and are out at -0.5 and 20.5, 11.5 from their starts, between two samples.
        kinds = [("all", "mean_free_path", ""), ("of_a", "mean_free_path", "a"), ("rate", "collision_rate", ""),
                 ("rate_a", "collision_rate", "a")]
        self.write("out.toml", """
[scene]
dimension = 2
[box]
size = [20.0, 4.0]
boundary = ["open", "wall"]
[run]
solver = "events"
until = 20.0
[[species]]
name = "a"
radius = 0.5
mass = 1.0
""" + "".join(f"[[ball]]\nspecies = 'a'\nposition = [{x}, 2.0]\nvelocity = [{v}, 0.0]\n" for x, v in ((8.0, 1.0), (12.0, -1.0)))
                   + "".join(f"[[observe]]\nname = '{name}'\nkind = '{kind}'\nevery = 10.0\n"
                             + (f"species = '{species}'\n" if species else "") for name, kind, species in kinds))
        averages = self.run_json("out.toml")["averages"]
        for name, expected in (("all", 11.5), ("of_a", 11.5), ("rate", 1.0 / 11.5), ("rate_a", 1.0 / 11.5)):
            with self.subTest(name):
                self.assertAlmostEqual(averages[name]["mean"], expected, places=8)

    def test_a_summary_has_room_for_all_averages(self):
        self.write("many.toml", GAS + "".join(f'[[observe]]\nname = "{"s" * 40}{k}"\nkind = "stress"\nevery = 0.1\n'
                                              for k in range(100)))
        summary = self.run_json("many.toml", "--solver", "events", "-o", "many.h5")
        with h5py.File(self.folder / "many.h5") as file:
            kept = file["parameters/summary"][()]
        self.assertGreater(len(kept), 65536)
        self.assertEqual(json.loads(kept)["averages"], summary["averages"])

    def test_what_frames_say_of_equilibrium_is_kept_in_bounds_and_resumed(self):
        self.write("gas.toml", MIXTURE.replace("until = 6.0", "until = 12.5").replace("every = 1.0", "every = 0.002")
                   .replace("count = 60", "count = 4").replace("count = 30", "count = 2") % "events"
                   + "[physics]\ngravity = [0.0, -1.0]\n")  # so they warm, and meet more often

        def looks(name):
            with h5py.File(self.folder / name) as file:
                names = [name.decode() for name in file["extra/names"][()]]
                return file[f"extra/{names.index('average equilibrium watch')}"][()]

        self.succeed("run", "gas.toml", "-o", "whole.h5", "--quiet")
        self.succeed("run", "gas.toml", "-o", "part.h5", "--until", "9.5", "--quiet")
        self.succeed("run", "--resume", "part.checkpoint.h5", "-o", "rest.h5", "--until", "12.5", "--quiet")
        whole = looks("whole.checkpoint.h5")
        frames = (len(whole) - 2) / (1 - whole[1])  # behind how often balls meet, and how many numbers a look has, both below 0
        self.assertTrue(2048 <= frames < 4096, frames)  # of 6,251
        self.assertTrue(numpy.array_equal(whole, looks("rest.checkpoint.h5")))

    def test_many_kinds_are_looked_at_in_groups(self):
        count = 400
        places = numpy.stack([0.5 + numpy.arange(count) % 20, 0.5 + numpy.arange(count) // 20], axis=1)
        chance = numpy.random.default_rng(7)
        rows = numpy.hstack([places, chance.normal(size=(count, 2)), 0.2 + 0.2 * chance.random((count, 1)),
                             1.0 + chance.random((count, 1))])
        numpy.savetxt(self.folder / "balls.csv", rows, delimiter=",", header="x,y,vx,vy,radius,mass", comments="")
        self.write("many.toml", """
[scene]
dimension = 2
[box]
size = [20.0, 20.0]
boundary = ["periodic", "wall"]
[run]
solver = "events"
until = 40.0
[output]
every = 0.2
[[load]]
file = "balls.csv"
""")
        whole = self.run_json("many.toml", "-o", "whole.h5")
        self.assertTrue(whole["means"]["equilibrated"], whole["means"])
        self.succeed("run", "many.toml", "-o", "part.h5", "--until", "25.0", "--quiet")

        def numbers(file):
            names = [name.decode() for name in file["extra/names"][()]]
            return f"extra/{names.index('average equilibrium watch')}"
        waves, groups = 4, 10
        with h5py.File(self.folder / "part.checkpoint.h5", "r+") as file:
            place = numbers(file)
            kept = file[place][()]
            self.assertEqual(kept[1], -(1 + groups + waves * (groups + 2 + 1)))
            # Versions of before looked at other numbers, whose width has no sign: these are left out, and new ones follow.
            looks = numpy.zeros((125, 1 + 41))
            looks[:, 0] = 0.2 * numpy.arange(125)
            del file[place]
            file.attrs.pop("checksum")
            file[place] = numpy.concatenate([[kept[0], 41], looks.ravel()])
        rest = self.run_json("--resume", "part.checkpoint.h5", "-o", "rest.h5", "--until", "40.0")
        self.assertEqual(rest["state_hash"], whole["state_hash"])
        with h5py.File(self.folder / "rest.checkpoint.h5") as file:
            looks = (len(file[numbers(file)]) - 2) / (1 - file[numbers(file)][1])
        self.assertIn(looks, (75, 76))

    def test_kinds_of_few_balls_that_stand_apart_are_not_mixed(self):
        # Of 16 species of 8 balls none is off by more than chance may have it, all together are.
        scene = ["[scene]\ndimension = 2\n[box]\nsize = [48.0, 10.0]\nboundary = ['wall', 'periodic']\n[run]\n"
                 "solver = 'events'\nuntil = 40.0\n"]
        for k in range(16):
            low, high = (0.0, 24.0) if k < 8 else (24.0, 48.0)
            radius = (0.4 if k < 8 else 0.27) + 0.004 * k
            scene.append(f"[[species]]\nname = 'kind {k}'\nradius = {radius}\nmass = {8.0 * radius ** 2}\n[[fill]]\n"
                         f"species = 'kind {k}'\ncount = 8\ntemperature = 1.0\n"
                         f"region = {{ min = [{low}, 0.0], max = [{high}, 10.0] }}\n")
        self.write("apart.toml", "".join(scene))
        for seed in (1, 2, 3):
            means = self.run_json("apart.toml", "--force", "--set", f"scene.seed={seed}")["means"]
            self.assertFalse(means["equilibrated"], means.get("since"))
            self.assertRegex(means["reason"], "mixed along x")
        self.write("mixed.toml", "".join(scene).replace("max = [24.0", "max = [48.0").replace("min = [24.0", "min = [0.0"))
        mixed = [self.run_json("mixed.toml", "--force", "--set", f"scene.seed={seed}", "--set", "run.until=150")["means"]
                 for seed in range(1, 9)]
        self.assertFalse([means["reason"] for means in mixed if "mixed" in means.get("reason", "")])

    def test_kinds_without_a_name_are_told_by_their_mass_and_radius(self):
        half = ("[[fill]]\nradius = {}\nmass = {}\ncount = 100\ntemperature = 1.0\n"
                "region = {{ min = [{}, 0.0], max = [{}, 12.0] }}\n")
        self.write("apart.toml", "[scene]\ndimension = 2\n[box]\nsize = [48.0, 12.0]\nboundary = ['wall', 'periodic']\n[run]\n"
                                 "solver = 'events'\nuntil = 40.0\n" + half.format(0.25, 1.0, 0.0, 24.0) + half.format(0.4, 2.5, 24.0, 48.0))
        reason = self.run_json("apart.toml")["means"]["reason"]
        self.assertRegex(reason, r"^the kind of mass (1, radius 0\.25|2\.5, radius 0\.4) is not mixed along x$")

    def test_a_gas_whose_halves_are_not_as_warm_is_not_at_equilibrium(self):
        # Neither temperatures nor densities of the halves are off by more than 5 standard deviations of chance at one time.
        scene = ("[scene]\ndimension = 3\n[box]\nsize = [100.0, 4.0, 4.0]\nboundary = ['wall', 'periodic', 'periodic']\n[run]\n"
                 "solver = 'events'\nuntil = 100.0\n[output]\nevery = 1.0\n")
        half = ("[[fill]]\nradius = 0.5\nmass = 1.0\ncount = {}\ntemperature = {}\n"
                "region = {{ min = [{}, 0.0, 0.0], max = [{}, 4.0, 4.0] }}\n")
        self.write("halves.toml", scene + half.format(120, 1.2, 0.0, 50.0) + half.format(180, 0.8, 50.0, 100.0))
        self.write("whole.toml", scene + half.format(300, 1.0, 0.0, 100.0))
        self.write("hot.toml", scene + half.format(100, 1.5, 0.0, 50.0) + half.format(200, 0.75, 50.0, 100.0))
        for seed in (1, 2, 3):
            halves, whole, hot = (self.run_json(name, "--force", "--set", f"scene.seed={seed}")["means"]
                                  for name in ("halves.toml", "whole.toml", "hot.toml"))
            self.assertIsNot(halves["equilibrated"], True)
            self.assertRegex(halves["reason"], "^heat (spreads|has not spread|may not have spread) along x$")
            self.assertTrue(whole["equilibrated"], whole)
            self.assertFalse(hot["equilibrated"])
            self.assertRegex(hot["reason"], "^heat (spreads|has not spread) along x$")

    def test_what_is_alike_on_both_sides_of_the_middle_is_seen_too(self):
        scene = ("[scene]\ndimension = 2\n[box]\nsize = [{0}, {1}]\nboundary = ['wall', 'periodic']\n[run]\nsolver = 'events'\n"
                 "until = 100.0\n[[species]]\nname = 'a'\nradius = 0.5\nmass = 1.0\n[[species]]\nname = 'b'\nradius = 0.5\n"
                 "mass = 1.0\n")
        part = ("[[fill]]\nspecies = '{}'\ncount = {}\ntemperature = {}\n"
                "region = {{ min = [{}, 0.0], max = [{}, {}] }}\n")
        thirds = scene.format(60.0, 20.0)
        for name, begin in (("b", 0.0), ("a", 20.0), ("b", 40.0)):
            thirds += part.format(name, 100, 1.0, begin, begin + 20.0, 20.0)
        warm = scene.format(200.0, 10.0)
        for count, temperature, begin, end in ((124, 0.8, 0.0, 50.0), (152, 1.3, 50.0, 150.0), (124, 0.8, 150.0, 200.0)):
            warm += part.format("a", count, temperature, begin, end, 10.0)
        alike = scene.format(200.0, 10.0) + part.format("a", 400, 1.0, 0.0, 200.0, 10.0)
        for name, text in (("thirds.toml", thirds), ("warm.toml", warm), ("alike.toml", alike)):
            self.write(name, text)
        for seed in (1, 2, 3):
            thirds, warm, alike = (self.run_json(name, "--force", "--set", f"scene.seed={seed}")["means"]
                                   for name in ("thirds.toml", "warm.toml", "alike.toml"))
            self.assertIs(thirds["equilibrated"], False)
            self.assertRegex(thirds["reason"], "^(the kinds of balls are|[ab] is) not mixed along x$")
            self.assertIsNot(warm["equilibrated"], True)
            self.assertRegex(warm["reason"], "^heat (spreads|has not spread|may not have spread) along x$")
            self.assertTrue(alike["equilibrated"], alike)

    def test_a_dense_gas_that_stands_at_walls_is_even(self):
        # Where the layers at both walls are: 7 standard deviations of chance more than in the middle.
        self.write("dense.toml", "[scene]\ndimension = 2\n[box]\nsize = [600.0, 10.0]\nboundary = ['periodic', 'wall']\n[run]\n"
                                 "solver = 'events'\nuntil = 10.0\n[[fill]]\nradius = 0.5\nmass = 1.0\ncount = 4200\n"
                                 "temperature = 1.0\n")
        means = self.run_json("dense.toml")["means"]
        self.assertNotIn("unevenly", means.get("reason", ""), means)

    def test_kinds_are_not_equally_warm_however_few_frames_there_are(self):
        scene = ("[scene]\ndimension = 3\n[box]\nsize = [12.0, 12.0, 12.0]\nboundary = 'periodic'\n[run]\nsolver = 'events'\n"
                 "until = 30.0\n[output]\nevery = {}\n")
        for mass, count, temperature in ((1.0, 200, 1.0), (400.0, 100, 1.5)):
            scene += f"[[fill]]\nradius = 0.5\nmass = {mass}\ncount = {count}\ntemperature = {temperature}\n"
        for every, reason in (("0.0", "no frames tell"), ("6.0", "too few independent frames"), ("2.5", "too few independent frames")):
            self.write("two.toml", scene.replace("{}", every))
            means = self.run_json("two.toml", "--force")["means"]
            self.assertIsNone(means["equilibrated"], means)
            self.assertRegex(means["reason"], "^" + reason)

    def test_stages_do_not_keep_one_from_seeing_what_is_not_mixed(self):
        scene = ("[scene]\ndimension = 2\n[box]\nsize = [40.0, 10.0]\nboundary = 'wall'\n[run]\nsolver = 'events'\nuntil = 40.0\n")
        for name, begin in (("a", 0.0), ("b", 20.0)):
            scene += (f"[[species]]\nname = '{name}'\nradius = 0.5\nmass = 1.0\n[[fill]]\nspecies = '{name}'\ncount = 60\n"
                      f"temperature = 1.0\nregion = {{ min = [{begin}, 0.0], max = [{begin + 20.0}, 10.0] }}\n")
        scene += "[[stage]]\nname = 'warm up'\nuntil = 8.0\n{}[[stage]]\nname = 'measure'\nuntil = 40.0\n"
        for more in ("", "measure = false\ngravity = [0.2, 0.0]\n"):
            self.write("stages.toml", scene.replace("{}", more))
            means = self.run_json("stages.toml", "--force")["means"]
            self.assertIs(means["equilibrated"], False, means)
            self.assertRegex(means["reason"], "not mixed along x$")

    def test_a_gas_that_is_steady_is_not_as_warm_everywhere(self):
        # Contacts take what walls give: it is cooler and denser in the middle, for ever.
        self.write("steady.toml", "[scene]\ndimension = 2\n[box]\nsize = [40.0, 20.0]\nboundary = ['wall', 'periodic']\n"
                                  "wall_temperature = [[1.0, 1.0], [0.0, 0.0]]\n[physics]\nrestitution = 0.9\n[run]\nsolver = 'events'\n"
                                  "until = 400.0\n[[fill]]\nradius = 0.5\nmass = 1.0\ncount = 300\ntemperature = 0.5\n")
        means = self.run_json("steady.toml")["means"]
        self.assertNotRegex(means.get("reason", ""), "heat|unevenly", means)

    def test_spins_that_still_grow_are_at_no_equilibrium(self):
        self.write("rough.toml", "[scene]\ndimension = 2\n[box]\nsize = [30.0, 30.0]\nboundary = 'periodic'\n[thermostat]\nkind = 'andersen'\n"
                                 "temperature = 1.0\nrate = 0.5\n[run]\nsolver = 'events'\n[[fill]]\ncount = 200\nradius = 0.5\n"
                                 "mass = 1.0\ntemperature = 1.0\n")
        for seed in (1, 2, 3):
            with self.subTest(seed):
                run = ["rough.toml", "--force", "--set", f"scene.seed={seed}", "--set"]
                slow = self.run_json(*run, "physics.friction=0.002", "--until", "100")["means"]
                self.assertEqual((slow["equilibrated"], slow["reason"]),
                                 (False, "rotational energy still changes in the second half"))
                soon = self.run_json(*run, "physics.friction=0.5", "--until", "400")["means"]
                self.assertTrue(soon["equilibrated"], soon)

    def test_a_drift_of_all_is_no_heat(self):
        # Of 198 light disks and 2 heavy ones: where these are more of the energy of the drift is.
        self.write("drift.toml", "[scene]\ndimension = 2\n[box]\nsize = [30.0, 30.0]\nboundary = 'periodic'\n[run]\nsolver = 'events'\n"
                                 "until = 50.0\n[[load]]\nfile = 'balls.csv'\n")
        count = 200
        places = 1.0 + 2.0 * numpy.stack([numpy.arange(count) % 14, numpy.arange(count) // 14], axis=1)
        for seed in (1, 2, 3):
            chance = numpy.random.default_rng(seed)
            mass = numpy.where(chance.permutation(count) < 2, 100.0, 1.0)[:, None]
            velocity = chance.normal(size=(count, 2)) / numpy.sqrt(mass) + [2.0, 0.0]
            numpy.savetxt(self.folder / "balls.csv", numpy.hstack([places, velocity, numpy.full((count, 1), 0.5), mass]),
                          delimiter=",", header="x,y,vx,vy,radius,mass", comments="")
            means = self.run_json("drift.toml", "--force")["means"]
            self.assertNotRegex(means.get("reason", ""), "heat", means)

    def test_errors_of_diffusion_go_on_to_the_same_bits(self):
        for solver in ("events", "spring"):
            self.write("gas.toml", "[scene]\ndimension = 2\n[box]\nsize = [12.0, 12.0]\nboundary = 'periodic'\n[run]\n"
                                   f"solver = '{solver}'\nuntil = 6.0\n[output]\nevery = 1.0\nobservables_every = 0.1\n[[fill]]\nradius = 0.5\n"
                                   "mass = 1.0\ncount = 60\ntemperature = 1.0\n[[observe]]\nname = 'w'\nkind = 'msd'\nevery = 0.05\n"
                                   "[[observe]]\nname = 'd'\nkind = 'self_diffusion'\nevery = 0.05\n")
            whole = self.run_json("gas.toml", "-o", "whole.h5", "--force")
            self.succeed("run", "gas.toml", "-o", "part.h5", "--until", "3.0", "--quiet", "--force")
            rest = self.run_json("--resume", "part.checkpoint.h5", "-o", "rest.h5", "--until", "6.0", "--force")
            self.assertEqual(rest["averages"]["d"], whole["averages"]["d"])
            with h5py.File(self.folder / "whole.h5") as one, h5py.File(self.folder / "rest.h5") as other:
                for what in ("value", "error"):
                    numpy.testing.assert_array_equal(one[f"observables/w/{what}"][-1], other[f"observables/w/{what}"][-1])

    def test_default_intervals_are_the_ones_that_the_run_started_with(self):
        self.write("gas.toml", MIXTURE % "events" + observed("events"))
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
        self.write("gas.toml", MIXTURE % "spring" + observed("spring"))
        self.carom("run", "gas.toml", "--until", "0.5", "--quiet")
        with h5py.File(self.folder / "gas.h5") as file:
            dt = file["parameters/solver"].attrs["dt"]
            every = {kind: file[f"observables/a_{kind}"].attrs["every"] for kind in KINDS}
        # Of few balls a thousandth of the run, or all averages together half a second.
        self.assertGreaterEqual(every["speed"], 0.5 / 1000 - dt)
        self.assertLessEqual(every["speed"], 0.5 / 200)
        self.assertLessEqual(every["gr"], 3 * every["speed"] + dt)
        self.assertLessEqual(every["vacf"], every["speed"])
        for value in every.values():
            self.assertAlmostEqual(value / dt, round(value / dt), places=6, msg="whole steps")

    def test_check_tells_when_samples_are_taken(self):
        self.write("gas.toml", MIXTURE % "events" + observed("events", every=0.02))
        told = json.loads(self.carom("check", "gas.toml", "--json").out)
        self.assertEqual(told["averages"]["a_velocity"], {"kind": "velocity", "every": 0.02, "from": 1.0})
        self.assertEqual(told["warnings"], [])
        self.assertIn("a_gr: gr, a sample every 0.02 s from t = 0 on", self.carom("check", "gas.toml").out)
        late = self.carom("check", "gas.toml", "--until", "0.5").out
        self.assertIn("warning: a_velocity takes no sample: it begins at t = 1, and the run ends at 0.5\n", late)

    def test_check_warns_of_averages_with_few_samples(self):
        self.write("gas.toml", MIXTURE % "events" + observed("events", every=0.02))
        told = self.carom("check", "gas.toml", "--until", "0.1").out
        self.assertIn("warning: a_speed takes 6 samples only, too few for an error: shorten its observe.every, 0.02\n",
                      told)
        self.assertNotIn("a_speed takes", self.carom("check", "gas.toml", "--until", "0.14").out, "8 are enough")
        # The same is said before a run.
        self.assertIn("warning: a_speed takes 6 samples only", self.carom("run", "gas.toml", "--until", "0.1").err)

    def test_means_go_on_when_the_end_is_moved(self):
        # Without an interval of its own, rows are until / 1000 apart: a later end would put them elsewhere.
        self.write("gas.toml", (MIXTURE % "events").replace("observables_every = 0.05\n", ""))
        self.succeed("run", "gas.toml", "--until", "3", "-o", "whole.h5", "--quiet")
        first = self.run_json("gas.toml", "--until", "3", "-o", "first.h5")
        self.assertEqual(first["means"]["rows"] + round(first["means"]["since"] / 0.003), 1000)
        both = self.succeed("run", "--resume", "first.checkpoint.h5", "--until", "6", "-o", "second.h5", "--json",
                            "--quiet").json
        self.assertEqual(both["means"]["rows"] + round(both["means"]["since"] / 0.003), 2000, "all rows since t = 0")
        with h5py.File(self.folder / "second.h5") as file:
            time = file["observables/temperature/time"][:]
        numpy.testing.assert_allclose(numpy.diff(time[:-1]), 0.003, rtol=1e-6)
        # Once more, from a checkpoint whose own until has been moved.
        third = self.succeed("run", "--resume", "second.checkpoint.h5", "--until", "7", "-o", "third.h5", "--json",
                             "--quiet").json
        self.assertAlmostEqual(third["means"]["rows"] + round(third["means"]["since"] / 0.003), 2333, delta=1)
        # An interval that is asked for is another one, and means begin with it.
        asked = self.succeed("run", "--resume", "first.checkpoint.h5", "--until", "6", "-o", "fourth.h5", "--json",
                             "--quiet", "--set", "output.observables_every=0.01").json
        self.assertGreaterEqual(asked["means"]["since"], 3.0)

    def test_where_theory_is_drawn(self):
        """Where it holds, and only there."""
        gas = (MIXTURE % "events").replace('["periodic", "wall"]', '["periodic", "periodic"]')
        one = gas.replace('species = "heavy"\ncount = 30', 'species = "light"\ncount = 30')

        def drawn(name, scene, quantity, words):
            self.write(f"{name}.toml", scene)
            self.succeed("run", f"{name}.toml", "--quiet", "--until", "2", "--set", "output.every=0.1")
            self.succeed("plot", f"{name}.h5", quantity, "-o", "figure.svg", "--quiet", "--force")
            (self.folder / f"{name}.h5").unlink()
            (self.folder / f"{name}.checkpoint.h5").unlink()
            return words in (self.folder / "figure.svg").read_text()

        maxwell, state = "Maxwell-Boltzmann", "equation of state"
        self.assertTrue(drawn("elastic", gas, "speed", maxwell), "of a mixture too")
        losing = gas.replace("[box]", "[physics]\nrestitution = 0.9\n[box]")
        self.assertFalse(drawn("losing", losing, "speed", maxwell), "it cools")
        self.assertTrue(drawn("one", one, "pressure", state))
        self.assertTrue(drawn("two", gas, "pressure", "equation of state of a mixture"), "two sizes have their own")
        wall = one.replace("[run]", '[[wall]]\nshape = "plane"\nnormal = [0.0, 1.0]\noffset = 1.0\n[run]')
        wall = wall.replace('["periodic", "periodic"]', '["periodic", "wall"]')
        self.assertFalse(drawn("walled", wall, "pressure", state), "nobody knows the volume")
        open_box = one.replace('["periodic", "periodic"]', '["open", "open"]')
        self.assertFalse(drawn("open", open_box, "speed", maxwell), "balls have left")
        self.assertTrue(drawn("diffusing", one, "msd", "Enskog"))
        self.assertFalse(drawn("mixed", gas, "msd", "Enskog"))
        falls = one.replace('["periodic", "periodic"]', '["periodic", "wall"]').replace(
            "[box]", "[physics]\ngravity = [0.0, -0.5]\n[box]")
        self.assertTrue(drawn("falling", falls, "density", "local density"))
        self.assertFalse(drawn("falling", falls, "msd", "Enskog"))
        both = (MIXTURE % "events").replace("[box]", "[physics]\ngravity = [0.0, -0.5]\n[box]")
        both += '\n[[observe]]\nname = "n"\nkind = "density"\nspecies = "heavy"\nevery = 0.1\n'
        self.assertTrue(drawn("sinking", both, "n", "point particles"))
        self.assertFalse(drawn("sinking", both, "n", "local density"))

    def test_the_summary_has_means_with_errors(self):
        self.write("gas.toml", MIXTURE % "events")
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
        averages = {f"whole-a_{kind}.png" for kind in kinds_of("events")}
        self.assertEqual(drawn, averages | {f"whole-{name}.png" for name in ["energy", "pressure", "temperature"]})
        for path in self.folder.glob("whole-*.png"):
            self.assertGreater(path.stat().st_size, 5000, path.name)
        self.assertEqual(self.carom("plot", "whole.h5", "--all").status, 2, "nothing is overwritten without --force")

    def test_all_figures_go_into_a_folder(self):
        self.run_all("events")
        said = self.succeed("plot", "whole.h5", "--all", "-o", "figures/").err.splitlines()
        drawn = sorted(path.name for path in (self.folder / "figures").iterdir())
        self.assertEqual(sorted(line.split("/")[-1] for line in said), drawn)
        self.assertIn("energy.png", drawn)
        self.assertIn("a_gr.png", drawn)
        # A folder that is there already, without the slash.
        self.assertEqual(self.carom("plot", "whole.h5", "--all", "-o", "figures").status, 2, "nothing is overwritten")
        self.succeed("plot", "whole.h5", "--all", "-o", "figures", "--force")

    def test_what_has_no_value_is_left_out_of_all_figures(self):
        # g(r) from t = 5 on, in a run that ends before.
        self.write("gas.toml", MIXTURE % "events" + '\n[[observe]]\nname = "late"\nkind = "gr"\nfrom = 5.0\nmax = 2.0\n')
        self.succeed("run", "gas.toml", "--until", "2", "--quiet")
        result = self.succeed("plot", "gas.h5", "--all")
        self.assertIn("left out: gas.h5: 'late' has no value in this run\n", result.err)
        self.assertNotIn("gas-late.png", self.files())
        self.assertIn("gas-speed.png", self.files())

    def test_runs_are_laid_over_each_other_by_naming_them(self):
        self.run_all("events")
        self.succeed("run", "gas.toml", "-o", "other.h5", "--seed", "9", "--quiet")
        self.succeed("plot", "whole.h5", "other.h5", "speed", "-o", "named.svg")
        self.succeed("plot", "whole.h5", "speed", "--with", "other.h5", "-o", "with.svg")
        self.succeed("plot", "whole.h5", "speed", "-o", "alone.svg")
        named, alone = ((self.folder / name).read_text() for name in ["named.svg", "alone.svg"])
        self.assertEqual(named, (self.folder / "with.svg").read_text())
        self.assertGreater(named.count("<use"), 1.5 * alone.count("<use"), "the points of both")
        for arguments, told in [(["energy", "speed"], "no figure has both"),
                                (["other.h5", "balls"], "several runs are for figures, not for pictures of balls"),
                                (["nowhere.h5", "speed"], "nowhere.h5")]:
            result = self.carom("plot", "whole.h5", *arguments, "-o", "bad.png")
            self.assertIn(result.status, (2, 4))
            self.assertIn(told, result.err)

    def test_each_component_of_each_run_has_its_own_colour(self):
        self.write("gas.toml", MIXTURE % "events" + '[[observe]]\nname = "flow"\nkind = "velocity_profile"\naxis = "x"\n')
        self.succeed("run", "gas.toml", "--quiet", "--until", "2")
        self.succeed("run", "gas.toml", "-o", "other.h5", "--seed", "9", "--quiet", "--until", "2")
        self.succeed("plot", "gas.h5", "other.h5", "flow", "-o", "flow.svg")
        colors = {tuple(map(int, color)) for color in re.findall(
            r"rgb\( *(\d+), *(\d+), *(\d+)\)", (self.folder / "flow.svg").read_text())}
        self.assertEqual(len({color for color in colors if len(set(color)) > 1}), 4)

    def test_lags_of_stored_frames_are_their_times(self):
        # Free flight: the mean square displacement is v^2 t^2, whatever the lag; the last frame is off the grid.
        self.write("free.toml", '''
[scene]
dimension = 2
[box]
size = [10.0, 10.0]
boundary = ["periodic", "periodic"]
[run]
solver = "events"
until = 10.7
[output]
every = 1.0
[[ball]]
radius = 0.1
mass = 1.0
position = [5.0, 5.0]
velocity = [2.0, 0.0]
''')
        self.succeed("run", "free.toml", "--quiet")
        self.succeed("plot", "free.h5", "msd", "-o", "msd.svg", "--quiet")
        # The script is not to be had, so what gnuplot was given is told by its axis: lags are whole numbers.
        gnuplot = self.folder / "bin" / "gnuplot"
        gnuplot.parent.mkdir()
        gnuplot.write_text("#!/bin/sh\ntee %s/script >/dev/null\ncat %s/msd.svg\n" % ((self.folder,) * 2))
        gnuplot.chmod(0o755)
        self.succeed("plot", "free.h5", "msd", "-o", "again.svg", "--quiet",
                     env=dict(os.environ, PATH=f"{gnuplot.parent}:{os.environ['PATH']}"))
        script = (self.folder / "script").read_text()
        rows = [line.split()[:2] for line in script.split("END_OF_DATA")[1].splitlines() if line and line[0].isdigit()]
        self.assertGreater(len(rows), 3)
        for lag, displacement in rows:
            self.assertAlmostEqual(float(lag), round(float(lag)), places=9)
            self.assertAlmostEqual(float(displacement), 4.0 * float(lag) ** 2, places=6)

    def test_kinds_are_quantities_and_runs_are_overlaid(self):
        self.run_all("events")
        self.carom("run", "gas.toml", "-o", "other.h5", "--seed", "9", "--quiet")
        for quantity in ["speed", "gr", "msd", "pressure"]:
            out = f"two-{quantity}.svg"
            result = self.carom("plot", "whole.h5", quantity, "--with", "other.h5", "-o", out)
            self.assertEqual(result.status, 0, result.err)
            for name in ("whole", "other"):  # both have one title
                self.assertIn(name, (self.folder / out).read_text())
        # What a run did not observe comes from its frames.
        self.write("plain.toml", MIXTURE % "events")
        self.carom("run", "plain.toml", "--quiet")
        for quantity in ["speed", "velocity", "density", "density_map", "gr", "msd", "vacf"]:
            result = self.carom("plot", "plain.h5", quantity, "-o", f"plain-{quantity}.pdf")
            self.assertEqual(result.status, 0, result.err)
        result = self.carom("plot", "plain.h5", "kurtosis")
        self.assertEqual(result.status, 2)
        self.assertEqual(result.err.count("\n"), 1)


class AveragedNumbers(ProgramTest):
    def test_averages_without_an_error_are_among_the_warnings_at_the_end(self):
        # Ten balls far apart, and seldom looked at: hardly a contact is seen. The last one begins too late.
        self.write("thin.toml", """
            [scene]
            dimension = 2
            seed = 1
            [box]
            size = [40.0, 40.0]
            [run]
            until = 4.0
            [[fill]]
            radius = 0.5
            mass = 1.0
            count = 10
            temperature = 1.0
            [[observe]]
            name = "p"
            kind = "pressure"
            every = 0.2
            [[observe]]
            name = "late"
            kind = "kurtosis"
            every = 0.2
            from = 3.5
            """)
        warnings = ["p has no error: too few contacts were seen; shorten its observe.every, or run longer",
                    "late took 3 samples, too few for an error: shorten its observe.every, or run longer"]
        run = self.carom("run", "thin.toml", "--solver", "spring", "--json")
        self.assertEqual(run.json["warnings"], warnings)
        self.assertRegex(run.err, r"average p -?[0-9.]+, no error: too few contacts were seen\n")
        for warning in warnings:
            self.assertIn(f"warning: {warning}\n", run.err)
        # Hard contacts are counted one by one, so that fewer tell; of next to none nobody knows how many there might
        # have been.
        hard = ["run", "thin.toml", "--solver", "events", "--json", "--force"]
        few = self.carom(*hard).json
        self.assertEqual(few["warnings"], warnings)
        self.assertIsNone(few["averages"]["p"]["error"])
        self.assertIsNone(few["means"]["values"]["virial_pressure"]["error"])
        self.assertIsNone(few["means"]["equilibrated"])
        self.assertEqual(few["means"]["reason"], "too few collisions")
        more = self.carom(*hard, "--set", "fill[0].temperature=400").json
        self.assertEqual(more["warnings"], warnings[1:])
        self.assertGreater(more["averages"]["p"]["error"], 1e-3 * more["averages"]["p"]["mean"])
        self.assertGreater(more["means"]["values"]["virial_pressure"]["error"], 0.0)

    def test_files_have_no_error_of_so_few_samples_either(self):
        names = ["pressure", "temperature", "kurtosis", "self_diffusion"]
        self.write("gas.toml", MIXTURE % "events" + "".join(
            f'\n[[observe]]\nname = "a_{kind}"\nkind = "{kind}"\nevery = 0.1\n' for kind in [*names, "speed"]))
        for until, told in (("0.45", False), ("2.0", True)):
            averages = self.carom("run", "gas.toml", "--until", until, "--json", "--force").json["averages"]
            with h5py.File(self.folder / "gas.h5") as file:
                for kind in names:
                    error = file[f"observables/a_{kind}/error"][-1]
                    self.assertEqual(numpy.isfinite(error), told, kind)
                    self.assertEqual(averages[f"a_{kind}"]["error"], float(error) if told else None)
                self.assertTrue(numpy.isfinite(file["observables/a_speed/error"][-1]).any(), "a curve is none")

    def test_numbers_are_in_the_summary_with_errors_and_theory(self):
        scene = MIXTURE.replace('["periodic", "wall"]', '["periodic", "periodic"]') % "events"
        # One kind of ball: a gas that has an equation of state.
        scene = scene.replace("count = 30", "count = 0").replace("count = 60", "count = 150").replace("6.0", "60.0")
        scene = scene.replace("until = 60.0", "until = 600.0")  # a ball meets another every 5
        self.write("gas.toml", scene + "".join(
            f'\n[[observe]]\nname = "a_{kind}"\nkind = "{kind}"\nfrom = 5.0\nevery = 0.1\n' for kind in NUMBERS))
        run = self.carom("run", "gas.toml", "--json")
        self.assertEqual(run.status, 0, run.err)
        found = run.json["averages"]
        names = [f"a_{kind}{part}" for kind in NUMBERS for part in ([".xx", ".yy", ".xy"] if kind.endswith("stress") else [""])]
        self.assertEqual(list(found), names)
        with h5py.File(self.folder / "gas.h5") as file:
            self.assertEqual(found, json.loads(file["parameters/summary"][()].decode())["averages"])
            for name in names:
                group = file["observables/" + name.split(".")[0]]
                values, errors = numpy.atleast_1d(group["value"][-1]), numpy.atleast_1d(group["error"][-1])
                k = (".xx", ".yy", ".xy").index(name[-3:]) if "." in name else 0
                self.assertEqual((found[name]["mean"], found[name]["error"]), (values[k], errors[k]))
                self.assertEqual(found[name]["samples"], group["samples"][-1])
                self.assertEqual(found[name]["kind"], group.attrs["kind"].decode())
                self.assertGreater(found[name]["error"], 0.0)
        units = {name: found[name]["unit"] for name in names}
        self.assertEqual(units["a_stress.xy"], "N m-1")
        self.assertEqual(units["a_kurtosis"], "")
        self.assertEqual(units["a_mean_free_path"], "m")
        told = {line.split()[1]: line for line in run.err.splitlines() if line.startswith("average ")}
        self.assertEqual(list(told), names)
        number = r"average \S+ -?\d+(\.\d+)?\(\d\)"
        for name, theory in (("a_kurtosis", "fixed energy, 3 D / \\(D \\+ 2\\)"), ("a_stress.xx", "equation of state"),
                             ("a_stress.xy", "none in a fluid at rest"), ("a_compressibility", "equation of state"),
                             ("a_mean_free_path", "Enskog"), ("a_collision_rate", "Enskog")):
            self.assertRegex(told[name], rf"\A{number}; theory \S+ \({theory}\), [+-]\d\.\d sigma: "
                             r"(agrees, [\d.]+ % would show|no verdict, too few independent samples)\Z")
        self.assertEqual(told["a_temperature"], "average a_temperature 1", "of all balls it is the run's own, and known")

        # Each has a figure of how it settled, beside theory; names of rows stay those of rows.
        for name, holds in (("a_stress", ("xx", "yy", "xy", "equation of state", "none in a fluid at rest")),
                            ("a_kurtosis", ("measured", "fixed energy")), ("collision_rate", ("Enskog", "s\u207b\u00b9")),
                            ("a_temperature", ("average so far",))):
            self.succeed("plot", "gas.h5", name, "-o", "n.svg", "--force", "--quiet")
            text = (self.folder / "n.svg").read_text()
            for words in holds:
                self.assertIn(words, text)
        self.succeed("plot", "gas.h5", "temperature", "-o", "t.svg", "--quiet")
        self.assertNotIn("so far", (self.folder / "t.svg").read_text())
        self.succeed("plot", "gas.h5", "--all", "-o", "all/", "--quiet")
        drawn = {path.stem for path in (self.folder / "all").iterdir()}
        self.assertLessEqual({f"a_{kind}" for kind in NUMBERS}, drawn)
        other = self.carom("plot", "gas.h5", "nonsense")
        self.assertEqual(other.status, 2)
        self.assertIn("a_stress", other.err)

    def test_an_average_that_is_called_pressure_is_what_is_drawn(self):
        self.write("gas.toml", MIXTURE % "events" + '[[observe]]\nname = "pressure"\nkind = "pressure"\n')
        self.succeed("run", "gas.toml", "--quiet")
        self.succeed("plot", "gas.h5", "pressure", "-o", "p.svg", "--quiet")
        self.assertIn("so far", (self.folder / "p.svg").read_text())
        self.succeed("plot", "gas.h5", "--all", "-o", "all/", "--quiet")
        self.assertIn("pressure.png", {path.name for path in (self.folder / "all").iterdir()})

    def test_an_average_that_is_a_curve_and_called_pressure_is_drawn_once(self):
        self.write("gas.toml", MIXTURE % "events" + '[[observe]]\nname = "pressure"\nkind = "speed"\n')
        self.succeed("run", "gas.toml", "--quiet")
        said = self.succeed("plot", "gas.h5", "--all", "-o", "all/").err.splitlines()
        self.assertEqual(len([line for line in said if "pressure.png" in line]), 1, said)

    def test_short_runs_show_how_an_average_settled_from_the_first_sample_on(self):
        # Fewer samples than an error can be had from at all but the last frames.
        self.write("gas.toml", MIXTURE % "events" + '[[observe]]\nname = "k"\nkind = "kurtosis"\nevery = 0.5\n')
        self.succeed("run", "gas.toml", "--quiet")
        self.succeed("plot", "gas.h5", "k", "-o", "k.svg", "--quiet")
        text = (self.folder / "k.svg").read_text()
        self.assertNotIn("href='#gpPt6'", text, "a curve, not the dot of the last frame")

    def test_of_a_later_part_of_a_run_are_taken_anew_from_its_frames(self):
        observed = "".join(f'[[observe]]\nname = "{name}_{kind}"\nkind = "{kind}"\nspecies = "heavy"\nevery = 0.125\n{since}'
                           for kind in ("temperature", "kurtosis", "kinetic_stress", "mean_free_path")
                           for name, since in (("all", ""), ("late", "from = 3.0\n")))
        self.write("gas.toml", MIXTURE.replace("every = 1.0", "every = 0.125") % "events" + observed)
        self.succeed("run", "gas.toml", "--quiet")

        def last(*arguments):
            result = self.succeed("plot", "gas.h5", *arguments, "--csv", "-o", "-")
            # Of the stress the first component.
            rows = [line.split(",") for line in result.out.splitlines() if line.startswith(("measured,", "xx,"))]
            return [float(number) for number in rows[-1][1:]], result.err

        for kind in ("temperature", "kurtosis", "kinetic_stress"):
            whole, _ = last(f"all_{kind}")
            late, _ = last(f"late_{kind}")
            anew, said = last(f"all_{kind}", "--from", "3")
            self.assertEqual(said, "")
            self.assertEqual(anew[0], 6.0)
            # The first sample of a stress is no sample, where impacts are counted.
            within = 0.05 if kind == "kinetic_stress" else 1e-5
            self.assertAlmostEqual(anew[1] / late[1], 1.0, delta=within, msg=kind)
            self.assertGreater(abs(whole[1] / late[1] - 1.0), 2.0 * within, kind)
            self.assertAlmostEqual(anew[2] / late[2], 1.0, delta=max(0.1, within), msg=kind)
        # Of what lies between frames these tell nothing.
        stays, said = last("all_mean_free_path", "--from", "3")
        self.assertEqual(stays, last("all_mean_free_path")[0])
        self.assertIn("all_mean_free_path: is the average since its samples began", said)

    def test_theory_knows_of_a_resumed_run_what_was_before(self):
        """Its rows are those behind the resume alone: of a few, the temperature is anything."""
        of_one_kind = MIXTURE.split('[[fill]]\nspecies = "heavy"')[0]
        self.write("gas.toml", of_one_kind.replace("until = 6.0", "until = 60.0").replace('"wall"', '"periodic"') % "events"
                   + '[thermostat]\nkind = "andersen"\nrate = 1.0\ntemperature = 1.0\n')
        whole = self.succeed("run", "gas.toml", "-o", "whole.h5", "--quiet", "--json").json
        self.succeed("run", "gas.toml", "-o", "part.h5", "--until", "59.9", "--quiet")
        rest = self.succeed("run", "--resume", "part.checkpoint.h5", "--until", "60", "-o", "rest.h5", "--quiet", "--json").json
        self.assertEqual(rest["state_hash"], whole["state_hash"])
        of_whole, of_rest = ({check["what"]: check for check in told["theory"]} for told in (whole, rest))
        self.assertIn("virial pressure", of_whole)
        for what, check in of_whole.items():
            self.assertEqual(of_rest[what]["verdict"], check["verdict"], what)
            self.assertAlmostEqual(of_rest[what]["expected"], check["expected"], delta=1e-3 * abs(check["expected"]), msg=what)

    def test_what_the_stored_scene_does_not_have_is_not_taken_anew(self):
        self.write("gas.toml", MIXTURE % "events" + "".join(f'[[observe]]\nname = "a_{kind}"\nkind = "{kind}"\n'
                                                            for kind in ("temperature", "density_map")))
        self.succeed("run", "gas.toml", "--quiet")
        with h5py.File(self.folder / "gas.h5", "r+") as file:
            attributes, text = dict(file["parameters/scene"].attrs), file["parameters/scene"][()].decode()
            del file["parameters/scene"]
            file["parameters/scene"] = numpy.bytes_(text.replace('"temperature"', '"stress"').replace('"density_map"', '"kurtosis"'))
            file["parameters/scene"].attrs.update(attributes)
        for name, says in (("a_temperature", "'a_temperature' is no average of its scene"),
                           ("a_density_map", "'a_density_map' is an average since t = 0, and no later part of it is stored")):
            result = self.carom("plot", "gas.h5", name, "--from", "3", "-o", "x.png")
            self.assertEqual((result.status, result.err), (2, f"carom: gas.h5: {says}\n"))

    def test_what_frames_do_not_hold_does_not_follow_from_them(self):
        text = MIXTURE.replace("[output]", '[output]\nfields = ["velocity"]') % "events"
        self.write("gas.toml", text + '[[observe]]\nname = "de"\nkind = "density"\n')
        self.succeed("run", "gas.toml", "--quiet")
        result = self.carom("plot", "gas.h5", "de", "--from", "3", "-o", "d.svg")
        self.assertEqual((result.status, result.err),
                         (2, "carom: gas.h5: its frames hold no positions, from which 'de' would follow\n"))

    def test_errors_know_that_coarse_steps_let_the_energy_walk(self):
        kinds = ("temperature", "kinetic_stress", "pressure", "temperature_profile")
        self.write("soft.toml", """
[scene]
dimension = 2
[box]
size = [13.0, 13.0]
[spring]
stiffness = 1000.0
dt = 0.0035
[run]
until = 500.0
[output]
observables_every = 1.0
[[fill]]
radius = 0.5
mass = 1.0
count = 24
temperature = 1.0
[[fill]]
radius = 0.8
mass = 4.0
count = 8
temperature = 1.0
""" + "".join(f'[[observe]]\nname = "a_{kind}"\nkind = "{kind}"\nevery = 0.5\n' for kind in kinds))
        ended = json.loads(self.succeed("run", "soft.toml", "--quiet", "--json").out)
        of_rows = ended["means"]["values"]["temperature"]
        walk = of_rows["error"] / of_rows["mean"]
        for name in ("a_temperature", "a_kinetic_stress.xx", "a_pressure"):
            average = ended["averages"][name]
            self.assertGreater(average["error"], 0.8 * walk * average["mean"], name)
        with h5py.File(self.folder / "soft.h5") as file:
            profile = file["observables/a_temperature_profile"]
            known = numpy.isfinite(profile["error"][-1])
            self.assertGreater(known.sum(), 30)
            self.assertTrue((profile["error"][-1] > 0.8 * walk * profile["value"][-1])[known].all())
        # However few rows there are, in tables of sweeps, and where the run was stopped.
        rowless = ("--set", "output.observables_every=0", "--set", "output.every=500", "--force", "--quiet", "--json")
        self.assertEqual(json.loads(self.succeed("run", "soft.toml", *rowless).out)["averages"], ended["averages"])
        self.write("soft.sweep.toml", '[sweep]\nscene = "soft.toml"\nrecord = ["a_pressure"]\n'
                   '[[axis]]\nkey = "run.until"\nvalues = [500.0]\n')
        self.succeed("sweep", "soft.sweep.toml", "--quiet", "-o", "table.csv")
        names, numbers = (line.split(",") for line in (self.folder / "table.csv").read_text().splitlines()[-2:])
        self.assertEqual(float(numbers[names.index("a_pressure_se")]), ended["averages"]["a_pressure"]["error"])
        self.succeed("run", "soft.toml", "--until", "210.7", "--force", "--quiet", "-o", "part.h5")
        resumed = json.loads(self.succeed("run", "--resume", "part.checkpoint.h5", "--until", "500", "-o",
                                          "rest.h5", "--quiet", "--json").out)
        self.assertEqual(resumed["averages"], ended["averages"])

    def test_runs_of_one_scene_are_told_apart_by_their_files(self):
        self.write("gas.toml", MIXTURE % "events")
        for name in ("first", "second"):
            self.succeed("run", "gas.toml", "-o", f"{name}.h5", "--quiet")
        for quantity in ("temperature", "speed"):
            self.succeed("plot", "first.h5", "second.h5", quantity, "-o", f"{quantity}.svg", "--quiet")
            text = (self.folder / f"{quantity}.svg").read_text()
            self.assertIn(">first", text)
            self.assertIn(">second", text)
            self.assertNotIn(">two kinds", text)


if __name__ == "__main__":
    unittest.main()
