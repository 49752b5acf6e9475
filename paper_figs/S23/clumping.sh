#!/usr/bin/env bash
# Why the wisps of hairball-curly gather, or do not: one thing about them is changed at a time.
#     clumping.sh [--steps N] [--tol T] [--max-iter N] FOLDER [WISPS...]
# For each number of wisps (200 400 800 on a tenth of the ball, which is 2000, 4000 and 8000 on all of it) and
# each change: the mean distance of a tip to the nearest other one over the mean spacing of tips, after N steps
# (36: the ball has rested for 0.1 s), and the contacts then. Writes FOLDER/clumping.txt, FOLDER/CHANGE-WISPS.csv
# (simulate --stats) and the scenes of changes that are no options, and prints the text. A run whose file is
# there is not made again. STICKSLIP is the program (build/stickslip).
set -euo pipefail

here=$(dirname "$0")
# shellcheck source-path=SCRIPTDIR source=../options.sh
source "$here/../options.sh"
steps=36 tol=1e-2 max_iter=8
read_options 'steps tol max-iter' 1 '' "$@"
folder=${words[0]}
wisps=("${words[@]:1}")
[ ${#wisps[@]} -gt 0 ] || wisps=(200 400 800)
program=${STICKSLIP:-$here/../../build/stickslip}
mkdir -p "$folder"

# simulate CHANGE WISPS SCENE [OPTION...]: a scene with an edit, a program of sed, is written and run.
simulate() {
    local file=$folder/$1-$2.csv scene=("$3" --rods "$2")
    shift 3
    if [ ! -e "$file" ]; then
        if [ "${edit-}" != '' ]; then
            "$program" simulate "${scene[@]}" --write "${file%.csv}.json" >&2
            sed -i -E "$edit" "${file%.csv}.json"
            scene=("${file%.csv}.json")
        fi
        "$program" simulate "${scene[@]}" "$@" --steps "$steps" --tol "$tol" --max-iter "$max_iter" \
            --stats "$file.part" >&2 || [ $? = 2 ]
        mv "$file.part" "$file"
    fi
}

figures() { # CHANGE WISPS
    # Cells in quotes hold commas. Tips are 0.254 m from the centre.
    sed 's/"[^"]*"/text/g' "$folder/$1-$2.csv" | awk -F, -v wisps="$2" '
        NR == 1 { for (k = 1; k <= NF; k++) at[$k] = k; next }
        { gap = $at["tip_gap"] / (0.254 * sqrt(0.1 * 4 * 3.14159265 / wisps)); contacts = $at["contacts"] }
        END { printf "  %5.2f %6d", gap, contacts }'
}

row() { # CHANGE TITLE [OPTION...]: `like` is the number of wisps that the coils are as crowded as.
    local change=$1 title=$2 count coil
    shift 2
    printf '%-34s' "$title"
    for count in "${wisps[@]}"; do
        coil=$(awk -v n="$count" -v like="${like-$count}" 'BEGIN { printf "%.3g", 5 * sqrt(like / n) }')
        simulate "$change" "$count" "hairball-curly:cover=0.1,coil=$coil" "$@"
        figures "$change" "$count"
    done
    echo
}

{
    printf '%-34s' ''
    printf '  %12s' "${wisps[@]}"
    echo
    row none 'as it is'
    row taper 'tips 1/5 as thick as roots' --model lifted-curls:taper=0.2
    edit='s/"E": 60000000/"E": 240000000/' row stiff 'E x 4'
    edit='s/"gravity": \[[^]]*\]/"gravity": [0, 0, 0]/' row weightless 'no gravity'
    row smooth 'no friction' --mu 0
    edit='s/"contacts": true/"contacts": false/' row apart 'no contacts'
    like=200 row narrow 'coils as crowded as those of 200'
    like=800 row wide 'coils as crowded as those of 800'
} >"$folder/clumping.txt"
cat "$folder/clumping.txt"
