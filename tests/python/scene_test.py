"""Scenes from Python: the same words as the command line's, whatever is wrong, and an interpreter that goes on."""

import copy
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


def test_a_scene_loads_what_lies_beside_it_from_any_folder(tmp_path, monkeypatch):
    for folder, speed in (("here", 1.0), ("there", 2.0)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "balls.csv").write_text(f"x,y,vx,vy\n2,2,{speed},0\n")
    (tmp_path / "here/scene.toml").write_text(
        "[scene]\ndimension = 2\n[box]\nsize = [9.0, 9.0]\n[run]\nuntil = 0.5\n"
        '[[load]]\nfile = "balls.csv"\nradius = 0.5\nmass = 1.0\n')
    monkeypatch.chdir(tmp_path / "here")
    scene = carom.Scene("scene.toml")
    assert scene.path == "scene.toml"
    with carom.Run(scene, output="run.h5", solver="events") as run:
        run.advance()
    stored = carom.open("run.h5")
    monkeypatch.chdir(tmp_path / "there")
    assert scene.path == str(tmp_path / "here/scene.toml")
    for again in (scene, stored.scene):
        assert carom.Run(again).frame().vx.tolist() == [1.0]
    (tmp_path / "here/balls.csv").write_text("x,y,vx,vy\n2,2,3.0,0\n")
    assert carom.Run(scene).frame().vx.tolist() == [3.0]
    with pytest.raises(carom.SceneError, match="loaded balls.csv with 1 ball, .* checksum .*; now it has 1 ball, .*"):
        carom.Run(stored.scene)


def test_a_copy_of_a_scene_has_keys_of_its_own():
    scene = carom.Scene("two_balls")
    for one in (copy.copy, copy.deepcopy, carom.Scene.copy):
        other = one(scene)
        other["run.until"] = 9.0
        assert other["run.until"] == 9.0
        assert scene["run.until"] != 9.0


def test_keys_are_read_as_they_were_set():
    scene = carom.Scene("gas2d")
    scene["fill[0].count"] = 12
    scene["box.size"] = np.array([20.0, 30.0])
    assert scene["fill[0].count"] == 12
    assert scene["box.size"] == [20.0, 30.0]
    assert "run.until" in scene
    assert "spring.damping" not in scene
    for key in ("spring.damping", "fill[7].count", "fill.count", "run.until[0]", "", 5, None):
        assert key not in scene
        with pytest.raises(KeyError):
            scene[key]
    scene[" run.until\n"] = 2.5  # as --set takes it
    assert scene["run.until"] == scene["\trun.until"] == 2.5
    other = scene.copy()
    other["fill[0].count"] = 13
    assert scene["fill[0].count"] == 12


def test_keys_of_text_that_is_no_toml_are_told_as_check_tells_them():
    scene = carom.Scene("[run]\nuntil = = 3\n")
    for look in (lambda: scene["run.until"], lambda: "run.until" in scene, scene.check,
                 lambda: scene.add_balls([[1.0, 1.0]], radius=0.5, mass=1.0, species="a")):
        with pytest.raises(carom.SceneError, match="<text>:2:9: not valid TOML") as raised:
            look()
        assert raised.value.line == 2


@pytest.mark.parametrize("value", [None, 1j, object(), {1: 2}, [None], b"x"])
def test_what_no_scene_can_hold_is_refused(value):
    scene = carom.Scene("two_balls")
    with pytest.raises(TypeError):
        scene["run.until"] = value
    assert scene.check()["balls"] == 2


HALF = "\ud83d"  # of a letter, which no UTF-8 has
FREE = {"scene": {"dimension": 2}, "box": {"size": [9.0, 9.0]}}


@pytest.mark.parametrize(("make", "words"), [
    (lambda scene: carom.Scene(f"[scene]\ntitle = '{HALF}'\n"), "<text>: is no text in UTF-8, for it has '\\ud83d'"),
    (lambda scene: carom.Scene({"scene": {"title": HALF}}), "<dict>: is no text in UTF-8, for it has '\\ud83d'"),
    (lambda scene: carom.Scene({f"a{HALF}": 1}), "<dict>: is no text in UTF-8, for it has '\\ud83d'"),
    (lambda scene: scene.__setitem__("scene.title", HALF),
     "--set 'scene.title': is no text in UTF-8, for it has '\\ud83d'"),
    (lambda scene: scene.__setitem__(f"a{HALF}", 1), "--set 'a\\ud83d': is no text in UTF-8, for it has '\\ud83d'"),
    (lambda scene: scene.add_balls([[1.0, 1.0]], radius=0.5, mass=1.0, species=HALF),
     "<dict>: is no text in UTF-8, for it has '\\ud83d'"),
    (lambda scene: scene.check(solver=HALF), "--set run.solver: is no text in UTF-8, for it has '\\ud83d'"),
    (lambda scene: scene.check(solver="a\nb"),
     '--set run.solver="a\\nb": run.solver: must be "spring" or "events", not "a\\x0ab"'),
    (lambda scene: carom.Scene({**FREE, "a\nb": 1}).check(), "<dict>:1:10: a\\x0ab: unknown table; allowed: "),
    (lambda scene: carom.Run("two_balls").change({"a\nb": 1}),
     "'a\\nb': cannot be changed while the run goes on; allowed: "),
])
def test_what_no_line_can_hold_is_refused_in_one(make, words):
    scene = carom.Scene(FREE)
    with pytest.raises(carom.SceneError) as error:
        make(scene)
    assert str(error.value).startswith(words)
    assert len(str(error.value).splitlines()) == len(error.value.errors) == 1
    scene.check()


def test_a_key_with_a_line_break_is_refused_in_one_line():
    scene = carom.Scene(FREE)
    scene["a\nb"] = 1
    with pytest.raises(carom.SceneError) as error:
        scene.check()
    assert str(error.value) == "--set a\\x0ab=1: the key must look like table.key or table[0].key[1]"


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


@pytest.mark.parametrize("dimension", [2, 3])
def test_balls_of_arrays_are_where_they_were_put(dimension):
    generator = np.random.default_rng(1)
    grid = np.stack(np.meshgrid(*[np.arange(6)] * dimension), -1).reshape(-1, dimension) * 2.0 + 1.3
    velocity = generator.normal(size=grid.shape)
    radius = generator.uniform(0.5, 0.9, len(grid))
    spin = generator.normal(size=len(grid) if dimension == 2 else grid.shape)
    scene = carom.Scene({"scene": {"dimension": dimension}, "box": {"size": [24.0] * dimension},
                         "run": {"precision": "double", "until": 0.01},
                         "species": [{"name": "a", "radius": 0.4, "mass": 2.0}, {"name": "b", "radius": 0.5, "mass": 3.0}]})
    scene.add_balls(grid, velocity, radius=radius, mass=radius**2, spin=spin)
    scene.add_balls(grid[:2] + 12.0 * np.eye(dimension)[0], species=["b", "a"])
    scene.add_balls(grid[3:4] + 14.0 * np.eye(dimension)[0], species="a", radius=0.4, mass=2.0)
    frame = carom.Run(scene).frame()
    count = len(grid)
    assert np.allclose(frame.position[:count], grid, rtol=0, atol=1e-12)
    assert np.array_equal(frame.velocity[:count], velocity)
    assert np.array_equal(frame.radius, [*radius, 0.5, 0.4, 0.4])
    assert np.array_equal(frame.mass, [*radius**2, 3.0, 2.0, 2.0])
    assert np.array_equal(frame.spin_z[:count], spin if dimension == 2 else spin[:, 2])
    assert not frame.velocity[count:].any()
    again = carom.Run(scene.text)
    assert again.state_hash == frame.state_hash


def test_balls_may_bring_their_species():
    scene = carom.Scene({"scene": {"dimension": 2}, "box": {"size": [9.0, 9.0]}})
    scene.add_balls([[1.0, 1.0], [3.0, 1.0], [5.0, 1.0]], species=["a", 'b "2"', "a"], radius=[0.5, 0.4, 0.5], mass=[1, np.inf, 1])
    scene.add_balls([[1.0, 3.0]], species="a", radius=0.5, mass=1.0)
    frame = carom.Run(scene).frame()
    assert [frame.species_table[k].name for k in frame.species] == ["a", 'b "2"', "a", "a"]
    assert frame.radius.tolist() == [0.5, 0.4, 0.5, 0.5]
    assert frame.mass.tolist() == [1.0, np.inf, 1.0, 1.0]


@pytest.mark.parametrize(("arguments", "words"), [
    ({"position": [1.0, 2.0]}, r"shape \(2,\)"),
    ({"position": np.zeros((3, 4))}, r"shape \(3, 4\)"),
    ({"position": [[1.0, float("nan")]]}, "position of ball 0"),
    ({"position": [[1.0, 2.0]], "velocity": np.zeros((2, 2))}, r"velocity has the shape \(2, 2\)"),
    ({"position": np.ones((4, 2)), "velocity": [0.0, np.inf]}, "velocity of ball 0"),
    ({"position": np.ones((4, 2)), "radius": [1.0, 2.0]}, "radius has the shape"),
    ({"position": np.ones((2, 2)), "mass": [1.0, np.nan]}, "mass of ball 1"),
    ({"position": np.ones((2, 2)), "species": "a", "mass": None}, "or else radius and mass"),
    ({"position": np.ones((2, 2)), "species": "here", "radius": [0.5, 0.6]}, "ball 1 are 0.6 and 1.0; .* 'here' are 0.5 and 1"),
    ({"position": np.ones((2, 2)), "species": "new", "mass": [2.0, 1.0]}, "ball 1 are 0.5 and 1.0; .* 'new' are 0.5 and 2.0"),
    ({"position": np.ones((2, 2)), "radius": None}, "or else radius and mass"),
    ({"position": np.ones((2, 2)), "radius": None, "mass": None, "species": ["a"]}, "or 2 of them"),
    ({"position": [["a", "b"]]}, "could not convert"),
    ({"position": np.ones((2, 2)) + 1j}, "complex numbers"),
    ({"position": np.ma.array(np.ones((2, 2)), mask=[[0, 0], [0, 1]])}, "masked values are no numbers"),
    ({"position": [[1.0, 2.0], np.ma.array([1.0, 2.0], mask=[0, 1])]}, "masked values are no numbers"),
    ({"position": np.ones((2, 2)), "mass": np.ma.masked}, "masked values are no numbers"),
    ({"position": np.ones((2, 2)), "velocity": np.ones((2, 2), np.complex64)}, "complex numbers"),
])
def test_arrays_that_do_not_fit_are_refused_and_add_nothing(arguments, words):
    scene = carom.Scene({"scene": {"dimension": 2}, "box": {"size": [9.0, 9.0]},
                         "species": [{"name": "here", "radius": 0.5, "mass": 1}]})
    before = scene.text
    with pytest.raises(ValueError, match=words):
        scene.add_balls(**{"radius": 0.5, "mass": 1.0, **arguments})
    assert scene.text == before


def test_balls_that_cannot_be_there_are_named(tmp_path):
    scene = carom.Scene({"scene": {"dimension": 2}, "box": {"size": [9.0, 9.0]}})
    scene.add_balls([[2.0, 2.0], [5.0, 5.0], [5.5, 5.0]], radius=0.5, mass=1.0)
    with pytest.raises(carom.SceneError, match=r"ball\[2\]\.position: ball 2 overlaps ball 1"):
        carom.Run(scene, solver="events")
    with pytest.warns(carom.CaromWarning, match="ball 1 and ball 2"):
        carom.Run(scene)
    scene = carom.Scene({"scene": {"dimension": 2}, "box": {"size": [9.0, 9.0]}})
    scene.add_balls([[2.0, 2.0], [9.5, 5.0]], radius=0.5, mass=1.0)
    with pytest.raises(carom.SceneError, match=r"ball\[1\].position\[0\]"):
        carom.Run(scene)
