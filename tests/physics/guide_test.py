"""The chapters of docs/physics.md on gases on their way to equilibrium, and the sweeps: each scene does what its chapter
says. Seeds are the scenes' own, so none fails by chance where the trajectory is the one it was. Tolerances are 4 times the
scatter measured over seeds 1 to 8, unless said otherwise. A scatter of 8 values is itself known to a quarter only: of other
seeds, or once another change has made another trajectory, about one comparison in 140 fails (Student's t with 7 degrees of
freedom beyond 4, and the mean as uncertain)."""

import json
import math
import unittest

import numpy

from guide import SCENES, SEED, GuideTest, disk_compressibility, rows
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

            # The thinning wave comes to the left wall at t = 30. Over seeds 1 to 8 these have a scatter of 0.034, 0.0004 and
            # 0.0024: 4 of these; and walls keep disks from being in the bulk by half a per cent.
            early = wall[(time > 5) & (time < 25), 0].mean() / pressure(79.5)
            self.near("pressure before the wave", early, 1.0, 0.14)
            self.assertLess(wall[time <= 10, 1][-1], 0.02 * pressure(79.5), "the first have not arrived")
            late = rows(file, "virial_pressure")[1][time > 600]
            self.near("pressure at rest", late.mean() / pressure(159.0), 0.9955, 0.003)
            self.near("pressure on the walls at rest", wall[time > 600][:, :2].mean() / pressure(159.0), 1.0, 0.012)
        self.assertNotIn("linear sound", self.figure("free_expansion", "wall_pressure"), "it is too loud for that")

    def test_two_gases_mix_as_fast_as_balls_diffuse(self):
        # Enskog: 1.01895 * 3 / (8 n chi) sqrt(T / pi), chi of Carnahan and Starling.
        length = 39.3
        diameter = 0.7
        density = 2000.0 / (length * 13.0 * 13.0)
        phi = density * math.pi / 6.0 * diameter**3
        chi = (1.0 - 0.5 * phi) / (1.0 - phi) ** 3
        theory = 1.01895 * 3.0 / (8.0 * density * diameter**2 * chi) / math.sqrt(math.pi)
        rates = []
        for seed in range(1, 5) if not SEED else range(4 * int(SEED), 4 * int(SEED) + 4):
            with self.run_scene("mixing", "--seed", str(seed), "--until", "100", "--force") as file:
                time = file["particles/all/position/time"][:]
                x = file["particles/all/position/value"][:, :, 0]
                red = file["particles/all/species/value"][0] == 0
            crossed = 0.5 * ((x[:, red] > 20.0).mean(axis=1) + (x[:, ~red] < 20.0).mean(axis=1))
            # "Half mixed". Over 32 seeds 0.250, scatter 0.009.
            self.near("crossed at t = 60", crossed[numpy.isclose(time, 60.0)][0], 0.25, 0.036)
            wave = numpy.cos(numpy.pi * (x - 0.35) / length)
            share = 0.5 * (wave[:, red].sum(axis=1) - wave[:, ~red].sum(axis=1))
            # The sharp border holds higher waves, of which cos(3 pi x / L) is the slowest: gone by t = 15.
            used = (time >= 15) & (time <= 100)
            slope = numpy.polyfit(time[used], numpy.log(share[used]), 1)[0]
            rates.append(-slope / (math.pi / length) ** 2)
        # Over eight sets of four seeds 1.017, scatter 0.037: 4 of these.
        self.near("diffusion over Enskog's", numpy.mean(rates) / theory, 1.0, 0.15)

    def test_heavy_balls_settle_at_a_quarter_of_the_height(self):
        with self.run_scene("sedimentation") as file:
            time, temperature = rows(file, "temperature")
            mean = temperature[time > 4000].mean()
            heights = {}
            # Over seeds 1.031 and 1.023 of a thin gas's, scatter 0.0025 and 0.011, for disks push each other up by some per
            # cent, the heavy ones from where it is densest; 6 and 4 of these.
            for name, mass, mean_height, most in [("light", 1.0, 1.031, 0.015), ("heavy", 4.0, 1.023, 0.045)]:
                group = file[f"observables/{name}"]
                density, y = group["value"][-1], group["x"][-1]
                heights[name] = (density * y).sum() / density.sum() - 0.5
                self.near(f"height of the {name}", heights[name] / (mean / (mass * 0.0125)), mean_height, most)
                kind = file[f"observables/{name}_temperature"]
                # 4 standard errors: two of these fail once in 8,000.
                self.near(f"temperature of the {name}", kind["value"][-1], mean, 4.0 * kind["error"][-1])
                self.assertLess(kind["error"][-1], 0.03)
            # Over seeds 4.03, scatter 0.05; 1 without a difference of mass.
            self.near("light over heavy", heights["light"] / heights["heavy"], 4.0, 0.23)

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
        # Two and a half periods, each row's noise a third of the amplitude. Over seeds 1.000, scatter 0.0073: 4 of these.
        self.near("speed of sound over theory's", best[1] / theory, 1.0, 0.03)
        self.assertGreater(abs(best[1] / math.sqrt(2.0) - 1.0), 0.3, "an ideal gas's would be seen")
        # The program says the same. Its fit has theory's fading, and so is another one.
        _, verdict, _, _, measured, expected = self.theory("sound")["speed of sound [m·s⁻¹]"]
        self.assertEqual(verdict, "agrees")
        self.assertTrue(expected.startswith("2.20202, equation of state"), expected)
        self.near("the program's speed of sound", float(measured.split("(")[0]), best[1], 0.02)
        figure = self.figure("sound", "wall_pressure")
        self.assertIn("linear sound, x-min", figure)
        self.assertIn("linear sound, x-max", figure)


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
                # Enskog, at T = 1 and m = 1.
                rate = 2.0 * dimension / math.sqrt(math.pi) * excess / (2.0 * radius)
                self.assertAlmostEqual(row["collision_rate"], rate,
                                       delta=4.0 * row["collision_rate_se"] + 3.0 / balls * rate)

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
