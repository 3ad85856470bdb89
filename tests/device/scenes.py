#!/usr/bin/env python3
"""Runs scenes on the CPU backend and on the PTX of the CUDA backend, and compares all that a run says: the summary (state hash,
energies, tallies, means of the rows, averages with their errors), every frame with all digits, and how a checkpoint of each goes
on at the other.

usage: scenes.py BUILD [--only TEXT] [--precisions single,double] [--steps-scale F] [--no-resume] [--jobs N]
                 [--ranks N] [--settings NAME=VALUE,...]...

Each run is made once for each --settings: what README.md lists, PTX_ left out of the names (CHECK=1,ORDER=shuffled). With
--ranks N the run on the PTX is shared by so many ranks under mpirun, and no checkpoint goes on.
"""

import argparse
import concurrent.futures
import itertools
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

# What may differ: times, names, and what a backend keeps to itself.
OPEN = {"wall_seconds", "step_seconds", "observables_seconds", "ball_steps_per_second", "backend", "device", "threads", "memory_bytes", "output",
        "checkpoint", "sorts", "warnings"}

# For a launcher of MPI: ranks share the cores, and root is asked twice whether it means it.
LAUNCH = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
          "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}


def box(count, dimension, fraction):
    volume = count * (math.pi / 4 if dimension == 2 else math.pi / 6) / fraction
    return [volume ** (1 / dimension)] * dimension


def text_of(scene):
    def value(v):
        if isinstance(v, bool):
            return "true" if v else "false"
        if isinstance(v, (int, float)):
            return "inf" if v == math.inf else repr(v)
        if isinstance(v, str):
            return json.dumps(v)
        if isinstance(v, dict):
            return "{" + ", ".join(f"{k} = {value(x)}" for k, x in v.items()) + "}"
        return "[" + ", ".join(value(x) for x in v) + "]"

    lines = []
    for name, tables in scene.items():
        for table in tables if isinstance(tables, list) else [tables]:
            lines.append(f"[[{name}]]" if isinstance(tables, list) else f"[{name}]")
            lines += [f"{key} = {value(v)}" for key, v in table.items()]
    return "\n".join(lines) + "\n"


def gas(dimension, count, fraction=0.3, **more):
    scene = {
        "scene": {"dimension": dimension},
        "box": {"size": box(count, dimension, fraction)},
        "spring": {"stiffness": 1.0e4},
        "fill": [{"radius": 0.5, "mass": 1.0, "count": count, "temperature": 1.0}],
    }
    for key, table in more.items():
        scene[key] = {**scene[key], **table} if isinstance(table, dict) and key in scene else table
    return scene


ALL_KINDS = [{"name": "o-" + kind.replace("_", "-"), "kind": kind, "every": 0.01} for kind in (
    "speed", "velocity", "density", "temperature_profile", "velocity_profile", "density_map", "temperature_map", "velocity_map",
    "gr", "msd", "self_diffusion", "vacf", "temperature", "kurtosis", "stress", "kinetic_stress", "collisional_stress", "pressure",
    "compressibility")]
OWN_KINDS = [{"name": "moved", "kind": "displaced", "threshold": 0.01}, {"name": "each", "kind": "displaced_each", "threshold": 0.01}]


def scenes():
    """(name, scene, steps or None): small ones, that between them use every kernel and every branch of the step."""
    for d in (2, 3):
        n = 300 if d == 2 else 400
        periodic = {"boundary": ["periodic"] * d}
        down = [0.0] * (d - 1) + [-1.0]
        across = ["periodic"] * (d - 1)
        wide = {"size": [40.0] * 2 if d == 2 else [16.0] * 3}
        two = [{"radius": 0.5, "mass": 1.0, "count": 150, "temperature": 1.0}, {"radius": 0.8, "mass": 3.0, "count": 60, "temperature": 2.0}]
        hot_faces = [[1.0, 3.0]] + [0.0] * (d - 1)
        andersen = {"kind": "andersen", "temperature": 2.0, "rate": 3.0}
        for name, scene, steps in (
            ("walls", gas(d, n), 1500),
            ("periodic", gas(d, n, box=periodic), 1500),
            ("dense periodic", gas(d, n, 0.6 if d == 2 else 0.4, box=periodic), 1000),
            ("open", gas(d, n, box={"boundary": ["periodic"] + ["open"] * (d - 1)}), 3000),
            ("gravity, damping, floor", gas(d, n, box={"boundary": across + [["wall", "open"]]}, physics={
                "gravity": down, "restitution": 0.8, "wall_restitution": 0.6}), 2000),
            ("hertz", gas(d, n, spring={"law": "hertz", "stiffness": 1.0e5}), 1000),
            ("polydisperse", gas(d, n, box=wide, physics={"restitution": 0.9}, fill=two + [
                {"radius": 0.3, "mass": 0.2, "count": 100, "speed": 1.5}],
                ball=[{"radius": 1.5, "mass": math.inf, "position": [8.0] * d}]), 1500),
            ("walls as shapes", gas(d, n, box={"size": [36.0] * 2 if d == 2 else [14.0] * 3}, wall=[
                {"shape": "plane", "normal": [1.0, 0.5] + [0.3] * (d - 2), "offset": 3.0},
                {"shape": "sphere", "center": ([24.0] if d == 2 else [9.0]) * d, "radius": 2.5, "side": "outside"},
                {"shape": "sphere", "center": ([18.0] if d == 2 else [7.0]) * d, "radius": 24.0 if d == 2 else 11.5, "side": "inside"}]), 1500),
            ("thermal walls", gas(d, n, box={"boundary": ["wall"] + ["periodic"] * (d - 1), "wall_temperature": hot_faces}, wall=[
                {"shape": "sphere", "center": [s / 2 for s in box(n, d, 0.25)], "radius": 2.0, "side": "outside", "temperature": 2.0}]), 2500),
            ("andersen", gas(d, n, box=periodic, thermostat=andersen), 1500),
            ("rescale", gas(d, n, thermostat={"kind": "rescale", "temperature": 2.0, "every": 0.05}), 1200),
            ("polydisperse, thermal, damped", gas(d, n, box={"size": [30.0] * 2 if d == 2 else [13.0] * 3, "wall_temperature": hot_faces},
                                                  physics={"restitution": 0.8}, fill=two, thermostat=andersen), 1500),
            ("moving wall", gas(d, n, wall=[{"shape": "plane", "normal": [1.0] + [0.0] * (d - 1), "offset": 0.0, "velocity": 0.5}]), 1500),
            ("stages", gas(d, n, stage=[
                {"name": "one", "until": 0.2, "thermostat": {"kind": "andersen", "temperature": 0.5, "rate": 2.0}},
                {"name": "two", "until": 0.4, "gravity": [0.0] * (d - 1) + [-2.0]},
                {"name": "three", "until": 0.6, "wall_temperature": [[2.0, 0.0]] + [0.0] * (d - 1)}], run={"until": 0.6}), None),
            ("euler", gas(d, n, spring={"integrator": "symplectic_euler", "damping": 3.0}), 1000),
            ("every observable", gas(d, n, box=periodic, observe=ALL_KINDS + OWN_KINDS, run={"until": 0.3}), None),
            ("observables of species", gas(d, n, box=wide, species=[
                {"name": "a", "radius": 0.5, "mass": 1.0}, {"name": "b", "radius": 0.7, "mass": 2.0}],
                fill=[{"species": "a", "count": 150, "temperature": 1.0}, {"species": "b", "count": 77, "temperature": 1.0}],
                observe=[{"name": "ab", "kind": "gr", "species": "a", "with": "b", "every": 0.02},
                         {"name": "sp", "kind": "speed", "species": "b", "every": 0.02},
                         {"name": "t", "kind": "temperature", "region": {"min": [0.0] * d, "max": [9.0] * d}, "every": 0.02},
                         {"name": "m", "kind": "msd", "species": "b", "every": 0.02}], run={"until": 0.4}), None),
            ("huge flat box", gas(d, 200, box={"size": [3000.0, 40.0] + [30.0] * (d - 2),
                                               "boundary": ["periodic", "wall"] + ["open"] * (d - 2)}), 1000),
            ("3000 balls", gas(d, 3000), 400),
        ):
            yield f"{name}, {d}D", scene, steps
    alone = [{"radius": 0.5, "mass": 1.0, "count": 1, "temperature": 1.0, "zero_momentum": False}]
    yield "one ball, 2D", gas(2, 1, box={"size": [5.0, 5.0]}, fill=alone), 3000
    yield "two balls, 3D", gas(3, 2, box={"size": [5.0, 5.0, 5.0]}), 3000
    # Of more than 4,096 a step is a launch, or, from 262,144 on, those near faces have one of their own.
    yield "launches, 2D", gas(2, 4100, box={"boundary": [["wall", "open"], "periodic"]}, physics={"restitution": 0.9}), 400
    yield "launches, 3D", gas(3, 4100, box={"wall_temperature": [[1.0, 3.0], 0.0, 0.0]}), 400
    yield "faces apart, 2D", gas(2, 263000, box={"boundary": [["wall", "open"], "periodic"]}, physics={"restitution": 0.9}), 100
    yield "faces apart, 3D", gas(3, 263000, box={"wall_temperature": [[1.0, 3.0], 0.0, 0.0]}), 100
    # More contacts than a block of a crew lists before it deals them out.
    pressed = [{"radius": 0.5, "mass": 1.0, "position": [1.0 + 0.95 * (x + y % 2 / 2), 1.0 + 0.95 * y * math.sqrt(3.0) / 2.0]}
               for y in range(28) for x in range(28)]
    yield "a crystal pressed together, 2D", gas(2, 1, box={"size": [36.0, 30.0], "boundary": ["wall", "open"]}, ball=pressed,
                                                fill=[{"radius": 0.5, "mass": 1.0, "count": 20, "temperature": 1.0}]), 600
    # In the middle of what a crew was to do.
    fast = [{"radius": 0.5, "mass": 1.0, "position": [x, 2.0], "velocity": [v, 0.0]} for x, v in ((2.0, 40.0), (5.0, -40.0))]
    yield "a fault at step 35, 2D", gas(2, 600, box={"size": [30.0, 30.0]}, ball=fast, spring={"stiffness": 100.0, "dt": 0.001},
                                        run={"until": 0.3}), None
    yield "255 balls, 2D", gas(2, 255), 600
    yield "257 balls, 3D", gas(3, 257), 600


def differences(a, b, path=""):
    if type(a) is not type(b) and not (isinstance(a, (int, float)) and isinstance(b, (int, float))):
        yield path, a, b
    elif isinstance(a, dict):
        for key in sorted(set(a) | set(b)):
            if path == "" and key in OPEN:
                continue
            if key not in a or key not in b:
                yield f"{path}.{key}", a.get(key), b.get(key)
            else:
                yield from differences(a[key], b[key], f"{path}.{key}")
    elif isinstance(a, list):
        if len(a) != len(b):
            yield path, len(a), len(b)
        for i, (x, y) in enumerate(zip(a, b)):
            yield from differences(x, y, f"{path}[{i}]")
    elif a != b and not (isinstance(a, float) and isinstance(b, float) and a != a and b != b):
        yield path, a, b


class Trial:
    """One scene on the CPU and, with each of some settings, on the PTX."""

    def __init__(self, build, name, scene, steps, precision, silent, scale):
        self.program = pathlib.Path(build).resolve() / "bin/carom_on_ptx"
        self.modules = pathlib.Path(build).resolve() / "tests/device"
        self.ptxas = pathlib.Path(build).resolve() / "ptxas-report.txt"
        self.name = f"{name}, {precision}" + (", no rows" if silent else "")
        # Without rows, steps are queued as graphs.
        self.scene = {**scene, "output": {"every": 0, "observables_every": 0}} if silent else scene
        self.steps = None if steps is None else max(10, int(steps * scale))
        self.precision = precision
        self.silent = silent

    def carom(self, folder, arguments, settings=None, launcher=()):
        environment = {**os.environ, **LAUNCH, "TMPDIR": str(folder)}  # launchers beside each other want a folder each
        if settings is not None:
            checked = settings.get("CHECK") == "1"
            environment.update({"PTX_MODULES": str(self.modules / ("checked" if checked else "plain")), "PTX_STATS": "1",
                                "PTX_PTXAS": str(self.ptxas)}, **{"PTX_" + key: value for key, value in settings.items()})
        return subprocess.run([*launcher, self.program, *arguments], env=environment, cwd=folder, capture_output=True, text=True)

    def frames(self, folder, which):
        self.carom(folder, ["convert", which + ".h5", which + ".csv", "--force"])
        path = pathlib.Path(folder) / (which + ".csv")
        return path.read_text() if path.exists() else None

    def compare(self, settings, resume=True):
        """What differs, a line each; and how many graphs were played."""
        with tempfile.TemporaryDirectory(prefix="carom-device-") as folder:
            pathlib.Path(folder, "s.toml").write_text(text_of(self.scene))
            base = ["run", "s.toml", "--precision", self.precision, "--threads", "1", "--json", "--quiet", "--force"]
            length = [] if self.steps is None else ["--steps", str(self.steps)]
            cpu = self.carom(folder, base + length + ["--backend", "cpu", "-o", "cpu.h5"])
            if cpu.returncode not in (0, 3):
                return [f"on the CPU: status {cpu.returncode}: {cpu.stderr.strip()[-300:]}"], 0
            gpu = self.carom(folder, base + length + ["--backend", "cuda", "-o", "cuda.h5"], settings)
            # A GPU's code that is not as it should be, though the bits are: races, what nobody wrote, what was not freed.
            wrong = sorted({line for line in gpu.stderr.splitlines() if line.startswith("[ptx] remark:")})
            if gpu.returncode != cpu.returncode or not gpu.stdout.strip():
                said = [line for line in gpu.stderr.splitlines() if "DEFECT" in line or "carom:" in line]
                return wrong + [f"status {gpu.returncode}: " + (" ".join(said) or gpu.stderr.strip())[-600:]], 0
            want, got = json.loads(cpu.stdout), json.loads(gpu.stdout)
            if got["backend"] != "cuda":
                wrong.append("ran on " + got["backend"])
            wrong += [f"{path}: cpu {x}, cuda {y}" for path, x, y in itertools.islice(differences(want, got), 6)]
            if not self.silent and (self.frames(folder, "cpu") is None or self.frames(folder, "cpu") != self.frames(folder, "cuda")):
                wrong.append("the frames differ, or there are none")
            if resume and self.steps is not None:
                wrong += self.continued(folder, settings)
            played = re.search(r"(\d+) graph launches", gpu.stderr)
            return wrong, int(played.group(1)) if played else 0

    def shared(self, settings, ranks=2):
        """What differs where so many ranks of MPI share the run, each with a device of its own."""
        with tempfile.TemporaryDirectory(prefix="carom-device-") as folder:
            pathlib.Path(folder, "s.toml").write_text(text_of(self.scene))
            base = ["run", "s.toml", "--precision", self.precision, "--threads", "1", "--json", "--quiet", "--force"]
            base += [] if self.steps is None else ["--steps", str(self.steps)]
            cpu = self.carom(folder, base + ["--backend", "cpu", "-o", "cpu.h5"])
            gpu = self.carom(folder, base + ["--backend", "cuda", "-o", "cuda.h5"], settings, ["mpirun", "-n", str(ranks)])
            wrong = sorted({line for line in gpu.stderr.splitlines() if line.startswith(("[ptx] remark:", "[ptx] DEFECT:"))})
            if gpu.returncode != cpu.returncode or not gpu.stdout.strip():
                return wrong + [f"status {gpu.returncode}: {gpu.stderr.strip()[-600:]}"]
            want, got = json.loads(cpu.stdout), json.loads(gpu.stdout)
            wrong += [f"{key} is {got.get(key)}" for key, value in (("ranks", ranks), ("backend", "cuda")) if got.get(key) != value]
            got = {key: value for key, value in got.items() if not key.startswith("rank")}
            wrong += [f"{path}: cpu {x}, cuda {y}" for path, x, y in itertools.islice(differences(want, got), 6)]
            if self.frames(folder, "cpu") is None or self.frames(folder, "cpu") != self.frames(folder, "cuda"):
                wrong.append("the frames differ, or there are none")
            return wrong

    def continued(self, folder, settings):
        """A checkpoint goes on at the other."""
        ends = []
        for origin, backend in itertools.product(("cpu", "cuda"), repeat=2):
            again = self.carom(folder, ["run", "--resume", origin + ".checkpoint.h5", "--backend", backend, "--threads", "1", "--json",
                                        "--quiet", "--force", "-o", "more.h5", "--steps", str(self.steps + 100)],
                               settings if backend == "cuda" else None)
            try:
                ends.append(json.loads(again.stdout)["state_hash"])
            except ValueError:
                ends.append(f"status {again.returncode}: {again.stderr.strip()[-300:]}")
        return [] if len(set(ends)) == 1 else ["continued: " + ", ".join(ends)]


def trials(build, only="", precisions=("single", "double"), scale=1.0):
    for (name, scene, steps), precision, silent in itertools.product(scenes(), precisions, (False, True)):
        trial = Trial(build, name, scene, steps, precision, silent, scale)
        if only in trial.name:
            yield trial


def settings_of(text):
    return dict(pair.split("=", 1) for pair in text.split(",") if pair)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build")
    parser.add_argument("--only", default="")
    parser.add_argument("--precisions", default="single,double")
    parser.add_argument("--steps-scale", type=float, default=1.0)
    parser.add_argument("--no-resume", action="store_true")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--settings", action="append", default=[])
    args = parser.parse_args()
    runs = list(itertools.product(trials(args.build, args.only, args.precisions.split(","), args.steps_scale), args.settings or [""]))

    def run(pair):
        trial, text = pair
        begin = time.time()
        if args.ranks > 1:
            wrong, graphs = trial.shared(settings_of(text), args.ranks), 0
        else:
            wrong, graphs = trial.compare(settings_of(text), not args.no_resume)
        said = "" if not wrong else "".join("\n    " + line for line in wrong)
        print(f"{trial.name:48} {text:40} {'DIFFERENT' if wrong else 'same':9} {time.time() - begin:6.1f} s, {graphs} graphs{said}", flush=True)
        return not wrong, graphs

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        results = list(pool.map(run, runs))
    bad = sum(not good for good, _ in results)
    print(f"{len(results)} runs, {bad} different, {sum(graphs for _, graphs in results)} graphs played")
    sys.exit(1 if bad or not results else 0)


if __name__ == "__main__":
    main()
