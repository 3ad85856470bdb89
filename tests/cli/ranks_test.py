"""A run that is shared by ranks, under a real launcher of MPI."""

import contextlib
import json
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import h5py
from program import GAS, PROGRAM, ProgramTest, cached

MODULE = pathlib.Path(PROGRAM).resolve().parent / "carom_mpi.so"
REHEARSAL = MODULE.parent / "carom_rehearsal"
LAUNCHER = shutil.which("mpirun")
# Root may be asked for twice whether it means it; and none of these runs shall be bound to one core. Two launchers that make
# their folder beside each other at the same moment, those of another test too, may find that there is one, and give up.
LAUNCHERS_FOLDER = tempfile.TemporaryDirectory(prefix="carom-mpi-")
LAUNCH = {"TMPDIR": LAUNCHERS_FOLDER.name, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
          "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
          "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}

KILLS = int(os.environ.get("CAROM_KILLS", "2"))

# More balls than a part of a frame or checkpoint has.
MANY = (GAS.replace("[24.0, 24.0]", "[700.0, 700.0]").replace("count = 200", 'count = 280000\narrangement = "lattice"')
        .replace("until = 0.5", "until = 0.01").replace("every = 0.1\n", "every = 0.005\n"))

# All that is done where the balls are: lattices of several sizes, stages, a thermostat that rescales, averages.
OBSERVED = (GAS.replace("count = 200", 'count = 200\narrangement = "lattice"\nsizes = {kind = "lognormal", spread = 0.1}')
            .replace("every = 0.1\n", "every = 0.25\n") + """
[[fill]]
count = 20
radius = 0.3
mass = 2.0
temperature = 1.0
arrangement = "lattice"

[[stage]]
until = 0.2
thermostat = {kind = "rescale", temperature = 0.5, every = 0.03}

[[stage]]
until = 0.3
gravity = [0.0, -1.0]
measure = true

[[stage]]
until = 0.5
""" + "".join(f'[[observe]]\nname = "a_{kind}"\nkind = "{kind}"\nevery = 0.01\n' for kind in
              ("speed", "velocity", "density", "temperature_map", "gr", "msd", "vacf", "stress")))

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
class Launched(ProgramTest):
    @classmethod
    def setUpClass(cls):
        # Where a launcher may open no socket, it can start nothing at all, whatever carom does.
        tried = subprocess.run([LAUNCHER, "-n", "2", "true"], capture_output=True, text=True, env={**os.environ, **LAUNCH})
        if tried.returncode != 0:
            raise unittest.SkipTest(f"mpirun cannot start anything here: {' '.join(tried.stderr.split())[:300]}")

    def launch(self, ranks, *arguments, program=PROGRAM):
        return subprocess.run([LAUNCHER, "-n", str(ranks), program, *map(str, arguments)], cwd=self.folder,
                              capture_output=True, text=True, timeout=120, env={**os.environ, **LAUNCH})

    def start(self, ranks, *arguments, launcher=()):
        process = subprocess.Popen([LAUNCHER, *launcher, "-n", str(ranks), PROGRAM, *map(str, arguments)], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, **LAUNCH})
        self.addCleanup(process.kill)
        return process

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

    def said_by_carom(self, text):
        return [line for line in text.splitlines() if line.startswith("carom: ")]

    def fill_disk(self, run, processes, file, room):
        """So many bytes after what rank 0 has in a file; the one line of the end that follows."""
        size = (self.folder / file).stat().st_size + room
        resource.prlimit(processes[0], resource.RLIMIT_FSIZE, (size, size))  # of any one file
        _, errors = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 4, errors)
        said = self.said_by_carom(errors)
        self.assertEqual(len(said), 1, errors)
        return said[0]


class Ranks(Launched):
    def summary(self, ranks, *arguments):
        if ranks == 1:
            return self.run_json(*arguments[1:], "--quiet", "--force")
        done = self.launch(ranks, *arguments, "--json", "--quiet", "--force")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_any_number_gives_the_bits_of_one(self):
        (self.folder / "gas.toml").write_text(GAS)
        (self.folder / "spheres.toml").write_text(SPHERES)
        (self.folder / "observed.toml").write_text(OBSERVED)
        for scene, counts in (("gas", (1, 2, 4)), ("spheres", (1, 3)), ("observed", (1, 3))):
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

    @unittest.skipUnless(REHEARSAL.exists(), "this build has no emulated backend: Thrust's headers were not found")
    def test_on_gpus_it_gives_the_bits_of_the_cpu(self):
        (self.folder / "spheres.toml").write_text(SPHERES)
        alone = self.summary(1, "run", "spheres.toml", "-o", "alone.h5")
        for ranks in (2, 3):
            done = self.launch(ranks, "run", "spheres.toml", "--backend", "cuda", "-o", "gpus.h5", "--json", "--quiet", "--force",
                               program=REHEARSAL)
            self.assertEqual(done.returncode, 0, done.stderr)
            run = json.loads(done.stdout)
            self.assertEqual(run["state_hash"], alone["state_hash"])
            self.assertEqual((run["backend"], run["ranks"], run["device"]), ("cuda", ranks, "emulated"))
            self.assertEqual(self.values("gpus.h5"), self.values("alone.h5"))

    @unittest.skipUnless(REHEARSAL.exists(), "this build has no emulated backend: Thrust's headers were not found")
    def test_a_gpu_that_fails_on_rank_0_is_named(self):
        (self.folder / "spheres.toml").write_text(SPHERES)
        first = self.folder / "first"
        first.write_text(f'#!/bin/sh\n[ $OMPI_COMM_WORLD_RANK != 0 ] || export CAROM_DEVICE_FAULT=wait:40\n'
                         f'exec {shlex.quote(str(REHEARSAL))} "$@"\n')
        first.chmod(0o755)
        done = self.launch(2, "run", "spheres.toml", "--backend", "cuda", "-o", "gpus.h5", "--quiet", program=first)
        self.assertEqual(done.returncode, 4, done.stderr)
        said = self.said_by_carom(done.stderr)
        self.assertEqual(len(said), 1, done.stderr)
        self.assertRegex(said[0], r"\Acarom: wait failed on emulated: ")

    def test_files_in_parts_are_those_of_one_process(self):
        (self.folder / "many.toml").write_text(MANY)
        for ranks in (1, 2):
            self.summary(ranks, "run", "many.toml", "-o", f"{ranks}.h5")
        for ranks in (1, 2):  # which goes on from what the other has left
            run = self.summary(ranks, "run", "--resume", f"{3 - ranks}.checkpoint.h5", "-o", f"on{ranks}.h5", "--until",
                               "0.015")
            self.assertEqual(run.get("ranks", 1), ranks)
        self.assertEqual(self.values("1.h5"), self.values("2.h5"))
        self.assertEqual(self.values("on1.h5"), self.values("on2.h5"))
        balls = []
        for ranks in (1, 2):
            with h5py.File(self.folder / f"on{ranks}.checkpoint.h5") as file:
                found = {}
                file["balls"].visititems(lambda path, item: found.update({path: item[()].tobytes()})
                                         if isinstance(item, h5py.Dataset) else None)
                balls.append(found)
        self.assertEqual(*balls)
        self.assertEqual((self.folder / "1.h5").stat().st_size, (self.folder / "2.h5").stat().st_size)

    def test_after_kill_9_of_any_rank_the_file_opens_and_the_last_checkpoint_goes_on(self):
        (self.folder / "many.toml").write_text(MANY)
        options = ("--set", "output.every=0.001", "--checkpoint-every", "0.001", "--until")
        begin = time.monotonic()
        whole = self.summary(2, "run", "many.toml", "-o", "whole.h5", *options, "0.005")
        length = time.monotonic() - begin
        chance = random.Random(KILLS)
        resumed = 0
        for k in range(10 * KILLS):
            if resumed == KILLS:
                break
            (self.folder / "killed.checkpoint.h5").unlink(missing_ok=True)
            run = self.start(2, "run", "many.toml", "--quiet", "-o", "killed.h5", "--force", *options, "0.004")
            while not (self.folder / "killed.checkpoint.h5").exists() and run.poll() is None:
                time.sleep(0.01)
            time.sleep(chance.uniform(0.0, 0.3) * length)
            processes = self.ranks_of(run)
            with contextlib.suppress(KeyError, ProcessLookupError):  # it is done
                os.kill(processes[k % 2], signal.SIGKILL)
            run.communicate(timeout=60)
            if run.returncode == 0:
                continue
            self.assert_ended(processes.values())
            if not (self.folder / "killed.checkpoint.h5").exists():
                continue
            with h5py.File(self.folder / "killed.h5") as file:
                times = file["particles/all/position/time"][()]
            self.succeed("state", "killed.h5")
            rest = self.run_json("--resume", "killed.checkpoint.h5", "-o", "rest.h5", "--force", "--until", "0.005")
            self.assertEqual(rest["state_hash"], whole["state_hash"])
            with h5py.File(self.folder / "rest.h5") as file:
                begin = file["particles/all/position/time"][0]
            # All frames before the checkpoint had been written when it was taken.
            self.assertGreaterEqual(sum(t <= begin + 1e-9 for t in times), round(begin / 0.001))
            resumed += 1
        self.assertEqual(resumed, KILLS)
        if KILLS > 5:
            print(f"{resumed} kills, each resumed to the same bits", flush=True)

    def test_a_full_disk_in_the_middle_of_a_frame_in_parts_loses_only_that(self):
        many = (GAS.replace("[24.0, 24.0]", "[900.0, 900.0]")
                .replace("count = 200", 'count = 600000\narrangement = "lattice"')
                .replace("until = 0.5", "until = 1000.0").replace("every = 0.1\n", "every = 0.01\n"))
        (self.folder / "many.toml").write_text(many)
        run = self.start(2, "run", "many.toml", "--quiet", "-o", "many.h5")
        for _ in range(600):
            if (self.folder / "many.h5").exists() and (self.folder / "many.h5").stat().st_size > 20e6:
                break
            time.sleep(0.1)
        # Of a frame of 24 MB and some: room for one of its three parts.
        said = self.fill_disk(run, self.ranks_of(run), "many.h5", 34_000_000)
        self.assertRegex(said, r"^carom: .*many\.h5.* frames? and .*safely")
        self.succeed("state", "many.h5")

    def test_a_run_goes_on_with_another_number(self):
        displaced = '[[observe]]\nname = "way"\nkind = "displaced"\n'  # since a start that is made anew
        (self.folder / "gas.toml").write_text(GAS + displaced)
        whole = self.summary(1, "run", "gas.toml", "-o", "whole.h5", "--until", "0.6")
        self.summary(3, "run", "gas.toml", "-o", "a.h5", "--until", "0.3")
        rest = {ranks: self.summary(ranks, "run", "--resume", "a.checkpoint.h5", "-o", f"{ranks}.h5", "--until", "0.6")
                for ranks in (1, 2)}
        self.assertEqual([run["state_hash"] for run in rest.values()], 2 * [whole["state_hash"]])
        self.assertEqual(self.values("2.h5"), self.values("1.h5"))

    def test_what_cannot_be_shared_is_refused_in_one_line(self):
        (self.folder / "gas.toml").write_text(GAS)
        runs = [(options, words, self.start(2, "run", "gas.toml", *options)) for options, words in (
            (("--solver", "events"), "run.solver: the events solver runs in one process"),
            (("--device", "0"), "--device: each rank takes one of its machine's GPUs by itself"),
            (("--ranks-per-axis", "3,1"), "--ranks-per-axis: '3,1' is not how 2 ranks stand"),
            (("--set", "nothing.at=1"), "nothing"))]  # side by side: to start takes longest
        for options, words, run in runs:
            with self.subTest(options=options):
                _, errors = run.communicate(timeout=60)
                self.assertEqual(run.returncode, 2, errors)
                lines = self.said_by_carom(errors)
                self.assertEqual(len(lines), 1, errors)
                self.assertIn(words, lines[0])
        alone = self.carom("run", "gas.toml", "--ranks-per-axis", "1,1")
        self.assertEqual(alone.status, 2)
        self.assertIn("allowed under mpirun or srun", alone.err)

    def test_more_layers_than_the_box_has_cells_are_wrong_input(self):
        (self.folder / "gas.toml").write_text(GAS)
        done = self.launch(4, "run", "gas.toml", "--set", "box.size=[3.2, 24.0]", "--set", "fill[0].count=5",
                           "--ranks-per-axis", "4,1")
        self.assertEqual(done.returncode, 2, done.stderr)
        lines = self.said_by_carom(done.stderr)
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertRegex(lines[0], r"^carom: 4 ranks cannot share the 3 x \d+ cells of this box in the layers asked for; "
                                   r"at most 3,\d+ can$")
        self.assertFalse((self.folder / "gas.h5").exists())

    def test_other_commands_are_done_by_each_for_itself(self):
        done = self.launch(3, "--version")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("carom "), 3, "none keeps silent and says that it is done")

    def begin(self, ranks, *launcher):
        (self.folder / "gas.toml").write_text(GAS)
        run = self.start(ranks, "run", "gas.toml", "--until", "1e4", "--quiet", "-o", "long.h5", launcher=launcher)
        for _ in range(1500):
            if (self.folder / "long.h5").exists() and len(self.ranks_of(run)) == ranks:
                time.sleep(0.1)
                return run
            time.sleep(0.02)
        self.fail("the run does not begin")

    def test_a_signal_to_any_rank_or_all_ends_the_run_with_a_checkpoint(self):
        for hit in ([1], [0, 1, 2]):
            with self.subTest(ranks=hit):
                run = self.begin(3)
                processes = self.ranks_of(run)
                for rank in hit:
                    os.kill(processes[rank], signal.SIGTERM)
                _, errors = run.communicate(timeout=60)
                self.assertEqual(run.returncode, 143, errors)
                self.assertEqual(len(self.said_by_carom(errors)), 1, errors)
                self.assertIn("carom: interrupted at t = ", errors)
                (self.folder / "long.checkpoint.h5").unlink()
                (self.folder / "long.h5").unlink()

    def test_a_signal_to_the_launcher_is_one_to_all(self):
        run = self.begin(3, "--mca", "odls_base_sigkill_timeout", "4")  # [s], which it waits in any case
        processes = self.ranks_of(run).values()
        run.terminate()
        _, errors = run.communicate(timeout=60)
        self.assertNotEqual(run.returncode, 0)  # what it is, the launcher says
        self.assertEqual(len(self.said_by_carom(errors)), 1, errors)
        self.assertIn("carom: interrupted at t = ", errors)
        self.assert_ended(processes)
        self.succeed("state", "long.h5")
        until = float(re.search(r"interrupted at t = ([0-9.e+]+);", errors).group(1)) + 0.05
        self.succeed("run", "--resume", "long.checkpoint.h5", "--until", until, "-o", "more.h5", "--quiet")

    def assert_ended(self, processes):
        def runs(process):
            try:
                return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
            except OSError:
                return False
        end = time.monotonic() + 20.0
        while any(map(runs, processes)) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual([process for process in processes if runs(process)], [])

    def test_a_rank_that_dies_takes_the_run_with_it_at_once(self):
        for which in (2, 0):  # the others are in a step, and wait for its copies
            with self.subTest(rank=which):
                run = self.begin(3)
                processes = self.ranks_of(run)
                begin = time.monotonic()
                os.kill(processes[which], signal.SIGKILL)
                run.communicate(timeout=60)
                self.assertLess(time.monotonic() - begin, 30.0)
                self.assertNotEqual(run.returncode, 0)
                self.assert_ended(processes.values())
                self.succeed("state", "long.h5")
                (self.folder / "long.h5").unlink()

    def test_a_guard_that_trips_on_another_rank_says_what_it_says_in_one_process(self):
        # At the far end two balls meet that are too fast for their springs.
        pair = "".join(f"""
[[ball]]
radius = 0.5
mass = 1.0
position = [{x}, 12.0]
velocity = [{v}, 0.0]
""" for x, v in ((34.0, 200.0), (36.0, -200.0)))
        (self.folder / "clash.toml").write_text(GAS.replace("[24.0, 24.0]", "[40.0, 24.0]") + pair)
        alone = self.carom("run", "clash.toml", "-o", "clash.h5", "--quiet")
        self.assertEqual(alone.status, 3, alone.err)
        done = self.launch(3, "run", "clash.toml", "-o", "clash.h5", "--quiet", "--force", "--ranks-per-axis", "3,1")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(self.said_by_carom(done.stderr), alone.err.splitlines())
        self.succeed("state", "clash.h5")

    def test_a_full_disk_under_rank_0_ends_all(self):
        run = self.begin(3)
        said = self.fill_disk(run, self.ranks_of(run), "long.h5", 20000)
        self.assertRegex(said, r"^carom: .*long\.h5.*to go on from t = ")
        self.succeed("state", "long.h5")

    def test_a_rank_that_is_out_of_memory_ends_all_and_is_named(self):
        # Measured under a limit, too, if one that is never reached: without any, threads have arenas of their own.
        usual = resource.getrlimit(resource.RLIMIT_AS)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_AS, usual)
        resource.setrlimit(resource.RLIMIT_AS, (1 << 44, usual[1]))
        run = self.begin(2)
        resource.setrlimit(resource.RLIMIT_AS, usual)
        status = pathlib.Path(f"/proc/{self.ranks_of(run)[1]}/status").read_text()
        run.terminate()
        run.communicate(timeout=60)
        kilobytes = int(re.search(r"VmPeak:\s+(\d+)", status).group(1)) + 8000  # what a rank with few balls needs, and some
        (self.folder / "large.toml").write_text(GAS.replace("[24.0, 24.0]", "[1000.0, 1000.0]")
                                                .replace("count = 200", "count = 400000"))
        begin = time.monotonic()
        done = subprocess.run([LAUNCHER, "-n", "2", "sh", "-c",
                               f'[ $OMPI_COMM_WORLD_RANK = 0 ] || ulimit -v {kilobytes}; exec "$0" "$@"', PROGRAM, "run",
                               "large.toml", "--quiet", "--threads", "1"], cwd=self.folder, capture_output=True, text=True,
                              timeout=120, env={**os.environ, **LAUNCH})
        self.assertEqual(done.returncode, 4, done.stderr)
        said = self.said_by_carom(done.stderr)
        self.assertEqual(said[0], "carom: rank 1: out of memory")
        # The launcher then sends SIGTERM to rank 0, which cannot know why, and while it begins a run ends with a word.
        self.assertIn(said[1:], ([], ["carom: interrupted"]))
        self.assertLess(time.monotonic() - begin, 60.0)

    def peaks(self, run):
        """The most memory that each rank has had, once the run is over [bytes]."""
        peaks = {}
        while run.poll() is None:
            for rank, process in self.ranks_of(run).items():
                try:
                    status = pathlib.Path(f"/proc/{process}/status").read_text()
                except OSError:
                    continue
                if found := re.search(r"VmHWM:\s+(\d+)", status):
                    peaks[rank] = max(peaks.get(rank, 0), 1024 * int(found.group(1)))
            time.sleep(0.02)
        self.assertEqual(run.returncode, 0, run.communicate()[1])
        return peaks

    def foretold_and_taken(self, scene, ranks):
        """Of each rank; the second within a fifth of the first."""
        told = json.loads(self.succeed("check", scene, "--steps", "4", "--ranks", ranks, "--json").out)
        self.assertEqual(told["ranks"], ranks)
        run = self.start(ranks, "run", scene, "--steps", "4", "--checkpoint-every", "0.002", "--quiet", "--force",
                         "--threads", "1")
        peaks = self.peaks(run)
        for rank in range(ranks):
            foretold = told["rank_0_memory_bytes" if rank == 0 else "rank_memory_bytes"]
            self.assertAlmostEqual(foretold / peaks[rank], 1.0, delta=0.2, msg=f"{scene}, rank {rank}: {told}, {peaks}")
        return told, peaks

    def test_what_ranks_take_of_memory_is_foretold_within_a_fifth(self):
        many = (GAS.replace("[24.0, 24.0]", "[700.0, 700.0]").replace("count = 200", "count = 240000"))
        (self.folder / "many.toml").write_text(many)
        told, _ = self.foretold_and_taken("many.toml", 3)
        self.assertTrue(told["rank_0_has_all_balls"], "they are placed at random")

    def test_no_rank_has_room_for_all_balls_of_a_lattice(self):
        # Frames and checkpoints included; what rank 0 has beside the others does not grow with the balls.
        lattice = (GAS.replace("count = 200", 'count = 1000000\narrangement = "lattice"')
                   .replace("[24.0, 24.0]", "[1500.0, 1500.0]"))
        for kind in ("speed", "gr", "density"):
            lattice += f'[[observe]]\nname = "a_{kind}"\nkind = "{kind}"\nevery = 0.002\n'
        (self.folder / "lattice.toml").write_text(lattice)
        taken = {}
        for ranks in (2, 4):
            told, peaks = self.foretold_and_taken("lattice.toml", ranks)
            self.assertFalse(told["rank_0_has_all_balls"])
            taken[ranks] = peaks[0]
            self.assertLess(peaks[0] - max(peaks[rank] for rank in range(1, ranks)), 65e6, peaks)
        program = 26e6  # and libraries
        parts = 40e6    # of a frame and a checkpoint, and what HDF5 has
        self.assertLess((taken[4] - program - parts) / (taken[2] - program - parts), 0.65, taken)

    def test_what_check_is_asked_of_ranks_must_be_possible(self):
        (self.folder / "gas.toml").write_text(GAS)
        for options, words in ((("--ranks", "0"), "--ranks"), (("--ranks", "5000"), "--ranks: 5000 ranks cannot share"),
                               (("--ranks-per-axis", "2,1"), "allowed with --ranks N"),
                               (("--ranks", "4", "--ranks-per-axis", "3,1"), "'3,1' is not how 4 ranks stand"),
                               (("--ranks", "4", "--ranks-per-axis", "4,1", "--set", "box.size=[3.2, 24.0]",
                                 "--set", "fill[0].count=5"), "in the layers asked for; at most 3,"),
                               (("--ranks", "2", "--solver", "events"), "--ranks: the events solver runs in one process")):
            result = self.carom("check", "gas.toml", *options)
            self.assertEqual(result.status, 2, result.err)
            self.assertRegex(result.err, r"\Acarom: .*\n\Z")
            self.assertIn(words, result.err)


# 24 runs of some 30 ms each.
SWEEP_GAS = """
[scene]
dimension = 2
[box]
size = [30.0, 30.0]
boundary = ["periodic", "periodic"]
[run]
solver = "%s"
until = %g
[output]
observables_every = 0
[[fill]]
count = 400
radius = 0.5
mass = 1.0
temperature = 1.0
"""
SWEEP = """
[sweep]
scene = "gas.toml"
record = ["kinetic_energy", "momentum.x"]
[[axis]]
key = "scene.seed"
values = { from = 1, to = 6, step = 1 }
[[axis]]
key = "fill[0].temperature"
values = [1, 2, 3, 4]
"""


class Sweeps(Launched):
    """One sweep, its runs spread over ranks."""

    tables = {}  # by one process, of each scene

    def prepare(self, solver="events", until=400.0):
        scene = SWEEP_GAS % (solver, until)
        (self.folder / "gas.toml").write_text(scene)
        (self.folder / "t.sweep.toml").write_text(SWEEP)
        if scene not in self.tables:
            self.succeed("sweep", "t.sweep.toml", "--quiet", "-o", "whole.csv", "--threads", "2", "--force")
            self.tables[scene] = (self.folder / "whole.csv").read_bytes()
        self.whole = self.tables[scene]

    def table(self):
        return (self.folder / "t.csv").read_bytes()

    def lines(self):
        journal = self.folder / "t.csv.part"
        return journal.read_bytes().count(b"\n") if journal.exists() else 0

    def begin(self, ranks, more):
        """Starts the sweep, and waits until some more runs are done. It, and the processes of its ranks, which on a busy
        machine take longer to find than a sweep has."""
        before = max(1, self.lines())
        run = self.start(ranks, "sweep", "t.sweep.toml", "--threads", "1")
        processes = {}
        while len(processes) < ranks and run.poll() is None:
            processes = self.ranks_of(run)
        while self.lines() < before + more and run.poll() is None:
            time.sleep(0.002)
        return run, processes

    def test_any_number_gives_the_table_of_one(self):
        for solver, until in (("events", 10.0), ("spring", 0.05)):
            self.prepare(solver, until)
            for ranks in (2, 4):
                with self.subTest(solver=solver, ranks=ranks):
                    done = self.launch(ranks, "sweep", "t.sweep.toml", "--threads", "1", "--force", "--json")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(self.table(), self.whole)
                    self.assertEqual(json.loads(done.stdout)["threads"], ranks)
                    self.assertIn(f"{ranks} at once", done.stderr)

    def test_every_rank_does_some_of_the_runs(self):
        self.prepare()
        run, processes = self.begin(3, 12)
        ranks = processes.values()
        self.assertEqual(len(ranks), 3)
        seconds = [0.0]
        while min(seconds) <= 3.0 and run.poll() is None:  # on a busy machine one may get to it late
            time.sleep(0.005)
            try:
                seconds = [max(float((task / "stat").read_text().split()[13])
                               for task in pathlib.Path(f"/proc/{process}/task").iterdir()) for process in ranks]
            except OSError:  # done
                break
        run.communicate(timeout=60)
        self.assertGreater(min(seconds), 3.0, f"{seconds} hundredths of a second of their busiest threads")
        self.assertEqual(self.table(), self.whole)

    def test_a_signal_to_one_or_all_keeps_what_is_done_and_it_goes_on(self):
        self.prepare()
        for hit in ([1], [0, 1, 2]):
            with self.subTest(ranks=hit):
                run, processes = self.begin(3, 2)
                for rank in hit:
                    os.kill(processes[rank], signal.SIGTERM)
                _, errors = run.communicate(timeout=60)
                self.assertEqual(run.returncode, 143, errors)
                said = self.said_by_carom(errors)
                self.assertEqual(len(said), 1, errors)
                self.assertIn(f"interrupted; {self.lines() - 1} of 24 runs are kept", said[0])
        done = self.launch(2, "sweep", "t.sweep.toml", "--threads", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(" done before", done.stderr)
        self.assertEqual(self.table(), self.whole)

    def test_a_rank_that_dies_takes_it_along_and_another_number_goes_on(self):
        self.prepare()
        run, processes = self.begin(3, 2)
        os.kill(processes[1], signal.SIGKILL)
        run.communicate(timeout=60)
        self.assertNotEqual(run.returncode, 0)
        self.assertGreater(self.lines(), 2)
        self.succeed("sweep", "t.sweep.toml", "--quiet")
        self.assertEqual(self.table(), self.whole)

    def test_a_full_disk_ends_all_with_one_message(self):
        self.prepare()
        run, processes = self.begin(3, 2)
        said = self.fill_disk(run, processes, "t.csv.part", 100)
        self.assertRegex(said, r"^carom: cannot write t\.csv\.part: .* kept in t\.csv\.part; to go on")

    def test_what_is_wrong_with_a_run_is_said_as_by_one_process(self):
        self.prepare(until=1.0)
        for change in (("[1, 2, 3, 4]", "[1, 2, 3, -4]"), ("kinetic_energy", "kinetic")):
            (self.folder / "t.sweep.toml").write_text(SWEEP.replace(*change))
            alone = self.carom("sweep", "t.sweep.toml")
            done = self.launch(3, "sweep", "t.sweep.toml")
            self.assertEqual((done.returncode, self.said_by_carom(done.stderr)),
                             (2, alone.err.splitlines()), "the same line, once")

    def test_a_rank_that_finds_another_scene_there_says_so(self):
        self.prepare(until=1.0)
        for k in (0, 1):
            (self.folder / f"machine{k}").mkdir()
            for name in ("gas.toml", "t.sweep.toml"):
                text = (self.folder / name).read_text()
                (self.folder / f"machine{k}" / name).write_text(text + "#" * k)
        done = subprocess.run([LAUNCHER, "-n", "1", "-wdir", "machine0", PROGRAM, "sweep", "t.sweep.toml", ":", "-n", "1",
                               "-wdir", "machine1", PROGRAM, "sweep", "t.sweep.toml"], cwd=self.folder,
                              capture_output=True, text=True, timeout=60, env={**os.environ, **LAUNCH})
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(self.said_by_carom(done.stderr),
                         ["carom: t.sweep.toml: rank 1 finds another sweep or scene there than rank 0 does"])

    def test_a_part_is_done_by_each_process_for_itself(self):
        self.prepare(until=1.0)
        done = subprocess.run([LAUNCHER, "-n", "2", "sh", "-c",
                               'exec "$0" sweep t.sweep.toml --shard $((OMPI_COMM_WORLD_RANK + 1))/2 '
                               '-o part$OMPI_COMM_WORLD_RANK.csv', PROGRAM], cwd=self.folder, capture_output=True,
                              text=True, timeout=60, env={**os.environ, **LAUNCH})
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = []
        for k in (0, 1):
            rows.append((self.folder / f"part{k}.csv").read_bytes().splitlines()[1:])
        mixed = [row for pair in zip(*rows) for row in pair]
        self.assertEqual(mixed, self.whole.splitlines()[1:])


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
