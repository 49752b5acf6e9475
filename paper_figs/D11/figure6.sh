#!/usr/bin/env bash
# Figure 6 of [D11]: the time until W is assembled over the number of contacts, by blocks and
# naively, every pair of contacts by products over all dofs.
#     figure6.sh FOLDER FILE...
# FILE: problems of many sizes, as simulate --dump and generate tangle make them. Writes
# FOLDER/assembly.db and FOLDER/fig6.{svg,png}, each with its gnuplot script (.gp) and its data
# (.dat) beside it. Runs that FOLDER/assembly.db holds are not made again. STICKSLIP is the program
# (build/stickslip).
set -euo pipefail

program=${STICKSLIP:-$(dirname "$0")/../../build/stickslip}
if [ $# -lt 2 ]; then
    echo "usage: figure6.sh FOLDER FILE..." >&2
    exit 1
fi
folder=$1
shift
mkdir -p "$folder"
# One iteration: what counts is the set-up before it.
"$program" bench "$@" --max-iter 1 --repeat 3 --time-limit 600 --out "$folder/assembly.db" \
    --solvers "mfb+enum:form=explicit mfb+enum:form=explicit,assembly=naive"
for ending in svg png; do
    "$program" plot "$folder/assembly.db" --figure assembly --out "$folder/fig6.$ending"
done
