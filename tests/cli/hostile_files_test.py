"""Files that were damaged, or that a stranger made, are refused: one line, the file's name, status 2."""

import os
import re
import resource
import shutil
import time
import unittest
import zlib

import h5py
import numpy as np

from program import GAS, MIXTURE, ProgramTest, cached

AVERAGES = """
[[observe]]
name = "speed"
kind = "speed"

[[observe]]
name = "velocity_correlation"
kind = "vacf"
"""
DENSE = """
[scene]
dimension = 3
seed = 3

[box]
size = [8.0, 8.0, 8.0]
boundary = ["periodic", "periodic", "periodic"]

[run]
solver = "events"
until = 1.0

[[fill]]
count = 450
mass = 1.0
radius = 0.5
temperature = 1.0
"""


class HostileFileTest(ProgramTest):
    def refused(self, *arguments, says, naming):
        result = self.carom(*arguments)
        self.assertEqual(result.status, 2, (arguments, result.status, result.err))
        self.assertEqual(result.err.count("\n"), 1, result.err)
        self.assertIn(naming, result.err)
        self.assertRegex(result.err, says)

    def change(self, source, target, change, checksum=False):
        """A copy of a file, changed; without its checksum, as an earlier version wrote it, or someone up to no good."""
        shutil.copy(self.folder / source, self.folder / target)
        with h5py.File(self.folder / target, "r+") as file:
            if not checksum:
                file.attrs.pop("checksum", None)
            change(file)


def records(file):
    """The datasets of `extra` by their names."""
    return {name.decode(): file[f"extra/{k}"] for k, name in enumerate(file["extra/names"][()])}


class Checkpoints(HostileFileTest):
    def run_scene(self, solver, text=None):
        self.write("s.toml", text or MIXTURE % solver + AVERAGES)
        self.succeed("run", "s.toml", "--quiet", "-o", f"{solver}.h5", "--until", "0.6", "--force",
                     "--checkpoint", f"{solver}.c.h5")
        return f"{solver}.c.h5"

    def resume(self, name, **options):
        return self.carom("run", "--resume", name, "--until", "0.65", "-o", "rest.h5", "--force", "--quiet", **options)

    def refuses(self, source, change, says, checksum=False):
        self.change(source, "bad.h5", change, checksum)
        self.refused("run", "--resume", "bad.h5", "--until", "0.65", "-o", "rest.h5", "--force", "--quiet", says=says,
                     naming="bad.h5")

    def test_one_that_was_packed_by_others_is_whole(self):
        for solver in ("spring", "events"):
            source = self.run_scene(solver)

            def pack(file):
                places = []
                file.visititems(lambda name, item: places.append(name) if isinstance(item, h5py.Dataset) else None)
                for name in places:
                    if file[name].ndim != 1 or file[name].size == 0:
                        continue
                    values, attributes = file[name][...], dict(file[name].attrs)
                    del file[name]
                    file.create_dataset(name, data=values, compression="gzip", shuffle=True)
                    file[name].attrs.update(attributes)
            self.change(source, "packed.h5", pack, checksum=True)
            hashes = []
            for name in (source, "packed.h5"):
                result = self.carom("run", "--resume", name, "--until", "0.65", "-o", "rest.h5", "--force", "--json")
                self.assertEqual(result.status, 0, result.err)
                hashes.append(result.json["state_hash"])
            self.assertEqual(*hashes)

            def bomb(file):
                del file["balls/gone"]
                file.create_dataset("balls/gone", data=np.zeros(1 << 26, np.uint8), chunks=(1 << 22,), compression="gzip")
            self.refuses(source, bomb, "packed more tightly than is read|an axis")

    def test_one_that_was_changed_is_damaged(self):
        for solver in ("spring", "events"):
            source = self.run_scene(solver)
            with h5py.File(self.folder / source) as file:
                places = []
                file.visititems(lambda name, item: places.append(name) if isinstance(item, h5py.Dataset) else None)
                attributes = [(name, key) for name in ("/", "tallies", "balls") for key in file[name].attrs]
            for name in places:
                def flip(file, name=name):
                    item = file[name]
                    if item.size == 0:
                        return
                    raw = bytearray(np.asarray(item[()]).tobytes())
                    raw[len(raw) // 2] ^= 1
                    item[...] = np.frombuffer(bytes(raw), item.dtype).reshape(item.shape)
                with h5py.File(self.folder / source) as file:
                    empty = file[name].size == 0
                if not empty:
                    self.refuses(source, flip, "is damaged", checksum=True)
            for name, key in attributes:
                if key in ("checksum", "format", "format_version"):
                    continue
                def change(file, name=name, key=key):
                    value = file[name].attrs[key]
                    file[name].attrs[key] = np.bytes_("x") if isinstance(value, (bytes, str)) else value + 1
                self.refuses(source, change, "is damaged", checksum=True)

    def test_one_of_an_earlier_version_is_read(self):
        for solver in ("spring", "events"):
            source = self.run_scene(solver)
            self.change(source, "old.h5", lambda file: None)
            self.assertEqual(self.resume("old.h5").status, 0)

    def test_balls_that_cannot_be(self):
        def put(name, value, index=3):
            def change(file):
                file[name][index] = value
            return change

        def drop(name):
            def change(file):
                del file[name]
                file[name] = np.zeros(0)
            return change

        for solver in ("spring", "events"):
            source = self.run_scene(solver)
            for axis in "xy":
                for value in (np.nan, np.inf, 1e6, -1e300):
                    self.refuses(source, put(f"balls/position/{axis}", value), "ball 3 is at|two places")
                for value in (np.nan, -np.inf):
                    self.refuses(source, put(f"balls/velocity/{axis}", value), "not a number")
                self.refuses(source, drop(f"balls/velocity/{axis}"), "an axis of its balls is missing")
            self.refuses(source, put("balls/spin/z", np.nan), "not a number")
            self.refuses(source, put("balls/gone", 7), "neither in nor gone")
            self.refuses(source, put("balls/species", 99), "unknown species")
            for column in ("radius", "mass", "radius_of_gyration"):
                for value in (np.nan, 0.0, -1.0):
                    self.refuses(source, put(f"balls/species_table/{column}", value, 0), "species")

            def meet(file):
                for axis in "xy":
                    file[f"balls/position/{axis}"][4] = file[f"balls/position/{axis}"][5] + 0.01
            self.refuses(source, meet, "balls 4 and 5 overlap")

            def walls(file):
                del file["tallies/wall_impulse"]
                file["tallies/wall_impulse"] = np.zeros(4096)
            self.refuses(source, walls, "more walls")

            def time(file):
                file.attrs["time"] = np.nan
            self.refuses(source, time, "its time is not a number")

    def test_what_has_no_sense(self):
        """Lengths, counts and numbers of what is not the balls."""
        def attribute(place, name, value):
            def change(file):
                file[place].attrs[name] = value
            return change

        def array(place, value):
            def change(file):
                del file[place]
                file[place] = value
            return change

        def record(name, values):
            def change(file):
                place = records(file)[name].name
                kept = file[place][...]
                del file[place]
                file[place] = values(kept)
            return change

        def put(place, value):
            def change(file):
                file[place][0] = value
            return change

        def renamed(name, to=b"unknown"):
            def change(file):
                names = file["extra/names"]
                names[...] = np.array([other.replace(name, to) for other in names[...]], names.dtype)
            return change

        def as_in_space(file):
            text = file["scene"][()]
            file["scene"][...] = np.bytes_(text.replace(b"dimension = 2", b"dimension = 3"))

        def balls_in_space(file):
            file["balls"].attrs["dimension"] = 3
            for kind, other in (("position", "x"), ("velocity", "x"), ("image", "x"), ("spin", "z")):
                group = file["balls"][kind]
                for axis in "xyz":
                    if len(group[axis]) == 0:
                        del group[axis]
                        group[axis] = np.zeros_like(group[other][...])

        for solver in ("spring", "events"):
            source = self.run_scene(solver)
            own = {"spring": "spring_design", "events": "events"}[solver]
            for change, says in [
                    (array("balls/position/x", np.zeros(3)), "has the wrong length"),
                    (array("balls/gone", np.zeros(3, "u1")), "has the wrong length"),
                    (attribute("balls", "dimension", 4), "dimension is neither 2 nor 3"),
                    (attribute("tallies", "balls_left", -1), "`balls_left` is below 0"),
                    (attribute("/", "step", -1), "`step` is below 0"),
                    (attribute("/", "format_version", 2), "of format version 2, newer than this program's 1"),
                    (attribute("tallies", "max_overlap", np.nan), "counted is not a number"),
                    (attribute("tallies", "max_overlap", np.inf), "counted is not a number"),
                    (attribute("tallies", "work", np.nan), "counted is not a number"),
                    (put("tallies/wall_impulse", np.nan), "counted is not a number"),
                    (record(own, lambda kept: kept[:-1]), f"`{own}` is too short"),
                    (as_in_space, "its scene is wrong")]:
                self.refuses(source, change, says)
        self.refuses(source, renamed(b"events_flow"), "`events_flow` is missing")
        self.refuses("spring.c.h5", renamed(b"spring_design", b""), "its records have no names")
        self.refuses(source, record("events", lambda kept: [*kept[:6], 0.5, *kept[7:]]),
                     "`events` has no count where one is expected")
        self.refuses("spring.c.h5", balls_in_space, "another dimension than its scene")
        self.refuses("spring.c.h5", attribute("/", "step", 7), "its time .* is not that of its step 7")

    def test_groups_in_themselves(self):
        source = self.run_scene("spring")

        def loop(file):
            file["balls/again"] = file["balls"]
        self.refuses(source, loop, "groups lie in groups without an end", checksum=True)

    def test_groups_that_many_links_lead_to(self):
        source = self.run_scene("spring")

        def many(file):  # 20^6 ways to the last of them
            group = file.create_group("of")
            for level in range(6):
                inner = file.create_group(f"inner{level}")
                for k in range(20):
                    group[str(k)] = inner
                group = inner
        self.refuses(source, many, "holds more than any file of carom", checksum=True)

    def test_records_of_events_that_cannot_be(self):
        def put(name, value, index=3):
            def change(file):
                records(file)[name][index] = value
            return change
        whole = [np.nan, -5.0, 1e9, 1e300, 2.5, np.inf]
        cases = {"events_event_partner": [*whole, -1.0, 3.0, 2.0**32 + 4, 2.0**32 + 5, 2.0**32 + 6, 2.0**33],
                 "events_contact_partner": [*whole, 3.0, 2.0**33],
                 "events_cell_x": [*whole, 65536.0],
                 "events_cell_y": whole,
                 "events_image_x": [np.nan, 1e300, 0.5],
                 "events_own_time": [np.nan, np.inf, 1e9],
                 "events_event_time": [np.nan, -1e3],
                 "events_contact_time": [np.nan, -1e3],
                 "events_position_x": [np.nan, 1e6, 0.123],
                 "events_velocity_y": [np.nan, np.inf, 77.0]}
        source = self.run_scene("events")
        for name, values in cases.items():
            for value in values:
                self.refuses(source, put(name, value), "ball 3")
        with h5py.File(self.folder / source) as file:
            numbers = len(records(file)["events"])
        for index in range(numbers):
            self.change(source, "bad.h5", put("events", np.nan, index))
            result = self.resume("bad.h5")
            self.assertIn(result.status, (0, 2), (index, result.err))  # sums may be anything
        for index in (0, 1, 2, 3, 4, 8, 9, 19, 20):  # clock, counts, cells
            self.refuses(source, put("events", np.nan, index), "clock|count|cells")
        for cells in (0.5, 1e9, 65535.0):
            self.refuses(source, put("events", cells, 19), "cells")

        def no_calendar(file):  # now, and its end
            put("events", 0.0, 2)(file)
            put("events", 0.0, 3)(file)
        self.refuses(source, no_calendar, "clock")

        def long_ago(file):
            put("events", 1e6, 3)(file)
            put("events_event_time", -0.9)(file)
        self.refuses(source, long_ago, "ball 3 has no usable event")

        def with_nobody(file):
            put("events_contact_partner", -1.0)(file)
            put("events_contact_time", records(file)["events"][2] + 0.01)(file)
        self.refuses(source, with_nobody, "ball 3 has no usable contact")

        def with_one_that_is_gone(file):
            file["balls/gone"][5] = 1
            for name in ("events_contact_partner", "events_event_partner"):
                put(name, 5.0)(file)
            put("events_contact_time", records(file)["events_event_time"][3])(file)
            put("events_contact_stale", 0.0)(file)
        self.refuses(source, with_one_that_is_gone, "partner: it is gone")
        self.refused("run", "--resume", "bad.h5", "--set", "physics.restitution=0.9", "-o", "rest.h5", "--force", "--quiet",
                     says="partner: it is gone", naming="bad.h5")

    def test_visits_of_a_thermostat_that_were_never_made_are_not_made_up_for(self):
        source = self.run_scene("events", MIXTURE % "events" + '[thermostat]\nkind = "andersen"\nrate = 40.0\ntemperature = 1.0\n')
        hashes = set()
        for visits in (None, 0.0, 1e9, 1e15):
            def change(file, visits=visits):
                if visits is not None:
                    records(file)["stage"][1] = visits
            self.change(source, "bad.h5", change)
            hashes.add(self.run_json("--resume", "bad.h5", "--until", "0.65", "-o", "rest.h5", "--force")["state_hash"])
        self.assertEqual(len(hashes), 1)

    def test_images_beyond_what_can_be_counted_end_the_run(self):
        self.write("i.toml", "scene = { dimension = 2 }\nbox = { size = [2.5, 2.5], boundary = ['periodic', 'periodic'] }\n"
                             "run = { solver = 'events', until = 10.0 }\n"
                             "[[ball]]\nradius = 0.5\nmass = 1.0\nposition = [1.0, 1.0]\nvelocity = [1.0, 0.0]\n")
        self.succeed("run", "i.toml", "--quiet", "-o", "i.h5", "--checkpoint", "i.c.h5")
        def change(file):
            file["balls/image/x"][0] = records(file)["events_image_x"][0] = 2**31 - 8
        self.change("i.c.h5", "e.h5", change)
        result = self.carom("run", "--resume", "e.h5", "--until", "60", "-o", "e2.h5", "--force", "--quiet")
        self.assertEqual(result.status, 3, result.err)
        self.assertIn("ball 0 has crossed a periodic face 2^31 times", result.err)

    def test_bubbles_that_cannot_be(self):
        source = self.run_scene("events", DENSE)
        with h5py.File(self.folder / source) as file:
            self.assertIn("events_bubble_x", records(file))
        for value in (np.nan, np.inf):
            def change(file, value=value):
                records(file)["events_bubble_x"][7] = value
            self.refuses(source, change, "ball 7 has no usable bubble")

    def test_springs_and_averages_that_cannot_be(self):
        source = self.run_scene("spring")
        for index in range(8):
            for value in (np.nan, -1.0, np.inf):
                def change(file, index=index, value=value):
                    records(file)["spring_design"][index] = value
                self.refuses(source, change, "springs|time")
        def still(file):
            records(file)["spring_design"][5] = 0.0
        self.refuses(source, still, "its time step is 0")
        for interval in (np.nan, -1.0, 1e-300):
            def rows(file, interval=interval):
                records(file)["average row means"][0] = interval
            self.refuses(source, rows, "its rows have an interval of")
        for name in ("average speed", "average velocity_correlation", "average row means"):
            with h5py.File(self.folder / source) as file:
                length = min(60, len(records(file)[name]))
            for index in range(length):
                # The first ones are counts, which the others are read by; of sums, one kind of wrong each will do.
                for value in [np.nan, 1e300, -1.0][slice(None) if index < 12 else slice(index % 3, index % 3 + 1)]:
                    def change(file, index=index, value=value, name=name):
                        records(file)[name][index] = value
                    self.change(source, "bad.h5", change)
                    result = self.resume("bad.h5")
                    self.assertIn(result.status, (0, 2), (name, index, value, result.err))
                    if result.status == 2:
                        self.assertIn("bad.h5", result.err)


    def test_averages_whose_samples_never_come_and_rows_of_fewer_walls(self):
        for solver in ("events", "spring"):
            source = self.run_scene(solver)
            for interval in (1e-30, 1e-300):
                def often(file, interval=interval):
                    records(file)["average speed"][0] = interval
                self.refuses(source, often, "the times of its samples make no sense")

            def without_walls(file):
                names = [name.decode() for name in file["extra/names"][()]]
                place = f"extra/{names.index('average row means')}"
                numbers = file[place][()]
                self.assertEqual(numbers[9], 6)  # impulses of walls
                del file[place]
                file[place] = np.concatenate([numbers[:9], [0.0], numbers[16:]])
            self.refuses(source, without_walls, "saved impulses are of fewer walls than a box has")

    def test_averages_without_a_record_whose_samples_never_come(self):
        source = self.run_scene("events")

        def often(file):
            names = file["extra/names"][()]
            names[list(names).index(b"average speed")] = b"average slow"
            file["extra/names"][...] = names
            attributes = dict(file["scene"].attrs)
            text = re.sub(rb"(kind = .speed.)", rb"\1\nevery = 1e-300", bytes(file["scene"][()]))
            del file["scene"]
            file["scene"] = np.bytes_(text)
            file["scene"].attrs.update(attributes)
        self.refuses(source, often, "the times of its samples make no sense")

    def test_looks_at_equilibrium_without_an_order(self):
        source = self.run_scene("events")
        for time in (np.nan, np.inf, 0.0):
            def change(file, time=time):
                names = [name.decode() for name in file["extra/names"][()]]
                place = f"extra/{names.index('average equilibrium watch')}"
                numbers = file[place][()]
                begin = 2 if np.signbit(numbers[0]) else 1
                look = np.concatenate([[time], np.ones(int(abs(numbers[begin - 1])))])
                del file[place]
                file[place] = np.concatenate([numbers[:begin], np.tile(look, 4300)])
            self.refuses(source, change, "saved looks are out of order")

    def test_what_takes_long_to_go_through_is_refused_before(self):
        source = self.run_scene("events")

        def many_attributes(file):
            for k in range(300):
                file["balls"].attrs[f"a{k}"] = k

        def many_links(file):
            group = file.create_group("many")
            for k in range(5000):
                group[f"g{k}"] = file["balls"]

        def many_texts(file):  # of any length, in an array: HDF5 says of these that they are texts
            text = h5py.h5t.C_S1.copy()
            text.set_size(h5py.h5t.VARIABLE)
            h5py.h5d.create(file.id, b"texts", h5py.h5t.array_create(text, (3,)), h5py.h5s.create_simple((1,)))

        def the_same_again(file):
            file["large"] = np.zeros(1 << 18)
            for k in range(3000):
                file[f"extra/same{k}"] = file["large"]
        for change, says in ((many_attributes, "more attributes than any"), (many_links, "holds more than any"),
                             (many_texts, "numbers or texts of fixed length"), (the_same_again, "lead to the same numbers")):
            # With a checksum, which is what goes through all of it.
            self.refuses(source, change, says, checksum=True)


class OtherFiles(HostileFileTest):
    """A file that says that parts of it lie elsewhere has none of that read."""

    def setUp(self):
        super().setUp()
        self.write("gas.toml", GAS)
        self.succeed("run", "gas.toml", "--quiet", "--until", "0.2")
        self.write("secret.txt", "SECRET" * 2000)
        with h5py.File(self.folder / "other.h5", "w") as file:
            file["text"] = np.bytes_("SECRET" * 10)
            file["numbers"] = np.arange(600.0).reshape(1, 200, 3)
        os.mkfifo(self.folder / "fifo")
        os.mkfifo(self.folder / "fifo.h5")

    def commands(self, name):
        return [["state", name], ["convert", name, "x.xyz", "--force"],
                ["plot", name, "energy", "-o", "x.svg", "--force"], ["report", name, "-o", "x.html", "--force"]]

    def check(self, change, commands=None):
        shutil.copy(self.folder / "gas.h5", self.folder / "bad.h5")
        with h5py.File(self.folder / "bad.h5", "r+") as file:
            change(file)
        refused = 0
        for arguments in commands or self.commands("bad.h5"):
            result = self.carom(*arguments)
            refused += result.status == 2
            self.assertIn(result.status, (0, 2), (arguments, result.err))
            self.assertNotIn("SECRET", result.out + result.err)
            for output in ("x.xyz", "x.svg", "x.html"):
                if (self.folder / output).exists():
                    self.assertNotIn("SECRET", (self.folder / output).read_text())
        self.assertGreater(refused, 0)

    def test_links_and_storage_elsewhere(self):
        targets = {"parameters/scene": "/text", "particles/all/position/value": "/numbers",
                   "parameters/species/name": "/text", "particles/all": "/numbers", "observables": "/numbers",
                   "parameters/summary": "/text"}
        for place, target in targets.items():
            for link in (h5py.ExternalLink("other.h5", target), h5py.ExternalLink("fifo.h5", target),
                         h5py.SoftLink("/parameters/nowhere")):
                def change(file, place=place, link=link):
                    del file[place]
                    file[place] = link
                self.check(change)
        for stored_in in ("secret.txt", "fifo"):
            def names(file, stored_in=stored_in):
                del file["parameters/species/name"]
                file.create_dataset("parameters/species/name", (1,), "S6", external=[(stored_in, 0, 6)])
            self.check(names)

            def numbers(file, stored_in=stored_in):
                del file["parameters/species_of_ball"]
                file.create_dataset("parameters/species_of_ball", (200,), "u4", external=[(stored_in, 0, 800)])
            self.check(numbers)

        def virtual(file):
            layout = h5py.VirtualLayout(shape=file["particles/all/position/value"].shape, dtype="f8")
            layout[0:1] = h5py.VirtualSource("other.h5", "numbers", shape=(1, 200, 3))
            del file["particles/all/position/value"]
            file.create_virtual_dataset("particles/all/position/value", layout)
        self.check(virtual)

    def test_texts_that_are_larger_than_their_file(self):
        shutil.copy(self.folder / "gas.h5", self.folder / "bad.h5")
        with h5py.File(self.folder / "bad.h5", "r+") as file:
            del file["parameters/scene"]
            kind = h5py.h5t.C_S1.copy()
            kind.set_size(0xf0000000)
            h5py.h5d.create(file["parameters"].id, b"scene", kind, h5py.h5s.create(h5py.h5s.SCALAR))
            file["parameters/scene"].attrs["path"] = np.bytes_("gas.toml")
        result = self.carom("state", "bad.h5",
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30)))
        self.assertEqual(result.status, 2)
        self.assertIn("holds less than its extent says", result.err)

    def test_a_scene_that_is_none_is_told_with_the_name_of_its_file(self):
        def change(file):
            text = file["parameters/scene"][()]
            file["parameters/scene"][...] = np.bytes_(text.replace(b"dimension = 2", b"dimension = 7"))
        self.change("gas.h5", "bad.h5", change)
        commands = [*self.commands("bad.h5")[2:], ["plot", "bad.h5", "balls", "-o", "x.png"], ["plot", "bad.h5", "density_map"]]
        if cached("CAROM_VIEWER") != "OFF":
            commands.append(["render", "bad.h5", "-o", "x.png", "--last"])
        for command in commands:
            self.refused(*command, says=r"\Acarom: bad\.h5: its gas\.toml:\d+:\d+: scene.dimension", naming="bad.h5")

    def test_averages_of_other_shapes(self):
        self.write("a.toml", GAS + AVERAGES)
        self.succeed("run", "a.toml", "--quiet", "-o", "gas.h5", "--force")
        with h5py.File(self.folder / "gas.h5") as file:
            places = [f"observables/{name}/{part}" for name in ("speed", "velocity_correlation")
                      for part in ("value", "error", "samples", "independent", "drift", "x")]
            frames = len(file[places[0]])
        for place in places:
            plot = ["plot", "bad.h5", place.split("/")[1], "--csv", "-o", "-"]
            for shape in ((frames, 0), (frames, 3), (0,), (frames, 1 << 40), (1 << 40, 2)):
                def change(file, place=place, shape=shape):
                    attributes = dict(file[place].attrs)
                    del file[place]
                    file.create_dataset(place, shape, "f8", chunks=tuple(min(64, extent) or 1 for extent in shape),
                                        maxshape=(None,) * len(shape))
                    file[place].attrs.update(attributes)
                self.check(change, [plot] if shape[0] != frames else [plot, self.commands("bad.h5")[3]])

        def all_alike(file, points=1 << 27):  # a GB that nobody has written
            for part in ("value", "error", "x"):
                place = f"observables/speed/{part}"
                attributes = dict(file[place].attrs)
                del file[place]
                file.create_dataset(place, (frames, points), "f8", chunks=(1, 64), maxshape=(None, None))
                file[place].attrs.update(attributes)
        self.change("gas.h5", "bad.h5", all_alike)
        self.refused("plot", "bad.h5", "speed", "-o", "x.svg", says="`observables/speed/value` holds less than its extent says",
                     naming="bad.h5")

    def test_averages_that_no_kind_of_them_has(self):
        named = ("density", "velocity_map", "msd")
        self.write("a.toml", GAS + "".join(f'[[observe]]\nname = "{kind}"\nkind = "{kind}"\n' for kind in named))
        self.succeed("run", "a.toml", "--quiet", "-o", "gas.h5", "--force")

        def replace(file, place, numbers, **others):
            attributes = dict(file[place].attrs) | others
            del file[place]
            file[place] = numbers
            file[place].attrs.update(attributes)

        def no_axis_of_the_box(file, axis="x"):
            file[f"observables/velocity_map/{axis}"].attrs["label"] = np.bytes_("A")

        def one_component(file):
            for part in ("value", "error"):
                place = f"observables/velocity_map/{part}"
                replace(file, place, file[place][:, :1], components=np.array([b"p"]))

        def one_lag(file):
            for part in ("x", "value", "error"):
                place = f"observables/msd/{part}"
                replace(file, place, file[place][:, 20:21])

        def two_components(file):
            for part in ("value", "error"):
                place = f"observables/density/{part}"
                replace(file, place, np.stack([file[place][()]] * 2, axis=1), components=np.array([b"p", b"q"]))

        def no_numbers(file):
            file["observables/density/x"][...] = np.nan

        def no_points(file):
            for part in ("x", "value", "error"):
                place = f"observables/density/{part}"
                replace(file, place, file[place][:, :0], **({"label": np.bytes_("")} if part == "x" else {}))
        for change, says in ((no_axis_of_the_box, "velocity_map` has the wrong shape"),
                             (no_points, "an axis of an average has the wrong shape"),
                             (lambda file: no_axis_of_the_box(file, "y"), "velocity_map` has the wrong shape"),
                             (one_component, "velocity_map` has the wrong shape"), (one_lag, "msd` has the wrong shape"),
                             (two_components, "density` has the wrong shape"), (no_numbers, "density` is not finite")):
            self.change("gas.h5", "bad.h5", change)
            for command in (["report", "bad.h5", "-o", "x.html"], ["plot", "bad.h5", "density", "-o", "x.svg"]):
                self.refused(*command, says=says, naming="bad.h5")

    def test_pressures_of_fewer_walls_than_the_box_has(self):
        self.succeed("run", "sound", "--quiet", "-o", "sound.h5", "--until", "0.4")
        with h5py.File(self.folder / "sound.h5", "r+") as file:
            place = "observables/wall_pressure/value"
            numbers, attributes = file[place][:, :1], dict(file[place].attrs)
            del file[place]
            file[place] = numbers
            file[place].attrs.update(attributes | {"components": np.array([b"x_min"])})
        self.succeed("report", "sound.h5", "-o", "x.html")

    def test_balls_of_another_dimension_than_their_scene(self):
        self.write("solid.toml", GAS.replace("dimension = 2", "dimension = 3").replace("size = [", "size = [9.0, ").replace("boundary = [", "boundary = [\"wall\", "))
        self.succeed("run", "solid.toml", "--quiet", "--until", "0.01")

        def change(file):
            with h5py.File(self.folder / "solid.h5") as other:
                text = other["parameters/scene"][()]
                attributes = dict(file["parameters/scene"].attrs)
            del file["parameters/scene"]
            file["parameters/scene"] = text
            file["parameters/scene"].attrs.update(attributes)
        self.change("gas.h5", "bad.h5", change)
        commands = [["report", "bad.h5", "-o", "x.html"], ["plot", "bad.h5", "density", "-o", "x.svg"]]
        if cached("CAROM_VIEWER") != "OFF":
            commands += [["render", "bad.h5", "-o", "x.png", "--last", "--color-by", "density"],
                         ["render", "bad.h5", "-o", "x.png", "--last", "--contacts"]]
        for command in commands:
            self.refused(*command, says="its balls have another dimension than its scene", naming="bad.h5")

    def test_identities_with_an_axis_too_many(self):
        def change(file):
            place = file["particles/all/id"]
            numbers, attributes = place["value"][()], dict(place["value"].attrs)
            del place["value"]
            place["value"] = np.stack([numbers] * 3, axis=2)
            place["value"].attrs.update(attributes)
        self.change("gas.h5", "bad.h5", change)
        self.refused("state", "bad.h5", says="`id` has the wrong shape", naming="bad.h5")

    def test_balls_and_times_beyond_all_pictures(self):
        for radius, says in ((np.nan, "a radius that is none"), (np.inf, "a radius that is none"), (-1.0, "a radius that is none"),
                             (1e300, "larger than the box"), (25.0, "larger than the box"), (20.0, "no room in the box")):
            def large(file, radius=radius):
                file["parameters/species/radius"][...] = radius
            self.change("gas.h5", "bad.h5", large)
            self.refused("plot", "bad.h5", "balls", "-o", "x.png", says=says, naming="bad.h5")

        def far(file):
            file["particles/all/position/value"][:, :, 0] = 1e300
        self.change("gas.h5", "bad.h5", far)
        self.succeed("plot", "bad.h5", "balls", "-o", "x.png")

        def wide(file):
            file["observables/temperature/value"][:2] = [-1e308, 1e308]
        self.change("gas.h5", "bad.h5", wide)
        self.refused("plot", "bad.h5", "temperature", "-o", "x.svg", says="numbers beyond what a figure can show", naming="bad.h5")
        self.succeed("report", "bad.h5", "-o", "x.html")
        if cached("CAROM_VIEWER") == "OFF":
            return

        def late(file):
            file["particles/all/position/time"][...] = 1e300
        self.change("gas.h5", "bad.h5", late)
        self.succeed("render", "bad.h5", "--every", "0.1", "-o", "frames/", "--size", "100x80")
        self.assertEqual(len(os.listdir(self.folder / "frames")), 1)
        ball = "[[ball]]\nposition = [{0}, {0}, {0}]\nvelocity = [0.0, 0.0, 0.0]\nradius = 1e-38\nmass = 1.0\n"
        self.write("tiny.toml", "[scene]\ndimension = 3\n[box]\nsize = [1e-36, 1e-36, 1e-36]\n[run]\nsolver = \"events\"\nuntil = 1.0\n"
                   + ball.format("2e-37") + ball.format("7e-37"))
        self.succeed("render", "tiny.toml", "--time", "0", "-o", "tiny.png", "--size", "100x80")

    def test_names_that_lead_elsewhere_command_a_terminal_or_are_there_twice(self):
        self.write("a.toml", GAS + AVERAGES)
        self.succeed("run", "a.toml", "--quiet", "-o", "gas.h5", "--force")
        os.mkdir(self.folder / "figures")
        before = self.files()
        for of in ("averages", "observables"):
            for name in ("../out", "/tmp/out", "..", ".", "", "a/b", "\x1b[2J", "a\nb", "\u009b", None):
                def change(file, of=of, name=name):
                    first, *rest = [other.decode() for other in file[f"parameters/{of}"][()]]
                    parts = file[f"observables/{first}"]
                    if name and name not in (".", ".."):
                        file["observables"].require_group(os.path.dirname(name) or "/observables")
                        if name not in file["observables"]:
                            file["observables"][name] = parts
                    names = np.array([text.encode() for text in ([name or "", *rest] if name is not None else [first, first, *rest])])
                    attributes = dict(file[f"parameters/{of}"].attrs)
                    del file[f"parameters/{of}"]
                    file[f"parameters/{of}"] = names
                    file[f"parameters/{of}"].attrs.update(attributes)
                self.change("gas.h5", "bad.h5", change)
                self.refused("plot", "bad.h5", "--all", "--csv", "-o", "figures/", "--force", naming="bad.h5",
                             says="is there twice" if name is None else "is no name of an observable")
                os.remove(self.folder / "bad.h5")
        self.assertEqual(self.files(), before)
        self.assertEqual(os.listdir(self.folder / "figures"), [])

    def test_numbers_that_are_packed_twice_or_in_pieces_that_take_all_memory(self):
        def large(file):  # 4 GB of zeros, of which two are used
            place = file["observables/temperature"]
            attributes = dict(place["value"].attrs)
            count = len(place["value"])
            del place["value"]
            place.create_dataset("value", (count,), "f8", chunks=(500_000_000,), maxshape=(None,), compression="gzip")
            place["value"].attrs.update(attributes)
        self.change("gas.h5", "bad.h5", large)
        self.refused("plot", "bad.h5", "temperature", "-o", "x.svg", says="packed in larger pieces", naming="bad.h5")

        def change(file):
            place = file["particles/all/velocity"]
            numbers, attributes = place["value"][()], dict(place["value"].attrs)
            del place["value"]
            how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            how.set_chunk(numbers.shape)
            how.set_deflate(9)
            how.set_deflate(9)
            space = h5py.h5s.create_simple(numbers.shape)
            h5py.h5d.create(place.id, b"value", h5py.h5t.py_create(numbers.dtype), space, how).write(
                h5py.h5s.ALL, h5py.h5s.ALL, numbers)
            place["value"].attrs.update(attributes)
        self.change("gas.h5", "bad.h5", change)
        self.refused("state", "bad.h5", says="packed in a way that is not read", naming="bad.h5")

    def test_packed_pieces_that_come_to_something_else_than_they_say(self):
        def packed(data, **how):
            def change(file):
                place = file["particles/all/position"]
                shape = place["value"].shape
                del place["value"]
                # Of numbers that are far behind what is there, HDF5 would read beyond its own memory.
                place.create_dataset("value", shape, "f8", chunks=(10_000 if len(data) < 100 else 1, *shape[1:]),
                                     maxshape=(None, *shape[1:]), **how)
                place["value"].id.write_direct_chunk((0, 0, 0), data, 0)
            return change
        zeros = zlib.compressobj(9)
        bomb = b"".join(zeros.compress(bytes(1 << 20)) for _ in range(300)) + zeros.flush()
        for change in (packed(bomb, compression=1), packed(zlib.compress(bytes(8)), compression=1),
                       packed(b"no stream", compression=1), packed(bytes(8), shuffle=True), packed(bytes(8), fletcher32=True)):
            self.change("gas.h5", "bad.h5", change)
            self.refused("state", "bad.h5", "--frame", "0", says="a packed piece (does not come to|is larger than)",
                         naming="bad.h5")
        self.change("gas.h5", "bad.h5", packed(bytes(8), scaleoffset=3))
        self.refused("state", "bad.h5", "--frame", "0", says="packed in a way that is not read", naming="bad.h5")

    def test_many_names_that_lead_to_the_same_numbers(self):
        def change(file):
            large = file.create_group("observables/large")
            large["value"] = np.zeros(1 << 17)
            large["value"].attrs["label"] = np.bytes_("x")
            large["time"], large["step"] = np.arange(float(1 << 17)), np.arange(1 << 17)
            names = [f"o{k}" for k in range(2000)]  # 2 GB
            for name in names:
                file["observables"][name] = large
            del file["parameters/observables"]
            file["parameters/observables"] = np.array(names, "S")
        self.change("gas.h5", "bad.h5", change)
        self.refused("plot", "bad.h5", "temperature", "-o", "x.svg", says="lead to the same numbers", naming="bad.h5")

    def test_numbers_in_pieces_of_one(self):
        def change(file):
            place = file["observables/temperature"]
            attributes = dict(place["value"].attrs)
            del place["value"]
            place.create_dataset("value", data=np.ones(20000), chunks=(1,), maxshape=(None,))
            place["value"].attrs.update(attributes)
        self.change("gas.h5", "bad.h5", change)
        self.refused("plot", "bad.h5", "temperature", "-o", "x.svg", says="lie in more pieces than any do", naming="bad.h5")

    def test_times_boxes_and_fields_that_are_not_there(self):
        def time(file):
            file["particles/all/id/time"][0] = np.nan

        def rows(file):
            file["observables/temperature/time"][1] = np.inf

        def box(value):
            def change(file):
                file["parameters/box"].attrs["size"] = np.array([value, 9.0, 9.0])
            return change

        def without(field):
            def change(file):
                del file[f"particles/all/{field}"]
            return change
        def falling(file):
            file["particles/all/id/time"][...] = -file["particles/all/id/time"][()]
        for change, says in ((time, "the time of a frame is no number"), (falling, "the times of its frames do not rise from 0 on"), (rows, "the time of a row is no number"),
                             *((box(value), "`box` has no usable size") for value in (np.nan, np.inf, 0.0, -9.0, 1e200)),
                             *((without(field), f"`{field}` is missing")
                               for field in ("position", "velocity", "spin", "image", "species"))):
            self.change("gas.h5", "bad.h5", change)
            self.refused("plot", "bad.h5", "temperature", "-o", "x.svg", "--force", says=says, naming="bad.h5")

    def test_extents_whose_product_is_beyond_64_bits(self):
        for place, kind in (("particles/all/id/time", "f8"), ("parameters/solver/parameter_values", "f8"),
                            ("parameters/species_of_ball", "u4")):
            def change(file, place=place, kind=kind):
                attributes = dict(file[place].attrs)
                del file[place]
                file.create_dataset(place, (1 << 32, 1 << 32), kind, chunks=(1, 16), maxshape=(None, None))
                file[place].attrs.update(attributes)
            self.change("gas.h5", "bad.h5", change)
            self.refused("state", "bad.h5", says="extents are larger than any file", naming="bad.h5")

    def test_parts_that_cannot_be_joined_leave_what_was_there(self):
        self.succeed("run", "--resume", "gas.checkpoint.h5", "--until", "0.3", "-o", "rest.h5", "--quiet")

        def cut(file):
            del file["parameters/summary"]

        self.change("rest.h5", "bad.h5", cut)
        self.write("older.h5", "mine")
        for output in (["new.h5"], ["older.h5", "--force"]):
            self.refused("convert", "gas.h5", *output, "--join", "bad.h5", says="summary` is missing", naming="bad.h5")
        self.assertEqual((self.folder / "older.h5").read_text(), "mine")
        self.assertFalse([name for name in self.files() if name.startswith("new.h5") or name.endswith("partial")])
        self.succeed("convert", "gas.h5", "older.h5", "--join", "rest.h5", "--force", "--quiet")
        self.succeed("plot", "older.h5", "energy", "-o", "x.svg")

    def test_a_summary_of_other_kinds(self):
        for means in ('{"values":{"a":{}}}', '{"values":{"a":3}}', '{"values":[1]}', "[]", "{}", '{"reason":1}', '{"since":"x"}',
                      '{"equilibrated":true,"since":[]}', "null", "7"):
            def change(file, means=means):
                del file["parameters/summary"]
                file["parameters/summary"] = np.bytes_('{"means":' + means + ',"warnings":3}')
            self.change("gas.h5", "bad.h5", change)
            for command in (["report", "bad.h5", "-o", "x.html", "--force"], ["plot", "bad.h5", "pressure", "--csv", "-o", "-"]):
                result = self.carom(*command)
                self.assertEqual(result.status, 0, (means, command, result.err))

    def test_a_summary_of_many_layers(self):
        def change(file):
            del file["parameters/summary"]
            file["parameters/summary"] = np.bytes_('{"a":' * 2000000 + "1" + "}" * 2000000)
        self.check(change)


class TextsWithoutAnEnd(HostileFileTest):
    def test_a_sweep_reads_its_scene_from_a_regular_file_only(self):
        os.mkfifo(self.folder / "pipe.toml")
        for scene in ("/dev/zero", "/dev/stdin", "pipe.toml", str(self.folder / "pipe.toml")):
            self.write("s.sweep.toml", f'[sweep]\nscene = "{scene}"\nrecord = ["temperature"]\n'
                                       '[[axis]]\nkey = "scene.seed"\nname = "seed"\nvalues = [1]\n')
            self.refused("sweep", "s.sweep.toml", "--quiet", says="scene: .*: is not a regular file", naming="s.sweep.toml")

    @unittest.skipIf(cached("CAROM_VIEWER") == "OFF", "draws no pictures")
    def test_a_scene_that_never_comes_is_waited_for_until_a_signal(self):
        os.mkfifo(self.folder / "pipe.toml")
        process = self.start("render", "pipe.toml", "-o", "x.png", "--time", "0")
        self.addCleanup(process.kill)
        time.sleep(0.5)
        process.terminate()
        self.assertEqual((process.communicate(timeout=10)[1].count("\n"), process.returncode), (1, 143))

    def test_a_device_that_has_none_is_given_up(self):
        for command in (["check", "/dev/zero"], ["plot", "/dev/zero", "energy"]):
            self.refused(*command, says="larger than any text|not", naming="/dev/zero")


class Sizes(ProgramTest):
    SCENE = """
[scene]
dimension = 2

[box]
size = [%s]

[run]
until = 0.1
%s
"""

    def check_scene(self, text, **options):
        self.write("s.toml", text)
        return self.carom("check", "s.toml", **options)

    def test_keys_of_many_parts(self):
        plain = self.SCENE % ("9.0, 9.0", "")
        for key in (".".join(["a"] * 200000), "x." + ".".join(['"a b"'] * 100000), "a" + " . a" * 100000):
            for line in (key + " = 1", "[" + key + "]"):
                result = self.check_scene(plain + line + "\n")
                self.assertEqual(result.status, 2)
                self.assertRegex(result.err[:200], r"\Acarom: s\.toml:11:\d+: a key of more than 32 parts\n\Z")
        for quotes in ('"""', "'''"):  # of those at the end one or two belong to the text
            for more in (0, 1, 2):
                text = f"t = {{a = {quotes}x{quotes}{quotes[:more]}, " + ".".join(["b"] * 120000) + " = 1}"
                result = self.check_scene(plain + text + "\n")
                self.assertEqual(result.status, 2)
                self.assertRegex(result.err[:200], r"\Acarom: s\.toml:11:\d+: a key of more than 32 parts\n\Z")
        self.check_scene(plain)
        self.assertEqual(self.carom("check", "s.toml", "--set", ".".join(["a"] * 20000) + "=1").status, 2)
        self.assertEqual(self.carom("check", "s.toml", "--set", "a={" + ".".join(["a"] * 20000) + "=1}").status, 2)
        # Points elsewhere are none of a key's.
        points = '[scene]\ntitle = "' + "." * 99 + '"  #' + "." * 99
        self.assertEqual(self.check_scene(plain.replace("[scene]", points)).status, 0)

    def test_narrow_boxes_take_no_memory(self):
        fill = "solver = 'events'\n[[fill]]\ncount = 10\nradius = 0.1\nmass = 1.0\ntemperature = 1.0\n"
        result = self.check_scene(self.SCENE % ("1e15, 1.0", fill),
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (400 << 20,) * 2))
        self.assertEqual(result.status, 0, result.err)

    def test_many_entries_are_refused(self):
        fill = "[[fill]]\ncount = 1\nradius = 0.5\nmass = 1.0\n"
        self.assertRegex(self.check_scene(self.SCENE % ("900.0, 900.0", fill * 20000)).err,
                         r"s\.toml:10:\d+: fill: 20000 entries; allowed: at most 4096")

    def within(self, megabytes, *arguments, status):
        """Not much memory, and not long."""
        begin = time.monotonic()
        # The sanitizers' shadow has no room below such a limit.
        limit = {} if cached("CAROM_SANITIZE") else {
            "preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20,) * 2)}
        result = self.carom(*arguments, **limit)
        self.assertEqual(result.status, status, result.err[-300:])
        self.assertLess(time.monotonic() - begin, 30.0)
        return result.err

    def test_sizes_of_many_fills_are_drawn_in_the_time_of_one(self):
        fill = """[[fill]]
radius = 1e-4
mass = 1.0
packing_fraction = 3e-7
sizes = { kind = "normal", spread = 0.1 }
"""
        begin = time.monotonic()
        result = self.check_scene(self.SCENE % ("900.0, 900.0", fill * 600))  # 7.7 million balls each
        self.assertRegex(result.err, r"fill\[5\d\d\]\.packing_fraction: gives more balls than there are ids")
        self.assertLess(time.monotonic() - begin, 30.0)

    def test_ranges_of_millions_of_values_keep_their_numbers_alone(self):
        self.write("r.sweep.toml", '[sweep]\nscene = "two_balls.toml"\nrecord = ["temperature"]\n[[axis]]\n'
                   'key = "run.until"\nvalues = { from = 0.0, to = 0.4, step = 1e-7 }\n')
        self.within(400, "sweep", "r.sweep.toml", "--shard", "3/4000000", "--quiet", status=0)
        self.assertIn("\n2e-07,", (self.folder / "r.csv").read_text())

    def test_balls_that_are_too_small_for_any_grid(self):
        ball = "[[ball]]\nradius = 5e-324\nmass = 1.0\nposition = [%s, 4.0]\n"
        for solver in ("spring", "events"):
            for count in (1, 3):
                balls = "".join(ball % (1.5 + k) for k in range(count))
                begin = time.monotonic()
                result = self.check_scene(self.SCENE % ("9.0, 9.0", f'solver = "{solver}"\n{balls}'))
                self.assertIn(result.status, (0, 2), result.err)
                self.assertLess(time.monotonic() - begin, 20.0)

    def test_fills_of_more_balls_than_there_are_ids_are_refused_before_sizes_are_drawn(self):
        fill = """[[fill]]
radius = 1e-5
mass = 1.0
packing_fraction = 0.045
sizes = { kind = "normal", spread = 1.0, min = 1.0, max = 1.1 }
"""
        text = (self.SCENE % ("900.0, 900.0, 900.0", fill)).replace("dimension = 2", "dimension = 3")
        begin = time.monotonic()
        result = self.check_scene(text)
        self.assertEqual(result.status, 2)
        self.assertRegex(result.err, r"s\.toml:13:\d+: fill\[0\]\.packing_fraction: gives .* balls, more than there are ids")
        self.assertLess(time.monotonic() - begin, 5.0)

    def test_axes_that_make_too_many_runs_are_refused_before_the_last(self):
        self.write("s.toml", self.SCENE % ("9.0, 9.0", ""))
        axis = '[[axis]]\nkey = "k%d.a"\nvalues = { from = 0, to = 999998, step = 1 }\n'
        self.write("s.sweep.toml", '[sweep]\nscene = "s.toml"\nrecord = ["temperature"]\n' + "".join(axis % k for k in range(30)))
        self.assertIn("1e+12 runs are too many", self.within(1500, "sweep", "s.sweep.toml", status=2))

    def test_long_names_are_compared_with_no_others(self):
        species = f'[[species]]\nname = "{"a" * 10000}"\nradius = 0.01\nmass = 1.0\n[[load]]\nfile = "b.csv"\n'
        self.write("s.toml", self.SCENE % ("9.0, 9.0", species))
        for length in (60000, 10001):
            self.write("b.csv", f"x,y,species\n1,1,{'a' * length}\n")
            self.within(600, "check", "s.toml", status=2)

    def test_a_table_of_more_cells_than_any_figure_has(self):
        self.write("t.csv", "a,b,value\n" + "".join(f"{row // 2},{row},1\n" for row in range(20000)))
        self.assertIn("no figure has 200000000 cells", self.within(1500, "plot", "t.csv", "value", "-o", "x.svg", status=2))

    def test_what_was_loaded_is_written_anew_in_a_moment(self):
        self.write("b.csv", "x,y\n1,1\n")
        self.write("s.toml", self.SCENE % ("9.0, 9.0", '[[load]]\nfile = "b.csv"\nradius = 0.1\nmass = 1.0\n' + "# loaded: \n" * 1000000))
        self.within(2000, "check", "s.toml", status=0)

    def test_a_packing_that_nothing_reaches_is_refused_at_once(self):
        fills = "".join(f"[[fill]]\npacking_fraction = 0.47\nradius = {r}\nmass = 1.0\n" for r in (0.5, 0.05))
        begin = time.monotonic()
        result = self.check_scene(self.SCENE % ("100.0, 100.0", fills))
        self.assertEqual(result.status, 2)
        self.assertRegex(result.err, r"s\.toml:15:\d+: fill\[1\]\.packing_fraction.* would fill 0\.94 of their region")
        self.assertLess(time.monotonic() - begin, 20.0)


if __name__ == "__main__":
    unittest.main()
