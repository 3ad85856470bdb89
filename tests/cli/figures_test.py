"""What figures and pictures of a run show and say, told by what gnuplot is given, and theory in figures over time."""

import html
import os
import re
import unittest

from program import MIXTURE, SOURCE, ProgramTest

TWO_KINDS = MIXTURE % "events"
SCENES = SOURCE / "scenes"


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


class TitlesAndChoices(FiguresTest):
    OBSERVED = """
[[observe]]
name = "light"
kind = "density"
species = "light"

[[observe]]
name = "heavy"
kind = "density"
species = "heavy"

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


if __name__ == "__main__":
    unittest.main()
