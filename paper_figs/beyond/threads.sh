#!/usr/bin/env bash
# What threads bring to a simulated step: wall milliseconds of its parts with one thread and with more.
#     threads.sh [--scene NAME] [--rods N] [--steps N] [--threads N] [--repeats N]
# Runs with one thread and with --threads (2) take turns, --repeats (3) times. Of each part of each of
# the --steps (8) steps the least over the repeats counts, and the mean over the steps is printed, so
# that other work on the machine matters little. Solve is by auto; a run must have the same numbers
# with any number of threads, times aside. STICKSLIP is the program (build/stickslip).
#     usage: threads.sh [--scene NAME] [--rods N] [--steps N] [--threads N] [--repeats N]
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
program=$(realpath "${STICKSLIP:-$root/build/stickslip}")
# shellcheck source=paper_figs/options.sh
. "$root/paper_figs/options.sh"
scene=free-a rods=1920 steps=8 threads=2 repeats=3
read_options "scene rods steps threads repeats" 0 0 "$@"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for ((k = 0; k < repeats; k++)); do
    for n in 1 "$threads"; do
        "$program" simulate "$scene" --rods "$rods" --steps "$steps" --threads "$n" --solver auto \
            --stats "$folder/$n-$k.csv" >/dev/null 2>"$folder/why" || {
            tail -n 1 "$folder/why" >&2
            exit 1
        }
    done
done
awk '{ print "load", $1 }' /proc/loadavg
python3 - "$folder" "$threads" "$repeats" <<'PY'
import csv, sys

folder, threads, repeats = sys.argv[1], sys.argv[2], int(sys.argv[3])
runs = {n: [list(csv.DictReader(open(f"{folder}/{n}-{k}.csv"))) for k in range(repeats)]
        for n in ("1", threads)}
first = runs["1"][0]
for others in runs.values():
    for rows in others:
        for a, b in zip(first, rows, strict=True):
            differ = [c for c in a if "seconds" not in c and a[c] != b[c]]
            if differ:
                sys.exit(f"threads: {', '.join(differ)} of step {a['step']} depend on the threads")

def part(row, names):
    return sum(float(row[f"{name}_seconds"]) for name in names)

def rest(row):
    return part(row, ["step"]) - part(row, ["collide", "assemble", "solve", "judge"])

def least(n, of):
    return 1e3 * sum(min(of(rows[i]) for rows in runs[n]) for i in range(len(first))) / len(first)

contacts = sum(int(row["contacts"]) for row in first) / len(first)
print(f"{len(first)} steps of {contacts:.0f} contacts; ms a step")
print(f"{'part':20} {'1':>9} {threads:>9} {'ratio':>6}")
parts = [(name, lambda row, name=name: part(row, [name])) for name in ("collide", "assemble")]
parts += [("collide + assemble", lambda row: part(row, ["collide", "assemble"])), ("rest", rest)]
parts += [(name, lambda row, name=name: part(row, [name])) for name in ("solve", "judge", "step")]
for name, of in parts:
    one, more = least("1", of), least(threads, of)
    ratio = f"{one / more:6.2f}" if more > 0 else f"{'-':>6}" # no contact, no time
    print(f"{name:20} {one:9.2f} {more:9.2f} {ratio}")
PY
