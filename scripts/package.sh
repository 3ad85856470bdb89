#!/usr/bin/env bash
# Makes dist/carom-VERSION-linux-ARCH.tar.gz: the program, the scenes, and what scripts/gpu-check.sh needs. It runs where
# it is unpacked, with nothing installed but a C library as new as the one that is printed here. Where there is MPI, the
# archive has the module for it in lib/carom: without that very MPI it is of no use, and nobody looks at it.
# usage: scripts/package.sh [cmake -D options, such as -DCMAKE_CUDA_ARCHITECTURES=90-real]
source "$(dirname "$0")/common.sh"

scripts/install-deps.sh --test

build=build/package
say "Building, statically linked"
cmake --preset release -B "$build" -DCAROM_STATIC=ON "$@"
targets=(carom carom_gpu_tests)
if cmake --build "$build" --target help | grep carom_mpi >/dev/null; then # not -q, which ends before the other has
    targets+=(carom_mpi)
fi
cmake --build "$build" -j "$jobs" --target "${targets[@]}"

version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")
name=carom-$version-linux-$(uname -m)
top=dist/$name
rm -rf "$top"
mkdir -p "$top"

say "Collecting $top"
cmake --install "$build" --prefix "$top" --component program
strip "$top/bin/carom"
mkdir "$top/tests" "$top/tests/bin" "$top/tests/golden"
cp "$build/bin/carom_gpu_tests" "$top/tests/bin/"
strip "$top"/tests/bin/*
cp -r tests/golden/data "$top/tests/golden/"
ln -s share/carom/scenes "$top/scenes" # where the tests look
mkdir "$top/scripts"
cp scripts/gpu-check.sh "$top/scripts/"
[ ! -e "$build/ptxas-report.txt" ] || cp "$build/ptxas-report.txt" "$top/"

# Only the C library's own parts may be wanted from outside, and the newest symbol of it wanted decides where this runs.
say "Checking"
for program in "$top/bin/carom" "$top"/tests/bin/*; do
    outside=$(objdump -p "$program" | sed -n 's/^ *NEEDED *//p' | grep -vE '^(libc|libm|libdl|libpthread|librt|ld-linux.*)\.so' || true)
    if [ -n "$outside" ]; then
        echo "$program wants shared libraries that another machine may lack: $outside" >&2
        exit 1
    fi
done
glibc=$(objdump -T "$top/bin/carom" "$top"/tests/bin/* | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1 | sed s/GLIBC_//)
{
    "$top/bin/carom" info
    echo "needs glibc $glibc or newer"
    [ ! -e "$top/lib/carom/carom_mpi.so" ] || echo "module for $(mpirun --version | head -n 1)"
} | tee "$top/BUILD.txt"

tar -C dist -czf "$top.tar.gz" "$name"

say "Trying the archive elsewhere"
elsewhere=$(mktemp -d)
trap 'rm -rf "$elsewhere"' EXIT
tar -C "$elsewhere" -xzf "$top.tar.gz"
(cd "$elsewhere" && env -i "$name/bin/carom" run two_balls --quiet --json -o two_balls.h5)
# A root with the C library alone, and no /tmp, /proc or /etc.
root=$elsewhere/root
mkdir "$root"
for program in "$name/bin/carom" "$name/tests/bin/carom_gpu_tests"; do
    ldd "$elsewhere/$program" | grep -o '/[^ ]*' | sort -u | xargs -I{} cp --parents -nL {} "$root"
done
cp -r "$elsewhere/$name" "$root/"
if unshare --user --map-root-user true 2>/dev/null; then
    in_root() { env -i unshare --user --map-root-user --root="$root" --wd="/$name" "$@"; }
    in_root bin/carom info >/dev/null
    in_root bin/carom run two_balls --quiet --json -o /two_balls.h5
    in_root tests/bin/carom_gpu_tests --gtest_filter='*StateHash*walls_2d_single_cpu1' --gtest_brief=1
    unpacked=$(du -sm "$root/$name" | cut -f1)
    echo "unpacked: $unpacked MB"
else
    echo "an empty root: not tried, no namespaces here"
fi
# Status 4: no EGL with OpenGL 4.5 here, which the archive does not bring.
status=0
(cd "$elsewhere" && env -i "$name/bin/carom" render two_balls.h5 -o two_balls.png) || status=$?
case $status in
    0) file "$elsewhere/two_balls.png" 2>/dev/null || ls -l "$elsewhere/two_balls.png" ;;
    4) echo "render: not tried, no EGL with OpenGL 4.5 here" ;;
    *)
        echo "render from the archive failed with status $status" >&2
        exit 1
        ;;
esac
printf '\n%s (%s), needs glibc %s or newer\n' "$top.tar.gz" "$(du -h "$top.tar.gz" | cut -f1)" "$glibc"
