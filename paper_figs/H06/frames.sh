#!/usr/bin/env bash
# The scenes of [H06] in pictures: Figures 1 and 5 to 9.
#     frames.sh [--scene NAME] FOLDER
# Runs each scene (or the one) for a second or more and draws its frames into FOLDER/NAME; FOLDER/scenes.png has three
# of each, and FOLDER/scenes.gp is its gnuplot script. A scene whose folder is there is not run again. STICKSLIP is
# the program (build/stickslip).
set -euo pipefail

here=$(dirname "$0")
# shellcheck source-path=SCRIPTDIR source=../options.sh
source "$here/../options.sh"
scene=
read_options scene 1 1 "$@"
folder=${words[0]}
program=${STICKSLIP:-$here/../../build/stickslip}
mkdir -p "$folder"

# Name, steps, camera, and the frames that are shown.
all='lantern   160  39,9,1      0 17 25
tree      200  39,9,1      0 20 33
ear       480  65,15,1     0 38 65
braid     240  150,12,1    0 20 45
bangs     120  30,8,1.9    0  8 20
long-hair  96  39,9,1      0  4  8'

draw() { # NAME STEPS CAMERA
    if [ ! -e "$folder/$1" ]; then
        rm -rf "$folder/$1.part"
        "$program" simulate "$1" --steps "$2" --camera "$3" --tol 1e-2 --frames "$folder/$1.part" >&2 || [ $? = 2 ]
        mv "$folder/$1.part" "$folder/$1"
    fi
}

{
    echo "set terminal pngcairo size 1650,1200 background 'white'"
    echo "set output 'scenes.png'"
    echo 'set multiplot layout 3,6 margins 0.01,0.99,0.01,0.98 spacing 0.01,0.02'
    echo 'unset border; unset tics; unset key; set size ratio -1'
    while read -r name steps camera frames; do
        [ -z "$scene" ] || [ "$scene" = "$name" ] || continue
        draw "$name" "$steps" "$camera"
        for k in $frames; do
            printf "set title '%s, %.2f s' offset 0,-0.8\nplot '%s/frame_%05d.png' binary filetype=png with rgbimage\n" \
                "$name" "$(awk -v k="$k" 'BEGIN { print 0.04 * k }')" "$name" "$k"
        done
    done <<<"$all"
} >"$folder/scenes.gp"
(cd "$folder" && gnuplot scenes.gp)
