#!/usr/bin/env bash
# From a fresh clone to a simulation of 100,000 balls: installs what is missing, builds, runs scenes/gas2d.toml, and says
# where the picture and the trajectory are. Takes a few minutes, most of them compiling.
source "$(dirname "$0")/common.sh"

scripts/install-deps.sh --run

# Without a GPU the CUDA part would be compiled for nothing; with one, for that one alone.
options=(-DCMAKE_CUDA_ARCHITECTURES=)
nvidia-smi -L >/dev/null 2>&1 || options=(-DCAROM_CUDA=OFF)

say "Building"
cmake --preset release -DCAROM_TESTS=OFF "${options[@]}"
cmake --build --preset release -j "$jobs" --target carom

say "Running scenes/gas2d.toml"
mkdir -p build/demo
carom=build/release/bin/carom
"$carom" run scenes/gas2d.toml -o build/demo/gas2d.h5 --force
# Through OpenGL where there is any.
"$carom" render build/demo/gas2d.h5 -o build/demo/gas2d.png --color-by speed --force --quiet ||
    "$carom" plot build/demo/gas2d.h5 balls -o build/demo/gas2d.png --force --quiet
"$carom" plot build/demo/gas2d.h5 energy -o build/demo/energy.png --force --quiet

say "Done"
echo "picture of the balls   build/demo/gas2d.png"
echo "energy over time       build/demo/energy.png"
echo "trajectory (H5MD)      build/demo/gas2d.h5"
echo "the program            $carom --help; with a display, try $carom view billiards"
