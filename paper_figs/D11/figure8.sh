#!/usr/bin/env bash
# Figure 8 of [D11]: a fast turn of the head with friction and without it: how far the tips spread,
# and how long the hair keeps moving.
#     figure8.sh [--rods N] [--steps N] FOLDER
# Writes FOLDER/turn-MU.csv for mu 0.3 and 0 and FOLDER/fig8.{svg,png}, each with its gnuplot script
# (.gp) and its data (.dat) beside it. STICKSLIP is the program (build/stickslip).
set -euo pipefail

program=${STICKSLIP:-$(dirname "$0")/../../build/stickslip}
options=()
while [[ ${1-} == --* ]]; do
    case "$1" in
    --rods | --steps) options+=("$1" "${2?}") ;;
    *)
        echo "figure8: unknown option $1" >&2
        exit 1
        ;;
    esac
    shift 2
done
if [ $# -ne 1 ]; then
    echo "usage: figure8.sh [--rods N] [--steps N] FOLDER" >&2
    exit 1
fi
folder=$1
mkdir -p "$folder"
files=()
for mu in 0.3 0; do
    file=$folder/turn-$mu.csv
    "$program" simulate turn --mu "$mu" "${options[@]}" --stats "$file" >&2
    files+=("$file")
done
for ending in svg png; do
    "$program" plot "${files[@]}" --figure dispersion --out "$folder/fig8.$ending"
done
