#!/usr/bin/env bash
# Newton's iterations to convergence by the kind of stiffness, of rods and of lifted curls, hanging and
# compressed.
#     newton.sh FOLDER
# Writes FOLDER/newton.txt and FOLDER/newton-*.csv (simulate --stats), and prints the text: the mean number of
# iterations a step until no velocity changes by more than 1e-8 m/s, `more` where a step is not done after 200.
# STICKSLIP is the program (build/stickslip).
set -euo pipefail

if [ $# -ne 1 ]; then
    echo "usage: newton.sh FOLDER" >&2
    exit 1
fi
program=${STICKSLIP:-$(dirname "$0")/../../build/stickslip}
folder=$1
mkdir -p "$folder"

cell() { # NAME MODEL KIND SCENE DT STEPS
    local file=$folder/newton-$1-${2%%:*}-$3.csv
    if [ ! -e "$file" ]; then
        "$program" simulate "$4" --model "$2" --dt "$5" --steps "$6" \
            --scheme "newton:iterations=200,growth=0,stiffness=$3" --stats "$file.part" >&2 || [ $? = 2 ]
        mv "$file.part" "$file"
    fi
    awk -F, -v steps="$6" '
        NR == 1 { for (k = 1; k <= NF; k++) { if ($k == "iterates") i = NF - k; if ($k == "change") c = NF - k }; next }
        { sum += $(NF - i); if (!($(NF - c) <= 1e-8)) open = 1 }
        END { printf "  %12s", NR - 1 < steps ? "fails" : open ? "more" : sprintf("%.2f", sum / (NR - 1)) }' "$file"
}

row() { # NAME TITLE SCENE DT STEPS
    local model
    for model in der lifted-curls; do
        printf '%-34s  %-12s' "$2" "$model"
        for kind in exact filtered gauss-newton; do
            cell "$1" "$model" "$kind" "$3" "$4" "$5"
        done
        echo
    done
}

{
    printf '%-34s  %-12s  %12s  %12s  %12s\n' motion model exact filtered gauss-newton
    row hanging-2 'a helix falls, 2 ms' helix:turns=3 0.002 50
    row hanging-33 'a helix falls, 1/30 s' helix:turns=3 0.033333333333333333 10
    row compressed-2 'the coil at 0.7, 2 ms' coil:compress=0.7 0.002 50
    row compressed-33 'the coil at 0.7, 1/30 s' coil:compress=0.7 0.033333333333333333 10
} >"$folder/newton.txt"
cat "$folder/newton.txt"
