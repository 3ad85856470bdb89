"""What figures and pictures of a run show and say, told by what gnuplot is given."""

import os
import re
import unittest

from program import ProgramTest

MIXTURE = """
[scene]
title = "two kinds"
dimension = 2
seed = 5

[box]
size = [16.0, 12.0]
boundary = ["periodic", "wall"]

[run]
solver = "events"
until = 4.0

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


class FiguresTest(ProgramTest):
    """Runs the program with a gnuplot that writes down what it is asked to draw."""

    def setUp(self):
        super().setUp()
        gnuplot = self.folder / "bin" / "gnuplot"
        gnuplot.parent.mkdir()
        gnuplot.write_text(f"#!/bin/sh\ncd {self.folder}\ncat > one.gp\ncat one.gp >> all.gp\n"
                           "printf x > \"$(sed -n 's/^set output \"\\(.*\\)\"/\\1/p' one.gp)\"\n")
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
        return re.search(r'^set title "(.*?)" noenhanced', self.plot(*arguments)[1], re.MULTILINE)[1]


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
        self.run_scene(MIXTURE + self.OBSERVED)
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
        self.run_scene(MIXTURE + self.OBSERVED)
        result, _ = self.plot("density")
        self.assertIn("density: drawn is light; others of this kind: heavy\n", result.err)
        for quantity in ("gr", "heavy", "speed", "temperature"):  # a name, a kind that no average has, rows
            result, _ = self.plot(quantity)
            self.assertEqual(result.err, "f.png\n", quantity)
        result, _ = self.plot("density", "--quiet")
        self.assertEqual(result.err, "")


def curve(script, title):
    """The rows of the curve of that title."""
    number = re.search(r"\$curve(\d+) using 1:2[^,]* title \"%s" % re.escape(title), script)[1]
    rows = script.split(f"$curve{number} << END_OF_DATA\n")[1].split("END_OF_DATA")[0]
    return [[float(value) for value in row.split()] for row in rows.splitlines()]


class WhatIsDrawn(FiguresTest):
    ONE_KIND = MIXTURE.replace('boundary = ["periodic", "wall"]', 'boundary = ["periodic", "periodic"]').replace(
        'species = "heavy"\ncount = 30', 'species = "light"\ncount = 30').replace("until = 4.0", "until = 40.0")

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
        self.run_scene(MIXTURE + few + asked % ("few", "few"))
        self.assertLessEqual({"moved", "which"}, self.all_of())
        self.succeed("report", "gas.h5", env=self.environment)
        self.assertIn("<figcaption>moved</figcaption>", (self.folder / "gas.html").read_text())

    def test_rows_of_more_balls_than_a_figure_can_tell_apart_are_not(self):
        self.run_scene(MIXTURE + '\n[[observe]]\nname = "which"\nkind = "displaced_each"\nthreshold = 0.1\n')
        self.assertNotIn("which", self.all_of())

    def test_what_drives_nothing_is_not(self):
        moving = '\n[[wall]]\nshape = "plane"\nnormal = [0.0, 1.0]\noffset = 0.0\nvelocity = 0.2\n'
        self.run_scene(MIXTURE + moving)
        drawn = self.all_of()
        self.assertIn("work", drawn)
        self.assertNotIn("wall_heat", drawn, "the walls are not thermal")


if __name__ == "__main__":
    unittest.main()
