# shellcheck shell=bash
# Completion of stickslip's verbs, options, choices and files. Everything is read from the program's
# own --help, so that this file need not follow it.

# The help of the program or of a verb, each entry on one line.
_stickslip_help() {
    "$@" --help 2>/dev/null | sed -e ':more' -e 'N; $!b more' -e 's/\n    \{8,\}/ /g'
}

# "  WORD  what it is" before the example.
_stickslip_words() {
    _stickslip_help "$@" | sed -n '/^Example/q; s/^  \([a-z][a-z-]*\)  *[^ ].*/\1/p'
}

_stickslip_options() {
    _stickslip_help "$@" | sed -n 's/^  \(--[a-z][a-z0-9-]*\).*/\1/p'
}

# The choices of an option: "  --form FORM  what it is: global or local (default global)".
_stickslip_choices() {
    local option=$1 word='[a-z][a-z-]*'
    shift
    _stickslip_help "$@" |
        sed -n "s/^  $option .*: \($word\(, $word\)* or $word\)\( (.*\)\{0,1\}\$/\1/p" |
        sed 's/, / /g; s/ or / /'
}

_stickslip() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local words='' files=() program=("${COMP_WORDS[0]}") verb=2
    COMPREPLY=()
    # In "--form=local" bash makes a word of the equals sign.
    if [ "$current" = '=' ]; then
        current=''
    elif [ "$previous" = '=' ]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    # `generate` is followed by what to generate.
    [ "${COMP_WORDS[1]-}" = generate ] && verb=3
    program+=("${COMP_WORDS[@]:1:COMP_CWORD < verb ? COMP_CWORD - 1 : verb - 1}")

    if [ "$COMP_CWORD" -lt "$verb" ]; then
        words="$(_stickslip_words "${program[@]}") --help"
        [ "$COMP_CWORD" -eq 1 ] && words+=' --version'
    elif [[ $previous =~ ^--[a-z][a-z0-9-]*$ ]]; then
        words=$(_stickslip_choices "$previous" "${program[@]}")
    fi
    if [ -z "$words" ] && [ "${COMP_WORDS[1]-}" = simulate ] && [ "$COMP_CWORD" -eq 2 ] &&
        [[ $current != -* ]]; then
        words=$("${COMP_WORDS[0]}" scenes --format csv 2>/dev/null | sed '1d; s/,.*//')
        mapfile -t files < <(compgen -f -X '!*.json' -- "$current")
    fi
    if [ -z "$words" ] && [[ $current == -* ]]; then
        words=$(_stickslip_options "${program[@]}")
    fi
    if [ -n "$words" ]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    fi
    # compgen -W would run what stands in the name of a file, as would the line if the name were not quoted.
    if [ ${#files[@]} -gt 0 ]; then
        COMPREPLY+=("${files[@]}")
        compopt -o filenames 2>/dev/null
    fi
}

# Where nothing above fits, files are offered.
complete -o bashdefault -o default -F _stickslip stickslip
