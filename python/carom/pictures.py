"""Pictures and figures as notebooks show them: drawn by what the commands draw with."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import tempfile
from html import escape

from . import _carom
from .errors import InputError


def _write(path: str | os.PathLike[str], content: bytes) -> None:
    """A file takes the place of an older one when it is whole; a pipe or a device gets what there is."""
    if os.path.exists(path) and not os.path.isfile(path):
        pathlib.Path(path).write_bytes(content)
    else:
        _carom.write_file(os.fsdecode(path), content)


class Picture:
    """The bytes of a PNG, ``png``; a notebook shows it."""

    def __init__(self, png: bytes) -> None:
        self.png = png

    def _repr_png_(self) -> bytes:
        return self.png

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file, in place of an older one.

        Raises SystemError if that cannot be: the older one stays.
        """
        _write(path, self.png)

    def __repr__(self) -> str:
        return f"<carom.Picture of {len(self.png)} bytes>"


class Report:
    """A page about a stored run, ``html``: what ``carom report`` writes; a notebook shows it."""

    def __init__(self, html: str) -> None:
        self.html = html

    def _repr_html_(self) -> str:
        # In a frame of its own, for its style is not the notebook's.
        return (f'<iframe srcdoc="{escape(self.html)}" sandbox="" style="width: 100%; height: 40em; border: 0">'
                "</iframe>")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file, in place of an older one.

        Raises SystemError if that cannot be: the older one stays.
        """
        _write(path, self.html.encode("utf-8"))

    def __repr__(self) -> str:
        return f"<carom.Report of {len(self.html)} characters>"


def report(file: str | os.PathLike[str]) -> Report:
    """A page about a stored run, as ``carom report`` writes it. Needs gnuplot.

    Raises SystemError if the file cannot be read, InputError if it is no trajectory.
    """
    stored = _carom.open_stored(os.fsdecode(file))
    try:
        return Report(stored.report())
    finally:
        stored.close()


def view(file: str) -> subprocess.Popen[bytes]:
    """A window of a stored run: ``carom view FILE``, which the program beside this package shows, or that of PATH."""
    built = pathlib.Path(__file__).absolute().parents[2] / "bin/carom"
    program = os.environ.get("CAROM_PROGRAM") or (str(built) if built.exists() else shutil.which("carom"))
    if not program:
        raise InputError(["no program carom in PATH, which opens windows"])
    return subprocess.Popen([program, "view", file])


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
