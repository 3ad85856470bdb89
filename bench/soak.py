#!/usr/bin/env python3
"""Long runs with every average on: whether memory stays, and energy.

usage: bench/soak.py CAROM [--seconds S | --count N] [--solver spring|events]... [-o RESULT.json]

Two kinds of balls in a box with walls (the mixture of the tests), with each average that the solver knows, rows, frames
and checkpoints. Once a second the resident memory is looked at, without what is mapped from files. What the first tenth of
the run takes is not counted as growth: until then lists fill that have an end. Of the rest a line is fitted; more than two
megabytes along it, and the status is 1. Energy: what the program's summary says of its drift; of collisions beside an ulp
of the energy of two balls each, of steps as the change from one half to the other in standard errors.
"""

import argparse
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST_GROWTH = 2 << 20  # bytes
ROUNDING = 2.0**-53


def resident(pid):
    """Bytes of the process that are in memory and of no file."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) << 10
    return None  # it has ended


def slope_along(samples):
    """By how much a fitted line rises from the first to the last."""
    count = len(samples)
    middle = (count - 1) / 2
    mean = sum(samples) / count
    square = sum((k - middle)**2 for k in range(count))
    return sum((k - middle) * (value - mean) for k, value in enumerate(samples)) / square * (count - 1)


def run_watched(carom, folder, until, patience):
    """One run: its summary, and the resident memory once a second."""
    run = subprocess.Popen([carom, "run", "soak.toml", "--quiet", "--json", "--force", "--until", repr(until), "--set",
                            f"output.every={until / 500}", "--set", f"output.observables_every={until / 100000}",
                            "--checkpoint-every", repr(until / 50), "--threads", "1"], cwd=folder,
                           stdout=subprocess.PIPE, text=True)
    samples = []
    begin = time.monotonic()
    while run.poll() is None:
        time.sleep(1.0)
        if (bytes_now := resident(run.pid)) is not None:
            samples.append(bytes_now)
        if time.monotonic() - begin > patience:
            run.send_signal(signal.SIGINT)  # what was done counts
            run.wait()
    if run.returncode not in (0, 130):
        raise SystemExit(f"ended with status {run.returncode}")
    return json.loads(run.stdout.read().splitlines()[-1]), samples


def soak(carom, scene, seconds, count, folder):
    (folder / "soak.toml").write_text(scene)
    until = 300.0
    summary, samples = run_watched(carom, folder, until, math.inf)
    unit = "collisions" if summary["solver"] == "events" else "steps"
    if count:  # collisions vary by some per mille
        summary, samples = run_watched(carom, folder, until * 1.01 * count / summary[unit], math.inf)
    while not count and len(samples) < 0.5 * seconds:  # a machine that others use too has no speed to be asked for once
        until *= max(2.0, seconds / summary["wall_seconds"])
        summary, samples = run_watched(carom, folder, until, 1.2 * seconds)
    settled = samples[len(samples) // 10:]
    done = int(summary[unit])
    result = {"solver": summary["solver"], unit: done, "balls": summary["balls"],
              "seconds": round(summary["wall_seconds"]), "rows": summary["rows"], "frames": summary["frames"],
              "resident_MB": [round(samples[int(part * (len(samples) - 1))] / 1e6, 2)
                              for part in (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)],
              "growth_kB": round(slope_along(settled) / 1e3, 1),
              "growth_of_second_half_kB": round(slope_along(samples[len(samples) // 2:]) / 1e3, 1),
              "energy_drift": summary["energy_drift"],
              "total_energy_drift_in_errors": summary["means"]["values"]["total_energy"]["drift"]}
    if unit == "collisions":
        result["most_that_rounding_makes"] = 2.0 * ROUNDING * done / summary["balls"]
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("carom", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=300.0, help="of each solver, about")
    parser.add_argument("--count", type=float, help="of collisions, or of steps, instead")
    parser.add_argument("--solver", action="append", choices=("spring", "events"))
    parser.add_argument("-o", "--output", type=pathlib.Path)
    options = parser.parse_args()
    carom = options.carom.resolve()
    os.environ |= {"CAROM_PROGRAM": str(carom), "CAROM_SOURCE_DIR": str(ROOT)}
    sys.path[:0] = [str(ROOT / "tests/cli"), str(ROOT / "tests/support")]
    from averages_test import MIXTURE, observed
    info = json.loads(subprocess.run([carom, "info", "--json"], capture_output=True, check=True).stdout)
    rows = []
    for solver in options.solver or ("events", "spring"):
        with tempfile.TemporaryDirectory() as folder:
            rows.append(soak(carom, MIXTURE % solver + observed(solver), options.seconds, options.count, pathlib.Path(folder)))
        print(json.dumps(rows[-1]), flush=True)
    if options.output:
        options.output.write_text(json.dumps(
            {"what": "long runs of 90 disks with every average on: resident memory without mapped files, and energy",
             "command": " ".join(["bench/soak.py", *sys.argv[1:]]), "commit": info["commit"],
             "processor": info["processor"], "build": info["build"], "rows": rows}, indent=1) + "\n")
    return max(row["growth_kB"] for row in rows) * 1e3 > MOST_GROWTH


if __name__ == "__main__":
    sys.exit(main())
