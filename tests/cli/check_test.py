"""`carom check`: what it predicts is what a run takes."""

import json
import subprocess
import sys
import unittest

from program import GAS, PROGRAM, ProgramTest

# Runs the program and prints its peak memory in bytes; a process of its own, since that is counted over all children.
MEASURE = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""

MANY = """
[scene]
dimension = {dimension}
[box]
size = {size}
[output]
every = {every}
observables_every = 0
[[fill]]
count = {count}
radius = 0.5
mass = 1.0
temperature = 1.0
arrangement = "lattice"
"""


class Check(ProgramTest):
    def check_json(self, *arguments):
        return json.loads(self.succeed("check", *arguments, "--json").out)

    def test_it_prints_the_derived_numbers_and_writes_nothing(self):
        self.write("gas.toml", GAS)
        text = self.succeed("check", "gas.toml").out
        for word in ["200 in 2D", "packing fraction", "stiffness", "time step", "contact duration", "500 to t = 0.5",
                     "memory", "6 frames and 11 rows"]:
            self.assertIn(word, text)
        self.assertEqual(self.files(), ["gas.toml"])

    def test_what_it_predicts_is_what_the_run_says(self):
        self.write("gas.toml", GAS)
        for options in [[], ["--until", "0.123"], ["--steps", "77"], ["--set", "output.every=0"],
                        ["--set", "output.every=0.0004"]]:
            predicted = self.check_json("gas.toml", *options)
            done = self.run_json("gas.toml", "--force", *options)
            for key in ["balls", "steps", "frames", "rows", "dt", "precision", "backend"]:
                self.assertEqual(predicted[key], done[key], f"{key} with {options}")

    def test_the_size_of_the_output_is_near(self):
        # Small files are mostly structure, which is only roughly known.
        self.write("gas.toml", MANY.format(dimension=2, size=[120.0, 120.0], every=1e-3, count=5000))
        options = ["--steps", "500", "--set", "output.every=0.0015"]
        predicted = self.check_json("gas.toml", *options)["output_bytes"]
        self.run_json("gas.toml", *options)
        self.assertAlmostEqual((self.folder / "gas.h5").stat().st_size / predicted, 1.0, delta=0.25)

    def test_the_size_of_many_small_frames_is_near(self):
        # Few balls: the box, clocks and rows of each frame take more than the balls, and frames share chunks.
        for every, fields in [("1e-9", None), ("0.001", None), ("0.04", None), ("0.001", '["position"]')]:
            options = ["two_balls", "--set", f"output.every={every}"]
            if fields:
                options += ["--set", f"output.fields={fields}"]
            with self.subTest(every=every, fields=fields):
                predicted = self.check_json(*options)["output_bytes"]
                self.run_json(*options, "--force")
                size = (self.folder / "two_balls.h5").stat().st_size
                self.assertAlmostEqual(size / predicted, 1.0, delta=0.25)

    def test_many_components_are_predicted_written_and_read(self):
        # The names of 16,000 components do not fit into an attribute.
        self.write("many.toml", MANY.format(dimension=2, size=[200.0, 200.0], every=0, count=16_000)
                   + '[[observe]]\nname = "each"\nkind = "displaced_each"\n')
        self.run_json("many.toml", "--steps", "1")
        self.assertTrue(self.succeed("state", "many.h5", "--csv").out)
        self.succeed("plot", "many.h5", "temperature", "-o", "figure.svg")

    def test_whole_numbers_are_not_rounded(self):
        self.write("gas.toml", GAS)
        self.run_json("gas.toml", "--seed", "9007199254740993", "--until", "0")
        self.succeed("check", "gas.toml", "--seed", "1234567890123456789")

    def test_memory_is_predicted_within_ten_per_cent(self):
        for dimension, size, every in [(2, [700.0, 700.0], 0), (2, [700.0, 700.0], 1e-4), (3, [75.0, 75.0, 75.0], 0)]:
            with self.subTest(f"{dimension}D, every {every}"):
                self.write("many.toml", MANY.format(dimension=dimension, size=size, every=every, count=240_000))
                options = ["many.toml", "--steps", "20", "--backend", "cpu"]
                predicted = self.check_json(*options)["memory_bytes"]
                measured = int(subprocess.run(
                    [sys.executable, "-c", MEASURE, PROGRAM, "run", *options, "--quiet", "--force"], cwd=self.folder,
                    check=True, capture_output=True, text=True, timeout=300).stdout)
                self.assertAlmostEqual(predicted / measured, 1.0, delta=0.1)

    def test_warnings_are_printed_and_are_no_errors(self):
        self.write("gas.toml", GAS)
        self.assertIn("warning: ", self.succeed("check", "gas.toml", "--set", "spring.stiffness=1000").out)
        self.assertTrue(self.check_json("gas.toml", "--set", "spring.stiffness=1000")["warnings"])


if __name__ == "__main__":
    unittest.main()
