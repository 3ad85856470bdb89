#!/usr/bin/env bash
# How long the program takes to compile, in seconds of processor time: by folder, by file, and by header: what a change of
# it compiles anew. Compiles everything once, without a cache, in build/build-time; other load does not matter.
# usage: scripts/build-time.sh [MACHINE]     (writes bench/results/MACHINE/build_time.json too)
source "$(dirname "$0")/common.sh"

build=$PWD/build/build-time
times=$build/times.txt
say "Compiling in $build"
cmake -G Ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DCAROM_CUDA=OFF -DCAROM_TESTS=OFF \
    -DCMAKE_CXX_COMPILER_LAUNCHER="bash;$PWD/cmake/time_compile.sh;$times" >/dev/null
ninja -C "$build" -t clean >/dev/null
rm -f "$times"
cmake --build "$build" -j "$jobs" --target carom

say "Processor time of compiling [s]"
python3 - "$build" "$times" "${1:+bench/results/$1/build_time.json}" <<'PYTHON'
import collections, json, pathlib, re, subprocess, sys

build, times, result = sys.argv[1:]
top = pathlib.Path.cwd()


def folder_of(name):
    return "/".join(name.split("/")[:2]) if name.startswith(("host/", "kernels/")) else "others"


seconds = {}  # object -> seconds
for line in open(times):
    value, written = line.split()
    seconds[written] = float(value)
source = {}  # object -> the file it was made from
headers = {}  # object -> the headers of ours
deps = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=True).stdout
for block in deps.split("\n\n"):
    lines = block.strip().splitlines()
    if not lines or ":" not in lines[0]:
        continue
    ours = []
    for line in lines[1:]:
        path = pathlib.Path(line.strip())
        path = path if path.is_absolute() else pathlib.Path(build) / path
        try:
            ours.append(path.resolve().relative_to(top).as_posix())
        except ValueError:
            pass  # of the system
    written = lines[0].split(":")[0]
    sources = [name for name in ours if name.endswith(".cpp")]
    source[written] = sources[0] if sources else written
    headers[written] = [name for name in ours if re.match(r"(host|kernels)/.*[.]hpp$", name)]

folders = collections.Counter()
by_header = collections.defaultdict(lambda: [0, 0.0])
for written, value in seconds.items():
    folders[folder_of(source.get(written, written))] += value
    for header in headers.get(written, []):
        by_header[header][0] += 1
        by_header[header][1] += value
files = sorted(((value, source.get(written, written)) for written, value in seconds.items()), reverse=True)
costly = sorted(((value, count, name) for name, (count, value) in by_header.items()), reverse=True)

print(f"{sum(seconds.values()):8.1f}  all, {len(seconds)} files")
for name, value in folders.most_common():
    print(f"{value:8.1f}  {name}")
print("\nThe slowest files")
for value, name in files[:20]:
    print(f"{value:8.1f}  {name}")
print("\nWhat a change of a header compiles anew")
for value, count, name in costly[:20]:
    print(f"{value:8.1f}  {count:3} files  {name}")

if result:
    commit = subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"],
                            capture_output=True, text=True).stdout.strip()
    text = json.dumps({
        "what": "processor time of compiling the program, without tests and CUDA [s]",
        "command": "scripts/build-time.sh", "commit": commit, "all": round(sum(seconds.values()), 1),
        "files": len(seconds),
        "folders": {name: round(value, 1) for name, value in folders.most_common()},
        "slowest_files": {name: round(value, 1) for value, name in files[:20]},
        "headers": {name: {"files": count, "seconds": round(value, 1)} for value, count, name in costly[:20]}}, indent=1)
    pathlib.Path(result).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(result).write_text(text + "\n")
    print(f"\n{result}")
PYTHON
