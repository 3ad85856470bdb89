"""Stored runs from Python: what the file holds, read when it is looked at."""

import gc
import os
import shutil
import threading

import h5py
import numpy as np
import pytest

import carom
from program import GAS, ends

pytestmark = pytest.mark.filterwarnings("ignore::carom.CaromWarning")  # of the gas, which is soft
OBSERVED = '[[observe]]\nname = "v"\nkind = "speed"\nbins = 12\nevery = 0.01\n'


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A run with its file."""
    run = carom.Run(carom.Scene(GAS + OBSERVED), output=tmp_path_factory.mktemp("stored") / "gas.h5", keep_frames=True)
    run.advance()
    return run


def test_frames_are_those_of_the_run_by_index_slice_and_time(stored):
    frames = stored.frames
    with carom.open(stored.output) as trajectory:
        assert len(trajectory) == len(frames) == 6
        assert [frame.state_hash for frame in trajectory] == [frame.state_hash for frame in frames]
        assert trajectory[-1].state_hash == stored.state_hash
        assert np.array_equal(trajectory[-1].position, stored.frame().position)
        assert list(trajectory.times) == [frame.time for frame in frames]
        assert list(trajectory[::-2].steps) == [500, 300, 100]
        assert trajectory[1:3][-1].state_hash == frames[2].state_hash
        assert len(trajectory[4:2]) == 0
        assert trajectory.at(0.22).time == frames[2].time
        for index in (6, -7):
            with pytest.raises(IndexError):
                trajectory[index]
        for index in (1.0, "1", None):
            with pytest.raises(TypeError):
                trajectory[index]
        for time in (float("nan"), float("inf")):
            with pytest.raises(ValueError, match="time is"):
                trajectory.at(time)


def test_a_cell_of_a_map_is_where_its_ball_is(tmp_path):
    scene = carom.Scene({"scene": {"dimension": 2}, "box": {"size": [4.0, 2.0]}, "run": {"until": 0.1},
                         "ball": [{"radius": 0.1, "mass": 1.0, "position": [0.6, 1.2], "velocity": [0.5, -0.25]}],
                         "observe": [{"name": "n", "kind": "density_map", "bins": 8, "every": 0.01},
                                     {"name": "v", "kind": "velocity_map", "bins": 8, "every": 0.01}]})
    run = carom.Run(scene, output=tmp_path / "map.h5")
    run.advance()
    for averages in (run.averages, carom.open(tmp_path / "map.h5").averages):
        density, flow = averages["n"], averages["v"]
        [[i, j]] = np.argwhere(density.value > 0.0)
        assert (density.x[i], density.y[j]) == (0.75, 1.25)
        assert density.value.shape == density.error.shape == (len(density.x), len(density.y)) == (8, 4)
        assert flow.value.shape == (2, 8, 4)
        assert flow.value[:, i, j] == pytest.approx([0.5, -0.25])
        with h5py.File(tmp_path / "map.h5") as file:
            assert np.array_equal(file["observables/v/value"][-1], flow.value.swapaxes(1, 2), equal_nan=True)


def test_rows_averages_and_summary_are_those_of_the_run(stored):
    trajectory = carom.open(stored.output)
    assert trajectory.rows.dtype == stored.rows.dtype
    assert trajectory.rows.tobytes() == stored.rows.tobytes()
    with h5py.File(stored.output) as file:
        assert np.array_equal(file["observables/kinetic_energy/value"], trajectory.rows["kinetic_energy"])
    assert np.array_equal(trajectory.averages["v"].value, stored.averages["v"].value)
    assert trajectory.averages["v"].table.dtype == stored.averages["v"].table.dtype
    assert trajectory.averages_at(1)["v"].samples < trajectory.averages["v"].samples
    assert trajectory.summary == stored.summary
    assert trajectory.title == "small gas"
    assert trajectory.changes == []
    assert trajectory.solver["dt"] == 1e-3
    again = carom.Run(trajectory.scene)
    again.advance()
    assert again.state_hash == stored.state_hash


def test_a_closed_file_says_so_and_frames_that_were_read_stay(stored):
    trajectory = carom.open(stored.output)
    frame = trajectory[0]
    x = frame.x
    kept = x.copy()
    trajectory.close()
    trajectory.close()
    for look in (lambda: trajectory[0], lambda: trajectory.rows, lambda: trajectory.summary,
                 lambda: trajectory.times, lambda: trajectory.at(0.1), lambda: trajectory.averages_at(0)):
        with pytest.raises(RuntimeError, match="closed"):
            look()
    del frame, trajectory
    gc.collect()
    assert np.array_equal(x, kept)


def test_a_file_may_be_read_while_its_run_goes_on(tmp_path):
    run = carom.Run(GAS, output=tmp_path / "live.h5")
    run.advance(until=0.3)
    assert len(run.rows) == 7  # and what has been taken is in the file
    assert [round(time, 3) for time in carom.open(run.output).times] == [0.0, 0.1, 0.2, 0.3]
    assert carom.open(run.output).summary is None
    run.advance()
    assert carom.open(run.output)[-1].state_hash == run.state_hash


def test_what_is_no_trajectory_is_refused(stored, tmp_path):
    text = tmp_path / "text.h5"
    text.write_text("no trajectory\n")
    with pytest.raises(carom.InputError):
        carom.open(text)
    with pytest.raises(carom.InputError):
        carom.open(stored.output.replace("gas.h5", "gas.checkpoint.h5"))
    with pytest.raises(carom.SystemError):
        carom.open(tmp_path / "never.h5")
    whole = open(stored.output, "rb").read()
    for length in (0, 100, len(whole) // 2):
        cut = tmp_path / f"cut{length}.h5"
        cut.write_bytes(whole[:length])
        with pytest.raises(carom.Error):
            carom.open(cut)[-1]


def test_several_threads_may_read(stored):
    trajectory = carom.open(stored.output)
    hashes = []

    def read():
        hashes.append([trajectory[k].state_hash for k in range(len(trajectory)) for _ in range(5)])

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(hashes) == 4
    assert all(one == hashes[0] for one in hashes)


def test_a_child_may_read_though_other_threads_of_its_parent_did(stored):
    trajectory = carom.open(stored.output)
    over = threading.Event()

    def read():
        while not over.is_set():
            trajectory[3].x.sum()
    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    statuses = []
    for _ in range(20):
        child = os.fork()
        if child == 0:
            same = trajectory[3].state_hash == carom.open(stored.output)[3].state_hash
            os._exit(0 if same else 1)
        statuses.append(ends(child))
    over.set()
    for thread in threads:
        thread.join()
    assert statuses == 20 * [0]


def test_what_hdf5_says_of_a_damaged_file_is_in_the_exception_alone(stored, tmp_path, capfd):
    shutil.copy(stored.output, tmp_path / "bad.h5")
    with h5py.File(tmp_path / "bad.h5", "r+") as file:
        place = file["particles/all/velocity"]
        numbers = place["value"].shape
        del place["value"]
        place.create_dataset("value", numbers, dtype=h5py.string_dtype())  # texts, which are no numbers
    damaged = carom.open(tmp_path / "bad.h5")
    told = []

    def read():  # HDF5 is told to be silent by each thread
        with pytest.raises(carom.InputError, match="bad.h5") as error:
            damaged[0]
        told.append(error)
    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    assert len(told) == 1
    assert capfd.readouterr().err == ""
