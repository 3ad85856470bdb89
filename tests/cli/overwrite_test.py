"""What may be overwritten and what may not, under whatever name it is given."""

import os
import resource
import shutil
import subprocess
import unittest

import h5py

from program import GAS, PROGRAM, ProgramTest

SMALL = 20_000  # bytes that a file may grow to: less than the header of a trajectory


def small_files_only():
    resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL, SMALL))


class Overwrite(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("gas.toml", GAS)
        self.succeed("run", "gas.toml", "--quiet")

    def refused(self, pattern, *arguments):
        before = {path.name: path.lstat() for path in self.folder.iterdir()}
        result = self.carom(*arguments)
        self.assertEqual(result.status, 2, result.err)
        self.assertRegex(result.err, r"\Acarom: " + pattern + r"\n\Z")
        for path in self.folder.iterdir():
            now, old = path.lstat(), before[path.name]
            self.assertEqual((now.st_mode, now.st_ino, now.st_mtime_ns), (old.st_mode, old.st_ino, old.st_mtime_ns))

    def test_what_is_no_file_is_never_replaced(self):
        for ending in ("h5", "csv", "vtp", "xyz", "png", "json"):
            os.mkfifo(self.folder / f"pipe.{ending}")
        os.symlink("pipe.h5", self.folder / "link.h5")
        for force in ([], ["--force"]):
            for name, arguments in [("pipe.h5", ["run", "gas.toml", "-o", "new.h5", "--checkpoint", "pipe.h5"]),
                                    ("link.h5", ["run", "gas.toml", "-o", "new.h5", "--checkpoint", "link.h5"]),
                                    ("pipe.h5", ["run", "gas.toml", "-o", "pipe.h5"]),
                                    ("pipe.csv", ["convert", "gas.h5", "pipe.csv"]),
                                    ("pipe.xyz", ["convert", "gas.h5", "pipe.xyz"]),
                                    ("pipe.vtp", ["convert", "gas.h5", "pipe.vtp", "--last"]),
                                    ("pipe.png", ["plot", "gas.h5", "balls", "-o", "pipe.png"]),
                                    ("pipe.json", ["bench", "--quick", "-o", "pipe.json"])]:
                with self.subTest(arguments + force):
                    self.refused(name.replace(".", r"\.") + ": exists and is not a regular file", *arguments, *force)

    def test_a_log_may_go_into_a_pipe(self):
        os.mkfifo(self.folder / "pipe.csv")
        with subprocess.Popen(["cat", "pipe.csv"], cwd=self.folder, stdout=subprocess.PIPE, text=True) as reader:
            self.succeed("run", "gas.toml", "-o", "new.h5", "--solver", "events", "--events-log", "pipe.csv")
            log = reader.communicate(timeout=60)[0]
        self.assertRegex(log, r"\Atime,kind,i,j,")
        self.assertGreater(log.count("\n"), 10)
        self.assertTrue((self.folder / "pipe.csv").is_fifo())

    def test_a_pipe_is_no_trajectory(self):
        os.mkfifo(self.folder / "pipe.h5")
        self.refused(r"pipe\.h5: is not a regular file", "state", "pipe.h5")

    def test_a_link_stays_and_its_target_is_replaced(self):
        self.write("real.h5", "old")
        self.write("real.checkpoint.h5", "old")
        os.symlink("real.h5", self.folder / "link.h5")
        os.symlink("real.checkpoint.h5", self.folder / "link.checkpoint.h5")
        self.succeed("run", "gas.toml", "-o", "link.h5", "--force")
        self.assertTrue((self.folder / "link.h5").is_symlink())
        self.assertTrue((self.folder / "link.checkpoint.h5").is_symlink())
        for name in ("real.h5", "real.checkpoint.h5"):
            with h5py.File(self.folder / name):
                pass

    def test_a_link_to_a_file_that_is_not_there_yet_is_followed(self):
        (self.folder / "disk").mkdir()
        os.symlink("disk/real.h5", self.folder / "link.h5")
        self.succeed("run", "gas.toml", "-o", "link.h5")
        self.assertTrue((self.folder / "link.h5").is_symlink())
        with h5py.File(self.folder / "disk" / "real.h5") as file:
            self.assertEqual(len(file["particles/all/position/value"]), 6)
        os.symlink("circle.h5", self.folder / "circle.h5")
        self.assertEqual(self.carom("run", "gas.toml", "-o", "circle.h5").status, 4)

    def test_one_file_under_two_names_is_one_file(self):
        (self.folder / "here").mkdir()
        os.symlink("a.h5", self.folder / "alias.h5")
        for other in ("./a.h5", "here/../a.h5", str(self.folder / "a.h5"), "alias.h5"):
            with self.subTest(other):
                self.refused(r"a\.h5: is to be both the trajectory and the checkpoint", "run", "gas.toml", "-o", "a.h5",
                             "--checkpoint", other)
        self.refused(r"\./a\.h5: is to be both the events log and another output", "run", "gas.toml", "-o", "a.h5",
                     "--solver", "events", "--events-log", "./a.h5")

    def test_the_input_is_not_overwritten(self):
        os.symlink("gas.toml", self.folder / "same.toml")
        message = r".*: is the input, and would be overwritten; name another file"
        for option in ("-o", "--checkpoint", "--events-log"):
            output = [] if option == "-o" else ["-o", "new.h5"]
            for name in ("gas.toml", "./gas.toml", "same.toml"):
                with self.subTest((option, name)):
                    self.refused(message, "run", "gas.toml", *output, option, name, "--force")
        self.refused(message, "run", "--resume", "gas.checkpoint.h5", "--until", "1", "-o", "./gas.checkpoint.h5",
                     "--force")
        self.refused(message, "plot", "gas.h5", "energy", "-o", "./gas.h5", "--force")

    def test_an_installed_scene_given_by_name_is_not_overwritten(self):
        # In an installation of the test's own: were it overwritten, nothing else would miss it.
        (self.folder / "bin").mkdir()
        (self.folder / "share/carom/scenes").mkdir(parents=True)
        program = self.folder / "bin/carom"
        shutil.copy(PROGRAM, program)
        scene = self.folder / "share/carom/scenes/mine.toml"
        scene.write_text(GAS)
        for option in ("-o", "--checkpoint"):
            result = self.run_program(program, "run", "mine", option, scene, "--force")
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertEqual(scene.read_text(), GAS)

    def run_program(self, program, *arguments):
        return subprocess.run([program, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
                              timeout=300)

    def test_a_checkpoint_may_take_the_place_of_the_one_that_is_read(self):
        self.succeed("run", "--resume", "gas.checkpoint.h5", "--until", "1", "--checkpoint", "./gas.checkpoint.h5")

    def test_a_failure_before_the_first_frame_leaves_the_older_file(self):
        before = (self.folder / "gas.h5").read_bytes()
        result = self.carom("run", "gas.toml", "--force", "--quiet", preexec_fn=small_files_only)
        self.assertEqual(result.status, 4)
        self.assertIn("nothing was written, and the older file of that name is untouched", result.err)
        self.assertEqual((self.folder / "gas.h5").read_bytes(), before)
        self.assertNotIn("gas.h5.partial", self.files())

    def test_a_failure_before_the_start_leaves_the_older_log(self):
        run = ["run", "gas.toml", "--solver", "events", "--quiet", "--force", "--events-log", "log.csv"]
        result = self.carom(*run, preexec_fn=small_files_only)
        self.assertEqual(result.status, 4)
        self.assertNotIn("log.csv", self.files())
        self.write("log.csv", "older\n")
        self.assertEqual(self.carom(*run, preexec_fn=small_files_only).status, 4)
        self.assertEqual((self.folder / "log.csv").read_text(), "older\n")
        # A run that starts replaces it, even where nothing ever collides.
        self.succeed(*run, "--until", "0")
        self.assertRegex((self.folder / "log.csv").read_text(), r"\Atime,kind,i,j,[^\n]*\n\Z")

    def test_a_log_that_cannot_be_written_is_told_before_there_is_anything_else(self):
        before = self.files()
        result = self.carom("run", "gas.toml", "--solver", "events", "-o", "new.h5", "--events-log", 300 * "x")
        self.assertEqual(result.status, 4)
        self.assertRegex(result.err, r"\Acarom: x+: cannot be written: .*\n\Z")
        self.assertEqual(self.files(), before)

    def test_the_first_frame_replaces_the_older_file(self):
        self.write("gas.h5", "older")
        self.write("gas.h5.partial", "left by a process that was killed")
        self.succeed("run", "gas.toml", "--force", "--quiet")
        self.assertNotIn("gas.h5.partial", self.files())
        with h5py.File(self.folder / "gas.h5") as file:
            self.assertEqual(len(file["particles/all/position/value"]), 6)


if __name__ == "__main__":
    unittest.main()
