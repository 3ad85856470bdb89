#!/usr/bin/env python3
"""What observables cost at their default intervals, rows alone and with one [[observe]] of each kind: the part of a run, by
its own clock and on all processors, in which the solver waits for them. Free paths cost within the solver, which counts
impacts; for these the processor time of a run with them is held against one without, in turns. The median of the repeats
counts.

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

KINDS = ["speed", "velocity", "density", "temperature_profile", "velocity_profile", "density_map", "temperature_map",
         "velocity_map", "gr", "msd", "self_diffusion", "vacf", "temperature", "kurtosis", "stress", "kinetic_stress",
         "collisional_stress", "pressure", "compressibility"]
OF_EVENTS = ["free_path", "mean_free_path", "collision_rate"]

# Dimension, solver, balls, packing fraction, time: some seconds of one core each.
CASES = [(2, "events", 10000, 0.3, 600.0), (3, "events", 10000, 0.2, 160.0),
         (2, "spring", 10000, 0.3, 60.0), (3, "spring", 10000, 0.2, 40.0)]


def scene(dimension, solver, balls, fraction, until, kinds):
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
[[fill]]
count = {balls}
radius = 0.5
mass = 1.0
temperature = 1.0
"""
    return text + "".join(f'[[observe]]\nname = "a_{kind}"\nkind = "{kind}"\n' for kind in kinds)


def run(program, text, folder, *more):
    """What the run says of itself, and the processor time that it took."""
    path = folder / "scene.toml"
    path.write_text(text)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = subprocess.run([program, "run", path, "-o", folder / "out.h5", "--force", "--json", *more], check=True,
                          capture_output=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (json.loads(said.splitlines()[-1]),
            after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def share(program, text, folder, repeats):
    """The part of the run in which the solver waited for rows and averages."""
    runs = [run(program, text, folder)[0] for _ in range(repeats)]
    shares = [said["observables_seconds"] / said["wall_seconds"] for said in runs]
    return {"share": statistics.median(shares), "shares": shares, "wall_seconds": [said["wall_seconds"] for said in runs]}


def ratio(program, with_it, without, folder, repeats):
    """Processor time of one thread: with over without, in turns."""
    def seconds(text):
        return run(program, text, folder, "--threads", "1")[1]

    pairs = [(seconds(without), seconds(with_it)) for _ in range(repeats)]
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
    result = {"what": "part of the time for rows and averages; processor time with paths over that without; default intervals",
              "command": "bench/observables_cost.py CAROM", "commit": info["commit"], "build": info["build"],
              "processor": info["processor"]["name"], "cases": []}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for dimension, solver, balls, fraction, until in CASES:
            for label, kinds in [("rows", []), ("rows and averages", KINDS), ("rows and paths", OF_EVENTS)]:
                if kinds is OF_EVENTS and solver != "events":
                    continue
                text = scene(dimension, solver, balls, fraction, until, kinds)
                case = {"dimension": dimension, "solver": solver, "balls": balls, "packing_fraction": fraction,
                        "until": until, "what": label, "kinds": kinds,
                        **share(program, text, folder, options.repeats)}
                line = f"{dimension}D {solver:7} {label:18} {len(kinds):2} kinds: {100 * case['share']:.2f} % of the time"
                if kinds is OF_EVENTS:
                    rows = scene(dimension, solver, balls, fraction, until, [])
                    case["processor"] = ratio(program, text, rows, folder, options.repeats)
                    line += f"; processor time {case['processor']['ratio']:.3f} of that with rows alone"
                result["cases"].append(case)
                print(line, flush=True)
    if options.output:
        pathlib.Path(options.output).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
