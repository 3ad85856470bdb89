"""Runs from Python: the bits of the shell's, arrays that stay, and errors that never end the interpreter."""

import copy
import gc
import itertools
import json
import multiprocessing
import os
import pathlib
import pickle
import re
import resource
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import carom
from program import GAS, PROGRAM, SOURCE, ends

pytestmark = pytest.mark.filterwarnings("ignore::carom.CaromWarning")  # of the gas, which is soft

SCENES = sorted(path.stem for path in (SOURCE / "scenes").glob("*.toml") if ".sweep" not in path.name)
# What two runs of the same bits may differ in.
OTHERWISE = {"wall_seconds", "step_seconds", "observables_seconds", "ball_steps_per_second", "collisions_per_second",
             "events_per_second", "output", "checkpoint", "memory_bytes"}


def of_shell(scene, folder, *options):
    """What `carom run --json` says of a run."""
    command = [PROGRAM, "run", str(scene), "--json", "--quiet", "-o", str(folder / "shell.h5"), "--force", *options]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def same(summary, other):
    return {key: value for key, value in summary.items() if key not in OTHERWISE} == {
        key: value for key, value in other.items() if key not in OTHERWISE}


@pytest.fixture
def gas():
    return carom.Scene(GAS)


@pytest.mark.parametrize("name", SCENES)
def test_a_run_has_the_bits_of_the_same_run_from_the_shell(name, tmp_path):
    assert len(SCENES) >= 25
    until = carom.Scene(name)["run.until"] / 200
    expected = of_shell(name, tmp_path, "--until", repr(until), "--threads", "2")
    run = carom.Run(name, until=until, threads=2)
    run.advance(until=until / 3)  # where one stops changes nothing
    run.advance()
    assert run.ended
    assert run.state_hash == expected["state_hash"]
    assert same(run.summary, expected)


def test_other_threads_and_solvers_have_those_of_the_shell(gas, tmp_path):
    file = tmp_path / "gas.toml"
    file.write_text(GAS)
    for solver in ("spring", "events"):
        expected = of_shell(file, tmp_path, "--solver", solver, "--precision", "double", "--seed", "3")
        for threads in (1, 2):
            run = carom.Run(gas, solver=solver, precision="double", seed=3, threads=threads)
            run.advance()
            assert run.state_hash == expected["state_hash"]


def test_steps_are_those_of_the_spring_solver(gas):
    run = carom.Run(gas)
    run.step(5)
    run.step()
    assert run.steps == 6
    assert run.time == pytest.approx(6e-3)
    run.step(0)
    assert run.steps == 6
    for count in (-1, 1.5, True, "2", 2**63, 2**64, 2**70):
        with pytest.raises(ValueError, match=f"^count is {count!r}; allowed: .*$"):
            run.step(count)
    with pytest.raises(carom.InputError, match="^the events solver has no steps; advance.*$") as error:
        carom.Run(gas, solver="events").step()
    assert error.value.file is None


def test_a_time_whose_nearest_step_is_the_present_one_is_there():
    ball = {"radius": 0.5, "mass": 1.0, "position": [5.0, 5.0], "velocity": [0.01, 0.0]}
    scene = {"scene": {"dimension": 2}, "box": {"size": [10.0, 10.0]}, "ball": [ball],
             "run": {"solver": "spring", "until": 1.0}, "spring": {"dt": 0.05}}
    run = carom.Run(carom.Scene(scene))
    steps = []
    for k in range(1, 11):
        run.advance(until=0.01 * k)
        steps.append(run.steps)
    assert steps == [0, 0, 1, 1, 1, 1, 1, 2, 2, 2]
    for until in (0.07, -1.0):
        with pytest.raises(ValueError, match="until is"):
            run.advance(until=until)


def test_masked_velocities_are_those_of_balls_that_have_left():
    balls = [{"radius": 0.25, "mass": 1.0, "position": [1.0 + 4.0 * k, 3.0], "velocity": [2.0 * k, 0.0]} for k in range(2)]
    run = carom.Run(carom.Scene({
        "scene": {"dimension": 2}, "box": {"size": [6.0, 6.0], "boundary": ["open", "wall"]}, "ball": balls, "run": {"until": 2.0}}))
    run.advance(until=1.5)
    assert run.frame().gone.tolist() == [0, 1]
    below = np.ma.array([[1, 2], [3, 4]])
    for mask, row in (([[0, 1], [1, 1]], 0), ([[0, 0], [0, 1]], None)):
        below.mask = mask
        for velocity in (below, list(below)):
            if row is None:
                run.set_velocities(velocity)
            else:
                with pytest.raises(ValueError, match=f"velocity of ball {row} is .*nan"):
                    run.set_velocities(velocity)
    assert run.frame().velocity[0].tolist() == [1.0, 2.0]


def test_a_frame_without_balls_has_no_third_axis_in_2d():
    for dimension, none in ((2, {"z", "vz", "spin_x", "spin_y"}), (3, set())):
        frame = carom.Run({"scene": {"dimension": dimension}, "box": {"size": [6.0] * dimension}, "run": {"until": 1.0}}).frame()
        assert len(frame) == 0
        names = ("x", "y", "z", "vx", "vy", "vz", "spin_x", "spin_y", "spin_z")
        assert {name for name in names if getattr(frame, name) is None} == none


def test_balls_that_have_all_left_are_not_unevenly_spread():
    balls = [{"radius": 0.25, "mass": 1.0, "position": [3.0, 0.5 + 0.6 * k], "velocity": [2.0, 0.0]} for k in range(9)]
    run = carom.Run(carom.Scene({
        "scene": {"dimension": 2}, "box": {"size": [6.0, 6.0], "boundary": ["open", "wall"]}, "ball": balls,
        "run": {"solver": "events", "until": 10.0}, "output": {"every": 0.1, "observables_every": 0.05}}))
    run.advance()
    assert run.summary["balls_left"] == 9
    assert "unevenly" not in run.summary["means"]["reason"]


def test_times_that_cannot_be_reached_are_refused(gas):
    run = carom.Run(gas)
    run.advance(until=0.1)
    for until in (0.05, -1.0, float("nan"), float("inf"), 0.6):
        with pytest.raises(ValueError, match="until is"):
            run.advance(until=until)
    with pytest.raises((TypeError, ValueError)):
        run.advance(until="later")
    run.advance(until=0.1)
    run.advance(until=0.5)
    assert run.ended
    run.close()  # ends what has ended: nothing
    assert run.summary["exit_status"] == 0
    with pytest.raises(RuntimeError, match="has ended"):
        run.save("never.h5")


def test_a_frame_stays_when_the_run_goes_on_or_is_no_more(gas):
    run = carom.Run(gas)
    frame = run.frame()
    x = frame.x
    kept = x.copy()
    run.advance(until=0.2)
    assert np.array_equal(x, kept)
    assert not np.array_equal(run.frame().x, kept)
    del run, frame
    gc.collect()
    filler = [np.full(200, 7.0) for _ in range(100)]  # where the memory was, if it was given back
    assert np.array_equal(x, kept)
    assert len(filler) == 100


def test_arrays_are_views_that_cannot_be_written(gas):
    frame = carom.Run(gas).frame()
    assert frame.x.base is not None
    assert frame.x.__array_interface__["data"][0] == frame.x.__array_interface__["data"][0]
    for array in (frame.x, frame.vx, frame.species, frame.gone, frame.position, frame.velocity, frame.radius,
                  frame.mass, frame.image, frame.spin_z):
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(ValueError):
        frame.x.flags.writeable = True
    assert frame.position is frame.position
    assert frame.position.shape == (200, 2)
    assert np.array_equal(frame.position[:, 1], frame.y)
    assert np.array_equal(frame.velocity[:, 0], frame.vx)
    assert frame.z is None
    assert len(frame) == 200
    assert set(frame.radius) == {0.5}
    assert set(frame.mass) == {1.0}
    assert frame.box_size == (24.0, 24.0)


def test_totals_are_those_of_the_balls(gas):
    run = carom.Run(gas)
    run.advance(until=0.3)
    frame, totals = run.frame(), run.totals
    assert totals.kinetic == pytest.approx(0.5 * (frame.mass[:, None] * frame.velocity**2).sum(), rel=1e-6)
    assert totals.momentum[0] == pytest.approx((frame.mass * frame.vx).sum(), abs=1e-4)
    assert totals.balls == 200
    assert totals.energy == totals.kinetic + totals.rotational + totals.spring + totals.gravitational


def test_rows_and_frames_stay_in_memory(gas):
    run = carom.Run(gas, keep_frames=True)
    run.advance(until=0.3)
    assert list(run.rows["time"]) == pytest.approx([0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3])
    assert [frame.time for frame in run.frames] == pytest.approx([0.0, 0.1, 0.2, 0.3])
    assert run.rows["kinetic_energy"][-1] == run.totals.kinetic
    assert tuple(run.rows["momentum"][-1]) == run.totals.momentum
    assert run.frames[-1].state_hash == run.state_hash
    with pytest.raises(RuntimeError, match="goes on"):
        run.summary
    assert carom.Run(gas).frames == []


def test_averages_are_those_of_the_summary(gas):
    gas = carom.Scene(GAS + '[[observe]]\nname = "v"\nkind = "speed"\nbins = 12\nevery = 0.01\n'
                      '[[observe]]\nname = "k"\nkind = "kurtosis"\nevery = 0.01\n'
                      '[[observe]]\nname = "components"\nkind = "velocity"\nbins = 24\nevery = 0.01\n'
                      '[[observe]]\nname = "time"\nkind = "displaced"\n'
                      '[[observe]]\nname = "time_"\nkind = "displaced"\n')
    run = carom.Run(gas)
    run.advance()
    speed, kurtosis, velocity = run.averages["v"], run.averages["k"], run.averages["components"]
    assert run.rows.dtype.names.count("time") == 1
    assert list(run.rows["time_"]) == list(run.rows["time__"])
    assert speed.value.shape == speed.x.shape == (12,)
    assert speed.table.dtype.names == ("x", "value", "error")
    assert speed.samples > 40
    assert velocity.value.shape == (2, 24)
    assert velocity.table.dtype.names == ("x", "value_x", "value_x_error", "value_y", "value_y_error")
    assert np.array_equal(velocity.table["value_y"], velocity.value[1], equal_nan=True)
    assert kurtosis.value.shape == ()
    assert float(kurtosis.value) == run.summary["averages"]["k"]["mean"]


def test_balls_are_added_to_those_that_stand_as_one_value():
    tables = {"scene": {"dimension": 2}, "box": {"size": [9.0, 9.0]}}
    ball = {"radius": 0.1, "mass": 1.0, "position": [3.0, 3.0]}
    set_whole = carom.Scene(tables)
    set_whole["ball"] = [ball]
    set_whole["species"] = [{"name": "a", "radius": 0.1, "mass": 1.0}]
    inline = carom.Scene("\ufeffball = [{radius = 0.1, mass = 1.0, position = [3.0, 3.0]}]\n[scene]\ndimension = 2\n[box]\nsize = [9.0, 9.0]\n")
    lines = carom.Scene("box.size = [9.0, 9.0]\nscene.dimension = 2\nbox.wall_temperature = [\n  [0.0, 0.0], 0.0]\n"
                        "scene.title = \"\"\"\n[box]\"\"\"\n\"ball\" = [{radius = 0.1, mass = 1.0, position = [3.0, 3.0]}]\n")
    for scene, before in ((set_whole, 1), (carom.Scene({**tables, "ball": [], "species": []}), 0), (inline, 1), (lines, 1)):
        scene.add_balls([[2.0, 2.0]], radius=0.1, mass=1.0)
        scene.add_balls([[6.0, 6.0]], radius=0.2, mass=1.0, species="b")
        scene["run.until"] = 0.5
        scene.add_balls([[7.0, 2.0]], species="b")
        assert scene.check()["balls"] == before + 3
        assert scene["run.until"] == 0.5
        assert carom.Run(scene).frame().position[before:].tolist() == [[2.0, 2.0], [6.0, 6.0], [7.0, 2.0]]


def test_errors_tell_files_and_keys_apart(gas):
    with pytest.raises(carom.InputError) as caught:
        carom.Run(gas).kick(0, [1e308, 0.0])
    assert (caught.value.file, caught.value.line) == (None, None)
    with pytest.raises(TypeError, match="threads is no option of sweep"):
        carom.sweep("two_balls", {"scene.seed": [1]}, ["balls"], threads=1)


# Callbacks.


def test_callbacks_come_at_multiples_of_their_interval(gas):
    run = carom.Run(gas)
    seen = []
    run.every(0.1, lambda run: seen.append(("a", run.time, run.frame().time)))
    run.every(0.25, lambda run: seen.append(("b", run.time, run.totals.balls)))
    run.advance(until=0.12)
    run.advance()
    assert [entry[0] for entry in seen] == ["a", "a", "b", "a", "a", "a", "b"]
    assert [entry[1] for entry in seen] == pytest.approx([0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.5])
    plain = carom.Run(gas)
    plain.advance()
    assert plain.state_hash == run.state_hash


def test_an_exception_in_a_callback_comes_out_and_the_run_can_go_on(gas):
    class Mine(Exception):
        pass

    run = carom.Run(gas)
    calls = []

    def fail(run):
        calls.append(run.time)
        if len(calls) == 2:
            raise Mine("why")

    run.every(0.1, fail)
    with pytest.raises(Mine, match="why"):
        run.advance()
    assert run.time == pytest.approx(0.2)
    assert not run.ended
    run.advance()
    assert calls == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5])
    plain = carom.Run(gas)
    plain.advance()
    assert plain.state_hash == run.state_hash


@pytest.mark.parametrize("time", [0.25, 0.5])
def test_what_a_callback_raises_takes_no_others_turn(time, gas):
    run = carom.Run(gas)
    seen = []

    def fail(run):
        raise LookupError("first")

    def fail_too(run):
        seen.append("second")
        raise ValueError("second")

    run.every(time, fail)
    run.every(time, fail_too)
    run.every(time, lambda run: seen.append(run.time))
    with pytest.raises(LookupError, match="first") as raised:
        run.advance()
    assert raised.value.__notes__ == ["Of another callback at this time: ValueError('second')"]
    assert seen == ["second", pytest.approx(time)]
    assert run.ended == (time == 0.5)


@pytest.mark.parametrize("where", ["end", "callback"])
def test_control_c_at_the_end_takes_no_callbacks_turn(where, gas, monkeypatch):
    run = carom.Run(gas)
    seen = []

    class Interrupted:
        """The run, and Ctrl-C while its end is written."""

        def __getattr__(self, name):
            return getattr(own, name)

        def advance(self, goal):
            own.advance(goal)
            if own.summary is not None and where == "end":
                raise KeyboardInterrupt

    def fail(run):
        if where == "callback":
            raise KeyboardInterrupt
        raise ValueError("too")

    own = run._run
    run.every(0.5, fail)
    run.every(0.5, lambda run: seen.append(run.time))
    monkeypatch.setattr(run, "_run", Interrupted())
    with pytest.raises(KeyboardInterrupt) as raised:
        run.advance()
    assert run.ended
    assert seen == [run.time]
    assert getattr(raised.value, "__notes__", []) == (["Of another callback at this time: ValueError('too')"] if where == "end" else [])


def test_a_callback_far_more_often_than_steps_is_called_at_each(gas):
    run = carom.Run(gas)
    seen = []
    run.every(1e-300, lambda run: seen.append(run.steps))
    run.advance(until=0.02)
    assert seen == list(range(1, 21))


def test_names_of_files_may_have_any_byte_but_a_nul(gas, tmp_path):
    odd = os.fsdecode(bytes(tmp_path) + b"/\xff.h5")
    run = carom.Run(gas, output=odd)
    run.close()
    assert run.output == odd
    for name in (odd, os.fsencode(odd)):
        assert len(carom.open(name)) > 0
    with pytest.raises(carom.InputError, match="exists already") as refused:
        carom.Run(gas, output=odd)
    assert odd in str(refused.value)
    with pytest.raises(carom.SystemError) as missing:
        carom.open(odd + ".none")
    assert odd in str(missing.value)
    whole = str(tmp_path / "whole.h5")
    for action in (lambda: carom.Run(gas, output=whole + "\0x"), lambda: carom.open(odd + "\0x"), lambda: carom.Scene("gas2d\0x"),
                   lambda: carom.Run(gas, solver="events", events_log=whole + "\0x"), lambda: run.save(whole + "\0x")):
        with pytest.raises(ValueError, match="null"):
            action()
    assert not os.path.exists(whole)


def test_a_pipe_is_waited_for_while_other_threads_go_on(tmp_path):
    os.mkfifo(tmp_path / "pipe.toml")
    os.mkfifo(tmp_path / "log.csv")
    program = """
import carom, pathlib, sys, threading
GAS = sys.argv[1]
threading.Timer(0.2, lambda: pathlib.Path("pipe.toml").write_text(GAS)).start()
scene = carom.Scene(pathlib.Path("pipe.toml"))
lines = []
threading.Timer(0.2, lambda: lines.extend(open("log.csv"))).start()
carom.Run(scene, solver="events", until=0.1, events_log="log.csv", force=True).close()
for thread in threading.enumerate():
    if thread is not threading.main_thread():
        thread.join()
print(len(lines) > 0)
"""
    done = subprocess.run([sys.executable, "-c", program, GAS], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


def test_what_the_classes_are_made_of_refuses_what_it_cannot_take(gas):
    run = carom.Run(gas)
    with pytest.raises(ValueError, match="three"):
        run._run.set_velocities(np.zeros((200, 7)))
    for shape in ((199, 2), (0, 2), (201, 2), (200, 1), (200, 3)):
        with pytest.raises(carom.InputError, match="velocities of .* balls along axis .; allowed: of"):
            run._run.set_velocities(np.zeros(shape))
    with pytest.raises(ValueError, match="three"):
        run._run.kick(0, [1.0] * 1000, False)
    prepared = gas._prepare()
    carom._carom.begin_run(prepared, "", "", 0.0, "", False, False, [])
    for again in (prepared.check, lambda: carom._carom.run_in_memory(prepared, carom._carom.make_stop()),
                  lambda: carom._carom.begin_run(prepared, "", "", 0.0, "", False, False, [])):
        with pytest.raises(RuntimeError, match="already"):
            again()


CLASSES = sorted(name for name, value in vars(carom._carom).items() if isinstance(value, type))


@pytest.mark.parametrize("name", CLASSES)
def test_nothing_of_what_the_classes_are_made_of_is_made_but_by_them(name):
    """pybind11 takes memory that nobody has filled for the object of one that was made by __new__."""
    kind = getattr(carom._carom, name)

    class Late(kind):
        def __init__(self):
            pass
    for make in (kind, lambda: kind.__new__(kind), lambda: object.__new__(kind), Late, lambda: kind.__base__.__new__(kind)):
        with pytest.raises(TypeError):
            make()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_what_is_cpps_cannot_be_pickled_or_copied(gas, protocol):
    run = carom.Run(gas)
    frame = run.frame()
    for one in (frame, frame.species_table[0], run.totals, run.device_frame(), run.device_frame().position, run._run):
        for again in (lambda: pickle.dumps(one, protocol), lambda: copy.copy(one), lambda: copy.deepcopy(one)):
            with pytest.raises(TypeError, match="cannot pickle 'carom"):
                again()


def test_one_thread_changes_a_run_while_others_look_at_it(gas):
    run = carom.Run(gas, until=1e6)
    end = time.monotonic() + 2.0
    wrong = []

    def again(what):
        while time.monotonic() < end:
            try:
                what()
            except RuntimeError as error:
                if "in use by another thread" not in str(error):
                    wrong.append(error)
            except Exception as error:
                wrong.append(error)

    gravity = itertools.count()
    threads = [threading.Thread(target=again, args=(what,)) for what in
               (lambda: run.change({"physics.gravity": [0.0, -1.0 - next(gravity) % 3]}), lambda: run.advance(until=run.time + 1e-3),
                lambda: run.step(1), lambda: run.until, lambda: run.text, lambda: run.changes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert next(gravity) > 1


def test_a_callback_cannot_drive_the_run_that_calls_it(gas):
    run = carom.Run(gas)
    told = []

    def meddle(run):
        for action in (run.advance, run.step, run.close):
            with pytest.raises(RuntimeError, match="goes on"):
                action()
            told.append(action)

    run.every(0.2, meddle)
    run.advance()
    assert len(told) == 6


def test_a_run_may_be_deleted_in_its_callback(gas):
    holder = {"run": carom.Run(gas)}
    frames = []

    def delete(run):
        frames.append(run.frame())
        holder.clear()
        gc.collect()

    holder["run"].every(0.1, delete)
    holder["run"].advance()
    assert [frame.time for frame in frames] == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5])
    assert np.isfinite(frames[0].x).all()


@pytest.mark.parametrize("interval", [0.0, -1.0, float("nan"), float("inf")])
def test_an_interval_that_is_none_is_refused(gas, interval):
    with pytest.raises(ValueError, match="interval"):
        carom.Run(gas).every(interval, print)
    with pytest.raises(TypeError):
        carom.Run(gas).every(0.1, 3)


# Files.


def test_files_are_those_of_the_command_line(gas, tmp_path):
    file = tmp_path / "gas.toml"
    file.write_text(GAS)
    expected = of_shell(file, tmp_path)
    with carom.Run(gas, output=tmp_path / "here.h5", checkpoint_every=0.2) as run:
        run.advance()
    assert same(run.summary, expected)
    assert run.summary["frames"] == expected["frames"]
    assert (tmp_path / "here.checkpoint.h5").exists()
    frames = [subprocess.run([PROGRAM, "state", str(tmp_path / name), "--last", "--csv"], capture_output=True).stdout
              for name in ("here.h5", "shell.h5")]
    assert frames[0] == frames[1] != b""
    with pytest.raises(carom.InputError, match="exists"):
        carom.Run(gas, output=tmp_path / "here.h5")
    carom.Run(gas, output=tmp_path / "here.h5", force=True).close()
    with pytest.raises(carom.SystemError):
        carom.Run(gas, output=tmp_path / "nowhere" / "here.h5")


def test_a_run_that_is_closed_or_dropped_early_leaves_whole_files(gas, tmp_path):
    for name in ("closed", "dropped"):
        run = carom.Run(gas, output=tmp_path / f"{name}.h5")
        run.advance(until=0.23)
        if name == "closed":
            run.close()
            assert run.ended
        del run
        gc.collect()
        resumed = carom.resume(tmp_path / f"{name}.checkpoint.h5")
        assert resumed.time == pytest.approx(0.23)
        resumed.advance()
        whole = carom.Run(gas)
        whole.advance()
        assert resumed.state_hash == whole.state_hash


def test_files_stay_where_the_run_began(gas, tmp_path, monkeypatch):
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    run = carom.Run(gas, solver="events", output="gas.h5", checkpoint="last.h5", events_log="gas.csv")
    run.advance(until=0.2)
    monkeypatch.chdir(tmp_path / "there")
    assert run.plot("energy").png.startswith(b"\x89PNG")
    run.advance()
    assert sorted(path.name for path in (tmp_path / "here").iterdir()) == ["gas.csv", "gas.h5", "last.h5"]
    assert not list((tmp_path / "there").iterdir())
    assert run.output == str(tmp_path / "here/gas.h5")
    assert carom.resume("../here/last.h5", changes={"run.until": 0.6}).time == run.time


@pytest.mark.parametrize("how", ["closed", "left", "broken", "looked at"])
def test_a_file_that_cannot_be_written_is_told_by_what_ends_the_run(how, gas, tmp_path):
    run = carom.Run(gas, output=tmp_path / "full.h5")
    run.advance(until=0.23)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(carom.SystemError, match="full") as raised:
            if how == "closed":
                run.close()
            elif how == "looked at":
                run.advance(until=0.43)
                assert len(run.rows) > 0
                run.close()
            else:
                with run:
                    if how == "broken":
                        raise LookupError
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert run.summary["exit_status"] == 4
    assert isinstance(raised.value.__context__, LookupError) == (how == "broken")
    run.close()  # it has been told


def test_a_saved_run_is_resumed_to_the_same_bits(gas, tmp_path):
    run = carom.Run(gas)
    run.advance(until=0.3)
    run.save(tmp_path / "middle.h5")
    run.advance()
    again = carom.resume(tmp_path / "middle.h5", output=tmp_path / "rest.h5")
    again.advance()
    assert again.state_hash == run.state_hash
    longer = carom.resume(tmp_path / "middle.h5", changes={"run.until": 0.6})
    longer.advance()
    assert longer.time == pytest.approx(0.6)
    with pytest.raises(carom.SceneError):
        carom.resume(tmp_path / "middle.h5", changes={"box.size": [3.0, 3.0]})
    with pytest.raises(carom.SceneError):
        carom.resume(tmp_path / "rest.h5")
    with pytest.raises(carom.SystemError):
        carom.resume(tmp_path / "never.h5")
    with pytest.raises(carom.SystemError):
        run2 = carom.Run(gas)
        run2.save(tmp_path / "nowhere" / "x.h5")


@pytest.mark.parametrize("push", [lambda run: run.kick(0, [0.0, 0.0, 1.0]),
                                  lambda run: run.set_velocities(-run.frame().velocity)])
def test_a_callback_that_kicks_a_changed_run_is_called_on(push):
    run = carom.Run({"scene": {"dimension": 3, "seed": 756}, "box": {"size": [8.0, 8.0, 8.0], "boundary": ["periodic"] * 3},
                     "run": {"until": 1.0, "precision": "double"}, "output": {"every": 0.1, "observables_every": 0.1},
                     "fill": [{"count": 20, "radius": 0.3, "mass": 1.5, "speed": 0.7}]})
    times = []

    def call(run):
        times.append(run.time)
        assert len(times) <= 20
        if len(times) == 12:
            run.change({"thermostat.kind": "none"})
        if len(times) == 18:
            push(run)

    run.every(0.05, call)
    run.advance()
    assert times == pytest.approx([0.05 * k for k in range(1, 21)], abs=1e-3)


def test_what_a_run_has_read_is_not_saved_over(tmp_path):
    (tmp_path / "balls.csv").write_text("x,y\n1,1\n3,3\n")
    scene = tmp_path / "loaded.toml"
    scene.write_text("[scene]\ndimension = 2\n[box]\nsize = [9.0, 9.0]\n[run]\nuntil = 0.1\n"
                     '[[load]]\nfile = "balls.csv"\nradius = 0.3\nmass = 1.0\n')
    (tmp_path / "link.h5").symlink_to("balls.csv")
    run = carom.Run(carom.Scene(scene))
    for name in ("link.h5", "loaded.toml"):
        with pytest.raises(carom.InputError, match="is the input, and would be overwritten"):
            run.save(tmp_path / name)
    assert (tmp_path / "balls.csv").read_text().startswith("x,y")
    run.save(tmp_path / "state.h5")
    again = carom.resume(tmp_path / "state.h5")
    again.save(tmp_path / "state.h5")  # it is read before it is written


def test_a_state_that_no_run_goes_on_from_is_not_saved(tmp_path):
    run = carom.Run(carom.Scene(
        {"scene": {"dimension": 2}, "box": {"size": [20.0, 20.0]}, "run": {"until": 1.0},
         "spring": {"stiffness": 1.0, "dt": 0.001},
         "ball": [{"radius": 1.0, "mass": 1.0, "position": [10.0 + side, 10.0], "velocity": [-1.5 * side, 0.0]}
                  for side in (-2.0, 2.0)]}))
    run.advance(until=0.3)
    run.save(tmp_path / "state.h5")
    run.advance(until=0.589)  # the next step would find it
    with pytest.raises(carom.SimulationError, match="no run goes on from there"):
        run.save(tmp_path / "state.h5")
    assert carom.resume(tmp_path / "state.h5").time == pytest.approx(0.3)


@pytest.mark.parametrize("arguments", [{"checkpoint_every": float("nan")}, {"checkpoint_every": -1.0},
                                       {"checkpoint_every": 0.1}, {"checkpoint": "x.h5"}])
def test_checkpoints_that_cannot_be_are_refused(gas, arguments):
    with pytest.raises(ValueError, match="checkpoint"):
        carom.Run(gas, **arguments)


# What must never end the interpreter.


def test_a_simulation_that_cannot_go_on_says_why(tmp_path):
    scene = carom.Scene({"scene": {"dimension": 2}, "box": {"size": [6.0, 5.0]}, "run": {"until": 2.0},
                         "ball": [{"radius": 0.5, "mass": float("inf"), "position": [2, 2], "velocity": [5, 0]}]})
    run = carom.Run(scene, output=tmp_path / "bad.h5")
    with pytest.raises(carom.SimulationError, match="its mass is inf"):
        run.advance()
    assert run.ended
    assert run.summary["exit_status"] == 3
    with pytest.raises(RuntimeError, match="has ended"):
        run.advance()
    assert run.frame().time == run.time


SLOW_ARRAY = "type('Slow', (), {'__array__': lambda self, *what, **how: time.sleep(0.01) or numpy.ones(())})()"


@pytest.mark.parametrize("observables", [
    "None", "{'mean': lambda frame: frame.position[:, 0].mean()}", "{'sleeps': lambda frame: time.sleep(0.01) or 1.0}",
    "{'long': lambda frame: float(len([k for k in range(1000000)]))}", f"{{'array': lambda frame: {SLOW_ARRAY}}}"])
def test_the_interpreter_may_end_while_another_thread_runs(observables):
    script = f"""
import threading, time, numpy, carom
gas = carom.Scene({GAS!r})
gas["run.until"] = 1e6
run = carom.Run(gas, threads=1, observables={observables})
def forever():
    while True:
        run.step(50)
threading.Thread(target=forever, daemon=True).start()
time.sleep(0.1)
"""
    for _ in range(3):
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")


def test_other_threads_go_on_and_cannot_use_a_run_that_is_in_use(gas):
    gas["run.until"] = 1e4
    run = carom.Run(gas)
    stop = threading.Event()
    refused = []

    def other():
        while not stop.is_set():
            try:
                run.frame()
                run.totals
            except RuntimeError as error:
                refused.append(str(error))
            time.sleep(0.005)

    thread = threading.Thread(target=other)
    thread.start()
    begin = time.monotonic()
    patience = 60.0  # until the other thread gets a turn, where many want one
    while time.monotonic() < begin + (0.4 if refused else patience):
        try:
            run.advance(until=run.time + 0.5)
        except RuntimeError as error:
            refused.append(str(error))
    stop.set()
    thread.join()
    assert set(refused) == {"the run is in use by another thread"}
    assert np.isfinite(run.frame().x).all()


def test_runs_in_several_threads_have_the_same_bits(gas):
    hashes = []

    def simulate():
        run = carom.Run(gas, threads=1)
        run.advance()
        hashes.append(run.state_hash)

    threads = [threading.Thread(target=simulate) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(hashes) == 4
    assert len(set(hashes)) == 1


def of_child(scene, run, queue):
    try:
        run.advance()
    except RuntimeError as error:
        queue.put(str(error))
    try:
        carom.Run(scene, threads=2)
    except RuntimeError as error:
        queue.put(str(error))
    own = carom.Run(scene)
    own.advance()
    queue.put(own.state_hash)


def test_a_run_does_not_outlive_a_fork_and_the_child_can_have_its_own(gas):
    gas["fill[0].count"] = 20000  # enough for threads
    gas["box.size"] = [240.0, 240.0]
    gas["run.until"] = 0.02
    run = carom.Run(gas, threads=2)
    run.advance(until=0.01)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=of_child, args=(gas, run, queue))
    child.start()
    child.join(60)
    child.kill()  # if it waits for ever
    assert child.exitcode == 0
    assert "fork" in queue.get(timeout=5)
    assert "one thread" in queue.get(timeout=5)
    run.advance()
    assert queue.get(timeout=5) == run.state_hash


def test_a_child_ends_though_a_thread_of_its_parent_was_in_a_run():
    script = f"""
import os, sys, threading, time, carom
gas = carom.Scene({GAS!r})
gas["run.until"] = 1e6
run = carom.Run(gas, threads=1)
def forever():
    while True:
        run.step(1)
threading.Thread(target=forever, daemon=True).start()
time.sleep(0.1)
for _ in range(20):
    if os.fork() == 0:
        sys.exit(0)
    os.wait()
print("all came to an end")
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "all came to an end\n", "")


def test_a_child_that_an_observable_forks_ends_there(gas, tmp_path, capfd):
    children = []

    def fork(frame):
        if not children:
            child = os.fork()
            if child:
                children.append(child)
        return frame.time
    run = carom.Run(gas, output=tmp_path / "gas.h5", observables={"forks": fork})
    run.advance()
    assert ends(children[0]) == 1
    assert capfd.readouterr().err == "carom: a process that was forked within forks cannot go on with the run\n"
    assert carom.open(tmp_path / "gas.h5")[-1].state_hash == run.state_hash


def test_control_c_stops_a_run_where_it_is(tmp_path):
    script = f"""
import carom
scene = carom.Scene({GAS!r})
scene["run.until"] = 1e6
run = carom.Run(scene, output={str(tmp_path / 'long.h5')!r})
try:
    print("begun", flush=True)
    run.advance()
except KeyboardInterrupt:
    at = run.time
    run.advance(until=at + 0.1)
    run.close()
    print(at < run.time < 1e6 and run.ended)
"""
    child = subprocess.Popen([sys.executable, "-B", "-W", "ignore", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True)
    assert child.stdout.readline() == "begun\n"
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    out, error = child.communicate(timeout=30)
    assert (out, error, child.returncode) == ("True\n", "", 0)


def test_the_environment_is_left_as_it_was():
    script = "import os; before = dict(os.environ); import carom; print(dict(os.environ) == before)"
    plain = {name: value for name, value in os.environ.items() if name not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
    for environment in (plain, {**plain, "GOMP_SPINCOUNT": "7"}, {**plain, "OMP_WAIT_POLICY": "passive"}):
        done = subprocess.run([sys.executable, "-B", "-c", script], capture_output=True, text=True, env=environment)
        assert done.stdout == "True\n"


def test_an_interpreter_may_end_with_runs_and_frames_alive(tmp_path):
    script = f"""
import carom
run = carom.Run({GAS!r}, output={str(tmp_path / 'left.h5')!r})
run.advance(until=0.2)
frame = run.frame()
x = frame.x
"""
    ended = subprocess.run([sys.executable, "-B", "-W", "ignore", "-c", script], capture_output=True, text=True)
    assert (ended.stdout, ended.stderr, ended.returncode) == ("", "", 0)
    assert pathlib.Path(tmp_path / "left.h5").exists()
    assert os.path.getsize(tmp_path / "left.h5") > 0


# Observables of one's own.


def kinetic(frame):
    return 0.5 * (frame.mass[:, None] * frame.velocity**2).sum()


@pytest.mark.parametrize("solver", ["spring", "events"])
def test_an_observable_of_ones_own_is_a_column_like_any_other(solver, gas, tmp_path):
    gas["output.observables_every"] = 0.005
    gas["box.boundary"] = ["wall", "wall"]  # which change the momentum
    calls = []

    def momentum(frame):
        calls.append(frame.time)
        return (frame.mass[:, None] * frame.velocity).sum(axis=0)

    mine = {"mine": {"function": kinetic, "unit": "J", "label": "my energy"},
            "push": {"function": momentum, "unit": "kg m s-1", "components": ["x", "y"]}}
    run = carom.Run(gas, solver=solver, output=tmp_path / "own.h5", observables=mine)
    run.advance()
    assert len(calls) == len(run.rows)
    assert run.rows.dtype["push"].shape == (2,)
    assert run.rows["mine"] == pytest.approx(run.rows["kinetic_energy"], rel=1e-6)
    assert run.rows["push"] == pytest.approx(run.rows["momentum"][:, :2], abs=1e-3)
    means = run.summary["means"]["values"]
    assert means["mine"]["mean"] == pytest.approx(means["kinetic_energy"]["mean"], rel=1e-6)
    assert means["push.x"]["error"] == pytest.approx(means["momentum.x"]["error"], rel=1e-3)
    assert means["push.x"]["error"] > 0.1
    stored = carom.open(run.output)
    assert np.array_equal(stored.rows["mine"], run.rows["mine"])
    assert stored.figure("mine").png.startswith(b"\x89PNG")
    plain = carom.Run(gas, solver=solver)
    plain.advance()
    assert plain.state_hash == run.state_hash


def test_an_observable_of_ones_own_goes_on_in_a_resumed_run(gas, tmp_path):
    gas["output.observables_every"] = 0.005
    run = carom.Run(gas, observables={"mine": kinetic})
    run.advance(until=0.25)
    run.save(tmp_path / "middle.h5")
    run.advance()
    again = carom.resume(tmp_path / "middle.h5", observables={"mine": kinetic})
    again.advance()
    for name in ("mine", "kinetic_energy"):
        assert again.summary["means"]["values"][name] == run.summary["means"]["values"][name]


def test_a_resumed_run_wants_the_observables_that_it_had(gas, tmp_path):
    one, two = (lambda frame: 1.0), (lambda frame: 2.0)
    pair = {"function": lambda frame: [1.0, 2.0], "components": ["x", "y"]}
    run = carom.Run(gas, observables={"one": one, "two": two, "pair": pair})
    run.advance(until=0.25)
    run.save(tmp_path / "middle.h5")
    for other in ({"two": two, "one": one, "pair": pair}, {"one": one, "two": two}, None,
                  {"one": one, "two": two, "pair": {**pair, "components": ["y", "x"]}},
                  {"one": one, "two": two, "pair": pair, "more": one}):
        with pytest.raises(carom.InputError, match=r"middle.h5: its rows had these .*: one, two, pair \(x, y\); now"):
            carom.resume(tmp_path / "middle.h5", observables=other, output=tmp_path / "no.h5")
    assert not (tmp_path / "no.h5").exists()
    carom.resume(tmp_path / "middle.h5", changes={"physics.gravity": [0.0, -1.0]})  # another run
    command = [PROGRAM, "run", "--resume", str(tmp_path / "middle.h5"), "-o", str(tmp_path / "shell.h5"), "--json"]
    rest = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(rest.stdout)["means"]["since"] >= 0.25
    assert "warning: its rows had these observables of one's own: one, two, pair (x, y); now they have: none; means of rows" in rest.stderr
    carom.Run(gas).save(tmp_path / "bare.h5")
    with pytest.raises(carom.InputError, match="one's own: none; now they have: one"):
        carom.resume(tmp_path / "bare.h5", observables={"one": one})


def test_what_goes_wrong_in_an_observable_comes_out_and_leaves_the_run_whole(gas):
    def fail(frame):
        if 0.2 < frame.time < 0.27:
            raise ZeroDivisionError("why")
        return 1.0

    run = carom.Run(gas, observables={"mine": fail})
    with pytest.raises(ZeroDivisionError, match="why"):
        run.advance()
    assert 0.2 < run.time < 0.5
    run.advance()
    assert run.ended
    assert np.isnan(run.rows["mine"]).any()
    assert run.rows["mine"][-1] == 1.0
    plain = carom.Run(gas)
    plain.advance()
    assert plain.state_hash == run.state_hash
    for wrong in (lambda frame: "much", lambda frame: [1.0, 2.0], lambda frame: None, lambda frame: [[1.0]]):
        with pytest.raises((TypeError, ValueError)):
            carom.Run(gas, observables={"mine": wrong}).advance()
    with pytest.raises(carom.InputError, match="kinetic_energy already"):
        carom.Run(gas, observables={"kinetic_energy": kinetic})
    observed = carom.Scene(GAS + '[[observe]]\nname = "mine"\nkind = "speed"\nevery = 0.01\n')
    with pytest.raises(carom.InputError, match="the run has mine already"):
        carom.Run(observed, observables={"mine": kinetic})
    for long in ({"unit": "m" * 201}, {"label": "l" * 70000}, {"components": ["c" * 201]}):
        with pytest.raises(ValueError, match="has [0-9]+ letters; allowed: up to 200"):
            carom.Run(gas, observables={"mine": {"function": kinetic, **long}})
    for wrong in (3, {"unit": "J"}, {"function": kinetic, "units": "J"}):
        with pytest.raises(TypeError, match="mine"):
            carom.Run(gas, observables={"mine": wrong})
    for name in ("", "1st", "my own", "a.b"):
        with pytest.raises(ValueError, match="name"):
            carom.Run(gas, observables={name: kinetic})


@pytest.mark.parametrize("end", [carom.Run.advance, carom.Run.close])
def test_what_an_observable_raises_in_the_last_row_comes_out(end, gas):
    gas["output.observables_every"] = 0.2

    def fail(frame):
        if frame.time > 0.45:
            raise ValueError("late")
        return 1.0

    run = carom.Run(gas, observables={"mine": fail})
    run.advance(until=0.47)
    with pytest.raises(ValueError, match="late"):
        end(run)
    assert run.ended
    assert np.isnan(run.rows["mine"]).tolist() == [False, False, False, True]


def test_an_observable_that_is_wrong_from_the_start_costs_no_older_file(gas, tmp_path):
    with carom.Run(gas, solver="events", output=tmp_path / "old.h5") as run:
        run.advance()
    older = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(ZeroDivisionError):
        carom.Run(gas, solver="events", output=tmp_path / "old.h5", force=True, observables={"mine": lambda frame: 1 / 0})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == older


@pytest.mark.parametrize("solver", ["spring", "events"])
def test_control_c_in_an_observable_leaves_no_hole_in_a_row(solver, gas):
    def momentum(frame):
        times.append(frame.time)
        if len(times) in (1, 5):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)  # where it comes
        return frame.vx.sum()

    times = []
    with pytest.raises(KeyboardInterrupt):
        carom.Run(gas, solver=solver, observables={"mine": momentum})
    run = carom.Run(gas, solver=solver, observables={"mine": momentum})
    with pytest.raises(KeyboardInterrupt):
        run.advance()
    assert times[4] == times[5] == run.time
    run.advance()
    assert np.isfinite(run.rows["mine"]).all()
    assert "mine" in run.summary["means"]["values"]
    plain = carom.Run(gas, solver=solver)
    plain.advance()
    assert plain.state_hash == run.state_hash


def test_a_run_that_its_own_observable_holds_is_collected_and_ends_in_order(gas, tmp_path):
    class Experiment:
        """Whose run has an observable of it."""

        def __init__(self):
            self.factor = 2.0
            self.run = carom.Run(gas, output=tmp_path / "mine.h5", observables={"mine": self.measure})
            self.run.every(0.1, lambda run: self.factor)

        def measure(self, frame):
            return self.factor * kinetic(frame)

    experiment = Experiment()
    experiment.run.advance(until=0.23)
    gone = weakref.ref(experiment)
    del experiment
    gc.collect()
    assert gone() is None
    rows = carom.open(tmp_path / "mine.h5").rows
    assert rows["time"][-1] == pytest.approx(0.23)
    assert rows["mine"] == pytest.approx(2.0 * rows["kinetic_energy"], rel=1e-6)
    assert carom.resume(tmp_path / "mine.checkpoint.h5", observables={"mine": kinetic}).time == pytest.approx(0.23)


def test_what_an_observable_masks_is_no_number(gas):
    run = carom.Run(gas, observables={
        "one": lambda frame: np.ma.masked if frame.time < 0.2 else np.float32(1.0),
        "two": {"function": lambda frame: np.ma.array([3, 4], mask=[False, frame.time < 0.2]), "components": ["a", "b"]}})
    run.advance()
    early = run.rows["time"] < 0.2
    assert (np.isnan(run.rows["one"]) == early).all()
    two = np.stack([run.rows["two"][name] for name in ("a", "b")]) if run.rows["two"].dtype.names else run.rows["two"].T
    assert (two[0] == 3.0).all()
    assert (np.isnan(two[1]) == early).all()


def test_an_observable_may_drop_the_run_that_asks_it(gas):
    holder, seen = {}, []

    def drop(frame):
        if frame.time > 0.2:
            holder.clear()
            gc.collect()
        seen.append(frame.x[0])
        return seen[-1]

    holder["run"] = carom.Run(gas, observables={"mine": drop})
    holder["run"].advance()
    assert not holder
    assert len(seen) == 11


# What is done to a run while it goes on.

DRIVEN = """
[scene]
dimension = 2
[box]
size = [30.0, 30.0]
[spring]
dt = 1.0e-3
[run]
until = 1.0
[output]
every = 0.25
observables_every = 0.25
[[ball]]
radius = 0.5
mass = 2.0
position = [5.0, 5.0]
velocity = [1.0, 0.0]
[[ball]]
radius = 0.5
mass = 2.0
position = [15.0, 15.0]
"""


@pytest.mark.parametrize("solver", ["spring", "events"])
def test_a_kick_replaces_a_velocity_or_adds_to_it(solver, tmp_path):
    run = carom.Run(DRIVEN, solver=solver, output=tmp_path / "kicked.h5")
    run.advance(until=0.25)
    run.kick(0, [0.0, 3.0])
    run.kick(1, [0.5, 0.0])
    run.kick(1, [0.5, -1.0], add=True)
    assert run.frame().velocity == pytest.approx(np.array([[0.0, 3.0], [1.0, -1.0]]), abs=1e-6)
    run.advance()
    assert run.time == 1.0
    assert run.frame().position == pytest.approx(np.array([[5.25, 7.25], [15.75, 14.25]]), abs=1e-5)
    said = ["ball 0 kicked to [0, 3]", "ball 1 kicked to [0.5, 0]", "ball 1 kicked by [0.5, -1]"]
    assert [what for _, _, what in run.changes] == said
    assert {time for time, _, _ in run.changes} == {0.25}
    stored = carom.open(run.output)
    assert stored.changes == run.changes
    assert list(stored.times) == list(run.rows["time"]) == [0.0, 0.25, 0.5, 0.75, 1.0]
    # The energy that comes with a kick is work: 0.5 * 2 * (9 - 1) and 0.5 * 2 * 2.
    assert run.summary["work"] == pytest.approx(10.0, abs=1e-4)
    assert abs(run.summary["energy_balance"]) < 1e-5
    for ball, velocity in ((2, [0.0, 0.0]), (-1, [0.0, 0.0]), (True, [0, 0]), (0, [0.0]), (0, [0.0, float("nan")])):
        with pytest.raises(ValueError):
            carom.Run(DRIVEN, solver=solver).kick(ball, velocity)
    for ball in (2, 2**64, 2**70):
        with pytest.raises(carom.InputError, match=f"^there is no ball {ball}; there are 2$"):
            carom.Run(DRIVEN, solver=solver).kick(ball, [0.0, 0.0])
    with pytest.raises(ValueError, match="masked values are no numbers"):
        carom.Run(DRIVEN, solver=solver).kick(0, np.ma.array([0.0, 0.0], mask=[False, True]))
    with pytest.raises(RuntimeError, match="has ended"):
        run.kick(0, [0.0, 0.0])


@pytest.mark.parametrize("solver", ["spring", "events"])
def test_the_same_velocities_change_no_bit_and_others_the_same_bits(solver, gas):
    hashes = set()
    for threads in (1, 2):
        run = carom.Run(gas, solver=solver, threads=threads)
        run.advance(until=0.2)
        run.set_velocities(-run.frame().velocity)
        assert run.rows["time"][-1] == pytest.approx(0.2)
        run.advance()
        assert not any(check["verdict"] for check in run.summary.get("theory", []))
        hashes.add(run.state_hash)
    assert len(hashes) == 1
    plain, same = carom.Run(gas, solver="spring"), carom.Run(gas, solver="spring")
    same.advance(until=0.2)
    same.set_velocities(same.frame().velocity)
    same.advance()
    plain.advance()
    if solver == "events":
        unkicked = carom.Run(gas, solver=solver)
        unkicked.advance()
        assert any(check["verdict"] for check in unkicked.summary["theory"])
    assert same.state_hash == plain.state_hash
    assert plain.state_hash not in hashes
    for velocity in (1.0, np.zeros((200, 3)), np.zeros((199, 2)), np.full((200, 2), np.inf), np.full((200, 2), 1j), "fast"):
        with pytest.raises(ValueError):
            plain.set_velocities(velocity)


@pytest.mark.parametrize("solver", ["spring", "events"])
def test_a_kick_can_be_made_in_a_callback_and_the_run_be_saved_after_it(solver, gas, tmp_path):
    run = carom.Run(gas, solver=solver)
    run.every(0.1, lambda run: run.ended or run.kick(0, [0.0, 1.0], add=True))
    run.advance(until=0.25)
    run.save(tmp_path / "middle.h5")
    run.advance(until=0.29)
    again = carom.resume(tmp_path / "middle.h5")
    again.advance(until=0.29)
    assert again.state_hash == run.state_hash
    assert again.rows["kinetic_energy"][-1] == run.rows["kinetic_energy"][-1]
    again.close()
    collisions = again.summary.get("collisions")
    run.advance()
    assert [round(time, 3) for time, _, _ in run.changes] == [0.1, 0.2, 0.3, 0.4]
    if solver == "events":  # what was counted before a kick counts
        assert 20 < collisions < run.summary["collisions"]
        assert run.summary["virial_defect"] < 1e-12


@pytest.mark.parametrize("solver", ["spring", "events"])
def test_a_key_is_another_one_from_now_on(solver, tmp_path):
    run = carom.Run(DRIVEN, solver=solver, output=tmp_path / "changed.h5")
    run.advance(until=0.5)
    before = run.totals.energy
    run.change({" physics.gravity\n": [0.0, -2.0]})
    run.advance()
    assert run.time == pytest.approx(1.0)
    assert list(run.rows["time"]) == pytest.approx([0.0, 0.25, 0.5, 0.75, 1.0])
    assert run.frame().velocity == pytest.approx(np.array([[1.0, -1.0], [0.0, -1.0]]), abs=3e-3)
    assert run.frame().y == pytest.approx([4.75, 14.75], abs=3e-3)
    assert carom.Scene(run.text)["physics.gravity"] == [0.0, -2.0]
    assert carom.open(run.output).changes == [(0.5, run.changes[0][1], "physics.gravity=[0.0, -2.0]")]
    # The heights of two balls of 2 kg had no weight before.
    assert run.summary["work"] == pytest.approx(2.0 * 2.0 * (5.0 + 15.0), rel=1e-3)
    assert run.totals.energy == pytest.approx(before + run.summary["work"], rel=1e-5)
    assert not any(check["verdict"] for check in run.summary.get("theory", []))


def test_a_run_whose_keys_have_changed_says_that_it_cannot_be_saved(tmp_path):
    run = carom.Run(DRIVEN, output=tmp_path / "changed.h5", checkpoint_every=0.2)
    run.advance(until=0.5)
    run.change({"physics.restitution": 0.5, "spring.dt": 3.7e-4})
    with pytest.raises(carom.InputError, match="cannot be saved"):
        run.save(tmp_path / "never.h5")
    run.advance()
    assert run.time == pytest.approx(1.0, abs=2e-4)
    assert carom.resume(tmp_path / "changed.checkpoint.h5").time == pytest.approx(0.4)


def test_what_cannot_be_changed_is_said_and_changes_nothing(tmp_path):
    run, plain = carom.Run(DRIVEN), carom.Run(DRIVEN)
    run.advance(until=0.3)
    for key, value, words in (("run.until", 3.0, "allowed: keys of physics"), ("box.size", [9.0, 9.0], "allowed"),
                              ("physics.gravity", [0.0], "physics.gravity"), ("physics.gravitee", 1, "gravitee"),
                              ("spring.dt", 0.3, "not changed: dt")):
        with pytest.raises(carom.SceneError, match=words):
            run.change({key: value})
    run.change({})
    run.advance()
    plain.advance()
    assert run.state_hash == plain.state_hash
    assert run.changes == []
    logged = carom.Run(DRIVEN, solver="events", events_log=tmp_path / "log.csv")
    with pytest.raises(carom.InputError, match="logs its collisions"):
        logged.kick(0, [1.0, 1.0])


@pytest.mark.parametrize(("solver", "until", "fast", "words"), [
    ("events", 0.5, 1e160, r"with velocity \[1e\+160, 0\] it would cross the box \S+ times until 0.5"),
    ("events", 1e-160, 1e160, "it would cross the box inf times"),  # the square of its speed is no number
    ("spring", 0.5, 1e5, r"it would move farther than the largest radius in one step; allowed: speeds up to 500 m/s"),
])
def test_a_ball_gets_no_speed_that_the_solver_cannot_go_on_with(solver, until, fast, words, gas):
    run, plain = (carom.Run(gas, solver=solver, until=until) for _ in range(2))
    with pytest.raises(carom.InputError, match="ball 3: .*" + words):
        run.kick(3, [fast, 0.0])
    velocity = run.frame().velocity.copy()
    velocity[3] = [fast, 0.0]
    with pytest.raises(carom.InputError, match="ball 3: .*" + words):
        run.set_velocities(velocity)
    run.advance()
    plain.advance()
    assert (run.state_hash, run.changes) == (plain.state_hash, [])


def test_what_stops_a_changed_run_is_said_in_its_own_time():
    run = carom.Run(DRIVEN, threads=1)
    run.advance(until=0.1)
    run.change({"physics.gravity": [1e5, 0.0]})
    with pytest.raises(carom.SimulationError) as caught:
        run.advance()
    when, step = re.search(r"at time (\S+) \(step (\d+)\)", str(caught.value)).groups()
    assert run.steps > 100
    assert (float(when), int(step)) == (pytest.approx(run.time), run.steps)


@pytest.mark.parametrize("solver", ["spring", "events"])
def test_keys_that_need_each_other_are_changed_together(solver):
    thermostat = {"thermostat.kind": "andersen", "thermostat.temperature": 0.1, "thermostat.rate": 1.0}
    hashes = set()
    for order in (1, -1):
        run = carom.Run(DRIVEN, solver=solver)
        run.advance(until=0.5)
        run.change(dict(list(thermostat.items())[::order]))
        assert carom.Scene(run.text)["thermostat.temperature"] == 0.1
        run.advance()
        hashes.add(run.state_hash)
    assert len(hashes) == 1
    run = carom.Run(DRIVEN, solver=solver)
    run.change({"box.wall_temperature[0][0]": 1.0, "spring.dt": 5e-4, "box.wall_temperature[0][1]": 2.0,
                "physics.restitution": 0.5})
    changed = carom.Scene(run.text)
    assert changed["box.wall_temperature"][0] == [1.0, 2.0]
    assert (changed["spring.dt"], changed["physics.restitution"]) == (5e-4, 0.5)


def test_a_log_is_anyones_once_its_run_has_ended(gas, tmp_path):
    run = carom.Run(gas, solver="events", events_log=tmp_path / "log.csv")
    with pytest.raises(carom.InputError, match="is being written by another run"):
        carom.Run(gas, solver="events", events_log=tmp_path / "log.csv", force=True)
    child = os.fork()
    if child == 0:
        signal.pause()
    try:
        run.advance()
        again = carom.Run(gas, solver="events", events_log=tmp_path / "log.csv", force=True)
        again.advance()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert again.summary["collisions"] + 1 == len((tmp_path / "log.csv").read_text().splitlines())


def test_a_change_in_a_callback_takes_no_others_turn(gas):
    run, told = carom.Run(gas), []
    run.every(0.1, lambda run: run.ended or run.change({"physics.restitution": 1.0 - 0.1 * run.time}))
    run.every(0.1, lambda run: told.append(round(run.time, 3)))
    run.advance()
    assert told == [0.1, 0.2, 0.3, 0.4, 0.5]


def test_a_kicked_run_that_is_resumed_is_compared_with_no_theory(gas, tmp_path):
    def verdicts(kicked):
        run = carom.Run(gas, solver="events")
        run.advance(until=0.2)
        if kicked:
            run.kick(0, [0.0, 1.0], add=True)
        run.save(tmp_path / "middle.h5")
        again = carom.resume(tmp_path / "middle.h5")
        again.advance()
        return [check["verdict"] for check in again.summary["theory"] if check["verdict"]]

    assert verdicts(kicked=False)
    assert not verdicts(kicked=True)


@pytest.mark.parametrize("change", [lambda run: run.kick(0, [50.0, 0.0]), lambda run: run.change({"physics.restitution": 0.999})])
def test_theory_has_no_verdict_of_a_run_that_was_changed(change, gas, tmp_path):
    gas["run.until"] = 20.0
    run = carom.Run(gas, solver="events", output=tmp_path / "gas.h5")
    run.advance(until=0.5)
    change(run)
    run.advance()
    assert run.summary["theory"]
    assert not [check for check in run.summary["theory"] if check["verdict"]]
    assert "it was changed" in {check["reason"] for check in run.summary["theory"]}


def test_a_changed_thermostat_comes_at_multiples_of_its_own_interval(gas):
    gas["thermostat"] = {"kind": "rescale", "temperature": 1.0, "every": 0.2}
    run = carom.Run(gas, solver="events")
    run.advance(until=0.15)
    run.change({"thermostat.temperature": 3.0, "thermostat.every": 0.1})
    energies = []
    for time in (0.16, 0.19, 0.21):
        run.advance(until=time)
        energies.append(run.totals.kinetic)
    assert energies[0] == pytest.approx(energies[1])
    assert energies[2] == pytest.approx(3.0 * energies[0], rel=0.2)


@pytest.mark.parametrize("solver", ["spring", "events"])
def test_a_thermostat_keeps_its_times_when_a_run_is_changed(solver):
    run = carom.Run(carom.Scene("""
scene.dimension = 2
box = { size = [10.0, 10.0], boundary = "periodic" }
run.until = 3.0
spring = { stiffness = 1e4, dt = 0.01 }
thermostat = { kind = "rescale", temperature = 1.0, every = 0.5 }
[[ball]]
radius = 0.5
mass = 1.0
position = [5.0, 5.0]
velocity = [1.0, 0.0]
"""), solver=solver)
    energies = {}
    for time in (0.45, 0.55, 0.73, 0.95, 1.05, 1.5, 1.55):
        run.advance(until=time)
        energies[time] = run.totals.kinetic
        if time == 0.73:
            run.change({"thermostat.temperature": 2.0})
        if time == 1.5:  # that of this time is still to come
            run.change({"thermostat.temperature": 3.0})
    expected = {0.45: 0.5, 0.55: 1.0, 0.73: 1.0, 0.95: 1.0, 1.05: 2.0, 1.5: 2.0, 1.55: 3.0}
    assert energies == pytest.approx(expected, rel=1e-5)


def test_free_paths_bend_by_the_gravity_of_their_time():
    text = """
scene.dimension = 2
box = { size = [6.0, 4.0], boundary = ["wall", "periodic"] }
run = { until = 60.0, solver = "events" }
physics.gravity = [0.0, 0.0]
%s
[[ball]]
radius = 0.5
mass = 1.0
position = [1.5, 2.0]
velocity = [1.0, 0.0]
[[ball]]
radius = 0.5
mass = 1.0
position = [4.5, 2.0]
velocity = [-1.0, 0.0]
[[observe]]
name = "path"
kind = "free_path"
every = 0.1
from = 6.0
max = 10.0
"""
    staged = carom.Run(text % "stage = [{ until = 6.0 }, { until = 60.0, gravity = [-0.3, 0.0] }]")
    changed = carom.Run(text % "")
    changed.advance(until=6.0)
    changed.change({"physics.gravity": [-0.3, 0.0]})
    for run in (staged, changed):
        run.advance()
    assert changed.frame().velocity == pytest.approx(staged.frame().velocity, abs=1e-9)
    assert np.nansum(staged.averages["path"].value) > 0.0
    assert changed.averages["path"].value == pytest.approx(staged.averages["path"].value, abs=1e-9, nan_ok=True)


def test_balls_at_rest_have_errors_that_are_numbers():
    still = carom.Run(DRIVEN.replace("[1.0, 0.0]", "[0.0, 0.0]").replace("observables_every = 0.25",
                                                                        "observables_every = 0.002"))
    still.advance()
    assert {mean["error"] for name, mean in still.summary["means"]["values"].items() if name != "balls"} == {0.0}


def test_averages_go_on_over_a_kick(gas):
    text = GAS + '[[observe]]\nname = "rate"\nkind = "collision_rate"\nevery = 0.01\n[[observe]]\nname = "path"\nkind = "free_path"\nevery = 0.01\n'
    run, plain = carom.Run(text, solver="events"), carom.Run(text, solver="events")
    run.every(0.1, lambda run: run.ended or run.set_velocities(-run.frame().velocity))
    run.advance()
    plain.advance()
    for name, fewest in (("path", 40), ("rate", 40)):
        assert fewest < run.averages[name].samples <= plain.averages[name].samples
    # There and back again: as many collisions, and free paths are of flights that were whole.
    assert run.averages["rate"].value == pytest.approx(plain.averages["rate"].value, rel=0.5)
    assert np.isfinite(run.averages["path"].value).all()
