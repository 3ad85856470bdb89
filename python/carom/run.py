"""Runs: a scene that goes on as far as it is told to."""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _carom
from .errors import InputError, SceneError
from .pictures import Picture, Report, figure_of, report, view
from .scene import Scene, bare_key, count_threads, floats, here, option_overrides
from .tables import Average, Table, average_of, rows_of


# box.wall_temperature as a whole would be one value for whichever stage it is.
_CHANGEABLE = re.compile(r"(physics|spring|events|thermostat)\.|box\.wall_temperature\[[0-2]\]\[[01]\]$|wall\[\d+\]\.temperature$")


_MOST_STEPS = 9 * 10**18  # less than the solver counts


class CaromWarning(UserWarning):
    """What one should know before a run, as the program says it."""


class Run:
    """A simulation of a scene, with the bits of ``carom run``.

    scene
        a Scene, or what Scene() takes
    output
        the trajectory, as ``carom run -o``; None: no file is written
    checkpoint, checkpoint_every, events_log, force
        as the options of ``carom run``; checkpoints are written beside ``output`` alone. Names are from the folder that
        one is in when the run begins
    observables
        functions of a frame by name, each of which gives a number, or a dict with ``function``, ``unit`` (SI, as files have
        it), ``label`` and ``components`` (names; the function then gives as many numbers): columns of the rows, called
        for each (``output.observables_every``), in the file, and averaged as all of them
    keep_frames
        the frames that the scene stores (``output.every``) stay in memory, in ``run.frames``
    solver, backend, precision, threads, until, seed
        as the options of ``carom run``

    Raises SceneError if the scene is wrong, InputError if a file is there already, SystemError if it cannot be written.

    >>> run = Run("two_balls", until=0.5)
    >>> run.advance(until=0.25)
    >>> round(run.time, 3)
    0.25
    >>> run.advance()
    >>> run.ended
    True
    """

    def __init__(self, scene: Scene | str | os.PathLike[str] | Mapping[str, Any], *,
                 output: str | os.PathLike[str] | None = None, checkpoint: str | os.PathLike[str] | None = None,
                 checkpoint_every: float = 0.0, events_log: str | os.PathLike[str] | None = None, force: bool = False,
                 keep_frames: bool = False, observables: Mapping[str, Any] | None = None, threads: int | None = None,
                 **options: Any) -> None:
        scene = scene if isinstance(scene, Scene) else Scene(scene)
        prepared = scene._prepare(force=force, threads=threads, **options)
        self._begin(prepared, output, checkpoint, checkpoint_every, events_log, force, keep_frames, observables)

    def _begin(self, prepared: _carom.Prepared, output: str | os.PathLike[str] | None = None,
               checkpoint: str | os.PathLike[str] | None = None, checkpoint_every: float = 0.0,
               events_log: str | os.PathLike[str] | None = None, force: bool = False,
               keep_frames: bool = False, observables: Mapping[str, Any] | None = None) -> None:
        if not (checkpoint_every >= 0.0 and math.isfinite(checkpoint_every)):
            raise ValueError(f"checkpoint_every is {checkpoint_every!r}; allowed: a finite number from 0 up")
        if output is None and (checkpoint is not None or checkpoint_every > 0.0):
            raise ValueError("checkpoints are written beside a trajectory: give output, or call save()")
        for warning in prepared.warnings:
            warnings.warn(warning, CaromWarning, stacklevel=3)
        path = _from_any_folder(output)
        self._output = path or None
        self._run = _carom.begin_run(prepared, path, _from_any_folder(checkpoint), float(checkpoint_every),
                                     _from_any_folder(events_log), bool(force), bool(keep_frames),
                                     [_observable(name, what) for name, what in (observables or {}).items()])
        self._advancing = False
        self._callbacks: list[tuple[_carom.Schedule, Callable[[Run], Any]]] = []

    # How it goes on.

    def advance(self, until: float | None = None) -> None:
        """Goes on to a simulated time, or to the end of the run, ``run.until`` of the scene.

        A run of `spring` stops at the step nearest to the time. At the end of the run files are closed; what is last in
        them is there from then on. Other threads of Python go on meanwhile. Ctrl-C raises KeyboardInterrupt, and an
        exception in a callback comes out of here; either leaves the run where it is, and it can go on.

        Raises ValueError for a time that has been, by more than half a step, or lies behind the end, SimulationError if
        the simulation cannot go on, and SystemError if a file or the device fails; either ends the run.
        """
        if self._advancing:
            raise RuntimeError("the run goes on already")
        goal = self._run.end if until is None else float(until)
        self._advancing = True
        try:
            if math.isnan(goal) or not self._callbacks:
                self._run.advance(goal)
                return
            while True:
                # A callback may change the run, and with it the times that it reaches.
                there = self._run.reachable_time(min(goal, self._run.end))
                due = min((schedule.next() for schedule, _ in self._callbacks), default=math.inf)
                try:
                    self._run.advance(goal if due >= there else due)
                except BaseException as error:
                    if self.ended:
                        self._call_due(error)
                    raise
                self._call_due()
                if self._run.time >= self._run.reachable_time(min(goal, self._run.end)):
                    break
        finally:
            self._advancing = False

    def _call_due(self, first: BaseException | None = None) -> None:
        """Calls all, whatever one raises, or has been raised first: at the end of the run there is no other time for them."""
        for schedule, callback in list(self._callbacks):
            try:
                if schedule.take(self._run.time):
                    callback(self)
            except BaseException as error:
                if first is None:
                    first = error
                else:
                    first.add_note(f"Of another callback at this time: {error!r}")
        if first is not None:
            try:
                raise first
            finally:
                del first  # which holds this frame, and so the run

    def step(self, count: int = 1) -> None:
        """Goes on by so many time steps of `spring`. Raises InputError for `events`, which has none."""
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or not 0 <= count <= _MOST_STEPS:
            raise ValueError(f"count is {count!r}; allowed: a whole number from 0 to {_MOST_STEPS:.0e}")
        try:
            until = self._run.time_of_step(self._run.step + int(count))
        except InputError:  # in words of the command line
            raise InputError(["the events solver has no steps; advance(until=...) goes on to a time"]) from None
        self.advance(until=until)

    def every(self, interval: float, callback: Callable[[Run], Any]) -> None:
        """From now on calls ``callback(run)`` at the multiples of a time, as rows and frames are due.

        The run may be looked at and changed there, and not be advanced. What the callback raises comes out of advance(), once
        all that are due have been called; of several that raise, the first, with notes of the others.
        """
        if not (interval > 0.0 and math.isfinite(interval)):
            raise ValueError(f"interval is {interval!r}; allowed: a finite number above 0")
        if not callable(callback):
            raise TypeError(f"{callback!r} cannot be called")
        self._callbacks.append((_carom.make_schedule(float(interval), self._run), callback))

    # What is done to it while it goes on.

    def set_velocities(self, velocity: npt.ArrayLike) -> None:
        """Gives all balls other velocities, from now on.

        velocity
            balls by axes, as ``frame().velocity`` has them [length/time]; of balls that have left the box it may
            be NaN, or masked

        As kick() for each ball, at once.

        >>> run = Run("two_balls")
        >>> run.set_velocities(-run.frame().velocity)  # back where they came from
        """
        frame = self.frame()
        array = floats(velocity, of_masked=math.nan)
        if array.shape != frame.velocity.shape:
            raise ValueError(f"velocity has the shape {array.shape}; it must be balls by axes, {frame.velocity.shape}")
        wrong = ~np.isfinite(array).all(axis=1) & (frame.gone == 0)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(f"velocity of ball {row} is {array[row].tolist()}; it must be finite")
        self._run.set_velocities(array)
        self._renew()

    def kick(self, ball: int, velocity: npt.ArrayLike, *, add: bool = False) -> None:
        """Gives a ball another velocity, from now on, as the cue of ``carom view`` does.

        ball
            its number, from 0
        velocity
            a number for each axis [length/time]; with ``add`` it is added to what the ball has

        The same kicks at the same steps give the same bits, on all processors and any number of threads. The energy that
        comes with them counts as work, and theory has no verdicts from then on. Raises InputError for a ball that is not
        there, and for a speed that the solver cannot go on with; the run stays as it was.

        >>> run = Run("two_balls", until=1.0)
        >>> run.kick(0, [0.0, 1.0], add=True)
        >>> run.changes
        [(0.0, 0, 'ball 0 kicked by [0, 1]')]
        """
        array = floats(velocity)
        axes = self._run.dimension
        if array.shape != (axes,) or not np.isfinite(array).all():
            raise ValueError(f"velocity is {array.tolist()!r}; it must be {axes} finite numbers")
        if isinstance(ball, bool) or not isinstance(ball, int | np.integer) or ball < 0:
            raise ValueError(f"ball is {ball!r}; allowed: a whole number from 0 up")
        if ball >= 2**64:  # which C++ does not take
            raise InputError([f"there is no ball {ball}; there are {len(self.frame())}"])
        self._run.kick(int(ball), array.tolist(), bool(add))
        self._renew()

    def change(self, changes: Mapping[str, Any]) -> None:
        """Gives keys of the scene other values, from now on: {"physics.gravity": [0.0, -2.0]}.

        The time step stays as it is unless it is what changes, and so does the stiffness, unless balls may become faster.
        What one should beware of is a CaromWarning. Where the balls stand, and how fast they are, stays. The same changes
        at the same steps give the same bits; of `events`, those of a scene with a stage that begins then. A run whose
        keys have been changed cannot be saved any more, nor does its output get further checkpoints.

        Raises SceneError where the scene may not be so, with the run as it was; or where the key is none of physics,
        spring, events, thermostat, box.wall_temperature or a wall's temperature.
        """
        wanted = Scene({})
        for key, value in changes.items():
            key = bare_key(key)
            if not _CHANGEABLE.match(key):
                shown = key if key.isprintable() else repr(key)
                raise SceneError([f"{shown}: cannot be changed while the run goes on; allowed: keys of physics, "
                                  "spring, events and thermostat, box.wall_temperature[AXIS][SIDE], wall[NUMBER].temperature"])
            wanted[key] = value
        warning = self._run.change(wanted._overrides) if changes else ""
        self._renew()
        if warning:
            warnings.warn(warning, CaromWarning, stacklevel=2)

    def _renew(self) -> None:
        """A run that goes on otherwise reaches other times, by a rounding at least."""
        for schedule, _ in self._callbacks:
            schedule.renew(self._run.time)

    @property
    def changes(self) -> list[tuple[float, int, str]]:
        """Time, step and words of all that was done to the run."""
        return self._run.changes()

    def close(self) -> None:
        """Ends the run where it is: writes the last frame, row and checkpoint, and closes the files."""
        if self._advancing:
            raise RuntimeError("the run goes on: a callback cannot close it")
        self._run.close()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a checkpoint of the state now, from which resume() goes on to the same bits.

        Raises InputError for a file that the run has read its scene or its balls from, SimulationError where balls
        of `spring` are so deep in each other that no run goes on: an older file stays.
        """
        self._run.save(os.fsdecode(path))

    # What it is.

    @property
    def time(self) -> float:
        """Simulated time."""
        return self._run.time

    @property
    def steps(self) -> int:
        """Time steps done; of `events`, events."""
        return self._run.step

    @property
    def until(self) -> float:
        """When the run ends: ``run.until`` of the scene, moved to a step."""
        return self._run.end

    @property
    def ended(self) -> bool:
        """Whether it can go no further."""
        return self._run.summary is not None

    @property
    def output(self) -> str | None:
        """The trajectory that is written, by its absolute name."""
        return self._output

    @property
    def text(self) -> str:
        """The complete text of the scene that is run."""
        return self._run.source

    @property
    def totals(self) -> _carom.Totals:
        """Energies, momentum, contacts of all balls now."""
        return self._run.totals()

    @property
    def state_hash(self) -> str:
        """16 digits of all bits of the state, as ``carom run`` prints them."""
        return self.frame().state_hash

    def frame(self) -> _carom.Frame:
        """All balls as they are now: arrays that stay as they are when the run goes on, or is no more."""
        return self._run.frame()

    def device_frame(self) -> _carom.DeviceFrame:
        """All balls as they are now, in the memory of the processor that steps them, for CuPy, JAX, PyTorch or NumPy.

        ``x``, ``y``, ``z``, ``vx``, ``vy``, ``vz`` (a number for each ball), ``position``, ``velocity`` and ``image`` (balls by
        axes) and ``gone`` are arrays with ``__dlpack__``, and on a GPU ``__cuda_array_interface__``. They are a copy that
        belongs to whoever asks, and stays as long as somebody has it: it may be written to, and the run does not see it
        (NumPy's asarray() can; its from_dlpack(), before 2.1, gives what nobody may write to).
        ``device`` says where it is: "cuda:0", or "cpu" for a run whose balls are in the host's memory.
        Velocities are floats of the run's precision. Raises RuntimeError where the device has no memory for it.

        >>> import numpy
        >>> run = Run("two_balls")
        >>> numpy.from_dlpack(run.device_frame().x)
        array([2., 5.])
        """
        return self._run.device_frame()

    @property
    def frames(self) -> list[_carom.Frame]:
        """What has been stored so far; nothing without ``keep_frames``."""
        return self._run.frames()

    @property
    def rows(self) -> Table:
        """What has been observed so far: a structured array with ``time``, ``step`` and a field for each quantity."""
        return rows_of(*self._run.rows())

    @property
    def averages(self) -> dict[str, Average]:
        """The averages of [[observe]] up to now, by name."""
        return {info.name: average_of(info, table) for info, table in self._run.averages()}

    @contextlib.contextmanager
    def _stored(self) -> Iterator[str]:
        """A trajectory of the run up to now: its own, or else one that goes with the block."""
        if self._output is not None:
            self._run.flush_files()  # rows wait for the next frame otherwise
            yield self._output
            return
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.h5")
            self._run.store(path)
            yield path

    def plot(self, quantity: str) -> Picture:
        """A figure of a quantity up to now, as ``carom plot FILE QUANTITY`` draws it. Needs gnuplot.

        Of frames, each with the averages as of then, there are those of ``output``; without a file those of
        ``keep_frames`` and the present one. Raises InputError, with the quantities that there are, for one that is
        none.
        """
        with self._stored() as path:
            stored = _carom.open_stored(path)
            try:
                return figure_of(stored, quantity)
            finally:
                stored.close()

    def report(self) -> Report:
        """A page about the run up to now, as ``carom report``. Needs gnuplot."""
        with self._stored() as path:
            return report(path)

    def view(self) -> subprocess.Popen[bytes]:
        """Opens a window with the run's file, which it follows while the run goes on: ``carom view FILE``.

        Returns the process. Raises ValueError for a run without ``output``, and InputError where there is no program.
        """
        if self._output is None:
            raise ValueError("a window shows a file: give the run an output")
        self._run.flush_files()
        return view(self._output)

    @property
    def summary(self) -> dict[str, Any]:
        """What the run came to: what ``carom run --json`` prints. Raises RuntimeError before it has ended."""
        if self._run.summary is None:
            raise RuntimeError(f"the run goes on: it is at t = {self.time:.6g} of {self.until:.6g}")
        return json.loads(self._run.summary)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"<carom.Run at t = {self.time:.6g} of {self.until:.6g}{', ended' if self.ended else ''}>"


def _from_any_folder(path: str | os.PathLike[str] | None) -> str:
    """Leads to the file wherever one goes while the run goes on; "" where there is none."""
    name = "" if path is None else os.fsdecode(path)
    # Not abspath(), which takes a `..` behind a link for what is above the link.
    return name if not name or os.path.isabs(name) else os.path.join(here(), name)


def _observable(name: str, what: Any) -> tuple[str, str, str, list[str], Callable[[_carom.Frame], Any]]:
    given = dict(what) if isinstance(what, Mapping) else {"function": what}
    unknown = set(given) - {"function", "unit", "label", "components"}
    if unknown or not callable(given.get("function")):
        raise TypeError(f"observables: {name} must be a function, or a dict with function, unit, label, components")
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        raise ValueError(f"observables: the name {name!r} must be of letters, digits and _, and begin with none of the digits")
    components = [str(one) for one in given.get("components", [])]
    unit, label = str(given.get("unit", "")), str(given.get("label", name.replace("_", " ")))
    for text in (name, unit, label, *components):
        if len(text) > 200:
            raise ValueError(f"observables: {text[:20]!r}... has {len(text)} letters; allowed: up to 200 in names, units and labels")
    return name, unit, label, components, given["function"]


def resume(checkpoint: str | os.PathLike[str], *, output: str | os.PathLike[str] | None = None,
           changes: Mapping[str, Any] | None = None, checkpoint_every: float = 0.0, force: bool = False,
           keep_frames: bool = False, observables: Mapping[str, Any] | None = None, threads: int | None = None,
           **options: Any) -> Run:
    """Goes on from a checkpoint, to the bits of a run that was never stopped, as ``carom run --resume``.

    ``changes`` are keys of the scene that are others from here on ({"run.until": 20.0}), as with ``--set`` there: of
    most it becomes another run of these balls, from time 0 on. ``observables`` must be those that the run had. The other arguments are those of Run.
    """
    wanted = Scene({})
    for key, value in (changes or {}).items():
        wanted[key] = value
    run = object.__new__(Run)
    prepared = _carom.prepare_resume(os.fsdecode(checkpoint), wanted._overrides + option_overrides(options),
                                     count_threads(threads))
    run._begin(prepared, output, None, checkpoint_every, None, force, keep_frames, observables)
    return run
