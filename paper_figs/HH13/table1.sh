#!/usr/bin/env bash
# Table 1 of [HH13]: by how many percent the swinging chain is longer than at rest, at most, in two
# full swings. The paper's numbers stand beside ours.
#     table1.sh FOLDER
# Writes FOLDER/table1.txt and FOLDER/swing-METHOD.csv, and prints the text. STICKSLIP is the program
# (build/stickslip).
set -euo pipefail

if [ $# -ne 1 ]; then
    echo "usage: table1.sh FOLDER" >&2
    exit 1
fi
folder=$1
files=$("$(dirname "$0")/runs.sh" "$folder/swing")

# The largest stretch_percent of a file; nan where there is none.
largest() {
    awk -F, 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == "stretch_percent") column = k }
             NR > 1 && column && (most == "" || $column + 0 > most) { most = $column + 0 }
             END { printf "%.4g", most == "" ? "nan" : most }' "$1"
}

row() { # METHOD PAPER
    printf '%-8s  %9s  %9s\n' "$1" "$(largest "$folder/swing-$1.csv")" "$2"
}

[ -n "$files" ]
{
    printf '%-8s  %9s  %9s\n' method stretch_% paper_%
    row tmf 0.067
    row dftl 0.000
    row pbd-2 31.62
    row pbd-5 15.38
    row pbd-40 2.26
} >"$folder/table1.txt"
cat "$folder/table1.txt"
