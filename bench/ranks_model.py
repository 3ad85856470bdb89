#!/usr/bin/env python3
"""What a step shared by ranks costs: constants of the model in docs/clusters.md, measured here, and the model beside runs of
2 to 8 ranks that they were not taken from.

usage: bench/ranks_model.py CAROM [-o RESULT.json] [--turns N] [--dimension D] [--quick]

The time of a rank's step is what its balls take, and what sharing adds:

    T = (n t_ball (1 + imbalance) + c t_copy) (1 + unevenness) + m t_message,

n its balls, c the copies it sends, m its messages. What a ball takes depends on how much of its share of the balls a core's
cache holds, so t_ball is that of a process which has a box of that size for itself, beside as many others as there are cores. A
copy's time is taken from two ranks on one gas in a flat box: cut across, it has few copies; cut along, FLATNESS times as many;
what the bricks take alone is subtracted. Cut across, with many balls, it has next to nothing to send, so what it takes longer
than alone is waiting for whichever core is slower at the moment: the unevenness of this machine's cores. What a message costs,
however short, comes from a gas so small that it does little else: on two ranks, and on eight for ranks that share cores.
The runs that check the model are others. Where there are more ranks than cores, a core does the steps of several ranks, one
after the other, and a step takes as many T as a core has ranks, rounded up.

All ranks have one thread. Times are of steps alone (step_seconds, rank_seconds of carom's summary): no placing, no files.

Last, what the model says of GPUs on a cluster, of which nothing is measured: CLUSTER holds all that is assumed.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import tempfile

from spring_against_lammps import DT, STIFFNESS, call

FLATNESS = {2: 64, 3: 16}  # so that copies are some tenth of the balls
CUTS = {2: [[2, 1], [3, 1], [2, 2], [3, 2], [4, 2]], 3: [[2, 1, 1], [3, 1, 1], [2, 2, 1], [3, 2, 1], [2, 2, 2]]}
START = 100

# A GPU's rate is what it would read of memory in a step (bench/results/kernel_cost.json: 193 bytes a ball in 3D, single
# precision) at a third of 3.35 TB/s. The others are round numbers of today's networks.
CLUSTER = {"gpu_ball_steps_per_second": 5e9, "gpu_bytes_a_ball": 240, "bytes_per_second": 25e9, "message_seconds": 2e-6,
           "word_seconds_per_doubling": 3e-6, "steps_per_word": 32, "wait_seconds": 30e-6, "imbalance": 0.05,
           "steps_per_dealing": 40, "record_bytes": 52, "dealing_bytes_per_second": 5e9}
CLUSTER_CASES = [(10**9, 64), (10**9, 512), (10**11, 4096)]


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

    def place(self, dimension, fraction, balls, shape):
        name = f"gas{dimension}_{balls}_" + "x".join(f"{along:g}" for along in shape)
        if name not in self.placed:
            (self.folder / f"{name}.toml").write_text(scene(dimension, fraction, balls, shape))
            call([self.carom, "run", f"{name}.toml", "-o", f"{name}.h5", "--steps", str(START), "--quiet"], self.folder)
            self.placed.add(name)
        return name

    def command(self, name, out, steps):
        return [self.carom, "run", "--resume", f"{name}.checkpoint.h5", "-o", f"{out}.h5",
                "--checkpoint", f"{out}.checkpoint.h5", "--steps", str(START + steps), "--threads", "1", "--quiet", "--json",
                "--force"]

    def run(self, dimension, fraction, balls, shape, ranks, layers, steps):
        """The run's figures, with seconds a step, and balls, copies and messages of a rank."""
        name = self.place(dimension, fraction, balls, shape)
        summary = json.loads(call(["mpirun", "--allow-run-as-root", "-n", str(ranks), *self.command(name, "out", steps),
                                   "--ranks-per-axis", ",".join(map(str, layers))], self.folder))
        seconds = summary["rank_seconds"] / steps
        return {"dimension": dimension, "balls": balls, "ranks": ranks, "layers": layers, "seconds": seconds,
                "waiting": seconds * summary["rank_waiting_share"], "own_balls": balls / ranks,
                "copies": summary["rank_copies"] / ranks, "messages": summary["rank_messages_per_step"] / ranks,
                "bytes": summary["rank_bytes_per_step"] / ranks, "imbalance": summary["rank_imbalance"]}

    def alone(self, dimension, fraction, balls, shape, ranks, layers, steps):
        """Seconds a step of a rank's balls, of a process that has a core's share of all for itself, beside as many others as
        there are cores."""
        cores = min(os.cpu_count(), ranks)
        cut = layers if ranks == cores else [cores, 1, 1]
        name = self.place(dimension, fraction, balls // cores, [along / parts for along, parts in zip(shape, cut)])
        at_once = [subprocess.Popen(self.command(name, f"out{k}", steps), cwd=self.folder, stdout=subprocess.PIPE, text=True)
                   for k in range(cores)]
        summaries = [json.loads(one.communicate()[0]) for one in at_once]
        return statistics.mean(summary["step_seconds"] for summary in summaries) / steps * cores / ranks

    def quickest(self, turns, *case):
        """The run and the brick alone that took least of all turns: what a shared machine's other users leave undisturbed."""
        rows = [self.run(*case) | {"alone": self.alone(*case)} for _ in range(turns)]
        least = min(rows, key=lambda row: row["seconds"])
        return {**least, "alone": min(row["alone"] for row in rows), "all_seconds": sorted(row["seconds"] for row in rows)}


def constants(bench, dimension, fraction, balls, steps, turns, cuts):
    flat = [FLATNESS[dimension], 1, 1][:dimension]
    across = [2, 1, 1][:dimension]
    along = [1, 2, 1][:dimension]
    few = bench.quickest(turns, dimension, fraction, balls // 10, flat, 2, across, 20 * steps)
    many = bench.quickest(turns, dimension, fraction, balls // 10, flat, 2, along, 20 * steps)
    small = [bench.quickest(turns, dimension, fraction, 2000, [1] * dimension, math.prod(layers), layers, 10 * steps)
             for layers in (cuts[0], cuts[-1])]
    large = bench.quickest(turns, dimension, fraction, balls, flat, 2, across, steps)
    uneven = large["seconds"] / large["alone"] / (1 + large["imbalance"]) - 1
    beyond = [row["seconds"] / (1 + uneven) - row["alone"] * (1 + row["imbalance"]) for row in (few, many)]
    return {"dimension": dimension, "copy_seconds": (beyond[1] - beyond[0]) / (many["copies"] - few["copies"]),
            "unevenness": uneven, "copy_bytes": many["bytes"] / many["copies"],
            "message_seconds": [(row["seconds"] / rounds(row) - row["alone"]) / row["messages"] for row in small],
            "taken_from": [few, many, *small, large]}


def rounds(row):
    return math.ceil(row["ranks"] / os.cpu_count())


def reckoned(row, known):
    work = row["alone"] * (1 + row["imbalance"]) + row["copies"] * known["copy_seconds"]
    messages = row["messages"] * known["message_seconds"][rounds(row) > 1]
    return (work * (1 + known["unevenness"]) + messages) * rounds(row)


def on_cluster(balls, ranks, fraction=0.3, margin=0.15):
    """Seconds of a step of spheres in single precision, by part, on a cube of GPUs."""
    own = balls / ranks
    width = (1 + margin) / (math.pi / 6 / fraction) ** (1 / 3)  # of a cell, in mean distances of balls
    side = own ** (1 / 3)
    copies = (side + 2 * width) ** 3 - own  # faces, edges and corners
    inner = max(0.0, side - 2 * width) ** 3  # messages are under way while these are stepped
    messages = 2 * 26  # to each neighbour what the host must know, and the places
    parts = {"steps": own / CLUSTER["gpu_ball_steps_per_second"],
             "imbalance": CLUSTER["imbalance"] * own / CLUSTER["gpu_ball_steps_per_second"],
             "bytes": 12 * copies / CLUSTER["bytes_per_second"],
             "messages": messages * CLUSTER["message_seconds"],
             "waits": CLUSTER["wait_seconds"],
             "words": CLUSTER["word_seconds_per_doubling"] * math.log2(ranks) / CLUSTER["steps_per_word"],
             "dealing": (2 * CLUSTER["record_bytes"] * copies / CLUSTER["dealing_bytes_per_second"] +
                         ranks * CLUSTER["message_seconds"]) / CLUSTER["steps_per_dealing"]}
    under_way = parts["bytes"] + parts["messages"]
    parts["hidden"] = -min(under_way, inner / CLUSTER["gpu_ball_steps_per_second"])
    step = sum(parts.values())
    return {"balls": balls, "gpus": ranks, "balls_per_gpu": own, "copies": copies, "bytes": 12 * copies,
            "gpu_memory_bytes": CLUSTER["gpu_bytes_a_ball"] * (own + copies) + balls, "seconds": step,
            "efficiency": parts["steps"] / step, "parts": parts}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("carom")
    parser.add_argument("-o", "--output")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="10^5 balls")
    parser.add_argument("--dimension", type=int, choices=(2, 3), help="only this one; RESULT keeps the other")
    options = parser.parse_args()
    carom = str(pathlib.Path(options.carom).resolve())
    os.environ.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
    cores = os.cpu_count()
    balls, steps = (100_000, 400) if options.quick else (300_000, 250)
    found, checked = [], []
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(carom, pathlib.Path(name))
        for dimension, fraction in (2, 0.5), (3, 0.3):
            if options.dimension not in (None, dimension):
                continue
            cuts = CUTS[dimension]
            known = constants(bench, dimension, fraction, balls, steps, 2 * options.turns, cuts)
            found.append(known)
            print(f"{dimension}D: {1e9 * known['copy_seconds']:.3g} ns and "
                  f"{known['copy_bytes']:.3g} bytes a copy, "
                  "{:.3g} us a message, {:.3g} us where ranks share cores, ".format(*(1e6 * t for t in known["message_seconds"]))
                  + f"unevenness {known['unevenness']:.3f}", flush=True)
            for layers in cuts:
                row = bench.quickest(options.turns, dimension, fraction, balls, [1] * dimension, math.prod(layers),
                                     layers, steps)
                row["reckoned_seconds"] = reckoned(row, known)
                row["measured_over_reckoned"] = row["seconds"] / row["reckoned_seconds"]
                checked.append(row)
                print(f"   {row['ranks']} ranks, {' x '.join(map(str, row['layers']))}: "
                      f"{1e9 * row['alone'] / row['own_balls']:.3g} ns a ball, {1e3 * row['seconds']:.4g} ms a step, "
                      f"reckoned {1e3 * row['reckoned_seconds']:.4g}, ratio "
                      f"{row['measured_over_reckoned']:.3f}", flush=True)
    print(f"measured over reckoned: {min(r['measured_over_reckoned'] for r in checked):.3f} to "
          f"{max(r['measured_over_reckoned'] for r in checked):.3f}, median "
          f"{statistics.median(r['measured_over_reckoned'] for r in checked):.3f}")
    predicted = [on_cluster(*case) for case in CLUSTER_CASES]
    for row in predicted:
        print(f"{row['balls']:.0e} balls on {row['gpus']} GPUs: {1e3 * row['seconds']:.3g} ms a step, efficiency "
              f"{row['efficiency']:.2f}, {1e-6 * row['bytes']:.3g} MB sent and {1e-9 * row['gpu_memory_bytes']:.3g} GB a GPU; "
              + ", ".join(f"{name} {1e6 * seconds:.3g} us" for name, seconds in row["parts"].items()))
    if options.output:
        if options.dimension is not None and pathlib.Path(options.output).exists():
            before = json.loads(pathlib.Path(options.output).read_text())
            found = sorted(found + [one for one in before["constants"] if one["dimension"] != options.dimension],
                           key=lambda one: one["dimension"])
            checked = sorted(checked + [row for row in before["checked"] if row["dimension"] != options.dimension],
                             key=lambda row: row["dimension"])
        info = json.loads(call([carom, "info", "--json"], "."))
        result = {"command": f"bench/ranks_model.py build/default/bin/carom --turns {options.turns}", "commit": info.get("commit"),
                  "processor": info.get("processor"), "cores": cores, "constants": found, "checked": checked,
                  "assumed": CLUSTER, "predicted": predicted}
        pathlib.Path(options.output).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
