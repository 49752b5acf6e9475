# Completion of stickslip's verbs, options, choices and files for fish. Everything is read from the
# program's own --help, so that this file need not follow it.

# The help of the program or of a verb, each entry on one line.
function __stickslip_help
    $argv --help 2>/dev/null | sed -e ':more' -e 'N; $!b more' -e 's/\n    \{8,\}/ /g'
end

# "  WORD  what it is" before the example, as "WORD<tab>what it is".
function __stickslip_words
    __stickslip_help $argv | sed -n '/^Example/q; s/^  \([a-z][a-z-]*\)  *\([^ ].*\)/\1\t\2/p'
end

function __stickslip_options
    __stickslip_help $argv | sed -n 's/^  \(--[a-z][a-z0-9-]*\)\( [^ ]*\)\{0,1\}  *\([^ ].*\)/\1\t\3/p'
end

# The choices of an option: "  --form FORM  what it is: global or local (default global)".
function __stickslip_choices
    set -l word '[a-z][a-z-]*'
    __stickslip_help $argv[2..] |
        sed -n "s/^  $argv[1] .*: \($word\(, $word\)* or $word\)\( (.*\)\{0,1\}\$/\1/p" |
        sed 's/, / /g; s/ or / /' | string split ' '
end

function __stickslip
    set -l done (commandline -opc)
    set -l current (commandline -ct)
    set -l program $done[1]
    set -l verb 1
    # `generate` is followed by what to generate.
    test "$done[2]" = generate; and set verb 2
    test (count $done) -gt 1; and set -a program $done[2..(math "min($(count $done), $verb + 1)")]
    set -l found
    if test (count $done) -le $verb
        set found (__stickslip_words $program)
    else if string match -qr -- '^--[a-z][a-z0-9-]*$' $done[-1]
        set found (__stickslip_choices $done[-1] $program)
    end
    if test -z "$found" -a "$done[2]" = simulate -a (count $done) -eq 2
        if not string match -q -- '-*' $current
            set found ($program[1] scenes --format csv 2>/dev/null | sed '1d; s/,.*//')
            set -a found (__fish_complete_suffix .json)
        end
    end
    if test -z "$found"; and string match -q -- '-*' $current
        set found (__stickslip_options $program)
    end
    if test -n "$found"
        printf '%s\n' $found
    else
        __fish_complete_path $current
    end
end

complete -c stickslip -f -a '(__stickslip)'
