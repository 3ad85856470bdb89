#!/usr/bin/env python3
"""What threads gain the spring solver on the CPU, beside what the machine has to give.

usage: bench/spring_threads.py CAROM [--threads N] [-o RESULT.json]

The gases of spring_against_lammps.py. In turns: one thread; N threads; N programs of one thread each at the same time,
each on a processor of its own, whose rates are added. These share nothing but the machine, so what they fall short of N
by is memory bandwidth and the like, which no thread of one program could avoid either.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import spring_against_lammps as gases

CASES = [(2, 0.5, 100_000, 2500), (3, 0.3, 100_000, 1500), (2, 0.5, 1_000_000, 200), (3, 0.3, 1_000_000, 120)]
WARM = 150  # steps


def started(carom, checkpoint, output, threads, steps, processor=None):
    pinned = [] if processor is None else ["taskset", "-c", str(processor)]
    return subprocess.Popen(
        [*pinned, carom, "run", "--resume", checkpoint, "--threads", str(threads), "--until",
         repr((WARM + steps) * gases.DT), "--json", "--quiet", "--force", "-o", output],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def rate(process):
    output, _ = process.communicate()
    if process.returncode != 0:
        raise SystemExit(f"{process.args} ended with status {process.returncode}")
    return json.loads(output.splitlines()[-1])["ball_steps_per_second"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("carom")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("-o", "--output")
    arguments = parser.parse_args()
    carom, threads = arguments.carom, arguments.threads
    info = json.loads(subprocess.run([carom, "info", "--json"], capture_output=True, check=True).stdout)
    result = {"command": f"bench/spring_threads.py build/release/bin/carom --threads {threads}",
              "commit": info["commit"], "processor": info["processor"], "threads": threads, "rows": []}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for dimension, fraction, balls, steps in CASES:
            (folder / "gas.toml").write_text(gases.scene(dimension, fraction, balls)[1])
            checkpoint = folder / "gas.checkpoint"
            subprocess.run([carom, "run", folder / "gas.toml", "--steps", str(WARM), "--quiet", "--force", "-o",
                            folder / "warm.h5", "--checkpoint", checkpoint], check=True)
            best = {"one": 0.0, "threads": 0.0, "programs": 0.0}
            for _ in range(arguments.turns):
                measured = {
                    "one": rate(started(carom, checkpoint, folder / "a.h5", 1, steps)),
                    "threads": rate(started(carom, checkpoint, folder / "a.h5", threads, steps)),
                    "programs": sum([rate(p) for p in [
                        started(carom, checkpoint, folder / f"{k}.h5", 1, steps, k) for k in range(threads)]])}
                best = {name: max(best[name], value) for name, value in measured.items()}
            row = {"dimension": dimension, "packing_fraction": fraction, "balls": balls, "steps": steps,
                   "one_thread_ball_steps_per_second": best["one"],
                   "threads_over_one": best["threads"] / best["one"],
                   "programs_over_one": best["programs"] / best["one"]}
            result["rows"].append(row)
            print(f"{dimension}D {balls:8d}  {best['one']:.3g}/s  {threads} threads {row['threads_over_one']:.2f}  "
                  f"{threads} programs {row['programs_over_one']:.2f}", flush=True)
    if arguments.output:
        pathlib.Path(arguments.output).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
