#!/usr/bin/env bash
# How many problems auto solves, and which it does not.
#     solved.sh [--tol LIST] [--time-limit S] [--sets LIST] [--solvers LIST] FOLDER [FCLIB]
# Sets, all by default: embedded (data/*.h5), hard (data/hard.txt), list (data/list.txt), fresh
# (fresh.txt) and fclib, the files *.hdf5 of the folder FCLIB. For each tolerance, set and solver it
# writes FOLDER/solved-SET-T-SOLVER.csv, the rows of 'stickslip solve'; what is there is not made
# again. Then it prints FOLDER/solved.txt: how many are solved, the worst error, max(fb, normal/2), and
# the names of the others with theirs. In the row 'any' a problem counts as the best of the solvers left it.
# STICKSLIP is the program (build/stickslip).
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
program=$(realpath "${STICKSLIP:-$root/build/stickslip}")
# shellcheck source=paper_figs/options.sh
. "$root/paper_figs/options.sh"
tol="1e-8 1e-10" time_limit=30 sets="embedded hard list fresh fclib"
solvers="auto ppa anderson/secular"
read_options "tol time-limit sets solvers" 1 2 "$@"
folder=${words[0]}
fclib=${words[1]-}
mkdir -p "$folder"
# shellcheck source=paper_figs/beyond/sets.sh
. "$root/paper_figs/beyond/sets.sh"

# run SET TOLERANCE SOLVER OUT: a row of CSV for each problem. A problem that is not solved is no
# failure of the run.
run() {
    local names file status
    names=$(files "$1")
    for file in $names; do
        status=0
        "$program" solve "$file" --solver "$3" --tol "$2" --max-iter 100000000 \
            --time-limit "$time_limit" --format csv 2>/dev/null || status=$?
        [ $status -eq 0 ] || [ $status -eq 2 ] || return $status
    done | grep -v '^problem,' >"$4.part"
    mv "$4.part" "$4"
}

# count TOLERANCE FILE.csv...: "solved of all, worst error, the names of the others", each problem as
# the best of the files left it.
count() {
    local tolerance=$1
    shift
    awk -F, -v tolerance="$tolerance" '
        {
            sub(".*/", "", $1)
            x = $14 == "nan" || $18 == "nan" ? "nan" : $14 + 0 > $18 / 2 ? $14 : $18 / 2
        }
        !($1 in error) { order[++n] = $1; error[$1] = x }
        x != "nan" && (error[$1] == "nan" || x + 0 < error[$1] + 0) { error[$1] = x }
        END {
            for (k = 1; k <= n; k++) {
                x = error[order[k]]
                if (x != "nan" && x + 0 <= tolerance + 0) solved++
                else names = names sprintf("    %s  %.2g\n", order[k], x)
                if (x == "nan" || x + 0 > worst + 0) worst = x
            }
            printf "%d of %d  %.1e\n%s", solved, n, worst, names
        }' "$@"
}

report() {
    local set tolerance solver all one
    for tolerance in $tol; do
        for set in $sets; do
            all=()
            for solver in $solvers any; do
                one=$folder/solved-$set-$tolerance-${solver//[\/:,=]/-}.csv
                if [ "$solver" = any ]; then
                    [ ${#all[@]} -lt 2 ] || printf '%-9s %-6s %-18s %s\n' "$set" "$tolerance" any \
                        "$(count "$tolerance" "${all[@]}")"
                elif [ -s "$one" ]; then
                    all+=("$one")
                    printf '%-9s %-6s %-18s %s\n' "$set" "$tolerance" "$solver" \
                        "$(count "$tolerance" "$one")"
                fi
            done
        done
    done
}

for tolerance in $tol; do
    for set in $sets; do
        if [ "$set" = fclib ] && [ -z "$fclib" ]; then
            echo "solved: no folder of FCLIB files was given; the set fclib is left out" >&2
            continue
        fi
        for solver in $solvers; do
            out=$folder/solved-$set-$tolerance-${solver//[\/:,=]/-}.csv
            [ -s "$out" ] || run "$set" "$tolerance" "$solver" "$out"
        done
    done
done
report | tee "$folder/solved.txt"
