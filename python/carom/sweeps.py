"""One scene over a grid of values."""

from __future__ import annotations

import concurrent.futures
import itertools
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _carom
from .errors import SimulationError
from .scene import OPTIONS, Scene, bare_key
from .tables import Table


def sweep(scene: Scene | str | os.PathLike[str] | Mapping[str, Any], axes: Mapping[str, Sequence[Any]],
          record: Sequence[str], *, jobs: int | None = None, **options: Any) -> Table:
    """Runs a scene with all combinations of values of some keys, several runs at once, each on one thread.

    ``axes`` has the values by key ({"physics.gravity[1]": [-1.0, -2.0]}), the last one fastest. ``record`` names what
    the last row or an average has ("kinetic_energy", "momentum.x"); of an average its standard error comes too, as
    NAME_se. ``jobs`` is how many runs go on at once, as many as there are cores by default; options are those of Run
    but for ``threads`` and ``force``.

    Returns a structured array, a row a run: a field for each axis, and one for each name. Where a run cannot go on its
    numbers are NaN, and a RuntimeWarning says why. Raises SceneError before anything runs where a scene is wrong, or later
    where a file that it loads has been changed meanwhile, and ValueError where a name is none, or a key or a column would
    be there twice.

    >>> table = sweep("two_balls", {"physics.restitution": [0.5, 1.0]}, ["kinetic_energy"], jobs=2, until=1.5)
    >>> table["physics.restitution"].tolist()
    [0.5, 1.0]
    """
    scene = scene if isinstance(scene, Scene) else Scene(scene)
    if jobs is not None and (isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1):
        raise ValueError(f"jobs is {jobs!r}; allowed: a whole number from 1 up")
    if isinstance(record, str) or not all(isinstance(name, str) for name in record):
        raise TypeError("record must be a list of names")
    for name in ("threads", "force"):
        if name in options:
            raise TypeError(f"{name} is no option of sweep(), which runs several at once, each on one thread, and writes no file")
    values: dict[str, list[Any]] = {}
    set_by = {OPTIONS[name]: f"the option {name}" for name, value in options.items()
              if name in OPTIONS and value is not None}
    for key, of_key in axes.items():
        key = bare_key(key)
        for other, who in set_by.items():
            if f"{key}.".startswith((f"{other}.", f"{other}[")) or f"{other}.".startswith((f"{key}.", f"{key}[")):
                raise ValueError(f"axes: {key!r} is set by {who} too")
        set_by[key] = f"the axis {key!r}"
        values[key] = list(of_key)
    scenes = []
    for combination in itertools.product(*values.values()):
        one = scene.copy()
        for key, value in zip(values, combination, strict=True):
            one[key] = value
        scenes.append(one)
    stop = _carom.make_stop()

    def prepare(one: Scene) -> _carom.Prepared:
        if stop.set:
            raise concurrent.futures.CancelledError
        return one._prepare(stop, threads=1, **options)

    def look(one: Scene) -> list[str]:
        return _carom.names_in_memory(prepare(one))

    def simulate(one: Scene) -> tuple[list[float], str]:
        try:
            return _carom.run_in_memory(prepare(one), stop), ""
        except SimulationError as error:
            return [], str(error)

    with concurrent.futures.ThreadPoolExecutor(jobs or os.cpu_count() or 1,
                                               initializer=_carom.use_one_thread) as pool:
        try:
            names = list(pool.map(look, scenes))
            for row, known in enumerate(names):
                for name in record:
                    if name not in known:
                        raise ValueError(f"record: there is no value {name!r} in row {row}; allowed: {', '.join(known)}")
            columns = [column for name in record
                       for column in ([name, f"{name}_se"] if any(f"{name}_se" in known for known in names) else [name])]
            arrays = {key: np.asarray(of_key) for key, of_key in values.items()}
            fields: list[Any] = [(key, array.dtype, array.shape[1:]) for key, array in arrays.items()]
            table = np.empty(len(scenes), dtype=fields + [(column, "f8") for column in columns])
            results = list(pool.map(simulate, scenes))
        except BaseException:
            stop.set = True
            pool.shutdown(wait=True, cancel_futures=True)
            raise

    for row, combination in enumerate(itertools.product(*values.values())):
        for key, value in zip(values, combination, strict=True):
            table[key][row] = value
        numbers, error = results[row]
        if error:
            warnings.warn(f"row {row}: {error}", RuntimeWarning, stacklevel=2)
        for column in columns:
            found = bool(numbers) and column in names[row]
            table[column][row] = numbers[names[row].index(column)] if found else np.nan
    return table.view(Table)
