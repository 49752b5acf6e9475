#!/usr/bin/env bash
# [D11], section 7.1: the same ponytail by several fibre models and schemes of time steps.
#     models.sh [--rods N] [--steps N] [--dt S] FOLDER
# Writes FOLDER/models-NAME.csv for each row and FOLDER/models.txt, and prints that. 111 strands, a third of
# the scene, and 100 steps by default. A run that ends early has the reason in its row. A row whose CSV is
# there is not run again. STICKSLIP is the program (build/stickslip).
set -euo pipefail

program=${STICKSLIP:-$(dirname "$0")/../../build/stickslip}
rods=111
steps=100
options=()
while [[ ${1-} == --* ]]; do
    case "$1" in
    --rods) rods=${2?} ;;
    --steps) steps=${2?} ;;
    --dt) options+=("$1" "${2?}") ;;
    *)
        echo "models: unknown option $1" >&2
        exit 1
        ;;
    esac
    shift 2
done
if [ $# -ne 1 ]; then
    echo "usage: models.sh [--rods N] [--steps N] [--dt S] FOLDER" >&2
    exit 1
fi
folder=$1
mkdir -p "$folder"

# A name, a model and a scheme a row.
rows="super-helix super-helix linear
der-linear der linear
der-newton der newton
corde-linear corde linear
corde-newton corde newton
der-projection der projection
der-projection-particles der:impulses=particles projection"

# Means over the steps, by the names of the columns; the energy is that of the last step less the first.
# shellcheck disable=SC2016 # the dollars are awk's
summary='
NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
{
    n++
    contacts += $at["contacts"]; sweeps += $at["iterations"]; rejected += $at["rejected"]
    over += $at["status"] != "solved" && $at["contacts"] > 0
    seconds += $at["step_seconds"]; time = $at["time"]; last = $at["reason"]; problems += $at["iterates"]
    energy = $at["kinetic"] + $at["elastic"] + $at["potential"]
    if (n == 1) first = energy
}
END {
    if (n == 0) { printf "%-26s no step\n", name; exit }
    printf "%-26s %8d %8.1f %9.1f %8.2f %9d %9.2f %9.2f %9.4f %10.3f\n", name, n, contacts / n, sweeps / n,
        problems / n, rejected, 100 * over / n, 1e3 * seconds / n, time, 1e6 * (energy - first)
}'
{
    printf '%-26s %8s %8s %9s %8s %9s %9s %9s %9s %10s\n' model steps contacts sweeps problems rejected \
        'over, %' 'ms, step' 'time, s' 'dE, uJ'
    while read -r name model scheme; do
        file=$folder/models-$name.csv
        if [ ! -e "$file" ]; then
            # A run that explodes keeps the steps up to there.
            "$program" simulate pony --model "$model" --scheme "$scheme" --rods "$rods" --steps "$steps" \
                "${options[@]}" --stats "$file.part" >&2 || true
            mv "$file.part" "$file"
        fi
        awk -F, -v name="$name" "$summary" "$file"
    done <<<"$rows"
} | tee "$folder/models.txt"
