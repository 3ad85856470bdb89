"""A run that is stopped from outside, at any moment: its files are whole, and it goes on to the same bits."""

import os
import random
import re
import shlex
import signal
import subprocess
import time
import unittest

import h5py

from program import GAS, PROGRAM, ProgramTest

TIMES = 10
KILLS = int(os.environ.get("CAROM_KILLS", "5"))  # of each solver


class Interrupted(ProgramTest):
    def setUp(self):
        super().setUp()
        self.moments = random.Random(20)
        self.prepare("spring")

    def prepare(self, solver):
        self.write("gas.toml", GAS.replace("[run]", f'[run]\nsolver = "{solver}"'))
        # Long enough to be stopped in the middle on any machine: the length is set by a measured speed.
        speed = self.run_json("gas.toml", "-o", "probe.h5", "--until", "2", "--force")
        self.until = max(1.0, round(2.0 * 1.2 / max(speed["wall_seconds"], 1e-3), 1))
        self.options = ["--until", str(self.until), "--set", f"output.every={self.until / 200}", "--set",
                        f"output.observables_every={self.until / 400}"]
        begin = time.monotonic()
        self.whole = self.run_json("gas.toml", "-o", "whole.h5", "--force", *self.options)
        self.took = time.monotonic() - begin

    def stop_at_random(self, number, *arguments):
        """Starts a run, sends it the signal, and gives the process and its standard error."""
        process = self.start(*arguments)
        # Before the trajectory is there the program has promised nothing, and dies of a signal as any other.
        output = self.folder / arguments[arguments.index("-o") + 1]
        while not output.exists() and process.poll() is None:
            time.sleep(0.002)
        time.sleep(self.moments.uniform(0.05, 0.8) * self.took)
        process.send_signal(number)
        _, err = process.communicate(timeout=120)
        if process.returncode == 0:
            self.took *= 0.7  # done before: the machine has less else to do than when this was measured
        return process.returncode, err

    def frame_times(self, name):
        with h5py.File(self.folder / name) as file:
            group = file["particles/all"]
            steps = group["position/step"][...]
            self.assertEqual(len(group["position/value"]), len(steps))
            group["velocity/value"][len(steps) - 1]
            return list(group["position/time"][...])

    def check_signal(self, number, status, k):
        name = f"{number.name}{k}"
        code, err = self.stop_at_random(number, "run", "gas.toml", "-o", name + ".h5", *self.options)
        if code == 0:
            return False  # it was done before
        self.assertEqual(code, status, err)
        message = err.strip().splitlines()[-1]
        if message == "carom: interrupted" and self.frame_times(name + ".h5")[-1] > 0.9999 * self.until:
            return False  # it was done, and on its way out
        command = re.search(r"to go on from t = \S+: (.*)$", message)
        self.assertTrue(command, message)
        with h5py.File(self.folder / (name + ".h5")) as file:
            self.assertAlmostEqual(file["particles/all/position/time"][-1],
                                   float(re.search(r"interrupted at t = (\S+);", message).group(1)), delta=1e-4)
        done = subprocess.run(shlex.split(command.group(1)) + ["--json", "--quiet"], cwd=self.folder,
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(self.whole["state_hash"], done.stdout)
        return True

    def test_sigint_at_any_moment_ends_in_order_and_the_command_it_prints_goes_on(self):
        stopped = 0
        for k in range(2 * TIMES):
            stopped += self.check_signal(signal.SIGINT, 130, k)
            if stopped == TIMES:
                break
        self.assertEqual(stopped, TIMES)

    def test_sigterm_does_the_same(self):
        self.assertTrue(any(self.check_signal(signal.SIGTERM, 143, k) for k in range(TIMES)))

    def test_after_kill_9_the_file_opens_and_the_last_checkpoint_goes_on(self):
        for solver in ("spring", "events"):
            with self.subTest(solver):
                self.prepare(solver)
                resumed = sum(self.check_kill(f"{solver}{k}") for k in range(KILLS))
                more = KILLS  # for those that were done before, or had no checkpoint yet
                while resumed < KILLS and more < 3 * KILLS:
                    resumed += self.check_kill(f"{solver}{more}")
                    more += 1
                self.assertEqual(resumed, KILLS)
                if KILLS > 5:
                    print(f"{solver}: {resumed} kills, each resumed to the same bits", flush=True)

    def check_kill(self, name):
        code, _ = self.stop_at_random(signal.SIGKILL, "run", "gas.toml", "-o", name + ".h5", *self.options,
                                      "--checkpoint-every", self.until / 50)
        if code == 0:
            return False
        self.assertEqual(code, -signal.SIGKILL)
        if not (self.folder / (name + ".checkpoint.h5")).exists():
            return False  # before the first checkpoint
        times = self.frame_times(name + ".h5")
        rest = self.run_json("--resume", name + ".checkpoint.h5")
        with h5py.File(self.folder / (name + "-2.h5")) as file:
            begin = file["particles/all/position/time"][0]
        # All frames before the checkpoint had been written when it was taken.
        self.assertGreaterEqual(sum(time <= begin for time in times), int(begin / self.until * 200))
        self.assertEqual(rest["state_hash"], self.whole["state_hash"])
        for path in self.folder.glob(name + "*"):
            path.unlink()
        return True

    def test_a_second_signal_kills_at_once(self):
        process = self.start("run", "gas.toml", "-o", "twice.h5", "--until", 100 * self.until, "--set", "output.every=0")
        while not (self.folder / "twice.h5").exists():  # until then a signal ends the program as any other
            self.assertIsNone(process.poll())
            time.sleep(0.002)
        process.send_signal(signal.SIGSTOP)  # both are there when it wakes
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGCONT)
        process.communicate(timeout=60)
        self.assertIn(process.returncode, (-signal.SIGINT, -signal.SIGTERM))

    def test_what_is_not_whole_goes_when_a_signal_ends_the_program(self):
        def ended_within(name, numbers, *arguments):
            """Whether the signals found a file half written; whatever they found, it is gone."""
            partial = self.folder / (name + ".carom-partial")
            process = self.start(*arguments)
            while not partial.exists() and process.poll() is None:
                time.sleep(0.0005)
            process.send_signal(signal.SIGSTOP)
            within = partial.exists()
            for number in numbers:
                process.send_signal(number)
            process.send_signal(signal.SIGCONT)
            process.communicate(timeout=60)
            self.assertFalse(partial.exists(), arguments)
            return within and process.returncode in [code for number in numbers for code in (128 + number, -number)]

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self.assertTrue(any(ended_within("c.csv", [number], "convert", "whole.h5", "c.csv", "--force")
                                for _ in range(TIMES)), number)
        # What ends in order at the first signal ends at once by the second.
        for numbers, follow in (([signal.SIGTERM], []), ([signal.SIGINT, signal.SIGTERM], ["--follow"])):
            self.assertTrue(any(ended_within("p.png", numbers, "plot", "whole.h5", "energy", "-o", "p.png", "--force",
                                             "--size", "5000x4000", *follow)
                                for _ in range(10 * TIMES)), numbers)

    def test_signals_that_the_caller_ignores_stay_ignored(self):
        def ignore():
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)

        process = self.start("run", "gas.toml", "-o", "ignored.h5", *self.options, preexec_fn=ignore)
        while not (self.folder / "ignored.h5").exists():
            self.assertIsNone(process.poll())
            time.sleep(0.002)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) * 2:
            process.send_signal(number)
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)


class Unheard(ProgramTest):
    def test_a_signal_ends_what_waits_for_somebody_to_read_its_messages(self):
        self.write("gas.toml", GAS.replace("until = 0.5", "until = 0.05"))
        self.succeed("run", "gas.toml", "--quiet")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            reader, writer = os.pipe()
            os.set_blocking(writer, False)
            try:
                while True:
                    os.write(writer, bytes(4096))
            except BlockingIOError:
                pass  # it is full
            os.set_blocking(writer, True)
            output = self.folder / f"{number.name}.csv"
            process = subprocess.Popen([PROGRAM, "convert", "gas.h5", output.name], cwd=self.folder,
                                       stdout=subprocess.DEVNULL, stderr=writer)
            try:
                end = time.monotonic() + 60
                while not output.exists():  # then it is to be told
                    self.assertLess(time.monotonic(), end)
                    time.sleep(0.002)
                process.send_signal(number)
                self.assertEqual(process.wait(timeout=30), 128 + number)
            finally:
                process.kill()
                process.wait()
                os.close(reader)
                os.close(writer)


if __name__ == "__main__":
    unittest.main()
