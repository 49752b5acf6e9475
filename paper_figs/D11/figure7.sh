#!/usr/bin/env bash
# Figure 7 of [D11]: the orbit of the free end of a rod that rests on an oscillating ball. Solvers
# of Coulomb's law share one orbit; 4sides and duriez06 solve another law and leave it.
#     figure7.sh FOLDER
# Writes FOLDER/orbit-SOLVER.csv for each solver and FOLDER/fig7.{svg,png}, each with its gnuplot
# script (.gp) and its data (.dat) beside it. The paper has eight solvers; those that this build
# does not have are named and left out. STICKSLIP is the program (build/stickslip).
set -euo pipefail

program=${STICKSLIP:-$(dirname "$0")/../../build/stickslip}
if [ $# -ne 1 ]; then
    echo "usage: figure7.sh FOLDER" >&2
    exit 1
fi
folder=$1
mkdir -p "$folder"
files=()
known=$("$program" solvers --format csv | cut -d, -f1)
for solver in newton-mfb newton-dac mfb dac duriez08 enum duriez06 4sides; do
    if ! grep -qx "$solver" <<<"$known"; then
        echo "figure7: this build has no solver $solver; it is left out" >&2
        continue
    fi
    "$program" simulate orbit --solver "$solver" --stats "$folder/orbit-$solver.csv" >&2
    files+=("$folder/orbit-$solver.csv")
done
for ending in svg png; do
    "$program" plot "${files[@]}" --figure orbit --out "$folder/fig7.$ending"
done
