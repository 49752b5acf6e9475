#!/usr/bin/env bash
# How the coil of [S23] springs back with lifted curls at 1/30 s, by 3 and by 12 iterations a step, beside
# the steps of the public code (doc/strands.md, "[S23]").
#     recovery.sh FOLDER
# Writes FOLDER/recovery.txt and FOLDER/coil-DEFORMATION-ITERATIONS.csv (simulate --stats), and prints the
# text. A file that is there is not made again. STICKSLIP is the program (build/stickslip).
set -euo pipefail

if [ $# -ne 1 ]; then
    echo "usage: recovery.sh FOLDER" >&2
    exit 1
fi
program=${STICKSLIP:-$(dirname "$0")/../../build/stickslip}
folder=$1
mkdir -p "$folder"

# The first step below a thousandth of the radius, the step from which it stays there, and the end.
figures() {
    awk -F, 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == "unrest") behind = NF - k; next }
             { off = $(NF - behind) + 0; below = off < 5e-6
               if (below && !first) first = NR - 1
               stays = !below ? 0 : stays ? stays : NR - 1 }
             END { printf "%6s %6s  %8.1e", first ? first : "-", stays ? stays : "never", off }' "$1"
}

row() { # DEFORMATION PUBLIC3 PUBLIC12
    printf '%-16s' "$1"
    local iterations file public
    for iterations in 3 12; do
        file=$folder/coil-${1/=/-}-$iterations.csv
        if [ ! -e "$file" ]; then
            "$program" simulate "coil:$1" --scheme "newton:iterations=$iterations,growth=0" \
                --stats "$file.part" >&2
            mv "$file.part" "$file"
        fi
        public=$([ "$iterations" = 3 ] && echo "$2" || echo "$3")
        printf '  %s %6s' "$(figures "$file")" "$public"
    done
    echo
}

{
    printf '%-16s  %31s  %31s\n' '' '3 iterations: first, stays, end' '12 iterations: first, stays, end'
    printf '%-16s  %6s %6s  %8s %6s  %6s %6s  %8s %6s\n' deformed step step rms_m public step step rms_m public
    row compress=0.7 40 10
    row compress=0.4 46 33
    row compress=1e-5 84 69
    row jitter=0.5 34 33
    row jitter=2 40 43
    row jitter=5 62 62
    row straighten=yes 78 60
} >"$folder/recovery.txt"
cat "$folder/recovery.txt"
