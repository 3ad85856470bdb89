#!/usr/bin/env bash
# Builds carom and runs all its tests; where there is a GPU and a CUDA compiler, on the GPU too.
# usage: scripts/test.sh [ctest options, such as -L physics]
source "$(dirname "$0")/common.sh"

scripts/install-deps.sh --test

preset=default
if nvidia-smi -L >/dev/null 2>&1; then preset=cuda; fi
build_and_test "$preset" -- "$@"
report_counts
