"""Standard input, output and error that are closed, full or broken, and signals outside a run."""

import os
import signal
import subprocess
import time
import unittest

import h5py

from program import GAS, PROGRAM, ProgramTest

FULL = "/dev/full"  # a device that takes nothing, as a full disk


def without_streams(*closed):
    """For subprocess: the program starts with these descriptors closed."""
    return lambda: [os.close(descriptor) for descriptor in closed]


class Streams(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("gas.toml", GAS)

    def status(self, *arguments, **options):
        return subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder, timeout=300, **options).returncode

    def frames(self, name):
        with h5py.File(self.folder / name) as file:
            return len(file["particles/all/position/value"])

    def test_closed_descriptors_do_not_end_up_in_a_trajectory(self):
        for closed in [(2,), (0, 1, 2), (1,)]:
            with self.subTest(closed):
                self.assertEqual(self.status("run", "gas.toml", "--force", "-o", "c.h5",
                                             preexec_fn=without_streams(*closed),
                                             **({} if 2 in closed else {"stderr": subprocess.DEVNULL})), 0)
                self.assertEqual(self.frames("c.h5"), 6)

    def test_a_closed_output_is_a_failure_still(self):
        self.assertEqual(self.status("info", preexec_fn=without_streams(1), stderr=subprocess.DEVNULL), 4)

    def test_messages_that_cannot_be_written_end_nothing(self):
        with open(FULL, "w") as full:
            self.assertEqual(self.status("run", "gas.toml", stderr=full), 0)
            self.assertEqual(self.frames("gas.h5"), 6)
            for status, arguments in [(4, ["run", "nowhere.toml"]), (2, ["run", "gas.toml", "--bogus"]), (2, []),
                                      (0, ["convert", "gas.h5", "gas.csv", "--last"]),
                                      (0, ["plot", "gas.h5", "balls", "-o", "gas.png"])]:
                with self.subTest(arguments):
                    self.assertEqual(self.status(*arguments, stderr=full), status)
            self.assertEqual(self.status("state", "gas.h5", stderr=full, stdout=subprocess.DEVNULL), 0)

    def test_messages_of_a_sweep_or_a_comparison_end_nothing_either(self):
        self.write("seeds.sweep.toml", """
[sweep]
scene = "gas.toml"
record = ["kinetic_energy"]
[[axis]]
key = "scene.seed"
values = [1, 2]
""")
        with open(FULL, "w") as full:
            self.assertEqual(self.status("sweep", "seeds.sweep.toml", stderr=full), 0)
            self.assertEqual(len((self.folder / "seeds.csv").read_text().splitlines()), 3)
            self.assertIn(self.status("compare", "gas.toml", "--until", "0.01", stderr=full,
                                      stdout=subprocess.DEVNULL), (0, 3))

    def test_a_full_output_is_status_4(self):
        self.succeed("run", "gas.toml", "--quiet")
        with open(FULL, "w") as full:
            for arguments in [["state", "gas.h5"], ["run", "gas.toml", "-o", "b.h5", "--json"], ["--help"], ["info"],
                              ["plot", "gas.h5", "energy", "--csv", "-o", "-"], ["check", "gas.toml"], ["scenes"]]:
                with self.subTest(arguments):
                    done = subprocess.run([PROGRAM, *arguments], cwd=self.folder, stdout=full,
                                          stderr=subprocess.PIPE, text=True, timeout=300)
                    self.assertEqual(done.returncode, 4)
                    self.assertRegex(done.stderr, r"carom: cannot write to standard output: No space left on device\n\Z")

    def test_nobody_reading_the_messages_does_not_end_a_run(self):
        end, start = os.pipe()
        os.close(end)
        self.assertEqual(self.status("run", "gas.toml", stderr=start), 0)
        os.close(start)
        self.assertEqual(self.frames("gas.h5"), 6)

    def test_nobody_reading_the_output_ends_it_quietly(self):
        self.succeed("run", "gas.toml", "--quiet")
        end, start = os.pipe()
        os.close(end)
        done = subprocess.run([PROGRAM, "state", "gas.h5", "--quiet"], cwd=self.folder, stdout=start,
                              stderr=subprocess.PIPE, text=True, timeout=300)
        os.close(start)
        self.assertEqual((done.returncode, done.stderr), (-signal.SIGPIPE, ""))

    def test_a_scene_may_come_from_a_pipe(self):
        for command in (["run", "/dev/stdin", "-o", "p.h5", "--quiet"], ["check", "/dev/stdin"],
                        ["run", "/dev/stdin", "-o", "s.h5", "--quiet", "--steps", "100"],
                        ["compare", "/dev/stdin", "--until", "0.01", "--quiet", "--set", "fill[0].count=20"]):
            with self.subTest(command):
                done = self.carom(*command, input=GAS)
                self.assertNotIn(done.status, (2, 4), done.err)
        with h5py.File(self.folder / "s.h5") as file:
            self.assertEqual(file["particles/all/position/step"][-1], 100)


class Signals(ProgramTest):
    def slow_to_place(self):
        """A run that is still reading its scene: a pipe that nobody writes to."""
        os.mkfifo(self.folder / "scene.toml")
        process = self.start("run", "scene.toml", "-o", "x.h5")
        writer = os.open(self.folder / "scene.toml", os.O_WRONLY)  # returns when the program has opened it
        self.addCleanup(os.close, writer)
        return process

    def test_before_the_run_a_signal_ends_with_one_line(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number.name):
                process = self.slow_to_place()
                process.send_signal(number)
                out, err = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 128 + number)
                self.assertEqual((out, err), ("", "carom: interrupted\n"))
                self.assertEqual(self.files(), ["scene.toml"])
                os.unlink(self.folder / "scene.toml")

    def wait_for(self, name, process):
        while not (self.folder / name).exists():
            self.assertIsNone(process.poll())
            time.sleep(0.01)

    def test_a_closed_terminal_leaves_a_checkpoint(self):
        self.write("gas.toml", GAS)
        process = self.start("run", "gas.toml", "--until", "10000", "--set", "output.every=10")
        self.wait_for("gas.h5", process)
        time.sleep(0.3)
        process.send_signal(signal.SIGSTOP)  # the shell sends it a second time
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGCONT)
        process.send_signal(signal.SIGHUP)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 129, err)
        self.assertIn("gas.checkpoint.h5", self.files())
        self.assertRegex(err, r"carom: interrupted at t = .*; to go on from .*run --resume gas\.checkpoint\.h5\n\Z")

    def test_with_nohup_a_closed_terminal_is_nothing(self):
        self.write("gas.toml", GAS)
        process = self.start("run", "gas.toml", "--until", "1e6", "--set", "output.every=10",
                             preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.wait_for("gas.h5", process)
        process.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, err)


if __name__ == "__main__":
    unittest.main()
