#!/usr/bin/env bash
# Table 1 of [D11]: the four scenes, their one-step problems and what a step costs.
#     table1.sh [--rods-percent P] [--steps N] [--solver SPEC] FOLDER [SCENE...]
# Writes FOLDER/SCENE.csv for each scene (free-a free-b pony curly) and FOLDER/table1.{txt,md,tex,csv},
# and prints the text. P is the share of the scene's own number of strands (100). A scene whose CSV
# is there is not run again. STICKSLIP is the program (build/stickslip).
set -euo pipefail

program=${STICKSLIP:-$(dirname "$0")/../../build/stickslip}
percent=100
options=()
while [[ ${1-} == --* ]]; do
    case "$1" in
    --rods-percent) percent=${2?} ;;
    --steps | --solver) options+=("$1" "${2?}") ;;
    *)
        echo "table1: unknown option $1" >&2
        exit 1
        ;;
    esac
    shift 2
done
if [ $# -lt 1 ]; then
    echo "usage: table1.sh [--rods-percent P] [--steps N] [--solver SPEC] FOLDER [SCENE...]" >&2
    exit 1
fi
folder=$1
shift
scenes=("$@")
[ $# -gt 0 ] || scenes=(free-a free-b pony curly)

mkdir -p "$folder"
files=()
for scene in "${scenes[@]}"; do
    own=$("$program" scenes --format csv | awk -F, -v scene="$scene" '$1 == scene { print $3 }')
    rods=$((${own:-0} * percent / 100))
    file=$folder/$scene.csv
    # The file gets its name when it is complete, so that an interrupted run is made again.
    if [ ! -e "$file" ]; then
        "$program" simulate "$scene" --rods "$((rods > 0 ? rods : 1))" "${options[@]}" \
            --stats "$file.part" >&2
        mv "$file.part" "$file"
    fi
    files+=("$file")
done

# table FORMAT ENDING
table() {
    "$program" table "${files[@]}" --kind simulation --paper --format "$1" >"$folder/table1.$2"
}
table text txt
table markdown md
table latex tex
table csv csv
cat "$folder/table1.txt"
