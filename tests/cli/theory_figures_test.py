"""Theory in figures over time: which figures `plot --all` and `report` draw for it, and what stands beside it."""

import html
import re
import unittest

from program import SOURCE, ProgramTest

SCENES = SOURCE / "scenes"


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
