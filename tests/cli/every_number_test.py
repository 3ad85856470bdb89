"""Every number of a scene, one after the other, is tried with values that nobody expects: the program says in one line
what is wrong, with its place, or takes it. Which keys there are is read from docs/scene-file.md, whose tables are the
program's own (unit/pages_test)."""

import itertools
import re
import resource
import unittest
from concurrent.futures import ThreadPoolExecutor

from program import SOURCE, ProgramTest

VALUES = ["nan", "inf", "-1.0", "0", "1e308", "-1e308", "5e-324", "0.1", "text"]
SCENE = """
[scene]
dimension = %d
[box]
size = %s
[run]
until = 0.01
solver = "%s"
[thermostat]
kind = "andersen"
temperature = 1.0
rate = 1.0
[[wall]]
shape = "plane"
normal = %s
offset = 0.1
[[wall]]
shape = "sphere"
center = %s
radius = 40.0
[[species]]
name = "a"
radius = 0.2
mass = 1.0
[[ball]]
radius = 0.2
mass = 1.0
position = %s
velocity = %s
[[fill]]
species = "a"
count = 4
temperature = 1.0
[[observe]]
name = "g"
kind = "gr"
every = 0.001
[[observe]]
name = "v"
kind = "velocity"
every = 0.001
[[stage]]
until = 0.005
[[stage]]
until = 0.01
"""


def number_keys():
    """(table, key, how many values) of all that take numbers."""
    found = []
    table = None
    for line in (SOURCE / "docs/scene-file.md").read_text().splitlines():
        heading = re.match(r"### `\[+([a-z]+)\]+`", line)
        if heading:
            table = heading[1]
        elif line.startswith("## "):
            table = None
        key = re.match(r"\| `([a-z_.]+)` \| ([^|]*number[^|]*) \|", line)
        if key and table:
            found.append((table, key[1], "array" in key[2]))
    return found


def scene(dimension, solver):
    def vector(x):
        return str([x] * dimension)
    return SCENE % (dimension, vector(9.0), solver, vector(1.0), vector(4.5), vector(4.0), vector(0.5))


class EveryNumber(ProgramTest):
    def test_is_taken_or_refused_by_its_name(self):
        keys = number_keys()
        self.assertGreater(len(keys), 55)
        repeated = {"wall": 2, "species": 1, "ball": 1, "fill": 1, "observe": 2, "stage": 2}
        cases = []
        for (dimension, solver), (table, key, array) in itertools.product([(2, "spring"), (3, "events")], keys):
            for entry in range(repeated.get(table, 1)):
                path = (f"{table}[{entry}]" if table in repeated else table) + "." + key
                for value in VALUES:
                    several = f"[{', '.join([value] * dimension)}]" if array and value != "text" else value
                    cases.append((dimension, solver, key, f"{path}={several}"))
        for dimension in (2, 3):
            self.write(f"s{dimension}.toml", scene(dimension, "spring" if dimension == 2 else "events"))
            self.succeed("check", f"s{dimension}.toml")

        def check(case):
            dimension, _, _, assignment = case
            result = self.carom("check", f"s{dimension}.toml", "--quiet", "--set", assignment,
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30)))
            return case, result

        taken = 0
        wrong = []
        with ThreadPoolExecutor(4) as pool:
            for (_, _, key, assignment), result in pool.map(check, cases):
                taken += result.status == 0
                # The key itself, or one that no longer goes with it, and where it stands.
                named = key.split(".")[-1] in result.err or re.match(r"carom: s\d\.toml:\d+:\d+: [a-z]+", result.err)
                one_line = result.err.count("\n") == 1
                # Where there is no memory for it, the program says how much it would take.
                if not (result.status == 0 or (result.status == 2 and one_line and named)
                        or (result.status == 4 and one_line and "GB" in result.err)):
                    wrong.append(f"{assignment}: {result.status} {result.err}")
        self.assertEqual(wrong, [])
        self.assertGreater(taken, 100)


if __name__ == "__main__":
    unittest.main()
