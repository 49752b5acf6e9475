// Completion in bash, zsh and fish: what is offered at the end of a line.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/program.h"
#include "tests/support/support.h"

// What prints the completions of $LINE, one per line.
static const char BASH[] =
    "bash --norc -c 'source \"$SCRIPTS/../completions/stickslip.bash\"; eval "
    "COMP_WORDS=\\($LINE\\); "
    "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _stickslip; printf \"%s\\n\" \"${COMPREPLY[@]}\"'";
// The functions that show what is found are zsh's own, and need a terminal.
static const char ZSH[] =
    "zsh -f -c '_describe() { print -l -- \"${(@)${(@P)2}%%:*}\" }; _files() { }; "
    "eval \"words=($LINE)\"; CURRENT=$#words; source \"$SCRIPTS/../completions/_stickslip\"'";
static const char FISH[] =
    "fish --no-config -c 'source \"$SCRIPTS/../completions/stickslip.fish\"; "
    "complete -C \"$LINE\"' | cut -f 1";

// The program under test is the first in $PATH.
static void set_up(void)
{
    static bool done;
    char path[4000];
    snprintf(path, sizeof path, "%s", getenv("STICKSLIP"));
    char *end = strrchr(path, '/');
    snprintf(end, sizeof path - (size_t)(end - path), ":%s", getenv("PATH"));
    if (!done) {
        setenv("PATH", path, 1);
    }
    done = true;
}

// What the shell offers, with a blank around each.
static const char *offers(const char *script, const char *line)
{
    static char found[4000];
    setenv("LINE", line, 1);
    FILE *said = popen(script, "r");
    TEST_ASSERT_NOT_NULL(said);
    found[0] = ' ';
    const size_t size = fread(found + 1, 1, sizeof found - 2, said);
    found[size + 1] = '\0';
    for (char *c = found; *c != '\0'; c++) {
        *c = *c == '\n' ? ' ' : *c;
    }
    pclose(said);
    return found;
}

static void completes(const char *name, const char *script, const char *empty)
{
    char command[60], line[200];
    snprintf(command, sizeof command, "command -v %s >/dev/null", name);
    if (system(command) != 0) {
        TEST_IGNORE_MESSAGE("the shell is absent");
    }
    const char *found = offers(script, "stickslip so");
    HOLDS(found, " solve ");
    HOLDS(found, " solvers ");
    snprintf(line, sizeof line, "stickslip generate %s", empty);
    HOLDS(offers(script, line), " tangle ");
    snprintf(line, sizeof line, "stickslip solve x.h5 --start %s", empty);
    found = offers(script, line);
    HOLDS(found, " zero ");
    HOLDS(found, " guess ");
    HOLDS(offers(script, "stickslip solve --so"), " --solver ");
    HOLDS(offers(script, "stickslip simulate po"), " pony ");
}

static void bash_completes_lines(void)
{
    completes("bash", BASH, "\"\"");
}

static void zsh_completes_lines(void)
{
    completes("zsh", ZSH, "\"\"");
}

static void fish_completes_lines(void)
{
    completes("fish", FISH, "");
}

// Files are offered by their names, whatever these are to a shell.
static void names_of_files_are_not_run(void)
{
    static const char *const NAMES[] = {"$(touch PWNED).json", "`touch PWNED`.json",
                                        "a b;touch PWNED.json"};
    const char *const scripts[] = {BASH, ZSH, FISH};
    char back[4000];
    CHECK(getcwd(back, sizeof back) != NULL && chdir(scratch_path("")) == 0);
    for (int k = 0; k < 3; k++) {
        put_scratch(NAMES[k], "{}");
    }
    for (int k = 0; k < 3; k++) {
        const char *found =
            offers(scripts[k], k < 2 ? "stickslip simulate \"\"" : "stickslip simulate ");
        for (int i = 0; k == 0 && i < 3; i++) {
            HOLDS(found, NAMES[i]);
        }
        offers(scripts[k], "stickslip solve '--x/p;1e touch PWNED\n#' ");
        CHECK(access("PWNED", F_OK) != 0);
    }
    CHECK(chdir(back) == 0);
}

static void run_tests(void)
{
    RUN_TEST(bash_completes_lines);
    RUN_TEST(zsh_completes_lines);
    RUN_TEST(fish_completes_lines);
    RUN_TEST(names_of_files_are_not_run);
}

const test_group cli_completions_tests = {.run = run_tests, .set_up = set_up};
