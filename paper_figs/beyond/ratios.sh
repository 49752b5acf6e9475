#!/usr/bin/env bash
# How many times as fast as gs/mfb+enum the other global solvers are, and a performance profile.
#     ratios.sh [--tol T] [--time-limit S] [--repeat N] [--sets LIST] [--solvers LIST]
#               [--against LIST] FOLDER [FCLIB]
# Sets: embedded (data/*.h5), hard (data/hard.txt), list (data/list.txt) and fclib, the files *.hdf5
# of the folder FCLIB, by default; fresh (fresh.txt), towers (towers.txt), hair (hair.txt)
# and rods (data/rods.txt) where they are named. For each it writes
# FOLDER/SET-T.db (the record), ratios-SET-T.{txt,md,csv} and profile-SET-T.{svg,png}, and prints the
# text. Each of --against is compared with the others in a table of its own, -against-SPEC in the
# names of its files from the second on. Runs that the record holds are not made again. Siconos'
# solvers come along where the program has them. STICKSLIP is the program (build/stickslip).
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
program=$(realpath "${STICKSLIP:-$root/build/stickslip}")
# shellcheck source=paper_figs/options.sh
. "$root/paper_figs/options.sh"
tol=1e-6 time_limit=5 repeat=2 sets="embedded hard list fclib" solvers='' against=mfb+enum
read_options "tol time-limit repeat sets solvers against" 1 2 "$@"
folder=${words[0]}
fclib=${words[1]-}
mkdir -p "$folder"

if [ -z "$solvers" ]; then
    solvers="auto ppa anderson/secular nncg/secular nncg/projection apgd spg splitting admm alm ipm prox/secular"
    solvers+=" newton-mfb newton-pac newton-dac"
    solvers+=" $("$program" solvers --format csv | cut -d, -f1 | grep '^siconos/' | tr '\n' ' ' || true)"
fi

# shellcheck source=paper_figs/beyond/sets.sh
. "$root/paper_figs/beyond/sets.sh"

# measure SET
measure() {
    local set=$1 record=$folder/$1-$tol.db names
    names=$(files "$set")
    if [ -z "$names" ]; then
        echo "ratios: no folder of FCLIB files was given; the set $set is left out" >&2
        return
    fi
    local list
    mapfile -t list <<<"$names"
    "$program" bench "${list[@]}" --solvers "$against $solvers" --tol "$tol" \
        --max-iter 200000 --time-limit "$time_limit" --repeat "$repeat" --out "$record"
    local reference layout out
    for reference in $against; do
        out=$folder/ratios-$set-$tol
        [ "$reference" = "${against%% *}" ] || out+=-against-${reference//[\/:,=]/-}
        for layout in text:txt markdown:md csv:csv; do
            "$program" table "$record" --kind ratio --against "$reference" \
                --format "${layout%:*}" >"$out.${layout#*:}"
        done
        echo "== $set, to $tol, against $reference"
        cat "$out.txt"
    done
    local ending
    for ending in svg png; do
        "$program" plot "$record" --figure profile --out "$folder/profile-$set-$tol.$ending"
    done
}
for set in $sets; do
    measure "$set"
done
