#!/usr/bin/env python3
"""What shows only in long runs, or in many.

heating:      the energy of 64 soft balls over 10^7 steps of the default length, many seeds: its mean change is what the step
              heats by, its scatter the random walk of the integrator's energy.
equilibrium:  small versions of the scenes that come to equilibrium, of three lengths, the first too short for it, many seeds: a run that says
              "equilibrated" is wrong if what it measured differs from what the same run, four times as long, measures afterwards.
walk:         gases of 64 soft balls, thin and dense, hard and soft, of steps that fit a contact and steps that do not: the root mean
              square of their defects of energy over the error that the run claims, which should be 1.
diffusion:    self-diffusion of 4,096 disks at packing fraction 0.01, 150 mean free times a seed, over the first Sonine order of
              Enskog's, which the higher orders raise by 1.02704.

usage: bench/long_runs.py CAROM heating|equilibrium|walk|diffusion [-o RESULT.json] [--seeds N] [--jobs N] [--machine TEXT]
"""

import argparse
import concurrent.futures
import json
import math
import pathlib
import subprocess
import tempfile

import h5py
import numpy as np

STEPS = 10_000_000

WALKS = [(2, 16.0, None), (2, 10.0, None), (3, 7.0, None), (3, 5.0, None), (2, 16.0, 0.1), (2, 16.0, 0.001)]  # as soft_gas() has them
STEPS_PER_CONTACT = (50.0, 50.5, 23.3, 20.0, 10.0)

HEATING = {  # dimension, edge of a periodic box of 64 balls of diameter 1, precision
    "disks, single precision": (2, 13.0, "single"),
    "disks, double precision": (2, 13.0, "double"),
}


def run(program, path, *options):
    """The JSON of a run."""
    with tempfile.TemporaryDirectory() as folder:
        said = subprocess.run([program, "run", path, "-o", f"{folder}/out.h5", "--json", "--threads", "1", *options],
                              check=True, capture_output=True).stdout
    return json.loads(said)


def write_gas(path, dimension, edge, count, run, more):
    """Balls of diameter, mass and temperature 1 in a periodic box, of which nothing is stored on the way."""
    path.write_text(f"""
[scene]
dimension = {dimension}
[box]
size = {[edge] * dimension}
boundary = {["periodic"] * dimension}
[run]
{run}
[output]
every = 0
observables_every = 0
[[fill]]
radius = 0.5
mass = 1.0
count = {count}
temperature = 1.0
{more}
""")


def soft_gas(program, path, dimension, edge, precision="double", overlap=None):
    """64 balls; gives the default step.

    overlap: the largest, as a share of the radius, or None for the default.
    """
    write_gas(path, dimension, edge, 64, f'precision = "{precision}"', f"[spring]\nmax_overlap = {overlap}" if overlap else "")
    return json.loads(subprocess.run([program, "check", path, "--json"], check=True, capture_output=True).stdout)["dt"]


def heating(program, seeds, pool, folder):
    results = {}
    for name, (dimension, edge, precision) in HEATING.items():
        path = folder / f"{name.replace(' ', '_')}.toml"
        step = soft_gas(program, path, dimension, edge, precision)
        until = STEPS * step
        changes = list(pool.map(lambda seed: run(program, path, "--until", str(until), "--seed", str(seed))["energy_drift"],
                                range(1, seeds + 1)))
        mean = sum(changes) / seeds
        scatter = math.sqrt(sum((one - mean) ** 2 for one in changes) / (seeds - 1))
        results[name] = {"steps": STEPS, "time": round(until, 3), "seeds": seeds, "mean_change": mean,
                         "error": scatter / math.sqrt(seeds), "scatter": scatter}
        print(name, results[name], flush=True)
    return results


def walk(program, seeds, pool, folder):
    results = {}
    path = folder / "gas.toml"
    for dimension, edge, overlap in WALKS:
        step = soft_gas(program, path, dimension, edge, overlap=overlap)
        for steps in STEPS_PER_CONTACT:
            dt = step * STEPS_PER_CONTACT[0] / steps
            options = ("--set", f"spring.dt={dt!r}", "--until", repr(100_000 * dt))
            runs = list(pool.map(lambda seed: run(program, path, *options, "--seed", str(seed)), range(1, seeds + 1)))
            checks = [next(row for row in one["theory"] if row["what"].startswith("energy balance")) for one in runs]
            name = f"{dimension}D, edge {edge:g}, overlap {overlap or 'by default'}, {steps:g} steps a contact"
            results[name] = {"seeds": seeds, "true_over_claimed": round(math.sqrt(sum(row["sigma"] ** 2 for row in checks) / seeds), 3),
                             "claimed": checks[0]["error"]}
            print(name, results[name], flush=True)
    return results


# Scene, what is small of it, its length: some end before rest, some long after, so that the verdict has to tell.
RELAXING = {
    "maxwell": (["box.size=[28.0, 28.0]", "fill[0].count=200"], (10.0, 25.0, 60.0)),
    "free_expansion": (["box.size=[32.0, 16.0]", "fill[0].region.max=[16.0, 16.0]", "fill[0].count=100"], (30.0, 80.0, 200.0)),
    "mixing": (["box.size=[16.0, 6.0, 6.0]", "fill[0].count=100", "fill[1].count=100", "fill[0].region.max=[8.0, 6.0, 6.0]",
                "fill[1].region.min=[8.0, 0.0, 0.0]", "fill[1].region.max=[16.0, 6.0, 6.0]"], (20.0, 50.0, 120.0)),
    "barometric": (["box.size=[10.0, 240.0]", "fill[0].count=150", "fill[0].region.max=[10.0, 50.0]"], (200.0, 600.0, 1500.0)),
    "sedimentation": (["box.size=[40.0, 1000.0]", "fill[0].count=80", "fill[1].count=20",
                       "fill[0].region.max=[40.0, 160.0]", "fill[1].region.max=[40.0, 160.0]"], (1000.0, 2500.0, 6000.0)),
    "mixture": (["run.solver=events", "box.size=[30.0, 30.0]", "fill[0].count=20", "fill[1].count=200"], (5.0, 20.0, 60.0)),
}
LONGER = 4.0  # times as long is the run that tells what is true; its last three quarters count
SIGMAS = 4.0
BLOCKS = 32
JUDGED = ("temperature", "virial_pressure", "gravitational_energy")


def rows_of(path, begin):
    """name -> values of the rows from a time on, one of a time."""
    with h5py.File(path) as file:
        found = {}
        for name in JUDGED:
            group = file["observables"][name]
            time, value = np.array(group["time"]), np.array(group["value"])
            found[name] = value[(time > begin) & np.isfinite(value)]
        return found


def blocked(values):
    means = [part.mean() for part in np.array_split(values, BLOCKS)]
    return np.mean(means), np.std(means, ddof=1) / math.sqrt(BLOCKS)


def relaxation(program, scene, settings, until, seed, folder):
    """What the run says of itself (True, False or None), and whether what it says it measured at rest is so."""
    path = pathlib.Path(__file__).resolve().parent.parent / "scenes" / f"{scene}.toml"
    out = folder / f"{scene}-{seed}-{until:g}.h5"
    options = ["--seed", str(seed), "--force", "--json", "--threads", "1", "-o", out]
    for setting in settings:
        options += ["--set", setting]

    def go(length):
        options_of = options + ["--until", str(length), "--set", f"output.observables_every={until / 200}",
                                "--set", f"output.every={until / 50}"]
        return json.loads(subprocess.run([program, "run", path, *options_of], check=True, capture_output=True).stdout)

    means = go(until)["means"]
    wrong = []
    if means["equilibrated"] is True:
        go(LONGER * until)
        later = rows_of(out, until)
        for name in JUDGED:
            told = means["values"].get(name)
            if told is None or told["error"] is None or not np.ptp(later[name]) > 1e-9 * abs(told["mean"]):
                continue  # what is conserved
            value, error = blocked(later[name])
            if abs(told["mean"] - value) > SIGMAS * math.hypot(told["error"], error):
                wrong.append(name)
    out.unlink()
    return means["equilibrated"], wrong


def equilibrium(program, seeds, pool, folder):
    results = {}
    for scene, (settings, lengths) in RELAXING.items():
        for until in lengths:
            runs = list(pool.map(lambda seed: relaxation(program, scene, settings, until, seed, folder),
                                 range(1, seeds + 1)))
            said = [one[0] for one in runs]
            false = [one[1] for one in runs if one[1]]
            results[f"{scene}, to t = {until:g}"] = {
                "runs": seeds, "equilibrated": said.count(True), "not": said.count(False), "unknown": said.count(None),
                "false": len(false), "of": sorted({name for one in false for name in one})}
            print(scene, until, results[f"{scene}, to t = {until:g}"], flush=True)
    return results


def diffusion(program, seeds, pool, folder):
    balls, fraction = 4096, 0.01
    density = fraction * 4.0 / math.pi
    free_time = 1.0 / (2.0 * density * math.sqrt(math.pi))
    path = folder / "gas.toml"
    write_gas(path, 2, math.sqrt(balls / density), balls, f'solver = "events"\nuntil = {150.0 * free_time}', f"""
[[observe]]
name = "self_diffusion"
kind = "self_diffusion"
every = {0.5 * free_time}
from = {20.0 * free_time}
""")
    checks = list(pool.map(lambda seed: next(row for row in run(program, path, "--seed", str(seed))["theory"]
                                             if row["what"] == "self_diffusion"), range(1, seeds + 1)))
    contact = (1.0 - 7.0 * fraction / 16.0) / (1.0 - fraction) ** 2
    first_order = 1.0 / (2.0 * density * math.sqrt(math.pi) * contact)
    measured = np.array([row["measured"] for row in checks]) / first_order
    results = {"disks": {"seeds": seeds, "over_first_order": float(measured.mean()), "error": float(measured.std(ddof=1) / math.sqrt(seeds)),
                         "theory": checks[0]["expected"] / first_order,
                         "claimed_over_true": float(np.mean([row["error"] for row in checks]) / first_order / measured.std(ddof=1))}}
    print(results, flush=True)
    return results


WHAT = {
    "diffusion": (diffusion, 200, "self-diffusion of 4,096 disks at packing fraction 0.01 over the first order of Enskog's: mean and its error"),
    "walk": (walk, 32, "defects of the energy of 64 soft balls after 10^5 steps: their root mean square over what the runs claim"),
    "heating": (heating, 16, "energy of 64 soft balls after 10^7 steps of the default length, as a share of what it was: mean over "
                             "seeds, its error, scatter over seeds"),
    "equilibrium": (equilibrium, 34, "relaxations that say they are at equilibrium, and of these how many are off what the same "
                                      "run, four times as long, measures afterwards, by more than 4 standard errors"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("what", choices=WHAT)
    parser.add_argument("-o", "--output", type=pathlib.Path)
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--machine", default="", help="what is said of it in the result")
    arguments = parser.parse_args()
    measure, seeds, words = WHAT[arguments.what]
    seeds = arguments.seeds or seeds
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = measure(arguments.program, seeds, pool, pathlib.Path(folder))
    if arguments.output:
        version = subprocess.run([arguments.program, "--version"], check=True, capture_output=True, text=True).stdout
        arguments.output.write_text(json.dumps(
            {"what": words, "command": f"bench/long_runs.py CAROM {arguments.what} -o FILE --seeds {seeds}",
             "program": version.strip().splitlines()[0], "machine": arguments.machine, "cases": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
