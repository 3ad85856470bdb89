#!/usr/bin/env python3
"""Ball-steps per second of a run shared by two ranks of one thread, beside one process of two threads, and beside LAMMPS on
two ranks, on the same balls.

usage: bench/ranks.py CAROM [LAMMPS] [-o RESULT.json] [--turns N] [--quick] [--dimension D]

Balls, springs and LAMMPS as in bench/spring_against_lammps.py; carom in single precision, LAMMPS in double. All take turns,
and the times are those that the programs give for their own steps, sorts and dealings included: what a long run consists of.
What a frame costs ranks and a process is the time of a short run with FRAMES of them over that of one without.
Beside the speeds stand carom's own counts: bytes and messages a step, and the bytes that docs/clusters.md reckons with.
"""

import argparse
import json
import math
import os
import pathlib
import re
import statistics
import tempfile
import time

from spring_against_lammps import DT, call, lammps_files, scene

LAUNCH = ["mpirun", "--allow-run-as-root", "-n", "2"]
CASES = [(2, 0.5, 1_000_000, 400), (3, 0.3, 1_000_000, 300)]
QUICK = [(2, 0.5, 100_000, 1000), (3, 0.3, 100_000, 600)]
FRAMES, STEPS_A_FRAME = 10, 4
RANKS = {"ranks", "rank_imbalance", "rank_seconds", "rank_waiting_share", "rank_bytes_per_step", "rank_messages_per_step", "rank_copies",
         "rank_coasts", "rank_retreats"}


def frame_seconds(carom, start, commands, turns, folder):
    """Seconds that each of some commands takes longer for a frame, on the whole: the median of all turns."""
    run = [carom, "run", "--resume", "start.checkpoint.h5", "-o", "out.h5", "--checkpoint", "out.checkpoint.h5", "--quiet",
           "--force", "--steps", str(start + FRAMES * STEPS_A_FRAME)]
    longer = {name: [] for name in commands}
    for _ in range(turns):
        for name, (launch, threads) in commands.items():
            taken = []
            for every in 0, STEPS_A_FRAME * DT:
                began = time.monotonic()
                call([*launch, *run, "--threads", threads, "--set", f"output.every={every!r}"], folder)
                taken.append(time.monotonic() - began)
            longer[name].append((taken[1] - taken[0]) / FRAMES)
    return {name: statistics.median(values) for name, values in longer.items()}


def measure(carom, lammps, case, turns):
    dimension, fraction, balls, steps = case
    start = 200
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        size, text = scene(dimension, fraction, balls)
        (folder / "balls.toml").write_text(text)
        call([carom, "run", "balls.toml", "-o", "start.h5", "--steps", str(start), "--quiet"], folder)
        (folder / "balls.csv").write_text(call([carom, "state", "start.h5", "--csv"], folder))
        lammps_files(folder, dimension, size, balls)
        rates = {"ranks": [], "threads": [], "lammps": []}
        hashes = set()
        figures = {}
        run = [carom, "run", "--resume", "start.checkpoint.h5", "-o", "out.h5", "--checkpoint", "out.checkpoint.h5",
               "--steps", str(start + steps), "--quiet", "--json", "--force", "--threads"]
        for _ in range(turns):
            summary = json.loads(call([*LAUNCH, *run, "1"], folder))
            rates["ranks"].append(balls * steps / summary["step_seconds"])
            figures = {key: summary[key] for key in RANKS if key in summary}
            hashes.add(summary["state_hash"])
            summary = json.loads(call([*run, "2"], folder))
            rates["threads"].append(balls * steps / summary["step_seconds"])
            hashes.add(summary["state_hash"])
            if lammps:
                out = call([*LAUNCH, lammps, "-in", "in.balls", "-log", "none", "-var", "warm", "20", "-var", "steps",
                            str(steps)], folder)
                rates["lammps"].append(balls * steps / float(re.findall(r"Loop time of ([0-9.e+-]+)", out)[-1]))
        frames = frame_seconds(carom, start, {"ranks": (LAUNCH, "1"), "threads": ([], "2")}, turns, folder)
    if len(hashes) != 1:
        raise SystemExit(f"the bits differ: {hashes}")
    row = {"dimension": dimension, "packing_fraction": fraction, "balls": balls, "steps": steps, "state_hash": hashes.pop(),
           "ranks_over_threads": statistics.median(a / b for a, b in zip(rates["ranks"], rates["threads"])), **figures,
           "frame_seconds": frames}
    if lammps:
        row["ranks_over_lammps"] = statistics.median(a / b for a, b in zip(rates["ranks"], rates["lammps"]))
    # One cut across a box with walls: a layer of cells on either side, each of width (1 + margin) diameters at least.
    margin = {2: 0.2, 3: 0.15}[dimension]
    cells = math.floor(size / (1.0 + margin))
    copies = 2.0 * balls / cells
    row["reckoned_bytes_per_step"] = copies * dimension * 4 + 2 * 16
    row["rates"] = rates
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("carom")
    parser.add_argument("lammps", nargs="?", default="lmp", help="'' leaves it out")
    parser.add_argument("-o", "--output")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="10^5 balls")
    parser.add_argument("--dimension", type=int, choices=(2, 3), help="only this one; RESULT keeps the other")
    options = parser.parse_args()
    carom = str(pathlib.Path(options.carom).resolve())
    os.environ.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
    rows = []
    for case in QUICK if options.quick else CASES:
        if options.dimension not in (None, case[0]):
            continue
        row = measure(carom, options.lammps, case, options.turns)
        rows.append(row)
        print(f"{row['dimension']}D {row['balls']} balls: ranks over threads {row['ranks_over_threads']:.3f}, over LAMMPS "
              f"{row.get('ranks_over_lammps', float('nan')):.2f}; {row['rank_bytes_per_step']:.4g} bytes a step, reckoned "
              f"{row['reckoned_bytes_per_step']:.4g}; a frame {row['frame_seconds']['ranks']:.3f} s, of one process "
              f"{row['frame_seconds']['threads']:.3f} s", flush=True)
    if options.output:
        if options.dimension is not None and pathlib.Path(options.output).exists():
            before = json.loads(pathlib.Path(options.output).read_text())["rows"]
            rows = sorted(rows + [row for row in before if row["dimension"] != options.dimension],
                          key=lambda row: row["dimension"])
        info = json.loads(call([carom, "info", "--json"], "."))
        result = {"command": f"bench/ranks.py build/default/bin/carom --turns {options.turns}", "commit": info.get("commit"),
                  "processor": info.get("processor"), "rows": rows}
        pathlib.Path(options.output).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
