#!/usr/bin/env python3
"""What observables cost at their default intervals: the processor time of a run with its rows over that of one without, and
with one [[observe]] of each kind over that with none. Runs take turns, so that a busy machine slows both alike; the median
of the ratios counts.

usage: bench/observables_cost.py CAROM [-o RESULT.json] [--repeats N]
"""

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile

KINDS = ["speed", "velocity", "density", "temperature_profile", "velocity_profile", "density_map", "gr", "msd", "vacf",
         "temperature", "kurtosis", "stress", "pressure", "compressibility"]
OF_EVENTS = ["free_path", "mean_free_path", "collision_rate"]

# Dimension, solver, balls, packing fraction, time: some seconds of one core each.
CASES = [(2, "events", 10000, 0.3, 600.0), (3, "events", 10000, 0.2, 160.0),
         (2, "spring", 10000, 0.3, 60.0), (3, "spring", 10000, 0.2, 40.0)]


def scene(dimension, solver, balls, fraction, until, kinds, rows=True):
    volume = balls * (3.141592653589793 / 4 if dimension == 2 else 3.141592653589793 / 6) / fraction
    edge = volume ** (1.0 / dimension)
    text = f"""
[scene]
dimension = {dimension}
[box]
size = {[edge] * dimension}
boundary = {["periodic"] * dimension}
[run]
solver = "{solver}"
backend = "cpu"
until = {until}
[output]
every = {until / 10}
{"" if rows else "observables_every = 0.0"}
[[fill]]
count = {balls}
radius = 0.5
mass = 1.0
temperature = 1.0
"""
    return text + "".join(f'[[observe]]\nname = "a_{kind}"\nkind = "{kind}"\n' for kind in kinds)


def seconds(program, text, folder):
    path = folder / "scene.toml"
    path.write_text(text)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([program, "run", path, "-o", folder / "out.h5", "--force", "--quiet", "--threads", "1"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("-o", "--output")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    info = json.loads(subprocess.run([program, "info", "--json"], capture_output=True, check=True).stdout)
    result = {"what": "processor time with rows, or one average of each kind, over that without; default intervals",
              "command": "bench/observables_cost.py CAROM", "commit": info["commit"], "build": info["build"],
              "processor": info["processor"]["name"], "cases": []}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for dimension, solver, balls, fraction, until in CASES:
            for label, kinds in [("rows", []), ("all but paths", KINDS), ("paths", OF_EVENTS)]:
                if label == "paths" and solver != "events":
                    continue
                ratios = []
                for _ in range(options.repeats):
                    plain = seconds(program, scene(dimension, solver, balls, fraction, until, [], label != "rows"), folder)
                    averaged = seconds(program, scene(dimension, solver, balls, fraction, until, kinds), folder)
                    ratios.append(averaged / plain)
                case = {"dimension": dimension, "solver": solver, "balls": balls, "packing_fraction": fraction,
                        "until": until, "what": label, "kinds": kinds, "plain_seconds": plain,
                        "ratio": statistics.median(ratios), "ratios": ratios}
                result["cases"].append(case)
                print(f"{dimension}D {solver:7} {label:14} {len(kinds):2} kinds: {case['ratio']:.3f}", flush=True)
    if options.output:
        pathlib.Path(options.output).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
