# shellcheck shell=bash
# Read by the scripts of the folders here: their options. Their usage stands in their heads, in the
# lines that are indented by five blanks.

# fail_usage SENTENCE
fail_usage() {
    echo "${0##*/}: $1" >&2
    sed -n 's/^#     /usage: /p' "$0" | sed '2,$s/^usage: /       /' >&2
    exit 1
}

# read_options NAMES LEAST MOST WORD...: puts the value of each option of NAMES into the variable of
# its name, that of --time-limit into time_limit, and the other words, LEAST to MOST of them (MOST
# empty: any number), into `words`.
read_options() {
    # No option is called like these: they would hide its variable.
    local known_=" $1 " least_=$2 most_=$3 option_
    shift 3
    while [[ ${1-} == --* ]]; do
        option_=${1#--}
        [[ $known_ == *" $option_ "* ]] || fail_usage "unknown option $1"
        [ $# -ge 2 ] || fail_usage "$1 needs a value"
        printf -v "${option_//-/_}" %s "$2"
        shift 2
    done
    [ $# -ge "$least_" ] || fail_usage 'an operand is missing'
    [ $# -le "${most_:-$#}" ] || fail_usage "'${*: -1}' is one operand too many"
    # shellcheck disable=SC2034
    words=("$@")
}
