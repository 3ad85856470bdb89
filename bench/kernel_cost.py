#!/usr/bin/env python3
"""What a step of the CUDA engine costs, counted without a GPU: its PTX is executed on the processor (tests/device), in gases of
the bench that have come to equilibrium, and what its warps execute is added up. An instruction counts once for all lanes of a
warp that execute it together. PTX is not what a GPU executes: ptxas makes one of two instructions here and two of one there; but
of twice as many it makes about twice as many. Registers and spills are ptxas's own.

usage: bench/kernel_cost.py BUILD [-o RESULT.json] [--balls N] [--only TEXT]

Per 32 balls and step: `step`, the step's own kernel; `sort`, what a sort and the making of lists cost, shared by the steps
between two sorts; `all`, both. Bytes are those that a ball's thread reads and writes, of which a cache answers its neighbours'.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCE / "tests/device"))
import scenes

GASES = {
    "2D, 0.5, single": (2, 0.5, "single"),
    "3D, 0.3, single": (3, 0.3, "single"),
    "2D, 0.5, double": (2, 0.5, "double"),
    "3D, 0.3, double": (3, 0.3, "double"),
}
SETTLING = 3000  # steps: some ten collisions a ball
COUNTED = 64
SORT_KERNELS = ("NewCellBody", "ClearCellBody", "TakePlaceBody", "ReorderBody", "SortedBody", "ListGroupBody")


def measure(build, dimension, fraction, precision, balls):
    build = pathlib.Path(build).resolve()
    program = build / "bin/carom_on_ptx"
    scene = scenes.gas(dimension, balls, fraction, box={"boundary": ["periodic"] * dimension},
                       output={"every": 0, "observables_every": 0})
    common = ["--json", "--quiet", "--force", "--threads", "2"]
    with tempfile.TemporaryDirectory(prefix="carom-cost-") as folder:
        def carom(*arguments, **environment):
            done = subprocess.run([program, *arguments, *common], cwd=folder, capture_output=True, text=True,
                                  env={**scenes.os.environ, **environment})
            if done.returncode != 0:
                sys.exit(f"{' '.join(arguments)}: status {done.returncode}: {done.stderr.strip()[-500:]}")
            return json.loads(done.stdout)

        pathlib.Path(folder, "s.toml").write_text(scenes.text_of(scene))
        settled = carom("run", "s.toml", "--precision", precision, "--backend", "cpu", "--steps", str(SETTLING), "-o", "a.h5")
        counted = carom("run", "--resume", "a.checkpoint.h5", "--backend", "cuda", "--steps", str(SETTLING + COUNTED), "-o", "b.h5",
                        PTX_COOPERATIVE="0",  # the launches of large systems
                        PTX_MODULES=f"{build}/tests/device/plain", PTX_PTXAS=str(build / "ptxas-report.txt"), PTX_COUNT=f"{folder}/counts.json")
        if counted["backend"] != "cuda":
            sys.exit("the counted run was not on the CUDA backend")
        kernels = json.loads(pathlib.Path(folder, "counts.json").read_text())
    step = [kernel for kernel in kernels if kernel["kernel"].startswith("step_kernel")]
    if len(step) != 1:
        sys.exit(f"{len(step)} step kernels in {[kernel['kernel'] for kernel in kernels]}")
    step = step[0]
    # Warps that find a step halted do nothing and are few; those that stepped are all warps of the steps counted.
    warps = (balls + 31) // 32
    per_step = warps * COUNTED
    sorting = sum(kernel["instructions"] / kernel["launches"] for kernel in kernels
                  if any(name in kernel["kernel"] for name in SORT_KERNELS)) / warps
    between = SETTLING / settled["sorts"]
    result = {name: step[name] / per_step for name in ("instructions", "loads", "stores", "atomics")}
    result = {"step": round(result["instructions"], 1), "sort": round(sorting / between, 1),
              "all": round(result["instructions"] + sorting / between, 1), "loads": round(result["loads"], 1),
              "stores": round(result["stores"], 1), "atomics": round(result["atomics"], 2),
              "bytes_read_per_ball": round(step["bytes_loaded"] / (balls * COUNTED), 1),
              "bytes_written_per_ball": round(step["bytes_stored"] / (balls * COUNTED), 1),
              "lanes_used": round(step["thread_instructions"] / (32 * step["instructions"]), 3),
              "registers": step["registers"], "spill_bytes": step["spill_bytes"], "steps_between_sorts": round(between, 1)}
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build")
    parser.add_argument("-o", "--output", type=pathlib.Path)
    parser.add_argument("--balls", type=int, default=2048)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    results = {}
    for name, (dimension, fraction, precision) in GASES.items():
        if args.only in name:
            results[name] = measure(args.build, dimension, fraction, precision, args.balls)
            print(f"{name}: {results[name]}", flush=True)
    if args.output:
        info = json.loads(subprocess.run([pathlib.Path(args.build) / "bin/carom_on_ptx", "info", "--json"],
                                         capture_output=True, text=True, check=True).stdout)
        kept = {"command": f"bench/kernel_cost.py BUILD --balls {args.balls}", "commit": info["commit"],
                "compiler": compiler(args.build), "balls": args.balls, "per": "32 balls and step", "gases": results}
        args.output.write_text(json.dumps(kept, indent=1) + "\n")


def compiler(build):
    """The CUDA compiler of a build: another one makes other instructions."""
    cache = pathlib.Path(build, "CMakeFiles").glob("*/CMakeCUDACompiler.cmake")
    for line in next(cache).read_text().splitlines():
        if line.startswith("set(CMAKE_CUDA_COMPILER_VERSION "):
            return "nvcc " + line.split('"')[1]
    return "unknown"


if __name__ == "__main__":
    main()
