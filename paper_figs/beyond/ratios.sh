#!/usr/bin/env bash
# How many times as fast as gs/mfb+enum the other global solvers are, and a performance profile.
#     ratios.sh [--tol T] [--time-limit S] [--repeat N] [--sets LIST] [--solvers LIST] FOLDER [FCLIB]
# Sets, all by default: embedded (data/*.h5), hard (data/hard.txt), list (data/list.txt) and fclib,
# the files *.hdf5 of the folder FCLIB. For each it writes FOLDER/SET-T.h5 (the record),
# ratios-SET-T.{txt,md,csv} and profile-SET-T.{svg,png}, and prints the text. Runs that the record
# holds are not made again. Siconos' solvers come along where the program has them. STICKSLIP is the
# program (build/stickslip).
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
program=$(realpath "${STICKSLIP:-$root/build/stickslip}")
tolerance=1e-6
limit=5
repeat=2
sets="embedded hard list fclib"
solvers=
while [[ ${1-} == --* ]]; do
    case "$1" in
    --tol) tolerance=${2?} ;;
    --time-limit) limit=${2?} ;;
    --repeat) repeat=${2?} ;;
    --sets) sets=${2?} ;;
    --solvers) solvers=${2?} ;;
    *)
        echo "ratios: unknown option $1" >&2
        exit 1
        ;;
    esac
    shift 2
done
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    echo "usage: ratios.sh [--tol T] [--time-limit S] [--repeat N] [--sets LIST] [--solvers LIST]" \
        "FOLDER [FCLIB]" >&2
    exit 1
fi
folder=$1
fclib=${2-}
mkdir -p "$folder"

if [ -z "$solvers" ]; then
    solvers="auto ppa anderson/secular nncg/secular nncg/projection apgd spg admm alm prox/secular"
    solvers+=" newton-mfb newton-pac newton-dac"
    solvers+=" $("$program" solvers --format csv | cut -d, -f1 | grep '^siconos/' | tr '\n' ' ' || true)"
fi

# files SET: its files, a line each; those that are made from seeds are made where they lack.
files() {
    case "$1" in
    embedded) ls "$root"/data/*.h5 ;;
    hard | list)
        if [ ! -d "$folder/$1" ]; then
            local script=make-hard
            [ "$1" = hard ] || script=make-listed
            STICKSLIP=$program "$root/scripts/$script" "$(realpath "$folder")/$1.part" >&2
            mv "$folder/$1.part" "$folder/$1"
        fi
        ls "$folder/$1"/*.h5
        ;;
    fclib) [ -z "$fclib" ] || ls "$fclib"/*.hdf5 ;;
    *)
        echo "ratios: there is no set $1" >&2
        return 1
        ;;
    esac
}

# measure SET
measure() {
    local set=$1 record=$folder/$1-$tolerance.h5 names
    names=$(files "$set")
    if [ -z "$names" ]; then
        echo "ratios: no folder of FCLIB files was given; the set $set is left out" >&2
        return
    fi
    local list
    mapfile -t list <<<"$names"
    "$program" bench "${list[@]}" --solvers "mfb+enum $solvers" --tol "$tolerance" \
        --max-iter 200000 --time-limit "$limit" --repeat "$repeat" --out "$record"
    local layout
    for layout in text:txt markdown:md csv:csv; do
        "$program" table "$record" --kind ratio --format "${layout%:*}" \
            >"$folder/ratios-$set-$tolerance.${layout#*:}"
    done
    local ending
    for ending in svg png; do
        "$program" plot "$record" --figure profile --out "$folder/profile-$set-$tolerance.$ending"
    done
    echo "== $set, fb <= $tolerance"
    cat "$folder/ratios-$set-$tolerance.txt"
}
for set in $sets; do
    measure "$set"
done
