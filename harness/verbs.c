// Finds the verb, runs it, and sees that its results reached stdout.
#include "harness/verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/bench.h"
#include "harness/complain.h"

typedef struct verb {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
} verb;

static const verb VERBS[] = {
    {"solvers", "lists the solvers", ss_cmd_solvers},
    {"scenes", "lists the scenes", ss_cmd_scenes},
    {"simulate", "runs a scene: statistics, pictures, one-step problems", ss_cmd_simulate},
    {"generate", "makes problems from a seed", ss_cmd_generate},
    {"inspect", "describes each problem in a row", ss_cmd_inspect},
    {"check", "says what is wrong with a file", ss_cmd_check},
    {"convert", "rewrites a file: form, one problem of many, a file a problem", ss_cmd_convert},
    {"solve", "solves the problems of a file and judges the answers", ss_cmd_solve},
    {"verify", "judges the answer stored in a file", ss_cmd_verify},
    {"bench", "measures solvers on problems, into a record", ss_cmd_bench},
    {"table", "prints what a record of runs says", ss_cmd_table},
    {"plot", "draws what a record of runs says", ss_cmd_plot},
};

#define NVERBS ((int)(sizeof VERBS / sizeof VERBS[0]))

int ss_larger_code(int a, int b)
{
    return a > b ? a : b;
}

static void print_usage(FILE *out)
{
    fputs("stickslip VERB ...: compares solvers for contact with Coulomb friction\n\n", out);
    for (int k = 0; k < NVERBS; k++) {
        fprintf(out, "  %-10s %s\n", VERBS[k].name, VERBS[k].summary);
    }
    fputs("\n'stickslip VERB --help' explains a verb and shows an example.\n", out);
}

static int print_help(void)
{
    print_usage(stdout);
    fputs("'stickslip --version' tells version, commit, compiler, flags and processor.\n\n"
          "Results go to stdout, everything else to stderr.\n\n"
          "Example\n"
          "  stickslip generate tangle --contacts 1000 --out hair.h5\n"
          "  stickslip inspect hair.h5\n\n"
          "Exit codes\n"
          "  0  done\n"
          "  1  the command line is wrong\n"
          "  2  an answer is not within its tolerance\n"
          "  3  a file or its content is wrong\n"
          "  4  the machine is at fault: memory, disk, processes\n"
          "  Of several that apply the largest is returned.\n",
          stdout);
    return SS_EXIT_OK;
}

static int run_verb(int argc, char **argv)
{
    if (strcmp(argv[0], SS_RUN_ONE) == 0) {
        return ss_cmd_run_one(argc, argv);
    }
    ss_suggestion nearest = {.word = argv[0]};
    for (int k = 0; k < NVERBS; k++) {
        if (strcmp(argv[0], VERBS[k].name) == 0) {
            return VERBS[k].run(argc, argv);
        }
        ss_suggestion_offer(&nearest, VERBS[k].name);
    }
    ss_complain("", "unknown verb '%s'%s", argv[0],
                nearest.best != NULL ? ss_suggestion_hint(&nearest).text
                                     : "; 'stickslip --help' lists those there are");
    return SS_EXIT_USAGE;
}

// help VERB WORD... is VERB WORD... --help.
static int help_for(int argc, char **argv)
{
    static char option[] = "--help";
    char **words = malloc(((size_t)argc + 1) * sizeof *words);
    if (words == NULL) {
        ss_complain("help", "not enough memory for the command line");
        return SS_EXIT_SYSTEM;
    }
    memcpy(words, argv, (size_t)argc * sizeof *words);
    words[argc] = option;
    const int code = run_verb(argc + 1, words);
    free(words);
    return code;
}

static int dispatch(int argc, char **argv)
{
    const char *word = argv[0];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        return print_help();
    }
    if (strcmp(word, "help") == 0) {
        return argc == 1 ? print_help() : help_for(argc - 1, argv + 1);
    }
    if (strcmp(word, "--version") == 0) {
        ss_version_print();
        return SS_EXIT_OK;
    }
    if (word[0] == '-') {
        ss_suggestion nearest = {.word = word};
        ss_suggestion_offer(&nearest, "--help");
        ss_suggestion_offer(&nearest, "--version");
        ss_complain("", "unknown option '%s'%s", word,
                    nearest.best != NULL ? ss_suggestion_hint(&nearest).text
                                         : "; before a verb stand --help and --version alone");
        return SS_EXIT_USAGE;
    }
    return run_verb(argc, argv);
}

int ss_main(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return SS_EXIT_USAGE;
    }
    const int code = dispatch(argc - 1, argv + 1);
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        const char *reason = errno != 0 ? strerror(errno) : "an earlier write failed";
        ss_complain("", "the results could not be written to stdout: %s", reason);
        return SS_EXIT_SYSTEM;
    }
    return code;
}
