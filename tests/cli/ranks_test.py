"""A run that is shared by ranks, under a real launcher of MPI."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

import h5py
from program import GAS, PROGRAM, ProgramTest, cached

MODULE = pathlib.Path(PROGRAM).resolve().parent / "carom_mpi.so"
LAUNCHER = shutil.which("mpirun")
# Root may be asked for twice whether it means it; and none of these runs shall be bound to one core.
LAUNCH = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
          "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}

SPHERES = """
[scene]
title = "spheres that leave"
dimension = 3
seed = 3

[box]
size = [14.0, 12.0, 13.0]
boundary = [["wall", "open"], "periodic", "wall"]

[physics]
restitution = 0.8

[thermostat]
kind = "andersen"
temperature = 1.0
rate = 5.0

[spring]
stiffness = 2.0e4
dt = 5.0e-4

[run]
until = 0.4
backend = "cpu"

[output]
every = 0.2
observables_every = 0.1

[[fill]]
count = 500
radius = 0.5
mass = 1.0
temperature = 2.0
"""


@unittest.skipIf(LAUNCHER is None, "no mpirun here (Debian: openmpi-bin)")
@unittest.skipIf(not MODULE.exists(), "built without MPI")
@unittest.skipIf(cached("CAROM_SANITIZE") != "", "MPI itself leaks, and is not built with sanitizers")
class Ranks(ProgramTest):
    @classmethod
    def setUpClass(cls):
        # Where a launcher may open no socket, it can start nothing at all, whatever carom does.
        tried = subprocess.run([LAUNCHER, "-n", "2", "true"], capture_output=True, text=True, env={**os.environ, **LAUNCH})
        if tried.returncode != 0:
            raise unittest.SkipTest(f"mpirun cannot start anything here: {' '.join(tried.stderr.split())[:300]}")

    def launch(self, ranks, *arguments):
        return subprocess.run([LAUNCHER, "-n", str(ranks), PROGRAM, *map(str, arguments)], cwd=self.folder,
                              capture_output=True, text=True, timeout=120, env={**os.environ, **LAUNCH})

    def summary(self, ranks, *arguments):
        if ranks == 1:
            return self.run_json(*arguments[1:], "--quiet", "--force")
        done = self.launch(ranks, *arguments, "--json", "--quiet", "--force")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_any_number_gives_the_bits_of_one(self):
        (self.folder / "gas.toml").write_text(GAS)
        (self.folder / "spheres.toml").write_text(SPHERES)
        for scene, counts in (("gas", (1, 2, 4)), ("spheres", (1, 3))):
            runs = {ranks: self.summary(ranks, "run", f"{scene}.toml", "-o", f"{scene}{ranks}.h5") for ranks in counts}
            for ranks, run in runs.items():
                with self.subTest(scene=scene, ranks=ranks):
                    self.assertEqual(run["state_hash"], runs[1]["state_hash"])
                    self.assertEqual(run.get("ranks", 1), ranks)
                    self.assertEqual(self.values(f"{scene}{ranks}.h5"), self.values(f"{scene}1.h5"))

    def values(self, name):
        """Of all that a trajectory holds of balls and rows, by name, bit for bit."""
        found = {}
        with h5py.File(self.folder / name) as file:
            for group in ("particles", "observables"):
                file[group].visititems(lambda path, item: found.update({path: item[()].tobytes()})
                                       if isinstance(item, h5py.Dataset) else None)
        self.assertGreater(len(found), 10)
        return found

    def test_a_run_goes_on_with_another_number(self):
        (self.folder / "gas.toml").write_text(GAS)
        whole = self.summary(1, "run", "gas.toml", "-o", "whole.h5", "--until", "0.6")
        self.summary(3, "run", "gas.toml", "-o", "a.h5", "--until", "0.3")
        gone_on = self.summary(2, "run", "--resume", "a.checkpoint.h5", "-o", "b.h5", "--until", "0.6")
        self.assertEqual(gone_on["state_hash"], whole["state_hash"])

    def test_what_cannot_be_shared_is_refused_in_one_line(self):
        (self.folder / "gas.toml").write_text(GAS)
        for options, words in ((("--solver", "events"), "run.solver: the events solver runs in one process"),
                               (("--backend", "cuda"), "run.backend: several ranks run on the CPU"),
                               (("--ranks-per-axis", "3,1"), "--ranks-per-axis: '3,1' is not how 2 ranks stand"),
                               (("--set", "nothing.at=1"), "nothing")):
            with self.subTest(options=options):
                done = self.launch(2, "run", "gas.toml", *options)
                self.assertEqual(done.returncode, 2, done.stderr)
                lines = [line for line in done.stderr.splitlines() if line.startswith("carom: ")]
                self.assertEqual(len(lines), 1, done.stderr)
                self.assertIn(words, lines[0])
        alone = self.carom("run", "gas.toml", "--ranks-per-axis", "1,1")
        self.assertEqual(alone.status, 2)
        self.assertIn("allowed under mpirun or srun", alone.err)

    def test_other_commands_are_done_by_each_for_itself(self):
        done = self.launch(3, "--version")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("carom "), 3, "none keeps silent and says that it is done")

    def begin(self, ranks):
        (self.folder / "gas.toml").write_text(GAS)
        run = subprocess.Popen([LAUNCHER, "-n", str(ranks), PROGRAM, "run", "gas.toml", "--until", "1e4", "--quiet",
                                "-o", "long.h5"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, env={**os.environ, **LAUNCH})
        self.addCleanup(run.kill)
        for _ in range(300):
            if (self.folder / "long.h5").exists() and len(self.ranks_of(run)) == ranks:
                time.sleep(0.5)
                return run
            time.sleep(0.1)
        self.fail("the run does not begin")

    def ranks_of(self, run):
        """Processes of the ranks, by number."""
        ranks = {}
        for process in subprocess.run(["pgrep", "-P", str(run.pid)], capture_output=True, text=True).stdout.split():
            try:
                words = pathlib.Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
            except OSError:
                continue
            for word in words:
                if word.startswith(b"OMPI_COMM_WORLD_RANK="):
                    ranks[int(word.split(b"=")[1])] = int(process)
        return ranks

    def test_a_signal_to_any_rank_ends_the_run_with_a_checkpoint(self):
        run = self.begin(2)
        os.kill(self.ranks_of(run)[1], signal.SIGTERM)
        out, errors = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 143, errors)
        self.assertIn("carom: interrupted", errors)
        self.assertTrue((self.folder / "long.checkpoint.h5").exists())

    def test_a_rank_that_dies_takes_the_run_with_it_at_once(self):
        run = self.begin(3)
        os.kill(self.ranks_of(run)[2], signal.SIGKILL)
        run.communicate(timeout=60)
        self.assertNotEqual(run.returncode, 0)
        self.succeed("state", "long.h5")


class Alone(ProgramTest):
    def test_without_a_module_ranks_are_refused(self):
        (self.folder / "gas.toml").write_text(GAS)
        self.environment = {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0", "CAROM_MPI_MODULE": "/nowhere.so"}
        done = subprocess.run([PROGRAM, "run", "gas.toml"], cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, **self.environment})
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("carom: started as one of 2 ranks, but there is no module for MPI (looked for /nowhere.so)",
                      done.stderr)
        self.assertFalse((self.folder / "gas.h5").exists())


if __name__ == "__main__":
    unittest.main()
