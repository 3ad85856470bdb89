"""What figures and pictures of a run show and say, told by what gnuplot is given, and theory in figures over time."""

import csv
import html
import os
import re
import shutil
import signal
import time
import unittest

import h5py

from program import GAS, MIXTURE, SOURCE, ProgramTest

TWO_KINDS = MIXTURE % "events"
SCENES = SOURCE / "scenes"

FLYING = """
[scene]
dimension = 2
[box]
size = [4.0, 4.0]
boundary = ["periodic", "periodic"]
[[species]]
name = "ball"
radius = 0.5
mass = 1.0
[[ball]]
species = "ball"
position = [1.0, 1.0]
velocity = [1.0, 0.5]
[run]
solver = "events"
until = 6.0
[output]
every = 1.0
"""

DENSITIES = """
[[observe]]
name = "light"
kind = "density"
species = "light"

[[observe]]
name = "heavy"
kind = "density"
species = "heavy"
"""


class FiguresTest(ProgramTest):
    """Runs the program with a gnuplot that writes down what it is asked to draw."""

    def setUp(self):
        super().setUp()
        gnuplot = self.folder / "bin" / "gnuplot"
        gnuplot.parent.mkdir()
        gnuplot.write_text(f"#!/bin/sh\ncd {self.folder}\ncat > one.gp\ncat one.gp >> all.gp\n"
                           "echo '</svg>'\n")
        gnuplot.chmod(0o755)
        self.environment = dict(os.environ, PATH=f"{gnuplot.parent}:{os.environ['PATH']}")

    def run_scene(self, scene, *options):
        self.write("gas.toml", scene)
        self.succeed("run", "gas.toml", "--quiet", "--force", *options)

    def plot(self, *arguments, run="gas.h5"):
        """The result, and what gnuplot was given."""
        result = self.succeed("plot", run, *arguments, "-o", "f.png", "--force", env=self.environment)
        return result, (self.folder / "one.gp").read_text()

    def title(self, *arguments):
        return re.search(r"^set title '(.*?)' noenhanced", self.plot(*arguments)[1], re.MULTILINE)[1]


class NothingThatCameMeanwhile(FiguresTest):
    def late(self, name):
        """An environment in which somebody else has written a file by the time that gnuplot has drawn."""
        gnuplot = self.folder / "bin" / "gnuplot"
        gnuplot.write_text(f"#!/bin/sh\ncat > /dev/null\ntest -e {name} || echo precious > {name}\necho '</svg>'\n")
        return self.environment

    def test_is_replaced_without_force(self):
        self.run_scene(GAS)
        for name, arguments in (("f.svg", ["energy", "-o", "f.svg"]), ("g-temperature.svg", ["--all", "-o", "g.svg"])):
            path = self.folder / name
            result = self.carom("plot", "gas.h5", *arguments, env=self.late(path))
            self.assertEqual((result.status, path.read_text()), (2, "precious\n"), name)
            self.assertIn(f"{name}: exists already", result.err)
            self.succeed("plot", "gas.h5", *arguments, "--force", env=self.late(path))
            self.assertNotEqual(path.read_text(), "precious\n")


class Following(FiguresTest):
    def drawings(self):
        path = self.folder / "all.gp"
        return path.read_text().count("set title") if path.exists() else 0

    def until(self, condition):
        end = time.time() + 60
        while not condition():
            self.assertLess(time.time(), end, "nothing happened")
            time.sleep(0.02)

    def test_a_run_that_goes_on_is_drawn_anew_until_it_ends(self):
        self.write("gas.toml", GAS)
        long = ["--until", "1e6", "--set", "output.every=0.05", "--quiet", "-o", "gas.h5"]
        run = self.start("run", "gas.toml", *long)
        self.addCleanup(run.kill)
        self.until(lambda: self.carom("plot", "gas.h5", "kinetic_energy", "--csv", "-o", "-").status == 0)
        options = ["plot", "gas.h5", "kinetic_energy", "-o", "f.png", "--follow"]
        for last in (False, True):
            before = self.drawings()
            plot = self.start(*options, *(["--force"] if last else []), env=self.environment)
            self.addCleanup(plot.kill)
            self.until(lambda: self.drawings() >= before + 2)
            (run if last else plot).send_signal(signal.SIGINT)
            err = plot.communicate(timeout=60)[1]
            if last:
                self.assertEqual(plot.returncode, 0, err)
                self.assertEqual(err, f"f.png\ndrawn {self.drawings() - before} times\n")
            else:
                self.assertEqual(plot.returncode, 130, err)
                self.assertEqual(err, "f.png\n")
        run.communicate(timeout=60)
        # The last drawing is of all that there is.
        last = (self.folder / "one.gp").read_text()
        self.plot("kinetic_energy")
        self.assertEqual((self.folder / "one.gp").read_text(), last)
        once = self.succeed(*options, "--force", env=self.environment)
        self.assertEqual(once.err, "f.png\ndrawn once\n")

    def test_what_does_not_grow_is_refused(self):
        self.write("t.csv", "a,b\n1,2\n")
        for arguments, words in [(["t.csv"], "--follow: is for trajectories, which grow"),
                                 (["gas.h5", "--csv", "-o", "-"], "--follow: draws a file anew, and -o - is none")]:
            result = self.carom("plot", *arguments, "--follow")
            self.assertEqual((result.status, result.err), (2, f"carom: {words}\n"))


class TitlesAndChoices(FiguresTest):
    OBSERVED = DENSITIES + """
[[observe]]
name = "gr"
kind = "gr"

[[observe]]
name = "gr_ab"
kind = "gr"
species = "light"
with = "heavy"

[[observe]]
name = "map"
kind = "density_map"
species = "heavy"
bins = 4

[[observe]]
name = "warmth"
kind = "temperature"
species = "heavy"
"""

    def test_a_title_says_which_average_of_which_balls(self):
        self.run_scene(TWO_KINDS + self.OBSERVED)
        for name, title in {
                "light": "two kinds: density profile of light",
                "heavy": "two kinds: density profile of heavy",
                "gr": "two kinds: radial distribution function",
                "gr_ab": "two kinds: gr_ab, radial distribution function of heavy around light",
                "map": "two kinds: map, density map of heavy",
                "warmth": "two kinds: warmth of heavy, average so far with standard error",
                "speed": "two kinds: speeds",
        }.items():
            self.assertEqual(self.title(name), title)

    def test_of_several_of_a_kind_it_is_said_which_one_is_drawn(self):
        self.run_scene(TWO_KINDS + self.OBSERVED)
        result, _ = self.plot("density")
        self.assertIn("density: drawn is light; others of this kind: heavy\n", result.err)
        for quantity in ("gr", "heavy", "speed", "temperature"):  # a name, a kind that no average has, rows
            result, _ = self.plot(quantity)
            self.assertEqual(result.err, "f.png\n", quantity)
        result, _ = self.plot("density", "--quiet")
        self.assertEqual(result.err, "")


def curve(script, title):
    """The rows of the curve of that title."""
    number = re.search(r"\$curve(\d+) using 1:2[^,]* title '%s" % re.escape(title), script)[1]
    rows = script.split(f"$curve{number} << END_OF_DATA\n")[1].split("END_OF_DATA")[0]
    return [[float(value) for value in row.split()] for row in rows.splitlines()]


class WhatIsDrawn(FiguresTest):
    ONE_KIND = TWO_KINDS.replace('boundary = ["periodic", "wall"]', 'boundary = ["periodic", "periodic"]').replace(
        'species = "heavy"\ncount = 30', 'species = "light"\ncount = 30').replace("until = 6.0", "until = 40.0")

    def test_the_equation_of_state_is_drawn_from_when_equilibrium_begins(self):
        self.write("gas.toml", self.ONE_KIND)
        means = self.run_json("gas.toml")["means"]
        self.assertTrue(means["equilibrated"])
        self.assertLess(means["since"], 19.0, "before half the time")
        line = curve(self.plot("pressure")[1], "equation of state")
        self.assertAlmostEqual(line[0][0], means["since"], places=9)
        self.assertAlmostEqual(line[-1][0], 40.0, places=9)

    def test_a_run_whose_keys_were_changed_has_no_theory_of_its_scene(self):
        self.run_scene(self.ONE_KIND + '\n[[observe]]\nname = "rate"\nkind = "collision_rate"\n')
        with h5py.File(self.folder / "gas.h5", "a") as file:  # as carom view -o writes them
            changes = file.create_group("parameters/changes")
            changes["time"], changes["step"] = [1.0], [7]
        for change in ("ball 0 kicked to [0, 1]", "physics.gravity=[0, -2]"):
            with h5py.File(self.folder / "gas.h5", "a") as file:
                file.require_dataset("parameters/changes/what", (1,), "S256")[0] = change.encode()
            for quantity, theory in (("pressure", "equation of state"), ("speed", "Maxwell-Boltzmann"), ("rate", "Enskog")):
                rows = self.succeed("plot", "gas.h5", quantity, "--csv", "-o", "-").out
                self.assertEqual(theory in rows, "=" not in change, f"{change}, {quantity}: {rows[:300]}")

    def all_of(self):
        self.succeed("plot", "gas.h5", "--all", "-o", "all/", "--quiet", "--force", env=self.environment)
        return {path.stem for path in (self.folder / "all").iterdir()}

    def test_what_the_scene_asks_for_is_among_all_figures(self):
        asked = ('\n[[observe]]\nname = "moved"\nkind = "displaced"\nthreshold = 0.1\nspecies = "%s"\n'
                 '\n[[observe]]\nname = "which"\nkind = "displaced_each"\nthreshold = 0.1\nspecies = "%s"\n')
        few = '\n[[species]]\nname = "few"\nradius = 0.2\nmass = 1.0\n[[fill]]\nspecies = "few"\ncount = 5\n'
        self.run_scene(TWO_KINDS + few + asked % ("few", "few"))
        self.assertLessEqual({"moved", "which"}, self.all_of())
        self.succeed("report", "gas.h5", env=self.environment)
        self.assertIn("<figcaption>moved</figcaption>", (self.folder / "gas.html").read_text())

    def test_rows_of_more_balls_than_a_figure_can_tell_apart_are_not(self):
        self.run_scene(TWO_KINDS + '\n[[observe]]\nname = "which"\nkind = "displaced_each"\nthreshold = 0.1\n')
        self.assertNotIn("which", self.all_of())

    def test_what_drives_nothing_is_not(self):
        moving = '\n[[wall]]\nshape = "plane"\nnormal = [0.0, 1.0]\noffset = 0.0\nvelocity = 0.2\n'
        self.run_scene(TWO_KINDS + moving)
        drawn = self.all_of()
        self.assertIn("work", drawn)
        self.assertNotIn("wall_heat", drawn, "the walls are not thermal")


class Wishes(FiguresTest):
    """Options for figures that are published."""

    def setUp(self):
        super().setUp()
        self.run_scene(TWO_KINDS)

    def table(self, *arguments):
        """The table of what is drawn, as rows of cells."""
        return list(csv.reader(self.succeed("plot", "gas.h5", *arguments, "--csv", "-o", "-").out.splitlines()))

    def test_a_window_is_all_that_is_drawn(self):
        for arguments, low, high in ((("--from", "2", "--to", "3"), 2.0, 3.0), (("--from", "-1"), 5.0, 6.0),
                                     (("--to", "-5"), 0.0, 1.0)):
            times = [float(row[1]) for row in self.table("temperature", *arguments)[1:]]
            self.assertAlmostEqual(min(times), low, delta=0.051)
            self.assertAlmostEqual(max(times), high, delta=0.051)
            self.assertTrue(low <= min(times) and max(times) <= high)
        self.assertIn("temperature, t = 2 to 3", self.title("temperature", "--from", "2", "--to", "3"))
        frames = self.table("speed", "--from", "2", "--to", "3")  # 2 frames of 90 balls
        bins = [(float(row[1]), float(row[2])) for row in frames[1:] if row[0] == "measured"]
        width = bins[1][0] - bins[0][0]
        counts = [value * width * 180 for _, value in bins]
        for count in counts:
            self.assertAlmostEqual(count, round(count), places=6)
        self.assertEqual(round(sum(counts)), 180)

    def test_the_row_called_balls_is_drawn(self):
        rows = self.table("balls", "--rows")
        self.assertEqual(rows[0], ["curve", "time [s]", "balls in the box"])
        self.assertEqual({row[2] for row in rows[1:]}, {"90"})

    def test_a_row_of_the_scenes_own_called_balls_is_among_all(self):
        self.run_scene(TWO_KINDS + '\n[[observe]]\nname = "which"\nkind = "displaced"\nthreshold = 0.1\n')
        self.succeed("plot", "gas.h5", "--all", "--csv", "-o", "all/", "--quiet")
        self.assertIn("which.csv", {path.name for path in (self.folder / "all").iterdir()})

    def test_a_row_of_the_scenes_own_that_is_called_as_several_are_together(self):
        self.run_scene(TWO_KINDS + '\n[[observe]]\nname = "energy"\nkind = "displaced"\nthreshold = 0.1\n')
        with h5py.File(self.folder / "gas.h5") as file:
            value = list(file["observables/energy/value"])
        for options in ((), ("--rows",)):
            rows = self.table("energy", *options)
            self.assertEqual([float(row[2]) for row in rows[1:len(value) + 1]], value)

    def test_conserved_quantities_drift_from_their_first_value(self):
        energy = [float(row[2]) for row in self.table("total_energy")[1:]]
        rows = self.table("total_energy", "--drift")
        self.assertEqual(rows[0][2], "relative change of total energy")
        for row, value in zip(rows[1:], energy):
            self.assertAlmostEqual(float(row[2]), value / energy[0] - 1.0, delta=1e-15)
        self.assertEqual(self.table("momentum", "--drift")[0][2], "change of momentum [kg·m·s⁻¹]")
        sizes = [float(row[2]) for row in self.table("momentum", "--drift", "--log", "y")[1:]]
        self.assertGreaterEqual(min(sizes), 0.0)

    def test_what_a_run_conserves_is_drawn_as_drift_unless_something_else_is_asked_for(self):
        for quantity, label in (("energy", "relative change of total energy"),
                                ("total_energy", "relative change of total energy")):
            self.assertIn(f"set ylabel '{label}'", self.plot(quantity)[1])
        for asked in (("total_energy", "--no-drift"), ("total_energy", "--yrange", "0:"), ("energy", "--log", "y"),
                      ("total_energy", "temperature"), ("kinetic_energy",)):
            self.assertNotIn("change of", self.plot(*asked)[1], asked)
        self.assertEqual(self.table("energy")[0][2], "energy [J]")
        self.assertEqual(self.carom("plot", "gas.h5", "--drift", "--no-drift").status, 2)
        self.assertNotIn("change of", self.plot("momentum")[1], "walls change it")
        # What exchanges energy with its own parts shows them.
        self.run_scene(TWO_KINDS + "\n[physics]\ngravity = [0.0, -4.0]\n")
        self.assertNotIn("change of", self.plot("energy")[1])
        self.run_scene(FLYING)
        self.assertIn("set ylabel 'change of momentum [kg·m·s⁻¹]'", self.plot("momentum")[1])

    def test_residuals_are_in_standard_errors(self):
        rows = self.table("speed")
        measured = [list(map(float, row[1:])) for row in rows[1:] if row[0] == "measured" and row[3] not in ("", "0")]
        theory = [list(map(float, row[1:3])) for row in rows[1:] if row[0] == "Maxwell-Boltzmann"]
        residuals = [list(map(float, row[1:3])) for row in self.table("speed", "--residuals")[1:] if row[0] == "measured"]
        self.assertGreater(len(residuals), 5)
        self.assertEqual(len(residuals), len(measured))
        for (x, y, error), (at, sigma) in zip(measured, residuals):
            self.assertEqual(x, at)
            near = min(theory, key=lambda point: abs(point[0] - x))
            self.assertAlmostEqual(sigma, (y - near[1]) / error, delta=0.02 / error)

    def test_theory_beside_a_run_that_is_not_at_equilibrium_says_that_it_is_of_that(self):
        self.succeed("run", "free_expansion", "--until", "100", "--quiet", "--set", "output.every=10")
        for quantity, theory in (("speed", "Maxwell-Boltzmann"), ("density", "uniform")):
            rows = self.succeed("plot", "free_expansion.h5", quantity, "--csv", "-o", "-").out
            self.assertIn(f'"{theory}, at equilibrium"', rows)
        self.assertIn("\nMaxwell-Boltzmann,", self.succeed("plot", "gas.h5", "speed", "--csv", "-o", "-").out)

    def test_quantities_of_two_units_have_an_axis_each(self):
        _, script = self.plot("kinetic_energy", "temperature", "pressure")
        self.assertIn("set ylabel 'kinetic energy, temperature [J]'", script)
        self.assertIn("set y2label 'pressure [N·m⁻¹]'", script)
        self.assertIn("axes x1y2", script)
        self.assertEqual(self.title("kinetic_energy", "temperature"), "two kinds: kinetic energy, temperature")
        rows = self.table("temperature", "pressure")
        self.assertEqual(rows[0][:4], ["curve", "time [s]", "temperature [J]", "pressure [N·m⁻¹]"])

    def test_the_terminal_has_the_units_of_the_scene(self):
        self.write("gas.toml", TWO_KINDS + '\n[thermostat]\nkind = "andersen"\ntemperature = 1.0\nrate = 0.5\n')
        for units, said in (((), ["t = 6 s", "to 1 J, each ball 0.5 times a second"]),
                            (('length="d"', 'mass="m"', 'time="tau"'),
                             ["t = 6 tau", "to 1 m d^2/tau^2, each ball 0.5 times in a tau"]),
                            (('energy="kT"',), ["t = 6 s", "to 1 kT, each ball"]),
                            (('system="reduced"',), ["t = 6\n", "to 1, each ball 0.5 times in a unit of time"])):
            text = self.succeed("check", "gas.toml", *(word for unit in units for word in ("--set", f"units.{unit}"))).out
            for words in said:
                self.assertIn(words, text)
        text = self.succeed("check", "gas.toml", "--solver", "spring", "--set", "units.length=um", "--set", "units.time=ms",
                            "--set", "units.mass=pg").out
        self.assertRegex(text, r"stiffness +[0-9.e+]+ pg/ms\^2\n")
        self.assertRegex(text, r"design speed +[0-9.]+ um/ms\n")
        self.assertRegex(text, r"time step +[0-9.e-]+ ms\n")
        run = self.succeed("run", "gas.toml", "--set", "units.time=ms", "--until", "1", "--force")
        self.assertRegex(run.err, r"observed: a row every 0\.05 ms")

    def test_units_are_those_that_the_scene_names_or_none(self):
        self.assertIn("set ylabel 'temperature'", self.plot("temperature", "--no-units")[1])
        units = '\n[units]\nlength = "d"\nmass = "m"\ntime = "t"\nenergy = "kT"\n'
        self.run_scene(TWO_KINDS + units)
        for quantity, label in (("temperature", "temperature [kT]"), ("pressure", "pressure [kT·d⁻²]"),
                                ("momentum", "momentum [m·d·t⁻¹]")):
            _, script = self.plot(quantity)
            self.assertIn(f"set ylabel '{label}'", script)
            self.assertIn("set xlabel 'time [t]'", script)
        self.run_scene(TWO_KINDS + '\n[units]\nsystem = "reduced"\n')
        self.assertIn("set xlabel 'time' ", self.plot("temperature")[1])
        for bad, said in (('length = ""', "units.length: must not be empty"),
                          ('system = "reduced"\nlength = "d"', "units.length: is for units.system"),
                          ('system = "cgs"', "units.system")):
            self.write("bad.toml", TWO_KINDS + f"\n[units]\n{bad}\n")
            result = self.carom("check", "bad.toml")
            self.assertEqual(result.status, 2)
            self.assertIn(said, result.err)

    def test_ranges_axes_titles_and_styles(self):
        _, script = self.plot("temperature", "--xrange", "1:2", "--yrange", "0.5:", "--log", "xy", "--title", "it's T")
        self.assertIn("set title 'it'.\"'\".'s T' noenhanced", script)
        self.assertIn("set xrange [1:2] noextend", script)
        self.assertIn("set yrange [0.5:*] extend", script)
        self.assertNotIn("set title", self.plot("temperature", "--no-title")[1])
        script = self.plot("temperature", "--style", "one-column")[1]
        self.assertIn("pngcairo size 2031,1559 font \"sans,66.67\"", script, "86 mm at 600 to the inch, 8 pt")
        self.assertNotIn("set title", script)
        self.assertIn("set title 'T' ", self.plot("temperature", "--style", "two-column", "--title", "T")[1])
        self.assertIn("size 640,480 font \"sans,20\"",
                      self.plot("temperature", "--size", "640x480", "--font-size", "20")[1])
        self.assertIn("size 2362,1181 ", self.plot("temperature", "--size", "10x5cm")[1])


class DensityFigures(FiguresTest):
    def test_every_slice_that_is_stored_is_drawn(self):
        scene = TWO_KINDS.replace('[physics]', '') + """
[physics]
gravity = [0.0, -4.0]

[[observe]]
name = "heights"
kind = "density"
bins = 40
"""
        self.run_scene(scene)
        self.succeed("plot", "gas.h5", "heights", "--csv", "-o", "t.csv")
        rows = list(csv.reader((self.folder / "t.csv").read_text().splitlines()))
        slices = {row[1] for row in rows[1:] if row[2] and (row[0] == "measured" or "wall" in row[0])}
        self.assertEqual(len(slices), 40)
        self.assertIn("set xrange [0:12]", self.plot("heights")[1], "balls are everywhere")
        at_walls = sorted(round(float(row[1]), 9) for row in rows[1:] if "wall" in row[0])
        self.assertEqual(at_walls, [0.15, 0.45, 11.55, 11.85], "where heavy balls cannot be everywhere")

    def test_the_axis_ends_above_the_last_ball_of_an_atmosphere(self):
        scene = TWO_KINDS.replace("size = [16.0, 12.0]", "size = [16.0, 120.0]") + """
[physics]
gravity = [0.0, -4.0]
""" + DENSITIES
        scene = scene.replace("count = 60", "count = 60\nregion.max = [16.0, 10.0]").replace(
            "count = 30", "count = 30\nregion.max = [16.0, 10.0]")
        self.run_scene(scene)
        ends = {}
        for names in (("light",), ("heavy",), ("heavy", "light"), ("light", "heavy")):
            self.plot(*names)
            ends[names] = float(re.search(r"set xrange \[0:([0-9.]+)\]", (self.folder / "one.gp").read_text())[1])
        self.assertLess(ends["light",], 60.0)
        for both in (("heavy", "light"), ("light", "heavy")):
            self.assertEqual(ends[both], max(ends["light",], ends["heavy",]))
        last = self.succeed("plot", "gas.h5", "light", "--csv", "-o", "-").out.splitlines()
        self.assertIn("119.", [row for row in last if "wall" in row][-1], "the slices are all in the table")


class Inputs(ProgramTest):
    """What is read is not written over, whatever it is called."""

    def test_a_second_one_under_another_name_neither(self):
        self.write("gas.toml", TWO_KINDS)
        for name in ("a.h5", "t.h5"):
            self.succeed("run", "gas.toml", "--quiet", "--until", "1", "-o", name)
        for name in ("q.csv", "e_0000.vtp"):
            (self.folder / name).write_bytes((self.folder / "t.h5").read_bytes())
        for name in ("t.csv", "t.png"):
            (self.folder / name).symlink_to("t.h5")
        for command, name in ((["convert", "q.csv", "q.csv"], "q.csv"), (["convert", "t.h5", "t.csv"], "t.csv"),
                              (["convert", "e_0000.vtp", "e.vtp"], "e_0000.vtp"),
                              (["plot", "a.h5", "t.h5", "energy", "-o", "t.png"], "t.png"),
                              (["plot", "a.h5", "--with", "q.csv", "energy", "--csv", "-o", "q.csv"], "q.csv")):
            result = self.carom(*command, "--force")
            self.assertEqual((result.status, result.err),
                             (2, f"carom: {name}: is the input, and would be overwritten; name another file\n"), command)
        self.assertEqual((self.folder / "q.csv").read_bytes(), (self.folder / "t.h5").read_bytes())


class Ranges(ProgramTest):
    def test_in_which_there_is_nothing_are_refused(self):
        self.write("gas.toml", TWO_KINDS)
        self.succeed("run", "gas.toml", "--quiet", "--until", "1")
        self.write("c.csv", "a,q\n1,2\n2,3\n3,5\n")
        self.write("n.csv", "a,q\n1,-2\n2,-3\n3,-5\n")
        for command in (["gas.h5", "energy", "--xrange=9:"], ["gas.h5", "energy", "--xrange=:-1"], ["gas.h5", "energy", "--yrange=:-5"],
                        ["gas.h5", "energy", "--log", "y", "--yrange=1e9:"], ["c.csv", "q", "--xrange=9:"],
                        ["c.csv", "q", "--yrange=:-5"], ["n.csv", "q", "--yrange=0:"]):
            result = self.carom("plot", *command, "-o", "x.svg", "--force")
            self.assertEqual(result.status, 2, (command, result.err))
            self.assertRegex(result.err, r"\Acarom: --[xy]range: (from|up to) \S+ there is nothing; what there is goes from \S+ to \S+\n\Z")
        for command in (["n.csv", "q", "--log", "y"], ["c.csv", "q", "--log", "x", "--xrange=-20:-10"]):
            self.assertEqual(self.carom("plot", *command, "-o", "x.svg", "--force").status, 2, command)
        self.succeed("plot", "c.csv", "q", "--xrange=2:", "--yrange=:4", "--log", "x", "-o", "x.svg")


    def test_logarithms_are_of_numbers_above_0(self):
        for values in ("0,1,10", "small,large,none", "-1,2,3"):
            self.write("t.csv", "a,q\n" + "".join(f"{value},{k}\n" for k, value in enumerate(values.split(","), 1)))
            result = self.carom("plot", "t.csv", "q", "--log", "x", "-o", "x.svg", "--force")
            self.assertEqual(result.status, 2, values)
            self.assertRegex(result.err, r"\Acarom: --log: 'a' has '\S+', and a logarithmic axis only numbers above 0\n\Z")


class HeatMaps(FiguresTest):
    """Of few values at odd distances, and of whole numbers."""

    def setUp(self):
        super().setUp()
        self.write("t.csv", "a,b,q\n" + "".join(f"{a},{b},{a + b}\n" for a in (1, 2, 5, 10, 50) for b in (1, 2)))

    def test_have_ranges_of_values(self):
        self.assertIn("\n0 1 -0.5 0.5 ", self.plot(run="t.csv")[1], "cells of one size")
        for option in ("--xrange=4:60", "--log=x"):
            script = self.plot(option, run="t.csv")[1]
            self.assertRegex(script, r"\n50 1 \S+ \S+ 0.5 1.5 51\n", option)

    def test_have_the_colours_asked_for(self):
        self.assertNotIn("maxcolors", self.plot("--cbrange=0:100", run="t.csv")[1])
        self.write("w.csv", "a,b,q\n1,1,1\n1,2,2\n2,1,3\n2,2,4\n")
        self.assertIn("maxcolors", self.plot(run="w.csv")[1])
        self.assertNotIn("maxcolors", self.plot("--cbrange=0:9", run="w.csv")[1])


class SeveralRuns(FiguresTest):
    FALLING = FLYING.replace("[run]", "[physics]\ngravity = [0.0, -1.0]\n[run]").replace('"periodic", "periodic"', '"periodic", "wall"')

    def test_have_the_sum_within_the_figure(self):
        self.run_scene(self.FALLING)
        script = self.plot("--with", "gas.h5", "energy")[1]
        top = max(row[1] for row in curve(script, "gas.h5, total energy"))
        self.assertLessEqual(top, float(re.search(r"set yrange \[[^:]*:([^]]*)\]", script)[1]))

    def test_of_other_quantities_by_one_name_are_not_laid_over_each_other(self):
        for name, kind in (("a", "density"), ("b", "temperature_profile")):
            self.run_scene(TWO_KINDS + f'\n[[observe]]\nname = "own"\nkind = "{kind}"\n', "-o", f"{name}.h5")
        result = self.carom("plot", "a.h5", "own", "--with", "b.h5", "-o", "x.svg")
        self.assertEqual(result.status, 2)
        self.assertRegex(result.err, r"\Acarom: b\.h5: 'own' is .* over .* here, and .* over .* in the first run: no figure has both\n\Z")


class Maps(FiguresTest):
    def test_keep_their_lengths_and_have_values(self):
        observed = "".join(f'\n[[observe]]\nname = "{kind[:4]}"\nkind = "{kind}_map"\nbins = 8\nevery = 0.2\n' for kind in ("density", "temperature"))
        self.run_scene(FLYING + observed)
        self.assertIn("set size ratio 1\n", self.plot("dens")[1])
        self.assertIn("set size ratio 2\n", self.plot("dens", "--xrange=0:2")[1])
        result = self.carom("plot", "gas.h5", "temp", "-o", "x.svg")
        self.assertEqual((result.status, result.err), (2, "carom: gas.h5: 'temp' has no value in this run\n"))


class InOtherUnits(ProgramTest):
    def test_runs_are_not_laid_over_each_other(self):
        self.write("gas.toml", TWO_KINDS)
        for name, units in (("a", []), ("b", ["--set", 'units.length="um"']), ("c", [])):
            self.succeed("run", "gas.toml", "--quiet", "-o", f"{name}.h5", *units)
        result = self.carom("plot", "a.h5", "temperature", "--with", "b.h5", "-o", "x.svg")
        self.assertEqual((result.status, result.err),
                         (2, "carom: b.h5: is in other units than a.h5, which cannot be laid over each other\n"))
        self.succeed("plot", "a.h5", "temperature", "--with", "c.h5", "-o", "x.svg", "--quiet")


class Converted(ProgramTest):
    """Parts of a trajectory for other programs."""

    def times(self, *options):
        self.succeed("convert", "gas.h5", "x.xyz", "--force", *options)
        return [float(time) for time in re.findall(r"Time=(\S+)", (self.folder / "x.xyz").read_text())]

    def test_frames_and_times_may_be_chosen(self):
        self.write("gas.toml", TWO_KINDS)
        self.succeed("run", "gas.toml", "--quiet")  # 7 frames, 0 to 6
        for options, times in (((), range(7)), (("--frames", "2:5"), (2, 3, 4)), (("--frames", "::3"), (0, 3, 6)),
                               (("--frames", "-2:"), (5, 6)), (("--frames", ":-5"), (0, 1)),
                               (("--from", "2", "--to", "4"), (2, 3, 4)), (("--from", "-1"), (5, 6)),
                               (("--every", "2"), (0, 2, 4, 6)), (("--every", "1.5"), (0, 2, 4, 6)),
                               (("--frames", "1:", "--every", "2", "--to", "4"), (1, 3)), (("--last",), (6,))):
            self.assertEqual(self.times(*options), [float(time) for time in times], options)

    def test_the_ends_of_a_part_are_in_it_whatever_times_are_rounded_to(self):
        self.write("gas.toml", TWO_KINDS)
        self.succeed("run", "gas.toml", "--quiet", "--until", "0.7", "--set", "output.every=0.1",
                     "--set", "output.observables_every=0.05")
        with h5py.File(self.folder / "gas.h5", "r+") as file:  # as other programs, and time steps, have it
            file["particles/all/position/time"][3] = 0.30000000000000004
        self.assertIn(0.30000000000000004, self.times())
        self.assertEqual(len(self.times("--to", "0.3")), 4)
        self.assertEqual(len(self.times("--from", "0.3", "--to", "0.3")), 1)
        rows = self.succeed("plot", "gas.h5", "temperature", "--to", "-0.1", "--csv", "-o", "-").out.splitlines()
        self.assertAlmostEqual(float(rows[-1].split(",")[1]), 0.6)
        for part in (["--to=-0.8"], ["--from=-0.75", "--to=-0.8"]):
            result = self.carom("convert", "gas.h5", "x.csv", "--force", *part)
            self.assertEqual(result.status, 2)
            self.assertIn("gas.h5: nothing is from t = 0 to -0.1", result.err)

    def test_of_a_time_far_away_the_frame_on_its_side_is_taken(self):
        self.write("gas.toml", TWO_KINDS)
        self.succeed("run", "gas.toml", "--quiet")
        self.assertEqual(self.times("--time", "1e17"), [6.0])
        self.succeed("convert", "gas.h5", "all.csv")
        for file in ("gas.h5", "all.csv"):
            self.write("again.toml", TWO_KINDS.split("[[fill]]")[0] + f'[[load]]\nfile = "{file}"\ntime = 1e17\n')
            self.assertIn("t = 6", self.succeed("check", "again.toml").out, file)


class Sizes(ProgramTest):
    """Balls of one species whose radii differ."""

    def test_are_one_kind_of_balls_to_others_and_go_on_to_the_same_bits(self):
        sizes = '\nradius = 0.3\nsizes = { kind = "normal", spread = 0.1 }\n'
        for solver in ("events", "spring"):
            self.write("gas.toml", (MIXTURE % solver).replace("\nradius = 0.3\n", sizes))
            whole = self.succeed("run", "gas.toml", "--json", "--force").json
            self.assertEqual(self.succeed("run", "gas.toml", "--until", "3", "--force", "-o", "half.h5", "--threads", "2",
                                          "--json").json["balls"], 90)
            rest = self.succeed("run", "--resume", "half.checkpoint.h5", "--until", "6", "-o", "rest.h5", "--json",
                                "--force").json
            self.assertEqual(rest["state_hash"], whole["state_hash"])
            table = list(csv.DictReader(self.succeed("state", "gas.h5", "--csv", "--quiet").out.splitlines()))
            light = [row for row in table if row["species"] == "light"]
            self.assertEqual((len(light), len(table)), (60, 90))
            self.assertGreater(len({row["radius"] for row in light}), 55)
            for row in light:
                self.assertAlmostEqual(float(row["mass"]), (float(row["radius"]) / 0.3) ** 2, 12)
            self.assertEqual({row["radius"] for row in table} - {row["radius"] for row in light}, {"0.5"})
            self.succeed("convert", "gas.h5", "gas.lammpstrj", "--last", "--force")
            dump = (self.folder / "gas.lammpstrj").read_text().split("ITEM: ATOMS")[1].splitlines()[1:]
            self.assertEqual([sum(line.split()[1] == kind for line in dump) for kind in "12"], [60, 30])
            self.succeed("plot", "gas.h5", "balls", "-o", "balls.png", "--force")
            self.succeed("report", "gas.h5", "--force")
        packed = self.succeed("check", "gas.toml", "--json").json["packing_fraction"]
        area = sum(3.141592653589793 * float(row["radius"]) ** 2 for row in table)
        self.assertAlmostEqual(packed, area / (16.0 * 12.0), 12)

    def test_that_make_no_sense_are_refused(self):
        for sizes, says in (
                ('{ kind = "normal" }', "sizes.spread: is required for kind = \"normal\""),
                ('{ kind = "normal", spread = 0.4 }', "sizes.min: is required for a spread of 0.4: 3 spreads below 1 is no radius"),
                ('{ kind = "normal", spread = 0.1, min = 1.1 }', "sizes.min: must leave room for 1, not 1.1"),
                ('{ kind = "normal", spread = 0.1, max = 0.7 }', "sizes.max: must be above min, 0.7, by a tenth of the spread or "
                                                                "more, not 0.7"),
                ('{ kind = "uniform", min = 0.5 }', "sizes.max: is required for a uniform distribution"),
                ('{ kind = "uniform", min = 1.5, max = 0.5 }', "sizes.max: must be above min, 1.5, not 0.5"),
                ('{ kind = "uniform", min = 0.5, max = 1.5, spread = 0.1 }', "sizes.spread: needs kind = \"normal\" or \"lognormal\""),
                ('{ kind = "table", values = [] }', "sizes.values: must be an array of numbers from 0.01 to 100, not an array of 0"),
                ('{ kind = "table", values = [1.0, -1.0] }', "sizes.values[1]: must be a number from 0.01 to 100, not -1"),
                ('{ kind = "table", values = [1.0], weights = [1.0, 2.0] }', "sizes.weights: must be as many as values, 1, not 2"),
                ('{ kind = "table", values = [1.0], weights = [0.0] }', "sizes.weights: must have a sum above 0"),
                ('{ kind = "gauss", spread = 0.1 }', "sizes.kind: must be \"normal\", \"lognormal\", \"uniform\" or \"table\""),
                ('{ kind = "uniform", min = 0.5, max = 40.0 }', "radius: must be at most half the box, which is 16 along x, not 12"),
                ("0.1", "sizes: must be a table, not 0.1")):
            self.write("gas.toml", TWO_KINDS.replace("radius = 0.3\n", f"radius = 0.3\nsizes = {sizes}\n"))
            result = self.carom("check", "gas.toml")
            self.assertEqual(result.status, 2, sizes)
            self.assertRegex(result.err.splitlines()[0], r"^carom: gas\.toml:\d+:\d+: species\[0\]\." + re.escape(says))
        for change, says in (("\n[[ball]]\nspecies = \"light\"\nposition = [3.0, 3.0]\n",
                              "ball[0].species: \"light\" has sizes, which are for fills; give the ball its own radius and mass"),
                             ("\n[[fill]]\nspecies = \"light\"\ncount = 4\nspeed = 1.0\n",
                              "fill[2].speed: equal speeds of balls of different mass have momentum"),
                             ("\n[[fill]]\nspecies = \"light\"\ncount = 4\narrangement = \"atmosphere\"\ntemperature = 1.0\n",
                              "fill[2].arrangement: \"atmosphere\" is for balls of one radius, and these have sizes")):
            scene = TWO_KINDS.replace("radius = 0.3\n", 'radius = 0.3\nsizes = { kind = "normal", spread = 0.1 }\n')
            self.write("gas.toml", scene + change)
            result = self.carom("check", "gas.toml")
            self.assertEqual(result.status, 2, change)
            self.assertIn(says, result.err)


class Joined(ProgramTest):
    """A run and those that resumed it, put together in one trajectory."""

    SCENE = TWO_KINDS + """
[[observe]]
name = "msd"
kind = "msd"
every = 0.25

[[observe]]
name = "speeds"
kind = "speed"
every = 0.25
"""

    def setUp(self):
        super().setUp()
        self.write("gas.toml", self.SCENE)

    def runs(self, scene="gas.toml"):
        self.succeed("run", scene, "--until", "2", "-o", "a.h5", "--quiet")
        for before, until, name in (("a", "4", "b"), ("b", "6", "c")):
            self.succeed("run", "--resume", f"{before}.checkpoint.h5", "--until", until, "-o", f"{name}.h5", "--quiet")

    def join(self, *options):
        return self.carom("convert", *options)

    def test_what_is_joined_is_the_run_that_was_not_stopped(self):
        import h5py
        for solver in ("events", "spring"):
            self.write("gas.toml", self.SCENE.replace('"events"', f'"{solver}"'))
            self.succeed("run", "gas.toml", "-o", "whole.h5", "--quiet", "--force")
            for name in ("a", "b", "c"):
                for ending in (".h5", ".checkpoint.h5"):
                    (self.folder / (name + ending)).unlink(missing_ok=True)
            self.runs()
            done = self.succeed("convert", "a.h5", "joined.h5", "--join", "b.h5", "--join", "c.h5", "--force")
            self.assertIn("7 frames and 121 rows of 3 runs, to t = 6", done.err)
            with h5py.File(self.folder / "whole.h5") as whole, h5py.File(self.folder / "joined.h5") as joined:
                self.assertEqual(len(joined["parameters/joined"]), 3)
                compared = []

                def compare(name, item):
                    if isinstance(item, h5py.Dataset) and name.startswith(("particles", "observables")):
                        there = joined[name]
                        compared.append(name)
                        if name.startswith("observables/msd"):  # whose longer lags the parts did not know
                            self.assertTrue((there[-1] == item[-1])[item[-1] == item[-1]].all(), name)
                        elif name.endswith(("/independent", "wall_pressure/value")):  # equal to rounding
                            rounding = 1e-6 * abs(item[()]) + 1e-9
                            self.assertTrue(((abs(there[()] - item[()]) <= rounding) | (item[()] != item[()])).all(), name)
                        else:
                            self.assertTrue(((there[()] == item[()]) | (item[()] != item[()])).all(), name)
                whole.visititems(compare)
                self.assertGreater(len(compared), 35)
            self.succeed("plot", "joined.h5", "msd", "-o", "f.png", "--force")
            self.succeed("report", "joined.h5", "-o", "joined.html", "--force")

    def test_what_a_killed_run_has_beyond_its_checkpoint_is_there_once(self):
        self.runs()
        self.succeed("run", "gas.toml", "--until", "5", "-o", "long.h5", "--quiet")
        done = self.succeed("convert", "long.h5", "joined.h5", "--join", "c.h5")
        self.assertIn("7 frames and 121 rows of 2 runs", done.err)

    def test_a_part_may_have_but_the_frame_that_it_began_with(self):
        """As of a run that was resumed, and killed before its first frame; and rows that were lost with it are there once."""
        import h5py
        self.runs()
        with h5py.File(self.folder / "b.h5") as whole:
            rows = int((whole["observables/temperature/time"][()] < 2.6).sum())
        shutil.copy(self.folder / "b.h5", self.folder / "cut.h5")
        with h5py.File(self.folder / "cut.h5", "r+") as cut:
            def shorten(name, item):
                if isinstance(item, h5py.Dataset) and name.startswith(("particles", "observables")) and item.maxshape[0] is None:
                    frames = name.startswith("particles") or name.split("/")[1] in ("msd", "speeds")
                    item.resize(1 if frames else rows, 0)
            cut.visititems(shorten)
        whole = self.succeed("convert", "a.h5", "whole.h5", "--join", "b.h5").err
        for parts in (("a.h5", "cut.h5", "b.h5"), ("a.h5", "cut.h5", "cut.h5", "b.h5")):
            done = self.succeed("convert", parts[0], "joined.h5", "--force", *[word for part in parts[1:] for word in ("--join", part)])
            self.assertEqual(done.err.split(" of ")[0], whole.replace("whole.h5", "joined.h5").split(" of ")[0])

    def test_averages_of_other_shapes_do_not_join(self):
        import h5py
        import numpy as np
        self.write("gas.toml", self.SCENE + "[[observe]]\nname = \"map\"\nkind = \"temperature_map\"\nbins = 4\n")
        self.runs()
        for name, points in (("map/y", 40), ("map/y", 1), ("speeds/x", 300)):
            axis = 1 if name == "map/y" else -1
            shutil.copy(self.folder / "b.h5", self.folder / "other.h5")
            with h5py.File(self.folder / "other.h5", "r+") as file:
                for part in (name, name.split("/")[0] + "/value", name.split("/")[0] + "/error"):
                    place = file[f"observables/{part}"]
                    attributes, numbers = dict(place.attrs), place[()]
                    del file[f"observables/{part}"]
                    file[f"observables/{part}"] = np.resize(numbers, [
                        points if k == (axis if numbers.ndim > 2 else numbers.ndim - 1) % numbers.ndim else n
                        for k, n in enumerate(numbers.shape)])
                    file[f"observables/{part}"].attrs.update(attributes)
            for parts in (("a.h5", "other.h5"), ("other.h5", "c.h5")):
                if points == 300 and parts[0] == "a.h5":
                    continue  # as lags of a longer run
                result = self.join(parts[0], "x.h5", "--join", parts[1])
                self.assertEqual(result.status, 2, (name, points, parts, result.err))
                self.assertRegex(result.err, "its averages (are others|have fewer points)")
                self.assertFalse((self.folder / "x.h5").exists())

    def test_what_does_not_join_is_refused(self):
        self.runs()
        self.write("other.toml", self.SCENE.replace("seed = 5", "seed = 6"))
        self.succeed("run", "other.toml", "--until", "4", "-o", "other.h5", "--quiet")
        self.succeed("run", "gas.toml", "--until", "2.5", "-o", "odd.h5", "--quiet")
        self.succeed("run", "--resume", "odd.checkpoint.h5", "--until", "4", "-o", "rest.h5", "--quiet")
        self.succeed("run", "--resume", "a.checkpoint.h5", "--set", "physics.restitution=0.9", "--until", "3", "-o", "new.h5",
                     "--quiet")
        for files, says in (
                (("a.h5", "c.h5"), "c.h5: does not go on from a.h5: that ends at t = 2, and it begins at 4"),
                (("b.h5", "a.h5"), "a.h5: does not go on from b.h5: it begins at t = 0, which is no later than that"),
                (("other.h5", "c.h5"), "c.h5: does not go on from other.h5: at t = 4 its balls are elsewhere, or fly otherwise"),
                (("other.h5", "rest.h5"), "rest.h5: does not go on from other.h5: it begins at t = 2.5, where that has no "
                                          "frame"),
                (("a.h5", "new.h5"), "new.h5: does not go on from a.h5: it begins at t = 0, which is no later than that")):
            result = self.join(files[0], "x.h5", "--join", files[1])
            self.assertEqual((result.status, result.err), (2, f"carom: {says}\n"))
            self.assertFalse((self.folder / "x.h5").exists())
        for options, says in ((("a.h5", "x.xyz", "--join", "b.h5"), "x.xyz: with --join the file is a trajectory, and ends in .h5"),
                              (("a.h5", "a.h5", "--join", "b.h5", "--force"), "a.h5: is the input"),
                              (("a.h5", "b.h5", "--join", "b.h5", "--force"), "b.h5: is the input"),
                              (("a.h5", "x.h5", "--join", "b.h5", "--last"), "--join: puts runs together whole")):
            result = self.join(*options)
            self.assertEqual(result.status, 2)
            self.assertIn(says, result.err)


class Lags(ProgramTest):
    def test_theory_is_theory_s_at_the_shortest_lag_of_a_long_run(self):
        self.write("gas.toml", """
[scene]
dimension = 2
[box]
size = [60.0, 60.0]
boundary = ["periodic", "periodic"]
[run]
solver = "events"
until = 400.0
[[fill]]
count = 64
radius = 0.5
mass = 1.0
temperature = 1.0
[[observe]]
name = "vacf"
kind = "vacf"
[[observe]]
name = "msd"
kind = "msd"
""")
        self.succeed("run", "gas.toml", "--quiet")
        for name in ("msd", "vacf"):
            rows = list(csv.reader(self.succeed("plot", "gas.h5", name, "--csv", "-o", "-").out.splitlines()))[1:]
            lags = [float(row[1]) for row in rows if row[0] == "measured" and float(row[1]) > 0.0]
            theory = [(float(row[1]), float(row[2])) for row in rows if row[0].startswith("Enskog")]
            self.assertGreater(max(lags), 500 * min(lags))
            # Straight lines between its points: a curve that bends over a mean free time has many of these there.
            between = [value for lag, value in theory if min(lags) <= lag <= 10 * min(lags)]
            self.assertGreater(len(between), 50)
            self.assertLessEqual(min(lag for lag, _ in theory), min(lags))
            if name == "msd":  # t^2 2 T / m, before the first collision
                self.assertAlmostEqual(between[0], 2.0 * min(lags)**2, delta=0.1 * between[0])


class TheoryFigures(ProgramTest):
    def run_scene(self, name, *options):
        self.succeed("run", SCENES / f"{name}.toml", "-o", f"{name}.h5", "--quiet", *options)

    def figure(self, name, quantity):
        """The words of a figure of a run."""
        self.succeed("plot", f"{name}.h5", quantity, "-o", f"{name}.svg", "--quiet", "--force")
        return html.unescape((self.folder / f"{name}.svg").read_text())

    def captions(self, name):
        self.succeed("report", f"{name}.h5", "-o", f"{name}.html")
        return re.findall(r"<figcaption>(.*?)</figcaption>", (self.folder / f"{name}.html").read_text())

    def test_a_quantity_that_theory_has_a_course_for_is_among_all(self):
        self.run_scene("sound", "--until", "36")
        self.succeed("plot", "sound.h5", "--all", "-o", "figures/")
        self.assertTrue((self.folder / "figures/wall_pressure.png").exists())
        self.assertIn("wall_pressure", self.captions("sound"))
        self.assertIn("linear sound, x-min", self.figure("sound", "wall_pressure"))

    def test_what_another_figure_shows_is_not_drawn_twice(self):
        self.run_scene("gas2d", "--until", "2", "--solver", "events", "--set", "fill[0].count=100", "--set",
                       "box.size=[14.0, 14.0]")
        self.assertIn("equation of state", self.figure("gas2d", "pressure"))
        self.assertIn("equation of state", self.figure("gas2d", "virial_pressure"))
        captions = self.captions("gas2d")
        self.assertIn("pressure", captions)
        self.assertNotIn("virial_pressure", captions)
        self.assertNotIn("wall_pressure", captions)

    def test_the_pressure_of_a_gas_that_a_wall_compresses_is_of_the_room_it_has(self):
        self.run_scene("piston", "--until", "200")
        words = self.figure("piston", "pressure")
        self.assertIn("virial pressure, between the walls", words)
        self.assertIn("adiabatic, equation of state", words)
        self.assertNotIn("wall pressure", words, "that of faces that the wall hides in part")
        self.assertIn("adiabatic, equation of state", self.figure("piston", "temperature"))

    def test_a_gas_that_a_fast_wall_drives_keeps_the_pressures_that_were_stored(self):
        self.run_scene("piston", "--until", "10", "--set", "wall[0].velocity=1.0")
        words = self.figure("piston", "pressure")
        self.assertNotIn("between the walls", words)
        self.assertIn("wall pressure, x-max", words)


class ThinMaps(ProgramTest):
    """What gnuplot, as it is, draws of a row of cells alone, or of a column."""

    def test_are_as_wide_as_their_cells(self):
        names = ("density", "velocity")
        observed = "".join(f'\n[[observe]]\nname = "{name}"\nkind = "{name}_map"\nbins = 8\n' for name in names)
        for size in ((40.0, 2.05), (2.05, 40.0)):
            self.write("gas.toml", FLYING.replace("[4.0, 4.0]", f"[{size[0]}, {size[1]}]") + observed)
            self.succeed("run", "gas.toml", "--quiet", "--force")
            for name in names:
                table = self.succeed("plot", "gas.h5", name, "--csv", "-o", "-").out.splitlines()
                self.assertEqual(len(table), 9)
                self.succeed("plot", "gas.h5", name, "-o", "map.svg", "--quiet", "--force")
                drawn = (self.folder / "map.svg").read_text()
                image = re.search(r"<image [^>]*width='([0-9.]+)' height='([0-9.]+)'", drawn)
                self.assertIsNotNone(image, "nothing is drawn")
                width, height = (float(length) for length in image.groups())
                self.assertAlmostEqual(width / height / (size[0] / size[1]), 1.0, delta=0.1)


class NumbersOfTables(ProgramTest):
    """What gnuplot, as it is, draws of numbers that no axis has room between, or for."""

    def test_large_whole_numbers_are_drawn(self):
        grid = "a,b,y\n" + "".join(f"{a},{b},{10 ** 17}\n" for a in range(2) for b in range(3))
        for name, table in (("alike", grid), ("apart", grid.replace("0,0,1", "0,0,2")), ("one", f"x,y\n{10 ** 17},1\n"),
                            ("small", "x,y\n1,5e-324\n2,5e-324\n")):
            self.write(f"{name}.csv", table)
            self.succeed("plot", f"{name}.csv", "-o", f"{name}.svg", "--quiet")
            self.assertIn("</svg>", (self.folder / f"{name}.svg").read_text())

    def test_what_no_axis_can_show_is_told_by_its_place(self):
        for cell in ("nan", "inf", "-inf", "1e308", "-1e308", ""):
            self.write("t.csv", f"x,n,y\n1,1,1\n2,1,2\n{cell},1,3\n3,1,4\n")
            result = self.carom("plot", "t.csv", "-o", "t.svg")
            self.assertEqual(result.err, f"carom: t.csv:4: x: an axis has numbers from -1e300 to 1e300, not '{cell}'\n")
            self.assertEqual(result.status, 2)
        for table in ("x,y\n1,1e308\n2,-1e308\n", "a,b,y\n1,1,1e308\n1,2,-1e308\n2,1,5\n2,2,6\n"):
            self.write("t.csv", table)
            result = self.carom("plot", "t.csv", "-o", "t.svg")
            self.assertEqual(result.err, "carom: t.csv: 'y' has numbers beyond what a figure can show\n")
            self.assertEqual(result.status, 2)


if __name__ == "__main__":
    unittest.main()
