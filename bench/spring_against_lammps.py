#!/usr/bin/env python3
"""Ball-steps per second of carom's spring solver beside LAMMPS, on one core, on the same balls.

usage: bench/spring_against_lammps.py CAROM [LAMMPS] [-o RESULT.json] [--quick]

carom runs in single and in double precision, LAMMPS in double. Linear springs, k = 1e4, m = 1, r = 0.5, 50 steps a contact, rms speed 1, walls on all sides. Both programs start from
the same state (carom places the balls and lets them run for a while; LAMMPS reads them from carom's CSV), and take
turns, so that a machine that is sometimes slower is so for both. LAMMPS has the spring as a table (pair_style table
with linear interpolation, which is exact for it) and walls as fix wall/harmonic, with the margin that suits it best: 0.2
of a diameter in 2D, 0.15 in 3D. Times are those that the programs give for their own step loops, without output.
"""

import argparse
import csv
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import tempfile

STIFFNESS = 1.0e4
DT = math.pi / math.sqrt(2.0 * STIFFNESS) / 50.0  # a contact of two balls lasts pi / sqrt(k / m_e), m_e = 1/2

# dimension, packing fraction, balls, steps
CASES = [(2, 0.5, 10_000, 4000), (2, 0.5, 100_000, 2000), (2, 0.5, 1_000_000, 300),
         (3, 0.3, 100_000, 1000), (3, 0.3, 1_000_000, 200)]


def scene(dimension, fraction, balls):
    volume = math.pi / 4 if dimension == 2 else math.pi / 6
    size = (balls * volume / fraction) ** (1 / dimension)
    return size, f"""
[scene]
dimension = {dimension}
[box]
size = {[size] * dimension}
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


def lammps_files(folder, dimension, size, balls):
    depth = size if dimension == 3 else 1.0
    low, high = (0.0, depth) if dimension == 3 else (-0.5, 0.5)
    with open(folder / "balls.csv", newline="") as table, open(folder / "balls.data", "w") as data:
        data.write(f"balls\n\n{balls} atoms\n1 atom types\n\n0 {size!r} xlo xhi\n0 {size!r} ylo yhi\n{low} {high} zlo zhi\n\n"
                   "Masses\n\n1 1.0\n\nAtoms # atomic\n\n")
        velocities = []
        for row in csv.DictReader(table):
            number = int(row["id"]) + 1
            data.write(f"{number} 1 {row['x']} {row['y']} {row.get('z', 0)}\n")
            velocities.append(f"{number} {row['vx']} {row['vy']} {row.get('vz', 0)}\n")
        data.write("\nVelocities\n\n")
        data.writelines(velocities)
    with open(folder / "spring.table", "w") as table:
        table.write("SPRING\nN 2 R 1.0e-3 1.0\n\n")
        for number, r in enumerate([1.0e-3, 1.0]):
            table.write(f"{number + 1} {r} {0.5 * STIFFNESS * (1 - r) ** 2} {STIFFNESS * (1 - r)}\n")
    sides = "xlo 0 ylo 0 xhi EDGE yhi EDGE" + (" zlo 0 zhi EDGE" if dimension == 3 else "")
    walls = " ".join(f"{a} {b.replace('EDGE', repr(size))} {STIFFNESS / 2} 1.0 0.5"
                     for a, b in zip(sides.split()[::2], sides.split()[1::2]))
    (folder / "in.balls").write_text(f"""units lj
atom_style atomic
dimension {dimension}
boundary {'f f p' if dimension == 2 else 'f f f'}
read_data balls.data
pair_style table linear 4096
pair_coeff 1 1 spring.table SPRING 1.0
neighbor {0.2 if dimension == 2 else 0.15} bin
neigh_modify delay 0 every 1 check yes
fix integrate all nve
fix walls all wall/harmonic {walls}
{'fix plane all enforce2d' if dimension == 2 else ''}
timestep {DT!r}
thermo 1000000
run ${{warm}}
run ${{steps}}
""")


def call(command, folder):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout


def measure(carom, lammps, case, turns):
    dimension, fraction, balls, steps = case
    warm = max(20, steps // 5)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        size, text = scene(dimension, fraction, balls)
        (folder / "balls.toml").write_text(text)
        # Past the first collisions, so that no placement shows; the resumed run starts from there.
        start = 400
        call([carom, "run", "balls.toml", "-o", "start.h5", "--steps", str(start), "--precision", "double", "--quiet"], folder)
        (folder / "balls.csv").write_text(call([carom, "state", "start.h5", "--csv"], folder))
        lammps_files(folder, dimension, size, balls)
        call([carom, "run", "balls.toml", "-o", "warm.h5", "--steps", str(start), "--quiet"], folder)
        rates = {"single": [], "double": [], "lammps": []}
        checkpoints = {"single": "warm.checkpoint.h5", "double": "start.checkpoint.h5"}
        for turn in range(turns):
            for precision, checkpoint in checkpoints.items():
                summary = json.loads(call([carom, "run", "--resume", checkpoint, "-o", "out.h5", "--checkpoint", "out.checkpoint.h5",
                                           "--steps", str(start + steps), "--threads", "1", "--quiet", "--json", "--force"],
                                          folder))
                rates[precision].append(summary["ball_steps_per_second"])
            out = call([lammps, "-in", "in.balls", "-log", "none", "-var", "warm", str(warm), "-var", "steps", str(steps)],
                       folder)
            loop = re.findall(r"Loop time of ([0-9.e+-]+)", out)[-1]
            rates["lammps"].append(balls * steps / float(loop))
    row = {"dimension": dimension, "packing_fraction": fraction, "balls": balls, "steps": steps,
           "lammps_ball_steps_per_second": statistics.median(rates["lammps"])}
    for precision in checkpoints:
        row[f"{precision}_ball_steps_per_second"] = statistics.median(rates[precision])
        row[f"{precision}_ratio"] = statistics.median(a / b for a, b in zip(rates[precision], rates["lammps"]))
    row["rates"] = rates
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("carom")
    parser.add_argument("lammps", nargs="?", default="lmp")
    parser.add_argument("-o", "--output")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="without the largest systems")
    options = parser.parse_args()
    carom = str(pathlib.Path(options.carom).resolve())
    rows = []
    print("   phi      balls     single     double     LAMMPS  ratios")
    for case in CASES:
        if options.quick and case[2] > 100_000:
            continue
        row = measure(carom, options.lammps, case, options.turns)
        rows.append(row)
        print(f"{row['dimension']}D {row['packing_fraction']:4} {row['balls']:9} {row['single_ball_steps_per_second']:10.3g} "
              f"{row['double_ball_steps_per_second']:10.3g} {row['lammps_ball_steps_per_second']:10.3g} "
              f"{row['single_ratio']:6.2f} {row['double_ratio']:6.2f}", flush=True)
    if options.output:
        info = json.loads(call([carom, "info", "--json"], "."))
        version = re.search(r"LAMMPS \(([^)]*)\)", call([options.lammps, "-h"], ".")) or re.search(r"(\d+ \w+ \d{4})", call([options.lammps, "-h"], "."))
        result = {"command": f"bench/spring_against_lammps.py {options.carom}", "commit": info.get("commit"),
                  "processor": info.get("processor"), "lammps": version.group(1) if version else None,
                  "rows": rows}
        pathlib.Path(options.output).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
