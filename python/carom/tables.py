"""Rows and averages as arrays with named fields."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas

    from . import _carom


class Table(np.ndarray[Any, Any]):
    """A structured array of NumPy; its fields are plain arrays."""

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        return found.view(np.ndarray) if isinstance(found, Table) and found.dtype.names is None else found

    def to_pandas(self) -> pandas.DataFrame:
        """The same as a data frame of pandas, where that is; components as NAME.0 and so on."""
        return to_pandas(self)


def rows_of(infos: list[_carom.ObservableInfo], times: npt.NDArray[np.float64], steps: npt.NDArray[np.uint64],
            values: npt.NDArray[np.float64]) -> Table:
    """A structured array of rows; a field of several components has a second axis."""
    widths = [max(1, len(info.components)) for info in infos]
    # A scene may call a value of its own as it likes: time, and time_ beside it.
    taken = {"time", "step", *(info.name for info in infos)}
    names = [info.name for info in infos]
    for index, name in enumerate(names):
        if name in ("time", "step"):
            while names[index] in taken:
                names[index] += "_"
            taken.add(names[index])
    fields: list[Any] = [("time", "f8"), ("step", "u8")]
    fields += [(name, "f8", (width,)) if info.components else (name, "f8")
               for name, info, width in zip(names, infos, widths, strict=True)]
    rows = np.empty(len(times), dtype=fields)
    rows["time"] = times
    rows["step"] = steps
    table = values.reshape(len(times), sum(widths))
    at = 0
    for name, info, width in zip(names, infos, widths, strict=True):
        rows[name] = table[:, at:at + width] if info.components else table[:, at]
        at += width
    return rows.view(Table)


@dataclasses.dataclass(frozen=True)
class Average:
    """An average over a run.

    ``value`` and ``error`` (standard error; NaN where there are too few samples) have an axis for components, if there
    are any, and one each for ``x`` and ``y``, in this order, if it is a curve or a map: ``value[i, j]`` of a map is at
    ``x[i]``, ``y[j]``. Of a single number they are of shape ().
    """

    name: str
    kind: str
    unit: str
    label: str
    normalisation: str
    samples: float
    value: npt.NDArray[np.float64]
    error: npt.NDArray[np.float64]
    components: tuple[str, ...]
    x: npt.NDArray[np.float64]
    y: npt.NDArray[np.float64]
    x_label: str
    y_label: str

    def __repr__(self) -> str:
        if self.value.shape == ():
            return f"<carom.Average {self.name} = {self.value:.6g} +- {self.error:.2g}>"
        return f"<carom.Average {self.name} of shape {self.value.shape}>"

    @property
    def table(self) -> Table:
        """A curve as a structured array with fields x, value and error, or value_NAME and value_NAME_error of each component.

        A single number has no x, and its components are NAME and NAME_error.
        """
        if self.y_label:
            raise ValueError(f"{self.name} is a map: its values have the shape {self.value.shape}")
        names = tuple(f"value_{name}" if self.x_label else name for name in self.components) or ("value",)
        values = self.value.reshape(len(names), -1)
        errors = self.error.reshape(len(names), -1)
        fields = [name for one in names for name in (one, "error" if one == "value" else f"{one}_error")]
        table = np.empty(values.shape[1], dtype=[(name, "f8") for name in (["x"] if self.x_label else []) + fields])
        if self.x_label:
            table["x"] = self.x
        for k, name in enumerate(names):
            table[fields[2 * k]] = values[k]
            table[fields[2 * k + 1]] = errors[k]
        return table.view(Table)


def average_of(info: _carom.AverageInfo, table: _carom.AverageTable) -> Average:
    components, across, down = info.shape
    kept = tuple(length for length, label in zip(info.shape, (info.components, info.x_label, info.y_label), strict=True) if label)

    def arranged(numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """They lie as in a file: row by row, and x within a row."""
        return np.ascontiguousarray(numbers.reshape(components, down, across).swapaxes(1, 2)).reshape(kept)

    return Average(info.name, info.kind, info.unit, info.label, info.normalisation, table.samples,
                   arranged(table.values), arranged(table.errors), tuple(info.components), table.x, table.y,
                   info.x_label, info.y_label)


def to_pandas(table: npt.NDArray[Any]) -> pandas.DataFrame:
    """Rows or the table of an average as a data frame of pandas, where that is; components as NAME.0 and so on."""
    import pandas

    columns: dict[str, npt.NDArray[Any]] = {}
    for name in table.dtype.names or ():
        values = table[name]
        if values.ndim == 1:
            columns[name] = values
        else:
            columns |= {f"{name}.{k}": values[:, k] for k in range(values.shape[1])}
    return pandas.DataFrame(columns)
