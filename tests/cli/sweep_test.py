"""`carom sweep`: its table, that nothing about how it is run changes a byte of it, and what it says to bad sweeps."""

import csv
import ctypes
import errno
import json
import math
import os
import re
import resource
import shlex
import signal
import statistics
import struct
import subprocess
import time
import unittest

from program import PROGRAM, ProgramTest, cached

# Two disks that meet head on: the second one's speed afterwards is known.
SCENE = """
[scene]
title = "two disks"
dimension = 2
[box]
size = [20.0, 10.0]
boundary = ["open", "open"]
[physics]
restitution = 1.0
[run]
solver = "events"
until = 4.0
[output]
observables_every = 0
[[species]]
name = "hit"
radius = 0.5
mass = 1.0
[[ball]]
radius = 0.5
mass = 1.0
position = [3.0, 5.0]
velocity = [2.0, 0.0]
[[ball]]
species = "hit"
position = [5.0, 5.0]
velocity = [0.0, 0.0]
[[observe]]
name = "moved"
kind = "displaced"
species = "hit"
[[observe]]
name = "who"
kind = "displaced_each"
"""

SWEEP = """
[sweep]
scene = "two.toml"
record = ["kinetic_energy", "moved"]

[[axis]]
name = "e"
key = "physics.restitution"
values = { from = 0.0, to = 1.0, step = 0.1 }

[[axis]]
key = "ball[0].velocity[0]"
values = [2, 1e-1]
"""

# Runs of a gas that take long enough to be interrupted.
GAS = """
[scene]
dimension = 2
[box]
size = [30.0, 30.0]
boundary = ["periodic", "periodic"]
[run]
solver = "events"
until = 1.0
[output]
observables_every = 0
[[fill]]
count = 400
radius = 0.5
mass = 1.0
temperature = 1.0
"""

GAS_SWEEP = """
[sweep]
scene = "gas.toml"
record = ["virial_pressure", "momentum.x"]
{average}
[[axis]]
key = "scene.seed"
values = {{ from = 1, to = 6, step = 1 }}
[[axis]]
key = "fill[0].temperature"
values = [1, 2, 3, 4]
"""

# What replaces what in SWEEP, and what is said about it after "t.sweep.toml:LINE:COLUMN: ".
BAD = [
    ('[sweep]', '[sweeep]', '2:2', 'sweeep: unknown table; did you mean "sweep"?'),
    ('record = ["kinetic_energy", "moved"]', '', '2:1', 'sweep.record: is required: an array of names of observables'),
    ('["kinetic_energy", "moved"]', '[]', '4:10',
     'sweep.record: is empty; allowed: an array of names of observables'),
    ('["kinetic_energy", "moved"]', '"moved"', '4:10',
     'sweep.record: must be an array of names of observables, not "moved"'),
    ('"moved"]', '3]', '4:29', 'sweep.record[1]: must be text in quotes, not 3'),
    ('"moved"]', '"kinetic_energy"]', '4:29', 'sweep.record[1]: "kinetic_energy" is there twice'),
    ('"moved"]', '"movd"]', '4:29', 'sweep.record[1]: there is no observable "movd"; did you mean "moved"?'),
    ('"moved"]', '"momentum.w"]', '4:29', None),
    ('"moved"]', '"momentum", "momentum.x"]', '4:11', 'sweep.record[0]: two columns would be called momentum.x'),
    ('scene = "two.toml"', 'scene = "three.toml"', '3:9', None),
    ('scene = "two.toml"', 'scene = "two.toml"\nscne = 1', '4:1', 'sweep.scne: unknown key; did you mean "scene"?'),
    ('record =', 'average_over = "scene.seed"\nrecord =', '4:16',
     'sweep.average_over: must be an axis: e, ball[0].velocity[0], not "scene.seed"'),
    ('[2, 1e-1]', '[2, 1e-1]\n[set]\nkey = "run.until"', '14:1', 'set: must be tables in a list: [[set]]'),
    ('key = "physics.restitution"', 'kye = "physics.restitution"', '8:1',
     'axis[0].kye: unknown key; did you mean "key"?'),
    ('key = "physics.restitution"', '', '6:1', 'axis[0]: sets nothing; give it a key, or use its name in a formula'),
    ('key = "physics.restitution"', 'key = "physics.restituton"', '8:7',
     'physics.restituton: unknown key; did you mean "restitution"?'),
    ('key = "physics.restitution"', 'key = "ball[2].speed"', '8:7', 'ball has 2 entries, the last is ball[1]'),
    ('key = "physics.restitution"', 'keys = []', '8:8', 'axis[0].keys: is empty; allowed: an array of keys of the scene'),
    ('name = "e"', 'name = ""', '7:8', 'axis[0].name: must not be empty'),
    ('name = "e"', 'name = "ball[0].velocity[0]"', '12:7', 'axis[1].name: there are two axes "ball[0].velocity[0]"'),
    ('key = "ball[0].velocity[0]"', 'key = "physics.restitution"', '12:7',
     'axis[1]: physics.restitution is set by axis[0] already'),
    ('key = "ball[0].velocity[0]"', 'key = " physics.restitution "', '12:7',
     'axis[1]: physics.restitution is set by axis[0] already'),
    ('key = "ball[0].velocity[0]"', 'key = "ball[00].velocity[0]"', '12:7',
     'the key must look like table.key or table[0].key[1]'),
    ('key = "physics.restitution"', 'key = "ball[0].velocity"', '12:7',
     'axis[1]: ball[0].velocity[0] is set beside ball[0].velocity, by axis[0]'),
    ('[2, 1e-1]', '[2, 1e-1]\n[[axis]]\nkey = "ball[0].velocity"\nvalues = [[1, 0]]', '15:7',
     'axis[2]: ball[0].velocity is set beside ball[0].velocity[0], by axis[1]'),
    ('[2, 1e-1]', '[2, 1e-1]\n[[set]]\nkey = "ball[0].velocity"\nformula = "e"', '16:11',
     'set[0]: ball[0].velocity is set beside ball[0].velocity[0], by axis[1]'),
    ('[2, 1e-1]', '[2, 1e-1]\n[[set]]\nkeys = ["box.size[0]", "box.size"]\nvalue = 30', '16:9',
     'set[0]: box.size is set beside box.size[0], by set[0]'),
    ('to = 1.0', 'to = 100000000000000017', '9:10', None),  # a number, though no double's: too many values
    ('to = 1.0', 'to = 1.1', '9:10', 'physics.restitution: must be a number from 0 to 1, not 1.1'),
    ('to = 1.0', 'to = 1.05', '9:10',
     'axis[0].values: steps of 0.1 from 0 do not hit 1.05: the nearest is 1.1'),
    ('to = 1.0', 'till = 1.0', '9:24', 'axis[0].values.till: unknown key; allowed: from, to, step'),
    ('step = 0.1', 'step = "x"', '9:41', 'axis[0].values.step: must be a number, not "x"'),
    ('step = 0.1', 'step = 0', '9:10', 'axis[0].values: step must not be 0'),
    (', step = 0.1', '', '9:10', 'axis[0].values.step: is required: a number'),
    ('[2, 1e-1]', '[]', '13:10', 'axis[1].values: is empty; allowed: a list of at least one value'),
    ('[2, 1e-1]', '[2, 2.0]', '13:14', 'axis[1].values[1]: 2 is there twice'),
    ('[2, 1e-1]', '[2, "fast"]', '13:14', 'ball[0].velocity[0]: must be a number, not "fast"'),
    ('[2, 1e-1]', '[2, {}]', '13:14',
     'axis[1].values[1]: must be a number, text, true, false or an array of these, not a table'),
    ('[2, 1e-1]', '3', '13:10', 'axis[1].values: must be a list, or { from = ..., to = ..., step = ... }, not 3'),
    ('[2, 1e-1]', '[2, 1e-1', '13:19', None),
    ('[2, 1e-1]', '[2, 1e-1]\n[[set]]\nkey = "box.size"', '14:1', 'set[0].value: is required, or a formula of the '
     "axes' names"),
    ('[2, 1e-1]', '[2, 1e-1]\n[[set]]\nkey = "run.until"\nformula = "1 / f"', '16:11', None),
    ('[2, 1e-1]', '[2, 1e-1]\n[[set]]\nkey = "run.until"\nformula = "1 / e"', '16:11',
     'set[0].formula: gives inf at e=0, ball[0].velocity[0]=2; it must be a number in every run'),
    ('[2, 1e-1]', '[2, 1e-1]\n[[set]]\nkey = "run.until"\nformula = "e - 1"', '16:11', None),
    ('[2, 1e-1]', '[2, 1e-1]\n[[set]]\nkey = "ball[1].position"\nvalue = [3.5, 5.0]', None, None),
]


def without_fsync():
    """For subprocess: from now on each fsync fails, by a filter of the kernel's (seccomp)."""
    AUDIT_ARCH_X86_64, FSYNC, ALLOW, FAIL = 0xC000003E, 74, 0x7FFF0000, 0x00050000 | errno.EIO
    rules = [(0x20, 0, 0, 4), (0x15, 0, 3, AUDIT_ARCH_X86_64), (0x20, 0, 0, 0), (0x15, 0, 1, FSYNC), (0x06, 0, 0, FAIL),
             (0x06, 0, 0, ALLOW)]
    lines = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
    program = ctypes.create_string_buffer(struct.pack("HP", len(rules), ctypes.addressof(lines)))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    for option, value, pointer in ((38, 1, None), (22, 2, program)):  # no new privileges; a filter
        if prctl(ctypes.c_int(option), ctypes.c_ulong(value), pointer, ctypes.c_ulong(0), ctypes.c_ulong(0)) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


class SweepTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("two.toml", SCENE)
        self.write("gas.toml", GAS)

    def table(self, name):
        with open(self.folder / name, newline="") as file:
            return list(csv.DictReader(file))

    def bytes_of(self, name):
        return (self.folder / name).read_bytes()


class Table(SweepTest):
    def test_it_has_a_row_a_run_the_last_axis_fastest(self):
        self.write("t.sweep.toml", SWEEP)
        result = self.succeed("sweep", "t.sweep.toml", "--json")
        self.assertEqual(result.out.count("\n"), 1)
        self.assertEqual({key: result.json[key] for key in ["rows", "runs", "runs_failed", "output", "exit_status"]},
                         {"rows": 22, "runs": 22, "runs_failed": 0, "output": "t.csv", "exit_status": 0})
        self.assertEqual(self.files(), ["gas.toml", "t.csv", "t.sweep.toml", "two.toml"])
        lines = self.bytes_of("t.csv").decode().splitlines()
        self.assertEqual(lines[0], "e,ball[0].velocity[0],kinetic_energy,moved")
        self.assertEqual([line.split(",")[:2] for line in lines[1:]],
                         [[e, v] for e in "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1".split() for v in ["2", "0.1"]])
        for row in self.table("t.csv"):
            e, v = float(row["e"]), float(row["ball[0].velocity[0]"])
            met = 1.0 / v < 4.0  # a way of 1 in a time of 4
            energy = v**2 / 4 * (1 + e**2) if met else v**2 / 2
            self.assertAlmostEqual(float(row["kinetic_energy"]), energy)
            self.assertEqual(row["moved"], "1" if met else "0")

    def test_a_row_is_what_run_gives(self):
        self.write("t.sweep.toml", GAS_SWEEP.format(average=""))
        self.succeed("sweep", "t.sweep.toml", "--quiet", "--shard", "7/24")
        row, = self.table("t.csv")
        self.assertEqual((row["scene.seed"], row["fill[0].temperature"]), ("2", "3"))
        summary = self.run_json("gas.toml", "--set", "fill[0].temperature=3", "--seed", "2")
        self.assertAlmostEqual(float(row["momentum.x"]), summary["momentum"][0], delta=1e-12)

    def test_vectors_and_components_are_columns(self):
        self.write("t.sweep.toml", SWEEP.replace('"kinetic_energy", "moved"', '"who", "momentum.x"'))
        self.succeed("sweep", "t.sweep.toml", "--quiet", "-o", "w.csv")
        rows = self.table("w.csv")
        self.assertEqual(list(rows[0])[2:], ["who.0", "who.1", "momentum.x"])
        self.assertEqual([rows[0]["who.0"], rows[0]["who.1"]], ["1", "1"])
        self.assertEqual([rows[1]["who.0"], rows[1]["who.1"]], ["1", "0"])

    def test_averages_come_with_their_standard_errors(self):
        self.write("all.sweep.toml", GAS_SWEEP.format(average=""))
        self.write("mean.sweep.toml", GAS_SWEEP.format(average='average_over = "scene.seed"'))
        self.succeed("sweep", "all.sweep.toml", "--quiet")
        self.succeed("sweep", "mean.sweep.toml", "--quiet")
        every, means = self.table("all.csv"), self.table("mean.csv")
        self.assertEqual(list(means[0]), ["fill[0].temperature", "virial_pressure", "virial_pressure_se", "momentum.x",
                                          "momentum.x_se"])
        self.assertEqual([row["fill[0].temperature"] for row in means], ["1", "2", "3", "4"])
        for row in means:
            values = [float(run["virial_pressure"]) for run in every
                      if run["fill[0].temperature"] == row["fill[0].temperature"]]
            self.assertEqual(len(values), 6)
            self.assertAlmostEqual(float(row["virial_pressure"]), statistics.mean(values))
            self.assertAlmostEqual(float(row["virial_pressure_se"]), statistics.stdev(values) / math.sqrt(6))

    def test_axes_may_set_several_keys_or_none(self):
        self.write("t.sweep.toml", SWEEP.replace('key = "ball[0].velocity[0]"',
                                                 'keys = ["ball[0].velocity[0]", "ball[1].velocity[0]"]')
                   .replace('key = "physics.restitution"', '') + """
[[set]]
key = "run.until"
formula = "1 + e"
[[set]]
key = "box.size"
value = [30.0, 10.0]
""")
        self.succeed("sweep", "t.sweep.toml", "--quiet")
        rows = self.table("t.csv")
        self.assertEqual(list(rows[0])[:2], ["e", "ball[0].velocity[0]"])
        self.assertAlmostEqual(float(rows[0]["kinetic_energy"]), 4.0)

    def test_options_of_the_command_line_override_the_scene_and_what_is_set(self):
        self.write("t.sweep.toml", SWEEP + '[[set]]\nkey = "run.until"\nvalue = 4.0\n')
        self.succeed("sweep", "t.sweep.toml", "--quiet", "--until", "0.1")
        self.assertTrue(all(row["moved"] == "0" for row in self.table("t.csv")))
        result = self.carom("sweep", "t.sweep.toml", "--force", "--set", "physics.restitution=1")
        self.assertEqual((result.status, result.err), (2, "carom: --set physics.restitution=1: axis[0] of t.sweep.toml "
                                                          "sets this key\n"))

    def test_what_tells_rows_apart_cannot_be_set_for_all(self):
        self.write("t.sweep.toml", SWEEP.replace("ball[0].velocity[0]", "ball[0].velocity").replace("[2, 1e-1]", "[[2, 0]]"))
        self.write("end.sweep.toml", SWEEP.replace("physics.restitution", "run.until"))
        self.write("f.sweep.toml", SWEEP + '[[set]]\nkey = "run.until"\nformula = "1 + e"\n')
        self.write("blank.sweep.toml", SWEEP.replace("physics.restitution", "run.until "))
        for arguments, words in (
                (("t.sweep.toml", "--set", "ball[0].velocity[1]=1"),
                 "--set ball[0].velocity[1]=1: axis[1] of t.sweep.toml sets ball[0].velocity"),
                (("end.sweep.toml", "--steps", "10"), "--steps: axis[0] of end.sweep.toml sets run.until"),
                (("blank.sweep.toml", "--steps", "10"), "--steps: axis[0] of blank.sweep.toml sets run.until"),
                (("f.sweep.toml", "--steps", "10"), "--steps: set[0] of f.sweep.toml sets run.until")):
            result = self.carom("sweep", *arguments)
            self.assertEqual((result.status, result.err), (2, f"carom: {words}\n"))
        # A part that is set after the whole is what it says.
        self.write("whole.sweep.toml", SWEEP)
        self.write("part.sweep.toml", SWEEP + '[[set]]\nkey = "ball[0].velocity"\nvalue = [9.0, 0.0]\n')
        for name in ("whole", "part"):
            self.succeed("sweep", f"{name}.sweep.toml", "--quiet")
        self.assertEqual(self.bytes_of("part.csv"), self.bytes_of("whole.csv"))

    def test_a_whole_number_that_is_no_doubles_is_a_value(self):
        self.write("t.sweep.toml", SWEEP.replace('key = "ball[0].velocity[0]"', 'name = "s"\nkey = "scene.seed"')
                   .replace("[2, 1e-1]", "[9007199254740993, 5]")
                   + '[[set]]\nkey = "run.until"\nformula = "4 + 0 * s"\n')
        self.succeed("sweep", "t.sweep.toml", "--quiet")
        self.assertEqual([row["s"] for row in self.table("t.csv")[:2]], ["9007199254740993", "5"])

    def test_installed_sweeps_are_found_by_name(self):
        self.succeed("sweep", "pinfall", "--quiet", "--shard", "1/64")
        self.assertEqual(self.table("pinfall.csv")[0]["pinfall"], "8")

    def test_nothing_is_overwritten_without_force(self):
        self.write("t.sweep.toml", SWEEP)
        self.write("t.csv", "mine")
        result = self.carom("sweep", "t.sweep.toml")
        self.assertEqual((result.status, self.bytes_of("t.csv")), (2, b"mine"))
        self.assertIn("--force", result.err)
        self.succeed("sweep", "t.sweep.toml", "--force", "--quiet")
        self.assertEqual(len(self.table("t.csv")), 22)
        self.assertEqual(self.carom("sweep", "t.sweep.toml", "-o", "t.sweep.toml", "--force").status, 2)
        self.assertEqual(self.carom("sweep", "t.sweep.toml", "-o", "two.toml", "--force").status, 2)

    def test_a_file_that_appears_in_the_tables_place_meanwhile_stays(self):
        self.write("t.sweep.toml", GAS_SWEEP.format(average=""))
        process = self.start("sweep", "t.sweep.toml", "--quiet", "--until", "3")
        while not (self.folder / "t.csv.part").exists():
            self.assertIsNone(process.poll())
            time.sleep(0.002)
        self.write("t.csv", "mine")
        _, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, self.bytes_of("t.csv")), (2, b"mine"))
        self.assertIn("t.csv: exists already; --force overwrites it; 24 of 24 runs are kept in t.csv.part; to go on: ", err)
        self.succeed("sweep", "t.sweep.toml", "--quiet", "--until", "3", "--force")
        self.assertEqual(len(self.table("t.csv")), 24)

    def test_a_run_that_cannot_go_on_leaves_its_cells_empty_and_is_named(self):
        # A ball that comes to rest on a floor does so through endless collisions.
        self.write("stuck.toml", SCENE.replace('["open", "open"]', '["wall", "wall"]')
                   .replace("[physics]", "[physics]\ngravity = [0.0, -9.81]"))
        self.write("t.sweep.toml", """
[sweep]
scene = "stuck.toml"
record = ["kinetic_energy", "moved"]
[[axis]]
key = "physics.restitution"
values = [0.3, 1]
""")
        result = self.carom("sweep", "t.sweep.toml", "--until", "20", "--json")
        self.assertEqual(result.status, 3, result.err)
        self.assertRegex(result.err, r"carom: 1 of 2 runs could not go on; the cells are empty in t\.csv:\n"
                                     r"  row 1 \(physics\.restitution=0\.3\): .*collapse")
        rows = self.table("t.csv")
        self.assertEqual((rows[0]["kinetic_energy"], rows[0]["moved"], rows[1]["moved"]), ("", "", "1"))
        self.assertEqual(result.json["exit_status"], 3)
        self.assertEqual([run["row"] for run in result.json["failed"]], [1])

    def test_quiet_says_nothing_and_else_there_is_no_colour(self):
        self.write("t.sweep.toml", SWEEP)
        result = self.succeed("sweep", "t.sweep.toml", "--quiet")
        self.assertEqual(result.out + result.err, "")
        result = self.succeed("sweep", "t.sweep.toml", "--force")
        self.assertEqual(result.out, "")
        self.assertRegex(result.err, r"22 runs for 22 rows")
        self.assertNotRegex(result.err, "[\x1b\r]")

    def test_a_terminal_gets_a_bar(self):
        self.write("t.sweep.toml", GAS_SWEEP.format(average=""))
        done = subprocess.run(["script", "-qec", f"{PROGRAM} sweep t.sweep.toml --until 100 --threads 1", "/dev/null"],
                              cwd=self.folder, capture_output=True, timeout=120, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, rb"\r *\d+ % \[=*>? *\]  \d+ of 24 runs")
        self.assertIn(b"\r\x1b[K", done.stdout)


class SameBytes(SweepTest):
    def setUp(self):
        super().setUp()
        self.write("t.sweep.toml", GAS_SWEEP.format(average=""))
        self.succeed("sweep", "t.sweep.toml", "--quiet", "-o", "whole.csv", "--threads", "1")
        self.whole = self.bytes_of("whole.csv")

    def test_for_any_number_of_threads(self):
        for threads in [2, 5, 40]:
            self.succeed("sweep", "t.sweep.toml", "--quiet", "-o", f"{threads}.csv", "--threads", threads)
            self.assertEqual(self.bytes_of(f"{threads}.csv"), self.whole)

    def test_in_parts(self):
        for average in ["", 'average_over = "scene.seed"']:
            self.write("p.sweep.toml", GAS_SWEEP.format(average=average))
            self.succeed("sweep", "p.sweep.toml", "--quiet", "--force")
            head, *rows = self.bytes_of("p.csv").splitlines(keepends=True)
            parts = []
            for k in [1, 2, 3]:
                self.succeed("sweep", "p.sweep.toml", "--quiet", "--force", "-o", f"p{k}.csv", "--shard", f"{k}/3")
                lines = self.bytes_of(f"p{k}.csv").splitlines(keepends=True)
                self.assertEqual(lines[0], head)
                parts.append(lines[1:])
            self.assertEqual([parts[k % 3][k // 3] for k in range(len(rows))], rows)

    def test_more_parts_than_rows_leave_tables_without_rows(self):
        self.succeed("sweep", "t.sweep.toml", "--quiet", "--shard", "30/30")
        self.assertEqual(len(self.bytes_of("t.csv").splitlines()), 1)

    def test_bad_parts_are_refused(self):
        for text in ["0/2", "3/2", "1", "1/0", "a/b", "1/2/3", "-1/2"]:
            result = self.carom("sweep", "t.sweep.toml", f"--shard={text}")
            self.assertEqual(result.status, 2, text)
            self.assertRegex(result.err, r"\Acarom: --shard: .*\n\Z")


class Interrupted(SweepTest):
    OPTIONS = ["--until", "120", "--threads", "2"]

    def setUp(self):
        super().setUp()
        self.write("t.sweep.toml", GAS_SWEEP.format(average='average_over = "scene.seed"'))
        self.succeed("sweep", "t.sweep.toml", "--quiet", "-o", "whole.csv", *self.OPTIONS)

    def lines(self):
        try:
            return self.bytes_of("t.csv.part").count(b"\n")
        except FileNotFoundError:
            return 0

    def interrupt(self, number, *options):
        """Starts the sweep, stops it when a run more is done, and gives its status and its last words."""
        before = max(1, self.lines())
        process = self.start("sweep", "t.sweep.toml", *self.OPTIONS, *options)
        while self.lines() <= before and process.poll() is None:
            time.sleep(0.002)
        process.send_signal(number)
        _, err = process.communicate(timeout=120)
        return process.returncode, err

    def test_it_says_how_to_go_on_and_goes_on_to_the_same_bytes(self):
        for number, status in [(signal.SIGINT, 130), (signal.SIGTERM, 143)]:
            code, err = self.interrupt(number)
            self.assertEqual(code, status, err)
            self.assertFalse((self.folder / "t.csv").exists())
            message = err.strip().splitlines()[-1]
            found = re.match(r"carom: interrupted; (\d+) of 24 runs (?:is|are) kept in t\.csv\.part; to go on: (.*)$",
                             message)
            self.assertTrue(found, message)
            self.assertEqual(int(found.group(1)), self.lines() - 1)
        done = subprocess.run(shlex.split(found.group(2)) + ["--json"], cwd=self.folder, capture_output=True, text=True,
                              timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("done before", done.stderr)
        summary = json.loads(done.stdout)
        self.assertEqual(summary["runs_before"], int(found.group(1)))
        self.assertEqual(self.bytes_of("t.csv"), self.bytes_of("whole.csv"))
        self.assertFalse((self.folder / "t.csv.part").exists())

    def test_after_kill_9_too(self):
        code, _ = self.interrupt(signal.SIGKILL)
        self.assertEqual(code, -signal.SIGKILL)
        self.assertGreater(self.lines(), 1)
        self.succeed("sweep", "t.sweep.toml", "--quiet", *self.OPTIONS)
        self.assertEqual(self.bytes_of("t.csv"), self.bytes_of("whole.csv"))

    def test_while_runs_are_only_checked_nothing_is_written(self):
        self.write("big.sweep.toml", GAS_SWEEP.format(average="").replace("to = 6", "to = 100000"))
        for moment in [0.5, 2.0, 8.0]:
            process = self.start("sweep", "big.sweep.toml")
            time.sleep(moment)
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 143, err)
            if err != "carom: interrupted\n":
                break  # else a busy machine had not let it come to the sweep
        self.assertRegex(err, r"carom: interrupted before the first run; to go on: \S+ sweep big\.sweep\.toml\n\Z")
        self.assertNotIn("big.csv.part", self.files())

    @unittest.skipIf(cached("CAROM_SANITIZE") == "thread", "the limit cuts a file of the sanitizer's own")
    def test_a_full_disk_is_status_4_and_what_was_done_is_kept(self):
        limit = 600  # bytes in any one file

        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        result = self.carom("sweep", "t.sweep.toml", *self.OPTIONS, preexec_fn=small_files)
        self.assertEqual(result.status, 4, result.err)
        self.assertRegex(result.err.splitlines()[-1], r"^carom: cannot write t\.csv\.part: .* kept in t\.csv\.part; to go on")
        self.succeed("sweep", "t.sweep.toml", "--quiet", *self.OPTIONS)
        self.assertEqual(self.bytes_of("t.csv"), self.bytes_of("whole.csv"))

    def test_what_lies_in_the_journals_place_is_left_alone(self):
        """A pipe was waited for, whatever signal came; an empty file at a link's other end was written to."""
        journal = self.folder / "t.csv.part"
        empty = self.folder / "empty"
        empty.touch()
        for put in (lambda: os.mkfifo(journal), lambda: journal.symlink_to("empty"), lambda: journal.symlink_to("nowhere")):
            put()
            for options in ((), ("--force",)):
                result = self.carom("sweep", "t.sweep.toml", *self.OPTIONS, *options)
                self.assertEqual(result.status, 2, result.err)
                self.assertRegex(result.err, r"t\.csv\.part: exists and is not a regular file")
                self.assertEqual(empty.stat().st_size, 0)
                self.assertFalse((self.folder / "nowhere").exists())
            journal.unlink()

    def test_two_sweeps_never_write_one_journal(self):
        self.write("long.sweep.toml", GAS_SWEEP.format(average="").replace("to = 6", "to = 2000"))
        process = self.start("sweep", "long.sweep.toml", *self.OPTIONS, "-o", "t.csv")
        while self.lines() < 2 and process.poll() is None:
            time.sleep(0.002)
        for options in ((), ("--force",)):
            result = self.carom("sweep", "t.sweep.toml", *self.OPTIONS, *options)
            self.assertEqual(result.status, 2, result.err)
            self.assertIn("t.csv.part: is being written by another sweep", result.err)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertIn(b"# carom sweep", self.bytes_of("t.csv.part"))

    def without_journal(self, put, *options):
        """Starts the sweep, and does away with its journal when two runs are done."""
        process = self.start("sweep", "t.sweep.toml", *self.OPTIONS, *options)
        self.addCleanup(process.kill)
        while self.lines() < 3:
            self.assertIsNone(process.poll(), "ended before anything was written")
            time.sleep(0.002)
        put()
        return process

    def test_what_is_not_in_its_journal_any_more_is_not_said_to_be_kept(self):
        journal = self.folder / "t.csv.part"
        for put in (journal.unlink, lambda: journal.rename(self.folder / "moved")):
            process = self.without_journal(put)
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 143, err)
            self.assertRegex(err.splitlines()[-1], r"\Acarom: interrupted; \d+ of 24 runs were done, but t\.csv\.part has been removed or "
                             r"replaced; unless it is put back, this begins anew: \S+ sweep t\.sweep\.toml")
            self.assertNotIn("t.csv", self.files())
        (self.folder / "moved").rename(journal)
        self.assertIn("done before", self.succeed("sweep", "t.sweep.toml", *self.OPTIONS).err)
        self.assertEqual(self.bytes_of("t.csv"), self.bytes_of("whole.csv"))

    def test_what_has_taken_the_journals_place_stays_and_the_sweep_goes_on(self):
        def notes():
            (self.folder / "t.csv.part").rename(self.folder / "moved")
            self.write("t.csv.part", "notes\n")
        process = self.without_journal(notes, "--quiet")
        _, err = process.communicate(timeout=120)
        self.assertEqual((process.returncode, err),
                         (0, "carom: t.csv.part: has been removed or replaced; what is done is lost if the sweep does not come to its end\n"))
        self.assertEqual(self.bytes_of("t.csv.part"), b"notes\n")
        self.assertEqual(self.bytes_of("t.csv"), self.bytes_of("whole.csv"))

    @unittest.skipUnless(os.uname().machine == "x86_64", "calls of the system have other numbers here")
    def test_the_table_is_on_the_disk_before_the_journal_goes(self):
        """A loss of power is not to be had here, but a disk that does not say that all is on it."""
        result = self.carom("sweep", "t.sweep.toml", *self.OPTIONS, preexec_fn=without_fsync)
        self.assertEqual(result.status, 4, result.err)
        self.assertRegex(result.err.splitlines()[-1], r"\Acarom: t\.csv: cannot sync: Input/output error; .* 24 of 24 runs are kept in t\.csv\.part")
        self.assertNotIn("t.csv", self.files())
        self.assertIn("24 done before", self.succeed("sweep", "t.sweep.toml", *self.OPTIONS).err)
        self.assertEqual(self.bytes_of("t.csv"), self.bytes_of("whole.csv"))

    def test_balls_that_are_loaded_are_a_part_of_the_sweep(self):
        """Other balls in a file of the same name: what was done before was done with the old ones."""
        def balls(speed):  # the first frame stays
            rows = [f"{time},2,2,1,0.5\n{time},5,5,-1,{speed if time > 0 else 0.25}\n" for time in range(30)]
            self.write("balls.csv", "time,x,y,vx,vy\n" + "".join(rows))
        self.write("load.toml", """
[scene]
dimension = 2
[box]
size = [10.0, 10.0]
[run]
solver = "events"
until = 20000.0
[output]
every = 0
[[load]]
file = "balls.csv"
radius = 0.5
mass = 1.0
""")
        self.OPTIONS = ["--threads", "1"]
        for axis in ('key = "scene.seed"', 'name = "t"', 'key = "load[0].time"'):
            of_axis = '[[set]]\nkey = "load[0].time"\nformula = "t"\n' if "name" in axis else ""
            self.write("t.sweep.toml", f"""
[sweep]
scene = "load.toml"
record = ["kinetic_energy"]
[[axis]]
{axis}
values = {list(range(30))}
{of_axis}""")
            balls(0.25)
            code, err = self.interrupt(signal.SIGINT)
            self.assertEqual(code, 130, err)
            balls(0.75)
            result = self.carom("sweep", "t.sweep.toml", *self.OPTIONS)
            self.assertEqual(result.status, 2, (axis, result.err))
            self.assertIn("t.csv.part: holds the runs of another sweep", result.err)
            balls(0.25)
            self.assertIn("done before", self.succeed("sweep", "t.sweep.toml", *self.OPTIONS).err)
            (self.folder / "t.csv").unlink()

    def test_a_scene_that_is_edited_meanwhile_changes_no_row(self):
        process = self.start("sweep", "t.sweep.toml", "--quiet", *self.OPTIONS)
        self.addCleanup(process.kill)
        while self.lines() < 2:
            self.assertIsNone(process.poll(), "ended before anything was written")
            time.sleep(0.002)
        self.write("gas.toml", GAS.replace("mass = 1.0", "mass = 9.0"))
        self.assertEqual(process.communicate(timeout=120), ("", ""))
        self.assertEqual(self.bytes_of("t.csv"), self.bytes_of("whole.csv"))

    def test_balls_that_are_exchanged_meanwhile_end_it(self):
        self.write("balls.csv", "x,y,vx\n2,2,1\n")
        self.write("load.toml", GAS.split("[[fill]]")[0] + '[[load]]\nfile = "balls.csv"\nradius = 0.5\nmass = 1.0\n')
        self.write("t.sweep.toml", GAS_SWEEP.format(average="").replace("gas.toml", "load.toml")
                   .replace("fill[0].temperature", "events.tc").replace("[1, 2, 3, 4]", "[0, 0.1]").replace("to = 6", "to = 200"))
        result = self.carom("sweep", "t.sweep.toml", "-o", "balls.csv", "--force")
        self.assertEqual((result.status, result.err.splitlines()[-1]),
                         (2, "carom: balls.csv: is the input, and would be overwritten; name another file"))
        process = self.start("sweep", "t.sweep.toml", "--quiet", "--threads", "1", "--until", "2e6")
        self.addCleanup(process.kill)
        while self.lines() < 2:
            self.assertIsNone(process.poll(), "ended before anything was written")
            time.sleep(0.002)
        self.write("other.csv", "x,y,vx\n2,2,3\n")
        os.replace(self.folder / "other.csv", self.folder / "balls.csv")  # at once: a run may be reading it
        err = process.communicate(timeout=120)[1]
        self.assertIn("balls.csv has been changed since the first run read it", err)
        self.assertEqual(process.returncode, 2, err)

    def test_of_a_journal_of_another_one_only_the_head_is_read(self):
        with open(self.folder / "t.csv.part", "wb") as file:
            file.truncate(1 << 40)  # takes an hour to read
        result = self.carom("sweep", "t.sweep.toml", *self.OPTIONS)
        self.assertEqual(result.status, 2)
        self.assertIn("t.csv.part: holds the runs of another sweep", result.err)

    def test_what_is_read_is_not_taken_for_the_journal(self):
        text = GAS_SWEEP.format(average="")
        self.write("t.csv.part", text)
        self.write("u.csv.part", GAS)
        self.write("u.sweep.toml", text.replace("gas.toml", "u.csv.part"))
        for arguments, name in ((("t.csv.part", "-o", "t.csv"), "t.csv.part"), (("u.sweep.toml",), "u.csv.part")):
            before = self.bytes_of(name)
            result = self.carom("sweep", *arguments, "--force")
            self.assertEqual(result.status, 2, result.err)
            self.assertIn(f"{name}: is the input, and would be overwritten", result.err)
            self.assertEqual(self.bytes_of(name), before)

    def test_another_sweep_does_not_go_on_from_there(self):
        self.interrupt(signal.SIGINT)
        kept = self.bytes_of("t.csv.part")
        for change in [["--until", "29"], [*self.OPTIONS, "--shard", "1/2"],
                       [*self.OPTIONS, "--set", "fill[0].count=401"]]:
            result = self.carom("sweep", "t.sweep.toml", *change)
            self.assertEqual(result.status, 2, result.err)
            self.assertRegex(result.err, r"t\.csv\.part: holds the runs of another sweep")
            self.assertEqual(self.bytes_of("t.csv.part"), kept)
        self.succeed("sweep", "t.sweep.toml", "--quiet", "--force", "--threads", "2", "--until", "0.1")
        self.assertNotEqual(self.bytes_of("t.csv"), self.bytes_of("whole.csv"))


class BadSweeps(SweepTest):
    def test_each_is_refused_in_one_line_and_nothing_is_written(self):
        for before, after, place, message in BAD:
            with self.subTest(after):
                self.assertIn(before, SWEEP)
                self.write("t.sweep.toml", SWEEP.replace(before, after))
                files = self.files()
                result = self.carom("sweep", "t.sweep.toml")
                self.assertEqual(result.status, 2, result.err)
                self.assertEqual(result.out, "")
                self.assertEqual(result.err.count("\n"), 1, result.err)
                if place is not None:
                    self.assertTrue(result.err.startswith(f"carom: t.sweep.toml:{place}: "), result.err)
                if message is not None:
                    self.assertEqual(result.err, f"carom: t.sweep.toml:{place}: {message}\n")
                self.assertEqual(self.files(), files)

    def test_a_row_that_cannot_start_is_found_before_the_first_run(self):
        self.write("t.sweep.toml", SWEEP.replace("[2, 1e-1]", "[2, 1]") +
                   '[[axis]]\nkey = "ball[1].position[0]"\nvalues = [5.0, 3.5]\n')
        result = self.carom("sweep", "t.sweep.toml")
        self.assertEqual(result.status, 2)
        self.assertRegex(result.err, r"\Acarom: .*overlap.*t\.sweep\.toml, row 2: e=0, ball\[0\]\.velocity\[0\]=2, "
                                     r"ball\[1\]\.position\[0\]=3\.5\)\n\Z")
        self.assertNotIn("t.csv.part", self.files())

    def test_rows_of_more_columns_than_the_first_are_refused_as_those_of_fewer(self):
        self.write("two.toml", SCENE + '[[fill]]\ncount = 1\nradius = 0.5\nmass = 1.0\ntemperature = 1.0\n')
        for values, has in (("2, 3", "more than row 1: who.4"), ("3, 2", "no who.4")):
            self.write("t.sweep.toml", '[sweep]\nscene = "two.toml"\nrecord = ["kinetic_energy", "who"]\n[[axis]]\n'
                                       f'key = "fill[0].count"\nvalues = [{values}]\n')
            result = self.carom("sweep", "t.sweep.toml")
            said = f"carom: t.sweep.toml:3:11: sweep.record[0]: row 2 (fill[0].count={values[-1]}) has {has}\n"
            self.assertEqual((result.status, result.err), (2, said))
            self.assertNotIn("t.csv", self.files())

    def test_an_observable_that_is_called_as_the_error_of_another_is_refused(self):
        observe = '[[observe]]\nname = "{}"\nkind = "{}"\n'
        number = GAS + observe.format("p", "temperature")
        taken = '"p_se" is an observable of the scene, and the error of another; give that observable another name'
        for scene, record, average, words in (
                (number + observe.format("p_se", "compressibility"), '"p_se"', "", taken),
                (number + observe.format("p_se", "displaced"), '"p"', "", taken),
                (number, '"p", "p_se"', 'average_over = "scene.seed"', "two columns would be called p_se")):
            self.write("gas.toml", scene)
            self.write("t.sweep.toml", GAS_SWEEP.format(average=average).replace('"virial_pressure", "momentum.x"', record))
            result = self.carom("sweep", "t.sweep.toml")
            self.assertEqual((result.status, result.err), (2, f"carom: t.sweep.toml:4:11: sweep.record[0]: {words}\n"))

    def test_averages_need_two_values(self):
        self.write("t.sweep.toml", SWEEP.replace("[2, 1e-1]", "[2]").replace(
            "record", 'average_over = "ball[0].velocity[0]"\nrecord'))
        result = self.carom("sweep", "t.sweep.toml")
        self.assertEqual(result.status, 2)
        self.assertIn("t.sweep.toml:4:16: sweep.average_over: the axis must have two values or more", result.err)

    def test_a_scene_at_fault_is_named_itself(self):
        self.write("two.toml", SCENE.replace("radius = 0.5", "radius = -0.5", 1))
        self.write("t.sweep.toml", SWEEP)
        result = self.carom("sweep", "t.sweep.toml")
        self.assertEqual(result.status, 2)
        self.assertRegex(result.err, r"two\.toml:\d+:\d+: species\[0\]\.radius: must be")

    def test_a_file_that_is_not_there_is_status_4(self):
        for name in ["none.sweep.toml", "folder/none.sweep.toml"]:
            result = self.carom("sweep", name)
            self.assertEqual(result.status, 4, result.err)
            self.assertIn(name, result.err)


class Figures(SweepTest):
    def setUp(self):
        super().setUp()
        self.write("t.csv", "x [m],angle,fall,law_se\n0.1,0,1,0\n0.1,1,2,0\n0.2,0,3,0\n0.2,1,,0\n")

    def test_they_are_drawn_in_each_format(self):
        for ending, begin in [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")]:
            for k, options in enumerate([[], ["fall", "--by", "x"], ["fall", "--by", "angle", "--mean"]]):
                name = f"f{k}.{ending}"
                self.succeed("plot", "t.csv", *options, "-o", name)
                self.assertTrue(self.bytes_of(name).startswith(begin), name)
                self.assertGreater(len(self.bytes_of(name)), 3000)

    def test_what_they_show_can_be_had_as_a_table(self):
        self.assertEqual(self.succeed("plot", "t.csv", "fall", "--by", "x", "--csv", "-o", "-").out,
                         'x [m],"fall, sum over angle (some missing)"\n0.1,3\n0.2,\n')
        self.assertEqual(self.succeed("plot", "t.csv", "--csv").err, "t-fall.csv\n")
        self.assertEqual((self.folder / "t-fall.csv").read_text(), "x [m],angle,fall\n0.1,0,1\n0.1,1,2\n0.2,0,3\n0.2,1,\n")

    def test_they_are_named_after_table_quantity_and_axis(self):
        self.assertEqual(self.succeed("plot", "t.csv").err, "t-fall.png\n")
        self.assertEqual(self.succeed("plot", "t.csv", "fall", "--by", "x").err, "t-fall-by-x.png\n")
        self.assertEqual(self.carom("plot", "t.csv").status, 2)

    def test_what_is_not_there_is_refused_in_one_line(self):
        for options, message in [(["fal"], "t.csv: has no quantity 'fal'; did you mean 'fall'?"),
                                 (["--by", "law"], "t.csv: has no axis 'law'; allowed: x [m], angle"),
                                 (["--frame", "1"], "--last, --time, --frame and --color-by are for pictures of balls, "
                                                    "not for tables"),
                                 (["--size", "10x10"], "--size: '10' is not a whole number from 300 up"),
                                 (["--from", "1"], "--from: is for trajectories, not for tables"),
                                 (["--by", "x", "--cbrange", "0:1"], "--cbrange: only maps have colours"),
                                 (["-o", "f.gif"], "f.gif: figures end in .png, .svg or .pdf")]:
            result = self.carom("plot", "t.csv", *options)
            self.assertEqual((result.status, result.err), (2, f"carom: {message}\n"))
        self.assertEqual(self.carom("plot", "none.csv").status, 4)


if __name__ == "__main__":
    unittest.main()
