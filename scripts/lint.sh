#!/usr/bin/env bash
# Runs clang-tidy over kernels, host and python, with the commands of a build.
# usage: scripts/lint.sh     (configures build/lint)
# Most of clang-tidy's time goes into headers of libraries, so the files of a folder are looked at as one, which takes far
# less. Where their private names clash, each is looked at by itself.
source "$(dirname "$0")/common.sh"

build=build/lint
cmake -S . -B $build -DCAROM_CUDA=OFF -DCAROM_TESTS=OFF -DCAROM_VIEWER=ON -DCAROM_PCH=OFF >/dev/null
cmake --build $build --target carom_dep_glad >/dev/null

python3 - $build "$jobs" <<'PYTHON'
import collections, concurrent.futures, json, pathlib, re, subprocess, sys

build, jobs = pathlib.Path(sys.argv[1]), int(sys.argv[2])
place = build / "together"  # below the top, where .clang-tidy is
place.mkdir(exist_ok=True)
entries = {}
folders = collections.defaultdict(list)
for entry in json.loads((build / "compile_commands.json").read_text()):
    try:
        name = pathlib.Path(entry["file"]).resolve().relative_to(pathlib.Path.cwd()).as_posix()
    except ValueError:
        continue
    if re.match(r"(host|kernels|python)/.*[.]cpp$", name) and name not in entries:
        entries[name] = entry
        folders[name.rsplit("/", 1)[0]].append(name)

database = list(entries.values())
together = {}  # a file that includes all of a folder -> these
for folder, names in folders.items():
    path = (place / (folder.replace("/", "_") + ".cpp")).resolve()
    path.write_text("".join(f'#include "{name}"\n' for name in sorted(names)))
    first = entries[names[0]]
    command = first["command"].replace(first["file"], str(path)) + f" -I{pathlib.Path.cwd()}"
    database.append({"directory": first["directory"], "file": str(path), "command": command})
    together[str(path)] = names
(place / "compile_commands.json").write_text(json.dumps(database))


def tidy(file, *options):
    ran = subprocess.run(["clang-tidy", "-p", place, "--quiet", *options, file], capture_output=True, text=True)
    return ran.returncode == 0, ran.stdout


def tidy_folder(file):
    # A function that one file declares may stand before it in another.
    good, output = tidy(file, "--checks=-bugprone-suspicious-include,-readability-redundant-declaration")
    if "[clang-diagnostic-error]" not in output:
        return good, output
    results = [tidy(name) for name in together[file]]
    return all(good for good, _ in results), "".join(output for _, output in results)


largest_first = sorted(together, key=lambda file: -len(together[file]))
with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
    results = list(pool.map(tidy_folder, largest_first))
for _, output in results:
    sys.stdout.write(output)
print(f"{len(entries)} files in {len(together)} folders")
sys.exit(not all(good for good, _ in results))
PYTHON
