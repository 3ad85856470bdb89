"""The chapters of docs/physics.md on walls that drive a gas: each scene does what its chapter says. Seeds are the scenes'
own."""

import math
import unittest

import numpy

from guide import GuideTest, average, disk_compressibility, rows


def conductivity(phi, temperature, diameter):
    """Enskog's of disks (Gass 1971), written as he does, with y = b chi."""
    b = 2.0 * phi
    y = disk_compressibility(phi) - 1.0
    thin = 1.0292 * 2.0 / diameter * numpy.sqrt(temperature / math.pi)
    return thin * b * (1.0 / y + 1.5 + 0.8718 * y)


class Walls(GuideTest):
    def test_heat_flows_between_walls_as_enskog_says(self):
        with self.run_scene("temperature_gradient") as file:
            time, heat = rows(file, "wall_heat")
            x, temperature, error = average(file, "temperature_profile")
            _, density, _ = average(file, "density")
        density = density.reshape(-1, 2).mean(axis=1)  # slices half as wide
        late = time >= 500
        flows = (heat[late][-1, :2] - heat[late][0, :2]) / (time[late][-1] - time[late][0]) / 40.0
        flow = 0.5 * (flows[0] - flows[1])
        inside = (x > 10.0) & (x < 50.0)  # two mean free paths of the hot side and more
        here = conductivity(density[inside] * math.pi / 4.0 * 0.25, temperature[inside], 0.5)
        between = 0.5 * (here[1:] + here[:-1])
        theory = -(between * numpy.diff(temperature[inside])).sum() / (x[inside][-1] - x[inside][0])
        print(f"flow {flow:.4f} {flows} over theory {flow / theory:.4f}")
        # Shape: T^(3/2) is straighter than T, seen by the middle against the ends.
        def bend(values):
            line = numpy.polyfit(x[inside], values, 2)
            return -2.0 * line[0] * 20.0**2 / (values.max() - values.min())
        print(f"bend T {bend(temperature[inside]):.4f} T32 {bend(temperature[inside]**1.5):.4f}")
        print(f"jumps {4.0 - temperature[0]:.3f} {temperature[-1] - 1.0:.3f}  error {error.max():.4f}")
        print("profile", numpy.round(temperature, 3))


if __name__ == "__main__":
    unittest.main()
