#!/usr/bin/env python3
"""Breaks the program at one place at a time, and looks whether a test notices.

usage: scripts/mutants.py [--build DIR] [--only TEXT]... [--output FILE.json [--new]]

tests/mutants.toml lists the mutants: a file, what stands there once, what is put in its place, and the source of the
tests that should fail (`filter`: which of them). For each, the changed file is compiled alone, or, where it is a header, the
test that includes it, or the source that `through` names; a test of the program itself is of `program`, carom if it is not
said. The rest comes from a build without -DCAROM_UNITY=ON (default: build/mutants, made when it is not there), in which the
programs that are needed are brought up to date first.
A mutant is killed when its tests fail with it, and pass without. Exit status 0 if all are. What an older FILE.json says
of mutants that are not tried this time stays in it; those that are no longer listed go.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMIT = 300  # of one run of tests [s]: a mutant that never ends is killed


def program_of(mutant):
    return f"bin/{mutant.get('program', 'carom')}"


def make_build(build, mutants):
    if not (build / "build.ninja").exists():
        subprocess.run(["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
                        "-DCAROM_CUDA=OFF", "-DCAROM_UNITY=OFF", "-DCAROM_PCH=OFF"], check=True)
    programs = {program for one in mutants for program in (["bin/carom", program_of(one)] if one["tests"].endswith(".py") else
                                                           [f"carom_{one['tests'].split('/')[0]}_tests"])}
    subprocess.run(["cmake", "--build", build, "--target", *sorted(programs)], check=True)


def run_in_time(command, folder, environment=None):
    """The status of a command, and what it said. One that is stopped takes along what it has started.

    :raises subprocess.TimeoutExpired: it took more than LIMIT
    """
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", start_new_session=True) as running:
        try:
            said = running.communicate(timeout=LIMIT)[0]
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            raise
    return running.returncode, said


class Build:
    def __init__(self, folder):
        self.folder = folder
        entries = json.loads((folder / "compile_commands.json").read_text())
        self.compile = {str(pathlib.Path(entry["file"]).relative_to(ROOT)): shlex.split(entry["command"])
                        for entry in entries if pathlib.Path(entry["file"]).is_relative_to(ROOT)}
        self.links = {}
        cache = (folder / "CMakeCache.txt").read_text()
        self.python = re.search(r"^CAROM_TEST_PYTHON:\w+=(.*)$", cache, re.MULTILINE).group(1)

    def link(self, program):
        """The command that links a program of tests, and the objects of its own tests in it."""
        if program not in self.links:
            lines = subprocess.run(["ninja", "-C", self.folder, "-t", "commands", program], capture_output=True, text=True,
                                   check=True).stdout.splitlines()
            # CMake writes ": && COMMAND && :".
            command = shlex.split(re.sub(r"^: && | && :$", "", lines[-1]))
            self.links[program] = command
        return self.links[program]

    def compiled(self, source, overlay, text_of, to):
        """Compiles `source` with the overlay's headers before the tree's. Returns the object, or None where it fails."""
        command = list(self.compile[source])
        command[command.index("-o") + 1] = str(to)
        command[command.index("-c") + 1] = str(text_of)
        for flag in ("-MF", "-MT"):
            if flag in command:
                command[command.index(flag) + 1] = str(to) + ".d"
        command.insert(command.index("-c"), "-Wno-error")
        command.insert(1 if not command[0].endswith("ccache") else 2, f"-I{overlay}")
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        return (to, "") if done.returncode == 0 else (None, done.stderr)

    def run(self, test, objects, folder, selected, own_test=None, linked="bin/carom"):
        """Links the tests of one source, with `objects` before all libraries, and runs them: whether they pass."""
        if test.endswith(".py"):
            return self.run_program(test, objects, folder, selected, linked)
        kind = test.split("/")[1]
        command = self.link(f"carom_{kind}_tests")
        program = folder / "tests"
        kept = []
        for word in command:
            if word.endswith(".o") and f"carom_{kind}_tests.dir/" in word:
                if word.endswith(f"carom_{kind}_tests.dir/{test.split('/', 1)[1]}.o"):
                    kept += [str(own_test or word)] + [str(one) for one in objects]
            else:
                kept.append(word)
        kept[kept.index("-o") + 1] = str(program)
        subprocess.run(kept, cwd=self.folder, check=True, capture_output=True)
        try:
            status, said = run_in_time([program, f"--gtest_filter={selected}", "--gtest_brief=1"], folder)
        except subprocess.TimeoutExpired:
            return False, "stopped for time"
        if status == 0 and "[  PASSED  ] 0 tests" in said:
            raise SystemExit(f"{test}: no test ran with the filter {selected}")
        first = re.search(r"^\[  FAILED  \] (\S+)", said, re.MULTILINE)
        return status == 0, first.group(1).rstrip(",") if first else f"status {status}"


    def run_program(self, test, objects, folder, selected, linked):
        """As run(), for a test of the program itself, or of one that lies beside it."""
        command = list(self.link(linked))
        program = folder / linked  # scenes are beside it
        program.parent.mkdir()
        if linked != "bin/carom":
            (folder / "bin/carom").symlink_to(self.folder / "bin/carom")
        (folder / "share").symlink_to(self.folder / "share")
        command[command.index("-o") + 1] = str(program)
        at = next(k for k, word in enumerate(command) if word.endswith(".o"))
        command[at + 1:at + 1] = [str(one) for one in objects]
        subprocess.run(command, cwd=self.folder, check=True, capture_output=True)
        environment = dict(os.environ, CAROM_PROGRAM=str(folder / "bin/carom"), CAROM_SOURCE_DIR=str(ROOT),
                           CAROM_BUILD_DIR=str(self.folder), PYTHONPATH=str(ROOT / "tests/support"))
        try:
            status, said = run_in_time([self.python, "-B", ROOT / test, *([] if selected == "*" else ["-k", selected])],
                                       folder, environment)
        except subprocess.TimeoutExpired:
            return False, "stopped for time"
        if "Ran 0 tests" in said:
            raise SystemExit(f"{test}: no test ran with the filter {selected}")
        first = re.search(r"^(?:FAIL|ERROR): (\S+)", said, re.MULTILINE)
        return status == 0, first.group(1) if first else f"status {status}"


def name_of(mutant):
    return f"{mutant['file']}: {mutant['old'].strip()} -> {mutant['new'].strip() or 'nothing'}"


def try_mutant(build, mutant, sound):
    """The mutant's name, whether it was killed, and by what."""
    path, test = mutant["file"], "tests/" + mutant["tests"]
    name = name_of(mutant)
    text = (ROOT / path).read_text()
    if text.count(mutant["old"]) != 1:
        return name, False, f"stands there {text.count(mutant['old'])} times, not once"
    selected = mutant.get("filter", "*")
    program = program_of(mutant)
    if not sound(test, selected, program):
        return name, False, "its tests fail without it"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        changed = folder / "overlay" / path
        changed.parent.mkdir(parents=True)
        changed.write_text(text.replace(mutant["old"], mutant["new"]))
        source = mutant.get("through", path if path.endswith(".cpp") else test)
        if source not in build.compile:
            return name, False, f"`through` must say what is compiled: {source} is not"
        made, said = build.compiled(source, folder / "overlay", changed if source == path else ROOT / source,
                                    folder / "mutant.o")
        if made is None:
            return name, False, "does not compile: " + next((line for line in said.splitlines() if "error" in line), "")
        if source != test:
            passed, why = build.run(test, [made], folder, selected, linked=program)
        else:
            passed, why = build.run(test, [], folder, selected, own_test=made)
    return name, not passed, "no test fails" if passed else why


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/mutants")
    parser.add_argument("--only", action="append", help="those whose file or text has this, or one of these")
    parser.add_argument("--output", type=pathlib.Path, help="results as JSON")
    parser.add_argument("--new", action="store_true", help="those alone that FILE.json does not have, or not as killed")
    options = parser.parse_args()
    listed = tomllib.loads((ROOT / "tests/mutants.toml").read_text())["mutant"]
    mutants = [one for one in listed if any(text in one["file"] + one["old"] for text in options.only or [""])]
    known_names = [name_of(one) for one in listed]
    results = {}
    if options.output and options.output.exists():
        older = json.loads(options.output.read_text())["results"]
        results = {result["mutant"]: result for result in older if result["mutant"] in known_names}

    if options.new:
        mutants = [one for one in mutants if not results.get(name_of(one), {"killed": False})["killed"]]
    make_build(options.build, mutants)
    build = Build(options.build.resolve())
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True,
                            check=True).stdout.strip()

    known = {}

    def sound(test, selected, program):
        if (test, selected, program) not in known:
            with tempfile.TemporaryDirectory() as folder:
                known[test, selected, program] = build.run(test, [], pathlib.Path(folder), selected, linked=program)[0]
        return known[test, selected, program]

    begin = time.monotonic()
    alive = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, killed, why in pool.map(lambda one: try_mutant(build, one, sound), mutants):
            alive += not killed
            results[name] = {"mutant": name, "killed": killed, "by": why, "commit": commit}
            print(f"{'killed' if killed else 'ALIVE ':6}  {name}  [{why}]", flush=True)
            if options.output:
                rows = [results[name] for name in known_names if name in results]
                options.output.write_text(json.dumps({"what": "mutants of tests/mutants.toml, and the tests that noticed",
                                                      "command": "scripts/mutants.py --output FILE.json",
                                                      "results": rows}, indent=1) + "\n")
    print(f"\n{len(mutants) - alive} of {len(mutants)} killed, {time.monotonic() - begin:.0f} s")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
