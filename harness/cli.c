// Finds the verb, reads its command line, runs it, and sees that its results reached stdout.
#include "harness/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/complain.h"
#include "harness/record/machine.h"
#include "version.h"

#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif

static const ss_verb *const VERBS[] = {
    &ss_verb_solvers, &ss_verb_scenes, &ss_verb_simulate, &ss_verb_generate,
    &ss_verb_inspect, &ss_verb_check,  &ss_verb_convert,  &ss_verb_solve,
    &ss_verb_verify,  &ss_verb_bench,  &ss_verb_merge,    &ss_verb_table,
    &ss_verb_plot,    &ss_verb_report, &ss_verb_run_one,  NULL,
};

static const ss_verb PROGRAM = {
    .name = "",
    .summary = "Compares solvers for contact with Coulomb friction.",
    .operands = "VERB ...",
    .text = "'stickslip VERB --help' explains a verb and shows an example. 'stickslip --version' "
            "prints version, commit, compiler, flags and processor. Results go to stdout, "
            "everything else to stderr. Of several exit codes that apply the largest is "
            "returned.\n",
    .example = "  stickslip generate tangle --contacts 1000 --out hair.h5\n"
               "  stickslip inspect hair.h5\n",
    .exits = {[SS_EXIT_UNSOLVED] = "an answer is not within its tolerance",
              [SS_EXIT_BAD_INPUT] = "bad input: a file or its content"},
    .kinds = VERBS,
    .kind = "verb",
};

int ss_larger_code(int a, int b)
{
    return a > b ? a : b;
}

static ss_table *choose_columns(const ss_verb *verb, const ss_table_style *style, ss_table *table,
                                int *code)
{
    ss_error error;
    const ss_status status = table != NULL ? ss_table_choose(table, style->columns, &error)
                                           : ss_fail_memory(&error, "the table");
    *code = status == SS_BAD_INPUT ? SS_EXIT_USAGE : (int)status;
    if (status == SS_OK) {
        return table;
    }
    ss_complain(verb->name, "%s", error.text);
    ss_table_free(table);
    return NULL;
}

ss_table *ss_table_begin(const ss_verb *verb, const ss_table_style *style, const ss_column *columns,
                         int *code)
{
    ss_table *table = ss_table_of_columns(stdout, (ss_format)style->format, columns);
    return choose_columns(verb, style, table, code);
}

ss_table *ss_table_begin_fields(const ss_verb *verb, const ss_table_style *style,
                                const ss_field *fields, int *code)
{
    ss_table *table = ss_table_of_fields(stdout, (ss_format)style->format, fields);
    return choose_columns(verb, style, table, code);
}

void ss_table_note_solved(ss_table *table, int solved, int count)
{
    if (count > 1) {
        ss_table_note(table, "%d of %d solved.", solved, count);
    }
}

int ss_table_end(const ss_verb *verb, ss_table *table, int code)
{
    ss_error error;
    if (ss_table_finish(table, &error) == SS_OK) {
        return code;
    }
    ss_complain(verb->name, "%s", error.text);
    return SS_EXIT_SYSTEM;
}

// ---- --version

int ss_check_processor(const char *verb)
{
    const char *set = ss_machine_lacks();
    if (set == NULL) {
        return SS_EXIT_OK;
    }
    ss_complain(verb,
                "this processor has no %s, for which the program was compiled: compile it without "
                "-march=native (meson configure -Dnative=false)",
                set);
    return SS_EXIT_SYSTEM;
}

static int print_version(void)
{
    printf("stickslip %s\n", SS_VERSION);
    printf("commit    %s\n", SS_COMMIT);
    printf("compiler  %s\n", COMPILER);
    printf("flags     %s\n", SS_FLAGS);
    char processor[200];
    ss_machine_processor(processor, sizeof processor);
    printf("processor %s\n", processor[0] != '\0' ? processor : "unknown");
    return ss_check_processor("");
}

// ---- Verbs

static int run(const ss_verb *verb, int argc, char **argv)
{
    void *settings = calloc(1, verb->settings_size);
    if (settings == NULL) {
        ss_complain(verb->name, "not enough memory for the command line");
        return SS_EXIT_SYSTEM;
    }
    if (verb->defaults != NULL) {
        memcpy(settings, verb->defaults, verb->settings_size);
    }
    ss_operands operands;
    int code;
    if (ss_options_parse(verb, settings, argc, argv, &operands, &code)) {
        code = verb->run(settings, &operands);
    }
    free(settings);
    return code;
}

static int complain_unknown(const ss_verb *verb, const char *word)
{
    const bool option = word[0] == '-';
    char list[100] = "; only --help and --version may come before a verb";
    if (!option || verb != &PROGRAM) {
        snprintf(list, sizeof list, "; 'stickslip %s%s--help' lists the %ss", verb->name,
                 verb->name[0] != '\0' ? " " : "", verb->kind);
    }
    ss_suggestion nearest = {.word = word};
    ss_suggestion_offer(&nearest, "--help");
    if (verb == &PROGRAM) {
        ss_suggestion_offer(&nearest, "--version");
    }
    for (int k = 0; verb->kinds[k] != NULL; k++) {
        if (verb->kinds[k]->summary != NULL) {
            ss_suggestion_offer(&nearest, ss_verb_word(verb->kinds[k]));
        }
    }
    ss_complain(verb->name, "unknown %s '%s'%s", option ? "option" : verb->kind, word,
                ss_suggestion_hint(&nearest, "", list).text);
    return SS_EXIT_USAGE;
}

static int choose(const ss_verb *verb, int argc, char **argv);

// argv is: help VERB WORD...; the same as: VERB WORD... --help.
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
    const int code = choose(&PROGRAM, argc + 1, words);
    free(words);
    return code;
}

// By the second word of the command line; argv[0] is the first.
static int choose(const ss_verb *verb, int argc, char **argv)
{
    if (argc < 2) {
        ss_help_print(verb, NULL, stderr);
        return SS_EXIT_USAGE;
    }
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        ss_help_print(verb, NULL, stdout);
        return SS_EXIT_OK;
    }
    if (verb == &PROGRAM && strcmp(word, "help") == 0) {
        return help_for(argc - 1, argv + 1);
    }
    if (verb == &PROGRAM && strcmp(word, "--version") == 0) {
        return print_version();
    }
    for (int k = 0; verb->kinds[k] != NULL; k++) {
        const ss_verb *kind = verb->kinds[k];
        if (strcmp(ss_verb_word(kind), word) == 0) {
            return kind->kinds != NULL ? choose(kind, argc - 1, argv + 1)
                                       : run(kind, argc - 1, argv + 1);
        }
    }
    return complain_unknown(verb, word);
}

int ss_main(int argc, char **argv)
{
    const int code = choose(&PROGRAM, argc, argv);
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        const char *reason = errno != 0 ? strerror(errno) : "an earlier write failed";
        ss_complain("", "the results could not be written to stdout: %s", reason);
        return SS_EXIT_SYSTEM;
    }
    return code;
}
