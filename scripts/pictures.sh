#!/usr/bin/env bash
# Makes the pictures of the pages (docs/images) anew, each by its command: all of them, some minutes, or those that are
# named. Whoever has made one looks at it before it is committed.
# usage: scripts/pictures.sh [-B BUILD] [NAME...], as in scripts/pictures.sh scene-bounce window
source "$(dirname "$0")/common.sh"

build=build/$test_preset
while getopts B: option; do
    case $option in
        B) build=$OPTARG ;;
        *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
wanted=" $* "
carom=$PWD/$build/bin/carom
[ -x "$carom" ] || { echo "$build: nothing is built there" >&2; exit 2; }
images=$PWD/docs/images
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit

# asked NAME: whether it is to be made.
asked() {
    [ "$wanted" = "  " ] || [[ $wanted == *" $1 "* ]] || return 1
    say "$1"
}

# ran SCENE: its trajectory is there.
ran() { [ -e "$1.h5" ] || "$carom" run "$1" --quiet -o "$1.h5"; }

# scene SCENE TIME [options of render]: one of the gallery.
scene() {
    asked "scene-$1" || return 0
    "$carom" render "$1" --time "$2" --size 640x480 -o "$images/scene-$1.png" --force --quiet "${@:3}"
}

# trails SCENE TIME IDS: the same, with where balls have been, which is drawn from picture to picture.
trails() {
    asked "scene-$1" || return 0
    "$carom" render "$1" --until "$2" --trails "$3" --size 640x480 -o "$1/" --quiet "${@:4}"
    cp "$(printf '%s\n' "$1"/*.png | tail -n 1)" "$images/scene-$1.png"
}

# figure NAME SCENE QUANTITY [options of plot]
figure() {
    asked "$1" || return 0
    ran "$2"
    "$carom" plot "$2.h5" "$3" -o "$images/$1.png" --force --quiet "${@:4}"
}

# window NAME SCENE COMMANDS [options of view]: what a screen shows of the window after COMMANDS, which may say `key`, `type`,
# `click X Y` and `sleep`.
window() {
    asked "$1" || return 0
    local display server view
    exec {reader}<> <(:)
    Xvfb -displayfd "$reader" -screen 0 1280x800x24 -nolisten tcp 2>/dev/null &
    server=$!
    read -r -u "$reader" display
    exec {reader}>&-
    export DISPLAY=:$display
    "$carom" view "$2" --size 1280x800 "${@:4}" 2>/dev/null &
    view=$!
    sleep 5
    key() { xdotool key "$@" sleep 0.5; }
    words() { xdotool type "$1" sleep 0.5; }
    click() { xdotool mousemove "$1" "$2" sleep 0.3 mousedown 1 sleep 0.2 mouseup 1 sleep 0.5; }
    eval "$3"
    xdotool mousemove 1279 799 sleep 4 # until what stands still is drawn with all care
    ffmpeg -v error -y -f x11grab -draw_mouse 0 -video_size 1280x800 -i "$DISPLAY" -frames:v 1 "$images/$1.png"
    kill "$view"
    wait "$view" || true
    kill "$server"
    wait "$server" || true
    unset DISPLAY
}

# README.md and docs/viewer.md
if asked clips; then
    "$carom" render gas3d --time 0 --size 800x600 --color-by "off the middle [m]: sqrt((x-22.2)^2+(y-22.2)^2+(z-22.2)^2)" \
        --colormap ember --clip "0:-1:0:-8,1:0:0:36,0:0:1:40" -o "$images/clips.png" --force --quiet
fi
if asked film; then
    ran piston
    "$carom" render piston.h5 --time 160 --chart temperature --chart drift:total_energy --size 1000x600 \
        -o "$images/film.png" --force --quiet
fi
window window temperature_gradient 'click 60 288; click 60 311; click 217 397; key ctrl+a; words 12; key Return; sleep 12'
window window3d gas3d 'sleep 2' --paused --camera perspective --color-by temperature --colormap ember --range 0.75:1.2

scene billiards 0.9
scene break_shot 0.7
scene pin_deck 0.45
trails bounce 1 0,1,2
trails drop 0.7 0,1,2
scene newtons_cradle 1.2 --arrows
trails double_collision 1.9 0,1,2
trails two_balls 2.8 0,1
trails level6 8 0,1,2
scene gas2d 1.2 --color-by temperature --colormap ember --range 0.6:1.4 --camera zoom=4
scene mixture 2
scene atmosphere 12
scene gas3d 0.1 --color-by temperature --colormap ember --range 0.75:1.2
scene spheres3d_frictionless 0.6
scene spheres_oblique_friction 1 --camera zoom=3
scene temperature_gradient 600
scene piston 200 --glow
scene free_expansion 6 --color-by flow

# docs/physics.md
figure maxwell-speed maxwell speed
figure barometric-density barometric density
figure column-density column density
figure temperature-gradient temperature_gradient temperature_profile
figure piston-temperature piston temperature
figure piston-pressure piston pressure
figure free-expansion free_expansion pressure
figure sedimentation sedimentation heavy
figure sound sound wall_pressure
if asked mixing; then
    ran mixing
    "$carom" plot mixing.h5 balls --time 60 --size 760x480 -o "$images/mixing.png" --force --quiet
fi
if asked equation-of-state; then
    "$carom" sweep equation_of_state --quiet
    "$carom" plot equation_of_state.csv -o "$images/equation-of-state.png" --force --quiet
fi
