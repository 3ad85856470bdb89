#!/usr/bin/env python3
"""Whether standard errors are true: small systems in equilibrium, each with many seeds. Over the seeds, the standard deviation
of what a run measures is what its claimed error should be; true / claimed should be 1, and 68 % of the runs should lie within
one error of the mean, 95 % within two. Curves and maps count point by point, tails left out, and tell the root of the mean
square of their points' ratios.

usage: bench/coverage.py CAROM [-o RESULT.json] [--seeds N] [--first-seed N] [--jobs N] [--machine TEXT]
                         [--case NAME ...] [--diffusion]
"""

import argparse
import concurrent.futures
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np

NUMBERS = ["self_diffusion", "kurtosis", "stress", "kinetic_stress", "collisional_stress", "pressure", "compressibility"]
CURVES = ["speed", "velocity", "density", "temperature_profile", "velocity_profile", "gr", "msd", "vacf"]
MAPS = ["density_map", "temperature_map", "velocity_map"]
OF_EVENTS = ["free_path", "mean_free_path", "collision_rate"]
BINS = {"speed": 16, "velocity": 16, "free_path": 16, "density": 10, "temperature_profile": 5, "velocity_profile": 5, "gr": 40,
        "density_map": 4, "temperature_map": 4, "velocity_map": 4}
TAIL = 0.02  # of the largest value of a density: beyond, a run has seen a handful of balls
# A row of these holds since the start, counts what never changes, is conserved but for rounding, or an extreme.
NO_MEAN = {"balls", "largest_speed", "largest_overlap", "heat", "wall_heat", "work", "total_energy"}

# Every case, long enough that what is forgotten last is so twenty to thirty-five times: dimension, solver, balls, packing fraction, faces, gravity, time between samples, samples.
CASES = {
    "thin disks, periodic": (2, "events", 256, 0.01, "periodic", 0.0, 20.0, 400),
    "disks, periodic": (2, "events", 64, 0.3, "periodic", 0.0, 0.5, 1000),
    "dense disks, periodic": (2, "events", 256, 0.6, "periodic", 0.0, 0.4, 400),
    "thin disks, walls": (2, "events", 64, 0.05, "wall", 0.0, 2.0, 1000),
    "disks, walls": (2, "events", 144, 0.3, "wall", 0.0, 2.0, 600),
    "atmosphere of disks": (2, "events", 100, 0.05, "wall", 0.1, 4.0, 2250),
    "spheres, periodic": (3, "events", 125, 0.2, "periodic", 0.0, 0.5, 800),
    "many spheres, periodic": (3, "events", 1000, 0.1, "periodic", 0.0, 0.5, 600),
    "thin spheres, walls": (3, "events", 64, 0.05, "wall", 0.0, 1.0, 1000),
    "spheres in a channel": (3, "events", 24, 0.2, ["wall", "wall", "periodic"], 0.0, 0.2, 1000),
    "dense spheres, periodic": (3, "events", 256, 0.4, "periodic", 0.0, 0.1, 400),
    "soft disks, periodic": (2, "spring", 100, 0.3, "periodic", 0.0, 0.5, 400),
    "soft spheres, walls": (3, "spring", 64, 0.1, "wall", 0.0, 0.5, 400),
}

OF_DIFFUSION = ["self_diffusion", "msd", "vacf"]
# Of what balls have to do with themselves alone, where few of them are between walls, in baths or of several kinds; what is set
# besides, of the box (or its size) and behind all else.
WALLS = 'wall_temperature = [[1.0, 1.0], [{0}, {0}]]\n'
ANDERSEN = '[thermostat]\nkind = "andersen"\ntemperature = 1.0\nrate = {}\n'
HEAVY = '[[species]]\nname = "heavy"\nradius = 0.5\nmass = 9.0\n[[fill]]\nspecies = "heavy"\ncount = {}\ntemperature = 1.0\n'
DIFFUSION = {
    "24 disks, walls and periodic": (2, "events", 24, 0.2, ["wall", "periodic"], 0.0, 4.0, 400),
    "24 disks, warm walls and periodic": (2, "events", 24, 0.2, ["wall", "periodic"], 0.0, 4.0, 400, WALLS.format("0.0"), ""),
    "24 spheres, walls, periodic, walls": (3, "events", 24, 0.1, ["wall", "periodic", "wall"], 0.0, 4.0, 400),
    "24 disks in a bath": (2, "events", 24, 0.2, "periodic", 0.0, 4.0, 400, "", ANDERSEN.format(0.1)),
    "100 spheres in a bath": (3, "events", 100, 0.2, "periodic", 0.0, 2.0, 400, "", ANDERSEN.format(0.5)),
    "100 disks in a bath, walls": (2, "events", 100, 0.3, "wall", 0.0, 2.0, 400, "", ANDERSEN.format(0.5)),
    "100 disks, warm walls": (2, "events", 100, 0.2, "wall", 0.0, 4.0, 400, WALLS.format("1.0"), ""),
    "60 disks under gravity, periodic": (2, "events", 60, 0.05, ["periodic", "wall"], 0.2, 4.0, 300),
    "100 spheres under gravity, periodic": (3, "events", 100, 0.02, ["periodic", "periodic", "wall"], 0.5, 2.0, 300),
    "60 disks, walls": (2, "events", 60, 0.3, "wall", 0.0, 2.0, 300),
    "400 disks in a wide box, walls": (2, "events", 400, 0.2, "wall", 0.0, 0.4, 400),
    "200 disks in a long box, walls and periodic":
        (2, "events", 200, 0.1745, ["wall", "periodic"], 0.0, 0.7, 400, [60.0, 15.0], ""),
    "250 spheres in a long box, walls and periodic":
        (3, "events", 250, 0.101, ["wall", "periodic", "periodic"], 0.0, 0.28, 400, [36.0, 6.0, 6.0], ""),
    "dense spheres in a slab, a short run":
        (3, "events", 400, 0.42, "periodic", 0.0, 0.012, 400, [10.76, 10.76, 4.31], ""),
    "dense disks, a short run": (2, "events", 200, 0.5, "periodic", 0.0, 0.0128, 400),
    "24 disks, periodic": (2, "events", 24, 0.2, "periodic", 0.0, 2.0, 400),
    "6 disks, periodic": (2, "events", 6, 0.2, "periodic", 0.0, 2.0, 400),
    "6 spheres, walls": (3, "events", 6, 0.1, "wall", 0.0, 2.0, 400),
    "3 disks, periodic": (2, "events", 3, 0.1, "periodic", 0.0, 2.0, 400),
    "40 light spheres and 4 heavy ones": (3, "events", 40, 0.2, "periodic", 0.0, 2.0, 400, "", HEAVY.format(4)),
    "40 light disks and 40 heavy ones, walls and periodic":
        (2, "events", 40, 0.1, ["wall", "periodic"], 0.0, 2.0, 400, "", HEAVY.format(40)),
}


def scene(case, diffusion):
    dimension, solver, balls, fraction, faces, gravity, every, samples, of_box, more = (*case, "", "")[:10]
    volume = balls * (math.pi / 4 if dimension == 2 else math.pi / 6) / fraction
    edge = volume ** (1.0 / dimension)
    size = [edge] * dimension
    if isinstance(of_box, list):
        size, of_box = of_box, ""
    begin = 0.2 * samples * every
    until = begin + samples * every
    # A thermal floor, since under gravity seeds start with unlike energies.
    thermal = f"wall_temperature = {[0.0] * (dimension - 1) + [[1.0, 0.0]]}" if gravity > 0.0 else ""
    path = 1.0 / ((math.sqrt(8.0) if dimension == 2 else math.sqrt(2.0) * math.pi) * balls / volume)
    text = f"""
[scene]
dimension = {dimension}
[box]
size = {size}
boundary = {faces if isinstance(faces, list) else [faces] * dimension}
{thermal}
{of_box}
[run]
solver = "{solver}"
until = {until}
[output]
every = {until}
[[species]]
name = "ball"
radius = 0.5
mass = 1.0
[[fill]]
species = "ball"
count = {balls}
temperature = 1.0
"""
    if gravity > 0.0:
        text += f"[physics]\ngravity = {[0.0] * (dimension - 1) + [-gravity]}\n"
    if solver == "spring":
        text += "[spring]\nmax_overlap = 0.1\n"
    text += more
    kinds = NUMBERS + CURVES + MAPS + (OF_EVENTS if solver == "events" else [])
    if diffusion or case in DIFFUSION.values():
        kinds = OF_DIFFUSION
    for kind in kinds:
        text += f'[[observe]]\nname = "a_{kind}"\nkind = "{kind}"\nevery = {every}\nfrom = {begin}\n'
        if kind in BINS:
            text += f"bins = {BINS[kind]}\n"
        if kind in ("speed", "velocity"):
            text += "max = 5.0\n"
        if kind == "free_path":  # thin gas
            text += f"max = {4.0 * path}\n"
        if kind == "gr":
            text += f"max = {min(2.5, 0.24 * min(size))}\n"
    half = {"min": [0.0] * dimension, "max": [0.5 * size[0]] + size[1:]}
    text += (f'[[observe]]\nname = "half_temperature"\nkind = "temperature"\nevery = {every}\nfrom = {begin}\n'
             f'region = {{ min = {half["min"]}, max = {half["max"]} }}\n')
    return text


def run(program, path, seed, folder, walls):
    """name -> (values, errors, whether a density) of one run."""
    out = folder / f"{path.stem}-{seed}.h5"
    said = subprocess.run([program, "run", path, "-o", out, "--force", "--json", "--threads", "1", "--seed", str(seed)],
                          check=True, capture_output=True).stdout
    summary = json.loads(said)
    found = {}
    for name, value in summary["means"]["values"].items():
        if name.startswith(("momentum", "flow_energy")) and not walls:
            continue  # conserved
        if name.split(".")[0] in NO_MEAN or value["error"] is None or not value["error"] > 1e-9 * abs(value["mean"]):
            continue
        found[name] = (np.array([value["mean"]]), np.array([value["error"]]), False)
    with h5py.File(out) as file:
        for name, group in file["observables"].items():
            if not name.startswith("a_") and name != "half_temperature":
                continue
            values, errors = np.array(group["value"][-1]), np.array(group["error"][-1])
            density = name[2:] in ("speed", "velocity", "free_path", "density", "density_map", "gr")
            if name[2:] in ("msd", "vacf"):  # short lags, and long ones
                for part, chosen in (("short lags", slice(1, 9)), ("long lags", slice(25, None))):
                    found[f"{name}, {part}"] = (values[chosen], errors[chosen], False)
            else:
                found[name] = (values.ravel(), errors.ravel(), density)
    out.unlink()
    return found


def judge(runs):
    """Of one quantity, a list of (values, errors, density): true / claimed, shares within 1 and 2 errors, points, runs."""
    values = np.array([one[0] for one in runs])
    errors = np.array([one[1] for one in runs])
    good = np.isfinite(values).all(axis=0) & np.isfinite(errors).all(axis=0) & (errors > 0.0).all(axis=0)
    mean = np.where(good, values.mean(axis=0), 0.0)
    if runs[0][2]:
        good &= mean > TAIL * mean.max()
    if not good.any():
        return None
    values, errors, mean = values[:, good], errors[:, good], mean[good]
    seeds = len(runs)
    ratio = values.std(axis=0, ddof=1) / errors.mean(axis=0)
    # The mean itself is off by 1 / seeds of the variance.
    off = np.abs(values - mean) / errors * math.sqrt(seeds / (seeds - 1.0))
    return {"true_over_claimed": round(float(np.sqrt((ratio ** 2).mean())), 3),
            "within_1": round(float((off < 1.0).mean()), 3), "within_2": round(float((off < 2.0).mean()), 3),
            "points": int(good.sum()), "runs": seeds}


def coverage(program, names, seeds, first_seed, jobs, diffusion=False):
    results = {}
    with tempfile.TemporaryDirectory() as folder_name, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        folder = pathlib.Path(folder_name)
        for number, name in enumerate(names):
            path = folder / f"case{number}.toml"
            case = {**CASES, **DIFFUSION}[name]
            path.write_text(scene(case, diffusion))
            walls = case[4] == "wall"
            runs = list(pool.map(lambda seed: run(program, path, seed, folder, walls), range(first_seed, first_seed + seeds)))
            quantities = sorted(set.intersection(*(set(one) for one in runs)))
            judged = {quantity: judge([one[quantity] for one in runs]) for quantity in quantities}
            results[name] = {quantity: found for quantity, found in judged.items() if found}
            print(f"{name}", file=sys.stderr)
            for quantity, found in results[name].items():
                print(f"  {quantity:28s} {found['true_over_claimed']:6.2f} {100 * found['within_1']:4.0f} % "
                      f"{100 * found['within_2']:4.0f} %  {found['points']} points", file=sys.stderr, flush=True)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("-o", "--output", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--machine", default="", help="what is said of it in the result")
    parser.add_argument("--case", action="append", choices=[*CASES, *DIFFUSION])
    parser.add_argument("--diffusion", action="store_true", help="that alone, of all cases and more")
    arguments = parser.parse_args()
    results = coverage(arguments.program, arguments.case or list({**CASES, **DIFFUSION} if arguments.diffusion else CASES),
                       arguments.seeds, arguments.first_seed, arguments.jobs, arguments.diffusion)
    if arguments.output:
        version = subprocess.run([arguments.program, "--version"], check=True, capture_output=True, text=True).stdout
        arguments.output.write_text(json.dumps(
            {"what": "standard errors: true over claimed, and shares of runs within 1 and 2 of them, over seeds",
             "command": f"bench/coverage.py CAROM -o FILE --seeds {arguments.seeds}"
                        + (" --diffusion" if arguments.diffusion else ""),
             "program": version.strip().splitlines()[0], "machine": arguments.machine, "cases": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
