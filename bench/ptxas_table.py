"""Registers, stack and spills of our kernels, from what the build keeps of the device compiler's words.

usage: python3 bench/ptxas_table.py BUILD/ptxas-report.txt > bench/results/ptxas.json
"""

import json
import re
import subprocess
import sys

ENTRY = re.compile(r"Compiling entry function '(.*)' for '(sm_\w+)'")
FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers(?:.*?(\d+) bytes smem)?")


def short(name):
    """carom::cuda::step_kernel<carom::cuda::StepBody<...>>(...) without namespaces and arguments."""
    name = name.split("(")[0]
    return re.sub(r"carom::(cuda::)?", "", name).replace("void ", "").replace("> >", ">>").replace("> >", ">>")


def main(path):
    with open(path) as file:
        text = subprocess.run(["c++filt"], stdin=file, capture_output=True, text=True, check=True).stdout
    rows = {}
    kernel = None
    for line in text.splitlines():
        if found := ENTRY.search(line):
            name = short(found[1])
            ours = name.startswith(("step_kernel", "launch_kernel", "crew_kernel"))  # the rest is Thrust's
            kernel = rows.setdefault((found[2], name), {"kernel": name, "architecture": found[2]}) if ours else None
            callee = False
        elif kernel is not None and "Function properties for" in line:
            callee = short(line.split("Function properties for ")[1]) != kernel["kernel"]
        elif kernel is not None and not callee and (found := FRAME.search(line)):
            kernel["stack_bytes"], kernel["spill_store_bytes"], kernel["spill_load_bytes"] = map(int, found.groups())
        elif kernel is not None and (found := USED.search(line)):
            kernel["registers"] = int(found[1])
            kernel["shared_bytes"] = int(found[2] or 0)
    commit = subprocess.run(["git", "-C", ".", "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
    lines = ",\n".join("  " + json.dumps(rows[key]) for key in sorted(rows))
    print('{"commit": "%s", "kernels": [\n%s\n]}' % (commit, lines))


if __name__ == "__main__":
    main(sys.argv[1])
