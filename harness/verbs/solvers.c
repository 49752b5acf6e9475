// stickslip solvers: the registry as a table, or one solver explained.
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "harness/cli.h"
#include "solvers/registry.h"

static const char VERB[] = "solvers";

static const ss_column COLUMNS[] = {
    {.key = "name", .kind = SS_COLUMN_TEXT},    {.key = "kind", .kind = SS_COLUMN_TEXT},
    {.key = "law", .kind = SS_COLUMN_TEXT},     {.key = "reference", .kind = SS_COLUMN_TEXT},
    {.key = "options", .kind = SS_COLUMN_TEXT}, {.key = NULL},
};

static const char *law_of(const ss_card *card)
{
    return card->law == SS_EXACT ? "exact" : "approximate";
}

static void add_row(ss_table *rows, const ss_card *card, const char *kind)
{
    char options[600];
    ss_card_options(card, options, sizeof options);
    ss_table_text(rows, card->name);
    ss_table_text(rows, kind);
    ss_table_text(rows, law_of(card));
    ss_table_text(rows, card->reference);
    ss_table_text(rows, options);
}

// ---- One solver

static const ss_column KEY_COLUMNS[] = {
    {.key = "option", .kind = SS_COLUMN_TEXT},
    {.key = "default", .kind = SS_COLUMN_TEXT},
    {.key = "meaning", .kind = SS_COLUMN_TEXT},
    {.key = NULL},
};

static void print_card(const ss_card *card, const char *kind)
{
    printf("%s: %s solver, %s law, %s (REFERENCES.md)\n\n", card->name, kind,
           card->law == SS_EXACT ? "Coulomb's" : "another", card->reference);
    ss_print_words(stdout, card->about, 0, 0);
    if (card->printed != NULL) {
        printf("\n\nas=printed, the experiment of [D11], sets\n%s.", card->printed);
    }
    printf("\n%s\n", card->keys != NULL ? "" : "\nIt has no options.");
}

static void add_key(ss_table *rows, const ss_card *card, const ss_key *key)
{
    char values[300], value[80];
    ss_key_describe(key, values, sizeof values);
    ss_key_value(key, card->defaults, value, sizeof value);
    ss_table_text(rows, values);
    ss_table_text(rows, value);
    ss_table_text(rows, key->about);
}

// For people the sentences and the options, for programs the options.
static int explain(const ss_card *card, const char *kind, const ss_table_style *style)
{
    int code;
    if (style->format == SS_FORMAT_TEXT) {
        print_card(card, kind);
        if (card->keys == NULL) {
            return SS_EXIT_OK;
        }
    }
    ss_table *rows = ss_table_begin(&ss_verb_solvers, style, KEY_COLUMNS, &code);
    for (const ss_key *key = card->keys; rows != NULL && key != NULL && key->name != NULL; key++) {
        add_key(rows, card, key);
    }
    return rows != NULL ? ss_table_end(&ss_verb_solvers, rows, code) : code;
}

static int refuse_name(const char *name)
{
    ss_suggestion near = {.word = name};
    for (int k = 0; ss_local_solvers[k] != NULL; k++) {
        ss_suggestion_offer(&near, ss_local_solvers[k]->card.name);
    }
    for (int k = 0; ss_global_solvers[k] != NULL; k++) {
        ss_suggestion_offer(&near, ss_global_solvers[k]->card.name);
    }
    ss_complain(VERB, "there is no solver '%s'%s", name,
                ss_suggestion_hint(&near, "", "; 'stickslip solvers' lists them").text);
    return SS_EXIT_USAGE;
}

static int run_solvers(const void *settings, const ss_operands *names)
{
    const ss_table_settings *s = settings;
    int code;
    if (names->count == 1) {
        const ss_local_solver *local = ss_local_find(names->text[0]);
        const ss_global_solver *global = ss_global_find(names->text[0]);
        return local != NULL    ? explain(&local->card, "local", &s->style)
               : global != NULL ? explain(&global->card, "global", &s->style)
                                : refuse_name(names->text[0]);
    }
    ss_table *rows = ss_table_begin(&ss_verb_solvers, &s->style, COLUMNS, &code);
    for (int k = 0; rows != NULL && ss_local_solvers[k] != NULL; k++) {
        add_row(rows, &ss_local_solvers[k]->card, "local");
    }
    for (int k = 0; rows != NULL && ss_global_solvers[k] != NULL; k++) {
        add_row(rows, &ss_global_solvers[k]->card, "global");
    }
    return rows != NULL ? ss_table_end(&ss_verb_solvers, rows, code) : code;
}

const ss_verb ss_verb_solvers = {
    .name = VERB,
    .summary = "Lists the solvers, a row each, or explains one.",
    .operands = "[NAME]",
    .max_operands = 1,
    .options = ss_table_options,
    .settings_size = sizeof(ss_table_settings),
    .text = "Columns: name; kind, local (one contact) or global (a whole problem); law, exact "
            "(Coulomb's) or approximate; reference, a key of REFERENCES.md; options, which a "
            "solver spec may set.\n"
            "With NAME: what the solver does, and its options with their defaults.\n",
    .example = "  stickslip solvers --format csv\n"
               "  stickslip solvers ppa\n",
    .run = run_solvers,
};
