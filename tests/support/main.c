// tests/support/main.c -- the main function of every test program.
//
//     test_<folder>                all groups
//     test_<folder> GROUP...       these
//     test_<folder> --list         their names
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/support.h"

static const named_group *find_group(const char *name)
{
    for (const named_group *g = test_groups; g->name != NULL; g++) {
        if (strcmp(g->name, name) == 0) {
            return g;
        }
    }
    return NULL;
}

static bool is_among(const char *name, char **names)
{
    for (; *names != NULL; names++) {
        if (strcmp(*names, name) == 0) {
            return true;
        }
    }
    return false;
}

static int list_groups(void)
{
    for (const named_group *g = test_groups; g->name != NULL; g++) {
        puts(g->name);
    }
    return 0;
}

static void run_group(const named_group *g)
{
    UnitySetTestFile(g->file);
    running_group = g->group;
    g->group->run();
    remove_scratch();
}

static int run_groups(char **names)
{
    for (char **name = names; *name != NULL; name++) {
        if (find_group(*name) == NULL) {
            fprintf(stderr, "there is no group '%s'; --list prints all\n", *name);
            return 1;
        }
    }
    UNITY_BEGIN();
    for (const named_group *g = test_groups; g->name != NULL; g++) {
        if (*names == NULL || is_among(g->name, names)) {
            run_group(g);
        }
    }
    return UNITY_END() > 0 ? 1 : 0; // meson takes 77 for a test that is skipped
}

// Programs inherit signals that are ignored: under nohup, or in the background of a shell, Ctrl-C would
// not end those that tests start.
static void reset_signals(void)
{
    static const int SIGNALS[] = {SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGPIPE, SIGCHLD};
    for (size_t k = 0; k < sizeof SIGNALS / sizeof *SIGNALS; k++) {
        signal(SIGNALS[k], SIG_DFL);
    }
}

int main(int argc, char **argv)
{
    reset_signals();
    const char *other = getenv("TEST_AS");
    const named_group *program = other != NULL ? find_group(other) : NULL;
    if (program != NULL && program->group->as_program != NULL) {
        return program->group->as_program(argv);
    }
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        return list_groups();
    }
    return run_groups(argv + 1);
}
