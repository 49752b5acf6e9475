// stickslip check: what is wrong with a file, a sentence per finding.
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "harness/cli.h"
#include "harness/run.h"

static const char VERB[] = "check";

static const ss_column COLUMNS[] = {
    {.key = "problem", .kind = SS_COLUMN_TEXT},
    {.key = "verdict", .kind = SS_COLUMN_TEXT},
    {.key = "text", .kind = SS_COLUMN_TEXT},
    {.key = NULL},
};

typedef struct tally {
    ss_table *rows;
    int nproblems, ndefective;
} tally;

static void add_row(tally *t, const char *label, const char *verdict, const char *text)
{
    ss_table_text(t->rows, label);
    ss_table_text(t->rows, verdict);
    ss_table_text(t->rows, text);
}

// Errors name their file, which the first column does already.
static const char *without_label(const char *text, const char *label)
{
    const size_t length = strlen(label);
    const bool named = strncmp(text, label, length) == 0 && strncmp(text + length, ": ", 2) == 0;
    return named ? text + length + 2 : text;
}

static int check(tally *t, const ss_item *item)
{
    const ss_report *report = item->report;
    if (item->problem == NULL && item->error->status == SS_SYSTEM) {
        return ss_item_complain(VERB, item);
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

static int run_check(const void *settings, const ss_operands *files)
{
    const ss_table_settings *s = settings;
    int code;
    tally t = {.rows = ss_table_begin(&ss_verb_check, &s->style, COLUMNS, &code)};
    if (t.rows == NULL) {
        return code;
    }
    ss_items it = ss_items_of(VERB, files->count, files->text, NULL);
    for (ss_item item; ss_items_next(&it, &item);) {
        code = ss_larger_code(code, check(&t, &item));
    }
    code = ss_larger_code(code, ss_items_end(&it));
    code = ss_table_end(&ss_verb_check, t.rows, code);
    if (t.ndefective > 0) {
        ss_complain(VERB, "%d of %d problem%s ha%s defects", t.ndefective, t.nproblems,
                    ss_plural(t.nproblems), t.ndefective == 1 ? "s" : "ve");
    }
    return code;
}

const ss_verb ss_verb_check = {
    .name = VERB,
    .summary = "Lists what is wrong with each problem of each file, a row per finding.",
    .operands = "FILE...",
    .min_operands = 1,
    .max_operands = INT_MAX,
    .needs = "at least one FILE",
    .options = ss_table_options,
    .settings_size = sizeof(ss_table_settings),
    .text = "verdict is ok for a problem without findings, remark for what a reader should know, "
            "and defect for what makes the problem or the whole file unusable.\n",
    .example = "  stickslip check hair.h5\n",
    .exits = {[SS_EXIT_OK] = "no defects", [SS_EXIT_BAD_INPUT] = "defects"},
    .run = run_check,
};
