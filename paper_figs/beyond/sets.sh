# shellcheck shell=bash
# Read by the scripts beside it: the sets of problems. They set root, program, folder and fclib.
# shellcheck disable=SC2154

# make_tangles NAME FOLDER: the problems of NAME.txt.
make_tangles() {
    mkdir -p "$2"
    grep -v '^#' "$root/paper_figs/beyond/$1.txt" | while read -r name options; do
        # The options are words without blanks of their own.
        # shellcheck disable=SC2086
        "$program" generate tangle $options --out "$2/$name.h5"
    done
}

# files SET: its files, a line each; those that are made from seeds are made if they are missing.
files() {
    case "$1" in
    embedded) ls "$root"/data/*.h5 ;;
    hard | list | fresh | towers | hair | rods)
        if [ ! -d "$folder/$1" ]; then
            local part
            part=$(realpath "$folder")/$1.part
            case "$1" in
            hard) STICKSLIP=$program "$root/scripts/make-hard" "$part" >&2 ;;
            list) STICKSLIP=$program "$root/scripts/make-listed" "$part" >&2 ;;
            rods) STICKSLIP=$program "$root/scripts/make-rods" "$part" >&2 ;;
            fresh | towers | hair) make_tangles "$1" "$part" >&2 ;;
            esac
            mv "$part" "$folder/$1"
        fi
        ls "$folder/$1"/*.h5
        ;;
    fclib) [ -z "$fclib" ] || ls "$fclib"/*.hdf5 ;;
    *)
        echo "${0##*/}: there is no set $1" >&2
        return 1
        ;;
    esac
}
