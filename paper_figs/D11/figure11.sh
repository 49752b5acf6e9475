#!/usr/bin/env bash
# Figure 11 of [D11] from the record that table2.sh made: the percentage of problems that need more
# than a given number of iterations.
#     figure11.sh [--tol T] [--name NAME] FOLDER
# Writes FOLDER/fig11NAME.{svg,png}, each with its gnuplot script (.gp) and its data (.dat) beside
# it. STICKSLIP is the program (build/stickslip).
set -euo pipefail

program=${STICKSLIP:-$(dirname "$0")/../../build/stickslip}
tolerance=1e-4
name=
while [[ ${1-} == --* ]]; do
    case "$1" in
    --tol) tolerance=${2?} ;;
    --name) name=${2?} ;;
    *)
        echo "figure11: unknown option $1" >&2
        exit 1
        ;;
    esac
    shift 2
done
if [ $# -ne 1 ]; then
    echo "usage: figure11.sh [--tol T] [--name NAME] FOLDER" >&2
    exit 1
fi
for ending in svg png; do
    "$program" plot "$1/results$name.h5" --figure iterations --tol "$tolerance" \
        --out "$1/fig11$name.$ending"
done
