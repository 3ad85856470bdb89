"""Stored runs: frames that are read when they are looked at, rows and averages."""

from __future__ import annotations

import json
import math
import operator
import os
from collections.abc import Sequence
from types import TracebackType
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from . import _carom
from .pictures import Picture, figure_of
from .scene import Scene, here, scene_of_run
from .tables import Average, Table, average_of, rows_of


class Frames(Sequence[_carom.Frame]):
    """Some frames of a file, or all: by index and by slice; each is read when it is asked for, and not kept."""

    def __init__(self, stored: _carom.StoredRun, chosen: range) -> None:
        self._stored = stored
        self._chosen = chosen

    @overload
    def __getitem__(self, index: int) -> _carom.Frame: ...
    @overload
    def __getitem__(self, index: slice) -> Frames: ...
    def __getitem__(self, index: int | slice) -> _carom.Frame | Frames:
        if isinstance(index, slice):
            return Frames(self._stored, self._chosen[index])
        return self._stored.frame(self._chosen[operator.index(index)])

    def __len__(self) -> int:
        return len(self._chosen)

    @property
    def times(self) -> npt.NDArray[np.float64]:
        """Simulated times of the frames."""
        return self._stored.times()[list(self._chosen)]

    @property
    def steps(self) -> npt.NDArray[np.uint64]:
        """Time steps done at each; of `events`, events."""
        return self._stored.steps()[list(self._chosen)]

    def __repr__(self) -> str:
        return f"<carom.Frames: {len(self)}>"


class Trajectory(Frames):
    """A stored run. As a sequence, its frames: ``t[-1].position``, ``t[::10]``, ``len(t)``.

    What a file does not hold (``output.fields`` of the scene) is NaN. It may be of a run that goes on elsewhere: frames are
    those that there were when it was opened, while rows, summary and changes are those of now. Raises SystemError if it
    cannot be read, InputError if it is no trajectory, and RuntimeError once it is closed.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fsdecode(path)
        self._folder = here()
        stored = _carom.open_stored(self.path)
        super().__init__(stored, range(len(stored)))

    def at(self, time: float) -> _carom.Frame:
        """The frame nearest to a time."""
        if not math.isfinite(time):
            raise ValueError(f"time is {time!r}; it must be a finite number")
        if len(self) == 0:
            raise IndexError(f"{self.path} has no frames")
        return self._stored.frame(self._stored.frame_at(float(time)))

    @property
    def rows(self) -> Table:
        """All rows: a structured array with ``time``, ``step`` and a field for each quantity."""
        return rows_of(*self._stored.rows())

    @property
    def averages(self) -> dict[str, Average]:
        """The averages of [[observe]] as of the last frame, by name."""
        return self.averages_at(-1) if len(self) > 0 else {}

    def averages_at(self, frame: int) -> dict[str, Average]:
        """The same as of another frame: what had been gathered until then."""
        number = self._chosen[operator.index(frame)]
        return {info.name: average_of(info, table) for info, table in self._stored.averages(number)}

    @property
    def summary(self) -> dict[str, Any] | None:
        """What the run came to, as ``carom run --json`` prints it, with means, errors and what theory says under
        ``means``, ``averages`` and ``theory``; None if it did not end in order."""
        text = self._stored.summary()
        return json.loads(text) if text else None

    @property
    def changes(self) -> list[tuple[float, int, str]]:
        """Time, step and key of what was changed while the run went on."""
        return self._stored.changes()

    @property
    def title(self) -> str:
        return self._stored.title()

    @property
    def solver(self) -> dict[str, str | int | float]:
        """Solver, processor, precision, and the numbers that the run was computed with."""
        return self._stored.solver()

    @property
    def scene(self) -> Scene:
        """The scene that the run is of, ready to be run again.

        Files that it loads are looked for where they were; a run, or check(), raises SceneError where they are others.
        """
        return scene_of_run(self._stored.source(), self._stored.scene_path(), self._folder)

    def figure(self, quantity: str) -> Picture:
        """A figure of a quantity, as ``carom plot FILE QUANTITY`` draws it. Needs gnuplot.

        Raises InputError, with those that there are, for one that is none.
        """
        return figure_of(self._stored, quantity)

    @property
    def quantities(self) -> list[str]:
        """What there are figures of."""
        return self._stored.quantities()

    def close(self) -> None:
        """Frames that have been read stay."""
        self._stored.close()

    def __enter__(self) -> Trajectory:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<carom.Trajectory {self.path}>"


def open(path: str | os.PathLike[str]) -> Trajectory:  # noqa: A001 - carom.open, as one says it
    """Opens a stored run."""
    return Trajectory(path)
