"""Scenes made at random over all keys of the reference, most of them valid, run by both solvers for a moment: no crash and no
hang, balls, momentum and energy balance, and what is refused is refused by file, line, column and key.

A fixed number of them with fixed seeds; CAROM_GENERATED_SECONDS=3600 goes on for that long, with further seeds. A scene that
failed is made again by CAROM_GENERATED_SEED=N.
"""

import json
import math
import os
import random
import re
import signal
import subprocess
import time
import unittest

from program import PROGRAM, ProgramTest, keys_of_reference

SCENES = 40
SECONDS = float(os.environ.get("CAROM_GENERATED_SECONDS", 0))
ONLY = os.environ.get("CAROM_GENERATED_SEED")

# What nobody expects, in the place of any value.
WILD = ["nan", "inf", "-inf", "-1.0", "0.0", "1e300", "1e-310", "9.2e18", "\"a\"", "true", "[]", "[1.0]", "{}", "3", "0.1"]
PLACED = re.compile(r"carom: (g\.toml:\d+:\d+: [a-z]+(\[\d+\])?(\.[a-z_]+)*(\[\d+\])*|g\.csv:\d+(:\d+)?): .")

# Of the energy at the start, or of what went in and out. Contacts of events are exact. Springs follow at their step, of which a
# collision is 50 or more, so that the energy within one is off by (pi / 50)^2, and more with large overlaps; a scene's own
# step may leave 10 of them.
EVENTS_BALANCE = 1e-9
SPRING_BALANCE = 0.02
OWN_STEP_BALANCE = 0.2


def text_of(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(map(text_of, value)) + "]"
    if isinstance(value, float):
        return "inf" if math.isinf(value) else repr(value)
    return json.dumps(value) if isinstance(value, str) else str(value)


class Maker:
    """One scene: tables in the order of the file, each a name and keys with values."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.tables = []
        self.used = set()
        self.dimension = self.draw.choice([2, 2, 3])
        self.axes = range(self.dimension)
        self.placed = []  # balls: position and radius
        self.file = "x,y,z\n"  # that [[load]] reads
        self.make()

    def maybe(self, share=0.3):
        return self.draw.random() < share

    def number(self, low, high):
        return round(self.draw.uniform(low, high), 3)

    def table(self, name, /, **keys):
        """A key of a table inside another is written with __."""
        keys = {key.replace("__", "."): value for key, value in keys.items() if value is not None}
        self.tables.append((name, keys))
        self.used |= {f"{name}.{key}" for key in keys}

    def vector(self, low, high):
        return [self.number(low, high) for _ in self.axes]

    def make(self):
        draw = self.draw
        self.table("scene", title="any \"one\"" if self.maybe() else None, dimension=self.dimension,
                   history="of another" if self.maybe(0.1) else None, seed=draw.randrange(2**40) if self.maybe() else None)
        self.low = self.vector(-20, 20) if self.maybe() else [0.0] * self.dimension
        self.size = self.vector(6, 12)
        faces = []
        free = self.maybe(0.2)  # nothing but the balls
        for _ in self.axes:
            kind = draw.choice(["periodic", "wall", "wall", "open", "pair"])
            faces.append("periodic" if free else [draw.choice(["wall", "open"]) for _ in range(2)] if kind == "pair" else kind)
        hot = [[self.number(0.5, 2) if self.maybe() and side == "wall" else 0.0 for side in
                (face if isinstance(face, list) else [face] * 2)] for face in faces]
        self.table("box", min=self.low if any(self.low) else None, size=self.size, boundary=faces if free or self.maybe(0.8) else None,
                   wall_temperature=hot if self.maybe() and not free else None)
        boxed = self.tables[-1][1]
        if "boundary" not in boxed:
            faces = ["wall"] * self.dimension
            if "wall_temperature" in boxed:
                boxed["wall_temperature"] = [self.number(0, 2) for _ in self.axes]
        self.periodic = [face == "periodic" for face in faces]
        gravity = [0.0 if periodic else self.number(-2, 2) for periodic in self.periodic]
        self.falls = self.maybe(0.4) and any(gravity)
        lossy = self.maybe(0.5)
        friction = self.number(0, 0.8) if self.maybe(0.2) else None
        self.table("physics", gravity=gravity if self.falls else None, restitution=self.number(0.3, 1) if lossy else None,
                   friction=friction, wall_restitution=self.number(0.3, 1) if lossy and self.maybe() else None,
                   wall_friction=self.number(0, 0.5) if friction and self.maybe() else None,
                   simultaneous="sequential" if friction else draw.choice(["reflect", "sequential", "newton"])
                   if self.maybe() else None)
        self.table("spring", law=draw.choice(["linear", "hertz"]) if self.maybe() else None,
                   integrator=draw.choice(["verlet", "symplectic_euler"]) if self.maybe(0.2) else None,
                   distance_epsilon=1e-9 if self.maybe(0.1) else None,
                   max_overlap=self.number(0.005, 0.05) if self.maybe() else None,
                   stiffness=draw.choice(["auto", 2e4]) if self.maybe() else None,
                   wall_stiffness=3e4 if self.maybe(0.2) else None,
                   dt=draw.choice(["auto", 5e-4]) if self.maybe(0.2) else None,
                   damping=draw.choice(["auto", self.number(0, 1)]) if self.maybe(0.2) else None)
        self.table("events", tc=1e-3 if lossy else None, cutoff_speed=1e-2 if lossy and self.maybe() else None)
        self.until = self.number(0.05, 0.4)
        self.table("run", solver=draw.choice(["spring", "events"]) if self.maybe() else None, backend="cpu",
                   precision=draw.choice(["single", "double"]) if self.maybe() else None, until=self.until)
        self.table("output", every=draw.choice([0.0, self.until / 3]) if self.maybe(0.5) else None,
                   fields=["position", "velocity", "spin", "species"] if self.maybe(0.2) else None,
                   observables_every=draw.choice([0.0, self.until / 20]) if self.maybe(0.5) else None)
        if self.maybe():
            self.table("units", system=draw.choice(["si", "reduced"]), **(
                dict(length="um", mass="fg", time="ms", energy="kT") if self.maybe() else {}))
            if self.tables[-1][1]["system"] == "reduced":
                self.tables[-1] = ("units", {"system": "reduced"})
        self.wall_count = 0
        self.solid = []  # spheres and cylinders that balls are kept out of
        if not free:
            self.baths()
            self.walls()
        self.balls()
        self.observables()
        if not free:
            self.stages()
        self.look()

    def look(self):
        if not self.maybe(0.3):
            return
        spatial = self.dimension == 3
        color = lambda: self.draw.choice(["#102030", "#FAFAFA"]) if self.maybe() else None
        self.table("look", background=color(), floor=color(), walls=color(), colors="#FAFAFA #F9A825" if self.maybe() else None,
                   cushion=None if spatial else self.number(0, 1), numbers_from=self.draw.choice([0, 3]) if self.maybe() else None,
                   pattern=self.draw.choice(["auto", "none", "stripe"]),
                   select="vx < 1 and id > 0" if self.maybe() else None, copies=self.draw.choice([0, 2]) if self.maybe() else None,
                   glow=True if self.maybe() else None, camera="zoom=2" if self.maybe() else None,
                   color_by=self.draw.choice(["speed", "species", "id"]) if self.maybe() else None,
                   colormap="ember" if self.maybe() else None, range="0:5" if self.maybe() else None,
                   clip="0:1:0:20" if spatial and self.maybe() else None, light=self.maybe(), shadows=self.maybe() if spatial else None)

    def thermostat(self):
        kind = self.draw.choice(["none", "andersen", "rescale"])
        return dict(kind=kind, temperature=None if kind == "none" else self.number(0.5, 2),
                    rate=self.number(0.5, 5) if kind == "andersen" else None,
                    every=self.number(0.02, 0.1) if kind == "rescale" else None)

    def baths(self):
        if self.maybe(0.2):
            self.table("thermostat", **self.thermostat())

    def walls(self):
        if not self.maybe(0.4):
            return
        for _ in range(self.draw.choice([1, 1, 2])):
            hot = self.number(0, 2) if self.maybe(0.2) else None
            middle = [low + size * self.number(0.4, 0.6) for low, size in zip(self.low, self.size)]
            shape = self.draw.choice(["plane", "sphere"] + ["cylinder"] * (self.dimension == 3))
            bounded = [axis for axis in self.axes if not self.periodic[axis]]
            if shape == "plane" and bounded:
                axis = self.draw.choice(bounded)
                self.table("wall", shape="plane", normal=[float(k == axis) for k in self.axes],
                           offset=round(self.low[axis] + 0.3, 3), temperature=hot,
                           velocity=self.number(-0.2, 0.2) if self.maybe() else None)
            elif shape == "cylinder":
                radius = 0.8
                axis = self.draw.choice(list(self.axes))
                self.table("wall", shape="cylinder", center=middle, radius=radius, temperature=hot, side="outside",
                           axis=[float(k == axis) for k in self.axes])
                self.solid.append((middle, radius, axis))
            else:
                outside = self.maybe(0.7)
                radius = 0.9 if outside else 4 * max(self.size)
                self.table("wall", shape="sphere", center=middle, radius=radius, temperature=hot,
                           side="outside" if outside else None if self.maybe() else "inside")
                if outside:
                    self.solid.append((middle, radius, None))
            self.wall_count += 1

    def room(self, radius):
        """A place for a ball that overlaps nothing; none after some tries."""
        for _ in range(200):
            place = [round(self.draw.uniform(low + radius + 0.6, low + size - radius - 0.6), 3)
                     for low, size in zip(self.low, self.size)]
            free = all(math.dist(place, other) > radius + other_radius for other, other_radius in self.placed)
            for center, solid, axis in self.solid:
                across = [k for k in self.axes if k != axis]
                free = free and math.dist([place[k] for k in across], [center[k] for k in across]) > radius + solid
            if free:
                self.placed.append((place, radius + 0.02))
                return place
        return None

    def kind(self, heavy):
        """The keys of a species, or those that stand for one."""
        radius = self.number(0.15, 0.4)
        return dict(radius=radius, mass=math.inf if heavy else self.number(0.3, 5),
                    radius_of_gyration=round(radius * 0.6, 4) if self.maybe(0.2) else None,
                    color="#12AB90" if self.maybe(0.2) else None)

    def sizes(self):
        """Radii that differ from ball to ball, of a species or fill."""
        if self.maybe(0.7):
            return {}
        kind = self.draw.choice(["normal", "lognormal", "uniform", "table"])
        keys = dict(kind=kind, mass=self.draw.choice(["volume", "equal"]) if self.maybe() else None)
        if kind == "table":
            keys |= dict(values=[0.8, 1.0, 1.3], weights=[1.0, 2.0, 0.5] if self.maybe() else None)
        else:
            ends = kind == "uniform" or self.maybe()
            keys |= dict(spread=None if kind == "uniform" else self.number(0.05, 0.2), min=0.7 if ends else None,
                         max=1.3 if ends else None)
        return {f"sizes__{key}": value for key, value in keys.items() if value is not None}

    def balls(self):
        draw = self.draw
        species = []
        for k in range(draw.choice([0, 1, 2, 3])):
            keys = self.kind(heavy=self.maybe(0.1)) | self.sizes()
            species.append((f"kind {k}", keys))
            self.table("species", name=f"kind {k}", **keys)
        self.species = species

        def chosen(alike):
            among = [one for one in species if not (alike and "sizes__kind" in one[1])]
            if among and self.maybe(0.6):
                name, keys = draw.choice(among)
                return keys, dict(species=name)
            keys = self.kind(heavy=self.maybe(0.05)) | ({} if alike else self.sizes())
            return keys, keys

        for _ in range(draw.choice([0, 1, 2, 4])):
            keys, given = chosen(alike=True)
            place = self.room(keys["radius"])
            if place is None:
                continue
            motion = {}
            if self.maybe(0.5):
                motion = dict(velocity=self.vector(-2, 2))
            elif self.maybe(0.5):
                motion = dict(speed=self.number(0, 2), **(dict(angle=self.number(-180, 180)) if self.dimension == 2 and
                              self.maybe() else dict(direction=self.vector(0.1, 1))))
            spin = None
            if self.maybe(0.2):
                spin = self.number(-3, 3) if self.dimension == 2 else self.vector(-3, 3)
            self.table("ball", **given, position=place, **motion, spin=spin)
        self.load(*chosen(alike=True))
        for _ in range(draw.choice([0, 1, 1, 2])):
            keys, given = chosen(alike=False)
            heavy = math.isinf(keys["mass"])
            heat = {} if heavy else draw.choice([{}, dict(temperature=self.number(0.2, 2)), dict(speed=self.number(0, 2))])
            region = {}
            if self.maybe(0.3):
                region = dict(region__min=[round(low + 0.5, 3) for low in self.low],
                              region__max=[round(low + size - 0.5, 3) for low, size in zip(self.low, self.size)])
            arrangement = draw.choice(["random", "lattice"]) if self.maybe() else None
            alike = "sizes__kind" not in keys
            if self.falls and "temperature" in heat and not region and alike and self.maybe(0.2):
                arrangement = "atmosphere"
            rest = self.maybe() if heat and self.maybe() else None
            if "speed" in heat and not alike and keys.get("sizes__mass") != "equal":
                rest = False
            count = draw.choice([2, 7, 30]) if self.maybe(0.7) else None
            self.table("fill", **given, count=count, packing_fraction=self.number(0.01, 0.08) if count is None else None,
                       **region, arrangement=arrangement, **heat, zero_momentum=rest)

    def load(self, keys, given):
        """Balls of a file, whose columns may have other names; a species is named by the scene or by the file."""
        rows = [place for place in (self.room(keys["radius"]) for _ in range(self.draw.choice([0, 0, 1, 5]))) if place]
        if not rows:
            return
        spins = ["spin"] if self.dimension == 2 else ["wx", "wy", "wz"]
        columns = {name: [row[axis] for row in rows] for axis, name in zip(self.axes, "xyz")}
        for name in [*("vx", "vy", "vz")[:self.dimension], *spins]:
            columns[name] = [self.number(-2, 2) for _ in rows]
        named = "species" in given
        by_file = self.maybe(0.5)
        if by_file or not named:
            columns["radius"], columns["mass"] = [keys["radius"]] * len(rows), [keys["mass"]] * len(rows)
        if named and by_file:
            columns["species"] = [given["species"]] * len(rows)
        timed = self.maybe()
        if timed:
            columns["time"] = [1.0] * len(rows)
        names = {name: f"my {name}" if self.maybe(0.2) else name for name in columns}
        own = not named and self.maybe()  # of all balls
        if own:
            del columns["radius"], columns["mass"], names["radius"], names["mass"]
        self.file = ",".join(names.values()) + "\n" + "".join(
            ",".join(str(values[k]) for values in columns.values()) + "\n" for k in range(len(rows)))
        self.table("load", file="g.csv", format="csv" if self.maybe() else None, time=self.number(0, 2) if timed and self.maybe() else None,
                   species=given["species"] if named and not by_file else None, radius=keys["radius"] if own else None,
                   mass=keys["mass"] if own else None, **{f"columns__{key}": name for key, name in names.items() if key != name})

    # Keys that a kind takes beside those that all take.
    OBSERVED = {"displaced": ["threshold"], "displaced_each": ["threshold"], "speed": ["bins", "max"], "velocity": ["bins"],
                "density": ["bins", "axis"], "temperature_profile": ["bins", "axis"], "velocity_profile": ["bins", "axis"],
                "density_map": ["bins", "axis"], "temperature_map": ["bins"], "velocity_map": ["bins"],
                "gr": ["bins", "max", "with"], "msd": [], "self_diffusion": [], "vacf": [], "temperature": ["region"],
                "kurtosis": [], "stress": [], "kinetic_stress": [], "collisional_stress": [], "pressure": [],
                "compressibility": [], "free_path": ["bins"], "mean_free_path": [], "collision_rate": []}

    def observables(self):
        names = [name for name, keys in self.species if not math.isinf(keys["mass"])]
        for k in range(self.draw.choice([0, 0, 1, 2, 4])):
            kind = self.draw.choice(sorted(self.OBSERVED))
            keys = {}
            for key in self.OBSERVED[kind]:
                if self.maybe(0.5):
                    keys |= {"threshold": dict(threshold=0.1), "bins": dict(bins=self.draw.choice([8, 16])),
                             "max": dict(max=1.5), "axis": dict(axis="y"), "with": dict(),
                             "region": dict(region__min=[low + 1.0 for low in self.low],
                                            region__max=[low + 4.0 for low in self.low])}[key]
                    if key == "axis" and kind.endswith("_map") and self.dimension == 2:
                        keys.pop("axis")
            average = not kind.startswith("displaced")
            partial = kind not in ("collisional_stress", "stress", "pressure", "compressibility")
            only = self.draw.choice(names) if names and partial and self.maybe() else None
            if kind == "gr" and names and self.maybe(0.5):
                keys["with"] = self.draw.choice(names)
            self.table("observe", name=f"seen-{k}", kind=kind, species=only,
                       every=round(self.until / 20, 4) if average and self.maybe(0.5) else None, **keys,
                       **{"from": round(self.until / 4, 3)} if average and self.maybe(0.2) else {})

    def stages(self):
        if not self.maybe(0.2):
            return
        self.tables = [(name, {key: value for key, value in keys.items() if name != "run" or key != "until"})
                       for name, keys in self.tables]
        end = 0.0
        for k in range(self.draw.choice([1, 2, 3])):
            end = round(end + self.number(0.05, 0.2), 3)
            keys = {}
            if self.maybe():
                keys["gravity"] = [0.0 if periodic else self.number(-1, 1) for periodic in self.periodic]
            if self.maybe():
                keys |= {f"thermostat__{key}": value for key, value in self.thermostat().items()}
            if self.wall_count and self.maybe():
                keys["wall_velocity"] = ["same"] * self.wall_count
                keys["wall_entry_temperature"] = [self.number(0, 1) for _ in range(self.wall_count)]
            if self.maybe(0.2) and not any(self.periodic):
                keys["wall_temperature"] = [0.0] * self.dimension
            self.table("stage", name=f"part {k}" if self.maybe() else None, until=end, **keys,
                       measure=self.maybe() if self.maybe() else None)

    def wild(self):
        """One value is something else."""
        _, keys = self.draw.choice([table for table in self.tables if table[1]])
        keys[self.draw.choice(sorted(keys))] = WildValue(self.draw.choice(WILD))

    def conserves_momentum(self):
        """Nothing but balls of finite mass acts on them."""
        names = {name for name, _ in self.tables}
        return all(self.periodic) and not names & {"wall", "thermostat", "stage"} and not self.falls and not any(
            math.isinf(keys.get("mass", 0)) for name, keys in self.tables if name in ("species", "ball", "load", "fill")) and "inf" not in self.file

    def text(self):
        lines = []
        for name, keys in self.tables:
            many = name in ("wall", "species", "ball", "load", "fill", "observe", "stage")
            lines.append(f"[[{name}]]" if many else f"[{name}]")
            lines += [f"{key} = {value.text if isinstance(value, WildValue) else text_of(value)}" for key, value in keys.items()]
        return "\n".join(lines) + "\n"


class WildValue:
    def __init__(self, text):
        self.text = text


class GeneratedScenes(ProgramTest):
    def run_a_moment(self, solver):
        """As it ends by itself, or by SIGTERM after a while: wild numbers make long runs."""
        run = subprocess.Popen([PROGRAM, "run", "g.toml", "--solver", solver, "--threads", "1", "--json", "--quiet", "--force",
                                "-o", "g.h5"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            out, err = run.communicate(timeout=2)
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGTERM)
            out, err = run.communicate(timeout=30)  # who does not end by then hangs
        return run.returncode, out, err

    def momentum(self, *frame):
        """Of a stored frame: the balls that are there, their momentum, and the sum of their momenta's sizes."""
        balls = json.loads(self.succeed("state", "g.h5", "--json", *frame).out)["balls"]
        products = [[ball["mass"] * v for v in ball["velocity"]] for ball in balls if ball["mass"] is not None]
        total = [sum(values) for values in zip(*products)] if products else []
        return len(balls), total, sum(math.hypot(*product) for product in products)

    def look_at(self, seed, solver, scene):
        status, out, err = self.run_a_moment(solver)
        if status == 2:
            first = err.splitlines()[0] if err else ""
            self.assertRegex(first, PLACED)
            return False
        if status == 143:
            return True
        if status == 3:
            self.assertTrue(err.startswith("carom: "), err)
            return True
        self.assertEqual(status, 0, err)
        end = json.loads(out.splitlines()[-1])
        balance = end["energy_balance"]
        if balance is not None:
            own_step = dict(scene.tables)["spring"].get("dt", "auto") != "auto"
            springs = OWN_STEP_BALANCE if own_step else SPRING_BALANCE
            self.assertLess(abs(balance), EVENTS_BALANCE if solver == "events" else springs, out)
        if "fields" in dict(scene.tables)["output"] or end["balls"] == 0:
            return True
        count, after, size = self.momentum()
        self.assertEqual(count + end["balls_left"], end["balls"])
        if scene.conserves_momentum():
            _, before, _ = self.momentum("--frame", "0")
            rounding = 1e-12 if solver == "events" else 1e-5  # of single precision, or of a step's dashpots
            for one, other in zip(before, after):
                self.assertLess(abs(one - other), rounding * max(size, 1.0))
        return True

    def test_run_with_both_solvers_or_are_refused_by_place(self):
        begin = time.monotonic()
        runs = valid = 0
        used = set()
        seed = int(ONLY or 0)
        while seed < int(ONLY or 0) + (1 if ONLY else SCENES) or time.monotonic() - begin < SECONDS:
            scene = Maker(seed)
            if seed % 4 == 3:
                scene.wild()
            used |= scene.used
            self.write("g.toml", scene.text())
            self.write("g.csv", scene.file)
            for solver in ("spring", "events"):
                runs += 1
                with self.subTest(seed=seed, solver=solver, scene=scene.text()):
                    valid += self.look_at(seed, solver, scene)
            seed += 1
        if SECONDS:
            print(f"{runs} runs, {valid} of them valid, in {time.monotonic() - begin:.0f} s")
        if not ONLY:
            self.assertGreater(valid, runs / 2)

    def test_have_every_key_of_the_reference(self):
        used = set().union(*(Maker(seed).used for seed in range(400)))
        self.assertEqual(sorted(set(keys_of_reference()) - used), ["fill.region", "fill.sizes", "load.columns", "load.group",
                                                                        "observe.region", "species.sizes", "stage.thermostat"])


if __name__ == "__main__":
    unittest.main()
