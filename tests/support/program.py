"""Running the program as a user does, in a folder of its own."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

PROGRAM = os.environ["CAROM_PROGRAM"]
SOURCE = pathlib.Path(os.environ["CAROM_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ.get("CAROM_BUILD_DIR", ""))

# Whoever started the tests may ignore signals, as a shell does for what it runs in the background; the program, which
# keeps to that, shall not know.
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)


def ends(child, seconds=60):
    """The exit status of a child of this process; None if it waits for ever, and is killed."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def cached(variable):
    """What the build was configured with; "" if nothing is known of it."""
    cache = BUILD / "CMakeCache.txt"
    found = re.search(rf"^{variable}:\w+=(.*)$", cache.read_text(), re.M) if cache.exists() else None
    return found.group(1) if found else ""


# A small gas whose run takes about as long as the machine needs for `until` * 1000 steps of 200 disks.
GAS = """
[scene]
title = "small gas"
dimension = 2
seed = 7

[box]
size = [24.0, 24.0]
boundary = ["periodic", "wall"]

[spring]
stiffness = 1.0e4
dt = 1.0e-3

[run]
until = 0.5
backend = "cpu"

[output]
every = 0.1
observables_every = 0.05

[[fill]]
count = 200
radius = 0.5
mass = 1.0
temperature = 1.0
"""

# A gas of two kinds of balls, by the solver %s.
MIXTURE = """
[scene]
title = "two kinds"
dimension = 2
seed = 5

[box]
size = [16.0, 12.0]
boundary = ["periodic", "wall"]

[run]
solver = "%s"
backend = "cpu"
until = 6.0

[output]
every = 1.0
observables_every = 0.05

[[species]]
name = "light"
radius = 0.3
mass = 1.0

[[species]]
name = "heavy"
radius = 0.5
mass = 5.0

[[fill]]
species = "light"
count = 60
temperature = 1.0

[[fill]]
species = "heavy"
count = 30
temperature = 1.0
"""


def keys_of_reference():
    """table.key of the scene file -> what it takes, as the reference says it."""
    words, table = {}, ""
    for line in (SOURCE / "docs/scene-file.md").read_text().splitlines():
        if line.startswith("#"):
            table = line.strip("# `[]") if "`[" in line else ""
        elif table and line.startswith("| `"):
            key, words_of_key = line.split(" | ")[:2]
            words[f"{table}.{key[3:-1]}"] = words_of_key
    return words


class Result:
    """What one call of the program left behind."""

    def __init__(self, done):
        self.status = done.returncode
        self.out = done.stdout
        self.err = done.stderr

    @property
    def json(self):
        """The object on the last line of standard output."""
        return json.loads(self.out.strip().splitlines()[-1])


class ProgramTest(unittest.TestCase):
    """Each test has an empty folder, `self.folder`, which is the program's current one."""

    patience = 300  # for one call of the program [s]

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="carom-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def carom(self, *arguments, **options):
        """Runs the program to its end."""
        done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
                              timeout=self.patience, **options)
        return Result(done)

    def start(self, *arguments, **options):
        """Starts the program and does not wait."""
        return subprocess.Popen([PROGRAM, *map(str, arguments)], cwd=self.folder, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, **options)

    def succeed(self, *arguments, **options):
        result = self.carom(*arguments, **options)
        self.assertEqual(result.status, 0, result.err)
        return result

    def run_json(self, *arguments, **options):
        return self.succeed("run", *arguments, "--json", "--quiet", **options).json

    def files(self):
        return sorted(path.name for path in self.folder.iterdir())
