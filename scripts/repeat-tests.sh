#!/usr/bin/env bash
# Runs all tests of a build N times in a row, as it is, and keeps what failed: a test that fails once in 20 times is a
# defect. Each run is in the result as soon as it is done. Runs of the same commit are added to its row; with -a, those of
# another one to the last row, which then names both.
# usage: scripts/repeat-tests.sh [-B BUILD] [-o FILE.json] [-a] N [ctest options, such as -L cli]
source "$(dirname "$0")/common.sh"

build=build/$test_preset
output=/dev/null
add=no
while getopts B:o:a option; do
    case $option in
        B) build=$OPTARG ;;
        o) output=$OPTARG ;;
        a) add=yes ;;
        *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] && [[ $1 =~ ^[1-9][0-9]*$ ]] || { grep '^# usage' "$0" >&2; exit 2; }
runs=$1
shift
[ -x "$build/bin/carom" ] || { echo "$build: nothing is built there" >&2; exit 2; }
commit=$("$build/bin/carom" --version | sed 's/.*(\(.*\))/\1/')

bad_runs=0
report=$PWD/$build/repeated.xml
for ((run = 1; run <= runs; ++run)); do
    rm -f "$report"
    begin=$EPOCHSECONDS
    ctest --test-dir "$build" -j "$jobs" --output-junit "$report" --output-on-failure "$@" >"$build/repeated.log" 2>&1 || true
    if ! python3 - "$report" "$output" "$add" "$commit" $((EPOCHSECONDS - begin)) "$run" "$runs" "$*" <<'PYTHON'; then
import json, os, pathlib, sys
import xml.etree.ElementTree

report, output, add, commit, seconds, run, runs, options = sys.argv[1:]
if pathlib.Path(report).exists():
    cases = xml.etree.ElementTree.parse(report).getroot().findall("testcase")
    failed = [case.get("name") for case in cases if case.find("failure") is not None or case.get("status") == "fail"]
    # One that ctest could not start is "not run", as one that skipped itself is.
    failed += [case.get("name") for case in cases
               if case.find("skipped") is not None and not case.find("skipped").get("message", "").startswith("SKIP_")]
else:
    cases, failed = [], ["ctest itself"]
if not cases and not failed:
    failed = ["no test ran"]
print(f"run {run} of {runs}: {len(cases)} tests, {seconds} s: {', '.join(failed) or 'all passed'}", flush=True)
if output != "/dev/null":
    path = pathlib.Path(output)
    result = json.loads(path.read_text()) if path.exists() else {
        "what": "all tests of a build, run again and again; a test is what ctest counts as one", "rows": []}
    row = result["rows"][-1] if result["rows"] else None
    if row is None or row["options"] != options or (commit not in row["commits"] and add != "yes"):
        row = {"commits": [], "command": "scripts/repeat-tests.sh", "options": options, "tests": 0, "runs": 0,
               "failed_runs": 0, "seconds": [], "failures": {}}
        result["rows"].append(row)
    if commit not in row["commits"]:
        row["commits"].append(commit)
    row["tests"] = len(cases)
    row["runs"] += 1
    row["failed_runs"] += bool(failed)
    row["seconds"].append(int(seconds))
    for name in failed:
        row["failures"][name] = row["failures"].get(name, 0) + 1
    partial = path.with_name(path.name + ".partial")
    partial.write_text(json.dumps(result, indent=1) + "\n")
    os.replace(partial, path)
sys.exit(bool(failed))
PYTHON
        bad_runs=$((bad_runs + 1))
        cp "$build/repeated.log" "$build/repeated-$run.log"
        echo "what it said: $build/repeated-$run.log"
    fi
done
echo "$((runs - bad_runs)) of $runs runs without a failure"
[ "$bad_runs" -eq 0 ]
