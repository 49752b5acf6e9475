// stickslip check: what is wrong with a file, a sentence a finding.
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "harness/complain.h"
#include "harness/options.h"
#include "harness/rows.h"
#include "harness/verbs.h"
#include "harness/walk.h"

static const ss_command COMMAND = {
    .verb = "check",
    .operands = "FILE...",
    .summary = "Says what is wrong with each problem of each file, a row a finding.",
    .text = "verdict is ok for a problem without findings, remark for what a reader should know,\n"
            "and defect for what makes the problem or the whole file unusable.\n",
    .example = "  stickslip check hair.h5\n",
    .exits = "  0 no defects, 1 the command line is wrong, 3 defects, 4 the machine is at fault\n",
    .options = ss_format_options,
    .min_operands = 1,
    .max_operands = INT_MAX,
    .needs = "at least one FILE",
};

static const ss_column COLUMNS[] = {
    {"problem", SS_TEXT},
    {"verdict", SS_TEXT},
    {"text", SS_TEXT},
    {.name = NULL},
};

typedef struct tally {
    ss_rows *rows;
    int nproblems, ndefective;
} tally;

static void add_row(tally *t, const char *label, const char *verdict, const char *text)
{
    ss_rows_text(t->rows, label);
    ss_rows_text(t->rows, verdict);
    ss_rows_text(t->rows, text);
}

// Errors name their file, which the first column does already.
static const char *without_label(const char *text, const char *label)
{
    const size_t length = strlen(label);
    const bool named = strncmp(text, label, length) == 0 && strncmp(text + length, ": ", 2) == 0;
    return named ? text + length + 2 : text;
}

static int check(const ss_item *item, void *context)
{
    tally *t = context;
    const ss_report *report = item->report;
    if (item->problem == NULL && item->error->status == SS_SYSTEM) {
        return ss_item_complain(COMMAND.verb, item);
    }
    t->nproblems++;
    for (int k = 0; k < report->count; k++) {
        const ss_finding *finding = &report->findings[k];
        add_row(t, item->label, finding->severity == SS_DEFECT ? "defect" : "remark",
                finding->text);
    }
    if (item->problem == NULL && report->ndefects == 0) {
        add_row(t, item->label, "defect", without_label(item->error->text, item->label));
    } else if (report->count == 0) {
        add_row(t, item->label, "ok", NULL);
    }
    t->ndefective += item->problem == NULL;
    return item->problem == NULL ? SS_EXIT_BAD_INPUT : SS_EXIT_OK;
}

int ss_cmd_check(int argc, char **argv)
{
    ss_format_settings s = {.format = SS_FORMAT_TEXT};
    ss_operands operands;
    int code;
    if (!ss_options_parse(&COMMAND, &s, argc, argv, &operands, &code)) {
        return code;
    }
    tally t = {.rows = ss_rows_new(stdout, (ss_format)s.format, COLUMNS)};
    code = SS_EXIT_OK;
    for (int k = 0; t.rows != NULL && k < operands.count; k++) {
        code = ss_larger_code(code, ss_walk(COMMAND.verb, operands.text[k], NULL, check, &t));
    }
    if (ss_rows_finish(t.rows) != SS_OK) {
        ss_complain(COMMAND.verb, "not enough memory for the table");
        return SS_EXIT_SYSTEM;
    }
    if (t.ndefective > 0) {
        ss_complain(COMMAND.verb, "%d of %d problem%s ha%s defects", t.ndefective, t.nproblems,
                    ss_plural(t.nproblems), t.ndefective == 1 ? "s" : "ve");
    }
    return code;
}
