#!/usr/bin/env bash
# Table 2 of [D11] on the problems of any FCLIB files: twelve local solvers under Gauss-Seidel.
#     table2.sh [--tol T] [--freeze off|on|paper] [--max-iter N] [--name NAME] FOLDER FILE...
# Writes FOLDER/resultsNAME.db and FOLDER/table2NAME.{txt,md,tex,csv} and prints the text. Runs that
# the record holds are not made again. STICKSLIP is the program (build/stickslip).
# The defaults, --tol 1e-4 and --freeze paper, stand for what the paper did (README.md here).
set -euo pipefail

here=$(dirname "$0")
program=${STICKSLIP:-$here/../../build/stickslip}
# shellcheck source=paper_figs/options.sh
. "$here/../options.sh"
tol=1e-4 freeze=paper max_iter=10000 name=''
read_options "tol freeze max-iter name" 2 '' "$@"
folder=${words[0]}
record=$folder/results$name.db

solvers=
for solver in 4sides duriez08 pac dac mfb enum {4sides,duriez08,pac,dac,mfb}+enum duriez06; do
    solvers+=" $solver:freeze=$freeze"
done

mkdir -p "$folder"
# Two runs at a time where there are two cores: each run has one thread and a core of its own.
jobs=$(nproc)
"$program" bench "${words[@]:1}" --solvers "$solvers" --tol "$tol" --max-iter "$max_iter" --repeat 2 \
    --time-limit 5 --jobs $((jobs < 2 ? jobs : 2)) --out "$record"

# table FORMAT ENDING
table() {
    "$program" table "$record" --paper --tol "$tol" --format "$1" >"$folder/table2$name.$2"
}
table text txt
table markdown md
table latex tex
table csv csv
cat "$folder/table2$name.txt"
