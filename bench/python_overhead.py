#!/usr/bin/env python3
"""What a run costs from Python, beside the same run from the shell: 10^5 balls, with a callback each 1000 steps; and what
frame() of 10^6 balls costs, beside the copy of the frame that it is.

usage: PYTHONPATH=BUILD/python bench/python_overhead.py BUILD/bin/carom [-o RESULT.json] [--pairs N] [--steps N]

Time is processor time of the process: from Python without what `import carom` takes, with NumPy, which is told by itself. Both
write the trajectory. Runs take turns, so that other load meets both.
"""

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

SCENE = "gas2d"

FROM_PYTHON = """
import json, sys, time, carom
begin = time.process_time()
scene = carom.Scene(sys.argv[1])
run = carom.Run(scene, until=float(sys.argv[2]), threads=1, output=sys.argv[3], force=True)
calls = []
run.every(float(sys.argv[4]), lambda run: calls.append((run.time, run.totals.energy)))
run.advance()
print(json.dumps(dict(run.summary, calls=len(calls), begin=begin, seconds=time.process_time() - begin)))
"""


def timed(command):
    """Its JSON, and processor seconds of the process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return json.loads(done.stdout), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def spread(values):
    return {"least": round(min(values), 4), "median": round(statistics.median(values), 4), "most": round(max(values), 4)}


def frame_seconds(balls, repeats):
    """frame() of a gas of that many balls, and copying as many numbers, in turn."""
    import carom
    import numpy as np
    edge = (balls / 0.2) ** 0.5
    scene = carom.Scene({"scene": {"dimension": 2}, "box": {"size": [edge, edge]}, "run": {"until": 1.0},
                         "fill": [{"count": balls, "radius": 0.25, "mass": 1.0, "temperature": 1.0, "arrangement": "lattice"}]})
    run = carom.Run(scene, threads=1)
    frame = run.frame()
    columns = [frame.x, frame.y, frame.vx, frame.vy, frame.spin_z]
    of_frame, of_copy, of_arrays = [], [], []
    for _ in range(repeats):
        begin = time.process_time()
        frame = run.frame()
        of_frame.append(time.process_time() - begin)
        begin = time.process_time()
        views = [frame.x, frame.y, frame.vx, frame.vy, frame.spin_z, frame.gone]
        of_arrays.append(time.process_time() - begin)
        begin = time.process_time()
        copies = [np.array(column) for column in columns]
        of_copy.append(time.process_time() - begin)
        del views, copies
    return {"balls": balls, "frame_seconds": statistics.median(of_frame),
            "arrays_of_it_seconds": statistics.median(of_arrays),
            "numpy_copy_of_five_columns_seconds": statistics.median(of_copy)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("carom")
    parser.add_argument("-o", "--output")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--steps", type=int, default=4000)
    options = parser.parse_args()
    checked = json.loads(subprocess.run([options.carom, "check", SCENE, "--json"], capture_output=True, text=True,
                                        check=True).stdout)
    until = repr(options.steps * checked["dt"])
    ratios, starts = [], []
    with tempfile.TemporaryDirectory() as folder:
        file = str(pathlib.Path(folder) / "run.h5")
        for pair in range(options.pairs + 1):
            shell, shell_cpu = timed([options.carom, "run", SCENE, "--until", until, "--threads", "1", "--quiet", "--json",
                                      "-o", file, "--force"])
            here, _ = timed([sys.executable, "-W", "ignore", "-c", FROM_PYTHON, SCENE, until, file,
                                    repr(1000 * checked["dt"])])
            assert here["state_hash"] == shell["state_hash"]
            assert here["calls"] == options.steps // 1000
            if pair > 0:  # the first one is not counted
                ratios.append(here["seconds"] / shell_cpu)
                starts.append(here["begin"])
    result = {
        "what": "A run from Python with a callback each 1000 steps, over the same run from the shell, in turn; frame()",
        "machine": f"{os.cpu_count()} cores, other programs running",
        "commit": subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True,
                                 text=True).stdout.strip(),
        "command": "bench/python_overhead.py " + " ".join(sys.argv[2:]),
        "run": {"scene": SCENE, "balls": here["balls"], "steps": options.steps, "threads": 1, "pairs": options.pairs,
                "shell_seconds": round(shell_cpu, 3), "ratio": spread(ratios), "import_seconds": spread(starts)},
        "frame": frame_seconds(1_000_000, 9),
    }
    text = json.dumps(result, indent=1)
    print(text)
    if options.output:
        pathlib.Path(options.output).write_text(text + "\n")


if __name__ == "__main__":
    main()
