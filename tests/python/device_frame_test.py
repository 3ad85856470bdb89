"""Frames where the processor has them, as other programs read them. The GPU is the emulated one, whose memory is the host's."""

import ctypes
import gc
import os
import subprocess
import sys

import numpy as np
import pytest

import carom
from program import BUILD, GAS

pytestmark = pytest.mark.filterwarnings("ignore::carom.CaromWarning")  # of the gas, which is soft

REHEARSAL = BUILD / "tests" / "rehearsal"
CPU = (1, 0)  # kDLCPU, and its only number
NAMES = ("x", "y", "z", "vx", "vy", "vz", "position", "velocity", "image", "gone")
# Balls fly, some of them out of the box, in as many dimensions as one likes.
OPEN = {"box": {"size": [6.0, 6.0, 6.0], "boundary": ["open", "wall", "periodic"]}, "run": {"until": 2.0},
        "fill": [{"count": 50, "radius": 0.3, "mass": 1.0, "temperature": 4.0}]}


def opened(dimension):
    box = {key: value[:dimension] for key, value in OPEN["box"].items()}
    return carom.Scene({**OPEN, "scene": {"dimension": dimension, "seed": 3}, "box": box})


def same(device, frame):
    """Whether they hold the same numbers, NaN included, and the same arrays."""
    for name in NAMES:
        ours, other = getattr(frame, name), getattr(device, name)
        if ours is None or other is None:
            assert ours is other
            continue
        read = np.from_dlpack(other)
        assert read.shape == ours.shape == other.shape
        assert read.dtype == other.dtype
        np.testing.assert_array_equal(read.astype(ours.dtype), ours)
    assert (device.time, device.step, device.dimension, len(device)) == (frame.time, frame.step, frame.dimension, len(frame))


def try_all(backend):
    """What any processor's frames must be."""
    for dimension in (2, 3):
        for precision, number in (("single", np.float32), ("double", np.float64)):
            run = carom.Run(opened(dimension), backend=backend, precision=precision)
            begun = run.device_frame()
            same(begun, run.frame())
            run.advance(until=0.5)
            frame, device = run.frame(), run.device_frame()
            assert 0 < frame.gone.sum() < len(frame)  # else nothing is said of those
            assert not np.array_equal(np.from_dlpack(begun.x), frame.x, equal_nan=True)
            assert np.from_dlpack(device.velocity).dtype == number
            same(device, frame)
            # Its memory is its own: it stays when the run does not, and the run does not see what is written there.
            held = np.from_dlpack(device.velocity)
            ctypes.memset(np.from_dlpack(device.x).ctypes.data, 0, 8)
            assert run.state_hash == frame.state_hash
            run.advance()
            run.close()
            del run, device
            gc.collect()
            np.testing.assert_array_equal(held.astype(np.float64), frame.velocity)


def test_a_run_of_the_cpu_gives_memory_of_the_host():
    try_all("cpu")
    run = carom.Run(GAS, solver="events")
    same(run.device_frame(), run.frame())
    assert np.from_dlpack(run.device_frame().velocity).dtype == np.float64


def test_a_device_gives_its_own_memory():
    """In a process of its own, with a package of its own: see tests/CMakeLists.txt."""
    if not REHEARSAL.exists():
        assert not (BUILD / "bin/carom_rehearsal").exists(), "a build with the emulated backend has it for Python, too"
        pytest.skip("this build has no emulated backend")
    paths = [str(REHEARSAL), os.path.dirname(__file__), os.environ["PYTHONPATH"]]
    program = ("import warnings, device_frame_test as test, carom\n"
               "warnings.simplefilter('ignore')\n"
               "test.try_all('cuda')\n"
               "run = carom.Run(test.GAS, backend='cuda')\n"
               "device = run.device_frame()\n"
               "print(run._run.frame(), device.device, device.x.__dlpack_device__(), "
               "hasattr(device.x, '__cuda_array_interface__'), carom.__file__)\n")
    done = subprocess.run([sys.executable, "-B", "-c", program], env=dict(os.environ, PYTHONPATH=os.pathsep.join(paths)),
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split(">", 1)[1].split() == ["cpu", "(1,", "0)", "False", str(REHEARSAL / "carom/__init__.py")]


@pytest.fixture
def column():
    return carom.Run(GAS).device_frame().position


def name_of(capsule):
    ask = ctypes.pythonapi.PyCapsule_GetName
    ask.restype, ask.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return ask(capsule)


def test_the_protocol_is_kept(column):
    assert column.__dlpack_device__() == CPU
    assert column.device == "cpu"
    assert repr(column) == "<carom.DeviceArray of shape (200, 2), <f8, on cpu>"
    assert not hasattr(column, "__cuda_array_interface__")
    assert name_of(column.__dlpack__()) == b"dltensor"
    assert name_of(column.__dlpack__(max_version=(0, 8))) == b"dltensor"
    assert name_of(column.__dlpack__(max_version=(1, 0), dl_device=CPU, copy=False)) == b"dltensor_versioned"
    for wrong in ({"stream": 1}, {"dl_device": (2, 0)}, {"copy": True}):
        with pytest.raises(BufferError):
            column.__dlpack__(**wrong)
    for wrong in ({"max_version": 1}, {"dl_device": "cpu"}, {"streams": None}):
        with pytest.raises(TypeError):
            column.__dlpack__(**wrong)


def test_numpy_reads_in_place(column):
    read, array = np.from_dlpack(column), np.asarray(column)
    assert read.ctypes.data == array.ctypes.data
    assert np.shares_memory(read, array)
    assert read.strides == (8, 1600)
    assert np.array(column, dtype=np.float32).dtype == np.float32
    before = read.copy()
    del column
    gc.collect()
    np.testing.assert_array_equal(read, before)
    np.testing.assert_array_equal(array, before)


def test_a_frame_that_nobody_holds_goes():
    """A hundred of 8 MB each would not be missed by a machine, but here they are counted."""
    run = carom.Run({"scene": {"dimension": 2}, "box": {"size": [500.0, 500.0]}, "run": {"until": 1.0},
                     "fill": [{"count": 100_000, "radius": 0.5, "mass": 1.0, "arrangement": "lattice"}]}, threads=1)

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    run.device_frame()
    before = resident()
    for number in range(100):
        device = run.device_frame()
        if number % 3 == 0:
            np.from_dlpack(device.position)
        elif number % 3 == 1:
            device.position.__dlpack__(max_version=(1, 0))  # nobody takes it
    del device
    assert resident() - before < 60e6  # of 310


def test_arrays_of_frames_keep_to_numpys_rules():
    """NumPy hands arrays on that cannot be written only with a word for that, which came with its version 2.1."""
    frame = carom.Run(GAS).frame()
    try:
        read = np.from_dlpack(frame.x)
    except BufferError:
        assert tuple(map(int, np.__version__.split(".")[:2])) < (2, 1)
    else:
        assert not read.flags.writeable
        assert np.shares_memory(read, frame.x)
