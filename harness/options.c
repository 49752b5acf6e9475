// Reads a command line by the table of its verb, and prints that table as help.
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "harness/cli.h"
#include "harness/complain.h"

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

// What an option takes, as in "--contacts takes a whole number from 1 to 1000000".
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

// ---- Help

const char *ss_verb_word(const ss_verb *verb)
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
            print_entry(out, ss_verb_word(verb->kinds[k]), 14, verb->kinds[k]->summary);
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

void ss_help_print(const ss_verb *verb, void *values, FILE *out)
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

// ---- Reading

static const ss_option *find_option(const ss_verb *verb, const char *name, size_t length)
{
    for (const ss_option *option = verb->options; option->name != NULL; option++) {
        if (strlen(option->name) == length && strncmp(option->name, name, length) == 0) {
            return option;
        }
    }
    return NULL;
}

static void complain_unknown(const ss_verb *verb, const char *argument)
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
        complain_unknown(verb, argument);
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
        ss_help_print(verb, values, stdout);
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
