#!/usr/bin/env bash
# Figure 4 of [HH13]: the stretch of the swinging chain over time.
#     figure4.sh FOLDER
# Writes FOLDER/swing-METHOD.csv where they are absent and FOLDER/fig4.{svg,png}, each with its
# gnuplot script (.gp) and its data (.dat) beside it. STICKSLIP is the program (build/stickslip).
set -euo pipefail

program=${STICKSLIP:-$(dirname "$0")/../../build/stickslip}
if [ $# -ne 1 ]; then
    echo "usage: figure4.sh FOLDER" >&2
    exit 1
fi
mapfile -t files < <("$(dirname "$0")/runs.sh" "$1/swing")
for ending in svg png; do
    "$program" plot "${files[@]}" --figure stretch --out "$1/fig4.$ending"
done
