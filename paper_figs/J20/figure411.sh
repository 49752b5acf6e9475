#!/usr/bin/env bash
# Figure 4-11 of [J20]: how the three measures of the thesis fall over 50 iterations of one contact.
#     figure411.sh [--law printed|repaired|rigid] [--iterations N] [--touch STEP] [--bent STEP] FOLDER
# The scene `pair` by thesis:law=LAW,tol=0 (printed). Two steps, as in the paper: the first with a contact and the
# one where the clamped hair is bent most (--touch, --bent: others, from 1). Writes FOLDER/pair-LAW.csv (simulate
# --iterates: mean change of velocity, (4.3), and its rms; mean change of an impulse, (4.4); fb) and
# FOLDER/pair-LAW-stats.csv where these options have not made them, FOLDER/figure411-LAW.txt, which it prints: each measure after 20
# and after all iterations over that after the first pass; and FOLDER/figure411-LAW.{svg,png}, each with its
# gnuplot script (.gp) beside it. STICKSLIP is the program (build/stickslip).
set -euo pipefail

here=$(dirname "$0")
# shellcheck source-path=SCRIPTDIR source=../options.sh
source "$here/../options.sh"
# shellcheck source-path=SCRIPTDIR source=../draw.sh
source "$here/../draw.sh"
law=printed iterations=50 touch='' bent=''
read_options 'law iterations touch bent' 1 1 "$@"
folder=${words[0]}
program=${STICKSLIP:-$here/../../build/stickslip}
mkdir -p "$folder"
file=$folder/pair-$law.csv stats=$folder/pair-$law-stats.csv
command=(simulate pair --scheme "thesis:law=$law,tol=0,iterations=$iterations")
if ! is_made "$file" "${command[@]}" || [ ! -e "$stats" ]; then
    "$program" "${command[@]}" \
        --iterates "$file.part" --stats "$stats.part" >&2 || [ $? = 2 ]
    mv "$file.part" "$file"
    mv "$stats.part" "$stats"
    was_made "$file" "${command[@]}"
fi
# The most elastic energy while there is a contact.
touch=${touch:-$(columns "$stats" step contacts | awk '$2 > 0 { print $1; exit }')}
bent=${bent:-$(columns "$stats" step contacts elastic |
    awk '$2 > 0 && $3 > most { most = $3; step = $1 } END { print step }')}
for step in "$touch" "$bent"; do
    if ! columns "$file" step | grep -x -- "$step" >/dev/null; then
        echo "figure411.sh: step ${step:-of the first contact} has no iterates in $file: choose another one" >&2
        exit 1
    fi
done

curves=()
{
    printf '%-22s  %-16s  %10s  %10s  %10s\n' "law $law, step" measure first after_20 "after_$iterations"
    for step in "$touch" "$bent"; do
        name="$step, $([ "$step" = "$touch" ] && echo 'first contact' || echo 'most bent')"
        data=pair-$law-$step.dat
        columns "$file" step iterate change change_rms impulse_change fb |
            awk -v step="$step" '$1 == step { print $2, $3, $4, $5, $6 }' >"$folder/$data"
        k=2
        for measure in change change_rms impulse_change fb; do
            awk -v k="$k" -v name="$name" -v measure="$measure" '
                NR == 1 { first = $k }
                $1 <= 21 { after = $k }
                function share(x) { return first > 0 ? sprintf("%.2e", x / first) : "-" }
                END { printf "%-22s  %-16s  %10.2e  %10s  %10s\n", name, measure, first, share(after), share($k) }' \
                "$folder/$data"
            [ $measure != change_rms ] || { k=$((k + 1)) && continue; } # it would lie on `change`
            curves+=("'$data' using 1:(\$$k > 0 ? \$$k / $(awk -v k="$k" 'NR == 1 { print $k }' "$folder/$data") : NaN) with linespoints lw $([ $measure = change ] && echo 4 || echo 1) title 'step $name: ${measure//_/ }'")
            k=$((k + 1))
        done
    done
} >"$folder/figure411-$law.txt.part"
mv "$folder/figure411-$law.txt.part" "$folder/figure411-$law.txt"
cat "$folder/figure411-$law.txt"
draw "$folder" "figure411-$law" \
    "set logscale y; set format y '10^{%T}'; set xlabel 'iteration'; set ylabel 'measure / first'" "${curves[@]}"
