// stickslip solvers: the registry as a table.
#include <stddef.h>

#include "harness/cli.h"
#include "harness/complain.h"
#include "solvers/registry.h"

static const char VERB[] = "solvers";

static const ss_column COLUMNS[] = {
    {.key = "name", .kind = SS_COLUMN_TEXT},    {.key = "kind", .kind = SS_COLUMN_TEXT},
    {.key = "law", .kind = SS_COLUMN_TEXT},     {.key = "reference", .kind = SS_COLUMN_TEXT},
    {.key = "options", .kind = SS_COLUMN_TEXT}, {.key = NULL},
};

static void add_row(ss_table *rows, const ss_card *card, const char *kind)
{
    char options[400];
    ss_card_options(card, options, sizeof options);
    ss_table_text(rows, card->name);
    ss_table_text(rows, kind);
    ss_table_text(rows, card->law == SS_EXACT ? "exact" : "approximate");
    ss_table_text(rows, card->reference);
    ss_table_text(rows, options);
}

static int run_solvers(const void *settings, const ss_operands *nothing)
{
    (void)nothing;
    const ss_table_settings *s = settings;
    int code;
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
    .summary = "Lists the solvers, a row each.",
    .options = ss_table_options,
    .settings_size = sizeof(ss_table_settings),
    .text = "Columns: name; kind, local (one contact) or global (a whole problem); law, exact "
            "(Coulomb's) or approximate; reference, a key of REFERENCES.md; options, which a "
            "solver spec may set.\n",
    .example = "  stickslip solvers --format csv\n",
    .run = run_solvers,
};
