#!/usr/bin/env bash
# What [H06] says in numbers of its scenes, by this program.
#     figures.sh [--steps N] [--rtol R] FOLDER
# The time of a frame of 1/24 s of bangs and long-hair, contacts included, over N steps (60); the time of
# contacts over their number, by long-hair with more and more strands and the solver psor; the histogram of
# non-linear iterations a step of `ida` at the tolerance R (1e-6), of bangs and long-hair without contacts; the
# time of a residual over links. Writes FOLDER/figures.txt and the statistics it is made of, and prints the text.
# A run whose file is there is not made again. STICKSLIP is the program (build/stickslip), BENCH the benchmark of
# the residual beside it (tests/bench_oriented); without it that part is left out.
set -euo pipefail

here=$(dirname "$0")
# shellcheck source-path=SCRIPTDIR source=../options.sh
source "$here/../options.sh"
steps=60 rtol=1e-6
read_options 'steps rtol' 1 1 "$@"
folder=${words[0]}
program=${STICKSLIP:-$here/../../build/stickslip}
bench=${BENCH:-$(dirname "$program")/tests/bench_oriented}
mkdir -p "$folder"

# simulate NAME SCENE [OPTION...]
simulate() {
    local file=$folder/$1.csv scene=$2
    shift 2
    if [ ! -e "$file" ]; then
        "$program" simulate "$scene" --steps "$steps" "$@" --stats "$file.part" >&2 || [ $? = 2 ]
        mv "$file.part" "$file"
    fi
}

# column NAME FILE: the cells of a column; commas within quotes count for none.
column() {
    sed 's/"[^"]*"/text/g' "$folder/$2.csv" | awk -F, -v name="$1" '
        NR == 1 { for (k = 1; k <= NF; k++) if ($k == name) c = k; next } { print $c }'
}

frame_time() { # NAME, [H06]'s word
    paste <(column step_seconds "$1") <(column contacts "$1") <(column dt "$1") |
        awk -v name="$1" -v theirs="$2" '{ s += $1; m += $2; t += $3 }
        END { frame = s / t / 24
              printf "%-10s %8.2f ms a frame (%.0f Hz), %.0f contacts a step; [H06]: %s\n",
                  name, 1e3 * frame, 1 / frame, m / NR, theirs }'
}

histogram() { # NAME
    paste <(column nonlinear_least "$1") <(column nonlinear_mean "$1") <(column nonlinear_most "$1") |
        awk -v name="$1" 'NR == 1 { least = $1 }
        { least = $1 < least ? $1 : least; most = $3 > most ? $3 : most; sum += $2; n[int($2 / 5)]++ }
        END { printf "%s: %d to %d iterations a strand and step, mean %.1f\n", name, least, most, sum / NR
              for (k = 0; k <= 40; k++) if (n[k]) printf "  %3d .. %3d  %d steps\n", 5 * k, 5 * k + 4, n[k] }'
}

response() { # NAME
    paste <(column solve_seconds "$1") <(column contacts "$1") |
        awk -v name="$1" '$2 > 0 { s += $1; m += $2; n++ }
        END { if (n) printf "  %-14s %6.0f contacts %9.3f ms, %.3f us a contact\n", name, m / n, 1e3 * s / n, 1e6 * s / m }'
}

simulate bangs bangs
simulate long-hair long-hair --tol 1e-2
simulate ida-bangs bangs --scheme "ida:rtol=$rtol" --dt 0.005
simulate ida-long-hair long-hair --rods 20 --scheme "ida:rtol=$rtol" --dt 0.005
for rods in 20 40 80 160; do
    simulate "psor-$rods" long-hair --rods "$rods" --solver psor --max-iter 50
done
{
    echo 'Time of a frame of 1/24 s'
    frame_time bangs '2 to 4 Hz'
    frame_time long-hair 'less than 20 s'
    echo "Non-linear iterations in 5 ms, means over the strands ([H06]: 2 to 213, mean 18.3)"
    histogram ida-bangs
    histogram ida-long-hair
    echo 'Contacts by psor, 50 sweeps ([H06]: quadratic in their number)'
    for rods in 20 40 80 160; do
        response "psor-$rods"
    done
    if [ -x "$bench" ]; then
        echo 'Residual over links'
        "$bench"
    fi
} | tee "$folder/figures.txt"
