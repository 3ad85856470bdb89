#!/usr/bin/env bash
# From a fresh clone to a simulation of 100,000 balls: installs what is missing, builds, runs scenes/gas2d.toml, and says
# where the picture and the trajectory are; then builds what opens windows and draws through OpenGL, and the package for
# Python. Takes a few minutes, most of them compiling. The second time, what is there already stays.
source "$(dirname "$0")/common.sh"

scripts/install-deps.sh --run

build=build/release
carom=$build/bin/carom
# Without a GPU the CUDA part would be compiled for nothing; with one, for that one alone.
options=(-DCAROM_TESTS=OFF -DCMAKE_CUDA_ARCHITECTURES=)
nvidia-smi -L >/dev/null 2>&1 || options+=(-DCAROM_CUDA=OFF)
# configure VIEWER: AUTO or OFF
configure() {
    cmake --preset release "${options[@]}" -DCAROM_VIEWER="$1" >"$build.log" 2>&1 || {
        cat "$build.log"
        exit 1
    }
}

mkdir -p build/demo
if grep -q '^CAROM_VIEWER:.*=AUTO' $build/CMakeCache.txt 2>/dev/null; then viewer=AUTO; else viewer=OFF; fi
say "Building"
configure $viewer
cmake --build --preset release -j "$jobs" --target carom

if [ build/demo/gas2d.h5 -nt $carom ] && [ build/demo/gas2d.h5 -nt scenes/gas2d.toml ]; then
    say "The run of scenes/gas2d.toml is there (build/demo/gas2d.h5): it is not made again"
else
    say "Running scenes/gas2d.toml"
    $carom run scenes/gas2d.toml -o build/demo/gas2d.h5 --force
fi
# Through OpenGL where there is any.
$carom render build/demo/gas2d.h5 -o build/demo/gas2d.png --color-by speed --force --quiet 2>/dev/null ||
    $carom plot build/demo/gas2d.h5 balls -o build/demo/gas2d.png --color-by speed --force --quiet
$carom plot build/demo/gas2d.h5 energy -o build/demo/energy.png --force --quiet

say "Done"
echo "picture of the balls   build/demo/gas2d.png"
echo "energy over time       build/demo/energy.png"
echo "trajectory (H5MD)      build/demo/gas2d.h5"
echo "the program            $carom --help; with a display, try $carom view billiards"

if [ $viewer = OFF ]; then
    say "Building carom view and carom render, which the pictures above did without (to leave them out: Ctrl-C)"
    configure AUTO
    cmake --build --preset release -j "$jobs" --target carom
    touch build/demo/gas2d.h5 # the solvers are the same
fi
if [ -d $build/python ]; then
    say "Building the package for Python; export PYTHONPATH=$PWD/$build/python"
    cmake --build --preset release -j "$jobs" --target carom_python
fi
