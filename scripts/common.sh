# Sourced by the other scripts: where the repository is, which build tool, and counts of what passed.
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

jobs=$(nproc)
if command -v ninja >/dev/null; then export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja}; fi

say() { printf '\n== %s\n' "$*"; }

passed=0
failed=0
skipped=0

# check NAME COMMAND...: runs one check, counts it, and goes on.
check() {
    local name=$1
    shift
    say "$name"
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $name"
    fi
}

# build_and_test PRESET [cmake -D options...] [-- ctest options...]: a build that fails counts as one failure.
build_and_test() {
    local preset=$1 status=0 report="$PWD/build/$1/tests.xml"
    local -a options=()
    shift
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    [ $# -eq 0 ] || shift
    # What is built once and whole is built together; a folder that somebody works in stays as it is.
    [ -e "build/$preset/CMakeCache.txt" ] || options+=(-DCAROM_UNITY=ON)
    say "Building $preset"
    if ! { cmake --preset "$preset" "${options[@]}" && cmake --build --preset "$preset" -j "$jobs"; }; then
        failed=$((failed + 1))
        echo "FAILED: the build of $preset"
        return
    fi
    say "Testing $preset"
    rm -f "$report"
    ctest --preset "$preset" -j "$jobs" --output-junit "$report" --test-output-truncation head "$@" || status=$?
    if [ ! -e "$report" ]; then
        failed=$((failed + 1))
        echo "FAILED: ctest for $preset"
        return
    fi
    # An entry is a program of Python, or several tests of GoogleTest, which says how many did what. One whose program is
    # missing or crashed before it began is "not run"; that is no skip.
    local all bad left_out
    read -r all bad left_out < <(awk '
        /<testcase /   { close_entry(); open = 1; good = bad = left = 0; state = "run"
                         if (/status="fail"/) state = "fail" }
        /<skipped message=/ { state = /"SKIP_/ ? "skip" : "fail" }
        /^\[  PASSED  \] [0-9]/  { good = $4 }
        /^\[  SKIPPED \] [0-9]/  { left = $4 }
        /^\[  FAILED  \] [0-9]/  { bad = $4 }
        END { close_entry(); print passed + failed + skipped, failed + 0, skipped + 0 }
        function close_entry() {
            if (!open) return
            if (state == "fail" && bad == 0) bad = 1
            if (state == "skip" && left == 0) left = 1
            if (state == "run" && good + left == 0) good = 1
            passed += good; failed += bad; skipped += left
        }' "$report")
    slowest_tests "$report"
    if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1 all=$((all + 1)); fi
    failed=$((failed + bad))
    skipped=$((skipped + left_out))
    passed=$((passed + all - bad - left_out))
}

# slowest_tests REPORT: the 20 of ctest's report that took longest [s]. An entry of GoogleTest is told test by test.
slowest_tests() {
    say "The slowest tests [s]"
    awk '
        /<testcase /  { close_entry(); open = 1; single = 0
                        match($0, / name="[^"]*"/); name = substr($0, RSTART + 7, RLENGTH - 8)
                        match($0, / time="[^"]*"/); time = substr($0, RSTART + 7, RLENGTH - 8) }
        /^\[       OK \] / { single = 1; match($0, /[(][0-9]+ ms/); print substr($0, RSTART + 1) / 1000, $4 }
        END { close_entry() }
        function close_entry() { if (open && !single) print time, name }' "$1" |
        sort -rn | awk 'NR <= 20 { printf "%8.1f  %s\n", $1, $2 }'
}

# Where there is a GPU, tests run on it, and fail rather than skip.
test_preset=default
if nvidia-smi -L >/dev/null 2>&1; then test_preset=cuda; fi

# run_tests COMMAND...: runs another script that ends with report_counts, and adds its counts.
run_tests() {
    local log
    log=$(mktemp)
    "$@" | tee "$log" || true
    if [[ $(tail -n 1 "$log") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
        passed=$((passed + BASH_REMATCH[1]))
        failed=$((failed + BASH_REMATCH[2]))
        skipped=$((skipped + BASH_REMATCH[3]))
    else
        failed=$((failed + 1))
        echo "FAILED: $*"
    fi
    rm -f "$log"
}

# The last line of a script that tests, and its exit status.
report_counts() {
    printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
    [ "$failed" -eq 0 ]
}
