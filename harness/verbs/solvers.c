// stickslip solvers: what the registry holds.
#include <stddef.h>

#include "harness/complain.h"
#include "harness/options.h"
#include "harness/rows.h"
#include "harness/verbs.h"
#include "solvers/registry.h"

static const ss_command COMMAND = {
    .verb = "solvers",
    .operands = "",
    .summary = "Lists the solvers, a row each.",
    .text = "Columns: name; kind, local (one contact) or global (a whole problem); law, exact\n"
            "(Coulomb's) or approximate; reference, a key of REFERENCES.md; options, what a\n"
            "solver spec may set.\n",
    .example = "  stickslip solvers --format csv\n",
    .exits = "  0 done, 1 the command line is wrong, 4 the machine is at fault\n",
    .options = ss_format_options,
};

static const ss_column COLUMNS[] = {
    {"name", SS_TEXT},      {"kind", SS_TEXT},    {"law", SS_TEXT},
    {"reference", SS_TEXT}, {"options", SS_TEXT}, {.name = NULL},
};

static void add_row(ss_rows *rows, const ss_card *card, const char *kind)
{
    char options[400];
    ss_card_options(card, options, sizeof options);
    ss_rows_text(rows, card->name);
    ss_rows_text(rows, kind);
    ss_rows_text(rows, card->law == SS_EXACT ? "exact" : "approximate");
    ss_rows_text(rows, card->reference);
    ss_rows_text(rows, options);
}

int ss_cmd_solvers(int argc, char **argv)
{
    ss_format_settings s = {.format = SS_FORMAT_TEXT};
    ss_operands operands;
    int code;
    if (!ss_options_parse(&COMMAND, &s, argc, argv, &operands, &code)) {
        return code;
    }
    ss_rows *rows = ss_rows_new(stdout, (ss_format)s.format, COLUMNS);
    for (int k = 0; rows != NULL && ss_local_solvers[k] != NULL; k++) {
        add_row(rows, &ss_local_solvers[k]->card, "local");
    }
    for (int k = 0; rows != NULL && ss_global_solvers[k] != NULL; k++) {
        add_row(rows, &ss_global_solvers[k]->card, "global");
    }
    if (ss_rows_finish(rows) != SS_OK) {
        ss_complain("solvers", "not enough memory for the table");
        return SS_EXIT_SYSTEM;
    }
    return SS_EXIT_OK;
}
