#!/usr/bin/env bash
# Builds carom and runs all its tests; where there is a GPU and a CUDA compiler, on the GPU too.
# usage: scripts/test.sh [ctest options, such as -L physics]
# CAROM_CONFIGURE in the environment: further options for CMake, as -DCAROM_WERROR=ON.
source "$(dirname "$0")/common.sh"

scripts/install-deps.sh --test

read -ra configure <<<"${CAROM_CONFIGURE:-}"
build_and_test "$test_preset" "${configure[@]}" -- "$@"
report_counts
