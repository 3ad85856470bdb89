#!/usr/bin/env bash
# Feeds the readers of files (tests/fuzz/targets.cpp) with inputs that are led by coverage, under the address and undefined
# behaviour sanitizers, and prints what came of it as JSON. Inputs that reach something new are kept in build/fuzz/corpus,
# where the next call goes on; what crashed, hung or took too much memory lies in build/fuzz/findings, and belongs into
# tests/fuzz/corpus/TARGET once it is mended: `carom_fuzz_tests` reads it from then on.
# usage: scripts/fuzz.sh [-m MINUTES] [-o FILE.json] [TARGET...]     (a minute each, of all targets)
# One finding again: CAROM_FUZZ_TARGET=scene build/fuzz/bin/carom_fuzz FILE
source "$(dirname "$0")/common.sh"

minutes=1
output=/dev/stdout
while getopts m:o: option; do
    case $option in
        m) minutes=$OPTARG ;;
        o) output=$OPTARG ;;
        *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))

build=build/fuzz
[ -e $build/CMakeCache.txt ] || cmake --preset fuzz -DCAROM_UNITY=ON >&2
targets=("$@")
[ $# -gt 0 ] || targets=(scene sweep table balls journal bench h5md trajectory checkpoint)
cmake --build --preset fuzz -j "$jobs" >&2
export ASAN_OPTIONS=allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=$PWD/tests/leaks.txt:print_suppressions=0
mkdir -p $build/findings
for target in "${targets[@]}"; do
    corpus=$build/corpus/$target seeds=$build/seeds/$target
    mkdir -p "$corpus" "$seeds"
    # Seeds are written before libFuzzer reads the folder.
    CAROM_FUZZ_TARGET=$target CAROM_FUZZ_SEEDS=$seeds $build/bin/carom_fuzz "$corpus" "$seeds" \
        -max_total_time="$(awk "BEGIN { print int($minutes * 60) }")" -timeout=120 -rss_limit_mb=3000 -max_len=20000 -print_final_stats=1 \
        -artifact_prefix="$build/findings/$target-" 2>"$build/$target.log" || tail -n 40 "$build/$target.log" >&2
done

python3 - $build "$minutes" "$(git describe --always --dirty)" "${targets[@]}" >"$output" <<'PYTHON'
import json, pathlib, re, sys

build, minutes, commit, *targets = sys.argv[1:]
result = {"command": f"scripts/fuzz.sh -m {minutes}", "commit": commit, "sanitizers": "address,undefined", "targets": {}}
for target in targets:
    log = pathlib.Path(build, f"{target}.log").read_text(errors="replace")
    reached = re.findall(r"cov: (\d+) ft: (\d+) corp: (\d+)", log)
    runs = re.findall(r"number_of_executed_units: *(\d+)", log)
    result["targets"][target] = {
        "seconds": int((re.findall(r"Done \d+ runs in (\d+) second", log) or [0])[-1]),
        "inputs": int(runs[-1]) if runs else None,
        "edges_covered": int(reached[-1][0]) if reached else None,
        "corpus": int(reached[-1][2]) if reached else None,
        "findings": sorted(path.name for path in pathlib.Path(build, "findings").glob(f"{target}-*")),
    }
json.dump(result, sys.stdout, indent=2)
print()
PYTHON
