#!/usr/bin/env bash
# Figure 11 of [D11] from the record that table2.sh made: the percentage of problems that need more
# than a given number of iterations; of runs with as=printed by the paper's rule.
#     figure11.sh [--tol T] [--name NAME] FOLDER
# Writes FOLDER/fig11NAME.{svg,png}, each with its gnuplot script (.gp) and its data (.dat) beside
# it. STICKSLIP is the program (build/stickslip).
set -euo pipefail

here=$(dirname "$0")
program=${STICKSLIP:-$here/../../build/stickslip}
# shellcheck source=paper_figs/options.sh
. "$here/../options.sh"
tol=1e-3 name=''
read_options "tol name" 1 1 "$@"
folder=${words[0]}
for ending in svg png; do
    "$program" plot "$folder/results$name.db" --figure iterations --tol "$tol" \
        --out "$folder/fig11$name.$ending"
done
