// Reads a command line by the table of its verb, and prints that table as help.
#include "harness/options.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/complain.h"
#include "harness/rows.h"
#include "harness/verbs.h"
#include "problems/number.h"

// Columns that an option and its metavar take in the help.
#define HELP_COLUMN 22

// More than any verb has; seen[] below lives on the stack.
#define MOST_OPTIONS 32

const ss_option ss_format_options[] = {
    SS_OPTION_FORMAT(ss_format_settings),
    {.name = NULL},
};

static void *field_of(const ss_option *option, void *settings)
{
    return (char *)settings + option->place;
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

static bool set_choice(const ss_option *option, const char *text, int *field)
{
    for (int k = 0; option->choices[k] != NULL; k++) {
        if (strcmp(text, option->choices[k]) == 0) {
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
        *(const char **)field = text;
        return text[0] != '\0';
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
    }
    return false;
}

typedef struct phrase {
    char text[200];
} phrase;

static phrase choice_list(const char *const *choices)
{
    phrase list = {""};
    for (int k = 0; choices[k] != NULL; k++) {
        const char *before = k == 0 ? "" : choices[k + 1] == NULL ? " or " : ", ";
        const size_t used = strlen(list.text);
        snprintf(list.text + used, sizeof list.text - used, "%s%s", before, choices[k]);
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
        snprintf(what.text, sizeof what.text, "%s, two numbers from %.15g to %.15g in order",
                 option->metavar, option->low, option->high);
        break;
    case SS_OPTION_CHOICE:
        what = choice_list(option->choices);
        break;
    }
    return what;
}

// "default 25", or "" where the settings hold no value that the option could have set.
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
        if (!isnan(*(const double *)field)) {
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
                     option->choices[*(const int *)field]);
        }
        break;
    case SS_OPTION_FLAG:
    case SS_OPTION_TEXT:
        break;
    }
    return value;
}

static void print_option(const ss_option *option, void *settings)
{
    char left[80];
    snprintf(left, sizeof left, "--%s%s%s", option->name, option->metavar != NULL ? " " : "",
             option->metavar != NULL ? option->metavar : "");
    printf("  %-*s %s", HELP_COLUMN, left, option->help);
    const bool bounded = option->kind == SS_OPTION_INTEGER || option->kind == SS_OPTION_REAL ||
                         option->kind == SS_OPTION_RANGE;
    if (bounded || option->kind == SS_OPTION_CHOICE) {
        printf(": %s", expectation(option).text);
    }
    const phrase value = default_of(option, field_of(option, settings));
    if (option->required) {
        printf(" (required)");
    } else if (value.text[0] != '\0') {
        printf(" (%s)", value.text);
    }
    printf("\n");
}

static void print_help(const ss_command *command, void *settings)
{
    const bool operands = command->operands[0] != '\0';
    printf("stickslip %s%s%s [options]\n\n%s\n", command->verb, operands ? " " : "",
           command->operands, command->summary);
    if (command->text[0] != '\0') {
        printf("\n%s", command->text);
    }
    printf("\nOptions\n");
    for (const ss_option *option = command->options; option->name != NULL; option++) {
        print_option(option, settings);
    }
    printf("  %-*s this text\n", HELP_COLUMN, "--help");
    printf("\nExample\n%s\nExit codes\n%s", command->example, command->exits);
}

static const ss_option *find_option(const ss_command *command, const char *name, size_t length)
{
    for (const ss_option *option = command->options; option->name != NULL; option++) {
        if (strlen(option->name) == length && strncmp(option->name, name, length) == 0) {
            return option;
        }
    }
    return NULL;
}

static void complain_unknown(const ss_command *command, const char *argument)
{
    char word[64];
    snprintf(word, sizeof word, "%s", argument + strspn(argument, "-"));
    word[strcspn(word, "=")] = '\0';
    ss_suggestion nearest = {.word = word};
    ss_suggestion_offer(&nearest, "help");
    for (const ss_option *option = command->options; option->name != NULL; option++) {
        ss_suggestion_offer(&nearest, option->name);
    }
    if (nearest.best != NULL) {
        ss_complain(command->verb, "unknown option '%s'; did you mean '--%s'?", argument,
                    nearest.best);
    } else {
        ss_complain(command->verb,
                    "unknown option '%s'; 'stickslip %s --help' lists those there are", argument,
                    command->verb);
    }
}

// The option at argv[*k] and its value, which may be the argument after it.
static bool read_option(const ss_command *command, void *settings, int argc, char **argv, int *k,
                        bool *seen)
{
    const char *argument = argv[*k];
    const bool dashed = argument[1] == '-';
    const size_t length = dashed ? strcspn(argument + 2, "=") : 0;
    const ss_option *option = dashed ? find_option(command, argument + 2, length) : NULL;
    if (option == NULL) {
        complain_unknown(command, argument);
        return false;
    }
    const char *value = argument[2 + length] == '=' ? argument + 2 + length + 1 : NULL;
    if (option->kind == SS_OPTION_FLAG && value != NULL) {
        ss_complain(command->verb, "--%s takes no value, not '%s'", option->name, value);
        return false;
    }
    if (option->kind != SS_OPTION_FLAG && value == NULL) {
        if (*k + 1 >= argc || strncmp(argv[*k + 1], "--", 2) == 0) {
            ss_complain(command->verb, "--%s needs a value: %s", option->name,
                        expectation(option).text);
            return false;
        }
        value = argv[++*k];
    }
    if (!set_value(option, value, field_of(option, settings))) {
        ss_complain(command->verb, "--%s takes %s, not '%s'", option->name,
                    expectation(option).text, value);
        return false;
    }
    assert(option - command->options < MOST_OPTIONS);
    seen[option - command->options] = true;
    return true;
}

static bool complete(const ss_command *command, const ss_operands *operands, const bool *seen)
{
    if (operands->count < command->min_operands) {
        ss_complain(command->verb, "%s needs %s", command->verb, command->needs);
        return false;
    }
    if (operands->count > command->max_operands) {
        ss_complain(command->verb, "%s takes %s%s, and '%s' is one too many", command->verb,
                    command->max_operands > 0 ? "only " : "no operand",
                    command->max_operands > 0 ? command->operands : "",
                    operands->text[command->max_operands]);
        return false;
    }
    for (int k = 0; command->options[k].name != NULL; k++) {
        if (command->options[k].required && !seen[k]) {
            ss_complain(command->verb, "%s needs --%s %s", command->verb, command->options[k].name,
                        command->options[k].metavar);
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

bool ss_options_parse(const ss_command *command, void *settings, int argc, char **argv,
                      ss_operands *operands, int *exit_code)
{
    bool seen[MOST_OPTIONS] = {false};
    bool options_ended = false;
    *operands = (ss_operands){.text = argv + 1};
    *exit_code = SS_EXIT_USAGE;
    if (asks_for_help(argc, argv)) {
        print_help(command, settings);
        *exit_code = SS_EXIT_OK;
        return false;
    }
    for (int k = 1; k < argc; k++) {
        if (options_ended || argv[k][0] != '-' || argv[k][1] == '\0') {
            operands->text[operands->count++] = argv[k];
        } else if (strcmp(argv[k], "--") == 0) {
            options_ended = true;
        } else if (!read_option(command, settings, argc, argv, &k, seen)) {
            return false;
        }
    }
    return complete(command, operands, seen);
}
