#!/usr/bin/env bash
# What [H06] says in numbers of its scenes, by this program, and pictures of it.
#     figures.sh [--steps N] [--rtol R] FOLDER
# The time of a frame of 1/24 s of bangs and long-hair, contacts included, over N steps (60), with and without what
# the judge takes to say how good the answers are: of long-hair with contacts solved to 1e-2 and to 1e-4, and by the
# scheme phases, which is [H06]'s way; the time of contacts over their number, by long-hair with more and more
# strands and the solver psor; the histogram of non-linear iterations a step of `ida` at the tolerance R (1e-6), of
# bangs and of long-hair with and without contacts; the time of a residual over links, and of a matrix by test forces
# and 50 sweeps over contacts on one strand. Writes FOLDER/figures.txt, which it prints, the statistics it is made of,
# and FOLDER/{frame-time,iterations,residual,response}.{svg,png}, each with its gnuplot script (.gp) and its data
# (.dat) beside it; then frames.sh draws the scenes. A run whose file is there is not made again. STICKSLIP is the
# program (build/stickslip), BENCH the benchmark of the residual beside it (tests/bench_oriented); without it these
# parts are left out.
set -euo pipefail

here=$(dirname "$0")
# shellcheck source-path=SCRIPTDIR source=../options.sh
source "$here/../options.sh"
# shellcheck source-path=SCRIPTDIR source=../draw.sh
source "$here/../draw.sh"
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

# Seconds of a frame of 1/24 s, those without the judge, and contacts a step.
frame() { # NAME
    columns "$folder/$1.csv" step_seconds judge_seconds contacts dt |
        awk '{ s += $1; j += $2; m += $3; t += $4 } END { print s / t / 24, (s - j) / t / 24, m / NR }'
}

frame_time() { # NAME, [H06]'s words, its seconds from and to
    frame "$1" | awk -v name="$1" -v theirs="$2" '{
        printf "%-14s %8.2f ms a frame, %.2f without the judge (%.0f Hz), %.0f contacts a step; [H06]: %s\n",
            name, 1e3 * $1, 1e3 * $2, 1 / $2, $3, theirs }'
    echo "$1 $(frame "$1") $3 $4" >>"$folder/frame-time.dat"
}

# The steps, by their mean over the strands, in boxes of 5.
histogram() { # NAME
    columns "$folder/$1.csv" nonlinear_least nonlinear_mean nonlinear_most | awk -v name="$1" -v data="$folder/$1.dat" '
        NR == 1 { least = $1 }
        { least = $1 < least ? $1 : least; most = $3 > most ? $3 : most; sum += $2; n[int($2 / 5)]++ }
        END { printf "%s: %d to %d iterations a strand and step, mean %.1f\n", name, least, most, sum / NR
              for (k = 0; k <= 100; k++) {
                  if (n[k]) printf "  %3d .. %3d  %d steps\n", 5 * k, 5 * k + 4, n[k]
                  print 5 * k + 2.5, n[k] + 0 >data } }'
}

response() { # NAME
    columns "$folder/$1.csv" solve_seconds contacts |
        awk -v name="$1" '$2 > 0 { s += $1; m += $2; n++ }
        END { if (n) printf "  %-14s %6.0f contacts %9.3f ms, %.3f us a contact\n", name, m / n, 1e3 * s / n, 1e6 * s / m }'
}

# The two tables of the benchmark.
take_bench() {
    "$bench" >"$folder/bench.txt.part"
    mv "$folder/bench.txt.part" "$folder/bench.txt"
    awk '/contacts/ { two = 1 } !two && $1 + 0 > 0 { print $1, $2 }' "$folder/bench.txt" >"$folder/residual.dat"
    awk '/contacts/ { two = 1 } two && $1 + 0 > 0 { print $1, $2, $3 }' "$folder/bench.txt" >"$folder/response.dat"
}

draw_bench() {
    draw "$folder" residual "set logscale; set xlabel 'links'; set ylabel 'us of a residual'; set key inside top left vertical
        set fit quiet nolog; f(x) = a * x; a = 0.04; fit f(x) 'residual.dat' using 1:2:(\$2) yerror via a" \
        "'residual.dat' with points pt 7 title 'measured'" \
        "f(x) title sprintf('%.4f us a link', a)"
    draw "$folder" response "set logscale; set xlabel 'contacts on one strand'; set ylabel 'us'; set key inside top left vertical" \
        "'response.dat' using 1:(\$2 + \$3) with linespoints pt 7 title 'matrix by test forces and 50 sweeps'" \
        "'response.dat' using 1:2 with linespoints pt 6 title 'matrix'" \
        "'response.dat' using 1:3 with linespoints pt 4 title 'sweeps'" \
        "0.1 * x**2 dashtype 2 title 'as the square, [H06]'"
}

draw_runs() {
    draw "$folder" frame-time "set logscale y; set ylabel 's of a frame of 1/24 s'; set xrange [-0.5:3.5]
        set boxwidth 0.25; set style fill solid 0.6; set key inside top left vertical" \
        "'frame-time.dat' using (\$0 - 0.15):3:xtic(1) with boxes title 'here, contacts included, without the judge'" \
        "'frame-time.dat' using (\$0 + 0.15):(sqrt(\$5 * \$6)) with boxes title '[H06]'" \
        "'frame-time.dat' using (\$0 + 0.15):(sqrt(\$5 * \$6)):5:6 with yerrorbars lc 'black' notitle"
    draw "$folder" iterations "set xlabel 'non-linear iterations in 5 ms, mean over the strands'; set ylabel 'steps'
        set xrange [0:160]; set boxwidth 1.5; set style fill solid 0.6; set key inside top right vertical
        set arrow from 18.3, graph 0 to 18.3, graph 1 nohead dashtype 2" \
        "'ida-bangs.dat' using (\$1 - 1.5):2 with boxes title 'bangs'" \
        "'ida-untouched.dat' using 1:2 with boxes title 'long-hair without contacts'" \
        "'ida-long-hair.dat' using (\$1 + 1.5):2 with boxes title 'long-hair'" \
        "NaN with lines dashtype 2 lc 'black' title 'mean of [H06]'"
}

simulate bangs bangs
simulate long-hair long-hair --tol 1e-2
simulate long-hair-1e-4 long-hair --tol 1e-4
simulate phases long-hair --scheme phases
simulate ida-bangs bangs --scheme "ida:rtol=$rtol" --dt 0.005
simulate ida-long-hair long-hair --scheme "ida:rtol=$rtol" --dt 0.005
simulate ida-untouched long-hair --scheme "ida:rtol=$rtol,contacts=off" --dt 0.005
for rods in 20 40 80 160; do
    simulate "psor-$rods" long-hair --rods "$rods" --solver psor --max-iter 50
done
rm -f "$folder/frame-time.dat"
{
    echo 'Time of a frame of 1/24 s'
    frame_time bangs '2 to 4 Hz' 0.25 0.5
    for name in long-hair long-hair-1e-4 phases; do
        frame_time "$name" 'less than 20 s' 20 20
    done
    echo "Non-linear iterations in 5 ms, means over the strands ([H06]: 2 to 213, mean 18.3)"
    histogram ida-bangs
    histogram ida-long-hair
    histogram ida-untouched
    echo 'Contacts by psor, 50 sweeps ([H06]: quadratic in their number)'
    for rods in 20 40 80 160; do
        response "psor-$rods"
    done
    if [ -x "$bench" ]; then
        echo 'Residual over links'
        [ -e "$folder/bench.txt" ] || take_bench
        cat "$folder/bench.txt"
    fi
} | tee "$folder/figures.txt"
draw_runs
[ ! -e "$folder/bench.txt" ] || draw_bench
STICKSLIP=$program "$here/frames.sh" "$folder"
