#!/usr/bin/env bash
# Table 2 of [D11] on the problems of any FCLIB files.
#     table2.sh [--as printed[,KEY=VALUE...]] [--tol T] [--max-iter N] [--start zero|guess|both]
#         [--name NAME] FOLDER FILE...
# With --as printed the paper's eleven rows in its experiment (as=printed, doc/formulation.md): from the
# guesses, 500 iterations, and the judge beside it at fb <= 1e-3. Without it the solvers as they are
# today, and with them secular and auto: from zero and from the guesses, 10000 iterations, fb <= 1e-4.
# Writes FOLDER/resultsNAME.db and FOLDER/table2NAME.{txt,md,tex,csv} and prints the text. Runs that
# the record holds are not made again. STICKSLIP is the program (build/stickslip).
set -euo pipefail

here=$(dirname "$0")
program=${STICKSLIP:-$here/../../build/stickslip}
# shellcheck source=paper_figs/options.sh
. "$here/../options.sh"
as='' tol='' max_iter='' start='' name=''
read_options "as tol max-iter start name" 2 '' "$@"
folder=${words[0]}
record=$folder/results$name.db

solvers=(4sides duriez08 pac dac mfb enum {4sides,duriez08,pac,dac,mfb}+enum)
if [ -n "$as" ]; then
    solvers=("${solvers[@]/%/:as=$as}")
    : "${tol:=1e-3}" "${max_iter:=500}" "${start:=guess}"
else
    solvers+=(secular auto)
    : "${tol:=1e-4}" "${max_iter:=10000}" "${start:=both}"
fi
case "$start" in
zero | guess) starts=("$start") ;;
both) starts=(zero guess) ;;
*) fail_usage "--start takes zero, guess or both, not '$start'" ;;
esac

mkdir -p "$folder"
# Two runs at a time where there are two cores: each run has one thread and a core of its own.
jobs=$(nproc)
for start in "${starts[@]}"; do
    "$program" bench "${words[@]:1}" --solvers "${solvers[*]}" --tol "$tol" --max-iter "$max_iter" \
        --start "$start" --repeat 1 --time-limit 20 --jobs $((jobs < 2 ? jobs : 2)) --out "$record"
done

# table FORMAT ENDING
table() {
    "$program" table "$record" --paper --tol "$tol" --format "$1" >"$folder/table2$name.$2"
}
table text txt
table markdown md
table latex tex
table csv csv
cat "$folder/table2$name.txt"
