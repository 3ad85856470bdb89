"""Balls from files: what `[[load]]` reads, what it refuses and where, and what a stranger's scene does not get it to read."""

import json
import os
import random
import time
import unittest

import h5py
import numpy as np

from program import ProgramTest
from read_export import gsd_chunks

SCENE = """[scene]
dimension = {dimension}
[box]
size = {size}
boundary = {boundary}
[run]
solver = "{solver}"
backend = "cpu"
precision = "{precision}"
until = 0.02
[output]
every = 0.01
observables_every = 0.01
"""


def scene(*loads, dimension=2, solver="events", precision="double", boundary="periodic", rest=""):
    size = [12.0, 10.0, 11.0][:dimension]
    head = SCENE.format(dimension=dimension, size=size, solver=solver, precision=precision,
                        boundary=json.dumps([boundary] * dimension))
    return head + "".join(f"[[load]]\n{load}\n" for load in loads) + rest


SPECIES = '[[species]]\nname = "a"\nradius = 0.5\nmass = 1.0\n[[species]]\nname = "big, \\"one\\""\nradius = 0.9\nmass = 3.0\n'
# Named, sized, nameless and immovable balls, at speeds and spins.
MIXED = """[[fill]]
species = "a"
count = 9
temperature = 1.0
[[fill]]
species = "big, \\"one\\""
count = 2
temperature = 1.0
[[fill]]
radius = 0.3
mass = 0.2
count = 5
sizes = {kind = "table", values = [1.0, 1.1, 0.7]}
speed = 0.5
zero_momentum = false
[[ball]]
radius = 0.4
mass = inf
radius_of_gyration = 0.1
position = POSITION
spin = SPIN
"""


class LoadTest(ProgramTest):
    def balls(self, trajectory, *frame):
        """As they are told, without ids."""
        return [{key: value for key, value in ball.items() if key != "id"}
                for ball in json.loads(self.succeed("state", trajectory, "--json", *frame).out)["balls"]]

    def loaded(self, text, *arguments):
        """The balls that a scene begins with."""
        self.write("s.toml", text)
        self.succeed("run", "s.toml", "-o", "s.h5", "--force", "--quiet", *arguments)
        return self.balls("s.h5", "--frame", "0")

    def refused(self, message, text, *arguments):
        self.write("s.toml", text)
        for command in (["check"], ["run", "-o", "refused.h5"]):
            result = self.carom(command[0], "s.toml", *command[1:], *arguments)
            self.assertEqual(result.err, f"carom: {message}\n")
            self.assertEqual((result.status, result.out), (2, ""))
        self.assertFalse((self.folder / "refused.h5").exists())


class Tables(LoadTest):
    def test_have_their_columns_by_names(self):
        self.write("b.csv", "# of another program\nmass,x [m],y [m],what,spin,species,diameter,vx\r\n"
                            "2.0,1,+2,17,0.5,a,1.2,-1e-1\r\n\r\ninf, 4.5 ,2,\"a, \"\"b\"\"\",,\"c, \"\"d\"\"\",2,\n")
        balls = self.loaded(scene('file = "b.csv"', rest=SPECIES))
        self.assertEqual(balls, [
            {"species": "a", "position": [1.0, 2.0], "velocity": [-0.1, 0.0], "spin": 0.5, "radius": 0.6, "mass": 2.0},
            {"species": 'c, "d"', "position": [4.5, 2.0], "velocity": [0.0, 0.0], "spin": 0.0, "radius": 1.0, "mass": None}])

    def test_whose_balls_will_fly_off_are_told_of(self):
        self.write("b.csv", "x,y\n2,2\n2.9,2\n6,5\n6.8,5\n11.6,8\n9,9.7\n")
        for limit, pairs, walls in ((0.01, "2 pairs", "2 balls"), (0.3, "a pair", "a ball"), (0.41, None, None)):
            rest = f"[spring]\nmax_overlap = {limit}\n"
            self.write("s.toml", scene('file = "b.csv"\nradius = 0.5\nmass = 1.0', solver="spring", boundary="wall", rest=rest))
            told = " ".join(json.loads(self.succeed("check", "s.toml", "--json").out)["warnings"])
            of = f"at the start by more than spring.max_overlap = {limit}, and will fly"
            self.assertEqual(f"{of} apart" in told, pairs is not None, told)
            self.assertEqual(f"{of} off" in told, walls is not None, told)
            if pairs:
                self.assertIn(f"{pairs} of balls overlap", told)
                self.assertIn("at most ball 2 and ball 3, by 0.4 of the smaller radius", told)
            if walls:
                self.assertIn(f"{walls} reach", told)
                self.assertIn("at most ball 5 into the y-max wall, by 0.4 of its radius", told)

    def test_have_columns_and_properties_that_the_scene_names(self):
        self.write("b.data", "x,y,r,px,py,species,vx\n1,2,0.25,5,6,nobody,9\n")
        columns = 'columns = {x = "px", y = "py", radius = "r", species = "-", vx = "-"}'
        ball = {"species": None, "position": [5.0, 6.0], "velocity": [0.0, 0.0], "spin": 0.0, "radius": 0.25, "mass": 4.0}
        self.assertEqual(self.loaded(scene(f'file = "b.data"\nformat = "csv"\nmass = 4.0\n{columns}')), [ball])
        of_species = scene(f'file = "b.data"\nformat = "csv"\nspecies = "a"\n{columns}', rest=SPECIES)
        self.assertEqual(self.loaded(of_species), [ball | {"species": "a", "mass": 1.0}])
        self.write("c.csv", "x,y\n1,2\n")
        own = {"position": [1.0, 2.0], "radius": 0.3, "mass": 7.0}
        self.assertEqual(self.loaded(scene('file = "c.csv"\nradius = 0.3\nmass = 7.0')), [ball | own])
        self.assertEqual(self.loaded(scene('file = "c.csv"\nspecies = "a"', rest=SPECIES)),
                         [ball | {"species": "a", "position": [1.0, 2.0], "radius": 0.5, "mass": 1.0}])

    def test_of_several_frames_give_the_nearest_or_the_last(self):
        self.write("b.csv", "time,x,y\n" + "".join(f"{t},{1 + t},{y}\n" for t in (0, 1, 2.5) for y in (2, 4, 6)))
        for key, x in (("", 3.5), ("time = 1.4", 2.0), ("time = -3.0", 1.0), ("time = 99.0", 3.5)):
            balls = self.loaded(scene(f'file = "b.csv"\nradius = 0.3\nmass = 1.0\n{key}'))
            self.assertEqual([ball["position"] for ball in balls], [[x, 2.0], [x, 4.0], [x, 6.0]])

    def test_whose_rows_of_one_time_are_apart_are_refused(self):
        """As where they are in the order of balls: a frame would have but the last of them."""
        for times, place in (((0, 1, 2), 5), ((2, 1, 0), 5)):
            rows = [f"{t},{x},{2 + t}\n" for x in (2, 5) for t in times]
            for choice in ("", "time = 0.0", "time = 1.0", "time = 2.0"):
                self.write("b.csv", "time,x,y\n" + "".join(rows))
                self.refused(f"b.csv:{place}:1: time: {times[0]} comes after {times[-1]}, and times "
                             f"{'rose' if times[0] == 0 else 'fell'} before: rows of one time must follow each other; sort "
                             "them by time", scene(f'file = "b.csv"\nradius = 0.3\nmass = 1.0\n{choice}'))
                self.write("b.csv", "time,x,y\n" + "".join(sorted(rows, reverse=times[0] == 2)))
                self.assertEqual(len(self.loaded(scene(f'file = "b.csv"\nradius = 0.3\nmass = 1.0\n{choice}'))), 2)

    def test_of_many_rows_have_all_of_them_however_they_are_written(self):
        draw = random.Random(4)
        places = [(x * 0.02 + 0.01, y * 0.2 + 0.1) for y in range(50) for x in range(600)]
        table, expected = "species,note,x,vx,y,diameter,mass\n", []
        for x, y in places:
            v = draw.choice([draw.gauss(0, 1), draw.random() * 10.0 ** draw.randint(-30, 0), 3.0])
            written = draw.choice([repr, repr, repr, lambda number: f"{number:+.17e}", lambda number: f' {number!r}\t',
                                   lambda number: f'"{number!r}"', lambda number: f"{number:.17E}"])
            species = draw.choice(["a", "a", '"a"', " a"])
            end = draw.choice(["\n", "\n", "\r\n", "\n\n"])
            table += f'{species},{draw.choice(["", "x", "1e", chr(34) + "," + chr(34)])},{x!r},{written(v)},{y!r},0.01,{written(2.0)}{end}'
            expected.append(([x, y], [v, 0.0]))
        self.write("b.csv", table)
        balls = self.loaded(scene('file = "b.csv"', rest=SPECIES), "--until", "1e-9")
        self.assertEqual([(ball["position"], ball["velocity"]) for ball in balls], expected)
        self.assertEqual({(ball["species"], ball["radius"], ball["mass"]) for ball in balls}, {("a", 0.005, 2.0)})
        lines = table.split("\n")
        self.assertGreater(len(table), 1.2e6)  # blocks of the reader
        for at in (20_001, 30_002):
            while not lines[at].strip():
                at += 1
            cells = len(lines[at].split(",")) - lines[at].count('","')
            self.assertEqual(cells, 7)
            self.write("b.csv", "\n".join(lines[:at] + ["a,x,1.0,zero,2.0,1.0,1.0"] + lines[at + 1:]))
            self.refused(f'b.csv:{at + 1}:9: vx: must be a number, not "zero"', scene('file = "b.csv"', rest=SPECIES))
            self.write("b.csv", "\n".join(lines[:at] + ["a,x,1.0,0.0,-2.0,1.0,1.0"] + lines[at + 1:]))
            self.refused(f"b.csv:{at + 1}:13: y: must be inside the box, from 0 to 10, not -2", scene('file = "b.csv"', rest=SPECIES))

    def test_of_many_rows_between_blanks_have_those_of_the_frame(self):
        draw = random.Random(5)
        properties = "Properties=species:S:1:x:R:1:y:R:1:vx:R:1:w:R:1:what:S:1:diameter:R:1"
        text, expected = "", []
        for time in (1.0, 2.0):
            rows = []
            for number in range(16_000):
                place, v = [number % 400 * 0.03 + 0.01, number // 400 * 0.25 + 0.1], draw.gauss(0, 1)
                species = draw.choice(["a", "b_c", "new_one", "unnamed"])
                written = draw.choice([repr, repr, lambda number: f"{number:+.17e}", lambda number: f"{number:.17E}"])
                cells = [species, repr(place[0]), repr(place[1]), written(v), "0", draw.choice(["x", '"']), "0.01"]
                blank = draw.choice([" ", " ", "\t", "  "])
                rows.append(draw.choice(["", "", " "]) + blank.join(cells) + draw.choice(["", "", " "]) + draw.choice(["\n", "\r\n"]))
                if time == 1.0:
                    species = {"b_c": "b c", "unnamed": None}.get(species, species)
                    expected.append((species, place, [v, 0.0]))
            text += f"{len(rows)}\n{properties} Time={time}\n{''.join(rows)}"
        self.assertGreater(len(text), 1.2e6)  # blocks of the reader
        rest = "".join(f'[[species]]\nname = "{name}"\nradius = 1.0\nmass = 1.0\n' for name in ("a", "b c"))
        whole = scene('file = "b.xyz"\ntime = 1.0\nmass = 1.0', rest=rest)
        self.write("b.xyz", text)
        balls = self.loaded(whole, "--until", "1e-9")
        self.assertEqual([(ball["species"], ball["position"], ball["velocity"]) for ball in balls], expected)
        lines = text.split("\n")
        self.write("b.xyz", "\n".join(lines[:12_345] + ["", *lines[12_346:]]))
        self.refused("b.xyz:12346: 0 cells in this row, and 7 names", whole)
        self.write("b.xyz", "\n".join(lines[:15_000]) + "\n")
        self.refused("b.xyz: ends after 14998 of 16000 balls of its frame", whole)

    def test_names_that_are_one_word_alike_stay_two(self):
        names = ["a b", "a_b", "a_b_", "unnamed", "unnamed5"]
        species = "".join(f"[[species]]\nname = {json.dumps(name)}\nradius = 0.5\nmass = 1.0\n" for name in names)
        balls = "".join(f"[[ball]]\nspecies = {json.dumps(name)}\nposition = [{2.0 * k + 1.0}, 1.0]\n"
                        for k, name in enumerate(names)) + "[[ball]]\nradius = 0.5\nmass = 1.0\nposition = [11.0, 1.0]\n"
        self.write("s.toml", scene(rest=species + balls))
        self.succeed("run", "s.toml", "--quiet", "--until", "0")
        self.succeed("convert", "s.h5", "b.xyz")
        words = [line.split()[0] for line in (self.folder / "b.xyz").read_text().splitlines()[2:]]
        self.assertEqual(words, ["a_b__", "a_b", "a_b_", "unnamed_", "unnamed5", "unnamed"])
        self.succeed("convert", "s.h5", "b.gsd")
        types = [bytes(row).rstrip(b"\0").decode() for row in gsd_chunks(self.folder / "b.gsd")[0]["particles/types"]]
        self.assertEqual(types, [*names, "unnamed5_"])
        loaded = self.loaded(scene('file = "b.xyz"', rest=species), "--until", "0")
        self.assertEqual([ball["species"] for ball in loaded], [*names, None])

    def test_come_between_balls_and_fills_which_keep_clear_of_them(self):
        rows = [(x + 0.6, y + 0.6) for x in range(0, 11, 2) for y in range(0, 9, 2)]
        self.write("b.csv", "x,y\n" + "".join(f"{x},{y}\n" for x, y in rows))
        ball = '[[ball]]\nradius = 0.2\nmass = 1.0\nposition = [1.6, 1.6]\n'
        fill = '[[fill]]\nradius = 0.2\nmass = 1.0\ncount = 30\n'
        for solver in ("spring", "events"):
            balls = self.loaded(scene('file = "b.csv"\nradius = 0.5\nmass = 1.0', solver=solver, rest=fill + ball))
            self.assertEqual([ball["radius"] for ball in balls], [0.2] + 30 * [0.5] + 30 * [0.2])
            for loaded, place in zip(balls, [(1.6, 1.6), *rows]):
                for one, other in zip(loaded["position"], place):
                    self.assertAlmostEqual(one, other, delta=1e-13)  # of springs' coordinates

    def test_are_told_by_check_and_run(self):
        self.write("b.csv", "x,y\n1,2\n3,4\n")
        self.write("s.toml", scene('file = "b.csv"\nradius = 0.3\nmass = 1.0'))
        told = self.succeed("check", "s.toml", "--json").json["loaded"]
        checksum = told[0].pop("checksum")
        self.assertEqual(told, [{"file": "b.csv", "balls": 2, "bytes": 12}])
        line = f"b.csv, 2 balls, 12 bytes, checksum {checksum}\n"
        self.assertIn(f"  loaded            {line}", self.succeed("check", "s.toml").out)
        self.assertIn(f"loaded: {line}", self.succeed("run", "s.toml", "-o", "s.h5").err)
        self.assertEqual(self.succeed("run", "s.toml", "--json", "--quiet", "-o", "t.h5").json["loaded"],
                         [told[0] | {"checksum": checksum}])
        self.write("b.csv", "x,y\n1,2\n3,5\n")
        self.assertNotEqual(self.succeed("check", "s.toml", "--json").json["loaded"][0]["checksum"], checksum)


class FilesOfOthers(LoadTest):
    BALL = {"species": "a", "position": [1.0, 2.0], "velocity": [0.0, 0.0], "spin": 0.0, "radius": 0.5, "mass": 1.0}

    def test_extended_xyz(self):
        self.write("a.xyz", "2\njust a comment with Timeless=1\na 1 2 0\nbig,_\"one\"\t3.5  4 0 \n\n")
        self.assertEqual(self.loaded(scene('file = "a.xyz"', rest=SPECIES)), [
            self.BALL, self.BALL | {"species": 'big, "one"', "position": [3.5, 4.0], "radius": 0.9, "mass": 3.0}])
        self.write("a.xyz", "1\npbc=\"F F F\" Time=2 Properties=pos:R:3:tags:I:1:velo:R:3:forces:R:3:masses:R:1:diameter:R:1\n"
                            "1 2 0 7 3 4 0 9 9 9 2.5 1.5\n1\nTime=1\nAr 1 2 0\n")
        heavy = self.BALL | {"species": None, "velocity": [3.0, 4.0], "mass": 2.5, "radius": 0.75}
        self.assertEqual(self.loaded(scene('file = "a.xyz"\ntime = 3.0')), [heavy])
        argon = self.BALL | {"species": "Ar"}
        self.assertEqual(self.loaded(scene('file = "a.xyz"\nradius = 0.5\nmass = 1.0')), [argon])

    def test_what_an_extended_xyz_has_in_quotes_is_no_key(self):
        second = 'Properties=pos:R:3 comment="restarted at Time=1 ps, was Properties=tags:I:1 then" Time={}'
        self.write("a.xyz", f"1\n{second.format(0)}\n1 2 0\n1\n{second.format(1)}\n3 4 0\n")
        for time, position in ((0.0, [1.0, 2.0]), (1.0, [3.0, 4.0])):
            ball = self.loaded(scene(f'file = "a.xyz"\nradius = 0.5\nmass = 1.0\ntime = {time}'))[0]
            self.assertEqual(ball["position"], position)

    def test_dumps_of_lammps(self):
        head = "ITEM: TIMESTEP\n{}\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS pp pp pp\n0 12\n0 10\n-1 1\nITEM: ATOMS "
        self.write("a.dump", head.format(0) + "id type x y z\n1 1 9 9 0\n2 1 5 5 0\n" +
                   head.format(9) + "id y x vx omegaz type diameter\n9 2 1 3 -2.5 2 1.2\n4 4 3.5 0 0 1 1\n")
        self.assertEqual(self.loaded(scene('file = "a.dump"', rest=SPECIES)), [
            {"species": 'big, "one"', "position": [1.0, 2.0], "velocity": [3.0, 0.0], "spin": -2.5, "radius": 0.6, "mass": 3.0},
            self.BALL | {"position": [3.5, 4.0]}])
        without = self.loaded(scene('file = "a.dump"\nmass = 2.0'))
        self.assertEqual([(ball["species"], ball["radius"], ball["mass"]) for ball in without], [(None, 0.6, 2.0), (None, 0.5, 2.0)])
        self.write("b.dump", head.format(0) + "id type x y\n1 1 9 9\n2 big 5 5\n")
        self.refused('b.dump:11:3: type: must be a whole number, not "big"', scene('file = "b.dump"', rest=SPECIES))
        self.refused("s.toml:16:8: load[0].time: a.dump has no times", scene('file = "a.dump"\ntime = 1.0', rest=SPECIES))

    def test_dumps_of_lammps_in_parts_of_their_box(self):
        dump = ("ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS pp pp pp\n2 10\n1 9\n-1 1\n"
                "ITEM: ATOMS id type ys xs zs\n1 1 0.5 0.25 0\n2 1 0.125 0.75 0\n")
        self.write("a.dump", dump)
        self.assertEqual(self.loaded(scene('file = "a.dump"', rest=SPECIES)),
                         [self.BALL | {"position": [4.0, 5.0]}, self.BALL | {"position": [8.0, 2.0]}])
        self.write("a.dump", dump.replace("BOUNDS", "BOUNDS xy xz yz"))
        self.refused("a.dump:9: ys is of a box without right angles, which carom has not".replace("ys", "xs"),
                     scene('file = "a.dump"', rest=SPECIES))
        self.write("a.dump", dump.replace("2 10\n", "2\n"))
        self.refused('a.dump:6:1: must be two bounds of the box, not "2"', scene('file = "a.dump"', rest=SPECIES))

    DATA = """of another program

2 atoms
2 atom types # of which
0 12 xlo xhi
0 10 ylo yhi

Masses

1 2.5
2 4.0  # the large one

Atoms # charge

9 2 0.5 1 2 0 0 0 1
4 1 -1 5.5 4 0 0 0 0

Velocities

4 3 4 0
9 -1 0 0 0 0 7
"""

    def test_data_of_lammps(self):
        self.write("a.data", self.DATA)
        big = self.BALL | {"species": 'big, "one"', "velocity": [-1.0, 0.0], "spin": 7.0, "mass": 4.0, "radius": 0.9}
        small = self.BALL | {"position": [5.5, 4.0], "velocity": [3.0, 4.0], "mass": 2.5}
        self.assertEqual(self.loaded(scene('file = "a.data"', rest=SPECIES)), [big, small])
        # Sections in another order, and no word of the style where there is one that has so few columns.
        head, masses, atoms, velocities = self.DATA.replace("0.5 1 2", "1 2").replace("-1 5.5", "5.5").replace(
            " # charge", "").replace("Masses", "@Masses").replace("Atoms\n", "@Atoms\n").replace("Velocities", "@Velocities").split("@")
        self.write("b.lmp", head + velocities + "\n" + atoms + "\n" + masses)
        self.assertEqual(self.loaded(scene('file = "b.lmp"', rest=SPECIES)), [big, small])
        self.write("c.txt", "\n1 atoms\n1 atom types\n\nAtoms # sphere\n\n1 1 3.0 0.5 4 5 0\n")
        [ball] = self.loaded(scene('file = "c.txt"\nformat = "lammps-data"', rest=SPECIES))
        self.assertEqual((ball["position"], ball["radius"]), ([4.0, 5.0], 1.5))
        self.assertAlmostEqual(ball["mass"], 0.5 * 4 / 3 * 3.141592653589793 * 1.5**3, delta=1e-12)

    def test_data_of_lammps_with_ids_that_share_a_divisor(self):
        count = 40000
        species = '[[species]]\nname = "a"\nradius = 1e-3\nmass = 1.0\n'
        took = []
        for step in (1, 42043):  # buckets of a table of so many
            ids = range(step, step * count + 1, step)
            atoms = "".join(f"{one} 1 {1 + k % 200 * 0.05} {1 + k // 200 * 0.04} 0\n" for k, one in enumerate(ids))
            self.write("a.data", f"\n{count} atoms\n1 atom types\n\nAtoms # atomic\n\n{atoms}\nVelocities\n\n"
                       + "".join(f"{one} 0 0 0\n" for one in ids))
            self.write("s.toml", scene('file = "a.data"', rest=species))
            begin = time.monotonic()
            self.succeed("check", "s.toml")
            took.append(time.monotonic() - begin)
        self.assertLess(took[1], 3.0 * took[0] + 1.0)

    def test_data_of_lammps_that_are_cut_or_wrong(self):
        said = [("", "a.data: is empty, not a data file of LAMMPS"), ("\n", "a.data: has no Atoms"),
                (self.DATA.replace("2 atoms", "-2 atoms"), 'a.data:3:1: must be a number of balls, not "-2"'),
                (self.DATA.replace("2 atoms", "3 atoms"), "a.data: ends after 2 of 3 rows of Velocities"),
                (self.DATA.replace("2 atom types", "3 atom types"), "a.data: ends after 2 of 3 rows of Masses"),
                (self.DATA.replace("2 atoms", "1 atoms"), "a.data:21: Velocities has more rows than the 1 that the file says"),
                (self.DATA.replace("2 atoms", "2 Atoms"), "a.data:20: Velocities has more rows than the 0 that the file says"),
                (self.DATA + "\nAtoms\n\n1 1 3 4 0\n", "a.data:23: a second section Atoms"),
                (self.DATA.replace("4 3 4", "9 3 4"), "a.data:21: id 9 has two velocities"),
                (self.DATA.replace("4 3 4", "5 3 4"), "a.data:16:1: id: 4 has no velocity, or another ball has that id"),
                (self.DATA.replace("# charge", "# body"),
                 'a.data:15: Atoms must say of what style they are, as in "Atoms # sphere"; "body" is not among: '
                 "atomic, charge, bond, angle, molecular, full, sphere"),
                (self.DATA.replace(" # charge", ""),
                 'a.data:15: Atoms must say of what style they are, as in "Atoms # sphere"; none is not among: '
                 "atomic, charge, bond, angle, molecular, full, sphere"),
                (self.DATA.replace("9 2 0.5", "9.5 2 0.5"), 'a.data:15:1: id: must be a whole number, not "9.5"'),
                (self.DATA.replace("9 2 0.5", "9 b 0.5"), 'a.data:15:3: type: must be a whole number, not "b"'),
                (self.DATA.replace("5.5 4 0 0 0 0", "5.5 4"), "a.data:16: 5 cells in this row, and 9 names"),
                (self.DATA.replace("4 3 4 0", "4 3 4"), 'a.data:20: must be an id and its velocity, not "4 3 4"'),
                (self.DATA.replace("1 2.5", "1 heavy"), 'a.data:10: must be a type and its mass, not "1 heavy"'),
                (self.DATA.replace("1 2.5", "1 -2.5"), "a.data:16: mass: must be a number above 0, or inf, not -2.5")]
        for text, message in said:
            with self.subTest(text=text):
                self.write("a.data", text)
                self.refused(message, scene('file = "a.data"', rest=SPECIES))

    def test_that_are_cut_or_wrong(self):
        dump = "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n{}\nITEM: BOX BOUNDS pp pp pp\n0 12\n0 10\n-1 1\nITEM: ATOMS x y\n1 2\n"
        said = {"xyz": [("", "a.xyz: is empty, not an XYZ file"), ("\n", "a.xyz: holds no frame"),
                        ("x\n", 'a.xyz:1:1: must be a number of balls, not "x"'),
                        ("-1\n", 'a.xyz:1:1: must be a number of balls, not "-1"'),
                        ("1e9\n", 'a.xyz:1:1: must be a number of balls, not "1e9"'),
                        ("99\n\n", "a.xyz:1:1: 99 balls, and the file has 4 bytes"),
                        ("1\n", "a.xyz:1: must be followed by a line that describes the frame"),
                        ("2\n\na 1 2 3\n", "a.xyz: ends after 1 of 2 balls of its frame"),
                        ("1\n\na 1 2 3 4\n", "a.xyz:3: 5 cells in this row, and 4 names"),
                        ("1\n\na 1 z 3\n", 'a.xyz:3:5: y: must be a number, not "z"'),
                        ("1\nTime=never\na 1 2 3\n", 'a.xyz:2: Time must be a number, not "never"'),
                        ("1\nProperties=pos:R\na 1 2 3\n",
                         "a.xyz:2: Properties must be NAME:TYPE:COUNT and so on, with colons between"),
                        ("1\nProperties=species:S:1\na\n",
                         "a.xyz:2: no column x; load.columns.x says what it is called: species")],
                "dump": [("", "a.dump: is empty, not a dump of LAMMPS"), ("\n", "a.dump: holds no frame"),
                         ("1 2\n", 'a.dump:1:1: must be a line that begins with "ITEM: ", not "1 2"'),
                         ("ITEM: TIME\n", "a.dump:1: must be followed by a time"),
                         ("ITEM: TIME\nx\n", 'a.dump:2:1: must be a time, not "x"'),
                         ("ITEM: TIMESTEP\n1\n", "a.dump: ends before the balls of its frame"),
                         ("ITEM: BOX BOUNDS\n1 2\n", "a.dump:2: must have three lines of bounds behind ITEM: BOX BOUNDS"),
                         (dump.format(2), "a.dump: ends after 1 of 2 balls of its frame"),
                         (dump.format(10**15), "a.dump:4:1: 1000000000000000 balls, and the file has 117 bytes"),
                         (dump.format(1) + "1 2\n", 'a.dump:11:1: must be a line that begins with "ITEM: ", not "1 2"')]}
        for ending, cases in said.items():
            for text, message in cases:
                with self.subTest(ending=ending, text=text):
                    self.write(f"a.{ending}", text)
                    self.refused(message, scene(f'file = "a.{ending}"\nspecies = "a"', rest=SPECIES))


class RoundTrips(LoadTest):
    """What carom wrote, begins another run as it was."""

    def gyrations(self, trajectory):
        with h5py.File(self.folder / trajectory) as file:
            return list(file["parameters/species/radius_of_gyration"])

    def make(self, dimension, precision):
        position, spin = ("[6.0, 5.0]", "2.0") if dimension == 2 else ("[6.0, 5.0, 5.0]", "[1.0, 2.0, 3.0]")
        self.write("first.toml", scene(dimension=dimension, precision=precision, solver="spring",
                                       rest=SPECIES + MIXED.replace("POSITION", position).replace("SPIN", spin)))
        self.succeed("run", "first.toml", "-o", "first.h5", "--quiet", "--force")

    def test_of_every_format(self):
        for dimension in (2, 3):
            for precision in ("single", "double"):
                self.make(dimension, precision)
                for frame, choice in (([], ""), (["--frame", "1"], "time = 0.011")):
                    balls = self.balls("first.h5", *frame)
                    again = dict(dimension=dimension, precision=precision, solver="spring", rest=SPECIES)
                    self.assertEqual(self.loaded(scene(f'file = "first.h5"\n{choice}', **again)), balls)
                    for ending in ("csv", "xyz", "lammpstrj"):
                        with self.subTest(dimension=dimension, precision=precision, ending=ending, choice=choice):
                            self.succeed("convert", "first.h5", f"one.{ending}", "--force", "--quiet", *(frame or ["--last"]))
                            self.assertEqual(self.loaded(scene(f'file = "one.{ending}"', **again)), balls)
                            self.succeed("convert", "first.h5", f"all.{ending}", "--force", "--quiet")
                            self.assertEqual(self.loaded(scene(f'file = "all.{ending}"\n{choice}', **again)), balls)

    def test_of_species_whose_names_begin_or_end_with_a_blank(self):
        for name in ("heavy ", " heavy", "a b"):
            text = "[scene]\ndimension = 2\n[box]\nsize = [9.0, 9.0]\n[run]\nuntil = 0.0\n[[species]]\nradius = 0.5\nmass = 2.0\n" \
                f"radius_of_gyration = 0.1\nname = {json.dumps(name)}\n"
            self.write("first.toml", text + f"[[ball]]\nspecies = {json.dumps(name)}\nposition = [3.0, 4.0]\n")
            self.write("again.toml", text + '[[load]]\nfile = "one.csv"\n')
            self.succeed("run", "first.toml", "-o", "first.h5", "--quiet", "--force")
            self.succeed("convert", "first.h5", "one.csv", "--last", "--quiet", "--force")
            self.succeed("run", "again.toml", "-o", "again.h5", "--quiet", "--force")
            self.assertEqual(self.gyrations("again.h5"), [0.1], name)

    def test_of_trajectories_keep_properties_that_no_species_has(self):
        """Of a body at rest nothing else tells its radius of gyration."""
        self.make(2, "double")
        self.loaded(scene('file = "first.h5"', precision="double"))
        self.assertIn(0.1, self.gyrations("s.h5"))
        self.assertLessEqual(set(self.gyrations("s.h5")), set(self.gyrations("first.h5")))

    def test_of_trajectories_keeps_radii_of_gyration_of_sizes_to_the_bit(self):
        """They were drawn by factors; radius over radius is one only but for rounding."""
        sizes = '[[species]]\nname = "a"\nradius = 0.195\nmass = 0.683\nsizes = { kind = "uniform", min = 0.7, max = 1.2 }\n'
        fill = '[[fill]]\nspecies = "a"\ncount = 30\ntemperature = 0.3\n'
        head = "[scene]\ndimension = 2\n[box]\nsize = [10.0, 10.0]\n[run]\nsolver = \"events\"\nuntil = 2.0\n[physics]\nfriction = 0.5\n"
        hashes = []
        for name, balls in (("first", fill), ("again", '[[load]]\nfile = "first.h5"\ntime = 0.0\n')):
            self.write(f"{name}.toml", head + sizes + balls)
            run = self.succeed("run", f"{name}.toml", "-o", f"{name}.h5", "--json", "--quiet", "--force")
            hashes.append(json.loads(run.out)["state_hash"])
        self.assertLessEqual(set(self.gyrations("again.h5")), set(self.gyrations("first.h5")))
        self.assertEqual(hashes[0], hashes[1])

    def test_of_balls_that_no_body_can_be_are_refused(self):
        self.write("b.csv", "x,y\n1,2\n")
        self.loaded(scene('file = "b.csv"\nspecies = "a"', rest=SPECIES))
        (self.folder / "s.h5").rename(self.folder / "b.h5")
        for name, value, says in (("radius_of_gyration", 1e300, "must be above 0, and at most the radius, 0.5, not 1e\\+300"),
                                  ("radius_of_gyration", 0.51, "at most the radius, 0.5, not 0.51"),
                                  ("radius_of_gyration", 0.0, "must be above 0, and at most the radius, 0.5, not 0"),
                                  ("radius_of_gyration", np.nan, "a radius of gyration that is none"),
                                  ("radius_of_gyration", np.inf, "a radius of gyration that is none"),
                                  ("radius_of_gyration", -1.0, "a radius of gyration that is none"),
                                  ("mass", np.nan, "a mass that is none"), ("mass", -1.0, "a mass that is none"),
                                  ("mass", 1e-310, "must be at least 1e-298, not 1e-310")):
            with self.subTest(name=name, value=value):
                with h5py.File(self.folder / "b.h5", "r+") as file:
                    place = file[f"parameters/species/{name}"]
                    before = place[()]
                    place[...] = value
                self.write("t.toml", scene('file = "b.h5"'))
                result = self.carom("check", "t.toml")
                self.assertEqual(result.status, 2, result.err)
                self.assertRegex(result.err, rf"\Acarom: b\.h5: .*{says}.*\n\Z")
                if "none" in says:
                    self.assertEqual(self.carom("state", "b.h5").status, 2)
                with h5py.File(self.folder / "b.h5", "r+") as file:
                    file[f"parameters/species/{name}"][...] = before
        self.succeed("check", "t.toml")

    def test_leave_out_balls_that_have_left(self):
        self.write("b.csv", "x,y,vx\n0.1,2,-100\n6,5,0\n")
        self.loaded(scene('file = "b.csv"\nradius = 0.3\nmass = 1.0', boundary="open", solver="events"))
        self.write("t.toml", scene('file = "s.h5"', boundary="open"))
        self.succeed("run", "t.toml", "-o", "t.h5", "--quiet")
        self.assertEqual([ball["position"] for ball in self.balls("t.h5")], [[6.0, 5.0]])

    def test_a_run_goes_on_without_the_file(self):
        self.write("b.csv", "x,y,vx\n1,2,1\n3,4,2\n")
        whole = self.loaded(scene('file = "b.csv"\nradius = 0.3\nmass = 1.0'), "--until", "0.04") and self.balls("s.h5")
        self.succeed("run", "s.toml", "-o", "h.h5", "--quiet")
        (self.folder / "b.csv").unlink()
        self.succeed("run", "--resume", "h.checkpoint.h5", "--until", "0.04", "-o", "go.h5", "--quiet")
        self.assertEqual(self.balls("go.h5"), whole)
        self.succeed("run", "--resume", "h.checkpoint.h5", "--set", "physics.restitution=0.9", "-o", "new.h5", "--quiet")
        for name in ("h.h5", "go.h5", "new.h5"):
            self.succeed("plot", name, "energy", "-o", name + ".svg")
            with h5py.File(self.folder / name) as file:
                self.assertIn(b"# loaded: b.csv, 2 balls, 19 bytes, checksum ", file["parameters/scene"][()])

    def test_a_run_goes_on_whatever_bytes_its_names_have(self):
        for name in (b"d\xe4", b"d\x7f", b"d\xc2\x9b"):
            folder = os.fsdecode(name)
            (self.folder / folder).mkdir()
            self.write(f"{folder}/b.csv", "x,y,vx\n1,2,1\n3,4,2\n")
            self.write(f"{folder}/s.toml", scene('file = "b.csv"\nradius = 0.3\nmass = 1.0'))
            self.succeed("run", f"{folder}/s.toml", "-o", f"{folder}/h.h5", "--quiet")
            self.succeed("run", "--resume", f"{folder}/h.checkpoint.h5", "--until", "0.03", "-o", f"{folder}/go.h5", "--quiet")
            self.succeed("run", "--resume", f"{folder}/go.checkpoint.h5", "--until", "0.04", "-o", "on.h5", "--force", "--quiet")
            self.succeed("run", "--resume", f"{folder}/go.checkpoint.h5", "--set", "physics.restitution=0.9", "-o", "new.h5",
                         "--force", "--quiet")
            for trajectory in (f"{folder}/h.h5", "on.h5", "new.h5"):
                self.succeed("plot", trajectory, "energy", "-o", "e.svg", "--force", "--quiet")

    def test_a_summary_has_room_for_all_files(self):
        name = "b" * 160 + ".csv"
        self.write(name, "x,y,radius,mass\n")
        self.write("s.toml", scene(*[f'file = "{name}"'] * 300))
        self.assertEqual(len(self.run_json("s.toml", "-o", "s.h5")["loaded"]), 300)
        with h5py.File(self.folder / "s.h5") as file:
            self.assertEqual(len(json.loads(file["parameters/summary"][()])["loaded"]), 300)

    def test_what_was_loaded_is_noted_once_however_often_it_is_read(self):
        self.write("b.csv", "x,y,vx\n1,2,1\n")
        self.loaded(scene('file = "b.csv"\nradius = 0.3\nmass = 1.0'))
        with h5py.File(self.folder / "s.h5") as file:
            kept = file["parameters/scene"][()].decode()
        self.write("b.csv", "x,y,vx\n1,2,1\n3,4,2\n")
        self.write("again.toml", kept + "\n")
        self.succeed("run", "again.toml", "-o", "again.h5", "--quiet")
        with h5py.File(self.folder / "again.h5") as file:
            text = file["parameters/scene"][()].decode()
        self.assertEqual([line.split(", checksum")[0] for line in text.splitlines() if "# loaded" in line],
                         ["# loaded: b.csv, 2 balls, 19 bytes"])

    def test_what_was_at_the_start_of_a_run_that_goes_on_is_in_no_file(self):
        self.write("b.csv", "x,y,vx\n1,2,1\n3,4,2\n")
        self.write("s.toml", scene('file = "b.csv"\nradius = 0.3\nmass = 1.0')
                   + '[[observe]]\nname = "moved"\nkind = "displaced"\n')
        self.succeed("run", "s.toml", "-o", "h.h5", "--quiet")
        result = self.carom("run", "--resume", "h.checkpoint.h5", "--until", "0.04", "-o", "go.h5", "--quiet")
        self.assertEqual(result.status, 2)
        self.assertEqual(result.err, "carom: h.checkpoint.h5: cannot go on with observables of what was at the start, which "
                                     "is in no file: its run began with the balls of a [[load]]\n")
        self.assertNotIn("go.h5", self.files())


# What a table is, and what is said of it; of a box from 0 to 12 and 10, periodic, with no species but `a` of radius 0.5.
class FramesOfOthers(LoadTest):
    """H5MD as other programs write it."""

    PLACES = np.array([[1.0, 2.0, 3.0], [4.0, 5.5, 6.0], [8.0, 2.0, 9.0]])

    def write_h5md(self, change=lambda file, balls: None, name="a.h5", **how):
        """Three frames of three balls, at steps 0, 10 and 20, of times 0, 0.5 and 1; in the last of them they are at PLACES."""
        with h5py.File(self.folder / name, "w") as file:
            file.create_group("h5md").attrs["version"] = [1, 1]
            balls = file.create_group("particles/atoms")
            for element, last in (("position", self.PLACES), ("velocity", 0.1 * self.PLACES)):
                group = balls.create_group(element)
                group.create_dataset("value", data=np.stack([last - 0.5, last - 0.25, last]).astype("f4"), maxshape=(None, 3, 3), **how)
                group["step"] = [0, 10, 20]
                group["time"] = [0.0, 0.5, 1.0]
            balls["mass"] = [1.0, 2.0, 3.0]
            balls["radius"] = [0.25, 0.5, 0.75]
            change(file, balls)

    def ball(self, number, **other):
        x = self.PLACES[number].astype("f4").astype("f8")
        v = (0.1 * self.PLACES)[number].astype("f4").astype("f8")
        return {"species": None, "position": x.tolist(), "velocity": v.tolist(), "spin": [0.0] * 3,
                "radius": [0.25, 0.5, 0.75][number], "mass": [1.0, 2.0, 3.0][number], **other}

    def h5md(self, keys="", **how):
        return scene(f'file = "a.h5"\n{keys}', **{"dimension": 3, **how})

    def test_are_read_by_their_elements(self):
        self.write_h5md()
        self.assertEqual(self.loaded(self.h5md()), [self.ball(k) for k in range(3)])
        for time, moved in ((0.0, -0.5), (0.3, -0.25), (0.2, -0.5), (99.0, 0.0)):
            self.assertEqual(self.loaded(self.h5md(f"time = {time}"))[0]["position"], (self.PLACES[0] + moved).tolist())
        flat = self.loaded(self.h5md(dimension=2))
        self.assertEqual(flat[1], self.ball(1, position=[4.0, 5.5], velocity=self.ball(1)["velocity"][:2], spin=0.0))
        told = self.succeed("check", "s.toml", "--json").json["loaded"][0]
        self.assertEqual((told["file"], told["balls"], told["time"]), ("a.h5", 3, 1.0))

    def test_may_be_compressed_and_grow_by_fixed_steps(self):
        def change(file, balls):
            for element in ("position", "velocity"):
                del balls[element]["step"], balls[element]["time"]
                balls[element]["step"] = 10
                balls[element]["time"] = 0.05
                balls[element]["time"].attrs["offset"] = 7.0
        self.write_h5md(change, compression="gzip", shuffle=True, chunks=(1, 3, 3))
        self.assertEqual(self.loaded(self.h5md("time = 7.05"))[2]["position"], (self.PLACES[2] - 0.25).tolist())

    def test_say_species_by_words_or_numbers(self):
        for numbers, names in (([1, 2, 1], ["a", 'big, "one"', "a"]), ([0, 1, 7], ["a", 'big, "one"', None])):
            self.write_h5md(lambda file, balls, numbers=numbers: balls.create_dataset("species", data=numbers))
            self.assertEqual([ball["species"] for ball in self.loaded(self.h5md(rest=SPECIES))], names)
        words = h5py.enum_dtype({"other": 3, "a": 9}, basetype="i1")
        self.write_h5md(lambda file, balls: balls.create_dataset("species", data=[9, 3, 9], dtype=words))
        self.assertEqual([ball["species"] for ball in self.loaded(self.h5md(rest=SPECIES))], ["a", "other", "a"])
        self.write_h5md(lambda file, balls: balls.create_dataset("species", data=[-1, 0, 0]))
        self.refused("a.h5: ball 0: species: must be a whole number, not -1", self.h5md(rest=SPECIES))

    def test_have_columns_that_the_scene_names(self):
        def change(file, balls):
            del balls["radius"], balls["mass"]
            balls["shape"] = [[9.0, 0.5], [9.0, 1.0], [9.0, 1.5]]
            file["observables/weight/value"] = [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]
            file["observables/weight/step"] = [10, 20]
            file["observables/atoms/angular_velocity"] = np.ones((3, 3))
        self.write_h5md(change)
        keys = 'columns = {radius = "shape[1]", mass = "weight", vx = "-", vy = "velocity[0]"}'
        big = self.ball(1, radius=1.0, mass=2.0, spin=[1.0] * 3)
        big["velocity"] = [0.0, big["velocity"][0], big["velocity"][2]]
        self.assertEqual(self.loaded(self.h5md(keys))[1], big)
        self.assertEqual(self.loaded(self.h5md(keys.replace('"weight"', '"observables/weight"')))[1], big)

    def test_are_put_into_a_box_that_repeats_alike(self):
        def change(edges, boundary):
            def change(file, balls):
                box = balls.create_group("box")
                box.attrs["dimension"], box.attrs["boundary"] = 3, boundary
                box["edges"] = edges
                balls["position/value"][2] += np.array([24.0, -10.0, 11.0], "f4")
            return change
        for edges in ([12.0, 10.0, 11.0], np.diag([12.0, 10.0, 11.0])):
            for boundary in (["periodic"] * 3, np.array(["periodic"] * 3, "S8")):
                self.write_h5md(change(edges, boundary))
                self.assertEqual([ball["position"] for ball in self.loaded(self.h5md())], self.PLACES.tolist())
        for edges, boundary in (([13.0, 10.0, 11.0], ["periodic"] * 3), ([12.0, 10.0, 11.0], ["none", "periodic", "periodic"])):
            self.write_h5md(change(edges, boundary))
            self.refused("a.h5: ball 0: x: must be inside the box, from 0 to 12, not 25", self.h5md())
        self.write_h5md(change([[12.0, 1.0, 0.0], [0.0, 10.0, 0.0], [0.0, 0.0, 11.0]], ["periodic"] * 3))
        self.refused("a.h5: its box is one without right angles, which carom has not", self.h5md())

    def test_may_have_several_groups_and_absent_balls(self):
        def change(file, balls):
            file["particles/others/position"] = [[1.0, 1.0, 1.0]]
            balls["id"] = [2, -1, 0]
        self.write_h5md(change)
        self.refused("a.h5: has several groups of particles; load.group must be one of: atoms, others", self.h5md())
        self.refused('a.h5: has no group of particles "atom"; there are: atoms, others', self.h5md('group = "atom"'))
        self.assertEqual(self.loaded(self.h5md('group = "atoms"')), [self.ball(0), self.ball(2)])
        [other] = self.loaded(self.h5md('group = "others"\nradius = 0.5\nmass = 1.0'))
        self.assertEqual(other["position"], [1.0, 1.0, 1.0])
        self.write("b.csv", "x,y,z\n1,2,3\n")
        self.refused("s.toml:16:9: load[0].group: b.csv is no H5MD, and has no groups",
                     scene('file = "b.csv"\ngroup = "all"', dimension=3))

    def test_that_are_cut_or_wrong(self):
        whole = "a.h5: is not a whole H5MD file: "
        outside = np.array([[[1.0, 1.0, 1.0]]])

        def put(place, data, **how):
            def change(file, balls):
                del file[place]
                file.create_dataset(place, data=data, **how)
            return change

        def drop(place):
            return lambda file, balls: file.pop(place)

        def link(place, to):
            def change(file, balls):
                del file[place]
                file[place] = to
            return change

        def external(file, balls):
            del balls["mass"]
            balls.create_dataset("mass", (3,), "f8", external=[("secret.txt", 0, 24)])

        def virtual(file, balls):
            layout = h5py.VirtualLayout(shape=(3,), dtype="f8")
            layout[:] = h5py.VirtualSource("other.h5", "numbers", shape=(3,))
            del balls["mass"]
            balls.create_virtual_dataset("mass", layout)

        (self.folder / "secret.txt").write_bytes(np.array([7.0, 7.0, 7.0]).tobytes())
        with h5py.File(self.folder / "other.h5", "w") as file:
            file["numbers"] = [7.0, 7.0, 7.0]
            file["group/value"] = outside
        position = "particles/atoms/position"
        said = [(drop("particles"), "a.h5: has no group `particles`, so it is no H5MD"),
                (drop("particles/atoms"), "a.h5: has no particles"),
                (drop(position), "a.h5: `particles/atoms` has no position"),
                (drop(f"{position}/value"), f"{whole}dataset `{position}/value` is missing"),
                (put(f"{position}/value", self.PLACES), f"{whole}`{position}/value` has the wrong shape"),
                (put(f"{position}/value", np.ones((3, 3, 2))), "a.h5: is of 2 dimensions, and the scene has 3"),
                (put(f"{position}/value", np.full((3, 3, 3), np.nan)), "a.h5: ball 0: x: must be a number, not nan"),
                (put(f"{position}/value", np.ones((3, 3, 3), complex)), f"{whole}`{position}/value` holds no numbers"),
                (put(f"{position}/step", np.zeros(0, int)), "a.h5: holds no frame"),
                (put(f"{position}/time", [0.0, 0.5, np.inf]), f"{whole}the time of a frame is no number"),
                (put("particles/atoms/velocity/step", [0, 10, 30]),
                 "a.h5: `particles/atoms/velocity` has no frame at step 20"),
                (put("particles/atoms/mass", [1.0, 2.0]), f"{whole}`particles/atoms/mass` has the wrong shape: there are 3 balls"),
                (put("particles/atoms/mass", [1.0, 0.0, 1.0]), "a.h5: ball 1: mass: must be a number above 0, or inf, not 0"),
                (put("particles/atoms/mass", ["a", "b", "c"]), f"{whole}`particles/atoms/mass` holds no numbers"),
                (drop("particles/atoms/mass"), "a.h5: ball 0: mass: the file has none: load.mass gives it, or load.species"),
                (link("particles/atoms", h5py.SoftLink("/particles/none")),
                 f"{whole}`particles/atoms` is a link to something else, which is not followed"),
                (link(position, h5py.ExternalLink("other.h5", "/group")),
                 f"{whole}`{position}` is a link to something else, which is not followed"),
                (link("particles/atoms/mass", h5py.ExternalLink("other.h5", "/numbers")),
                 f"{whole}`particles/atoms/mass` is a link to something else, which is not followed"),
                (external, f"{whole}the numbers of `particles/atoms/mass` lie in another file, which is not read"),
                (virtual, f"{whole}the numbers of `particles/atoms/mass` lie in another file, which is not read")]
        for change, message in said:
            with self.subTest(message=message):
                self.write_h5md(change)
                self.refused(message, self.h5md())
        self.write_h5md()
        for columns, message in (('radius = "size"', "load.columns.radius: `particles/atoms` has no `size`"),
                                 ('radius = "velocity"',
                                  "`velocity` has 3 numbers of each ball: say velocity[0] and so on"),
                                 ('radius = "velocity[3]"', "load.columns.radius: `particles/atoms` has no `velocity[3]`"),
                                 ('x = "-"', "has no column x; load.columns.x says what it is called")):
            with self.subTest(columns=columns):
                self.refused(f"a.h5: {message}", self.h5md(f"columns = {{{columns}}}"))

    def test_take_no_memory_by_a_number(self):
        """Of a hundred bytes nobody gets more balls than that, nor a thousand times as many where they are packed."""
        many = (1, 1 << 36, 3)
        for extents, how in ((many, {"chunks": (1, 1 << 20, 3)}), (many, {"chunks": (1, 1 << 20, 3), "compression": "gzip"}),
                             ((1 << 36, 0, 3), {"chunks": (64, 64, 3), "maxshape": (None, None, 3)})):
            def change(file, balls, extents=extents, how=how):
                for element in ("position", "velocity", "mass", "radius"):
                    del balls[element]
                balls.create_dataset("position/value", extents, "f8", **how)
                balls["position/step"] = 1  # of each frame, however many there are
            self.write_h5md(change)
            self.assertLess((self.folder / "a.h5").stat().st_size, 100_000)
            self.refused("a.h5: is not a whole H5MD file: `particles/atoms/position/value` holds less than its extent says",
                         self.h5md())

    def test_elements_of_no_numbers_are_none(self):
        for element, shape in (("radius", (3, 0)), ("id", (3, 0)), ("species", (3, 0))):
            def change(file, balls):
                if element in balls:
                    del balls[element]
                balls.create_dataset(element, shape, "i4" if element != "radius" else "f8")
            self.write_h5md(change)
            self.write("s.toml", self.h5md())
            self.assertIn(self.carom("check", "s.toml").status, (0, 2), element)

    def test_a_lattice_is_read_however_well_it_is_packed(self):
        line = np.arange(100) + 0.5
        def change(file, balls):
            for element in ("position", "velocity", "mass", "radius"):
                del balls[element]
            places = np.stack(np.meshgrid(line, line, line, indexing="ij"), -1).reshape(-1, 3).astype("f4")
            balls.create_dataset("position", data=places, compression="gzip", shuffle=True)
        self.write_h5md(change)
        self.write("s.toml", self.h5md("mass = 1.0\nradius = 0.3\n").replace("[12.0, 10.0, 11.0]", "[100.0, 100.0, 100.0]"))
        self.assertEqual(self.succeed("check", "s.toml", "--json").json["loaded"][0]["balls"], 1_000_000)

    def test_take_not_much_memory_by_zeros_of_one_byte(self):
        """Packed to a thousandth, they become doubles."""
        def change(file, balls):
            for element in ("position", "velocity", "mass", "radius"):
                del balls[element]
            balls.create_dataset("position", data=np.zeros((1 << 23, 3), "i1"), chunks=(1 << 20, 3), compression="gzip")
        self.write_h5md(change)
        self.refused("a.h5: is not a whole H5MD file: its numbers are packed more tightly than is read", self.h5md())

    def test_a_column_of_one_number_may_be_packed_to_nothing(self):
        many = 1 << 17
        def change(file, balls):
            for element in ("position", "velocity", "mass", "radius"):
                del balls[element]
            balls["position"] = np.random.default_rng(1).uniform(1.0, 9.0, (many, 3)).astype("f4")
            balls.create_dataset("species", data=np.ones(many, "i1"), chunks=(many,), compression="gzip")
        self.write_h5md(change)
        self.write("s.toml", self.h5md('radius = 1e-6\n', rest=SPECIES))
        self.assertEqual(self.succeed("check", "s.toml", "--json").json["loaded"][0]["balls"], many)

    def test_changed_at_random_are_read_or_refused(self):
        draw = random.Random(7)
        self.write_h5md(lambda file, balls: balls.create_dataset("species", data=[1, 2, 1]), compression="gzip")
        whole = (self.folder / "a.h5").read_bytes()
        read = 0
        for trial in range(40):
            data = bytearray(whole)
            for _ in range(draw.choice([1, 3, 20])):
                data[draw.randrange(len(data))] = draw.randrange(256)
            (self.folder / "a.h5").write_bytes(data)
            self.write("s.toml", self.h5md(rest=SPECIES))
            result = self.carom("check", "s.toml", "--quiet")
            with self.subTest(trial=trial):
                self.assertIn(result.status, (0, 2), result.err)
                self.assertEqual(result.err.count("\n"), result.status // 2, result.err)
            read += result.status == 0
        self.assertTrue(2 < read < 38, read)


BAD_TABLES = [
    ("", "b.csv: is empty, not a CSV table"),
    ("\n\n", "b.csv:2: no line of names"),
    ("x;y\n1;2\n", "b.csv:1: no column x; load.columns.x says what it is called: x;y"),
    ("x,z\n1,2\n", "b.csv:1: no column y; load.columns.y says what it is called: x, z"),
    ("x,y\n1,2\n3\n", "b.csv:3: 1 cell in this row, and 2 names"),
    ("x,y\n1,2,3\n", "b.csv:2: 3 cells in this row, and 2 names"),
    ("x,y\n\n1,b\n", 'b.csv:3:3: y: must be a number, not "b"'),
    ("x,y\n1,\n", 'b.csv:2:3: y: must be a number, not ""'),
    ("x,y\n1,1e999\n", 'b.csv:2:3: y: must be a number, not "1e999"'),
    ("x,y\nnan,1\n", "b.csv:2:1: x: must be a number, not nan"),
    ("x,y\n1,-inf\n", "b.csv:2:3: y: must be a number, not -inf"),
    ("x,y,vx\n1,2,inf\n", "b.csv:2:5: vx: must be a number, not inf"),
    ("x,y,spin\n1,2,nan\n", "b.csv:2:5: spin: must be a number, not nan"),
    ("x,y\n1,2\n1,-0.1\n", "b.csv:3:3: y: must be inside the box, from 0 to 10, not -0.1"),
    ("x,y\n12.5,2\n", "b.csv:2:1: x: must be inside the box, from 0 to 12, not 12.5"),
    ("x,y,radius\n1,2,0\n", "b.csv:2:5: radius: must be a number above 0, not 0"),
    ("x,y,radius\n1,2,inf\n", "b.csv:2:5: radius: must be a number above 0, not inf"),
    ("x,y,diameter\n1,2,-1\n", "b.csv:2:5: radius: must be a number above 0, not -0.5"),
    ("x,y,radius\n1,2,5.5\n", "b.csv:2:5: radius: must be at most half the box, which is 10 along y, not 5.5"),
    ("x,y,mass\n1,2,0\n", "b.csv:2:5: mass: must be a number above 0, or inf, not 0"),
    ("x,y,mass\n1,2,nan\n", "b.csv:2:5: mass: must be a number, not nan"),
    ("x,y\n1,+-2\n", 'b.csv:2:3: y: must be a number, not "+-2"'),
    ("x [m],y,x[cm]\n1,2,3\n", "b.csv:1: columns x [m] and x[cm] are both x; load.columns.x chooses"),
    ("x,y,time\n1,2,inf\n", "b.csv:2:5: time: must be a number, not inf"),
    ("time,x,y\n0,1,2\n1,2,2\n0,5,5\n", "b.csv:4:1: time: 0 comes after 1, and times rose before: rows of one time must "
     "follow each other; sort them by time"),
    ("x,y,mass\n1,2,1e-310\n", "b.csv:2:5: mass: must be at least 1e-298, not 1e-310"),
    ('x,y,note\n1,2,"a\n', "b.csv:2:5: a quote that does not end on its line"),
    ('x,y,note\n1,2,"a"b\n', "b.csv:2:8: must be a comma, after a quoted cell"),
    ("x,y\n1,2\n1.2,2\n", "b.csv:3: row 2 overlaps row 1 by 0.8, 0.8 of the sum of their radii; {spring}"),
    ("x,y\n\n11.9,2\n5,5\n\n0.1,2\n", "b.csv:6: row 3 overlaps row 1 by 0.8, 0.8 of the sum of their radii; {spring}"),
    ("x,y\n6,8.1\n", "b.csv:2: row 1 overlaps ball 0 by 0.9, 0.9 of the sum of their radii; {spring}"),
    ("x,y\n6,1\n", "b.csv:2: row 1 is behind wall[0] by 0.5"),
    ("\x89PNG\n", "b.csv: is a picture (PNG), not a CSV table"),
    ("x,y\n" + 3_000_000 * "1", "b.csv:2: a line of more than 65536 bytes; is this a table?"),
]
SPRING = "their centres must be at least half the smaller radius apart"
AT_HAND = """[[species]]
name = "a"
radius = 0.5
mass = 1.0
[[ball]]
species = "a"
position = [6.0, 8.0]
[[wall]]
shape = "sphere"
center = [6.0, 1.0]
radius = 0.5
side = "outside"
"""


class BadFiles(LoadTest):
    def test_are_told_by_line_and_column(self):
        for table, message in BAD_TABLES:
            with self.subTest(table=table[:40]):
                (self.folder / "b.csv").write_bytes(table.encode("latin-1"))
                self.refused(message.format(spring=SPRING), scene('file = "b.csv"\nspecies = "a"', solver="spring", rest=AT_HAND))

    def test_that_lack_properties_or_have_unknown_species(self):
        self.write("b.csv", "x,y,species,mass\n1,2,b,1\n")
        for rest, said in (("", "radius: the file has none: load.radius gives it, or load.species"),
                           (SPECIES, 'species: no species "b"; there are: a, big, "one"'),
                           (SPECIES.replace('"a"', '"bc"'), 'species: no species "b"; did you mean "bc"?')):
            place = "b.csv:2:5" if said.startswith("species") else "b.csv:2"
            self.refused(f"{place}: {said}", scene('file = "b.csv"', rest=rest))

    def test_hard_balls_touch_and_do_not_overlap(self):
        for x, good in ((2.0, True), (2.0 - 1e-10, True), (1.999, False)):
            self.write("b.csv", f"x,y\n1,2\n{x},2\n")
            text = scene('file = "b.csv"\nradius = 0.5\nmass = 1.0', solver="events")
            if good:
                self.assertEqual(len(self.loaded(text)), 2)
            else:
                self.refused("b.csv:3: row 2 overlaps row 1 by 0.001, 0.001 of the sum of their radii; for the events solver "
                             "at most 1e-09 is allowed", text)

    def test_bodies_of_infinite_mass_go_through_each_other_and_may_start_so(self):
        self.write("b.csv", "x,y\n2,2\n1.5,2\n5,2\n5,2\n")
        for solver in ("events", "spring"):
            text = scene('file = "b.csv"\nradius = 0.5\nmass = inf', solver=solver, boundary="wall")
            self.assertEqual(len(self.loaded(text)), 4)
            self.assertNotIn("warning", self.succeed("check", "s.toml").out)

    def test_bodies_that_lie_in_each_other_may_fill_a_box_many_times(self):
        body = "[[ball]]\nradius = 4.5\nmass = inf\nposition = [6.0, 5.0]\n"
        self.write("s.toml", scene(rest=body * 800, boundary="wall"))
        self.succeed("run", "s.toml", "-o", "s.h5", "--quiet")
        self.assertEqual(len(self.balls("s.h5")), 800)

    def test_warn_of_soft_balls_that_overlap(self):
        self.write("b.csv", "x,y\n1,2\n1.8,2\n")
        self.write("s.toml", scene('file = "b.csv"\nradius = 0.5\nmass = 1.0', boundary="wall", solver="spring"))
        self.assertIn("warning: a pair of balls overlaps at the start", self.succeed("check", "s.toml").out)

    def test_trajectories(self):
        self.write("b.csv", "x,y\n1,2\n")
        self.loaded(scene('file = "b.csv"\nradius = 0.5\nmass = 1.0'))
        (self.folder / "s.h5").rename(self.folder / "b.h5")
        self.refused("b.h5: is of 2 dimensions, and the scene has 3", scene('file = "b.h5"', dimension=3))
        self.write("x.h5", "x,y\n1,2\n")
        self.refused("x.h5: is a CSV table, not an H5MD file", scene('file = "x.h5"'))
        self.succeed("run", "s.toml", "--set", "load[0].file=b.h5", "-o", "c.h5", "--quiet")
        self.refused("c.checkpoint.h5: is a checkpoint, which carom run --resume takes; give the trajectory of its run, c.h5",
                     scene('file = "c.checkpoint.h5"'))
        self.write("small.toml", scene('file = "b.h5"').replace("12.0", "1.5"))
        self.assertEqual(self.carom("check", "small.toml").err,
                         "carom: small.toml:4:9: box.size[0]: must be at least twice the largest diameter (1) along a "
                         "periodic axis, not 1.5\n")
        self.write("out.toml", scene('file = "b.h5"').replace("[box]", "[box]\nmin = [5.0, 0.0]"))
        self.assertEqual(self.carom("check", "out.toml").err,
                         "carom: b.h5: ball 0: x: must be inside the box, from 5 to 17, not 1\n")

    def test_keys(self):
        self.write("b.csv", "x,y\n1,2\n")
        self.write("b.txt", "")
        said = [('file = ""', "s.toml:15:8: load[0].file: must not be empty"),
                ('species = "a"', "s.toml:14:1: load[0].file: is required: text in quotes"),
                ('file = "b.csv"\nspecies = "a"', 's.toml:16:11: load[0].species: no species "a": the scene has no [[species]]'),
                ('file = "b.txt"', 's.toml:15:8: load[0].file: "b.txt" does not say by its ending what it is; load.format must '
                 'be "csv", "xyz", "lammps", "h5md" or "lammps-data"'),
                ('path = "b.csv"\nfile = "b.csv"', 's.toml:15:1: load[0].path: unknown key; did you mean "file"?'),
                ('file = "b.csv"\nradius = 0.5\nmass = 1.0\ntime = 1.0', "s.toml:18:8: load[0].time: b.csv has no times"),
                ('file = "b.csv"\nradius = 6.0', "s.toml:16:10: load[0].radius: must be at most half the box, which is 10 along y, "
                 "not 6"),
                ('file = "b.csv"\nmass = 1e-310', "s.toml:16:8: load[0].mass: must be at least 1e-298, not 1e-310"),
                ('file = "b.csv"\ncolumns.x = "a"', 's.toml:16:13: load[0].columns.x: b.csv has no column "a"; there are: x, y'),
                ('file = "b.csv"\ncolumns.q = "a"', "s.toml:16:9: load[0].columns.q: unknown key; allowed: x, y, z, vx, vy, vz, "
                 "wx, wy, wz, spin, radius, mass, species, time")]
        for load, message in said:
            with self.subTest(load=load):
                self.refused(message, scene(load))
        self.write("light.toml", scene(rest=SPECIES.replace("mass = 1.0", "mass = 1e-310")))
        self.assertRegex(self.carom("check", "light.toml").err, r"species\[0\]\.mass: must be at least 1e-298, not 1e-310")


class Strangers(LoadTest):
    """A scene of somebody else's, and what lies around it."""

    OUTSIDE = "must be below the scene's folder, with no part that begins with a dot, not "

    def setUp(self):
        super().setUp()
        for name in ("mine", "mine/deep", "mine/.hidden"):
            (self.folder / name).mkdir()
        for name in ("secret.csv", "mine/b.csv", "mine/deep/b.csv", "mine/.secret.csv", "mine/.hidden/b.csv"):
            self.write(name, "x,y,radius,mass\n1,2,0.5,1\n")
        (self.folder / "mine/link.csv").symlink_to("b.csv")
        (self.folder / "mine/out.csv").symlink_to("../secret.csv")
        (self.folder / "mine/up").symlink_to("..")
        os.mkfifo(self.folder / "mine/pipe.csv")

    def check(self, file, *arguments):
        self.write("mine/s.toml", scene(f"file = {json.dumps(file)}"))
        return self.carom("check", "mine/s.toml", "--quiet", *arguments)

    def test_find_files_below_the_scene(self):
        for file in ("b.csv", "./b.csv", "deep/b.csv", "deep//./b.csv"):
            self.assertEqual(self.check(file).status, 0, file)

    def test_find_no_others(self):
        own = "; --set load[0].file=FILE takes any"
        outside = {file: f'{self.OUTSIDE}"{file}"{own}' for file in
                   (str(self.folder / "secret.csv"), "../secret.csv", "deep/../../secret.csv", "deep/../b.csv", ".secret.csv",
                    ".hidden/b.csv", "/dev/stdin", "/etc/passwd")}
        for file, message in (outside | {
                "link.csv": f"must lead to a file without links, and link.csv is one{own}",
                "out.csv": f"must lead to a file without links, and out.csv is one{own}",
                "up/secret.csv": f"must lead to a file without links, and up is one{own}",
                "pipe.csv": "mine/pipe.csv is not a regular file", "deep": None, "none.csv": None, "b.csv/b.csv": None}).items():
            with self.subTest(file=file):
                result = self.check(file)
                self.assertEqual((result.status, result.err.count("\n"), result.out), (2, 1, ""), result.err)
                self.assertTrue(result.err.startswith("carom: mine/s.toml:15:8: load[0].file: "), result.err)
                if message:
                    self.assertEqual(result.err, f"carom: mine/s.toml:15:8: load[0].file: {message}\n")

    def test_do_not_choose_by_a_sweep(self):
        self.write("mine/s.toml", scene('file = "b.csv"'))
        for file in ("../secret.csv", str(self.folder / "secret.csv"), "out.csv"):
            self.write("mine/a.sweep.toml", '[sweep]\nscene = "s.toml"\nrecord = ["kinetic_energy"]\n[[axis]]\nname = "f"\n'
                                            f'key = "load[0].file"\nvalues = [{json.dumps(file)}]\n')
            result = self.carom("sweep", "mine/a.sweep.toml", "-o", "t.csv", "--quiet")
            self.assertEqual(result.status, 2, result.err)
            self.assertIn("load[0].file: must ", result.err)

    def test_the_user_chooses_any_regular_file(self):
        for file in ("secret.csv", str(self.folder / "secret.csv"), "mine/../secret.csv", "mine/out.csv", "mine/.secret.csv"):
            self.assertEqual(self.check("none.csv", "--set", f"load[0].file={file}").status, 0, file)
        self.assertIn("mine/pipe.csv is not a regular file", self.check("b.csv", "--set", "load[0].file=mine/pipe.csv").err)

    def test_stored_runs_open_no_file(self):
        self.write("mine/s.toml", scene('file = "b.csv"'))
        self.succeed("run", "mine/s.toml", "-o", "s.h5", "--quiet")
        (self.folder / "mine/b.csv").unlink()
        os.mkfifo(self.folder / "mine/b.csv")  # would be waited for
        for command in (["state", "s.h5", "--csv"], ["plot", "s.h5", "energy", "-o", "e.svg"], ["report", "s.h5"],
                        ["run", "--resume", "s.checkpoint.h5", "--until", "0.03", "-o", "t.h5", "--quiet"]):
            self.succeed(*command)

    def test_show_control_characters(self):
        self.write("mine/b.csv", "x,y\n\x1b[2J,\x07\n")
        result = self.check("b.csv")
        self.assertEqual((result.status, result.err.count("\n")), (2, 1))
        self.assertNotIn("\x1b", result.err)
        self.assertIn("\\x1b[2J", result.err)


class Mutations(LoadTest):
    """Files that were changed at random: read, or refused in one line that names the file."""

    WORDS = ["nan", "inf", "-1", "1e308", "1e-308", "0", ",", "\n", '"', "", " ", "\r", "\0", "x", "-", "99999999999999999999", "é"]
    TRIALS = 60

    def mutate(self, draw, text):
        for _ in range(draw.choice([1, 1, 2, 5])):
            at = draw.randrange(len(text) + 1)
            end = min(len(text), at + draw.choice([0, 1, 3, 40]))
            text = text[:at] + draw.choice(self.WORDS) * draw.choice([1, 1, 1, 50]) + text[end:]
        return text

    def test_of_texts(self):
        draw = random.Random(5)
        rows = "".join(f"a,{x + 1.5},{y + 1.25},{draw.uniform(-1, 1)},0.25,0.5,1\n" for x in range(0, 9, 2) for y in range(0, 7, 2))
        count = rows.count("\n")
        blanks = rows.replace(",", " ")
        frames = ["", ""]
        for time in (1, 2):
            frames[0] += (f"{count}\nTime={time} Properties=species:S:1:pos:R:2:velo:R:1:angular_velocity:R:1:radius:R:1:mass:R:1\n"
                          + blanks).replace("pos:R:2:velo:R:1:angular_velocity:R:1", "x:R:1:y:R:1:vx:R:1:spin:R:1")
            frames[1] += (f"ITEM: TIME\n{time}\nITEM: NUMBER OF ATOMS\n{count}\nITEM: BOX BOUNDS pp pp pp\n0 1\n0 1\n0 1\n"
                          "ITEM: ATOMS type x y vx omegaz radius mass\n" + blanks.replace("a ", "1 "))
        texts = {"csv": "species,x,y,vx,spin,radius,mass\n" + rows, "xyz": frames[0], "dump": frames[1]}
        read = 0
        for trial in range(self.TRIALS):
            ending = draw.choice(sorted(texts))
            (self.folder / f"b.{ending}").write_text(self.mutate(draw, texts[ending]), newline="")
            self.write("s.toml", scene(f'file = "b.{ending}"', solver=draw.choice(["spring", "events"]), rest=SPECIES))
            result = self.carom("check", "s.toml", "--quiet")
            with self.subTest(trial=trial):
                self.assertIn(result.status, (0, 2), result.err)
                self.assertEqual(result.err.count("\n"), result.status // 2, result.err)
                self.assertTrue(result.status == 0 or f"b.{ending}" in result.err or "box.size" in result.err, result.err)
            read += result.status == 0
        self.assertTrue(3 < read < self.TRIALS - 3, read)


if __name__ == "__main__":
    unittest.main()
