// stickslip verify: the judge alone, on the answers that files hold.
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "harness/complain.h"
#include "harness/judge.h"
#include "harness/options.h"
#include "harness/rows.h"
#include "harness/verbs.h"
#include "harness/walk.h"
#include "harness/run.h"

// Of an answer that states none, or one that --tol would not take.
#define DEFAULT_TOLERANCE 1e-6
#define LARGEST_TOLERANCE 1

typedef struct settings {
    const char *problem;
    double tolerance; // NaN: the claim's
    int format;
} settings;

static const ss_option OPTIONS[] = {
    SS_OPTION_PROBLEM(settings),
    SS_OPTION_TOLERANCE(settings),
    SS_OPTION_FORMAT(settings),
    {.name = NULL},
};

static const ss_command COMMAND = {
    .verb = "verify",
    .operands = "FILE",
    .summary = "Judges the answer stored in /solution of each problem.",
    .text =
        "The velocities are computed afresh from the impulses, then measured. status is solved\n"
        "where fb <= tol. Without --tol the tolerance stated with the answer counts, if it is one\n"
        "that --tol takes, or else 1e-6.\n"
        "velocity_error is max|u stored - u computed| over the problem's velocity scale;\n"
        "claimed_fb is what was stated with the answer; detail says what else to know.\n",
    .example = "  stickslip verify answer.h5 --tol 1e-8\n",
    .exits = "  0 all solved, 1 the command line is wrong, 2 an answer is not within tolerance,\n"
             "  3 a file is wrong or holds no answer, 4 the machine is at fault\n",
    .options = OPTIONS,
    .min_operands = 1,
    .max_operands = 1,
    .needs = "a FILE",
};

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
    SS_FIELD(row, contacts, SS_FIELD_INTEGER, .unit = "1"),
    SS_FIELD(row, solver, SS_FIELD_LINK, .unit = NULL),
    SS_FIELD(row, tol, SS_FIELD_REAL, .unit = "1"),
    SS_FIELD(row, status, SS_FIELD_LINK, .unit = NULL),
    SS_FIELD(row, measures, SS_FIELD_PART, .part = ss_measure_fields,
             .groups = SS_MEASURES_IN_FULL),
    SS_FIELD(row, velocity_error, SS_FIELD_REAL, .unit = "1"),
    SS_FIELD(row, claimed_fb, SS_FIELD_REAL, .unit = "1"),
    SS_FIELD(row, detail, SS_FIELD_LINK, .unit = NULL),
    {.name = NULL},
};

typedef struct verification {
    ss_rows *rows;
    double tolerance; // NaN: the claim's
} verification;

static double tolerance_for(const ss_claim *claim, double asked)
{
    if (!isnan(asked)) {
        return asked;
    }
    const bool sensible = claim->tolerance >= 0.0 && claim->tolerance <= LARGEST_TOLERANCE;
    return sensible ? claim->tolerance : DEFAULT_TOLERANCE;
}

static void add_row(ss_rows *rows, const ss_item *item, const ss_verdict *verdict)
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
    ss_rows_struct(rows, &facts);
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
        *verdict = ss_judge(response, &p->solution, p->claim.measures.fb,
                            tolerance_for(&p->claim, asked), u);
    }
    free(u);
    ss_response_free(response);
    return status;
}

static int verify(const ss_item *item, void *context)
{
    verification *all = context;
    const int code = ss_item_complain(COMMAND.verb, item);
    if (code != SS_EXIT_OK) {
        return code;
    }
    if (!item->problem->has_solution || item->problem->solution.r == NULL) {
        ss_complain(COMMAND.verb, "%s holds no %s: there is no answer to judge", item->label,
                    item->problem->has_solution ? "/solution/r" : "/solution");
        return SS_EXIT_BAD_INPUT;
    }
    ss_verdict verdict;
    ss_error error;
    const ss_status status = judge(item->problem, all->tolerance, &verdict, &error);
    if (status != SS_OK) {
        ss_complain(COMMAND.verb, "%s: %s", item->label, error.text);
        return (int)status;
    }
    add_row(all->rows, item, &verdict);
    return verdict.solved ? SS_EXIT_OK : SS_EXIT_UNSOLVED;
}

int ss_cmd_verify(int argc, char **argv)
{
    settings s = {.tolerance = NAN, .format = SS_FORMAT_TEXT};
    ss_operands operands;
    int code;
    if (!ss_options_parse(&COMMAND, &s, argc, argv, &operands, &code)) {
        return code;
    }
    verification all = {ss_rows_of_fields(stdout, (ss_format)s.format, FIELDS), s.tolerance};
    if (all.rows != NULL) {
        code = ss_walk(COMMAND.verb, operands.text[0], s.problem, verify, &all);
    }
    if (ss_rows_finish(all.rows) != SS_OK) {
        ss_complain(COMMAND.verb, "not enough memory for the table");
        return SS_EXIT_SYSTEM;
    }
    return code;
}
