#!/usr/bin/env bash
# Installs, from Debian's or Ubuntu's packages, what is missing here; does nothing, quickly, when nothing is.
# usage: scripts/install-deps.sh [--run | --test | --ci] [--list]
#   --run   to build carom and run it
#   --test  (default) and to build and run its tests
#   --ci    and to check format, lint and threads
#   --list  only print the packages of the set
set -euo pipefail

run=(g++ cmake ninja-build libtomlplusplus-dev libcli11-dev libfmt-dev librandom123-dev nlohmann-json3-dev libhdf5-dev
    zlib1g-dev libpng-dev gnuplot-nox python3-glad fonts-dejavu-core libstb-dev libegl1 libgl1-mesa-dri libglfw3-dev libimgui-dev
    python3-dev pybind11-dev python3-numpy)
test=(git libgtest-dev libgmock-dev libopenmpi-dev openmpi-bin clang python3 python3-h5py python3-mdanalysis python3-vtk9 python3-pytest
    python3-matplotlib mypy ffmpeg xvfb xdotool)
# A browser for the test of `carom report`, 65 MB; where a distribution has none by this name, that test fails unless
# CAROM_WITHOUT_BROWSER is set, or another browser is found (chromium, google-chrome).
browser=chromium-headless-shell
ci=(clang-format clang-tidy libomp-dev)

set_name=test
list_only=false
for argument in "$@"; do
    case "$argument" in
        --run | --test | --ci) set_name=${argument#--} ;;
        --list) list_only=true ;;
        *)
            sed -n '3,7s/^# //p' "$0" >&2
            exit 2
            ;;
    esac
done

packages=("${run[@]}")
if [ "$set_name" != run ]; then
    packages+=("${test[@]}")
    # The emulated backend needs Thrust's headers; the CUDA toolkit brings its own.
    nvcc=$(command -v nvcc || ls "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" 2>/dev/null || true)
    [ -n "$nvcc" ] || packages+=(libthrust-dev)
    if apt-cache show "$browser" >/dev/null 2>&1; then packages+=("$browser"); fi
fi
[ "$set_name" != ci ] || packages+=("${ci[@]}")
if $list_only; then
    printf '%s\n' "${packages[@]}"
    exit 0
fi

if ! command -v dpkg-query >/dev/null; then
    echo "This is no Debian or Ubuntu. Install what these packages hold, by your system's means: ${packages[*]}" >&2
    exit 1
fi
installed=$(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' | sed -n 's/^ii *//p')
missing=()
for package in "${packages[@]}"; do
    grep -qxF "$package" <<<"$installed" || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
    echo "Dependencies: all installed."
    exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "These packages are missing, and installing them takes root: ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi
echo "Dependencies: installing ${missing[*]}"
"${as_root[@]}" apt-get update -qq
# Now the lists of packages are there, if they were not before.
if [ "$set_name" != run ] && ! grep -qxF "$browser" <<<"$(printf '%s\n' "$installed" "${missing[@]}")" &&
    apt-cache show "$browser" >/dev/null 2>&1; then
    missing+=("$browser")
fi
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
