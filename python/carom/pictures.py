"""Pictures and figures as notebooks show them: drawn by what the commands draw with."""

from __future__ import annotations

import os
import pathlib
import tempfile

from . import _carom


class Picture:
    """The bytes of a PNG, ``png``; a notebook shows it."""

    def __init__(self, png: bytes) -> None:
        self.png = png

    def _repr_png_(self) -> bytes:
        return self.png

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file."""
        pathlib.Path(path).write_bytes(self.png)

    def __repr__(self) -> str:
        return f"<carom.Picture of {len(self.png)} bytes>"


def picture(self: _carom.Frame, size: tuple[int, int] = (1200, 900), color_by: str = "auto") -> Picture:
    """The balls in their box, as ``carom plot FILE balls`` draws them.

    ``size`` is the largest width and height in pixels; ``color_by`` is "auto", "species" or "speed".
    """
    width, height = size
    if not (100 <= width <= 10000 and 100 <= height <= 10000):
        raise ValueError(f"size is {size!r}; allowed: 100 to 10000 pixels wide and high")
    if color_by not in ("auto", "species", "speed"):
        raise ValueError(f"color_by is {color_by!r}; allowed: 'auto', 'species', 'speed'")
    return Picture(self._picture(int(width), int(height), color_by))


def _shown(self: _carom.Frame) -> bytes:
    return picture(self, (800, 600)).png


_carom.Frame.picture = picture  # type: ignore[assignment]
_carom.Frame._repr_png_ = _shown  # type: ignore[assignment]


def figure_of(stored: _carom.StoredRun, quantity: str) -> Picture:
    """A figure of a stored run, by gnuplot."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "figure.png"
        stored.figure(quantity, str(path))
        return Picture(path.read_bytes())
