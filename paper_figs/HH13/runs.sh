#!/usr/bin/env bash
# The swinging chain of [HH13] by its five methods.
#     runs.sh [--steps N] PREFIX
# Writes PREFIX-METHOD.csv (simulate --stats) for tmf, dftl, pbd-2, pbd-5 and pbd-40, and prints the
# names. A file that is there is not made again. STICKSLIP is the program (build/stickslip).
set -euo pipefail

program=${STICKSLIP:-$(dirname "$0")/../../build/stickslip}
options=()
if [ "${1-}" = --steps ]; then
    options=(--steps "${2?}")
    shift 2
fi
if [ $# -ne 1 ]; then
    echo "usage: runs.sh [--steps N] PREFIX" >&2
    exit 1
fi
mkdir -p "$(dirname "$1")"
for model in tmf dftl pbd:iterations=2 pbd:iterations=5 pbd:iterations=40; do
    file=$1-${model/:iterations=/-}.csv
    # The file gets its name when it is complete, so that an interrupted run is made again.
    if [ ! -e "$file" ]; then
        "$program" simulate swing --model "$model" "${options[@]}" --stats "$file.part" >&2
        mv "$file.part" "$file"
    fi
    echo "$file"
done
