#!/usr/bin/env bash
# Figure 11 of [D11] from the record that table2.sh made: the percentage of problems that need more
# than a given number of iterations.
#     figure11.sh [--tol T] FOLDER
# Writes FOLDER/fig11.{svg,png}, each with its gnuplot script (.gp) and its data (.dat) beside it.
# STICKSLIP is the program (build/stickslip).
set -euo pipefail

program=${STICKSLIP:-$(dirname "$0")/../../build/stickslip}
tolerance=1e-4
if [ "${1-}" = --tol ]; then
    tolerance=${2?}
    shift 2
fi
if [ $# -ne 1 ]; then
    echo "usage: figure11.sh [--tol T] FOLDER" >&2
    exit 1
fi
for ending in svg png; do
    "$program" plot "$1/results.h5" --figure iterations --tol "$tolerance" --out "$1/fig11.$ending"
done
