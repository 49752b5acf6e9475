#!/usr/bin/env bash
# Who survives the tests of [S23]: lifted curls and discrete elastic rods with the talk's four kinds of
# stiffness, 3 Newton iterations a step at 1/30 s; and from which step on the rods that did not.
#     survival.sh [--seed S] FOLDER
# Writes FOLDER/survival.txt and FOLDER/survive-*.csv (simulate --stats), and prints the text: the step of
# 1/30 s from which the rms distance to rest stays below a thousandth of the coil's radius, or, of those that
# do not get there in 300, the share of 1/30 s from which on they survive. That is 1/10, 1/100, .. 1/100000, a
# thousand steps of which end with all numbers finite and never have more energy than the coil had.
# A file that is there is not made again. STICKSLIP is the program (build/stickslip).
set -euo pipefail

seed=0
if [ "${1-}" = --seed ]; then
    seed=${2?}
    shift 2
fi
if [ $# -ne 1 ]; then
    echo "usage: survival.sh [--seed S] FOLDER" >&2
    exit 1
fi
program=${STICKSLIP:-$(dirname "$0")/../../build/stickslip}
folder=$1
mkdir -p "$folder"

# simulate DEFORMATION NAME DT STEPS: prints the file; an explosion leaves the steps before it.
simulate() {
    local file=$folder/survive-${1/=/-}-$2-$3.csv model=der kind=filtered
    case $2 in
    lifted-curls) model=lifted-curls ;;
    exact) kind=exact ;;
    gauss-newton) model=der:stretch=gauss-newton kind=gauss-newton ;;
    stretch) kind=gauss-newton ;;
    esac
    if [ ! -e "$file" ]; then
        "$program" simulate "coil:$1" --model "$model" --dt "$3" --steps "$4" --seed "$seed" \
            --scheme "newton:iterations=3,growth=0,stiffness=$kind" --stats "$file.part" >&2 || [ $? = 2 ]
        mv "$file.part" "$file"
    fi
    echo "$file"
}

# The step from which `unrest` stays below a thousandth of the radius, and nothing where it does not.
recovery() {
    awk -F, 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == "unrest") behind = NF - k; next }
             { stays = !($(NF - behind) + 0 < 5e-6) ? 0 : stays ? stays : NR - 1 }
             END { if (stays) print stays }' "$1"
}

# Whether there are STEPS rows, none of them above the energy ENERGY: calm FILE STEPS ENERGY.
calm() {
    awk -F, -v steps="$2" -v most="$3" '
        NR == 1 { for (k = 1; k <= NF; k++) { if ($k == "kinetic") v = k; if ($k == "elastic") e = k }; next }
        { if (!($v + $e <= 1.001 * most)) bad = 1 }
        END { exit !(NR - 1 == steps && !bad) }' "$1"
}

cell() { # DEFORMATION NAME
    local file stays energy dt share
    file=$(simulate "$1" "$2" 0.033333333333333333 300)
    stays=$(recovery "$file")
    if [ -n "$stays" ]; then
        printf '  %12s' "$stays"
        return
    fi
    # In a step of 1 ns nothing moves: the energy at the start.
    file=$(simulate "$1" "$2" 1e-9 1)
    energy=$(awk -F, 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == "elastic") e = k }
                      NR == 2 { print $e }' "$file")
    for share in 10 100 1000 10000 100000; do
        dt=$(awk -v n="$share" 'BEGIN { printf "%.17g", 1 / (30 * n) }')
        file=$(simulate "$1" "$2" "$dt" 1000)
        if calm "$file" 1000 "$energy"; then
            printf '  %12s' "from 1/$share"
            return
        fi
    done
    printf '  %12s' never
}

row() { # DEFORMATION
    printf '%-16s' "$1"
    for name in lifted-curls exact gauss-newton filtered stretch; do
        cell "$1" "$name"
    done
    echo
}

{
    printf '%-16s  %12s  %12s  %12s  %12s  %12s\n' deformed lifted-curls 'der: none' gauss-newton filtered GN+stretch
    for deformed in compress=0.7 compress=0.4 compress=1e-5 jitter=0.5 jitter=2 jitter=5 straighten=yes; do
        row "$deformed"
    done
} >"$folder/survival.txt"
cat "$folder/survival.txt"
