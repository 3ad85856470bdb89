"""carom from Python: scenes, runs, and what came of them, as NumPy arrays.

>>> import carom
>>> run = carom.Run("two_balls", until=0.5)
>>> run.advance()
>>> run.frame().position.shape
(2, 2)
"""

from __future__ import annotations

import os

# How long threads spin is read from the environment when OpenMP is loaded: microseconds, as in the program (limit_spinning
# in host/cli/main.cpp says why), and not for the programs that are started from here.
_spinning = "OMP_WAIT_POLICY" not in os.environ and "GOMP_SPINCOUNT" not in os.environ
if _spinning:
    os.environ["GOMP_SPINCOUNT"] = "1000"
from . import _carom  # noqa: E402

if _spinning:
    del os.environ["GOMP_SPINCOUNT"]

from ._carom import Frame, Species, Totals  # noqa: E402
from .errors import Error, InputError, SceneError, SimulationError, SystemError  # noqa: A004, E402
from .pictures import Picture, Report, report  # noqa: E402
from .run import CaromWarning, Run, resume  # noqa: E402
from .scene import Scene, installed_scenes, to_toml  # noqa: E402
from .stored import Frames, Trajectory, open  # noqa: A004, E402
from .sweeps import sweep  # noqa: E402
from .tables import Average, Table, to_pandas  # noqa: E402

__version__: str = _carom.version

__all__ = ["Average", "CaromWarning", "Error", "Frame", "Frames", "InputError", "Picture", "Report", "Run", "Scene", "SceneError", "SimulationError",
           "Species", "SystemError", "Table", "Totals", "Trajectory", "installed_scenes", "open", "report", "resume", "sweep", "to_pandas", "to_toml"]
