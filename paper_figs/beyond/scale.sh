#!/usr/bin/env bash
# How time and memory grow with the size of a problem, and of a scene.
#     scale.sh [--contacts LIST] [--strands LIST] [--time-limit S] FOLDER
# Tangles of --contacts (1000 3000 .. 1000000), loose hair (6 ends a rod) and a ponytail (59): CPU
# seconds of generating them, of the set-up, of a sweep that visits all and of auto to 1e-4, and the
# peak of memory of a solve, matrix-free. Steps of free-a with --strands (100 300 .. 20000), the last
# six of ten, and the contacts of a step in the mean of ten. Writes FOLDER/scale.csv and scale.png, and prints a table and, for each column, the
# exponent p of size^p that fits it in the least squares of logarithms: 1 is linear. Runs that a
# folder holds are not made again. STICKSLIP is the program (build/stickslip).
#     usage: scale.sh [--contacts LIST] [--strands LIST] [--time-limit S] FOLDER
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
program=$(realpath "${STICKSLIP:-$root/build/stickslip}")
# shellcheck source=paper_figs/options.sh
. "$root/paper_figs/options.sh"
contacts='1000 3000 10000 30000 100000 300000 1000000' strands='100 300 1000 3000 10000 20000'
time_limit=600
read_options "contacts strands time-limit" 1 1 "$@"
folder=${words[0]}
mkdir -p "$folder"
rows=$folder/scale.csv
[ -f "$rows" ] || echo 'kind,size,generate_s,setup_s,sweep_s,auto_s,bytes,contacts,step_s' >"$rows"

# cost COMMAND...: CPU seconds and peak of memory in bytes, of the command and its children.
cost() {
    python3 - "$@" <<'PY'
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
u = resource.getrusage(resource.RUSAGE_CHILDREN)
if done.returncode not in (0, 2): # 2: not solved, or a limit
    sys.exit(f"scale: {' '.join(sys.argv[1:])} ends with exit code {done.returncode}")
print(u.ru_utime + u.ru_stime, 1024 * u.ru_maxrss)
PY
}

# cpu_of FILE SOLVER ITERATIONS: the CPU seconds of a solve; -1 if it is not solved and should be.
cpu_of() {
    "$program" solve "$1" --solver "$2" --tol 1e-4 --max-iter "$3" --time-limit "$time_limit" \
        --format json --columns cpu_seconds,status 2>/dev/null |
        python3 -c 'import json, sys
row = json.load(sys.stdin)[0]
print(row["cpu_seconds"] if row["status"] == "solved" or sys.argv[1] != "auto" else -1)' "$2" || true
}

# tangle KIND ENDS_PER_ROD CONTACTS
tangle() {
    local file=$folder/scale.h5 generate one many auto memory sweeper=gs/mfb+enum:form=matrix-free,visit=all
    generate=$(cost "$program" generate tangle --contacts "$3" --per-rod "$2" --out "$file")
    one=$(cpu_of "$file" "$sweeper" 1)
    many=$(cpu_of "$file" "$sweeper" 21)
    auto=$(cpu_of "$file" auto 100000)
    memory=$(cost "$program" solve "$file" --solver "$sweeper" --max-iter 1)
    awk -v OFS=, -v kind="$1" -v size="$3" -v generate="${generate% *}" -v one="$one" -v many="$many" \
        -v auto="$auto" -v bytes="${memory#* }" 'BEGIN {
            sweep = (many - one) / 20
            print kind, size, generate, one - sweep, sweep, auto, bytes, "", ""
        }' >>"$rows"
    rm -f "$file"
}

# steps STRANDS
steps() {
    local few many met
    met=$("$program" simulate free-a --rods "$1" --steps 10 --format csv --columns contacts_mean \
        2>/dev/null | tail -1)
    few=$(cost "$program" simulate free-a --rods "$1" --steps 4)
    many=$(cost "$program" simulate free-a --rods "$1" --steps 10)
    awk -v OFS=, -v size="$1" -v few="${few% *}" -v many="${many% *}" -v bytes="${many#* }" \
        -v met="$met" \
        'BEGIN { print "free-a", size, "", "", "", "", bytes, met, (many - few) / 6 }' >>"$rows"
}

for size in $contacts; do
    grep -q "^loose,$size," "$rows" || tangle loose 6 "$size"
    grep -q "^ponytail,$size," "$rows" || tangle ponytail 59 "$size"
done
for size in $strands; do
    grep -q "^free-a,$size," "$rows" || steps "$size"
done

# Columns that are empty, zero or not solved have no point.
awk -F, '
    NR == 1 { for (c = 3; c <= NF; c++) name[c] = $c; columns = NF; next }
    {
        if (!($1 in seen)) { kinds[++nkinds] = $1; seen[$1] = 1 }
        line = sprintf("%-9s %8d", $1, $2)
        for (c = 3; c <= columns; c++) {
            line = line sprintf(" %11s", $c == "" ? "-" : sprintf("%.4g", $c))
            if ($c > 0) {
                x = log($2); y = log($c); k = $1 SUBSEP c
                n[k]++; sx[k] += x; sy[k] += y; sxx[k] += x * x; sxy[k] += x * y
            }
        }
        body[NR] = line
    }
    END {
        printf "%-9s %8s", "kind", "size"
        for (c = 3; c <= columns; c++) printf " %11s", name[c]
        print ""
        for (r = 2; r <= NR; r++) print body[r]
        for (i = 1; i <= nkinds; i++) {
            printf "%-9s %8s", kinds[i], "size^"
            for (c = 3; c <= columns; c++) {
                k = kinds[i] SUBSEP c
                d = n[k] * sxx[k] - sx[k] * sx[k]
                printf " %11s", (n[k] > 1 ? sprintf("%.2f", (n[k] * sxy[k] - sx[k] * sy[k]) / d) : "-")
            }
            print ""
        }
    }' "$rows"

touching=$(awk -F, '$1 == "free-a" && $8 > 0' "$rows" | wc -l) # axes of logarithms have no 0
gnuplot <<PLOT
set datafile separator ","
set terminal pngcairo size 1500,560 font "sans,10"
set output "$folder/scale.png"
set logscale xy
set grid
set key top left
set multiplot layout 1,3
of(kind) = "< grep '^".kind.",' '$rows'"
seen(c) = column(c) > 0 ? column(c) : NaN
set xlabel "contacts"
set ylabel "CPU time, s"
set key outside bottom center horizontal maxcolumns 2
plot for [kind in "loose ponytail"] of(kind) using 2:(seen(3)) with linespoints title kind.", generate", \
     for [kind in "loose ponytail"] of(kind) using 2:(seen(4)) with linespoints title kind.", set-up", \
     for [kind in "loose ponytail"] of(kind) using 2:(seen(5)) with linespoints title kind.", sweep", \
     for [kind in "loose ponytail"] of(kind) using 2:(seen(6)) with linespoints title kind.", auto"
set ylabel "peak of memory, bytes"
set key inside bottom right
plot for [kind in "loose ponytail"] of(kind) using 2:(seen(7)) with linespoints title kind
set xlabel "contacts of a step of free-a"
set ylabel "CPU time of the step, s"
if ($touching > 0) { plot of("free-a") using 8:(seen(9)) with linespoints notitle }
PLOT
