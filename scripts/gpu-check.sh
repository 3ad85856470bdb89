#!/usr/bin/env bash
# Checks a GPU against everything that is known without one: the GPU tests, the state hashes of all scenes on the CPU and
# on the GPU, NVIDIA's sanitizer if it is installed, and speeds. Needs no network, compiler or Python; takes under 8
# minutes. Run it from the unpacked archive of scripts/package.sh, or in a checkout with a build.
# usage: scripts/gpu-check.sh OUTDIR [BUILD]       (BUILD: a build folder, such as build/cuda; default: the archive)
# Leaves in OUTDIR: gpu-check.json (all results), and the log of each part. Prints a table last; exit status 0 if all is well.
set -uo pipefail

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    sed -n '5,6s/^# //p' "$0" >&2
    exit 2
fi
mkdir -p "$1"
out=$(realpath "$1")
if [ $# -eq 2 ]; then build=$(realpath "$2"); else build=; fi
cd "$(dirname "$0")/.." || exit 1
if [ -n "$build" ]; then
    carom=$build/bin/carom
    tests=$build/bin
else
    carom=$PWD/bin/carom
    tests=$PWD/tests/bin
fi
if [ ! -x "$carom" ]; then
    echo "$carom is not there; unpack the archive of scripts/package.sh, or name a build folder" >&2
    exit 2
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

deadline=$((SECONDS + 460))
# limit SECONDS: at most that, and never past the end of the time for all.
limit() {
    local left=$((deadline - SECONDS))
    [ "$left" -gt 1 ] || left=1
    [ "$1" -lt "$left" ] && echo "$1" || echo "$left"
}

export CAROM_REQUIRE_GPU=1
rows=()    # the table: part, result, remark
records=() # the same as JSON
bad=0
skipped=0
record() { # PART NAME OK(true|false|null) REMARK
    local mark=ok
    case $3 in false) mark=FAILED bad=$((bad + 1)) ;; null) mark=- ;; esac
    rows+=("$(printf '%-10s %-34s %-6s %s' "$1" "$2" "$mark" "$4")")
    records+=("{\"part\": \"$1\", \"name\": \"$2\", \"ok\": $3, \"remark\": \"${4//\"/\'}\"}")
    echo "${rows[-1]}"
}

# field NAME FILE: a number or string from a one-line JSON object.
field() { sed -n "s/.*\"$1\": *\"\{0,1\}\([^,\"}]*\).*/\1/p" "$2" | head -n 1; }

gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1)
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1)
if [ -z "$gpu" ]; then
    echo "no GPU: nvidia-smi finds none" >&2
    exit 4
fi
echo "$gpu, driver $driver"
"$carom" info >"$out/info.txt" 2>&1

# 1. Tests that use the GPU.
for kind in backends golden viewer; do
    program=$tests/carom_${kind}_tests
    if [ ! -x "$program" ]; then
        record tests "$kind" false "$program is missing"
        continue
    fi
    log=$out/tests-$kind.txt
    start=$SECONDS
    timeout "$(limit 150)" "$program" --gtest_filter='*cuda*:*Cuda*' --gtest_brief=1 >"$log" 2>&1
    status=$?
    ran=$(sed -n 's/^\[==========\] \([0-9]*\) tests\{0,1\} from .* ran.*/\1/p' "$log" | tail -n 1)
    if [ $status -eq 124 ]; then
        record tests "$kind" false "stopped after $((SECONDS - start)) s"
    elif [ $status -ne 0 ]; then
        record tests "$kind" false "$(sed -n 's/^ *\([0-9]* FAILED TESTS\{0,1\}\)/\1/p' "$log" | tail -n 1) (see tests-$kind.txt)"
    else
        left=$(sed -n 's/^\[  SKIPPED \] \([0-9]*\) tests\{0,1\}.*/\1/p' "$log" | tail -n 1)
        left=${left:-0}
        skipped=$((skipped + left))
        record tests "$kind" true "${ran:-0} tests, $left skipped, $((SECONDS - start)) s"
    fi
done

# Balls that CUDA writes into OpenGL's buffers, beside those that come by the host: what a picture takes, and that it is
# the same one. The pictures themselves are compared by the tests above as well.
if "$carom" bench --viewer --sizes 1000 --backend cpu --quick --quiet --json >"$out/viewer-cpu.json" 2>"$out/viewer.txt"; then
    for dimension in 2 3; do
        json=$out/viewer-${dimension}d.json
        timeout "$(limit 90)" "$carom" bench --viewer --dimension $dimension --backend cuda --quick --json --quiet \
            >"$json" 2>>"$out/viewer.txt"
        status=$?
        if [ $status -eq 124 ]; then
            record viewer "${dimension}D" null "stopped for time"
            continue
        elif [ $status -ne 0 ]; then
            record viewer "${dimension}D" false "status $status, see viewer.txt"
            continue
        fi
        tr '{' '\n' <"$json" | grep '^"path"' >"$work/viewer.txt"
        while read -r row; do
            echo "$row" >"$work/row.txt"
            path=$(field path "$work/row.txt")
            differing=$(field differing_share "$work/row.txt")
            ok=null
            # At most a thousandth of the pixels: a value rounded another way may get the colour beside.
            [ "$path" != shared ] || ok=$(awk -v d="$differing" 'BEGIN { print d <= 1e-3 ? "true" : "false" }')
            remark="$(printf '%.4g' "$(field frames_per_second "$work/row.txt")") frames/s"
            remark="$remark, $(printf '%.4g' "$(field live_frames_per_second "$work/row.txt")") with a step each"
            [ "$path" != shared ] || remark="$remark, $differing of the pixels differ"
            record viewer "$path ${dimension}D $(field balls "$work/row.txt")" "$ok" "$remark"
        done <"$work/viewer.txt"
        if grep -q '"path":"shared"' "$json"; then
            record viewer "interop ${dimension}D" true "$(field opengl "$json")"
        else
            record viewer "interop ${dimension}D" false "balls get to OpenGL $(field store "$json")"
        fi
    done
else
    record viewer interop null "skipped: $(tail -n 1 "$out/viewer.txt")"
    skipped=$((skipped + 1))
fi

# 2. Every scene on both processors: the same hash, bit for bit.
run_scene() { # SCENE BACKEND PRECISION STEPS FILE [options...]
    local scene=$1 backend=$2 precision=$3 steps=$4 file=$5
    shift 5
    timeout "$(limit 90)" "$carom" run "$scene" --backend "$backend" --precision "$precision" --steps "$steps" \
        --set output.every=0 --set output.observables_every=0 --quiet --json --force -o "$work/$backend.h5" "$@" >"$file" 2>"$file.err"
}
for scene in scenes/*.toml; do
    name=$(basename "$scene" .toml)
    for precision in single double; do
        if [ $precision = single ]; then steps=10000; else steps=2000; fi
        run_scene "$scene" cpu $precision $steps "$work/cpu.json"
        run_scene "$scene" cuda $precision $steps "$work/cuda.json"
        cpu=$(field state_hash "$work/cpu.json")
        cuda=$(field state_hash "$work/cuda.json")
        if [ -z "$cpu" ] || [ -z "$cuda" ]; then
            record hash "$name $precision" false "$(cat "$work"/cpu.json.err "$work"/cuda.json.err | tail -n 1)"
        elif [ "$cpu" = "$cuda" ]; then
            record hash "$name $precision" true "$cuda after $(field steps "$work/cuda.json") steps"
        else
            record hash "$name $precision" false "cpu $cpu, cuda $cuda"
        fi
    done
done

# 3. NVIDIA's sanitizer over a short run of a small scene in 2D and one in 3D.
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)
small_scene() { # DIMENSION COUNT FILE: a gas at rest density in a box of walls
    local box
    if [ "$1" = 2 ]; then
        box=$(awk -v n="$2" 'BEGIN { l = sqrt(n * 3.14159265 / 4 / 0.4); printf "[%.6f, %.6f]", l, l }')
    else
        box=$(awk -v n="$2" 'BEGIN { l = (n * 3.14159265 / 6 / 0.3) ^ (1 / 3); printf "[%.6f, %.6f, %.6f]", l, l, l }')
    fi
    cat >"$3" <<END
[scene]
dimension = $1
[box]
size = $box
[spring]
stiffness = 1.0e4
[[fill]]
count = $2
radius = 0.5
mass = 1.0
temperature = 1.0
END
}
if [ -z "$sanitizer" ]; then
    record sanitizer compute-sanitizer null "not installed"
else
    for dimension in 2 3; do
        small_scene $dimension 3000 "$work/small$dimension.toml"
        for tool in memcheck racecheck initcheck; do
            log=$out/$tool-${dimension}d.txt
            timeout "$(limit 40)" "$sanitizer" --tool $tool --error-exitcode 9 "$carom" run "$work/small$dimension.toml" \
                --backend cuda --steps 60 --set output.every=0 --set output.observables_every=0 --quiet --force -o "$work/s.h5" >"$log" 2>&1
            status=$?
            if [ $status -eq 0 ]; then
                record sanitizer "$tool ${dimension}D" true ""
            elif [ $status -eq 124 ]; then
                record sanitizer "$tool ${dimension}D" null "stopped for time"
            else
                record sanitizer "$tool ${dimension}D" false "see $(basename "$log")"
            fi
        done
    done
fi

# 4. The bench: carom's step beside the memory's speed and the textbook algorithm.
bench_seconds=$(limit 75)
if [ "$bench_seconds" -gt 20 ]; then
    timeout "$bench_seconds" "$carom" bench --quick --backend cuda --limit $((bench_seconds - 15)) --json --quiet \
        >"$out/bench.json" 2>"$out/bench.txt"
    status=$?
    if [ $status -eq 0 ]; then
        # One line a row; the fields of interest in the order in which carom writes them.
        tr '{' '\n' <"$out/bench.json" | grep '^"rung"' | grep '"per_second"' >"$work/rows.txt"
        while read -r row; do
            echo "$row" >"$work/row.txt"
            dimension=$(field dimension "$work/row.txt")
            share=$(field fraction_of_limit "$work/row.txt")
            record bench "$(field rung "$work/row.txt")${dimension:+ ${dimension}D $(field balls "$work/row.txt") $(field precision "$work/row.txt")}" null \
                "$(printf '%.3g' "$(field per_second "$work/row.txt")") $(field unit "$work/row.txt")/s${share:+, $(printf '%.3f' "$share") of the limit}"
        done <"$work/rows.txt"
    else
        record bench "carom bench" false "status $status, see bench.txt"
    fi
fi

# 5. Speed in ball-steps per second from 1,000 balls to 10 million.
for dimension in 2 3; do
    for count in 1000 10000 100000 1000000 10000000; do
        [ $((deadline - SECONDS)) -gt 30 ] || break
        small_scene $dimension $count "$work/speed.toml"
        sed -i 's/^count/arrangement = "lattice"\ncount/' "$work/speed.toml"
        steps=$((count < 20000 ? 20000 : 4000000000 / count / 2))
        [ $steps -le 20000 ] || steps=20000
        run_scene "$work/speed.toml" cuda single $steps "$work/speed.json"
        speed=$(field ball_steps_per_second "$work/speed.json")
        if [ -n "$speed" ]; then
            record speed "${dimension}D $count cuda" null "$speed"
        else
            record speed "${dimension}D $count cuda" false "$(tail -n 1 "$work/speed.json.err")"
        fi
    done
done

{
    printf '{"gpu": "%s", "driver": "%s", "date": "%s", "seconds": %d, "failures": %d, "skipped": %d, "results": [\n' \
        "$gpu" "$driver" "$(date -u +%FT%TZ)" "$SECONDS" "$bad" "$skipped"
    for i in "${!records[@]}"; do
        [ "$i" -eq 0 ] || printf ',\n'
        printf '  %s' "${records[$i]}"
    done
    printf '\n]}\n'
} >"$out/gpu-check.json"

printf '\n%s, driver %s, %d s\n\n' "$gpu" "$driver" "$SECONDS"
printf '%s\n' "${rows[@]}"
printf '\n'
[ $skipped -eq 0 ] || echo "$skipped skipped"
[ $bad -eq 0 ] && echo "all well" || echo "$bad failures"
[ $bad -eq 0 ]
