#!/usr/bin/env bash
# The table of times of [S23], and how wisps clump: wisps on a ball, or on a share of it.
#     hairball.sh [--cover SHARE] [--steps N] [--tol T] [--max-iter N] [--threads N]
#                 [--pictures yes|no] FOLDER [WISPS...]
# For each number of wisps (200 400 800 on a tenth of the ball, which is 2000, 4000 and 8000 on all of it):
# degrees of freedom as the talk counts them (403 a wisp) and those that are solved for, contacts, shares of
# the time of a frame and the time; and the mean distance of a tip to the nearest other one over the mean
# spacing of tips, at the start and at the end. Writes FOLDER/hairball.txt, FOLDER/hairball-WISPS.csv
# (simulate --stats), with --pictures yes FOLDER/hairball-WISPS/ (simulate --frames), and prints the text. A run whose file is
# there is not made again. STICKSLIP is the program (build/stickslip).
set -euo pipefail

here=$(dirname "$0")
# shellcheck source-path=SCRIPTDIR source=../options.sh
source "$here/../options.sh"
cover=0.1 steps=60 tol=1e-2 max_iter=20 threads=0 pictures=no
read_options 'cover steps tol max-iter threads pictures' 1 '' "$@"
folder=${words[0]}
wisps=("${words[@]:1}")
[ ${#wisps[@]} -gt 0 ] || wisps=(200 400 800)
program=${STICKSLIP:-$here/../../build/stickslip}
mkdir -p "$folder"

run() { # WISPS
    local file=$folder/hairball-$1.csv frames=()
    [ "$pictures" = no ] || frames=(--frames "$folder/hairball-$1")
    if [ ! -e "$file" ]; then
        "$program" simulate "hairball-curly:cover=$cover" --rods "$1" --steps "$steps" --tol "$tol" \
            --max-iter "$max_iter" --threads "$threads" "${frames[@]}" --stats "$file.part" >&2 ||
            [ $? = 2 ]
        mv "$file.part" "$file"
    fi
}

row() { # WISPS
    # Cells in quotes hold commas.
    sed 's/"[^"]*"/text/g' "$folder/hairball-$1.csv" | awk -F, -v wisps="$1" -v cover="$cover" '
        NR == 1 { for (k = 1; k <= NF; k++) at[$k] = k; next }
        { contacts += $at["contacts"]; collide += $at["collide_seconds"]; assemble += $at["assemble_seconds"]
          solve += $at["solve_seconds"]; all += $at["step_seconds"]
          # Coils end 0.1015 m above the ball of 0.1525 m.
          clumping = $at["tip_gap"] / (0.254 * sqrt(cover * 4 * 3.14159265 / wisps))
          if (NR == 2) start = clumping }
        END { steps = NR - 1
              printf "%6d  %8d  %8d  %9.0f  %6.1f  %6.1f  %6.1f  %6.1f  %8.3f  %6.2f  %6.2f\n", wisps, 403 * wisps, 294 * wisps,
                     contacts / steps, 100 * collide / all, 100 * assemble / all, 100 * solve / all,
                     100 * (all - collide - assemble - solve) / all, all / steps, start, clumping }'
}

{
    printf '%6s  %8s  %8s  %9s  %6s  %6s  %6s  %6s  %8s  %6s  %6s\n' wisps dofs free contacts coll_% assem% \
        solve% rest_% frame_s start end
    for count in "${wisps[@]}"; do
        run "$count"
        row "$count"
    done
} >"$folder/hairball.txt"
cat "$folder/hairball.txt"
