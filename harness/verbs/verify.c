// stickslip verify: the judge alone, on the answers stored in files.
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "harness/cli.h"
#include "harness/run.h"

// Tolerance for an answer that states none, or one that --tol would not take.
#define DEFAULT_TOLERANCE 1e-6
#define LARGEST_TOLERANCE 1

typedef struct settings {
    const char *problem;
    double tolerance; // NaN: the claim's
    ss_table_style style;
} settings;

static const ss_option OPTIONS[] = {
    SS_OPT_PROBLEM,
    SS_OPT_TOLERANCE,
    SS_OPT_TABLE,
    {.name = NULL},
};

static const settings DEFAULTS = {.tolerance = NAN};

static const char VERB[] = "verify";

typedef struct row {
    const char *problem;
    int contacts;
    const char *solver;
    double tol;
    const char *status;
    ss_measures measures;
    double velocity_error, claimed_fb;
    const char *detail;
} row;

static const ss_field FIELDS[] = {
    SS_FIELD(row, problem, SS_FIELD_LINK, .unit = NULL),
    SS_FIELD(row, contacts, SS_FIELD_INTEGER, .unit = "1", .rank = SS_RANK_USEFUL),
    SS_FIELD(row, solver, SS_FIELD_LINK, .unit = NULL),
    SS_FIELD(row, tol, SS_FIELD_REAL, .unit = "1", .rank = SS_RANK_USEFUL),
    SS_FIELD(row, status, SS_FIELD_LINK, .unit = NULL),
    SS_FIELD(row, measures, SS_FIELD_PART, .part = ss_measure_fields,
             .groups = SS_MEASURES_IN_FULL),
    SS_FIELD(row, velocity_error, SS_FIELD_REAL, .unit = "1", .rank = SS_RANK_FURTHER),
    SS_FIELD(row, claimed_fb, SS_FIELD_REAL, .unit = "1", .rank = SS_RANK_FURTHER),
    SS_FIELD(row, detail, SS_FIELD_LINK, .unit = NULL, .rank = SS_RANK_WHY),
    {.name = NULL},
};

typedef struct verification {
    ss_table *rows;
    double tolerance; // NaN: the claim's
    int count, solved;
} verification;

static double tolerance_for(const ss_claim *claim, double asked)
{
    if (!isnan(asked)) {
        return asked;
    }
    const bool sensible = claim->tolerance >= 0.0 && claim->tolerance <= LARGEST_TOLERANCE;
    return sensible ? claim->tolerance : DEFAULT_TOLERANCE;
}

static void add_row(ss_table *rows, const ss_item *item, const ss_verdict *verdict)
{
    const ss_claim *claim = &item->problem->claim;
    const row facts = {
        .problem = item->label,
        .contacts = item->problem->ncontacts,
        .solver = claim->solver,
        .tol = verdict->tolerance,
        .status = verdict->solved ? "solved" : "stopped",
        .measures = verdict->measures,
        .velocity_error = verdict->velocity_error,
        .claimed_fb = claim->measures.fb,
        .detail = verdict->detail,
    };
    ss_table_row(rows, &facts);
}

// Other programs may store fb alone.
static double claimed_error(const ss_measures *claim)
{
    return isnan(claim->normal) ? claim->fb : ss_measures_error(claim);
}

static ss_status judge(const ss_problem *p, double asked, ss_verdict *verdict, ss_error *e)
{
    ss_response *response = NULL;
    ss_status status = ss_response_new(p, &response, e);
    double *u = calloc((size_t)p->dim * (size_t)p->ncontacts, sizeof *u);
    if (status == SS_OK && u == NULL) {
        status = ss_fail_memory(e, "the velocities");
    }
    if (status == SS_OK) {
        *verdict = ss_judge(response, &p->solution, claimed_error(&p->claim.measures),
                            tolerance_for(&p->claim, asked), u);
    }
    free(u);
    ss_response_free(response);
    return status;
}

static int verify(verification *all, const ss_item *item)
{
    const int code = ss_item_complain(VERB, item);
    if (code != SS_EXIT_OK) {
        return code;
    }
    if (!item->problem->has_solution || item->problem->solution.r == NULL) {
        ss_complain(VERB, "%s contains no answer that can be judged (/solution/r)", item->label);
        return SS_EXIT_BAD_INPUT;
    }
    ss_verdict verdict;
    ss_error error;
    const ss_status status = judge(item->problem, all->tolerance, &verdict, &error);
    if (status != SS_OK) {
        ss_complain(VERB, "%s: %s", item->label, error.text);
        return (int)status;
    }
    add_row(all->rows, item, &verdict);
    all->count++;
    all->solved += verdict.solved;
    return verdict.solved ? SS_EXIT_OK : SS_EXIT_UNSOLVED;
}

static int run_verify(const void *given, const ss_operands *files)
{
    const settings *s = given;
    int code;
    verification all = {.rows = ss_table_begin_fields(&ss_verb_verify, &s->style, FIELDS, &code),
                        .tolerance = s->tolerance};
    if (all.rows == NULL) {
        return code;
    }
    ss_items it = ss_items_of(VERB, files->count, files->text, s->problem);
    for (ss_item item; ss_items_next(&it, &item);) {
        code = ss_larger_code(code, verify(&all, &item));
    }
    code = ss_larger_code(code, ss_items_end(&it));
    ss_table_note_solved(all.rows, all.solved, all.count);
    return ss_table_end(&ss_verb_verify, all.rows, code);
}

const ss_verb ss_verb_verify = {
    .name = VERB,
    .summary = "Judges the answer stored in /solution of each problem.",
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .needs = "a FILE",
    .options = OPTIONS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .text =
        "The velocities are computed afresh from the impulses, then measured. status is solved "
        "if max(fb, normal/2) <= tol. Without --tol the tolerance is the one stored with the "
        "answer if --tol "
        "would take it, and 1e-6 otherwise. velocity_error is max|u stored - u computed| over "
        "the problem's velocity scale; claimed_fb is the fb stored with the answer; detail says "
        "what else matters.\n",
    .example = "  stickslip verify answer.h5 --tol 1e-8\n",
    .exits = {[SS_EXIT_OK] = "all solved",
              [SS_EXIT_UNSOLVED] = "an answer is not within its tolerance",
              [SS_EXIT_BAD_INPUT] = "a file is unusable or contains no answer"},
    .run = run_verify,
};
