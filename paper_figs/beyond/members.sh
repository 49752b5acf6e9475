#!/usr/bin/env bash
# How near auto is to the fastest of its members, and how far from the best of Siconos, problem by problem.
#     members.sh [--tol T] [--time-limit S] [--repeat N] [--sets LIST] [--solvers LIST] FOLDER [FCLIB]
# Sets: rods (data/rods.txt) and towers (towers.txt) by default, and those of ratios.sh. --solvers: what auto is
# compared with; by default its members, other sweeps and Siconos' solvers, where the program has them. For
# each set it writes FOLDER/members-SET-T.db (the record) and .txt, and prints the text: CPU milliseconds, the set-up
# included, least of N runs. Runs that the record holds are not made again.
# STICKSLIP is the program (build/stickslip).
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
program=$(realpath "${STICKSLIP:-$root/build/stickslip}")
# shellcheck source=paper_figs/options.sh
. "$root/paper_figs/options.sh"
tol=1e-6 time_limit=2 repeat=5 sets="rods towers"
solvers=
read_options "tol time-limit repeat sets solvers" 1 2 "$@"
folder=${words[0]}
# shellcheck disable=SC2034 # sets.sh reads it
fclib=${words[1]-}
mkdir -p "$folder"
# shellcheck source=paper_figs/beyond/sets.sh
. "$root/paper_figs/beyond/sets.sh"

if [ -z "$solvers" ]; then
    solvers="gs/secular:focus=on secular mfb+enum projection admm:rho=1000 ppa:sweeps=0 ppa"
    solvers+=" $("$program" solvers --format csv | cut -d, -f1 | grep '^siconos/' | tr '\n' ' ' || true)"
fi

# compare RECORD: a line for each problem, then the largest and the mean of both ratios.
compare() {
    "$program" table "$1" --kind rows --format csv | awk -F, '
        function cell(x) { return x != "" ? sprintf("%.3g", x) : "-" }
        function ratio(x, y) { return x != "" && y != "" ? sprintf("%.2f", x / y) : "-" }
        NR == 1 { for (k = 1; k <= NF; k++) column[$k] = k; next }
        {
            sub(".*/", "", $1)
            solver = $column["solver"]; ms = 1000 * $column["cpu_seconds"]
            if (!($1 in contacts)) order[++n] = $1
            contacts[$1] = $column["contacts"]
            if ($column["status"] != "solved") next
            if (solver == "auto") own[$1] = ms
            if (solver ~ /^siconos/) {
                if (!($1 in other) || ms < other[$1]) { other[$1] = ms; who[$1] = solver }
            } else if (!($1 in best) || ms < best[$1]) {
                best[$1] = ms; fastest[$1] = solver
            }
        }
        END {
            printf "%-28s %8s %9s %9s %7s  %-22s %9s %7s  %s\n", "problem", "contacts", "auto", \
                "fastest", "ratio", "", "Siconos", "ratio", ""
            for (k = 1; k <= n; k++) {
                p = order[k]
                over = ratio(own[p], best[p]); under = ratio(other[p], own[p])
                printf "%-28s %8d %9s %9s %7s  %-22s %9s %7s  %s\n", p, contacts[p], cell(own[p]), \
                    cell(best[p]), over, fastest[p], cell(other[p]), under, who[p]
                if (over != "-") { a++; sa += log(own[p] / best[p]); if (over + 0 > most) most = over + 0 }
                if (under != "-") {
                    b++; sb += log(other[p] / own[p])
                    if (least == "" || under + 0 < least) least = under + 0
                }
                solved += own[p] != ""
            }
            printf "auto solved %d of %d.\n", solved, n
            if (a) printf "auto over the fastest: mean %.2f, most %.2f, on %d problems.\n", exp(sa / a), most, a
            if (b) printf "Siconos over auto: mean %.2f, least %.2f, on the %d that both solve.\n", exp(sb / b), least, b
        }'
}

for set in $sets; do
    record=$folder/members-$set-$tol.db
    names=$(files "$set")
    [ -n "$names" ] || continue
    mapfile -t list <<<"$names"
    "$program" bench "${list[@]}" --solvers "auto $solvers" --tol "$tol" --max-iter 200000 \
        --time-limit "$time_limit" --repeat "$repeat" --out "$record"
    echo "== $set, to $tol: CPU ms, load $(cut -d' ' -f1 /proc/loadavg)"
    compare "$record" | tee "${record%.db}.txt"
done
