#!/usr/bin/env bash
# Checks a GPU against everything that is known without one, in the order of worth: what it is, the GPU tests, speeds beside
# the memory's and the textbook algorithm's, the state hashes of all scenes on the CPU and on the GPU, the viewer, NVIDIA's
# sanitizer if it is installed, two ranks on the GPU if MPI is, and last the largest gas. Needs no network, compiler or
# Python; takes under 8 minutes.
# Run it from the unpacked archive of scripts/package.sh, or in a checkout with a build.
# usage: scripts/gpu-check.sh OUTDIR [BUILD]       (BUILD: a build folder, such as build/cuda; default: the archive)
# Leaves in OUTDIR: gpu-check.json (all results, at any moment), and the log of each part. Prints a table last; exit status 0 if
# all is well.
# With CAROM_REHEARSAL set every part does as little as it can, and CAROM_CHECK_SECONDS is the time for all: for trials without a
# GPU (tests/cli/gpu_check_test.py).
set -uo pipefail

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    sed -n '7,9s/^# //p' "$0" >&2
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

single_steps=10000 double_steps=2000 sanitized_steps=60 shards=4 shared_balls=400000 shared_steps=400
copies=256 copied_steps=20000 patience=1
sanitized_balls=([2]=3000 [3]=5000) # a crew; launches
sizes=4096,100000,1000000,16000000 largest=100000000 viewer_sizes=100000,1000000
if [ -n "${CAROM_REHEARSAL:-}" ]; then
    single_steps=10 double_steps=5 sanitized_steps=3 shards=1 shared_balls=400 shared_steps=40
    copies=3 copied_steps=5 patience=4 # the machine may be busy with other tests
    sanitized_balls=([2]=300 [3]=300)
    sizes=1000,4096 largest=8000 viewer_sizes=1000
fi

# limit SECONDS: at most that, in a rehearsal some times as much, and never past the end of the time for all.
deadline=$((EPOCHSECONDS + ${CAROM_CHECK_SECONDS:-465}))
limit() {
    local asked=$(($1 * patience)) left=$((deadline - EPOCHSECONDS))
    [ "$left" -gt 1 ] || left=1
    [ "$asked" -lt "$left" ] && echo "$asked" || echo "$left"
}

# within SECONDS COMMAND...: ends it after them, also where it waits for a GPU that does not answer.
within() { timeout -k 3 "$(limit "$1")" "${@:2}"; }

# stopped STATUS: whether that is one that the end of the time gives.
stopped() { [ "$1" -eq 124 ] || [ "$1" -eq 137 ]; }

export CAROM_REQUIRE_GPU=1
rows=()    # the table: part, result, remark
records=() # the same as JSON
bad=0
late=0 # of what a GPU must be compared and measured by: what has no result, for want of time
skipped=0
record() { # PART NAME OK(true|false|null) REMARK
    local mark=ok remark
    case $3 in false) mark=FAILED bad=$((bad + 1)) ;; null) mark=- ;; esac
    rows+=("$(printf '%-10s %-34s %-6s %s' "$1" "$2" "$mark" "$4")")
    remark=$(tr -d '\\\000-\037' <<<"${4//\"/\'}")
    records+=("{\"part\": \"$1\", \"name\": \"$2\", \"ok\": $3, \"remark\": \"$remark\"}")
    echo "${rows[-1]}"
    write_results
}
write_results() {
    {
        printf '{"gpu": "%s", "driver": "%s", "date": "%s", "seconds": %d, "failures": %d, "skipped": %d, "results": [\n' \
            "$gpu" "$driver" "$(date -u +%FT%TZ)" "$SECONDS" "$bad" "$skipped"
        local line between=
        for line in "${records[@]}"; do
            printf '%s  %s' "$between" "$line"
            between=$',\n'
        done
        printf '\n]}\n'
    } >"$work/results.json"
    cp "$work/results.json" "$out/gpu-check.json.partial" && mv "$out/gpu-check.json.partial" "$out/gpu-check.json"
}

# has_time SECONDS PART NAME: else that part is told as left out.
has_time() {
    [ $((deadline - EPOCHSECONDS)) -lt "$1" ] || return 0
    too_late "$2" "$3" "no time left"
    return 1
}
too_late() { # PART NAME REMARK
    case $1 in bench | hash) late=$((late + 1)) ;; esac
    record "$1" "$2" null "$3"
}

# field NAME FILE: a number or string from a one-line JSON object.
field() { sed -n "s/.*\"$1\": *\"\{0,1\}\([^,\"}]*\).*/\1/p" "$2" | head -n 1; }

# 1. What is here.
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1)
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1)
if [ -z "$gpu" ]; then
    echo "no GPU: nvidia-smi finds none" >&2
    exit 4
fi
echo "$gpu, driver $driver"
if ! within 60 "$carom" info >"$out/info.txt" 2>&1 || ! grep -q '^ *GPU  *[^n ]' "$out/info.txt"; then
    cat "$out/info.txt" >&2
    echo "nvidia-smi shows a GPU, and carom finds none that it can use" >&2
    exit 4
fi

# 2. Tests that use the GPU, all at once: they wait for the processor more than for the GPU. The archive has one program of
# all kinds.
kinds=(backends golden viewer)
[ -n "$build" ] || kinds=(gpu) shards=$((3 * shards))
start_tests() { # KIND SHARD OF
    CAROM_REQUIRE_GPU=1 GTEST_TOTAL_SHARDS=$3 GTEST_SHARD_INDEX=$2 within 150 \
        "$tests/carom_$1_tests" --gtest_filter='*cuda*:*Cuda*' --gtest_brief=1 >"$out/tests-$1-$2.txt" 2>&1
    echo $? >"$work/tests-$1-$2.status"
}
started=$SECONDS
for kind in "${kinds[@]}"; do
    [ -x "$tests/carom_${kind}_tests" ] || continue
    for ((shard = 0; shard < shards; ++shard)); do start_tests "$kind" "$shard" "$shards" & done
done
wait
for kind in "${kinds[@]}"; do
    if [ ! -x "$tests/carom_${kind}_tests" ]; then
        record tests "$kind" false "$tests/carom_${kind}_tests is missing"
        continue
    fi
    ran=0 left=0 failed=0 broken=
    for ((shard = 0; shard < shards; ++shard)); do
        log=$out/tests-$kind-$shard.txt
        count() { sed -n "$1" "$log" | tail -n 1; }
        ran=$((ran + $(count 's/^\[==========\] \([0-9]*\) tests\{0,1\} from .* ran.*/\1/p') + 0))
        left=$((left + $(count 's/^\[  SKIPPED \] \([0-9]*\) tests\{0,1\}.*/\1/p') + 0))
        failed=$((failed + $(grep -c '^\[  FAILED  \]' "$log")))
        case $(cat "$work/tests-$kind-$shard.status") in
            0) ;;
            124 | 137) broken="stopped for time, see tests-$kind-$shard.txt" ;;
            1) broken="$failed failed, see tests-$kind-*.txt" ;;
            *) broken="crashed, see tests-$kind-$shard.txt" ;;
        esac
    done
    skipped=$((skipped + left))
    [ $ran -gt 0 ] || broken=${broken:-no test ran}
    if [ -n "$broken" ]; then
        record tests "$kind" false "$broken"
    else
        record tests "$kind" true "$ran tests, $left skipped, $((SECONDS - started)) s for all kinds"
    fi
done

# 3. carom's step beside the memory's speed and the textbook algorithm, in one run for each dimension.
# Rows as they stand in the JSON, one line each.
bench() { # DIMENSION SIZES SECONDS NAME [options...]
    local dimension=$1 name=$4 seconds status row fraction=0.5
    has_time 10 bench "$name" || return
    seconds=$(limit "$3")
    [ "$dimension" = 2 ] || fraction=0.3
    timeout -k 3 $((seconds + 5)) "$carom" bench --quick --backend cuda --dimension "$dimension" --sizes "$2" --fractions $fraction \
        --limit "$seconds" --patience 20 --json --quiet "${@:5}" >"$out/$name.json" 2>"$out/$name.txt"
    status=$?
    if stopped $status; then
        too_late bench "$name" "stopped for time"
        return
    elif [ $status -ne 0 ]; then
        record bench "$name" false "status $status, see $name.txt"
        return
    fi
    tr '{' '\n' <"$out/$name.json" | grep '^"rung"' | grep '"per_second"' >"$work/rows.txt"
    if [ ! -s "$work/rows.txt" ]; then
        why=$(tr '{' '\n' <"$out/$name.json" | sed -n 's/.*"why": *"\([^"]*\)".*/\1/p' | head -n 1)
        record bench "$name" false "nothing was measured${why:+: $why}, see $name.json"
    fi
    while read -r row; do
        echo "$row" >"$work/row.txt"
        dimension=$(field dimension "$work/row.txt")
        share=$(field fraction_of_limit "$work/row.txt")
        record bench "$(field rung "$work/row.txt")${dimension:+ ${dimension}D $(field balls "$work/row.txt") $(field precision "$work/row.txt")}" null \
            "$(printf '%.3g' "$(field per_second "$work/row.txt")") $(field unit "$work/row.txt")/s${share:+, $(printf '%.3f' "$share") of the limit}"
    done <"$work/rows.txt"
}
for dimension in 2 3; do
    bench $dimension "$sizes" 55 bench-${dimension}d --only copy,integrate,textbook,spring
done

# Many small systems, which share launches: the sum of their own rates, and whether one of them is what it is alone. One
# of so many balls has been measured above.
for dimension in 2 3; do
    [ $dimension = 2 ] && edge=80.2 || edge=19.27 # a fraction of 0.5, and of 0.3
    small=(scenes/gas${dimension}d.toml --solver spring --steps $copied_steps --set "fill[0].count=4096" --quiet --json --force
        --set "box.size=[$edge,$edge$([ $dimension = 2 ] || echo ",$edge")]" --set "fill[0].arrangement=lattice"
        --set output.every=0 --set output.observables_every=0)
    name="$copies copies of 4096, ${dimension}D"
    has_time 10 bench "$name" || continue
    within 60 "$carom" run "${small[@]}" --backend cuda --copies $copies -o "$work/copy.h5" \
        >"$out/copies-${dimension}d.json" 2>"$out/copies-${dimension}d.txt"
    status=$?
    if stopped $status; then
        too_late bench "$name" "stopped for time"
        continue
    elif [ $status -ne 0 ]; then
        record bench "$name" false "$(tail -n 1 "$out/copies-${dimension}d.txt")"
        continue
    fi
    rm -f "$work"/copy.*.h5
    tr '{' '\n' <"$out/copies-${dimension}d.json" | grep '"ball_steps_per_second"' >"$work/copies.txt"
    rate=$(sed 's/.*"ball_steps_per_second": *\([^,}]*\).*/\1/' "$work/copies.txt" | awk '{ sum += $1 } END { printf "%.3g", sum }')
    tr ',' '\n' <"$out/copies-${dimension}d.json" | grep '"state_hash"' | tail -n 1 >"$work/last.txt"
    within 30 "$carom" run "${small[@]}" --backend cpu --seed $copies -o "$work/alone.h5" >"$work/alone.json" 2>/dev/null
    hash=$(field state_hash "$work/alone.json")
    if [ -n "$hash" ] && [ "$hash" = "$(field state_hash "$work/last.txt")" ]; then
        record bench "$name" true "$rate ball-steps/s, the last with the bits that it has alone on the CPU"
    else
        record bench "$name" false "the last has $(field state_hash "$work/last.txt"), alone on the CPU ${hash:-none}"
    fi
done

# 4. Every scene that the spring solver takes, on both processors: the same hash, bit for bit. Several at once.
run_scene() { # SCENE BACKEND PRECISION STEPS NAME: leaves NAME.json, NAME.err and NAME.status
    local left=$((hashes_end - EPOCHSECONDS))
    echo 124 >"$5.status"
    [ $left -ge 2 ] || return
    timeout -k 3 $((left < 60 * patience ? left : 60 * patience)) "$carom" run "$1" --solver spring --backend "$2" --threads 2 --precision "$3" --steps "$4" \
        --set output.every=0 --set output.observables_every=0 --quiet --json --force -o "$5.h5" >"$5.json" 2>"$5.err"
    echo $? >"$5.status"
    rm -f "$5.h5"
}
both_processors() { # SCENE PRECISION STEPS
    local name
    name=$work/$(basename "$1" .toml)-$2
    run_scene "$1" cpu "$2" "$3" "$name-cpu"
    # What the spring solver does not take on the CPU, as friction, is not asked of the GPU.
    [ "$(cat "$name-cpu.status")" != 0 ] || run_scene "$1" cuda "$2" "$3" "$name-cuda"
}
export -f run_scene both_processors
hashes_end=$((EPOCHSECONDS + $(limit 120)))
export carom work hashes_end patience
for scene in scenes/*.toml; do
    case $scene in *.sweep.toml) continue ;; esac
    printf '%s single %d\n%s double %d\n' "$scene" $single_steps "$scene" $double_steps
done >"$work/list.txt"
xargs -P "$((($(nproc) + 1) / 2))" -L 1 bash -c 'both_processors "$@"' both <"$work/list.txt"
while read -r scene precision steps; do
    name=$(basename "$scene" .toml)-$precision
    cpu=$work/$name-cpu cuda=$work/$name-cuda
    hash=$(field state_hash "$cpu.json" 2>/dev/null)
    other=$(field state_hash "$cuda.json" 2>/dev/null)
    if [ "$(cat "$cpu.status" 2>/dev/null)" = 2 ] && grep -qF 'solver = "events"' "$cpu.err"; then
        record hash "$name" null "not for this solver: $(head -n 1 "$cpu.err")"
    elif grep -qE '^(124|137)$' "$cpu.status" "$cuda.status" 2>/dev/null; then
        too_late hash "$name" "stopped for time"
    elif [ -z "$hash" ] || [ -z "$other" ]; then
        record hash "$name" false "$(cat "$cpu.err" "$cuda.err" 2>/dev/null | tail -n 1)"
    elif [ "$hash" = "$other" ]; then
        record hash "$name" true "$other after $(field steps "$cuda.json") steps"
    else
        record hash "$name" false "cpu $hash, cuda $other"
    fi
done <"$work/list.txt"

# 5. Balls that CUDA writes into OpenGL's buffers, beside those that come by the host: what a picture takes, and that it is
# the same one. The pictures themselves are compared by the tests above as well.
within 30 "$carom" bench --viewer --sizes 1000 --backend cpu --quick --quiet --json >"$out/viewer-cpu.json" 2>"$out/viewer.txt"
status=$?
if stopped $status; then
    record viewer interop null "stopped for time"
elif [ $status -eq 0 ]; then
    for dimension in 2 3; do
        has_time 10 viewer "${dimension}D" || continue
        json=$out/viewer-${dimension}d.json
        within 45 "$carom" bench --viewer --dimension $dimension --backend cuda --quick --json --quiet \
            --sizes $viewer_sizes >"$json" 2>>"$out/viewer.txt"
        status=$?
        if stopped $status; then
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
            record viewer "interop ${dimension}D" false "balls get to OpenGL $(field opengl "$json") by $(field store "$json")"
        fi
    done
else
    record viewer interop null "skipped: $(tail -n 1 "$out/viewer.txt")"
    skipped=$((skipped + 1))
fi

# 6. NVIDIA's sanitizer over a short run of a small scene in 2D and one in 3D.
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
    skipped=$((skipped + 1))
else
    for dimension in 2 3; do
        small_scene $dimension ${sanitized_balls[$dimension]} "$work/small$dimension.toml"
        for tool in memcheck racecheck initcheck; do
            log=$out/$tool-${dimension}d.txt
            steps=$sanitized_steps
            [ $tool != racecheck ] || steps=$(((steps + 9) / 10)) # it takes a second a step
            has_time 5 sanitizer "$tool ${dimension}D" || continue
            within 15 "$sanitizer" --tool $tool --error-exitcode 9 "$carom" run "$work/small$dimension.toml" \
                --solver spring --backend cuda --steps $steps --set output.every=0 \
                --set output.observables_every=0 --quiet --force -o "$work/$tool-$dimension.h5" >"$log" 2>&1
            status=$?
            if [ $status -eq 0 ]; then
                record sanitizer "$tool ${dimension}D" true ""
            elif stopped $status; then
                record sanitizer "$tool ${dimension}D" null "stopped for time"
            else
                record sanitizer "$tool ${dimension}D" false "status $status, see $(basename "$log")"
            fi
        done
    done
fi

# 7. Two ranks that share the GPU beside one process alone: the same hash, and what it costs.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export TMPDIR=$work # launchers that make their folder beside another's at the same moment may give up
run_shared() { # DIMENSION NAME LAUNCHER...
    within 40 "${@:3}" "$carom" run "$work/shared$1.toml" --solver spring --backend cuda --steps $shared_steps \
        --set output.every=0 --set output.observables_every=0 --quiet --json --force -o "$work/$2.h5" \
        >"$work/$2.json" 2>"$work/$2.err"
}
for dimension in 2 3; do
    if ! command -v mpirun >/dev/null; then
        record ranks "two ranks ${dimension}D" null "no mpirun"
        skipped=$((skipped + 1))
        continue
    fi
    has_time 10 ranks "two ranks ${dimension}D" || continue
    small_scene $dimension $shared_balls "$work/shared$dimension.toml"
    run_shared $dimension alone env
    run_shared $dimension ranks mpirun -n 2
    status=$?
    alone=$(field state_hash "$work/alone.json") shared=$(field state_hash "$work/ranks.json")
    if grep -q 'no module for MPI' "$work/ranks.err"; then
        record ranks "two ranks ${dimension}D" null "no module for MPI beside the program"
        skipped=$((skipped + 1))
    elif stopped $status; then
        record ranks "two ranks ${dimension}D" null "stopped for time"
    elif [ -z "$shared" ] || [ "$alone" != "$shared" ] || [ "$(field ranks "$work/ranks.json")" != 2.0 ]; then
        record ranks "two ranks ${dimension}D" false "alone '$alone', two ranks '$shared'; $(grep -m 1 '^carom:' "$work/ranks.err" || grep -v '^ *$' "$work/ranks.err" | tail -n 1)"
    else
        record ranks "two ranks ${dimension}D" true "$(printf '%.3g and alone %.3g' \
            "$(field ball_steps_per_second "$work/ranks.json")" "$(field ball_steps_per_second "$work/alone.json")") ball-steps/s, $shared"
    fi
done

# 8. The largest gas, if there is time left for it.
for dimension in 2 3; do
    if [ $((deadline - EPOCHSECONDS)) -lt 60 ]; then
        record bench "spring ${dimension}D $largest" null "no time left"
        continue
    fi
    bench $dimension $largest 60 bench-largest-${dimension}d --only spring --precision single
done

write_results
printf '\n%s, driver %s, %d s\n\n' "$gpu" "$driver" "$SECONDS"
printf '%s\n' "${rows[@]}"
printf '\n'
[ $skipped -eq 0 ] || echo "$skipped skipped"
[ $late -eq 0 ] || echo "$late without a result, for want of time"
[ $bad -eq 0 ] || echo "$bad failures"
[ $((bad + late)) -eq 0 ] && echo "all well"
