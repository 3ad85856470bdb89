"""Scenes: what is simulated, as TOML text, a file, or a nested dict."""

from __future__ import annotations

import json
import os
import pathlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _carom
from .errors import InputError, SceneError

_ma: Any = np.ma  # of which not all versions of NumPy have types
SCENES = str(pathlib.Path(__file__).parent / "scenes")


def here() -> str:
    """The folder that one is in; "" where it is no more."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""


def _utf8(text: str, of: str) -> str:
    """What the program can read: Python's text may have halves of letters in it, as json.loads() makes them."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise SceneError([f"{of}: is no text in UTF-8, for it has {text[error.start]!r}"]) from None
    return text


def _text(value: str) -> str:
    # JSON's escapes are TOML's; what JSON leaves as it is, TOML takes, but for DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _toml(value: Any, key: str) -> str:
    """A value as a scene file would hold it."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, str | os.PathLike):
        return _text(os.fspath(value))
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(one, key) for one in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_text(_name(name, key))} = {_toml(one, key)}" for name, one in value.items()) + "}"
    raise TypeError(f"{key}: {type(value).__name__} is nothing that a scene can hold; "
                    "allowed: bool, int, float, str, lists and dicts of these, NumPy's arrays and numbers")


def _name(name: Any, key: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"{key}: the name {name!r} is no text")
    return name


def bare_key(key: Any) -> str:
    """A key of a scene as --set takes it: without the blanks of C at its ends. Raises KeyError for what is no text."""
    if not isinstance(key, str):
        raise KeyError(key)
    return key.strip(" \t\n\v\f\r")


def _is_tables(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) > 0 and all(isinstance(one, Mapping) for one in value)


def to_toml(tables: Mapping[str, Any], above: str = "") -> str:
    """A nested dict as TOML text: dicts are tables, lists of dicts are [[tables]].

    >>> print(to_toml({"scene": {"dimension": 2}, "ball": [{"position": [1.0, 2.0]}]}))
    [scene]
    dimension = 2
    <BLANKLINE>
    [[ball]]
    position = [1.0, 2.0]
    """
    values: list[str] = []
    parts: list[str] = []
    for name, value in tables.items():
        bare = _name(name, above or "scene")
        if not bare.replace("_", "").replace("-", "").isalnum() or not bare.isascii():
            bare = _text(bare)
        path = f"{above}.{bare}" if above else bare
        if isinstance(value, Mapping):
            parts.append(f"[{path}]\n{to_toml(value, path)}")
        elif _is_tables(value):
            parts += [f"[[{path}]]\n{to_toml(one, path)}" for one in value]
        else:
            values.append(f"{bare} = {_toml(value, path)}")
    return "\n\n".join((["\n".join(values)] if values else []) + parts)


class Scene:
    """What is to be simulated.

    ``scene`` is the name of an installed scene ("gas2d"), a file, TOML text (a str with a line break in it), or a
    nested dict with the tables of docs/scene-file.md. Keys are changed as by ``--set``:

    >>> scene = Scene("two_balls")
    >>> scene["run.until"] = 2.0
    >>> scene["run.until"]
    2.0

    Nothing is looked at before check() or a run, which raise SceneError.
    """

    def __init__(self, scene: str | os.PathLike[str] | Mapping[str, Any]) -> None:
        self._overrides: list[str] = []
        self._folder: str | None = None  # that a file's name is from
        self._loaded: list[tuple[str, str]] = []  # by the run that it is of
        if isinstance(scene, Mapping):
            self._path = "<dict>"
            self._source = to_toml(scene) + "\n"
        elif isinstance(scene, str) and "\n" in scene:
            self._path = "<text>"
            self._source = scene.removeprefix("\ufeff")  # which carom takes, and tomllib does not
        elif isinstance(scene, str | os.PathLike):
            self._path = _carom.find_scene(os.fsdecode(scene), SCENES)
            self._folder = None if os.path.isabs(self._path) else here()
            try:
                self._source = _carom.read_text(self.path).decode("utf-8-sig")
            except UnicodeDecodeError:
                raise InputError([f"{self.path}: is no text in UTF-8, not a scene"]) from None
        else:
            raise TypeError(f"a scene is a name, a file, TOML text or a dict, and not {type(scene).__name__}")
        _utf8(self._source, self.path)

    @property
    def path(self) -> str:
        """The file, by the name that it was given or, from another folder, the absolute one; else <text> or <dict>."""
        if self._folder is None or self._folder == here():
            return self._path
        return os.path.join(self._folder, self._path)

    def __setitem__(self, key: str, value: Any) -> None:
        key = bare_key(key)
        if not key or "=" in key:
            raise KeyError(key)
        self._overrides.append(_utf8(f"{key}={_toml(value, key)}", f"--set {key!r}"))

    def __getitem__(self, key: str) -> Any:
        """What the scene says of a key ("fill[0].count"); a KeyError where it leaves that to its default.

        Raises SceneError where the scene is no TOML.
        """
        at: Any = self._tables()
        try:
            for part in bare_key(key).replace("]", "").replace("[", ".#").split("."):
                at = at[int(part[1:])] if part.startswith("#") else at[part]
        except (KeyError, IndexError, TypeError, ValueError):
            raise KeyError(key) from None
        return at

    def __contains__(self, key: str) -> bool:
        try:
            self[key]
        except KeyError:
            return False
        return True

    def add_balls(self, position: npt.ArrayLike, velocity: npt.ArrayLike = 0.0, *,
                  radius: npt.ArrayLike | None = None, mass: npt.ArrayLike | None = None,
                  spin: npt.ArrayLike = 0.0, species: str | Sequence[str] | None = None) -> None:
        """Adds balls whose numbers are known, as [[ball]] entries; their ids follow on after those that are there.

        position
            centres, balls by axes [length]
        velocity
            the same, or one for all [length/time]
        radius, mass
            of each ball or one for all
        species
            the name of a [[species]] for all, or of each, in place of radius and mass; with these, which are then the same of
            all that have the name, the species is added where the scene has none of it
        spin
            of each ball or one for all; in 3D three numbers each [rad/time]

        Raises ValueError for shapes that do not fit and numbers that are none, as masked ones. What else is wrong (balls
        that overlap, or lie outside) check() and runs tell, with the number of the ball. Some 50,000 balls a second.

        >>> scene = Scene({"scene": {"dimension": 2}, "box": {"size": [9.0, 9.0]}})
        >>> scene.add_balls([[2.0, 2.0], [5.0, 5.0]], velocity=[[1.0, 0.0], [0.0, 1.0]], radius=0.5, mass=1.0)
        >>> scene.check()["balls"]
        2
        """
        centres = floats(position)
        if centres.ndim != 2 or centres.shape[1] not in (2, 3):
            raise ValueError(f"position has the shape {centres.shape}; it must be balls by axes, (N, 2) or (N, 3)")
        count, axes = centres.shape
        columns: dict[str, list[Any]] = {"position": centres.tolist()}
        columns["velocity"] = _of_each("velocity", velocity, (count, axes))
        columns["spin"] = _of_each("spin", spin, (count,) if axes == 2 else (count, 3))
        given = [radius is not None, mass is not None]
        if any(given) != all(given) or not (all(given) or species is not None):
            raise ValueError("balls have a species, or else radius and mass, or all three")
        if species is not None:
            names = [species] * count if isinstance(species, str) else list(species)
            if len(names) != count or not all(isinstance(name, str) for name in names):
                raise ValueError(f"species must be a name, or {count} of them")
            columns["species"] = names
        numbers = {"radius": _of_each("radius", radius, (count,)),
                   "mass": _of_each("mass", mass, (count,), infinite=True)} if all(given) else {}
        if species is None:
            columns |= numbers
        if not np.isfinite(centres).all():
            row = int(np.argwhere(~np.isfinite(centres))[0][0])
            raise ValueError(f"position of ball {row} is {centres[row].tolist()}; it must be finite")
        self._write_tables_apart()
        entries = [self._source.rstrip("\n") + "\n"]
        if species is not None and numbers:
            for name, of_it in self._species_beside(names, numbers["radius"], numbers["mass"]).items():
                entries.append(f"\n[[species]]\nname = {_text(name)}\nradius = {of_it[0]!r}\nmass = {of_it[1]!r}\n")
        for k in range(count):
            lines = [f"{name} = {_toml(values[k], name)}\n" for name, values in columns.items()]
            entries.append("\n[[ball]]\n" + "".join(lines))
        self._source = _utf8("".join(entries), self.path)

    def _write_tables_apart(self) -> None:
        """Writes the scene anew where it has balls or species as one value, behind which no [[ball]] may stand."""
        head = re.split(r"(?m)^\s*\[", self._source, maxsplit=1)[0]  # keys of no table
        try:
            of_none = tomllib.loads(head)
            if not ({"ball", "species"} & {*of_none, *(override.split("=")[0] for override in self._overrides)}):
                return
        except tomllib.TOMLDecodeError:
            pass  # it ends within an array or a text; written anew, it ends at a table
        try:
            tables = tomllib.loads(self.text)
        except tomllib.TOMLDecodeError:
            return  # check() says what is wrong
        self._source = to_toml({name: value for name, value in tables.items()
                                if value != [] or name not in ("ball", "species")}) + "\n"
        self._overrides = []

    def _species_beside(self, names: list[str], radii: list[float], masses: list[float]) -> dict[str, tuple[float, float]]:
        """Radius and mass of those species of balls that the scene does not have; those that it has must have the same."""
        known = {one["name"]: (one.get("radius"), one.get("mass"))
                 for one in self._tables().get("species", []) if "name" in one}
        added: dict[str, tuple[float, float]] = {}
        for row, (name, radius, mass) in enumerate(zip(names, radii, masses, strict=True)):
            has = known.get(name) or added.setdefault(name, (radius, mass))
            if has != (radius, mass):
                raise ValueError(f"radius and mass of ball {row} are {radius} and {mass}; "
                                 f"those of its species {name!r} are {has[0]} and {has[1]}")
        return added

    def copy(self) -> Scene:
        """Another scene that says the same."""
        other = object.__new__(type(self))
        other.__dict__ = {**self.__dict__, "_overrides": list(self._overrides)}
        return other

    __copy__ = copy

    @property
    def text(self) -> str:
        """The complete TOML text, with all keys that were changed. Raises SceneError where it is wrong."""
        return _carom.scene_source(self._source, self.path, self._overrides) if self._overrides else self._source

    def check(self, **options: Any) -> dict[str, Any]:
        """What a run would take: what ``carom check --json`` prints, as a dict. Takes the options of Run.

        Raises SceneError if anything is wrong.
        """
        return json.loads(self._prepare(**options).check())  # type: ignore[no-any-return]

    def _tables(self) -> dict[str, Any]:
        try:
            return tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            why = str(error)
        self.check()  # which names file, line and column
        raise SceneError([f"{self.path}: not valid TOML: {why}"])

    def _prepare(self, stop: _carom.Stop | None = None, /, force: bool = False, threads: int | None = None,
                 **options: Any) -> _carom.Prepared:
        overrides = self._overrides + option_overrides(options)
        prepared = _carom.prepare(self._source, self.path, overrides, count_threads(threads), bool(force), stop)
        if not self._loaded or any(override.startswith("load") for override in overrides):
            return prepared
        for (file, then), (_, now) in zip(self._loaded, loaded(prepared.source), strict=False):
            if then != now:
                raise SceneError([f"{self.path}: the run of this scene loaded {file} with {then}; now it has {now}"])
        return prepared

    def __repr__(self) -> str:
        changed = "".join(f", {override}" for override in self._overrides)
        return f"<carom.Scene {self.path}{changed}>"


def _is_masked(values: Any) -> bool:
    if isinstance(values, list | tuple):
        return any(_is_masked(one) for one in values)
    return isinstance(values, np.ma.MaskedArray) and bool(_ma.is_masked(values))


def floats(values: npt.ArrayLike | None, *, of_masked: float | None = None) -> npt.NDArray[np.float64]:
    """As numbers; those with an imaginary part are none, of which NumPy's own conversion takes a part.

    Nor are masked ones, of which it takes what lies below the mask, unless ``of_masked`` stands for them.
    """
    masked = _is_masked(values)
    if masked and of_masked is None:
        raise ValueError("masked values are no numbers")
    array = _ma.array(values) if masked else np.asarray(values)
    if np.iscomplexobj(array):
        raise ValueError(f"complex numbers ({array.dtype}) are no places, velocities or sizes")
    return np.asarray(_ma.filled(array.astype(np.float64), of_masked) if masked else array, dtype=np.float64)


def _of_each(name: str, values: npt.ArrayLike | None, shape: tuple[int, ...], infinite: bool = False) -> list[Any]:
    """Numbers of each ball from such or from one for all."""
    array = floats(values)
    try:
        array = np.broadcast_to(array, shape)
    except ValueError:
        raise ValueError(f"{name} has the shape {array.shape}; it must be {shape}, or one for all") from None
    wrong = np.isnan(array) if infinite else ~np.isfinite(array)
    if wrong.any():
        row = int(np.argwhere(wrong)[0][0])
        raise ValueError(f"{name} of ball {row} is {array[row].tolist()}; it must be "
                         + ("a number" if infinite else "finite"))
    return array.tolist()  # type: ignore[no-any-return]


def loaded(source: str) -> list[tuple[str, str]]:
    """What a run of a scene has read for each [[load]]: the file; its balls, bytes, and of a text the checksum."""
    return re.findall(r"(?m)^# loaded: (.*), (\d+ balls?, \d+ bytes.*)$", source)


def scene_of_run(source: str, path: str, folder: str) -> Scene:
    """The scene of a stored run, for the same balls: where it loads any, by the name that it had, from a folder."""
    scene = Scene(source + "\n")
    scene._loaded = loaded(source)
    if scene._loaded and not path.startswith("<"):
        scene._path, scene._folder = path, folder
    return scene


OPTIONS = {"solver": "run.solver", "backend": "run.backend", "precision": "run.precision", "until": "run.until",
            "seed": "scene.seed"}


def option_overrides(options: Mapping[str, Any]) -> list[str]:
    """Options that stand for keys of the scene, as --solver does."""
    unknown = [name for name in options if name not in OPTIONS]
    if unknown:
        raise TypeError(f"unknown option {unknown[0]!r}; allowed: {', '.join(OPTIONS)}, threads, force")
    return [_utf8(f"{OPTIONS[name]}={_toml(value, name)}", f"--set {OPTIONS[name]}")
            for name, value in options.items() if value is not None]


_forked = False


def _after_fork() -> None:
    global _forked
    _forked = True
    _carom.use_one_thread()


os.register_at_fork(after_in_child=_after_fork)


def count_threads(threads: int | None) -> int:
    """As the program counts them: 0 stands for all."""
    if threads is None:
        return 1 if _forked else 0
    if isinstance(threads, bool) or not isinstance(threads, int | np.integer) or not 1 <= threads <= 4096:
        raise ValueError(f"threads is {threads!r}; allowed: a whole number from 1 to 4096")
    if _forked and threads > 1:
        raise RuntimeError("in a process that was forked a run has one thread; start processes by 'spawn' for more")
    return int(threads)


def installed_scenes() -> dict[str, str]:
    """The scenes that Scene() knows by name, and what each is."""
    return dict(_carom.installed_scenes(SCENES))
