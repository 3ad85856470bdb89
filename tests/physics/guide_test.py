"""The chapters of docs/physics.md: each scene does what its chapter says. Seeds are the scenes' own."""

import json
import math
import unittest

import numpy

from guide import SCENES, GuideTest, disk_compressibility, rows
from program import SOURCE, ProgramTest


class Guide(GuideTest):
    def test_free_expansion_does_no_work_and_lets_the_pressure_fall(self):
        with self.run_scene("free_expansion") as file:
            _, temperature = rows(file, "temperature")
            numpy.testing.assert_allclose(temperature, 1.0, rtol=1e-11)
            time, wall = rows(file, "wall_pressure")

            def pressure(length):  # of 2,000 disks whose centres have this length
                density = 2000.0 / (length * 80.0)
                return disk_compressibility(density * math.pi / 4.0) * density

            # The thinning wave comes to the left wall at t = 30. 10 % is some 3 standard errors of a row's 270 impacts.
            self.assertAlmostEqual(wall[(time > 5) & (time < 25), 0].mean() / pressure(79.5), 1.0, delta=0.12)
            self.assertLess(wall[time <= 10, 1][-1], 0.02 * pressure(79.5), "the first have not arrived")
            late = rows(file, "virial_pressure")[1][time > 600]
            # 60 rows of 1 % each: 0.15 %; walls keep disks from being in the bulk by half a per cent.
            self.assertAlmostEqual(late.mean() / pressure(159.0), 1.0, delta=0.012)
            self.assertAlmostEqual(wall[time > 600][:, :2].mean() / pressure(159.0), 1.0, delta=0.04)

    def test_two_gases_mix_as_fast_as_balls_diffuse(self):
        # Enskog: 1.01895 * 3 / (8 n chi) sqrt(T / pi), chi of Carnahan and Starling.
        length = 39.3
        diameter = 0.7
        density = 2000.0 / (length * 13.0 * 13.0)
        phi = density * math.pi / 6.0 * diameter**3
        chi = (1.0 - 0.5 * phi) / (1.0 - phi) ** 3
        theory = 1.01895 * 3.0 / (8.0 * density * diameter**2 * chi) / math.sqrt(math.pi)
        rates = []
        for seed in range(1, 5):
            with self.run_scene("mixing", "--seed", str(seed), "--until", "100", "--force") as file:
                time = file["particles/all/position/time"][:]
                x = file["particles/all/position/value"][:, :, 0]
                red = file["particles/all/species/value"][0] == 0
            wave = numpy.cos(numpy.pi * (x - 0.35) / length)
            share = 0.5 * (wave[:, red].sum(axis=1) - wave[:, ~red].sum(axis=1))
            # The sharp border holds higher waves, of which cos(3 pi x / L) is the slowest: gone by t = 15.
            used = (time >= 15) & (time <= 100)
            slope = numpy.polyfit(time[used], numpy.log(share[used]), 1)[0]
            rates.append(-slope / (math.pi / length) ** 2)
        # The noise of 2,000 spheres makes each rate uncertain by some 8 %: four by 4 %; Enskog's own is 3 %.
        self.assertAlmostEqual(numpy.mean(rates) / theory, 1.0, delta=0.15)

    def test_heavy_balls_settle_at_a_quarter_of_the_height(self):
        with self.run_scene("sedimentation") as file:
            time, temperature = rows(file, "temperature")
            mean = temperature[time > 4000].mean()
            heights = {}
            for name, mass, most in [("light", 1.0, 0.06), ("heavy", 4.0, 0.10)]:
                group = file[f"observables/{name}"]
                density, y = group["value"][-1], group["x"][-1]
                heights[name] = (density * y).sum() / density.sum() - 0.5
                # Disks push each other up by some per cent, the heavy ones from where it is densest.
                self.assertAlmostEqual(heights[name] / (mean / (mass * 0.0125)), 1.0 + 0.4 * most, delta=most)
                kind = file[f"observables/{name}_temperature"]
                # 4 standard errors: two of these fail once in 8,000.
                self.assertAlmostEqual(kind["value"][-1], mean, delta=4.0 * kind["error"][-1])
                self.assertLess(kind["error"][-1], 0.03)
            self.assertAlmostEqual(heights["light"] / heights["heavy"], 4.0, delta=0.5)

    def test_sound_has_the_speed_of_hard_disks(self):
        with self.run_scene("sound") as file:
            time, wall = rows(file, "wall_pressure")
        every = time[2] - time[1]
        swing = wall[1:, 0] - wall[1:, 1]
        middle = time[1:] - 0.5 * every  # rows are means of the time since the row before
        length = 399.0
        phi = 8000.0 * math.pi / 4.0 / (length * 78.54)
        step = 1e-5
        slope = ((phi + step) * disk_compressibility(phi + step) - (phi - step) * disk_compressibility(phi - step)) / (
            2.0 * step)
        theory = math.sqrt(slope + disk_compressibility(phi) ** 2)
        self.assertAlmostEqual(theory, 2.202, places=3)
        best = (math.inf, 0.0)
        for c in numpy.linspace(1.2, 3.2, 801):
            for fading in [0.0, 3e-4, 6e-4, 1.2e-3, 2.4e-3]:
                waves = numpy.stack([numpy.cos(math.pi * c / length * middle), numpy.sin(math.pi * c / length * middle)])
                waves = (waves * numpy.exp(-fading * middle)).T
                found = numpy.linalg.lstsq(waves, swing, rcond=None)
                best = min(best, (float(found[1][0]), c))
        # Two and a half periods, each row's noise a third of the amplitude: 0.3 %; the step is no small one: 1 %.
        self.assertAlmostEqual(best[1] / theory, 1.0, delta=0.02)
        self.assertGreater(abs(best[1] / math.sqrt(2.0) - 1.0), 0.3, "an ideal gas's would be seen")


class EquationOfStateSweep(ProgramTest):
    def sweep(self, name, values):
        text = (SCENES / f"{name}.sweep.toml").read_text()
        begin = text.index("values = [")
        text = text[:begin] + f"values = {values}" + text[text.index("]", begin) + 1:]
        scene = "hard_disks.toml" if "hard_disks" in text else "hard_spheres.toml"
        self.write("short.sweep.toml", text)
        self.write(scene, (SCENES / scene).read_text())
        self.succeed("sweep", "short.sweep.toml", "--quiet", "--force")
        table = numpy.genfromtxt(self.folder / "short.csv", delimiter=",", names=True, deletechars="")
        return table

    def test_it_is_theorys(self):
        """4 standard errors, and 3 (Z - 1) / N for the finite box: six points of three numbers fail once in 900."""
        reference = json.loads((SOURCE / "tests/golden/data/stats.json").read_text())
        for name, kind, values, balls, axis in [
                ("equation_of_state", "eos2d", [0.1, 0.3, 0.6], 400, "packing_fraction_[disks]"),
                ("equation_of_state_3d", "eos3d", [0.1, 0.2, 0.4], 500, "packing_fraction_[spheres]")]:
            table = self.sweep(name, values)
            self.assertEqual(table.dtype.names, (axis, "compressibility", "compressibility_se", "collision_rate",
                                                 "collision_rate_se", "mean_free_path", "mean_free_path_se"))
            for row in table:
                known = next(entry for entry in reference[kind] if abs(entry["phi"] - row[axis]) < 1e-9)
                excess = known["Z_ref"] - 1.0
                finite = (known["Z_ref"] - known["Z_N"]["1024"]) * 1024.0 / balls
                self.assertAlmostEqual(row["compressibility"], known["Z_ref"] - finite,
                                       delta=4.0 * row["compressibility_se"] + 1e-3 * excess)
                self.assertLess(row["compressibility_se"], 0.012 * excess)
                dimension = 2 if kind == "eos2d" else 3
                radius = {2: math.sqrt(row[axis] / math.pi), 3: (1.5 * row[axis] / math.pi) ** (1 / 3)}[dimension]
                path = known["mfp_over_sigma"] * 2.0 * radius
                self.assertAlmostEqual(row["mean_free_path"], path,
                                       delta=4.0 * row["mean_free_path_se"] + 3.0 / balls * path)

    def test_its_figure_has_theorys_curve(self):
        self.sweep("equation_of_state", [0.1, 0.2])
        self.succeed("plot", "short.csv", "-o", "z.svg", "--quiet")
        text = (self.folder / "z.svg").read_text()
        self.assertIn("Kolafa and Rottner 2006", text)
        self.assertIn("measured", text)
        self.succeed("plot", "short.csv", "mean_free_path", "-o", "l.svg", "--quiet")
        self.assertNotIn("Kolafa", (self.folder / "l.svg").read_text())


if __name__ == "__main__":
    unittest.main()
