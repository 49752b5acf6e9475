#!/usr/bin/env bash
# Figure 4-8 of [J20]: a hair that falls across a sloping one, for several frictions.
#     figure48.sh [--scheme SPEC] [--steps N] FOLDER [MU...]
# The scene `crossing` with mu 0, 0.1, 0.3, 0.5 and 0.9 by thesis:law=printed, 500 steps of 1 ms. Prints for each
# mu when the hair lost its contact, `never` where it has it at the end, `no contact` where the steps end before
# one, and writes that as FOLDER/figure48.txt; FOLDER/crossing-MU.csv (simulate --stats) where these options have not
# made it, and FOLDER/figure48.{svg,png}, the height of the tip over time, each with its gnuplot script (.gp) beside it.
# STICKSLIP is the program (build/stickslip).
set -euo pipefail

here=$(dirname "$0")
# shellcheck source-path=SCRIPTDIR source=../options.sh
source "$here/../options.sh"
# shellcheck source-path=SCRIPTDIR source=../draw.sh
source "$here/../draw.sh"
scheme=thesis:law=printed steps=500
read_options 'scheme steps' 1 '' "$@"
folder=${words[0]}
sweep=("${words[@]:1}")
[ ${#sweep[@]} -gt 0 ] || sweep=(0 0.1 0.3 0.5 0.9)
program=${STICKSLIP:-$here/../../build/stickslip}
mkdir -p "$folder"

curves=()
{
    printf '%6s  %12s  %14s\n' mu slides_off_s tip_height_mm
    for mu in "${sweep[@]}"; do
        file=$folder/crossing-$mu.csv
        command=(simulate crossing --mu "$mu" --steps "$steps" --scheme "$scheme")
        if ! is_made "$file" "${command[@]}"; then
            "$program" "${command[@]}" --stats "$file.part" >&2 || [ $? = 2 ]
            mv "$file.part" "$file"
            was_made "$file" "${command[@]}"
        fi
        columns "$file" time contacts tip_y | tee "$folder/crossing-$mu.dat" | awk -v mu="$mu" '
            $2 > 0 { last = $1 }
            END { slides = last == "" ? "no contact" : last < $1 ? sprintf("%.3f", last) : "never"
                  printf "%6s  %12s  %14.2f\n", mu, slides, 1e3 * $3 }'
        curves+=("'crossing-$mu.dat' using (1e3 * \$1):(1e3 * \$3) with lines title 'mu $mu'")
    done
} >"$folder/figure48.txt.part"
mv "$folder/figure48.txt.part" "$folder/figure48.txt"
cat "$folder/figure48.txt"
draw "$folder" figure48 "set xlabel 'time (ms)'; set ylabel 'height of the tip (mm)'" "${curves[@]}"
