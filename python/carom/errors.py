"""What can go wrong, in the words of the command line."""

from __future__ import annotations

import re

# FILE:LINE:COLUMN: KEY: what, or --set KEY=VALUE: KEY: what; FILE: KEY: what where the file does not say it.
_PLACE = re.compile(r"(?:(?P<file>.*?):(?P<line>\d+):(?P<column>\d+)|--set .*?|(?P<other>[^:]+)): "
                    r"(?:(?P<key>[A-Za-z_][\w-]*(?:\[\d+\]|\.[A-Za-z_][\w-]*)*): )?", re.DOTALL)


class Error(Exception):
    """Whatever carom says no to."""


class InputError(Error, ValueError):
    """What was asked for is wrong.

    str() of it is the line that the command line would print, and ``errors`` holds all such lines, one for each thing
    that is wrong. Of the first: ``file``, ``line``, ``column`` (from 1) and ``key`` ("run.until"); None where there is
    no telling.
    """

    def __init__(self, errors: list[str]) -> None:
        super().__init__(errors[0])
        self.errors = list(errors)
        place = _PLACE.match(errors[0])
        other = place["other"] if place else None  # a file, or else a key, an option, a ball
        if other is not None and not re.search(r"[/\\]|\.(toml|csv|h5|xyz|gsd|data|dump|txt)$|^<", other):
            self.file: str | None = None
        else:
            self.file = (place["file"] or other) if place else None
        self.line: int | None = int(place["line"]) if place and place["line"] else None
        self.column: int | None = int(place["column"]) if place and place["column"] else None
        self.key: str | None = place["key"] if place else None
        if other is not None and self.file is None and self.key is None and re.fullmatch(r"\w+(\[\d+\])?(\.\w+(\[\d+\])?)+", other):
            self.key = other

    def __reduce__(self) -> tuple[type[InputError], tuple[list[str]]]:
        return type(self), (self.errors,)


class SceneError(InputError):
    """A scene, or a key of it, is wrong."""


class SimulationError(Error, RuntimeError):
    """The simulation cannot go on; the words name the balls, their state, and what may help."""


class SystemError(Error, OSError):  # noqa: A001 - as the program calls it
    """A file or a device failed."""
