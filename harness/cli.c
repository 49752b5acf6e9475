// Finds the verb, reads its command line, runs it, and sees that its results reached stdout.
#include "harness/cli.h"

#include "base/number.h"
#include "harness/quote.h"
#include "harness/record/machine.h"
#include "harness/table.h"
#include "version.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int choose(const ss_verb *verb, int argc, char **argv);

// ---- Sentences on stderr
//
// Sentences on stderr, and the guess at what a mistyped word was meant to be.
//
// The distance of two words is Damerau's and Levenshtein's in the form of optimal string
// alignment: the fewest insertions, deletions, replacements and swaps of neighbours, no letter
// edited twice. With a the word and b the candidate,
//
//     d(i,j) = min(d(i-1,j) + 1, d(i,j-1) + 1, d(i-1,j-1) + [a_i != b_j],
//                  d(i-2,j-2) + 1 where a_i a_(i-1) = b_(j-1) b_j)

// No word that is compared is longer; a longer one gets no suggestion.
#define LONGEST_WORD 63

void ss_complain(const char *verb, const char *format, ...)
{
    char sentence[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    ss_make_printable(sentence);
    fprintf(stderr, "stickslip%s%s: %s\n", verb[0] != '\0' ? " " : "", verb, sentence);
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int distance(const char *a, const char *b)
{
    const size_t na = strlen(a);
    const size_t nb = strlen(b);
    int d[LONGEST_WORD + 1][LONGEST_WORD + 1];
    for (size_t i = 0; i <= na; i++) {
        for (size_t j = 0; j <= nb; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = (int)(i + j);
                continue;
            }
            const int edit = least(d[i - 1][j], d[i][j - 1]) + 1;
            d[i][j] = least(edit, d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
            }
        }
    }
    return d[na][nb];
}

void ss_suggestion_offer(ss_suggestion *s, const char *candidate)
{
    const size_t length = strlen(s->word);
    if (candidate[strspn(candidate, " ")] == '\0') { // as a file may name a problem
        return;
    }
    if (length > LONGEST_WORD || strlen(candidate) > LONGEST_WORD) {
        return;
    }
    // The beginning of a word counts as one slip of a key.
    const bool begins = length >= 2 && strncmp(s->word, candidate, length) == 0;
    const int d = begins ? 1 : distance(s->word, candidate);
    // A third of the letters wrong is still the same word; more is another one.
    const int limit = length < 3 ? 1 : (int)(length + 2) / 3;
    if (d <= limit && (s->best == NULL || d < s->distance)) {
        s->best = candidate;
        s->distance = d;
    }
}

ss_hint ss_suggestion_hint(const ss_suggestion *s, const char *dashes, const char *otherwise)
{
    ss_hint hint;
    if (s->best != NULL) {
        snprintf(hint.text, sizeof hint.text, "; did you mean '%s%s'?", dashes, s->best);
    } else {
        snprintf(hint.text, sizeof hint.text, "%s", otherwise);
    }
    return hint;
}

// ---- Interrupts

volatile sig_atomic_t ss_interrupted;

static void note(int signal_number)
{
    (void)signal_number;
    ss_interrupted = 1;
}

static void catch_signal(int signal_number, int flags)
{
    struct sigaction before;
    if (sigaction(signal_number, NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
        struct sigaction action = {.sa_handler = note, .sa_flags = flags};
        sigemptyset(&action.sa_mask);
        sigaction(signal_number, &action, NULL);
    }
}

void ss_interrupt_catch(void)
{
    catch_signal(SIGINT, (int)SA_RESETHAND);
    catch_signal(SIGTERM, (int)SA_RESETHAND);
    catch_signal(SIGHUP, 0); // both the shell and the system may send one
}

// ---- The command line, read by the table of a verb
//
// Reads a command line by the table of its verb, and prints that table as help.

// Columns of the help: all, and those before what an option or a verb does.
#define HELP_WIDTH  80
#define HELP_COLUMN 25

// More than any verb has; seen[] below lives on the stack.
#define MOST_OPTIONS 32

typedef ss_table_settings settings;

const ss_option ss_table_options[] = {
    SS_OPT_TABLE,
    {.name = NULL},
};

static void *field_of(const ss_option *option, void *values)
{
    return (char *)values + option->place;
}

static bool set_integer(const ss_option *option, const char *text, int *field)
{
    long value;
    const bool good = ss_number_whole(text, (long)option->low, (long)option->high, &value);
    *field = good ? (int)value : *field;
    return good;
}

static bool set_range(const ss_option *option, const char *text, double field[2])
{
    const char *colon = strchr(text, ':');
    char first[64];
    double range[2];
    if (colon == NULL || (size_t)(colon - text) >= sizeof first) {
        return false;
    }
    snprintf(first, sizeof first, "%.*s", (int)(colon - text), text);
    if (!ss_number_real(first, option->low, option->high, &range[0]) ||
        !ss_number_real(colon + 1, option->low, option->high, &range[1]) ||
        !(range[0] <= range[1])) {
        return false;
    }
    memcpy(field, range, sizeof range);
    return true;
}

// Choice k; NULL after the last.
static const char *choice_at(const ss_option *option, int k)
{
    return *(const char *const *)(const void *)((const char *)option->choices +
                                                (size_t)k * option->stride);
}

static bool set_choice(const ss_option *option, const char *text, int *field)
{
    for (int k = 0; choice_at(option, k) != NULL; k++) {
        if (strcmp(text, choice_at(option, k)) == 0) {
            *field = k;
            return true;
        }
    }
    return false;
}

static bool set_value(const ss_option *option, const char *text, void *field)
{
    switch (option->kind) {
    case SS_OPTION_FLAG:
        *(bool *)field = true;
        return true;
    case SS_OPTION_TEXT:
    case SS_OPTION_PATH:
        *(const char **)field = text;
        return text[0] != '\0' && (option->kind == SS_OPTION_TEXT || strcmp(text, "-") != 0);
    case SS_OPTION_INTEGER:
        return set_integer(option, text, field);
    case SS_OPTION_SEED:
        return ss_number_seed(text, field);
    case SS_OPTION_REAL:
        return ss_number_real(text, option->low, option->high, field);
    case SS_OPTION_RANGE:
        return set_range(option, text, field);
    case SS_OPTION_CHOICE:
        return set_choice(option, text, field);
    case SS_OPTION_OPERAND:
        return text[0] != '\0';
    }
    return false;
}

typedef struct phrase {
    char text[200];
} phrase;

static phrase choice_list(const ss_option *option)
{
    phrase list = {""};
    for (int k = 0; choice_at(option, k) != NULL; k++) {
        const char *before = k == 0 ? "" : choice_at(option, k + 1) == NULL ? " or " : ", ";
        const size_t used = strlen(list.text);
        snprintf(list.text + used, sizeof list.text - used, "%s%s", before, choice_at(option, k));
    }
    return list;
}

// Says what an option takes, as in "--contacts takes a whole number from 1 to 1000000".
static phrase expectation(const ss_option *option)
{
    phrase what = {""};
    switch (option->kind) {
    case SS_OPTION_FLAG:
        snprintf(what.text, sizeof what.text, "no value");
        break;
    case SS_OPTION_TEXT:
    case SS_OPTION_PATH:
    case SS_OPTION_OPERAND:
        snprintf(what.text, sizeof what.text, "%s", option->metavar);
        break;
    case SS_OPTION_INTEGER:
    case SS_OPTION_REAL:
        ss_number_describe(option->kind == SS_OPTION_INTEGER, option->low, option->high, what.text,
                           sizeof what.text);
        break;
    case SS_OPTION_SEED:
        snprintf(what.text, sizeof what.text, "a whole number from 0 to %" PRIu64, UINT64_MAX);
        break;
    case SS_OPTION_RANGE:
        snprintf(what.text, sizeof what.text, "%s, two numbers from %.15g to %.15g, ascending",
                 option->metavar, option->low, option->high);
        break;
    case SS_OPTION_CHOICE:
        what = choice_list(option);
        break;
    }
    return what;
}

// "default 25", or "" if the settings hold no value that the option could have set.
static phrase default_of(const ss_option *option, const void *field)
{
    phrase value = {""};
    switch (option->kind) {
    case SS_OPTION_INTEGER: {
        const int number = *(const int *)field;
        if (number >= option->low && number <= option->high) {
            snprintf(value.text, sizeof value.text, "default %d", number);
        }
        break;
    }
    case SS_OPTION_SEED:
        snprintf(value.text, sizeof value.text, "default %" PRIu64, *(const uint64_t *)field);
        break;
    case SS_OPTION_REAL:
        if (*(const double *)field >= option->low && *(const double *)field <= option->high) {
            snprintf(value.text, sizeof value.text, "default %.15g", *(const double *)field);
        }
        break;
    case SS_OPTION_RANGE: {
        const double *range = field;
        if (!isnan(range[0])) {
            snprintf(value.text, sizeof value.text, "default %.15g:%.15g", range[0], range[1]);
        }
        break;
    }
    case SS_OPTION_CHOICE:
        if (*(const int *)field >= 0) {
            snprintf(value.text, sizeof value.text, "default %s",
                     choice_at(option, *(const int *)field));
        }
        break;
    case SS_OPTION_FLAG:
    case SS_OPTION_TEXT:
    case SS_OPTION_PATH:
    case SS_OPTION_OPERAND:
        break;
    }
    return value;
}

// -- Help

// The last word of the name: "tangle".
static const char *verb_word(const ss_verb *verb)
{
    const char *blank = strrchr(verb->name, ' ');
    return blank != NULL ? blank + 1 : verb->name;
}

void ss_print_words(FILE *out, const char *text, int column, int indent)
{
    int at = column;
    for (const char *word = text; *word != '\0';) {
        const int length = (int)strcspn(word, " \n");
        if (at > column && at + 1 + length > HELP_WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            at = column = indent;
        }
        fprintf(out, "%s%.*s", at > column ? " " : "", length, word);
        at += length + (at > column);
        word += length;
        if (*word == '\n') {
            fprintf(out, word[1] != '\0' ? "\n\n%*s" : "\n", indent, "");
            at = column = indent;
        }
        word += *word != '\0';
    }
}

// "  left   text", the text in a column of its own.
static void print_entry(FILE *out, const char *left, int column, const char *text)
{
    fprintf(out, "  %-*s ", column - 3, left);
    const int used = (int)strlen(left) + 3;
    ss_print_words(out, text, used > column ? used : column, column);
    fputs("\n", out);
}

static void print_option(FILE *out, const ss_option *option, void *values)
{
    char left[80], right[600];
    snprintf(left, sizeof left, "--%s%s%s", option->name, option->metavar != NULL ? " " : "",
             option->metavar != NULL ? option->metavar : "");
    const bool bounded = option->kind == SS_OPTION_INTEGER || option->kind == SS_OPTION_REAL ||
                         option->kind == SS_OPTION_RANGE;
    const bool listed = bounded || option->kind == SS_OPTION_CHOICE;
    const phrase value = default_of(option, field_of(option, values));
    snprintf(right, sizeof right, "%s%s%s%s%s%s", option->help,
             bounded  ? "; "
             : listed ? ": "
                      : "",
             listed ? expectation(option).text : "",
             option->required        ? " (required"
             : value.text[0] != '\0' ? " ("
                                     : "",
             option->required ? "" : value.text,
             option->required || value.text[0] != '\0' ? ")" : "");
    print_entry(out, left, HELP_COLUMN, right);
}

static void print_kinds(FILE *out, const ss_verb *verb)
{
    fprintf(out, "\n%c%ss\n", verb->kind[0] - 'a' + 'A', verb->kind + 1);
    for (int k = 0; verb->kinds[k] != NULL; k++) {
        if (verb->kinds[k]->summary != NULL) {
            print_entry(out, verb_word(verb->kinds[k]), 14, verb->kinds[k]->summary);
        }
    }
}

static void print_options(FILE *out, const ss_verb *verb, void *values)
{
    fputs("\nOptions\n", out);
    for (const ss_option *option = verb->options; option->name != NULL; option++) {
        print_option(out, option, values);
    }
    print_entry(out, "--help", HELP_COLUMN, "this text");
}

static void print_exits(FILE *out, const ss_verb *verb)
{
    static const char *const usual[SS_EXIT_CODES] = {
        [SS_EXIT_OK] = "done",
        [SS_EXIT_USAGE] = "wrong command line",
        [SS_EXIT_SYSTEM] = "system error: memory, disk or processes",
    };
    fputs("\nExit codes\n", out);
    for (int code = 0; code < SS_EXIT_CODES; code++) {
        const char *text = verb->exits[code] != NULL ? verb->exits[code] : usual[code];
        const char number[] = {(char)('0' + code), '\0'};
        if (text != NULL) {
            print_entry(out, number, 5, text);
        }
    }
}

static void help_print(const ss_verb *verb, void *values, FILE *out)
{
    fprintf(out, "stickslip%s%s%s%s%s\n\n", verb->name[0] != '\0' ? " " : "", verb->name,
            verb->operands != NULL ? " " : "", verb->operands != NULL ? verb->operands : "",
            verb->options != NULL ? " [options]" : "");
    ss_print_words(out, verb->summary != NULL ? verb->summary : "", 0, 0);
    fputs("\n", out);
    if (verb->kinds != NULL) {
        print_kinds(out, verb);
    }
    if (verb->text != NULL) {
        fputs("\n", out);
        ss_print_words(out, verb->text, 0, 0);
    }
    if (verb->options != NULL) {
        print_options(out, verb, values);
    }
    fprintf(out, "\nExample\n%s", verb->example);
    print_exits(out, verb);
}

// -- Reading

static const ss_option *find_option(const ss_verb *verb, const char *name, size_t length)
{
    for (const ss_option *option = verb->options; option->name != NULL; option++) {
        if (strlen(option->name) == length && strncmp(option->name, name, length) == 0) {
            return option;
        }
    }
    return NULL;
}

static void complain_unknown_option(const ss_verb *verb, const char *argument)
{
    char word[64];
    snprintf(word, sizeof word, "%s", argument + strspn(argument, "-"));
    word[strcspn(word, "=")] = '\0';
    ss_suggestion nearest = {.word = word};
    ss_suggestion_offer(&nearest, "help");
    for (const ss_option *option = verb->options; option->name != NULL; option++) {
        ss_suggestion_offer(&nearest, option->name);
    }
    char list[100];
    snprintf(list, sizeof list, "; 'stickslip %s --help' lists the options", verb->name);
    ss_complain(verb->name, "unknown option '%s'%s", argument,
                ss_suggestion_hint(&nearest, "--", list).text);
}

// The option at argv[*k] and its value, which may be the argument after it.
static bool read_option(const ss_verb *verb, void *values, int argc, char **argv, int *k,
                        bool *seen, ss_operands *operands)
{
    char *argument = argv[*k];
    const bool dashed = argument[1] == '-';
    const size_t length = dashed ? strcspn(argument + 2, "=") : 0;
    const ss_option *option = dashed ? find_option(verb, argument + 2, length) : NULL;
    if (option == NULL) {
        complain_unknown_option(verb, argument);
        return false;
    }
    char *value = argument[2 + length] == '=' ? argument + 2 + length + 1 : NULL;
    if (option->kind == SS_OPTION_FLAG && value != NULL) {
        ss_complain(verb->name, "--%s takes no value, not '%s'", option->name, value);
        return false;
    }
    if (option->kind != SS_OPTION_FLAG && value == NULL) {
        if (*k + 1 >= argc || strncmp(argv[*k + 1], "--", 2) == 0) {
            ss_complain(verb->name, "--%s needs a value: %s", option->name,
                        expectation(option).text);
            return false;
        }
        value = argv[++*k];
    }
    if (!set_value(option, value, field_of(option, values))) {
        ss_complain(verb->name, "--%s takes %s, not '%s'", option->name, expectation(option).text,
                    value);
        return false;
    }
    if (option->kind == SS_OPTION_OPERAND) {
        operands->text[operands->count++] = value; // this option has left the room
    }
    assert(option - verb->options < MOST_OPTIONS);
    seen[option - verb->options] = true;
    return true;
}

static bool complete(const ss_verb *verb, const ss_operands *operands, const bool *seen)
{
    if (operands->count < verb->min_operands) {
        ss_complain(verb->name, "needs %s", verb->needs);
        return false;
    }
    if (operands->count > verb->max_operands) {
        ss_complain(verb->name, "takes %s%s, and '%s' is one too many",
                    verb->max_operands > 0 ? "only " : "no operand",
                    verb->max_operands > 0 ? verb->operands : "",
                    operands->text[verb->max_operands]);
        return false;
    }
    for (int k = 0; verb->options[k].name != NULL; k++) {
        if (verb->options[k].required && !seen[k]) {
            ss_complain(verb->name, "needs --%s %s", verb->options[k].name,
                        verb->options[k].metavar);
            return false;
        }
    }
    return true;
}

// Before anything is read: the help prints the settings as the defaults.
static bool asks_for_help(int argc, char **argv)
{
    for (int k = 1; k < argc && strcmp(argv[k], "--") != 0; k++) {
        if (strcmp(argv[k], "--help") == 0 || strcmp(argv[k], "-h") == 0) {
            return true;
        }
    }
    return false;
}

bool ss_options_parse(const ss_verb *verb, void *values, int argc, char **argv,
                      ss_operands *operands, int *exit_code)
{
    bool seen[MOST_OPTIONS] = {false};
    bool options_ended = false;
    *operands = (ss_operands){.text = argv + 1};
    *exit_code = SS_EXIT_USAGE;
    if (asks_for_help(argc, argv)) {
        help_print(verb, values, stdout);
        *exit_code = SS_EXIT_OK;
        return false;
    }
    for (int k = 1; k < argc; k++) {
        if (options_ended || argv[k][0] != '-' || argv[k][1] == '\0') {
            operands->text[operands->count++] = argv[k];
        } else if (strcmp(argv[k], "--") == 0) {
            options_ended = true;
        } else if (!read_option(verb, values, argc, argv, &k, seen, operands)) {
            return false;
        }
    }
    return complete(verb, operands, seen);
}

// ---- Verbs

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

// -- --version

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

// -- Verbs

static int run(const ss_verb *verb, int argc, char **argv)
{
    void *values = calloc(1, verb->settings_size);
    if (values == NULL) {
        ss_complain(verb->name, "not enough memory for the command line");
        return SS_EXIT_SYSTEM;
    }
    if (verb->defaults != NULL) {
        memcpy(values, verb->defaults, verb->settings_size);
    }
    ss_operands operands;
    int code;
    if (ss_options_parse(verb, values, argc, argv, &operands, &code)) {
        code = verb->run(values, &operands);
    }
    free(values);
    return code;
}

static int complain_unknown_verb(const ss_verb *verb, const char *word)
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
            ss_suggestion_offer(&nearest, verb_word(verb->kinds[k]));
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
        help_print(verb, NULL, stderr);
        return SS_EXIT_USAGE;
    }
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        help_print(verb, NULL, stdout);
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
        if (strcmp(verb_word(kind), word) == 0) {
            return kind->kinds != NULL ? choose(kind, argc - 1, argv + 1)
                                       : run(kind, argc - 1, argv + 1);
        }
    }
    return complain_unknown_verb(verb, word);
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
