#!/usr/bin/env python3
"""How fast `[[load]]` reads a table, beside what `dd` reads of the same file: from the disk (direct), and from the system's cache.

usage: bench/load.py PROGRAM [-o RESULT.json] [--balls N] [--folder WHERE]

What `carom check --quiet` of a scene with the table takes of one processor, all of it: reading, checking places and overlaps, and
what follows from the scene; less that of the same scene without balls. Other work on the machine does not count there, as it does for
dd; by the clock, with all processors, it is told too. The table has every column, to all digits, balls in no order.
"""

import argparse
import json
import pathlib
import resource
import subprocess
import tempfile
import time

import numpy

SCENE = "[scene]\ndimension = 3\n[box]\nsize = [{0}, {0}, {0}]\n"


def write_table(path, balls):
    """Spheres of diameter 0.8 near the sites of a cubic lattice, shuffled."""
    random = numpy.random.default_rng(1)
    side = round(balls ** (1 / 3) + 0.5)
    sites = random.permutation(side**3)[:balls]
    block = 100_000
    with open(path, "w") as file:
        file.write("species,x,y,z,vx,vy,vz,wx,wy,wz,radius,mass\n")
        for begin in range(0, balls, block):
            of = sites[begin:begin + block]
            places = numpy.stack([of % side, of // side % side, of // side**2], axis=1) + 0.5
            numbers = numpy.hstack([places + random.uniform(-0.09, 0.09, places.shape), random.normal(size=(len(of), 6))])
            file.write("".join(["gas," + ",".join(map(repr, row)) + ",0.4,1.5\n" for row in numbers.tolist()]))
    return side


def seconds(*command, clock=time.perf_counter):
    """The shorter of two."""
    times = []
    for _ in range(2):
        begin = clock()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        times.append(clock() - begin)
    return min(times)


def children():
    """What programs that have ended took of processors [s]."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("-o", "--output")
    parser.add_argument("--balls", type=int, default=10_000_000)
    parser.add_argument("--folder", default=None, help="where the table is written: on the disk that is measured")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="carom-load-", dir=options.folder) as folder:
        folder = pathlib.Path(folder)
        table = folder / "balls.csv"
        side = write_table(table, options.balls)
        size = table.stat().st_size
        scene, empty = folder / "s.toml", folder / "e.toml"
        empty.write_text(SCENE.format(float(side)))
        scene.write_text(empty.read_text() + '[[load]]\nfile = "balls.csv"\n')
        subprocess.run(["sync"], check=True)
        disk = seconds("dd", f"if={table}", "of=/dev/null", "bs=4M", "iflag=direct")
        cached = seconds("dd", f"if={table}", "of=/dev/null", "bs=4M")
        check = [options.program, "check", "--quiet"]
        load = seconds(*check, str(scene), clock=children) - seconds(*check, str(empty), clock=children)
        waited = seconds(*check, str(scene)) - seconds(*check, str(empty))
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=pathlib.Path(__file__).parent, capture_output=True,
                            text=True).stdout.strip()
    rate = {name: round(size / 1e6 / taken) for name, taken in (("disk", disk), ("cache", cached), ("load", load), ("load_by_clock", waited))}
    result = {"what": "MB/s of a table that [[load]] reads, with all checks, by the time of a processor and by the clock, and of dd that reads the same file, by the clock",
              "command": f"bench/load.py PROGRAM --balls {options.balls}", "commit": commit, "balls": options.balls,
              "megabytes": round(size / 1e6), "megabytes_per_second": rate,
              "balls_per_second": round(options.balls / load), "load_over_disk": round(rate["load"] / rate["disk"], 3),
              "load_by_clock_over_disk": round(rate["load_by_clock"] / rate["disk"], 3),
              "load_over_cache": round(rate["load"] / rate["cache"], 3)}
    text = json.dumps(result, indent=1)
    print(text)
    if options.output:
        pathlib.Path(options.output).write_text(text + "\n")


if __name__ == "__main__":
    main()
