#!/usr/bin/env bash
# Table 4-1 of [J20]: the parts of a step of the hairball, by the thesis and by Gauss-Seidel, at three stops.
#     table41.sh [--rods N] [--steps N] [--from N] [--iterations N] FOLDER [RUN...]
# 1000 strands and 150 steps of 1 ms, of the 5000 of the paper, unless asked otherwise. Fewer strands have their part
# of the ball, as crowded (hairball:share=N/1000). Contacts are those of a step's beginning, as in the paper (looks=0).
# Steps up to --from (100), in which few strands touch, do not count. Runs are METHOD-STOP: printed, rigid and repaired
# are the laws of the scheme thesis, gauss-seidel the scheme newton with mfb+enum and 50 Newton steps; the stop own is
# the paper's of each (a mean change of 1e-8 m/s within 50 iterates; fb 1e-6 within 200 sweeps), 1e-3 and 1e-6 are
# errors that both reach, by --iterations (2000) passes at most. All are made: printed-own rigid-own repaired-own
# repaired-1e-3 repaired-1e-6 gauss-seidel-own gauss-seidel-1e-3 gauss-seidel-1e-6. Writes FOLDER/hairball-RUN.csv
# (simulate --stats) where these options have not made it, and FOLDER/table41.txt, and prints the text. `reached%` is
# how many steps with contacts the judge calls solved at the run's error, of `own` at 1e-6; the time of the judge does
# not count. STICKSLIP is the program (build/stickslip). With --rods 100 it is a tenth of the work.
set -euo pipefail

here=$(dirname "$0")
# shellcheck source-path=SCRIPTDIR source=../options.sh
source "$here/../options.sh"
# shellcheck source-path=SCRIPTDIR source=../draw.sh
source "$here/../draw.sh"
rods=1000 steps=150 from=100 iterations=2000
read_options 'rods steps from iterations' 1 '' "$@"
folder=${words[0]}
runs=("${words[@]:1}")
[ ${#runs[@]} -gt 0 ] || runs=(printed-own rigid-own repaired-own gauss-seidel-own repaired-1e-3 gauss-seidel-1e-3
    repaired-1e-6 gauss-seidel-1e-6)
[ "$from" -lt "$steps" ] || fail_usage "--from $from leaves nothing of $steps steps"
program=${STICKSLIP:-$here/../../build/stickslip}
mkdir -p "$folder"

# options_of RUN: the options of a run, into `options`.
options_of() {
    local stop=${1#*-}
    stop=${stop#seidel-}
    case $1 in
    printed-own | rigid-own | repaired-own) options=(--scheme "thesis:law=${1%-own}" --tol 1e-6) ;;
    printed-* | rigid-* | repaired-*)
        options=(--scheme "thesis:law=${1%%-*},relax=1,fb=$stop,iterations=$iterations" --tol "$stop")
        ;;
    gauss-seidel-own) options=(--scheme newton:iterations=50 --tol 1e-6 --max-iter 200) ;;
    gauss-seidel-*) options=(--scheme newton:iterations=50 --tol "$stop") ;;
    *) fail_usage "there is no run $1" ;;
    esac
}

share=$(awk -v n="$rods" 'BEGIN { print n < 1000 ? n / 1000 : 1 }')

run() { # RUN
    local file=$folder/hairball-$1.csv options command
    options_of "$1"
    command=(simulate "hairball:looks=0,share=$share" --rods "$rods" --steps "$steps" "${options[@]}")
    if ! is_made "$file" "${command[@]}"; then
        "$program" "${command[@]}" --stats "$file.part" >&2 || [ $? = 2 ]
        mv "$file.part" "$file"
        was_made "$file" "${command[@]}"
    fi
}

# One line per run: its name and means over the steps that count, in ms.
row() { # RUN
    # Cells in quotes hold commas.
    sed 's/"[^"]*"/text/g' "$folder/hairball-$1.csv" | awk -F, -v name="$1" -v from="$from" '
        NR == 1 { for (k = 1; k <= NF; k++) at[$k] = k; next }
        $at["step"] <= from { next }
        { n++; contacts += $at["contacts"]; iterates += $at["iterates"]; passes += $at["iterations"]
          prepare += $at["prepare_seconds"]; dynamic += $at["dynamic_seconds"]
          factor += $at["factor_seconds"]; ccd += $at["collide_seconds"]
          all += $at["step_seconds"] - $at["judge_seconds"] }
        $at["contacts"] > 0 { touching++; solved += $at["status"] == "solved"; solve += $at["solve_seconds"]; fb += $at["fb"]
          if ($at["fb"] > worst) worst = $at["fb"] }
        END { ms = 1e3 / n; m = touching > 0 ? touching : 1
              printf "%-18s %8.2f %8.2f %8.2f %8.2f %8.2f %8.2f %8.0f %8.1f %8.1f %9.1e %9.1e %8.0f %7.1f %6.1f\n", name,
                  ms * prepare, ms * dynamic, ms * ccd, ms * (all - prepare - dynamic - ccd - solve),
                  ms * solve, ms * all, contacts / n, iterates / n, passes / n, fb / m, worst, 100 * solved / m,
                  100 * factor / all, 100 * ccd / all }'
}

# What is left of the paper's ratio of the totals, where both runs of a stop are there.
ratios() { # TABLE
    awk '$1 ~ /-/ { total[$1] = $7 }
        function against(method, stop) {
            if (total[method "-" stop] > 0 && total["gauss-seidel-" stop] > 0)
                printf "%s %s %.2f", said++ ? ";" : "", method " at " (stop == "own" ? "its own stop" : "fb " stop),
                    total["gauss-seidel-" stop] / total[method "-" stop] }
        END { printf "Total of Gauss-Seidel over that of the thesis (paper: 14.7 at unequal accuracy):"
              against("printed", "own"); against("rigid", "own"); against("repaired", "own"); against("repaired", "1e-3")
              against("repaired", "1e-6"); print said ? "." : " no two runs to compare." }' "$1"
}

{
    printf '%-18s %8s %8s %8s %8s %8s %8s %8s %8s %8s %9s %9s %8s %7s %6s\n' ms/step prepare dynamic CCD other \
        solve total contacts iterates passes fb_mean fb_max reached% factor% CCD%
    printf '%-18s %8.2f %8.2f %8.2f %8.2f %8.2f %8.2f %8d\n' 'paper, thesis' 57.25 418.86 102.54 1.24 29.24 609.22 5500
    printf '%-18s %8.2f %8.2f %8.2f %8.2f %8.2f %8.2f %8d\n' 'paper, ADONIS' 8.87 206.99 218.48 7.07 8490.51 8930.93 5500
    for name in "${runs[@]}"; do
        run "$name"
        row "$name"
    done
} >"$folder/table41.txt.part"
mv "$folder/table41.txt.part" "$folder/table41.txt"
ratio=$(ratios "$folder/table41.txt")
echo "$ratio" >>"$folder/table41.txt"
cat "$folder/table41.txt"
