#!/usr/bin/env python3
"""What a step shared by ranks costs: constants of the model in docs/clusters.md, measured here, and the model beside runs of
2 to 8 ranks that they were not taken from.

usage: bench/ranks_model.py CAROM [-o RESULT.json] [--turns N] [--quick]

The time of a rank's step is a line in what it has to do,

    T = n t_ball + c t_copy + m t_message,

n its balls, c the copies it sends, m its messages. Taken from runs of two ranks on the same gas in a flat box: cut across,
it has few copies; cut along, FLATNESS times as many. What differs is copies' alone. What a message costs, however short, comes
from a gas so small that it does little else. The runs that check the model have other boxes, and more ranks; where there are
more ranks than cores, a core does the work of several, one after the other.

All ranks have one thread. Times are of steps alone (rank_seconds of carom's summary): no placing, no files.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import tempfile

from spring_against_lammps import DT, STIFFNESS, call

FLATNESS = 16
START = 100


def scene(dimension, fraction, balls, shape):
    volume = math.pi / 4 if dimension == 2 else math.pi / 6
    unit = (balls * volume / fraction / math.prod(shape)) ** (1 / dimension)
    return f"""
[scene]
dimension = {dimension}
[box]
size = {[unit * along for along in shape]}
boundary = "periodic"
[spring]
stiffness = {STIFFNESS}
dt = {DT!r}
[run]
backend = "cpu"
[output]
every = 0
observables_every = 0
[[fill]]
count = {balls}
radius = 0.5
mass = 1.0
temperature = {1.0 / dimension!r}
"""


class Bench:
    """Runs of one program, each gas placed once."""

    def __init__(self, carom, folder):
        self.carom, self.folder, self.placed = carom, folder, set()

    def run(self, dimension, fraction, balls, shape, ranks, layers, steps):
        """The run's figures, with seconds a step, and balls, copies and messages of a rank."""
        name = f"gas{dimension}_{balls}_" + "x".join(map(str, shape))
        if name not in self.placed:
            (self.folder / f"{name}.toml").write_text(scene(dimension, fraction, balls, shape))
            call([self.carom, "run", f"{name}.toml", "-o", f"{name}.h5", "--steps", str(START), "--quiet"], self.folder)
            self.placed.add(name)
        summary = json.loads(call(
            ["mpirun", "--allow-run-as-root", "-n", str(ranks), self.carom, "run", "--resume", f"{name}.checkpoint.h5", "-o",
             "out.h5", "--checkpoint", "out.checkpoint.h5", "--steps", str(START + steps), "--threads", "1", "--ranks-per-axis",
             ",".join(map(str, layers)), "--quiet", "--json", "--force"], self.folder))
        seconds = summary["rank_seconds"] / steps
        return {"dimension": dimension, "balls": balls, "ranks": ranks, "layers": layers, "seconds": seconds,
                "waiting": seconds * summary["rank_waiting_share"], "own_balls": balls / ranks,
                "copies": summary["rank_copies"] / ranks, "messages": summary["rank_messages_per_step"] / ranks,
                "bytes": summary["rank_bytes_per_step"] / ranks, "imbalance": summary["rank_imbalance"]}

    def quickest(self, turns, *case):
        """Of several runs: others on the machine only ever make one slower."""
        return min((self.run(*case) for _ in range(turns)), key=lambda row: row["seconds"])


def constants(bench, dimension, fraction, balls, steps, turns):
    flat = [FLATNESS, 1, 1][:dimension]
    across = [2, 1, 1][:dimension]
    along = [1, 2, 1][:dimension]
    few = bench.quickest(turns, dimension, fraction, balls, flat, 2, across, steps)
    many = bench.quickest(turns, dimension, fraction, balls, flat, 2, along, steps)
    small = bench.quickest(turns, dimension, fraction, 1000, [1] * dimension, 2, across, 20 * steps)
    message = small["waiting"] / small["messages"]
    copy = (many["seconds"] - few["seconds"]) / (many["copies"] - few["copies"])
    ball = (few["seconds"] - few["copies"] * copy - few["messages"] * message) / few["own_balls"]
    return {"dimension": dimension, "ball_seconds": ball, "copy_seconds": copy, "message_seconds": message,
            "copy_bytes": many["bytes"] / many["copies"], "taken_from": [few, many, small]}


def reckoned(row, known, cores):
    work = row["own_balls"] * known["ball_seconds"] + row["copies"] * known["copy_seconds"]
    return (work * (1 + row["imbalance"]) + row["messages"] * known["message_seconds"]) * max(1, row["ranks"] / cores)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("carom")
    parser.add_argument("-o", "--output")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="10^5 balls")
    options = parser.parse_args()
    carom = str(pathlib.Path(options.carom).resolve())
    os.environ.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
    cores = os.cpu_count()
    balls, steps = (100_000, 400) if options.quick else (1_000_000, 150)
    found, checked = [], []
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(carom, pathlib.Path(name))
        for dimension, fraction in (2, 0.5), (3, 0.3):
            known = constants(bench, dimension, fraction, balls, steps, options.turns)
            found.append(known)
            print(f"{dimension}D: {1e9 * known['ball_seconds']:.3g} ns a ball, {1e9 * known['copy_seconds']:.3g} ns and "
                  f"{known['copy_bytes']:.3g} bytes a copy, {1e6 * known['message_seconds']:.3g} us a message", flush=True)
            for layers in [2, 1, 1], [2, 2, 1], [4, 2, 1], [2, 2, 2]:
                if dimension == 2 and layers[2] > 1:
                    continue
                row = bench.quickest(options.turns, dimension, fraction, balls, [1] * dimension, math.prod(layers),
                                     layers[:dimension], steps)
                row["reckoned_seconds"] = reckoned(row, known, cores)
                row["measured_over_reckoned"] = row["seconds"] / row["reckoned_seconds"]
                checked.append(row)
                print(f"   {row['ranks']} ranks, {' x '.join(map(str, row['layers']))}: {1e3 * row['seconds']:.4g} ms a step, "
                      f"reckoned {1e3 * row['reckoned_seconds']:.4g}, ratio {row['measured_over_reckoned']:.3f}", flush=True)
    print(f"measured over reckoned: {min(r['measured_over_reckoned'] for r in checked):.3f} to "
          f"{max(r['measured_over_reckoned'] for r in checked):.3f}, median "
          f"{statistics.median(r['measured_over_reckoned'] for r in checked):.3f}")
    if options.output:
        info = json.loads(call([carom, "info", "--json"], "."))
        result = {"command": f"bench/ranks_model.py build/release/bin/carom --turns {options.turns}", "commit": info.get("commit"),
                  "processor": info.get("processor"), "cores": cores, "constants": found, "checked": checked}
        pathlib.Path(options.output).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
