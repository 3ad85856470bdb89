"""What fails around a running program: the GPU, the folder, the user's rights, descriptors, the display. What was
announced is kept, and one line says what happened."""

import json
import os
import pathlib
import resource
import shutil
import subprocess
import time
import unittest

import h5py

from program import GAS, PROGRAM, ProgramTest, cached

REHEARSAL = pathlib.Path(PROGRAM).parent / "carom_rehearsal"


class Faults(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("gas.toml", GAS)

    def frames(self, name):
        with h5py.File(self.folder / name) as file:
            steps = file["particles/all/position/step"][...]
            self.assertEqual(len(file["particles/all/position/value"]), len(steps))
            return len(steps)

    def one_line(self, result, pattern=""):
        self.assertEqual(result.status, 4, result.err)
        self.assertRegex(result.err, r"\Acarom: [^\n]*" + pattern + r"[^\n]*\n\Z")


@unittest.skipUnless(REHEARSAL.exists(), "this build has no emulated backend: Thrust's headers were not found")
class OfTheDevice(Faults):
    """The sources of the CUDA backend on the host, each kind of whose calls can be made to fail."""

    RUN = ["run", "gas.toml", "--backend", "cuda", "--quiet", "--json", "--checkpoint-every", "0.1"]
    STRICT_MEMORY = {"MALLOC_MMAP_THRESHOLD_": "1000"}  # arrays of balls that are freed are no memory any more

    def rehearse(self, fault, *arguments, run=tuple(RUN)):
        return subprocess.run([REHEARSAL, *run, *arguments], cwd=self.folder, capture_output=True, text=True,
                              timeout=300, env=dict(os.environ, CAROM_DEVICE_FAULT=fault, **self.STRICT_MEMORY), check=False)

    def test_each_call_that_fails_is_status_4_and_what_was_written_stays(self):
        whole = subprocess.run([REHEARSAL, *self.RUN, "-o", "whole.h5"], cwd=self.folder, capture_output=True, text=True,
                               timeout=300, check=True).stdout
        state_hash = json.loads(whole)["state_hash"]
        frames_seen = set()
        resumed = 0
        for kind in ("allocation", "pinning", "launch", "copy", "wait", "lost"):
            # Of waits, which the thread that writes does too, those of the first frames one by one.
            for number in (1, 2, 5, 11, *(range(12, 23) if kind == "wait" else ()), 23, 47, 95, 191, 383, 767):
                name = f"{kind}{number}"
                with self.subTest(name):
                    done = self.rehearse(f"{kind}:{number}", "-o", f"{name}.h5")
                    if done.returncode == 0:  # fewer calls than that, or one that it can do without
                        self.assertEqual(json.loads(done.stdout)["state_hash"], state_hash)
                        continue
                    self.assertEqual(done.returncode, 4, done.stderr)
                    failed = r"\w+" if kind == "lost" else kind
                    self.assertRegex(done.stderr, rf"\Acarom: {failed} failed on emulated: [^\n]*\n\Z")
                    if not (self.folder / f"{name}.h5").exists():
                        self.assertNotIn("to go on", done.stderr)
                        continue
                    frames_seen.add(self.frames(f"{name}.h5"))
                    if "to go on" not in done.stderr:
                        continue
                    # A state that a failure has left half-way must not become a checkpoint.
                    rest = subprocess.run([REHEARSAL, "run", "--resume", f"{name}.checkpoint.h5", "--quiet", "--json"],
                                          cwd=self.folder, capture_output=True, text=True, timeout=300, check=False)
                    if rest.returncode == 2:
                        self.assertIn("is at time 0.5 already", rest.stderr)
                        continue
                    self.assertEqual(rest.returncode, 0, rest.stderr)
                    self.assertEqual(json.loads(rest.stdout)["state_hash"], state_hash)
                    resumed += 1
        self.assertGreater(resumed, 5)
        self.assertGreater(len(frames_seen), 3)

    def test_a_frame_that_has_not_come_is_not_written(self):
        # What fails is often the wait of a checkpoint behind the frame, not of the thread that writes it.
        often = [*self.RUN[:-1], "0.01", "--set", "output.every=0.01", "--until", "0.1"]
        self.assertEqual(self.rehearse("wait:1000000", "-o", "whole.h5", run=often).returncode, 0)
        with h5py.File(self.folder / "whole.h5") as file:
            whole = file["particles/all/position/value"][...]
        failed = 0
        for number in range(20, 60):
            done = self.rehearse(f"wait:{number}", "-o", "failed.h5", "--force", run=often)
            if done.returncode == 0 or not (self.folder / "failed.h5").exists():
                continue
            with h5py.File(self.folder / "failed.h5") as file:
                frames = file["particles/all/position/value"][...]
            self.assertTrue((frames == whole[:len(frames)]).all(), number)
            failed += 1
        self.assertGreater(failed, 10)

    def test_frames_are_the_same_where_no_memory_can_be_pinned_for_them(self):
        seen = {}
        for name, fault in (("whole", ""), ("unpinned", "pinning:3")):  # behind the engine's record and sums
            environment = {"CAROM_DEVICE_FAULT": fault} if fault else {}
            subprocess.run([REHEARSAL, *self.RUN, "-o", f"{name}.h5"], cwd=self.folder, capture_output=True, check=True,
                           env=dict(os.environ, **environment), timeout=300)
            with h5py.File(self.folder / f"{name}.h5") as file:
                seen[name] = [file[f"particles/all/{part}/value"][...].tobytes() for part in ("position", "velocity", "image")]
        self.assertEqual(seen["whole"], seen["unpinned"])
        self.assertEqual(self.rehearse("pinning:2", "-o", "none.h5").returncode, 4)

    def test_the_program_that_is_installed_has_no_such_switch(self):
        self.assertIn(b"CAROM_DEVICE_FAULT", REHEARSAL.read_bytes())
        self.assertNotIn(b"CAROM_DEVICE_FAULT", pathlib.Path(PROGRAM).read_bytes())


@unittest.skipUnless(REHEARSAL.exists(), "this build has no emulated backend: Thrust's headers were not found")
class OfTheMemory(Faults):
    """Each allocation of a command may be the one that fails, or the first of all that do."""

    BEFORE_MAIN = 20  # names of libraries

    def test_whichever_fails_is_status_4_and_one_line(self):
        self.write("s.sweep.toml", '[sweep]\nscene = "gas.toml"\nrecord = ["temperature"]\n[[axis]]\n'
                                   'name = "seed"\nkey = "scene.seed"\nvalues = [1, 2, 3]\n[[set]]\n'
                                   'key = "run.until"\nvalue = 0.01\n')
        self.succeed("run", "gas.toml", "--quiet", "--solver", "events", "--until", "0.2")
        run = ["run", "gas.toml", "--quiet", "--json", "--force", "--until", "0.1", "-o", "t.h5"]
        commands = {"spring": run, "events": [*run, "--solver", "events", "--events-log", "log.csv"],
                    "sweep": ["sweep", "s.sweep.toml", "-o", "s.csv", "--force", "--quiet"],
                    "table": ["plot", "gas.h5", "temperature", "--csv", "-o", "-"],
                    "report": ["report", "gas.h5", "-o", "r.html", "--force"]}
        for name, command in commands.items():
            statuses = set()
            number = self.BEFORE_MAIN
            while 0 not in statuses and number < 1 << 20:
                with self.subTest(name, number=number):
                    (self.folder / "s.csv.part").unlink(missing_ok=True)
                    done = subprocess.run([REHEARSAL, *command], cwd=self.folder, capture_output=True, text=True, timeout=60,
                                          env=dict(os.environ, CAROM_MEMORY_FAULT=f"{number}+"), check=False)
                    statuses.add(done.returncode)
                    self.assertIn(done.returncode, (0, 4), done.stderr)
                    if done.returncode == 4:
                        self.assertRegex(done.stderr, r"\Acarom: [^\n]*\n\Z")
                number = number * 7 // 6
            self.assertEqual(statuses, {0, 4}, name)

    def test_a_table_is_read_whole_or_not_at_all(self):
        self.write("t.csv", "seed,temperature\n" + "".join(f"{k},{k / 8}\n" for k in range(4000)))
        command = ["plot", "t.csv", "--csv", "-o", "-"]
        whole = self.succeed(*command).out
        self.assertEqual(whole.count("\n"), 4001)
        failed = 0
        for number in range(self.BEFORE_MAIN, 1600, 4):  # reading takes some ten in a row
            done = subprocess.run([REHEARSAL, *command], cwd=self.folder, capture_output=True, text=True, timeout=60,
                                  env=dict(os.environ, CAROM_MEMORY_FAULT=str(number)), check=False)
            failed += done.returncode == 4
            self.assertTrue(done.returncode == 4 or done.stdout == whole, number)
        self.assertGreater(failed, 100)

    def test_a_sweep_that_gets_no_threads(self):
        values = ", ".join(map(str, range(64)))
        self.write("s.sweep.toml", '[sweep]\nscene = "gas.toml"\nrecord = ["temperature"]\n[[axis]]\n'
                                   f'name = "seed"\nkey = "scene.seed"\nvalues = [{values}]\n')
        stack = 64 << 20  # of each thread
        def limit():
            resource.setrlimit(resource.RLIMIT_STACK, (stack, stack))
            resource.setrlimit(resource.RLIMIT_AS, (20 * stack, 20 * stack))
        self.one_line(self.carom("sweep", "s.sweep.toml", "--threads", "64", "--quiet", preexec_fn=limit),
                      "the system gives no more threads")


def may_mount():
    """Whether this user may have file systems of his own, as in a namespace of users."""
    return subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True,
                          check=False).returncode == 0


class OfTheDisk(Faults):
    RUN = ["run", "gas.toml", "--quiet", "--json", "--set", "output.every=0.25", "--set", "output.observables_every=0.25"]

    def test_an_events_log_that_is_full_leaves_a_checkpoint_between_two_collisions(self):
        whole = self.succeed(*self.RUN, "--solver", "events", "-o", "whole.h5").json
        self.one_line(self.carom(*self.RUN, "--solver", "events", "--events-log", "/dev/full"),
                      "/dev/full: No space left on device; to go on from t")
        self.assertEqual(self.run_json("--resume", "gas.checkpoint.h5")["state_hash"], whole["state_hash"])

    def test_what_is_told_of_a_full_disk_is_what_is_in_the_file(self):
        run = ["run", "gas.toml", "--quiet", "--json", "--force"]
        self.succeed(*run)
        whole = (self.folder / "gas.h5").stat().st_size
        frames = []
        # The summary alone does not fit, then the last frames, then the first.
        for limit in (whole - 1, int(0.75 * whole), int(0.5 * whole)):
            for file in ("gas.h5", "gas.checkpoint.h5"):
                (self.folder / file).unlink()
            done = self.carom(*run, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
            self.one_line(done, "cannot write: File too large")
            self.assertEqual(done.json["exit_status"], 4)
            with h5py.File(self.folder / "gas.h5") as file:
                frames.append(len(file["particles/all/position/value"]))
                rows = len(file["observables/temperature/value"])
            self.assertEqual((done.json["frames"], done.json["rows"]), (frames[-1], rows))
            self.assertIn(f"{frames[-1]} frames and {rows} rows are safely in it", done.err)
            # A run that is over is not gone on with.
            rest = self.carom("run", "--resume", "gas.checkpoint.h5", "--quiet", "-o", "rest.h5", "--force")
            self.assertEqual(rest.status, 0 if "to go on" in done.err else 2, rest.err)
        self.assertEqual((frames[0], frames[-1]), (6, 0))
        self.assertTrue(0 < frames[1] < 6)

    @unittest.skipUnless(may_mount(), "this machine lets nobody mount a small disk of his own")
    def test_each_file_on_a_full_disk_is_whole_or_the_one_before(self):
        """Every command that writes, on disks of some kilobytes to large enough."""
        (self.folder / "disk").mkdir()
        self.write("s.sweep.toml", '[sweep]\nscene = "gas.toml"\nrecord = ["temperature"]\n[[axis]]\n'
                                   'name = "seed"\nkey = "scene.seed"\nvalues = [1, 2, 3]\n')
        self.succeed("run", "gas.toml", "--quiet")
        self.write("older", "older")
        # Within the namespace: the disk, what is on it before, the command, and what it has left, outside again.
        script = ('mount -t tmpfs -o size="$1" none disk && out=$2 && shift 2 && cp older "disk/$out" && "$@";'
                  ' status=$?; rm -rf left; cp -r disk left; exit $status')
        commands = {"t.h5": [*self.RUN, "--force", "-o", "disk/t.h5"],
                    "c.h5": [*self.RUN, "--force", "-o", "disk/n.h5", "--checkpoint", "disk/c.h5"],
                    "t.csv": ["convert", "gas.h5", "disk/t.csv", "--force"],
                    "t.gsd": ["convert", "gas.h5", "disk/t.gsd", "--force"],
                    "t.lammpstrj": ["convert", "gas.h5", "disk/t.lammpstrj", "--force"],
                    "t.vtp": ["convert", "gas.h5", "disk/t.vtp", "--last", "--force"],
                    "t.xyz": ["convert", "gas.h5", "disk/t.xyz", "--force"],
                    "p.png": ["plot", "gas.h5", "energy", "-o", "disk/p.png", "--force"],
                    "p.pdf": ["plot", "gas.h5", "energy", "-o", "disk/p.pdf", "--force"],
                    "b.png": ["plot", "gas.h5", "balls", "-o", "disk/b.png", "--force"],
                    "d.csv": ["plot", "gas.h5", "energy", "--csv", "-o", "disk/d.csv", "--force"],
                    "r.html": ["report", "gas.h5", "-o", "disk/r.html", "--force"],
                    "s.csv": ["sweep", "s.sweep.toml", "-o", "disk/s.csv", "--force", "--quiet"],
                    "b.json": ["bench", "--only", "copy", "--quick", "--limit", "1", "-o", "disk/b.json", "--force"],
                    "k.svg": ["compare", "gas.toml", "--set", "fill[0].count=2", "-o", "disk/k.svg", "--force"]}
        if cached("CAROM_VIEWER") != "OFF":
            commands |= {"m.png": ["render", "gas.h5", "-o", "disk/m.png", "--last", "--size", "400x300", "--force"],
                         "m.mp4": ["render", "gas.h5", "-o", "disk/m.mp4", "--size", "400x300", "--force"]}
            self.succeed("render", "gas.h5", "-o", "whole.mp4", "--size", "400x300")
        for name, command in commands.items():
            failed = done = 0
            kilobytes = 4
            while done == 0 and kilobytes < 10000:
                with self.subTest(name, kilobytes=kilobytes):
                    result = subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", f"{kilobytes}k", name, PROGRAM,
                                             *command], cwd=self.folder, capture_output=True, text=True, timeout=300,
                                            check=False)
                    left = self.folder / "left"
                    self.assertFalse([path for path in left.iterdir() if "partial" in path.name], result.stderr)
                    if result.returncode == 0:
                        done += 1
                        self.assertNotEqual((left / name).read_bytes(), b"older")
                        if name == "m.mp4":  # ffmpeg takes the end of the disk for that of the movie
                            self.assertEqual((left / name).stat().st_size, (self.folder / "whole.mp4").stat().st_size)
                    else:
                        failed += 1
                        self.assertEqual(result.returncode, 4, result.stderr)
                        said = "No space left on device" + ("|ffmpeg could not write" if name == "m.mp4" else "")
                        self.assertRegex(result.stderr, said)
                        if name.endswith(".h5"):
                            if (left / name).read_bytes() != b"older":
                                with h5py.File(left / name) as file:
                                    self.assertTrue(list(file))
                        else:
                            self.assertEqual((left / name).read_bytes(), b"older")
                kilobytes = kilobytes * 3 // 2 // 4 * 4 + 4
            self.assertEqual(done, 1, name)
            self.assertGreater(failed, 0, name)


class OfTheSurroundings(Faults):
    LONG = ["run", "gas.toml", "--until", "1e6", "--quiet", "--set", "output.every=0.5"]

    def started(self, *arguments):
        run = self.start(*self.LONG, "-o", "there/gas.h5", *arguments)
        while not (self.folder / "there/gas.h5").exists():
            self.assertIsNone(run.poll())
            time.sleep(0.005)
        return run

    def ended(self, run):
        _, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 4, err)
        self.assertRegex(err, r"\Acarom: [^\n]+\n\Z")
        return err

    def test_a_trajectory_that_is_removed_ends_its_run_with_a_checkpoint(self):
        for solver in ("spring", "events"):
            (self.folder / "there").mkdir()
            run = self.started("--solver", solver)
            (self.folder / "there/gas.h5").unlink()
            self.assertRegex(self.ended(run), r"the file has been removed; \d+ frames and \d+ rows were in it.* to go on from t")
            with h5py.File(self.folder / "there/gas.checkpoint.h5") as file:
                until = 1.01 * file.attrs["time"]
            self.succeed("run", "--resume", "there/gas.checkpoint.h5", "--until", until, "-o", "rest.h5", "--force")
            shutil.rmtree(self.folder / "there")

    def test_a_log_of_events_that_is_removed_ends_its_run_with_a_checkpoint(self):
        (self.folder / "there").mkdir()
        log = self.folder / "log.csv"
        run = self.started("--solver", "events", "--events-log", log.name)
        while not log.exists() or log.stat().st_size == 0:
            self.assertIsNone(run.poll())
            time.sleep(0.005)
        log.unlink()
        self.assertRegex(self.ended(run), r"carom: log\.csv: the file has been removed; to go on from t")
        self.assertTrue((self.folder / "there/gas.checkpoint.h5").exists())

    def test_a_folder_that_vanishes_ends_the_run(self):
        for solver in ("spring", "events"):
            (self.folder / "there").mkdir()
            run = self.started("--solver", solver)
            while (self.folder / "there").exists():
                shutil.rmtree(self.folder / "there", ignore_errors=True)
            self.assertIn("no checkpoint could be written", self.ended(run))

    def test_a_folder_of_someone_else_is_told_before_the_run(self):
        self.folder.chmod(0o755)
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
        if not nobody:
            self.folder.chmod(0o555)
        for arguments in (["run", "gas.toml", "--until", "1e6"], ["run", "gas.toml", "-o", "nowhere/none.h5"],
                          ["convert", "old.h5", "old.csv"], ["plot", "old.h5", "energy"], ["report", "old.h5"]):
            if arguments[0] == "convert":
                self.folder.chmod(0o755)
                self.succeed("run", "gas.toml", "--quiet", "-o", "old.h5")
                self.folder.chmod(0o755 if nobody else 0o555)
            before = self.files()
            done = subprocess.run([*nobody, PROGRAM, *arguments], cwd=self.folder, capture_output=True, text=True,
                                  timeout=60, check=False)
            self.assertEqual(done.returncode, 4, done.stderr)
            self.assertRegex(done.stderr, r"carom: [^\n]*(Permission denied|there is no folder)[^\n]*\n\Z")
            self.assertEqual(self.files(), before)
        self.folder.chmod(0o755)

    def test_a_folder_that_may_be_written_but_not_read_takes_all_files(self):
        self.folder.chmod(0o755)
        drop = self.folder / "drop"
        drop.mkdir()
        self.succeed("run", "gas.toml", "--quiet", "-o", "drop/gas.h5")
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
        drop.chmod(0o733 if nobody else 0o333)
        done = subprocess.run([*nobody, PROGRAM, "run", "gas.toml", "--quiet", "--until", "0.2", "-o", "drop/gas.h5",
                               "--force"], cwd=self.folder, capture_output=True, text=True, timeout=60, check=False)
        drop.chmod(0o755)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.frames("drop/gas.h5"), 3)
        with h5py.File(drop / "gas.checkpoint.h5") as file:
            self.assertAlmostEqual(file.attrs["time"], 0.2)

    def test_however_few_files_may_be_open(self):
        statuses = set()
        for solver in ("spring", "events"):
            for most in range(3, 14):
                for name in ("gas.h5", "gas.checkpoint.h5"):
                    (self.folder / name).unlink(missing_ok=True)
                result = self.carom("run", "gas.toml", "--quiet", "--solver", solver, "--checkpoint-every", "0.1",
                                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)))
                if result.status == 127:
                    self.assertIn("error while loading shared libraries", result.err)
                    continue
                statuses.add(result.status)
                if result.status != 0:
                    self.one_line(result)
                if (self.folder / "gas.h5").exists():
                    self.frames("gas.h5")
        self.assertEqual(statuses, {0, 4})

    def test_names_of_any_bytes(self):
        for name in ("a b", "new\nline", "quo'te\"s", "-dash", "\u00fc\u2713", "#", "%s%n", "a\\b", ".hidden"):
            with self.subTest(repr(name)):
                self.succeed("run", "gas.toml", "--until", "0.1", "--quiet", "-o", f"./{name}.h5")
                self.succeed("state", f"./{name}.h5")
                self.succeed("plot", f"./{name}.h5", "energy", "-o", f"./{name}.png")
                self.succeed("report", f"./{name}.h5", "-o", f"./{name}.html")
                rest = self.carom("run", "--resume", f"./{name}.checkpoint.h5", "--until", "0.2", "--quiet")
                self.assertEqual(rest.status, 0, rest.err)
                for ending in (".h5", ".png", ".html", ".checkpoint.h5", "-2.h5"):
                    self.assertIn(name + ending, self.files())

    def test_a_name_that_is_too_long_is_told_before_the_run(self):
        for length in (255, 240):  # the name of whose checkpoint is longer
            name = (length - 3) * "x" + ".h5"
            before = self.files()
            result = self.carom("run", "gas.toml", "-o", name)
            self.assertEqual(result.status, 2, result.err)
            self.assertRegex(result.err, r"\Acarom: x+[^\n]*: the name is too long; 241 bytes are the most\n\Z")
            self.assertEqual(self.files(), before)
        self.succeed("run", "gas.toml", "--quiet", "--until", "0.1", "-o", 200 * "x" + ".h5")

    def test_a_language_with_decimal_commas_changes_nothing(self):
        def made(environment):
            options = {"env": dict(os.environ, **environment)}
            run = self.run_json("gas.toml", "--force", **options)
            self.succeed("plot", "gas.h5", "energy", "-o", "e.svg", "--force", **options)
            self.succeed("report", "gas.h5", "-o", "r.html", "--force", **options)
            return (run["state_hash"], self.succeed("state", "gas.h5", "--csv", **options).out,
                    self.succeed("plot", "gas.h5", "energy", "--csv", "--force", **options).out,
                    (self.folder / "e.svg").read_bytes())

        (self.folder / "locales").mkdir()
        made_locale = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", self.folder / "locales/de_DE.UTF-8"],
                                     capture_output=True, text=True, check=False)
        comma = {"LOCPATH": str(self.folder / "locales"), "LC_ALL": "de_DE.UTF-8"}
        printed = subprocess.run(["printf", "%.1f", "0"], env=dict(os.environ, **comma), capture_output=True, text=True,
                                 check=False).stdout
        if printed != "0,0":
            self.skipTest(f"this machine has no such language: {made_locale.stderr}")
        self.assertEqual(made(comma), made({"LC_ALL": "C"}))


if __name__ == "__main__":
    unittest.main()
