"""`carom run --copies`: each copy has the bits of a run alone with its seed, on the CPU and where GPUs share launches; what it
says to bad requests; how it is interrupted and goes on. And sweeps on a GPU, which share launches, too."""

import csv
import json
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import time
import unittest

from program import GAS, PROGRAM, ProgramTest

REHEARSAL = pathlib.Path(PROGRAM).parent / "carom_rehearsal"  # its GPU is the emulated backend

SWEEP = """
[sweep]
scene = "gas.toml"
record = ["kinetic_energy", "momentum"]

[[axis]]
key = "scene.seed"
values = [3, 4, 5, 6, 7]
"""


class Copies(ProgramTest):
    program = PROGRAM
    backend = "cpu"

    def setUp(self):
        super().setUp()
        self.write("gas.toml", GAS.replace("count = 200", "count = 60").replace('backend = "cpu"', f'backend = "{self.backend}"'))

    def carom(self, *arguments, **options):
        done = subprocess.run([self.program, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
                              timeout=self.patience, **options)
        return type("Result", (), {"status": done.returncode, "out": done.stdout, "err": done.stderr})

    def json(self, *arguments):
        result = self.carom("run", *arguments, "--json", "--quiet")
        self.assertEqual(result.status, 0, result.err)
        return json.loads(result.out.strip().splitlines()[-1])

    def alone(self, seed, *arguments):
        return self.json("gas.toml", "--seed", seed, "-o", f"alone{seed}.h5", *arguments)["state_hash"]

    def test_each_has_the_bits_of_a_run_alone_with_its_seed(self):
        told = self.json("gas.toml", "--copies", 5, "--threads", 3)
        self.assertEqual([copy["seed"] for copy in told["copies"]], [7, 8, 9, 10, 11])
        self.assertEqual([copy["backend"] for copy in told["copies"]], 5 * [self.backend])
        hashes = [copy["state_hash"] for copy in told["copies"]]
        self.assertEqual(len(set(hashes)), 5)
        self.assertEqual(hashes, [self.alone(seed) for seed in range(7, 12)])
        expected = [f"gas.{k:03}{end}" for k in range(1, 6) for end in (".checkpoint.h5", ".h5")]
        self.assertEqual([name for name in self.files() if name.startswith("gas.0")], expected)
        for k in range(1, 6):
            frames = [self.carom("convert", name, f"{name}.csv").status for name in (f"gas.{k:03}.h5", f"alone{k + 6}.h5")]
            self.assertEqual(frames, [0, 0])
            self.assertEqual((self.folder / f"gas.{k:03}.h5.csv").read_text(), (self.folder / f"alone{k + 6}.h5.csv").read_text())

    def test_they_go_on_together_from_their_checkpoints(self):
        self.json("gas.toml", "--copies", 3, "--seed", 20, "-o", "a.h5")
        longer = self.json("--resume", "a.checkpoint.h5", "--copies", 3, "--until", 1)
        self.assertEqual([copy["state_hash"] for copy in longer["copies"]], [self.alone(seed, "--until", 1) for seed in (20, 21, 22)])
        self.assertIn("a-2.003.checkpoint.h5", self.files())

    def test_interrupted_all_leave_checkpoints_and_the_command_it_prints_goes_on(self):
        until = ["--until", "4000", "--set", "output.every=0"]
        process = subprocess.Popen([self.program, "run", "gas.toml", "--copies", "4", "--threads", "2", *until], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not (self.folder / "gas.002.h5").exists() and process.poll() is None:
            time.sleep(0.01)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=120)[1]
        self.assertEqual(process.returncode, 130, err)
        command = re.search(r"carom: interrupted; to go on: (.*)$", err.strip().splitlines()[-1])
        self.assertTrue(command, err)
        for k in range(1, 5):
            self.assertTrue((self.folder / f"gas.{k:03}.checkpoint.h5").exists(), k)
        # Those that had not begun are at the start: a copy of them goes on to the bits of a run alone.
        done = self.carom("run", "--resume", "gas.004.checkpoint.h5", "--until", "0.2", "--json", "--quiet")
        self.assertEqual(done.status, 0, done.err)
        self.assertIn(self.alone(10, "--until", "0.2"), done.out)
        again = shlex.split(command.group(1))
        self.assertEqual(again[1:], ["run", "--copies", "4", "--resume", "gas.checkpoint.h5"])

    def test_those_that_are_over_are_left_as_they_are(self):
        self.json("gas.toml", "--copies", 2, "-o", "a.h5")
        refused = self.carom("run", "--resume", "a.checkpoint.h5", "--copies", 2)
        self.assertEqual(refused.status, 2)
        self.assertIn("is at time 0.5 already", refused.err)
        # One goes on alone, so that it is over when both are asked for the same.
        self.json("--resume", "a.001.checkpoint.h5", "--until", 1, "-o", "b.001.h5")
        (self.folder / "a.002.checkpoint.h5").rename(self.folder / "b.002.checkpoint.h5")
        told = self.json("--resume", "b.checkpoint.h5", "--copies", 2, "--until", 1, "-o", "c.h5")
        self.assertEqual([copy["was_over"] for copy in told["copies"]], [True, False])
        self.assertEqual([copy["seed"] for copy in told["copies"]], [7, 8])
        self.assertEqual(told["copies"][1]["state_hash"], self.alone(8, "--until", 1))
        self.assertNotIn("c.001.h5", self.files())

    def test_one_that_cannot_go_on_stops_no_other(self):
        # Hot and soft: in the copies of three seeds a ball passes a wall.
        soft = GAS.replace("stiffness = 1.0e4", "stiffness = 60.0").replace("temperature = 1.0", "temperature = 6.0")
        self.write("soft.toml", soft.replace("count = 200", "count = 60").replace('backend = "cpu"', f'backend = "{self.backend}"'))
        result = self.carom("run", "soft.toml", "--copies", 6, "--until", 0.4, "--json", "--quiet", "--force")
        told = json.loads(result.out.strip().splitlines()[-1])
        statuses = [copy["exit_status"] for copy in told["copies"]]
        self.assertEqual(statuses, [3, 0, 3, 3, 0, 0])
        self.assertEqual(result.status, 3)
        self.assertEqual(re.findall(r"carom: seed (\d+): at time .*; checkpoint in soft\.(\d+)\.checkpoint\.h5", result.err),
                         [("7", "001"), ("9", "003"), ("10", "004")])

    def test_bad_requests_are_refused_before_anything_is_written(self):
        before = self.files()
        for arguments, words in ((["--copies", "0"], "--copies"), (["--copies", "x"], "--copies"),
                                 (["--copies", "2000000"], "too many"),
                                 (["--copies", "3", "--seed", str(2**63 - 2)], "more than there are")):
            result = self.carom("run", "gas.toml", *arguments)
            self.assertEqual(result.status, 2, result.err)
            self.assertIn(words, result.err)
            self.assertEqual(len(result.err.strip().splitlines()), 1, result.err)
        self.assertEqual(self.files(), before)
        self.write("gas.002.h5", "mine")
        result = self.carom("run", "gas.toml", "--copies", 3)
        self.assertEqual(result.status, 2)
        self.assertIn("gas.002.h5", result.err)
        self.assertEqual((self.folder / "gas.002.h5").read_text(), "mine")
        (self.folder / "gas.001.h5").symlink_to("gas.002.h5")
        result = self.carom("run", "gas.toml", "--copies", 3, "--force")
        self.assertEqual(result.status, 2)
        self.assertIn("gas.002.h5: is the same file as gas.001.h5", result.err)
        self.assertEqual((self.folder / "gas.002.h5").read_text(), "mine")

    def test_without_chance_they_are_said_to_be_one(self):
        for scene, says in (("two_balls", True), ("gas.toml", False)):
            result = self.carom("run", scene, "--copies", 2)
            self.assertEqual(result.status, 0, result.err)
            said = "warning: nothing in this scene is by chance: all copies ended in the same state\n"
            self.assertEqual(said in result.err, says, result.err)


class Loads(ProgramTest):
    def test_all_begin_with_the_same_loaded_balls(self):
        """Copy 1 would have overwritten them, and copy 2 begun where that ended."""
        self.write("gas.toml", GAS.replace("count = 200", "count = 60"))
        self.succeed("run", "gas.toml", "--until", "1", "-o", "s.001.h5", "--quiet")
        shutil.copy(self.folder / "s.001.h5", self.folder / "b.h5")
        text = re.sub(r"\[\[fill\]\].*", "", (self.folder / "gas.toml").read_text(), flags=re.DOTALL)
        for file in ("s.001.h5", "b.h5"):
            self.write("s.toml", text + f'[[load]]\nfile = "{file}"\n[[fill]]\nradius = 0.1\nmass = 1.0\ncount = 2\ntemperature = 1.0\n')
            for command in (["-o", "s.h5", "--copies", "2"], ["-o", file], ["-o", "t.h5", "--checkpoint", file]):
                if file == "b.h5" and "--copies" in command:
                    continue
                result = self.carom("run", "s.toml", *command, "--force", "--threads", "1")
                self.assertEqual((result.status, result.err.splitlines()[-1]),
                                 (2, f"carom: {file}: is the input, and would be overwritten; name another file"))
        process = self.start("run", "s.toml", "-o", "s.h5", "--copies", "400", "--force", "--quiet", "--threads", "1")
        self.addCleanup(process.kill)
        while not (self.folder / "s.003.checkpoint.h5").exists():
            self.assertIsNone(process.poll(), "it was too fast")
            time.sleep(0.001)
        shutil.copy(self.folder / "s.001.h5", self.folder / "b.h5")  # the same balls, at another time
        err = process.communicate(timeout=120)[1]
        self.assertIn("b.h5 has been changed since the first run read it", err)
        self.assertEqual(process.returncode, 2, err)


@unittest.skipUnless(REHEARSAL.exists(), "this build has no emulated backend: Thrust's headers were not found")
class OnAGpu(Copies):
    program = REHEARSAL
    backend = "cuda"

    def test_a_sweep_has_the_table_of_runs_that_share_nothing(self):
        self.write("g.sweep.toml", SWEEP)
        tables = []
        for arguments in (["--backend", "cuda"], ["--backend", "cuda", "--threads", "1"], ["--backend", "cpu"]):
            result = self.carom("sweep", "g.sweep.toml", "-o", "t.csv", "--force", "--quiet", *arguments)
            self.assertEqual(result.status, 0, result.err)
            tables.append((self.folder / "t.csv").read_text())
        self.assertEqual(len(set(tables)), 1, tables)
        with open(self.folder / "t.csv", newline="") as file:
            self.assertEqual(len(list(csv.reader(file))), 6)


if __name__ == "__main__":
    unittest.main()
