#!/usr/bin/env bash
# Figure 3 of [HH13]: where the tip of the swinging chain goes in its first swing. With tmf it rises
# as high as with 40 iterations of pbd; dftl damps it.
#     figure3.sh FOLDER
# Writes FOLDER/swing3-METHOD.csv and FOLDER/fig3.{svg,png}, each with its gnuplot script (.gp) and
# its data (.dat) beside it. STICKSLIP is the program (build/stickslip).
set -euo pipefail

program=${STICKSLIP:-$(dirname "$0")/../../build/stickslip}
if [ $# -ne 1 ]; then
    echo "usage: figure3.sh FOLDER" >&2
    exit 1
fi
mapfile -t files < <("$(dirname "$0")/runs.sh" --steps 300 "$1/swing3")
for ending in svg png; do
    "$program" plot "${files[@]}" --figure trajectory --out "$1/fig3.$ending"
done
