// harness/cli.h -- the program as a function: its verbs, and how the command line of one is read.
//
// A verb is a table. Options are `--name value` or `--name=value`; `--` ends them; they may be
// mixed with operands; the last of a repeated option counts. Each mistake is a sentence that
// names the option, the value, and what the option takes.
#pragma once

#include "harness/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>

// The largest that applies is the program's. 3 and 4 are the values of ss_status.
enum {
    SS_EXIT_OK = 0,
    SS_EXIT_USAGE = 1,
    SS_EXIT_UNSOLVED = 2, // an answer is not within its tolerance
    SS_EXIT_BAD_INPUT = 3,
    SS_EXIT_SYSTEM = 4,
    SS_EXIT_CODES
};

// Runs the program as main does and returns its exit code. May reorder argv.
int ss_main(int argc, char **argv);

int ss_larger_code(int a, int b);

// SS_EXIT_SYSTEM, with a sentence, if the program was compiled for another processor.
int ss_check_processor(const char *verb);

// ---- Options

typedef enum ss_option_kind {
    SS_OPTION_FLAG,    // bool
    SS_OPTION_TEXT,    // const char *, not empty
    SS_OPTION_PATH,    // the same, and not "-", which other programs take for stdout
    SS_OPTION_INTEGER, // int, low .. high
    SS_OPTION_SEED,    // uint64_t
    SS_OPTION_REAL,    // double, low .. high
    SS_OPTION_RANGE,   // double[2], A:B with low <= A <= B <= high
    SS_OPTION_CHOICE,  // int, the place in choices
    SS_OPTION_OPERAND, // nothing: its value is one more operand
} ss_option_kind;

typedef struct ss_option {
    const char *name;    // without dashes; NULL ends a table
    const char *metavar; // its value as the help names it; NULL for a flag
    ss_option_kind kind;
    size_t place;               // offsetof its field in the verb's settings, which hold the default
    double low, high;           // of integers, reals and ranges
    const char *const *choices; // the first; after the last comes a NULL
    size_t stride;              // bytes from one to the next: names may stand in a registry
    const char *help;
    bool required;
} ss_option;

// An option in a line, in a file where `settings` is the type of the verb's settings. The last
// argument is the help; `.required = true` may follow it. A field of another type does not compile.
#define SS_OPT_PLACE(field, type)                                                                  \
    offsetof(settings, field) + _Generic(((settings *)0)->field, type : 0)
#define SS_OPT_FLAG(word, field, ...)                                                              \
    {                                                                                              \
        .name = word, .kind = SS_OPTION_FLAG, .place = SS_OPT_PLACE(field, bool),                  \
        .help = __VA_ARGS__                                                                        \
    }
#define SS_OPT_TEXT(word, value, field, ...)                                                       \
    {                                                                                              \
        .name = word, .metavar = value, .kind = SS_OPTION_TEXT,                                    \
        .place = SS_OPT_PLACE(field, const char *), .help = __VA_ARGS__                            \
    }
#define SS_OPT_PATH(word, value, field, ...)                                                       \
    {                                                                                              \
        .name = word, .metavar = value, .kind = SS_OPTION_PATH,                                    \
        .place = SS_OPT_PLACE(field, const char *), .help = __VA_ARGS__                            \
    }
#define SS_OPT_INT(word, value, field, from, to, ...)                                              \
    {                                                                                              \
        .name = word, .metavar = value, .kind = SS_OPTION_INTEGER,                                 \
        .place = SS_OPT_PLACE(field, int), .low = from, .high = to, .help = __VA_ARGS__            \
    }
#define SS_OPT_SEED(word, value, field, ...)                                                       \
    {                                                                                              \
        .name = word, .metavar = value, .kind = SS_OPTION_SEED,                                    \
        .place = SS_OPT_PLACE(field, uint64_t), .help = __VA_ARGS__                                \
    }
#define SS_OPT_REAL(word, value, field, from, to, ...)                                             \
    {                                                                                              \
        .name = word, .metavar = value, .kind = SS_OPTION_REAL,                                    \
        .place = SS_OPT_PLACE(field, double), .low = from, .high = to, .help = __VA_ARGS__         \
    }
#define SS_OPT_RANGE(word, value, field, from, to, ...)                                            \
    {                                                                                              \
        .name = word, .metavar = value, .kind = SS_OPTION_RANGE,                                   \
        .place = SS_OPT_PLACE(field, double *), .low = from, .high = to, .help = __VA_ARGS__       \
    }
#define SS_OPT_CHOICE(word, value, field, list, ...)                                               \
    {                                                                                              \
        .name = word, .metavar = value, .kind = SS_OPTION_CHOICE,                                  \
        .place = SS_OPT_PLACE(field, int), .choices = list, .stride = sizeof(const char *),        \
        .help = __VA_ARGS__                                                                        \
    }
#define SS_OPT_OPERAND(word, value, ...)                                                           \
    {                                                                                              \
        .name = word, .metavar = value, .kind = SS_OPTION_OPERAND, .help = __VA_ARGS__             \
    }
// The choices are the names of a registry, an array of structs with a name.
#define SS_OPT_KIND(word, value, field, registry, ...)                                             \
    {                                                                                              \
        .name = word, .metavar = value, .kind = SS_OPTION_CHOICE,                                  \
        .place = SS_OPT_PLACE(field, int), .choices = &(registry)[0].name,                         \
        .stride = sizeof(registry)[0], .help = __VA_ARGS__                                         \
    }
// The options of a verb that prints a table, whose settings hold an ss_table_style `style`.
#define SS_OPT_TABLE                                                                               \
    SS_OPT_CHOICE("format", "FORMAT", style.format, ss_format_names, "how the table is printed"),  \
        SS_OPT_TEXT("columns", "LIST", style.columns,                                              \
                    "its columns: names with commas, or all (default all, or on a terminal those " \
                    "that fit)")

// The settings and the table of a verb with these alone.
typedef struct ss_table_settings {
    ss_table_style style;
} ss_table_settings;
extern const ss_option ss_table_options[];

// ---- Verbs

typedef struct ss_operands {
    int count;
    char **text; // borrowed from argv, whose order this changes
} ss_operands;

typedef struct ss_verb ss_verb;

struct ss_verb {
    const char *name;         // "solve", "generate tangle"
    const char *summary;      // a sentence; NULL: in no list
    const char *operands;     // "FILE..." as the help shows it; NULL for none
    int min_operands;         // 0 .. max_operands
    int max_operands;         //
    const char *needs;        // what "VERB needs" if there are fewer than min_operands
    const ss_option *options; // [..] up to one without a name
    const void *defaults;     // the settings before options are read; NULL: zeros
    size_t settings_size;     //
    const char *text;         // paragraphs, each ended by \n; the help breaks their lines
    const char *example;      // lines, each ended
    const char
        *exits[SS_EXIT_CODES]; // by code; NULL for 2, 3: never returned; for others: as usual
    int (*run)(const void *settings, const ss_operands *operands); // returns an exit code
    const ss_verb *const *kinds; // where a second word chooses: [..] up to NULL; run is NULL
    const char *kind;            // what that word is called: "verb", "kind"
};

extern const ss_verb ss_verb_solvers, ss_verb_scenes, ss_verb_simulate, ss_verb_generate,
    ss_verb_generate_locals, ss_verb_inspect, ss_verb_check, ss_verb_convert, ss_verb_solve,
    ss_verb_verify, ss_verb_bench, ss_verb_merge, ss_verb_run_one, ss_verb_table, ss_verb_plot,
    ss_verb_report;
// The help of a verb; settings hold the defaults, and may be NULL if there are no options. Words of
// the text from column `column` on, where the line stands already, up to column 80; further lines
// begin at `indent`. A \n ends a paragraph; a blank line is between two.
void ss_print_words(FILE *out, const char *text, int column, int indent);

// A table on stdout as the user wants it, with the columns of a list or of a table of fields; NULL
// after a sentence, and *code is the result of the verb.
ss_table *ss_table_begin(const ss_verb *verb, const ss_table_style *style, const ss_column *columns,
                         int *code);
ss_table *ss_table_begin_fields(const ss_verb *verb, const ss_table_style *style,
                                const ss_field *fields, int *code);
// "3 of 10 solved." below a table for people, if there are several.
void ss_table_note_solved(ss_table *table, int solved, int count);
// Prints what the rows hold back, and frees them; the larger of `code` and what comes of that.
int ss_table_end(const ss_verb *verb, ss_table *table, int code);

// ---- complain

// sentences for people, on stderr.

// "stickslip VERB: sentence", or "stickslip: sentence" where verb is "", printed as
// SS_PLAIN (harness/quote.h): names in it may be hostile.
void ss_complain(const char *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

// "s" for every count but one: "1 row", "0 rows".
static inline const char *ss_plural(double count)
{
    return count == 1.0 ? "" : "s";
}

// The candidate nearest to a mistyped word. Start with {.word = word}; best is NULL while nothing
// near enough was offered.
typedef struct ss_suggestion {
    const char *word;
    const char *best;
    int distance; // of best
} ss_suggestion;

void ss_suggestion_offer(ss_suggestion *s, const char *candidate);

typedef struct ss_hint {
    char text[400];
} ss_hint;

// "; did you mean 'inspect'?" with `dashes` before the word, or `otherwise` if nothing is near.
ss_hint ss_suggestion_hint(const ss_suggestion *s, const char *dashes, const char *otherwise);

// ---- interrupt

// Ctrl-C ends a long verb at the next place where nothing is lost.

// Set by the first SIGINT, SIGTERM or SIGHUP after ss_interrupt_catch. A handler has no other way
// to tell: the only state of the program that is not in a parameter.
extern volatile sig_atomic_t ss_interrupted;

// A second signal ends the program. What nohup or a shell script has set to be ignored stays so.
void ss_interrupt_catch(void);

// ---- For tests

// argv[0] is passed over. True: the settings, which hold the defaults before, are filled. False:
// *exit_code is the verb's result, 0 after --help, 1 after a mistake.
bool ss_options_parse(const ss_verb *verb, void *settings, int argc, char **argv,
                      ss_operands *operands, int *exit_code);
