"""Opens a sample trajectory (sample_trajectory.hpp) with other programs' readers, and compares it with the formulas.

usage: open_h5md.py h5py|mdanalysis|mdanalysis-frames FILE DIMENSION BALLS FRAMES single|double PERIODIC SOME_LEAVE
"""

import sys
import warnings

try:
    import h5py
    import numpy as np
    if sys.argv[1] != "h5py":
        warnings.simplefilter("ignore")
        import MDAnalysis
except ImportError as error:
    print(error)
    sys.exit(77)

MIN = np.array([-2.0, 1.0, 5.0])
SIZE = np.array([8.0, 4.0, 16.0])
LARGEST_DIAMETER = 0.5


class Sample:
    """Formulas of sample_frame."""

    def __init__(self, dimension, balls, frames, precision, periodic, some_leave):
        self.dimension, self.balls, self.frames = int(dimension), int(balls), int(frames)
        self.real = np.float32 if precision == "single" else np.float64
        self.periodic, self.some_leave = periodic == "1", some_leave == "1"
        self.i = np.arange(self.balls)

    def gone(self, k):
        return (self.i % 7 == 3) & self.some_leave & (k >= 2)

    def columns(self, k, formula, gone_value, dtype):
        values = np.zeros((self.balls, 3), dtype)
        for axis in range(self.dimension):
            values[:, axis] = formula(axis)
        values[self.gone(k)] = gone_value
        return values

    def position(self, k):
        return self.columns(
            k, lambda a: MIN[a] + SIZE[a] * ((37 * self.i * (a + 1) + 11 * k) % 1024) / 1024.0, np.nan, np.float64)

    def velocity(self, k):
        return self.columns(k, lambda a: 0.1 * ((self.i + 3 * k + a) % 17 - 8.0), np.nan, self.real)

    def spin(self, k):
        values = np.zeros((self.balls, 3), self.real)
        for axis in range(2 if self.dimension == 2 else 0, 3):
            values[:, axis] = 0.25 * ((self.i + axis) % 5)
        values[self.gone(k)] = np.nan
        return values

    def image(self, k):
        return self.columns(k, lambda a: (self.i + k) % 3 - 1 if self.periodic else 0, 0, np.int32)

    def ids(self, k):
        return np.where(self.gone(k), -1, self.i)

    def edges(self):
        size = SIZE.copy()
        if self.dimension == 2:
            size[2] = LARGEST_DIAMETER
        return np.diag(size)


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def check_h5py(path, sample):
    equal = np.testing.assert_array_equal
    with h5py.File(path, "r") as file:
        equal(file["h5md"].attrs["version"], [1, 1])
        assert text(file["h5md/creator"].attrs["name"]) == "carom"
        assert text(file["h5md/creator"].attrs["version"])
        assert "name" in file["h5md/author"].attrs
        group = file["particles/all"]
        for name, dtype, shape in (("position", np.float64, (3,)), ("velocity", sample.real, (3,)),
                                   ("spin", sample.real, (3,)), ("image", np.int32, (3,)),
                                   ("species", np.int32, ()), ("id", np.int32, ())):
            value = group[name]["value"]
            assert value.shape == (sample.frames, sample.balls) + shape, (name, value.shape)
            assert value.dtype == dtype, (name, value.dtype)
            equal(group[name]["time"], 0.5 * np.arange(sample.frames))
            equal(group[name]["step"], 500 * np.arange(sample.frames))
            for object_ in (group[name], value, group[name]["time"]):
                assert "unit" not in object_.attrs
        for k in range(sample.frames):
            equal(group["position/value"][k], sample.position(k))
            equal(group["velocity/value"][k], sample.velocity(k))
            equal(group["spin/value"][k], sample.spin(k))
            equal(group["image/value"][k], sample.image(k))
            equal(group["id/value"][k], sample.ids(k))
            equal(group["species/value"][k], sample.i % 3)
            equal(group["box/edges/value"][k], sample.edges())
        assert group["box"].attrs["dimension"] == 3
        boundary = [text(face) for face in group["box"].attrs["boundary"]]
        assert boundary == ["periodic" if sample.periodic else "none"] * 3
        # Elements share their clock instead of having copies.
        assert group["position/time"] == group["velocity/time"] == group["box/edges/time"]

        parameters = file["parameters"]
        assert text(parameters["scene"][()]) == '[scene]\ntitle = "a sample"  # ünïcödé\n'
        faces = [text(face) for face in parameters["box"].attrs["boundary"]]
        side = "periodic" if sample.periodic else "wall"
        ends = "open" if sample.some_leave else side
        assert faces == [ends] * 2 + [side] * 2 * (sample.dimension - 1), faces
        equal(parameters["box"].attrs["size"][:sample.dimension], SIZE[:sample.dimension])
        assert [text(name) for name in parameters["species/name"][()]] == ['pin "one"', "", "gas"]
        equal(parameters["species/radius"], [0.25, 0.125, 0.1])
        equal(parameters["species/mass"], [1.5, np.inf, 0.1])
        assert text(parameters["units"].attrs["length"]) == "m"
        assert text(parameters["summary"][()]) == '{"time": 1.5}'

        rows = np.arange(len(file["observables/kinetic_energy/time"]))
        assert len(rows) >= sample.frames
        equal(file["observables/kinetic_energy/time"], 0.05 * rows)
        equal(file["observables/kinetic_energy/value"], 100.0 + rows)
        equal(file["observables/momentum/value"], np.stack([0.1 * rows, -0.2 * rows], axis=1))
        assert text(file["observables/momentum/value"].attrs["unit"]) == "kg m s-1"


def check_mdanalysis(path, sample, rows=True):
    universe = MDAnalysis.Universe.empty(sample.balls, trajectory=False)
    universe.load_new(path, format="H5MD", convert_units=False)
    assert len(universe.trajectory) == sample.frames
    for k, frame in enumerate(universe.trajectory):
        np.testing.assert_array_equal(frame.positions, sample.position(k).astype(np.float32))
        np.testing.assert_array_equal(frame.velocities, sample.velocity(k).astype(np.float32))
        np.testing.assert_allclose(frame.dimensions, list(np.diag(sample.edges())) + [90.0] * 3)
        assert frame.time == 0.5 * k
        assert frame.data["step"] == 500 * k
        if rows:
            assert frame.data["kinetic_energy"] == 100.0 + k
    universe.trajectory[0]  # and back


if __name__ == "__main__":
    checks = {"h5py": check_h5py, "mdanalysis": check_mdanalysis,
              "mdanalysis-frames": lambda path, sample: check_mdanalysis(path, sample, rows=False)}
    checks[sys.argv[1]](sys.argv[2], Sample(*sys.argv[3:9]))
    print("ok")
