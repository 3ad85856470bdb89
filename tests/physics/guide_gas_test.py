"""The chapters of docs/physics.md on gases in equilibrium: each scene does what its chapter says. Seeds are the scenes'
own, so none fails by chance where the trajectory is the one it was. Tolerances are 4 standard errors, those of the averages
or the scatter measured over seeds 1 to 8. Of other seeds, or once another change has made another trajectory, one comparison
in 16,000 would fail if these were known exactly. A scatter of 8 values is itself known to a quarter only: then it is about
one in 140 (Student's t with 7 degrees of freedom beyond 4, and the mean as uncertain)."""

import math
import unittest

import numpy

from guide import GuideTest, average, disk_compressibility, rows


class GasInEquilibrium(GuideTest):
    def test_equal_speeds_become_maxwells(self):
        with self.run_scene("maxwell") as file:
            v, value, error = average(file, "speed")
            _, kurtosis, kurtosis_error = average(file, "kurtosis")
            start = file["particles/all/velocity/value"][0]
        numpy.testing.assert_allclose((start**2).sum(axis=1), 2.0, rtol=1e-12)
        # What a bin holds of P(v) = v exp(-v^2 / 2); T is 1 to one part in 2,000.
        half = 0.5 * (v[1] - v[0])
        law = (numpy.exp(-0.5 * (v - half)**2) - numpy.exp(-0.5 * (v + half)**2)) / (2.0 * half)
        used = law > 0.02 * law.max()
        rms = math.sqrt(numpy.mean(((value - law)[used] / error[used])**2))
        # Over seeds 0.98 with a scatter of 0.21, neighbours being nearly independent: once in 10^5.
        self.below("rms of the speeds in standard errors", rms, 2.0)
        self.assertLess(numpy.median(error[used] / law[used]), 0.02, "8 % off would be seen in each")
        degrees = 2.0 * 1999.0
        self.near("kurtosis in standard errors", (kurtosis - 3.0 * degrees / (degrees + 2.0)) / kurtosis_error, 0.0, 4.0)
        self.assertLess(kurtosis_error, 0.01)

    def test_an_atmosphere_is_as_dense_at_each_height_as_local_density_has_it(self):
        gravity = 0.083333333
        with self.run_scene("barometric") as file:
            time, temperature = rows(file, "temperature")
            mean = temperature[time >= 1500].mean()
            force = rows(file, "wall_pressure")[1][time > 1500, 2].mean() * 40.0
            y, density, error = average(file, "density")
            height, warm, warm_error = average(file, "temperature_profile")
        length = mean / gravity
        # Local density by its differential equation, d(phi Z)/dy = -phi / length, from a floor that all balls lie on.
        step = 0.05
        at = 0.5 + step * numpy.arange(int(200.0 / step))

        def profile(floor):
            def slope(phi):
                by = 1e-5 * phi
                return -phi / length * 2.0 * by / ((phi + by) * disk_compressibility(phi + by) -
                                                   (phi - by) * disk_compressibility(phi - by))

            phi = [floor]
            for _ in at[1:]:
                phi.append(phi[-1] + step * slope(phi[-1] + 0.5 * step * slope(phi[-1])))
            return numpy.array(phi)

        low, high = 0.05, 0.69
        for _ in range(30):
            floor = 0.5 * (low + high)
            balls = profile(floor).sum() * step * 40.0 / (math.pi / 4.0)
            low, high = (floor, high) if balls < 600.0 else (low, floor)
        theory = numpy.interp(y, at, profile(floor)) / (math.pi / 4.0)
        used = (y > 2.5) & (theory > 0.1 * theory.max())
        self.assertGreater(used.sum(), 15)
        # Theory itself is off by 2 to 3 %, which is more than the errors: the largest is 1.0 over seeds, scatter 0.2. Beyond
        # 4 is once in 10^5.
        off = (density - theory)[used] / numpy.hypot(error[used], 0.03 * theory[used])
        self.below("largest of the densities in errors", numpy.abs(off).max(), 4.0)
        self.assertLess(numpy.median(error[used] / theory[used]), 0.02)
        points = 600.0 / (40.0 * length)
        self.assertGreater(points, 2.0 * theory.max(), "points would be more than twice as dense at the floor")
        # Over seeds the scatter is 1.5e-4, by the momentum that balls have at the ends: 4 of these.
        self.near("force over weight", force / (600.0 * gravity), 1.0, 6e-4)
        # As warm at the top as at the floor: up to where a hundredth of the balls is left.
        counted = numpy.isfinite(warm_error) & (height < 4.0 * length)
        off = (warm - mean)[counted] / warm_error[counted]
        # Neighbours know of each other: over seeds beside 1 to 8 it is 1.14 with a scatter of 0.42, so 3 is 4 of these above.
        self.below("rms of the temperatures in standard errors", math.sqrt(numpy.mean(off**2)), 3.0)


if __name__ == "__main__":
    unittest.main()
