#!/usr/bin/env bash
# What a simulated step costs with one thread, part by part, and with another program beside it.
#     step.sh [--scene NAME] [--rods N] [--model SPEC] [--from K] [--steps N] [--repeats N] [--against PROGRAM]
# Runs of free-a with --rods (1920) strands take turns, --repeats (3) times. Of each part of each step
# from --from (25) to --steps (31) the least over the repeats counts, and the mean over the steps is printed:
# by default those at which 1920 strands have some 22.8 thousand contacts. Solve is by auto. The program of
# --against, such as one of an older checkout, must make the same numbers, times aside, or else the
# columns that differ are told. STICKSLIP is the program (build/stickslip).
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
program=$(realpath "${STICKSLIP:-$root/build/stickslip}")
# shellcheck source=paper_figs/options.sh
. "$root/paper_figs/options.sh"
scene=free-a rods=1920 model='' from=25 steps=31 repeats=3 against=''
read_options "scene rods model from steps repeats against" 0 0 "$@"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
choice=(--rods "$rods")
[ -z "$model" ] || choice+=(--model "$model")

# run PROGRAM NAME
run() {
    "$1" simulate "$scene" "${choice[@]}" --steps "$steps" --threads 1 --solver auto \
        --stats "$folder/$2.csv" >/dev/null 2>"$folder/why" || {
        tail -n 1 "$folder/why" >&2
        exit 1
    }
}
for ((k = 0; k < repeats; k++)); do
    [ -z "$against" ] || run "$(realpath "$against")" "against-$k"
    run "$program" "this-$k"
done
awk '{ print "load", $1 }' /proc/loadavg
python3 - "$folder" "$from" "$repeats" ${against:+against} this <<'PY'
import csv, sys

folder, start, repeats, names = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
runs = {n: [[row for row in csv.DictReader(open(f"{folder}/{n}-{k}.csv")) if int(row["step"]) >= start]
            for k in range(repeats)] for n in names}
first = runs["this"][0]
for a, b in zip(runs[names[0]][0], first, strict=True):
    differ = [c for c in a if c in b and "seconds" not in c and a[c] != b[c]]
    if differ:
        print(f"step {a['step']}: {', '.join(differ)} differ")

PARTS = ("collide", "assemble", "solve", "judge")
def part(row, name):
    if name == "rest":
        return part(row, "step") - sum(part(row, p) for p in PARTS)
    return float(row[f"{name}_seconds"])

def least(n, name):
    return 1e3 * sum(min(part(run[i], name) for run in runs[n]) for i in range(len(first))) / len(first)

contacts = sum(int(row["contacts"]) for row in first) / len(first)
print(f"{len(first)} steps of {contacts:.0f} contacts; ms a step")
print(f"{'part':10}" + "".join(f" {n:>9}" for n in names) + ("  ratio" if len(names) > 1 else ""))
for name in (*PARTS, "rest", "step"):
    ms = [least(n, name) for n in names]
    ratio = f" {ms[1] / ms[0]:6.2f}" if len(ms) > 1 and ms[0] > 0 else ""
    print(f"{name:10}" + "".join(f" {x:9.2f}" for x in ms) + ratio)
PY
