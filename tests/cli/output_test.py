"""What is made of a stored run: `state`, `convert` and `plot`."""

import csv
import io
import json
import math
import os
import shutil
import struct
import subprocess
import tempfile
import unittest
import zlib

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
        for ending in ["vtp", "xyz", "csv"]:
            with self.subTest(ending):
                result = self.succeed("convert", "three.h5", f"all.{ending}")
                self.assertEqual(result.out, "")
                self.assertTrue(result.err)
                self.assertTrue([name for name in self.files() if name.startswith("all")])
                self.succeed("convert", "three.h5", f"one.{ending}", "--frame", 2, "--quiet")
                self.assertGreater((self.folder / f"one.{ending}").stat().st_size, 50)

    def test_convert_overwrites_only_with_force(self):
        self.write("one.csv", "precious")
        self.assertEqual(self.carom("convert", "three.h5", "one.csv", "--last").status, 2)
        self.assertEqual((self.folder / "one.csv").read_text(), "precious")
        self.succeed("convert", "three.h5", "one.csv", "--last", "--force")
        self.assertNotEqual((self.folder / "one.csv").read_text(), "precious")

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


if __name__ == "__main__":
    unittest.main()
