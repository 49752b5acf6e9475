// stickslip merge: the rows of several records in one.
#include <limits.h>
#include <stdlib.h>

#include "harness/cli.h"
#include "harness/record/record.h"

static const char VERB[] = "merge";

typedef struct settings {
    const char *out;
} settings;

static const ss_option OPTIONS[] = {
    SS_OPT_PATH("out", "RECORD", out, "the record that gets all rows; its own are kept",
                .required = true),
    {.name = NULL},
};

// 3 if one of them could not be read; the others are merged.
static int tell(const char *out, int count, const ss_error *told)
{
    int code = SS_EXIT_OK, merged = 0;
    for (int k = 0; k < count; k++) {
        if (told[k].status != SS_OK) {
            ss_complain(VERB, "%s", told[k].text);
            code = ss_larger_code(code, (int)told[k].status);
        } else {
            merged++;
        }
    }
    if (merged > 0) {
        ss_complain(VERB, "wrote %s: the rows of %d record%s", out, merged, ss_plural(merged));
    }
    return code;
}

static int run_merge(const void *given, const ss_operands *records)
{
    const settings *s = given;
    ss_error error;
    ss_error *told = calloc((size_t)records->count, sizeof *told);
    if (told == NULL) {
        ss_complain(VERB, "not enough memory for the list of records");
        return SS_EXIT_SYSTEM;
    }
    const char *remark;
    const ss_status status =
        ss_record_merge(s->out, records->count, records->text, told, &remark, &error);
    int code = (int)status;
    if (remark != NULL) {
        ss_complain(VERB, "%s: %s", s->out, remark);
    }
    if (status != SS_OK) {
        ss_complain(VERB, "%s", error.text);
    } else {
        code = tell(s->out, records->count, told);
    }
    free(told);
    return code;
}

const ss_verb ss_verb_merge = {
    .name = VERB,
    .summary = "Puts the rows of several records into one.",
    .operands = "RECORD...",
    .min_operands = 1,
    .max_operands = INT_MAX,
    .needs = "a RECORD",
    .options = OPTIONS,
    .settings_size = sizeof(settings),
    .text =
        "Of two rows with the same key (problem, solver, tolerance, start and build) the one that "
        "says more is kept: one that hit no limit, else the one with the larger limit (if the "
        "limits are different ones, more iterations), else that of the record that comes first. "
        "Rows are sorted by problem, solver in the order of first "
        "appearance, tolerance and start.\n"
        "The rows of OUT itself are kept as those of the first record. A record that cannot be "
        "read is reported; the others are merged. All is written, or nothing.\n",
    .example = "  stickslip merge monday.db tuesday.db --out week.db\n",
    .exits = {[SS_EXIT_OK] = "all records are merged",
              [SS_EXIT_BAD_INPUT] = "a record could not be read"},
    .run = run_merge,
};
