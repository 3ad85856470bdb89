"""Scenes from Python: the same words as the command line's, whatever is wrong, and an interpreter that goes on."""

import json
import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

import carom
from program import PROGRAM, SOURCE

sys.path.insert(0, str(SOURCE / "tests/cli"))
import bad_scenes_test  # noqa: E402


def test_each_bad_scene_is_refused_with_the_words_of_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scenes = list(bad_scenes_test.bad_scenes())
    assert len(scenes) >= 150
    for name, message, text in scenes:
        pathlib.Path(name).write_text(text)
        with pytest.raises(carom.SceneError) as error:
            carom.Scene(name).check()
        assert str(error.value) == f"{name}:{message}"
        line, column, rest = message.split(":", 2)
        assert (error.value.file, error.value.line, error.value.column) == (name, int(line), int(column))
        if error.value.key is not None:
            assert rest.startswith(f" {error.value.key}: ")


@pytest.mark.parametrize(("change", "message"), bad_scenes_test.OVERRIDES[:8])
def test_a_bad_key_is_refused_with_the_words_of_the_command_line(change, message):
    scene = carom.Scene("two_balls")
    key, value = change.split("=", 1)
    scene[key] = float(value) if "." in value else int(value)
    with pytest.raises(carom.SceneError) as error:
        scene.check()
    assert str(error.value) == f"--set {change}: {message}"
    assert error.value.line is None


def test_all_that_is_wrong_is_told():
    with pytest.raises(carom.SceneError) as error:
        carom.Scene({"scene": {"dimension": 2}, "box": {"size": [1.0, -1.0]}, "physics": {"gravity": "down"}, "run": {"until": -1}}).check()
    assert [line.split(": ")[1] for line in error.value.errors] == ["box.size[1]", "physics.gravity", "run.until"]
    assert error.value.key == "box.size[1]"
    assert error.value.file == "<dict>"
    again = pickle.loads(pickle.dumps(error.value))
    assert (type(again), again.errors, again.line) == (carom.SceneError, error.value.errors, error.value.line)


def test_check_says_what_the_command_says():
    said = subprocess.run([PROGRAM, "check", "two_balls", "--json", "--threads", "1"], capture_output=True, text=True)
    scene = carom.Scene("two_balls")
    checked = scene.check(threads=1)
    expected = json.loads(said.stdout)
    for one in (expected, checked):
        one.pop("scene")
        one.pop("estimated_seconds")
    assert checked == expected


def test_text_file_and_dict_are_the_same_scene(tmp_path):
    tables = {"scene": {"dimension": 2, "title": 'a "title" \\ ü with all'}, "box": {"size": np.array([8.0, 6.0])},
              "run": {"until": np.float64(0.5)}, "species": [{"name": "a", "radius": 0.5, "mass": 1}],
              "ball": [{"species": "a", "position": (2, 3), "velocity": [1.0, 0.0]},
                       {"species": "a", "position": (5, 3), "velocity": [-1.0, 0.0]}]}
    of_dict = carom.Scene(tables)
    of_text = carom.Scene(of_dict.text)
    file = tmp_path / "scene.toml"
    file.write_text(of_dict.text)
    hashes = set()
    for scene in (of_dict, of_text, carom.Scene(file), carom.Scene(str(file)), of_dict.copy()):
        run = carom.Run(scene)
        run.advance()
        hashes.add(run.state_hash)
        assert scene["scene.title"] == tables["scene"]["title"]
    assert len(hashes) == 1


def test_keys_are_read_as_they_were_set():
    scene = carom.Scene("gas2d")
    scene["fill[0].count"] = 12
    scene["box.size"] = np.array([20.0, 30.0])
    assert scene["fill[0].count"] == 12
    assert scene["box.size"] == [20.0, 30.0]
    assert "run.until" in scene
    assert "spring.damping" not in scene
    for key in ("spring.damping", "fill[7].count", "fill.count", "run.until[0]", ""):
        with pytest.raises(KeyError):
            scene[key]
    other = scene.copy()
    other["fill[0].count"] = 13
    assert scene["fill[0].count"] == 12


@pytest.mark.parametrize("value", [None, 1j, object(), {1: 2}, [None], b"x"])
def test_what_no_scene_can_hold_is_refused(value):
    scene = carom.Scene("two_balls")
    with pytest.raises(TypeError):
        scene["run.until"] = value
    assert scene.check()["balls"] == 2


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0, "soon", [1.0], {}, True])
def test_a_time_that_is_none_is_refused(value):
    scene = carom.Scene("two_balls")
    scene["run.until"] = value
    with pytest.raises(carom.SceneError, match="run.until"):
        carom.Run(scene)


@pytest.mark.parametrize("scene", [None, 3, [], b"two_balls"])
def test_what_is_no_scene_is_refused(scene):
    with pytest.raises(TypeError):
        carom.Scene(scene)


def test_a_scene_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(carom.SystemError, match="no installed scene of this name .*two_balls"):
        carom.Scene("two_bals")
    with pytest.raises(carom.SystemError, match="is a folder"):
        carom.Scene(tmp_path)
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\n")
    with pytest.raises(carom.InputError, match="UTF-8"):
        carom.Scene(binary)


@pytest.mark.parametrize("options", [{"solver": "sprin"}, {"backend": "tpu"}, {"precision": "half"}, {"seed": -1}])
def test_a_bad_option_is_a_bad_key(options):
    with pytest.raises(carom.SceneError):
        carom.Run("two_balls", **options)


@pytest.mark.parametrize("threads", [0, -1, 4097, 1.5, True, "2"])
def test_a_number_of_threads_that_is_none_is_refused(threads):
    with pytest.raises(ValueError, match="threads"):
        carom.Run("two_balls", threads=threads)


def test_an_unknown_option_is_refused():
    with pytest.raises(TypeError, match="solver, backend, precision, until, seed, threads"):
        carom.Run("two_balls", sovler="spring")


def test_installed_scenes_are_those_of_the_program():
    listed = subprocess.run([PROGRAM, "scenes"], capture_output=True, text=True).stdout
    names = carom.installed_scenes()
    assert {"gas2d", "two_balls"} < set(names)
    for name, what in names.items():
        assert name in listed
        assert what.split("\n")[0][:20] in listed


def test_examples_in_docstrings_hold():
    import doctest
    for module in (carom, carom.scene, carom.run, carom.tables):
        assert doctest.testmod(module).failed == 0
    assert doctest.testmod(carom.scene).attempted > 0
