#!/usr/bin/env python3
"""What observables cost at their default intervals: a run with its rows over one without, and with one [[observe]] of each
kind over that with none; by the clock on all processors, as users wait for it, and by the processor time of one thread.
Runs take turns, so that a busy machine slows both alike; the median of the ratios counts.

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
import time

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


def clock_seconds(command):
    before = time.perf_counter()
    subprocess.run(command, check=True)
    return time.perf_counter() - before


def processor_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*command, "--threads", "1"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ratio(program, with_it, without, folder, seconds, repeats):
    def run(text):
        path = folder / "scene.toml"
        path.write_text(text)
        return seconds([program, "run", path, "-o", folder / "out.h5", "--force", "--quiet"])

    pairs = [(run(without), run(with_it)) for _ in range(repeats)]
    ratios = [with_it / without for without, with_it in pairs]
    return {"ratio": statistics.median(ratios), "ratios": ratios,
            "seconds_without": statistics.median(without for without, _ in pairs)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("-o", "--output")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    info = json.loads(subprocess.run([program, "info", "--json"], capture_output=True, check=True).stdout)
    result = {"what": "time with rows, or with one average of each kind, over that without; default intervals",
              "command": "bench/observables_cost.py CAROM", "commit": info["commit"], "build": info["build"],
              "processor": info["processor"]["name"], "cases": []}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for dimension, solver, balls, fraction, until in CASES:
            for label, kinds in [("rows", []), ("all but paths", KINDS), ("paths", OF_EVENTS)]:
                if label == "paths" and solver != "events":
                    continue
                texts = (scene(dimension, solver, balls, fraction, until, kinds),
                         scene(dimension, solver, balls, fraction, until, [], label != "rows"))
                case = {"dimension": dimension, "solver": solver, "balls": balls, "packing_fraction": fraction,
                        "until": until, "what": label, "kinds": kinds,
                        "clock": ratio(program, *texts, folder, clock_seconds, options.repeats),
                        "processor": ratio(program, *texts, folder, processor_seconds, options.repeats)}
                result["cases"].append(case)
                print(f"{dimension}D {solver:7} {label:14} {len(kinds):2} kinds: {case['clock']['ratio']:.3f} by the clock, "
                      f"{case['processor']['ratio']:.3f} of processor time", flush=True)
    if options.output:
        pathlib.Path(options.output).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
