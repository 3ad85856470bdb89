"""usage: compare.py EXPECTED PROGRAM...
Runs the same source as several compilers built it: all must print what is in EXPECTED. To accept new values after a
change that is meant to alter bits: run one of the programs into EXPECTED."""

import pathlib
import subprocess
import sys

expected_file, *programs = sys.argv[1:]
expected = pathlib.Path(expected_file).read_text().splitlines()
differences = 0
for program in programs:
    printed = subprocess.run([program], capture_output=True, text=True)
    lines = printed.stdout.splitlines()
    if printed.returncode:
        print(f"{program}: exit status {printed.returncode} {printed.stderr}")
        differences += 1
    for line in lines:
        if line not in expected:
            print(f"{program}: {line}")
            differences += 1
    if len(lines) != len(expected):
        print(f"{program}: {len(lines)} lines, not {len(expected)}")
        differences += 1
print(f"{len(programs)} programs, {differences} differences")
sys.exit(differences != 0)
