# shellcheck shell=bash
# Read by the scripts of the folders here: columns of a CSV file, and pictures of them by gnuplot.

# is_made FILE COMMAND...: whether the file is there and was made by this command; after a run that made it, say
# was_made FILE COMMAND... .
is_made() {
    [ -e "$1" ] && [ "$(cat "$1.made" 2>/dev/null)" = "${*:2}" ]
}
was_made() {
    echo "${*:2}" >"$1.made"
}

# columns FILE NAME...: these columns of a file, which may have texts with commas in quotes, without its head;
# what is not known is 0.
columns() {
    local file=$1
    shift
    sed 's/"[^"]*"/text/g' "$file" | awk -F, -v names="$*" '
        NR == 1 { for (k = 1; k <= NF; k++) at[$k] = k; count = split(names, name, " "); next }
        { line = ""
          for (k = 1; k <= count; k++) line = line (k > 1 ? " " : "") ($at[name[k]] == "" ? 0 : $at[name[k]])
          print line }'
}

# draw FOLDER NAME SETTINGS CURVE...: FOLDER/NAME.{svg,png} of gnuplot's curves, whose files are in FOLDER.
draw() {
    local folder=$1 name=$2 settings=$3 ending
    shift 3
    for ending in svg png; do
        local terminal="$ending size 900,600"
        [ "$ending" = svg ] || terminal='pngcairo size 900,600'
        {
            printf "set terminal %s\nset output '%s.%s'\nset key outside below\nset grid\n%s\nplot " \
                "$terminal" "$name" "$ending" "$settings"
            local curve separator=''
            for curve in "$@"; do
                printf '%s%s' "$separator" "$curve"
                separator=', '
            done
            echo
        } >"$folder/$name-$ending.gp"
        (cd "$folder" && gnuplot "$name-$ending.gp")
    done
}
