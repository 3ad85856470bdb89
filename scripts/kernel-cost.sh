#!/usr/bin/env bash
# Counts what a step of the CUDA engine costs, without a GPU, and keeps it: tests/device/ptx_test.py fails where a step kernel gets
# more than 5 % dearer. Run it when one has become cheaper, or dearer for a reason. Needs nvcc. bench/kernel_cost.py says what.
# usage: scripts/kernel-cost.sh      (builds build/device; writes bench/results/kernel_cost.json)
source "$(dirname "$0")/common.sh"

build=build/device
cmake -S . -B $build -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCAROM_CUDA=ON -DCAROM_PTX_TESTS=ON >/dev/null
cmake --build $build -j "$jobs" --target carom_on_ptx carom_ptx_modules
python3 bench/kernel_cost.py $build -o bench/results/kernel_cost.json
