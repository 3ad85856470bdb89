"""What is made of a stored run (`state`, `convert`, `plot`), and what may be overwritten, under whatever name."""

import csv
import io
import json
import math
import os
import pathlib
import re
import resource
import shutil
import struct
import subprocess
import tempfile
import time
import unittest
import xml.etree.ElementTree
import zlib

import h5py

try:
    import PIL.Image
except ImportError:
    PIL = None

from program import GAS, PROGRAM, ProgramTest

SCENE = """
[scene]
title = "three balls"
dimension = 2
[box]
size = [10.0, 10.0]
boundary = [["wall", "open"], "wall"]
[spring]
stiffness = 1.0e4
dt = 1.0e-3
[run]
until = 2.0
[output]
every = 0.5
[[species]]
name = "pin"
radius = 0.25
mass = 0.5
color = "#E91E63"
[[ball]]
species = "pin"
position = [2.0, 5.0]
velocity = [0.1, 0.3]
[[ball]]
radius = 0.5
mass = inf
position = [5.0, 2.0]
spin = 1.5
[[ball]]
species = "pin"
position = [9.0, 8.0]
velocity = [1.0, 0.0]
"""


def read_png(path):
    """Width, height and the unfiltered bytes of an 8-bit RGB(A) or palette picture, with nothing but zlib."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, pixels = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height = struct.unpack(">II", body[:8])
        if kind == b"IDAT":
            pixels += body
        at += 12 + length
    return width, height, zlib.decompress(pixels)


class Outputs(ProgramTest):
    @classmethod
    def setUpClass(cls):
        cls.stored = tempfile.TemporaryDirectory()
        scene = os.path.join(cls.stored.name, "three.toml")
        with open(scene, "w") as file:
            file.write(SCENE)
        subprocess.run([PROGRAM, "run", "three.toml", "--quiet"], cwd=cls.stored.name, check=True)

    @classmethod
    def tearDownClass(cls):
        cls.stored.cleanup()

    def setUp(self):
        super().setUp()
        shutil.copy(os.path.join(self.stored.name, "three.h5"), self.folder)

    def state(self, *arguments):
        return json.loads(self.succeed("state", "three.h5", "--json", *arguments).out)

    def test_state_json_keeps_the_contract(self):
        state = self.state("--frame", 0)
        self.assertEqual(sorted(state), ["balls", "dimension", "step", "time"])
        self.assertEqual((state["time"], state["step"], state["dimension"]), (0.0, 0, 2))
        self.assertEqual([ball["id"] for ball in state["balls"]], [0, 1, 2])
        pin, heavy, _ = state["balls"]
        self.assertEqual(sorted(pin), ["id", "mass", "position", "radius", "species", "spin", "velocity"])
        self.assertEqual((pin["species"], pin["radius"], pin["mass"]), ("pin", 0.25, 0.5))
        self.assertEqual((heavy["species"], heavy["mass"], heavy["spin"]), (None, None, 1.5))
        for got, wanted in zip(pin["position"] + pin["velocity"], [2.0, 5.0, 0.1, 0.3]):
            self.assertAlmostEqual(got, wanted, places=6)

    def test_numbers_are_the_shortest_that_read_back(self):
        text = self.succeed("state", "three.h5", "--json", "--frame", 0).out
        self.assertIn('"velocity":[0.1,0.3]', text.replace(" ", ""))

    def test_state_json_ends_with_its_line(self):
        self.assertRegex(self.succeed("state", "three.h5", "--json").out, r"[^\n]\n\Z")

    def test_the_end_of_the_options_may_be_marked(self):
        self.assertEqual(self.succeed("state", "three.h5", "--").out, self.succeed("state", "--", "three.h5").out)

    def test_the_last_frame_is_the_default_and_balls_that_left_are_not_in_it(self):
        last = self.state()
        self.assertEqual(last, self.state("--last"))
        self.assertAlmostEqual(last["time"], 2.0)
        self.assertEqual([ball["id"] for ball in last["balls"]], [0, 1])

    def test_time_chooses_the_nearest_frame(self):
        self.assertAlmostEqual(self.state("--time", 0.7)["time"], 0.5)
        self.assertAlmostEqual(self.state("--time", 99)["time"], 2.0)

    def test_state_csv_has_the_same_numbers(self):
        table = list(csv.DictReader(io.StringIO(self.succeed("state", "three.h5", "--csv", "--frame", 1).out)))
        self.assertEqual(list(table[0]), "id,species,x,y,vx,vy,w,radius,mass".split(","))
        for row, ball in zip(table, self.state("--frame", 1)["balls"]):
            self.assertEqual([float(row["x"]), float(row["y"])], ball["position"])
            self.assertEqual(float(row["w"]), ball["spin"])
        self.assertEqual(table[1]["mass"], "inf")

    def test_convert_writes_each_format_and_says_so(self):
        endings = re.findall(r"\.(\w+) \(", self.succeed("convert", "--help").out)
        self.assertGreaterEqual(len(endings), 3)
        balls = self.state("--frame", 2)["balls"]
        for ending in endings:
            with self.subTest(ending):
                result = self.succeed("convert", "three.h5", f"all.{ending}")
                self.assertEqual(result.out, "")
                self.assertTrue(result.err)
                self.assertTrue([name for name in self.files() if name.startswith("all")])
                self.succeed("convert", "three.h5", f"one.{ending}", "--frame", 2, "--quiet")
                reader = pathlib.Path(__file__).parent.parent / "support" / "read_export.py"
                read = subprocess.run([os.environ.get("CAROM_PYTHON", "/usr/bin/python3"), "-B", reader,
                                       self.folder / f"one.{ending}"], capture_output=True, text=True, check=False)
                self.assertEqual(read.returncode, 0, read.stdout + read.stderr)
                lines = [line.split() for line in read.stdout.splitlines()]
                self.assertEqual([[float(word) for word in line[3:5]] for line in lines],
                                 [ball["position"] for ball in balls])

    def test_convert_overwrites_only_with_force(self):
        self.write("one.csv", "precious")
        self.assertEqual(self.carom("convert", "three.h5", "one.csv", "--last").status, 2)
        self.assertEqual((self.folder / "one.csv").read_text(), "precious")
        self.succeed("convert", "three.h5", "one.csv", "--last", "--force")
        self.assertNotEqual((self.folder / "one.csv").read_text(), "precious")

    def test_names_that_lead_nowhere_are_told_in_carom_s_words(self):
        (self.folder / "loop").symlink_to("loop")
        long = "a" * 260
        for output in (["energy", "-o", f"{long}/x.svg"], ["--all", "-o", f"{long}/x.svg"]):
            result = self.carom("plot", "three.h5", *output)
            self.assertEqual(result.status, 4)
            self.assertRegex(result.err, rf"\Acarom: cannot write {long}/x[^:]*\.svg: {long}: File name too long\n\Z")
        for command in (["plot", "three.h5", "--all"], ["render", "three.h5"]):
            for name in ("loop", f"{long}.png"):
                result = self.carom(*command, "-o", name)
                self.assertIn(result.status, (2, 4))
                self.assertNotIn("filesystem error", result.err)
                self.assertEqual(result.err.count("\n"), 1)

    def test_files_before_one_that_does_not_fit_are_told_of(self):
        def interrupted_by_the_largest(*command):
            self.succeed(*command)
            files = [path for path in self.folder.glob("f*") if path.suffix != ".pvd"]
            limit = max(path.stat().st_size for path in files) - 1
            self.assertLess(min(path.stat().st_size for path in files), limit)
            return self.carom(*command, "--force", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))

        result = interrupted_by_the_largest("plot", "three.h5", "--all", "--csv", "-o", "f.csv", "--quiet")
        self.assertEqual(result.status, 4)
        self.assertRegex(result.err, r"; the (file|\d+ files) before it (was|were) kept\n\Z")
        for path in self.folder.glob("f*"):
            path.unlink()
        # None of a list of older frames beside newer ones.
        self.succeed("convert", "three.h5", "f.vtp")
        (self.folder / "f_0001.vtp.carom-partial").mkdir()
        self.assertNotEqual(self.carom("convert", "three.h5", "f.vtp", "--force").status, 0)
        self.assertFalse((self.folder / "f.pvd").exists())

    def test_lists_of_frames_name_them_or_are_refused(self):
        self.succeed("convert", "three.h5", "a\t\r\n<&\">b.vtp")
        listed = xml.etree.ElementTree.parse(self.folder / "a\t\r\n<&\">b.pvd").iter("DataSet")
        self.assertTrue(all((self.folder / frame.get("file")).exists() for frame in listed))
        before = self.files()
        for name, shown in ((b"\xffa.vtp", r"\xffa_0000.vtp"), (b"\x07a.vtp", r"\x07a_0000.vtp"),
                            ("\uffffa.vtp".encode(), r"\xef\xbf\xbfa_0000.vtp")):
            result = self.carom("convert", "three.h5", os.fsdecode(name))
            said = f"carom: {shown}: cannot be named in a .pvd, which is XML; allowed: UTF-8 without control characters\n"
            self.assertEqual((result.status, result.err), (2, said))
        self.assertEqual(self.files(), before)

    def test_all_figures_go_into_a_folder_of_a_folder_that_is_made(self):
        self.succeed("plot", "three.h5", "--all", "--csv", "-o", "one/two/three/", "--quiet")
        self.assertTrue((self.folder / "one/two/three/energy.csv").exists())

    def test_figures_of_every_quantity_are_drawn(self):
        self.succeed("plot", "three.h5")
        self.assertIn("three-energy.png", self.files())
        for quantity in ["energy", "momentum", "temperature", "pressure", "wall_pressure", "largest_speed", "balls"]:
            with self.subTest(quantity):
                self.succeed("plot", "three.h5", quantity, "-o", f"{quantity}.png", "--force")
                width, height, pixels = read_png(self.folder / f"{quantity}.png")
                self.assertGreater(width, 400)
                self.assertGreater(len(set(pixels)), 10, "blank")
        for ending, start in [("svg", b"<?xml"), ("pdf", b"%PDF")]:
            self.succeed("plot", "three.h5", "energy", "-o", f"e.{ending}", "--quiet")
            self.assertTrue((self.folder / f"e.{ending}").read_bytes().startswith(start))

    def test_without_gnuplot_one_line_says_so(self):
        (self.folder / "bin").mkdir()
        result = self.carom("plot", "three.h5", env={"PATH": str(self.folder / "bin")})
        self.assertEqual(result.status, 4)
        self.assertRegex(result.err, r"\Acarom: figures are drawn by gnuplot, which is not installed.*\n\Z")
        self.assertNotIn("three-energy.png", self.files())

    def test_the_picture_of_the_balls_needs_no_gnuplot_and_has_their_colour(self):
        self.succeed("plot", "three.h5", "balls", "-o", "b.png", "--frame", 0, env={"PATH": ""})
        width, height, pixels = read_png(self.folder / "b.png")
        self.assertLessEqual(width, 1200)
        self.assertLessEqual(height, 900)
        if PIL is not None:
            image = PIL.Image.open(self.folder / "b.png").convert("RGB")
            pink = sum(abs(r - 0xE9) + abs(g - 0x1E) + abs(b - 0x63) < 12 for r, g, b in image.getdata())
            # Two disks of radius 0.25 in a box of side 10 that is as high as the picture less title and margin.
            wanted = 2 * math.pi * (0.25 * (900 - 62 - 28) / 10) ** 2
            self.assertAlmostEqual(pink, wanted, delta=0.1 * wanted)

    def test_the_size_of_the_picture_may_be_chosen(self):
        self.succeed("plot", "three.h5", "balls", "-o", "s.png", "--size", "600x450")
        width, height, _ = read_png(self.folder / "s.png")
        self.assertLessEqual(width, 600)
        self.assertEqual(height, 450)


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

    def test_a_link_that_lies_in_wait_under_a_name_that_nobody_gave_is_not_followed(self):
        (self.folder / "there").mkdir()
        self.write("many.sweep.toml", '[sweep]\nscene = "scene.toml"\nrecord = ["kinetic_energy"]\n'
                                      '[[axis]]\nkey = "scene.seed"\nvalues = [1, 2]\n')
        (self.folder / "scene.toml").write_text((self.folder / "gas.toml").read_text())
        self.succeed("run", "scene.toml", "-o", "stored.h5")
        for name, arguments in [("scene.h5", ["run", "scene.toml"]),
                                ("scene.checkpoint.h5", ["run", "scene.toml"]),
                                ("other.checkpoint.h5", ["run", "scene.toml", "-o", "other.h5"]),
                                ("scene.002.h5", ["run", "scene.toml", "--copies", "2"]),
                                ("stored-temperature.csv", ["plot", "stored.h5", "temperature", "--csv"]),
                                ("stored.html", ["report", "stored.h5"]),
                                ("frames_0001.vtp", ["convert", "stored.h5", "frames.vtp"]),
                                ("frames.pvd", ["convert", "stored.h5", "frames.vtp"]),
                                ("many.csv", ["sweep", "many.sweep.toml"])]:
            with self.subTest(name):
                os.symlink("there/victim", self.folder / name)
                for force in ([], ["--force"]):
                    self.refused(name.replace(".", r"\.") + ": is a link to a file that is not there, and nobody gave this name; "
                                 "name another", *arguments, *force)
                self.assertEqual(list((self.folder / "there").iterdir()), [])
                os.unlink(self.folder / name)
        os.symlink("there/victim", self.folder / "stored-2.h5")  # of a resumed run the next name that is free
        self.assertIn("stored-3.h5", self.succeed("run", "--resume", "stored.checkpoint.h5", "--until", "0.6").err)
        self.assertEqual(list((self.folder / "there").iterdir()), [])

    def test_one_file_under_two_names_is_one_file(self):
        (self.folder / "here").mkdir()
        os.symlink("a.h5", self.folder / "alias.h5")
        for other in ("./a.h5", "here/../a.h5", str(self.folder / "a.h5"), "alias.h5"):
            with self.subTest(other):
                self.refused(r"a\.h5: is to be both the trajectory and the checkpoint", "run", "gas.toml", "-o", "a.h5",
                             "--checkpoint", other)
        self.refused(r"\./a\.h5: is to be both the events log and another output", "run", "gas.toml", "-o", "a.h5",
                     "--solver", "events", "--events-log", "./a.h5")

    def test_what_is_not_whole_yet_has_a_name_of_its_own(self):
        """One of these was taken for what a killed run had left, and was gone when the run ended, with status 0."""
        for option in ("-o", "--checkpoint", "--events-log"):
            output = [] if option == "-o" else ["-o", "new.h5"]
            self.refused(r"new\.h5\.carom-partial: so a file is called that is not whole yet, \.carom-partial; name another",
                         "run", "gas.toml", *output, "--solver", "events", option, "new.h5.carom-partial")
        self.refused(r"x\.xyz\.carom-partial: .*", "convert", "gas.h5", "x.xyz.carom-partial")

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

    def test_balls_that_are_loaded_are_not_overwritten(self):
        balls = "x,y\n1,1\n3,3\n"
        self.write("balls.csv", balls)
        self.write("loads.toml", """
[scene]
dimension = 2
[box]
size = [9.0, 9.0]
[run]
until = 0.05
[[load]]
file = "balls.csv"
radius = 0.3
mass = 1.0
""")
        (self.folder / "link.png").symlink_to("balls.csv")
        (self.folder / "link.h5").symlink_to("balls.csv")
        for command, output in (("render", "link.png"), ("compare", "link.png"), ("run", "link.h5")):
            result = self.carom(command, "loads.toml", "-o", output, "--force", "--quiet")
            if command == "render" and result.status == 4 and "no pictures" in result.err:
                continue  # a build without OpenGL
            self.assertEqual(result.status, 2, (command, result.err))
            self.assertIn(f"{output}: is the input, and would be overwritten", result.err)
            self.assertEqual((self.folder / "balls.csv").read_text(), balls)

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
        self.assertNotIn("gas.h5.carom-partial", self.files())

    def test_a_figure_that_does_not_fit_leaves_the_older_one(self):
        for ending in ("png", "svg", "pdf"):
            for kind in ("energy", "balls"):
                if kind == "balls" and ending != "png":
                    continue
                figure = self.folder / f"f.{ending}"
                self.succeed("plot", "gas.h5", kind, "-o", figure.name, "--force")
                before = figure.read_bytes()
                for part in (0.0, 0.3, 0.6, 0.99):
                    limit = int(part * len(before))
                    result = self.carom("plot", "gas.h5", kind, "-o", figure.name, "--force",
                                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
                    self.assertEqual(result.status, 4, (ending, kind, part))
                    self.assertEqual(result.err.count("\n"), 1, result.err)
                    self.assertEqual(figure.read_bytes(), before)
        self.assertFalse([file for file in self.files() if "partial" in file])

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
        result = self.carom("run", "gas.toml", "--solver", "events", "-o", "new.h5", "--events-log", "/proc/log.csv")
        self.assertEqual(result.status, 4)
        self.assertRegex(result.err, r"\Acarom: /proc/log.csv: cannot be written: .*\n\Z")
        self.assertEqual(self.files(), before)

    def test_the_first_frame_replaces_the_older_file(self):
        self.write("gas.h5", "older")
        self.write("gas.h5.carom-partial", "left by a process that was killed")
        self.write("gas.h5.partial", "somebody else's")
        self.succeed("run", "gas.toml", "--force", "--quiet")
        self.assertNotIn("gas.h5.carom-partial", self.files())
        self.assertEqual((self.folder / "gas.h5.partial").read_text(), "somebody else's")
        with h5py.File(self.folder / "gas.h5") as file:
            self.assertEqual(len(file["particles/all/position/value"]), 6)


class FilesOfOthers(ProgramTest):
    LONG = ["--until", "1e6", "--quiet"]

    def setUp(self):
        super().setUp()
        self.write("gas.toml", GAS)
        self.write("theirs.txt", "theirs")

    def test_a_link_that_lies_in_wait_is_not_followed(self):
        (self.folder / "t.csv").write_text("a,b\n1,2\n2,3\n")
        self.succeed("run", "gas.toml", "--quiet", "--until", "0.1")
        for name, arguments in {"new.h5": ["run", "gas.toml", "--quiet", "--until", "0.1", "-o", "new.h5"],
                                "c.h5": ["run", "gas.toml", "--quiet", "--until", "0.1", "-o", "o.h5",
                                         "--checkpoint", "c.h5"],
                                "x.vtp": ["convert", "gas.h5", "x.vtp", "--last"],
                                "x.csv": ["convert", "gas.h5", "x.csv"],
                                "f.svg": ["plot", "gas.h5", "energy", "-o", "f.svg"],
                                "f.png": ["plot", "gas.h5", "balls", "-o", "f.png"]}.items():
            for ending in (".partial", ".carom-partial"):
                link = self.folder / (name + ending)
                link.symlink_to("theirs.txt")
                result = self.carom(*arguments)
                self.assertTrue(link.is_symlink(), name)
                self.assertEqual((self.folder / "theirs.txt").read_text(), "theirs", name)
                link.unlink()
                if ending == ".carom-partial":
                    self.assertNotEqual(result.status, 0, name)
                    self.assertIn(f"{name}.carom-partial: is in the way", result.err)
                self.assertFalse([file for file in self.files() if "partial" in file])
                for left in (name, "o.h5", "o.checkpoint.h5", "new.checkpoint.h5"):
                    (self.folder / left).unlink(missing_ok=True)

    def frames_while_written(self, path):
        """HDF5 asks for a file's size and then reads its beginning: if the writer goes on between, it looks cut off."""
        cut_off = 0
        for _ in range(1000):
            try:
                with h5py.File(path) as file:
                    frames = len(file["particles/all/position/value"])
                if frames > 0:
                    return frames
                time.sleep(0.005)  # the first one comes a moment after the file
            except OSError as error:
                self.assertIn("truncated", str(error))
                cut_off += 1
                if cut_off == 20:
                    raise
        self.fail("no frame is written")

    def test_two_runs_never_write_one_file(self):
        self.write("old.h5", "older")
        for name in ("new.h5", "old.h5"):
            first = self.start("run", "gas.toml", "-o", name, "--force", *self.LONG)
            try:
                path = self.folder / name
                while not path.exists() or path.read_bytes()[:5] == b"older":
                    self.assertIsNone(first.poll())
                    time.sleep(0.005)
                second = self.carom("run", "gas.toml", "-o", name, "--force", "--quiet", "--until", "0.1")
                self.assertEqual(second.status, 2, second.err)
                self.assertIn(f"{name}: is being written by another run", second.err)
                self.assertGreaterEqual(self.frames_while_written(path), 1)  # which anyone may read
            finally:
                first.terminate()
                self.assertEqual(first.wait(60), 143)
                first.communicate()
            self.succeed("run", "gas.toml", "-o", name, "--force", "--quiet", "--until", "0.1")

    def test_two_runs_never_write_one_log(self):
        def run(name, *options):
            return ["run", "gas.toml", "--solver", "events", "-o", name, "--events-log", "log.csv", "--force", *options]

        first = self.start(*run("a.h5", *self.LONG))
        try:
            log = self.folder / "log.csv"
            while not log.exists() or log.stat().st_size == 0:
                self.assertIsNone(first.poll())
                time.sleep(0.005)
            second = self.carom(*run("b.h5", "--quiet", "--until", "0.1"))
            self.assertEqual((second.status, second.err), (2, "carom: log.csv: is being written by another run\n"))
            self.assertFalse((self.folder / "b.h5").exists())
        finally:
            first.terminate()
            self.assertEqual(first.wait(60), 143)
            first.communicate()
        self.assertEqual({line.count(",") for line in log.read_text().splitlines()}, {9})
        self.succeed(*run("b.h5", "--quiet", "--until", "0.1"))

    def test_files_that_came_after_the_look_for_them_stay_unless_forced(self):
        for name in ("log.csv", "c.h5"):
            for force in ([], ["--force"]):
                with self.subTest(name, force=force):
                    scene = self.folder / "pipe.toml"
                    os.mkfifo(scene)
                    run = self.start("run", scene.name, "-o", "new.h5", "--checkpoint", "c.h5", "--solver", "events",
                                     "--events-log", "log.csv", "--quiet", *force)
                    with scene.open("w") as pipe:  # the run has looked, and waits for its scene
                        self.write(name, "theirs")
                        pipe.write(GAS)
                    _, err = run.communicate(timeout=60)
                    if force:
                        self.assertEqual((run.returncode, err), (0, ""))
                        self.assertNotEqual((self.folder / name).read_bytes(), b"theirs")
                    else:
                        self.assertEqual((run.returncode, err),
                                         (2, f"carom: {name}: exists already; --force overwrites it\n"))
                        self.assertEqual((self.folder / name).read_text(), "theirs")
                        self.assertFalse({"new.h5", "log.csv", "c.h5"} - {name} & set(self.files()))
                    for left in ("pipe.toml", "new.h5", "c.h5", "log.csv"):
                        (self.folder / left).unlink(missing_ok=True)

    def test_a_file_that_came_during_the_run_is_not_replaced_by_its_checkpoint(self):
        for often, force in (([], []), ([], ["--force"]), (["--checkpoint-every", "0.05"], [])):
            run = self.start("run", "gas.toml", "-o", "new.h5", "--checkpoint", "c.h5", *self.LONG, *often, *force)
            checkpoint = self.folder / "c.h5"
            waited_for = checkpoint if often else self.folder / "new.h5"
            while not waited_for.exists():
                self.assertIsNone(run.poll())
                time.sleep(0.005)
            if often:  # its own it replaces again and again
                first = checkpoint.stat().st_ino
                while checkpoint.stat().st_ino == first:
                    self.assertIsNone(run.poll())
                    time.sleep(0.005)
            else:
                self.write("c.h5", "theirs")
            run.terminate()
            _, err = run.communicate(timeout=60)
            if often or force:
                self.assertEqual(run.returncode, 143, err)
                with h5py.File(checkpoint) as file:
                    self.assertGreater(file.attrs["time"], 0.0)
            else:
                self.assertEqual((run.returncode, err), (4, "carom: c.h5: exists already; --force overwrites it; "
                                                            "no checkpoint could be written\n"))
                self.assertEqual(checkpoint.read_text(), "theirs")
            checkpoint.unlink()
            (self.folder / "new.h5").unlink()

    def test_a_file_that_is_there_opens(self):
        for k in range(12):
            process = self.start("run", "gas.toml", "-o", f"{k}.h5", *self.LONG)
            path = self.folder / f"{k}.h5"
            while not path.exists():
                self.assertIsNone(process.poll())
            process.kill()
            process.communicate()
            with h5py.File(path) as file:
                self.assertIn("summary", file["parameters"])


if __name__ == "__main__":
    unittest.main()
