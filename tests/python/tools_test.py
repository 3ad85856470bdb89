"""Sweeps and pictures from Python: what the commands make of the same."""

import csv
import html
import os
import re
import resource
import signal
import struct
import subprocess
import threading
import time

import numpy as np
import pytest

import carom
from program import GAS, PROGRAM

pytestmark = pytest.mark.filterwarnings("ignore::carom.CaromWarning")  # of the gas, which is soft


def test_a_sweep_is_that_of_the_command(tmp_path):
    (tmp_path / "gas.toml").write_text(GAS + '[[observe]]\nname = "k"\nkind = "kurtosis"\nevery = 0.01\n')
    (tmp_path / "gas.sweep.toml").write_text(
        '[sweep]\nscene = "gas.toml"\nrecord = ["kinetic_energy", "momentum.x", "k"]\n'
        '[[axis]]\nkey = "scene.seed"\nvalues = [1, 2]\n[[axis]]\nkey = "spring.stiffness"\nvalues = [1.0e4, 2.0e4]\n')
    subprocess.run([PROGRAM, "sweep", "gas.sweep.toml", "-o", "gas.csv", "--quiet", "--threads", "2"], cwd=tmp_path,
                   check=True)
    expected = list(csv.reader((tmp_path / "gas.csv").open()))
    table = carom.sweep(tmp_path / "gas.toml", {"scene.seed": [1, 2], "spring.stiffness": [1e4, 2e4]},
                        ["kinetic_energy", "momentum.x", "k"], jobs=2)
    assert list(table.dtype.names[2:]) == expected[0][2:] == ["kinetic_energy", "momentum.x", "k", "k_se"]
    assert [[float(cell) for cell in row] for row in expected[1:]] == [list(row) for row in table]


@pytest.mark.filterwarnings("ignore:row 1")
def test_a_run_of_a_sweep_that_cannot_go_on_is_nan():
    scene = {"scene": {"dimension": 2}, "box": {"size": [6.0, 5.0]}, "run": {"until": 2.0},
             "ball": [{"radius": 0.5, "mass": 1.0, "position": [2, 2], "velocity": [5, 0]}]}
    with pytest.warns(RuntimeWarning, match="row 1: .*its mass is inf"):
        table = carom.sweep(scene, {"ball[0].mass": [1.0, float("inf")]}, ["balls"], jobs=1)
    assert table["balls"][0] == 1
    assert np.isnan(table["balls"][1])


def test_what_is_wrong_with_a_sweep_is_told_before_it_runs():
    begin = time.monotonic()
    long = carom.Scene(GAS)
    long["run.until"] = 1e4
    with pytest.raises(carom.SceneError, match="run.until"):
        carom.sweep(long, {"run.until": [1e4, -1.0]}, ["kinetic_energy"])
    with pytest.raises(ValueError, match="no value 'kinetic' in row 0; allowed: .*kinetic_energy"):
        carom.sweep(long, {"scene.seed": [1]}, ["kinetic"])
    observed = carom.Scene(long.text + '[[observe]]\nname = "k"\nkind = "kurtosis"\nevery = 0.01\n')
    with pytest.raises(ValueError, match="no value 'k' in row 1; allowed: .*, other"):
        carom.sweep(observed, {"observe[0].name": ["k", "other"]}, ["k"])
    with pytest.raises(TypeError):
        carom.sweep(long, {"scene.seed": [1]}, "kinetic_energy")
    for jobs in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="jobs"):
            carom.sweep(long, {"scene.seed": [1]}, ["kinetic_energy"], jobs=jobs)
    assert len(carom.sweep(long, {"scene.seed": []}, ["kinetic_energy"])) == 0
    assert time.monotonic() - begin < 20.0


def test_a_table_that_would_not_say_what_was_run_is_refused_before_it_runs():
    begin = time.monotonic()
    long = carom.Scene(GAS + '[[observe]]\nname = "k"\nkind = "kurtosis"\nevery = 0.01\n')
    long["run.until"] = 1e5
    seeds = {"scene.seed": [1, 2]}
    for axes, record, options, words in (
            (seeds, ["kinetic_energy"], {"seed": 3}, "'scene.seed' is set by the option seed too"),
            ({"run.until": [1e5, 2e5]}, ["kinetic_energy"], {"until": 0.1}, "'run.until' is set by the option until too"),
            ({"physics.gravity[1]": [-1.0], "physics.gravity": [[0.0, -2.0]]}, ["kinetic_energy"], {},
             "axes: 'physics.gravity' is set by the axis 'physics.gravity\\[1\\]' too"),
            ({**seeds, " scene.seed": [3]}, ["kinetic_energy"], {}, "'scene.seed' is set by the axis 'scene.seed' too"),
            ({" scene.seed": [3]}, ["kinetic_energy"], {"seed": 5}, "'scene.seed' is set by the option seed too"),
            (seeds, ["kinetic_energy", "kinetic_energy"], {}, "kinetic_energy"),
            (seeds, ["k", "k_se"], {}, "k_se"),
            ({"box.boundary": [["periodic", "wall"], [["wall", "open"], "wall"]]}, ["kinetic_energy"], {}, "inhomogeneous")):
        with pytest.raises(ValueError, match=words):
            carom.sweep(long, axes, record, **options)
    assert carom.sweep(long, seeds, ["kinetic_energy"], until=0.01, seed=None)["kinetic_energy"].shape == (2,)
    blank = carom.sweep(long, {"scene.seed\n": [1]}, ["kinetic_energy"], until=0.01)
    assert blank.dtype.names == ("scene.seed", "kinetic_energy")
    assert time.monotonic() - begin < 20.0


def test_a_file_that_changes_during_a_sweep_ends_it(tmp_path, monkeypatch):
    def write(speed):
        (tmp_path / "new.csv").write_text(f"x,y,vx,vy\n2,2,{speed},0\n")
        os.replace(tmp_path / "new.csv", tmp_path / "balls.csv")

    def run(prepared, stop):
        write(3)  # as somebody does while the first runs
        return simulate(prepared, stop)

    (tmp_path / "scene.toml").write_text(
        "[scene]\ndimension = 2\n[box]\nsize = [9.0, 9.0]\n[run]\nuntil = 0.5\n"
        '[[load]]\nfile = "balls.csv"\nradius = 0.5\nmass = 1.0\n')
    write(1)
    simulate = carom._carom.run_in_memory
    monkeypatch.setattr(carom._carom, "run_in_memory", run)
    with pytest.raises(carom.SceneError, match="load.*balls.csv has been changed since the first run read it"):
        carom.sweep(tmp_path / "scene.toml", {"scene.seed": [1, 2]}, ["kinetic_energy"], jobs=1)


def test_control_c_ends_a_sweep():
    long = carom.Scene(GAS)
    long["run.until"] = 1e5
    main = threading.main_thread().ident
    timer = threading.Timer(0.7, lambda: signal.pthread_kill(main, signal.SIGINT))
    timer.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        carom.sweep(long, {"scene.seed": [1, 2, 3, 4]}, ["kinetic_energy"], jobs=2)
    assert time.monotonic() - begin < 20.0


@pytest.mark.parametrize("action", [carom.Run, carom.Scene.check,
                                    lambda scene: carom.sweep(scene, {"scene.seed": [1, 2]}, ["kinetic_energy"], jobs=2)])
def test_control_c_ends_what_places_balls(action):
    dense = carom.Scene({"scene": {"dimension": 2}, "box": {"size": [300.0, 300.0]}, "run": {"until": 0.5},
                         "fill": [{"packing_fraction": 0.8, "radius": 0.5, "mass": 1.0, "temperature": 1.0}]})
    main = threading.main_thread().ident
    timer = threading.Timer(0.7, lambda: signal.pthread_kill(main, signal.SIGINT))
    timer.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        action(dense)
    assert time.monotonic() - begin < 10.0


def size_of(png):
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", png[16:24])


def test_a_picture_is_that_of_the_command(tmp_path):
    run = carom.Run(GAS, output=tmp_path / "gas.h5")
    run.advance()
    subprocess.run([PROGRAM, "plot", "gas.h5", "balls", "-o", "shell.png", "--size", "640x480", "--color-by", "speed",
                    "--quiet"], cwd=tmp_path, check=True)
    picture = run.frame().picture((640, 480), color_by="speed")
    assert picture.png == (tmp_path / "shell.png").read_bytes()
    stored = carom.open(run.output)
    assert stored[-1].picture((640, 480), color_by="speed").png == picture.png
    picture.save(tmp_path / "saved.png")
    assert (tmp_path / "saved.png").read_bytes() == picture._repr_png_()
    assert max(size_of(run.frame()._repr_png_())) <= 800
    for size in ((10, 10), (640, 100000)):
        with pytest.raises(ValueError, match="size"):
            run.frame().picture(size)
    with pytest.raises(ValueError, match="color_by"):
        run.frame().picture(color_by="mass")


def test_what_does_not_fit_leaves_the_older_file(tmp_path):
    big = "x" * 100_000
    for saved, old in ((carom.Picture(big.encode()), tmp_path / "a.png"), (carom.Report(big), tmp_path / "a.html")):
        old.write_text("older")
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
        try:
            with pytest.raises(carom.SystemError, match=f"^{re.escape(str(old))}: cannot write: File too large"):
                saved.save(old)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert old.read_text() == "older"
        with pytest.raises(carom.SystemError, match="cannot be created"):
            saved.save(tmp_path / "nowhere" / old.name)
        saved.save(old)
        assert old.read_text() == big
        saved.save("/dev/null")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "a.png"]


def test_a_figure_is_that_of_the_command(tmp_path):
    run = carom.Run(GAS, output=tmp_path / "gas.h5")
    run.advance()
    subprocess.run([PROGRAM, "plot", "gas.h5", "energy", "-o", "shell.png", "--quiet"], cwd=tmp_path, check=True)
    stored = carom.open(run.output)
    assert "energy" in stored.quantities
    assert stored.figure("energy").png == (tmp_path / "shell.png").read_bytes()
    with pytest.raises(carom.InputError, match="did you mean 'energy'"):
        stored.figure("enrgy")


def test_a_figure_of_a_run_is_that_of_its_file(tmp_path):
    run = carom.Run(GAS, output=tmp_path / "gas.h5")
    kept = carom.Run(GAS)
    run.advance()
    kept.advance()
    subprocess.run([PROGRAM, "plot", "gas.h5", "energy", "-o", "shell.png", "--quiet"], cwd=tmp_path, check=True)
    assert run.plot("energy")._repr_png_() == (tmp_path / "shell.png").read_bytes()
    assert kept.plot("energy").png == run.plot("energy").png  # without a file
    with pytest.raises(carom.InputError, match="did you mean 'energy'"):
        kept.plot("enrgy")
    early = carom.Run(GAS, observables={"half": lambda frame: (frame.x > 12.0).mean()})
    early.advance(until=0.2)
    assert size_of(early.plot("half").png)
    early.advance()


def test_a_figure_up_to_now_has_all_rows(tmp_path):
    rare = carom.Scene(GAS)
    rare["output.every"] = 100.0
    run = carom.Run(rare, output=tmp_path / "gas.h5")
    for until, rows in ((0.2, 5), (0.3, 7)):
        run.advance(until=until)
        with run._stored() as path:
            assert len(run.rows) == rows
            assert carom.open(path).rows.tobytes() == run.rows.tobytes()


def test_frames_that_are_kept_have_the_averages_as_of_then(tmp_path):
    averaged = carom.Scene(GAS + '[[observe]]\nname = "K"\nkind = "temperature"\nevery = 0.01\n')
    run = carom.Run(averaged, output=tmp_path / "gas.h5")
    kept = carom.Run(averaged, keep_frames=True)
    kept.advance(until=0.23)
    now = kept.averages["K"]
    with kept._stored() as path:
        early = carom.open(path)
        assert early.times.round(2).tolist() == [0.0, 0.1, 0.2, 0.23]
        assert early.averages["K"].samples == now.samples
        assert early.averages["K"].value == now.value
    run.advance()
    kept.advance()
    written = carom.open(run.output)
    with kept._stored() as path:
        stored = carom.open(path)
        assert len(stored) == len(kept.frames) == len(written) == 6
        for k in range(6):
            for name in ("samples", "value"):
                assert getattr(stored.averages_at(k)["K"], name) == getattr(written.averages_at(k)["K"], name)
    assert kept.plot("K").png == run.plot("K").png


def test_a_report_is_that_of_the_command(tmp_path):
    run = carom.Run(GAS, output=tmp_path / "gas.h5")
    run.advance()
    subprocess.run([PROGRAM, "report", "gas.h5", "-o", "shell.html", "--quiet"], cwd=tmp_path, check=True)
    page = carom.report(run.output)
    assert page.html.splitlines()[:20] == (tmp_path / "shell.html").read_text().splitlines()[:20]
    assert len(page.html) == pytest.approx(len((tmp_path / "shell.html").read_text()), rel=1e-3)
    shown = page._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert html.unescape(shown.split('"')[1]) == page.html
    page.save(tmp_path / "saved.html")
    assert (tmp_path / "saved.html").read_text() == page.html
    assert "<html" in carom.Run(GAS).report().html
    with pytest.raises(carom.SystemError):
        carom.report(tmp_path / "never.h5")


def test_a_window_is_that_of_the_program(tmp_path, monkeypatch):
    run = carom.Run(GAS, output=tmp_path / "gas.h5")
    monkeypatch.setenv("CAROM_PROGRAM", "/bin/echo")
    window = run.view()
    assert window.args == ["/bin/echo", "view", str(tmp_path / "gas.h5")]
    assert window.wait(20) == 0
    with pytest.raises(ValueError, match="output"):
        carom.Run(GAS).view()
    # Without a display the program says so, and the run goes on.
    monkeypatch.setenv("CAROM_PROGRAM", PROGRAM)
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert run.view().wait(60) != 0
    run.advance()
    assert run.ended
