#!/usr/bin/env bash
# Table 1 and Figures 3 and 4 of [HH13], by one command.
#     all.sh FOLDER
set -euo pipefail

here=$(dirname "$0")
"$here/table1.sh" "${1?usage: all.sh FOLDER}"
"$here/figure3.sh" "$1"
"$here/figure4.sh" "$1"
