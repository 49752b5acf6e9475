// harness/options.h -- the command line of one verb: a table of options, read and explained.
//
// `--name value` and `--name=value`; `--` ends the options; options and operands may be mixed; of
// an option given twice the last counts. Whatever is wrong is said in a sentence that names the
// option, the value and what it takes.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef enum ss_option_kind {
    SS_OPTION_FLAG,    // bool
    SS_OPTION_TEXT,    // const char *, not empty
    SS_OPTION_INTEGER, // int, low .. high
    SS_OPTION_SEED,    // uint64_t
    SS_OPTION_REAL,    // double, low .. high
    SS_OPTION_RANGE,   // double[2], A:B with low <= A <= B <= high
    SS_OPTION_CHOICE,  // int, the place in choices
} ss_option_kind;

typedef struct ss_option {
    const char *name;    // without dashes; NULL ends a table
    const char *metavar; // its value as the help names it; NULL for a flag
    const char *help;
    ss_option_kind kind;
    size_t place; // offsetof its field in the verb's settings, which hold the default
    bool required;
    double low, high;           // of integers, reals and ranges
    const char *const *choices; // NULL-terminated
} ss_option;

typedef struct ss_command {
    const char *verb;     // "generate tangle"
    const char *operands; // "FILE..." as the help shows it; "" for none
    const char *summary;  // one sentence
    const char *text;     // paragraphs, each line ended
    const char *example;  // lines, each ended
    const char *exits;    // lines, each ended
    const ss_option *options;
    int min_operands, max_operands;
    const char *needs; // what "VERB needs" where operands lack
} ss_command;

typedef struct ss_operands {
    int count;
    char **text; // borrowed from argv, whose order this changes
} ss_operands;

// The table of a verb with --format alone (harness/rows.h), and its settings.
typedef struct ss_format_settings {
    int format; // an ss_format
} ss_format_settings;
extern const ss_option ss_format_options[];

// argv[0] is passed over. True: the settings are filled. False: *exit_code is the verb's result,
// 0 after --help, 1 after a mistake.
bool ss_options_parse(const ss_command *command, void *settings, int argc, char **argv,
                      ss_operands *operands, int *exit_code);
