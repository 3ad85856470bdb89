#!/usr/bin/env bash
# What nvcc makes of the CUDA sources, executed on this processor: every scene of tests/device/scenes.py beside the CPU backend,
# in order and out of order, with other contents of fresh memory, with every access of memory checked, shared by two ranks where
# there is MPI, with waits left out (which must show), and the project's own tests that want a GPU. Needs nvcc, and no GPU; takes
# an hour or two. tests/device/README.md.
# usage: scripts/device-check.sh [PART]...      parts: quick shuffled check ranks broken pictures tests (default: all but tests)
source "$(dirname "$0")/common.sh"

build=build/device
parts=" ${*:-quick shuffled check ranks broken pictures} "
cmake -S . -B $build -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCAROM_CUDA=ON -DCAROM_PTX_TESTS=ON >/dev/null
cmake --build $build -j "$jobs" --target carom_on_ptx carom_ptx_all
scenes() { python3 tests/device/scenes.py $build "$@"; }
ptx() { env PTX_MODULES=$build/tests/device/plain PTX_PTXAS=$build/ptxas-report.txt "$@"; }
failed=()
part() { # NAME COMMAND...: if it is wanted
    [[ $parts == *" $1 "* ]] || return 0
    echo "== $1"
    local name=$1
    shift
    "$@" || failed+=("$name")
}

broken() { # what a program that forgets to wait shows
    local call status=0
    for call in cudaStreamSynchronize cudaStreamWaitEvent cudaEventSynchronize; do
        if scenes --only 'walls, 2D, single' --steps-scale 0.1 --no-resume --settings "BREAK=$call" >$build/broken.txt; then
            echo "that the program does not call $call goes unseen"
            status=1
        else
            echo "without $call: $(tail -n 1 $build/broken.txt)"
        fi
    done
    return $status
}
shared() {
    cmake --build $build -j "$jobs" --target carom_mpi
    scenes --steps-scale 0.06 --ranks 2 --settings '' --settings CHECK=1
}
pictures() { # balls that go from CUDA's memory to OpenGL's
    local dimension
    for dimension in 2 3; do
        ptx $build/bin/carom_on_ptx bench --viewer --sizes 1000 --dimension $dimension --backend cuda --quick --json --quiet |
            python3 -c '
import json, sys
paths = {row["path"]: row["differing_share"] for row in json.load(sys.stdin)["viewer"] if "differing_share" in row}
print(paths)
sys.exit("shared" not in paths or any(paths.values()))' || return 1
    done
}
own_tests() {
    local kind status=0
    cmake --build $build -j "$jobs" --target carom_backends_on_ptx carom_golden_on_ptx carom_viewer_on_ptx
    for kind in backends golden viewer; do
        CAROM_REQUIRE_GPU=1 ptx $build/bin/carom_${kind}_on_ptx --gtest_filter='*cuda*:*Cuda*' --gtest_brief=1 || status=1
    done
    return $status
}

part quick scenes --steps-scale 0.5 --settings '' --settings COOPERATIVE=0
part shuffled scenes --steps-scale 0.25 --no-resume --settings ORDER=reverse,SCHEDULE=eager,POISON=0xff,TIGHT=1 \
    --settings ORDER=shuffled,SCHEDULE=random,SEED=7,PAGEABLE=late,POISON=0 --settings ORDER=shuffled,SEED=3,CLUSTERS=0
part check scenes --steps-scale 0.06 --no-resume --settings CHECK=1 --settings CHECK=1,CLUSTERS=0 --settings CHECK=1,COOPERATIVE=0
command -v mpirun >/dev/null && part ranks shared
part broken broken
part pictures pictures
part tests own_tests
[ ${#failed[@]} -eq 0 ] || { echo "not well: ${failed[*]}"; exit 1; }
