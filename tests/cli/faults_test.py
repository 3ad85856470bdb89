"""What fails around a running program: the GPU, the folder, the user's rights, descriptors, the display. What was
announced is kept, and one line says what happened."""

import json
import os
import pathlib
import subprocess
import unittest

import h5py

from program import GAS, PROGRAM, ProgramTest

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

    def rehearse(self, fault, *arguments):
        return subprocess.run([REHEARSAL, *self.RUN, *arguments], cwd=self.folder, capture_output=True, text=True,
                              timeout=300, env=dict(os.environ, CAROM_DEVICE_FAULT=fault), check=False)

    def test_each_call_that_fails_is_status_4_and_what_was_written_stays(self):
        whole = subprocess.run([REHEARSAL, *self.RUN, "-o", "whole.h5"], cwd=self.folder, capture_output=True, text=True,
                               timeout=300, check=True).stdout
        state_hash = json.loads(whole)["state_hash"]
        frames_seen = set()
        resumed = 0
        for kind in ("allocation", "launch", "copy", "wait", "lost"):
            for number in (1, 2, 5, 11, 23, 47, 95, 191, 383, 767):
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

    def test_the_program_that_is_installed_has_no_such_switch(self):
        self.assertIn(b"CAROM_DEVICE_FAULT", REHEARSAL.read_bytes())
        self.assertNotIn(b"CAROM_DEVICE_FAULT", pathlib.Path(PROGRAM).read_bytes())

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
                    "s.csv": ["sweep", "s.sweep.toml", "-o", "disk/s.csv", "--force", "--quiet"]}
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
                    else:
                        failed += 1
                        self.assertEqual(result.returncode, 4, result.stderr)
                        self.assertIn("No space left on device", result.stderr)
                        if name.endswith(".h5"):
                            if (left / name).read_bytes() != b"older":
                                with h5py.File(left / name) as file:
                                    self.assertTrue(list(file))
                        else:
                            self.assertEqual((left / name).read_bytes(), b"older")
                kilobytes = kilobytes * 3 // 2 // 4 * 4 + 4
            self.assertEqual(done, 1, name)
            self.assertGreater(failed, 0, name)


if __name__ == "__main__":
    unittest.main()
