"""What can go wrong, in the words of the command line."""

from __future__ import annotations

import re

# FILE:LINE:COLUMN: KEY: what, or --set KEY=VALUE: KEY: what; FILE: KEY: what where the file does not say it.
_PLACE = re.compile(r"(?:(?P<file>.*?):(?P<line>\d+):(?P<column>\d+)|--set .*?|(?P<other>[^:]+)): "
                    r"(?:(?P<key>[A-Za-z_][\w-]*(?:\[\d+\]|\.[A-Za-z_][\w-]*)*): )?", re.DOTALL)
# What stands in the place of a file and is none: an option, a ball, a row, a key.
_NO_FILE = re.compile(r"--.*|ball \d+|rows have .*|(?P<key>(?:scene|units|box|physics|spring|events|run|output|look|thermostat|species|"
                      r"ball|fill|load|wall|observe|stage)(?:\[\d+\])?(?:\.\w+(?:\[\d+\])?)+)", re.DOTALL)


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
        other = place["other"] if place else None
        no_file = _NO_FILE.fullmatch(other) if other else None
        self.file: str | None = (place["file"] or (None if no_file else other)) if place else None
        self.line: int | None = int(place["line"]) if place and place["line"] else None
        self.column: int | None = int(place["column"]) if place and place["column"] else None
        self.key: str | None = (place["key"] or (no_file["key"] if no_file else None)) if place else None

    def __reduce__(self) -> tuple[type[InputError], tuple[list[str]]]:
        return type(self), (self.errors,)


class SceneError(InputError):
    """A scene, or a key of it, is wrong."""


class SimulationError(Error, RuntimeError):
    """The simulation cannot go on; the words name the balls, their state, and what may help."""


class SystemError(Error, OSError):  # noqa: A001 - as the program calls it
    """A file or a device failed."""
