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
    say "Building $preset"
    if ! { cmake --preset "$preset" "${options[@]}" && cmake --build --preset "$preset" -j "$jobs"; }; then
        failed=$((failed + 1))
        echo "FAILED: the build of $preset"
        return
    fi
    say "Testing $preset"
    rm -f "$report"
    ctest --preset "$preset" -j "$jobs" --output-junit "$report" "$@" || status=$?
    if [ ! -e "$report" ]; then
        failed=$((failed + 1))
        echo "FAILED: ctest for $preset"
        return
    fi
    local all bad left_out
    all=$(grep -c '<testcase ' "$report" || true)
    left_out=$(grep -c '<skipped message="SKIP_' "$report" || true)
    # A test whose program is missing or crashed before it began is "not run" too; that is no skip.
    bad=$(($(grep -c '<testcase .* status="fail"' "$report" || true) + $(grep -c '<skipped message=' "$report" || true) - left_out))
    if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1 all=$((all + 1)); fi
    failed=$((failed + bad))
    skipped=$((skipped + left_out))
    passed=$((passed + all - bad - left_out))
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
