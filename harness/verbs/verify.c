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

static const ss_column COLUMNS[] = {
    {"problem", SS_TEXT},    {"contacts", SS_INTEGER}, {"solver", SS_TEXT},
    {"tol", SS_REAL},        {"status", SS_TEXT},      {"fb", SS_REAL},
    {"fb_contact", SS_REAL}, {"fb_abs", SS_REAL},      {"natural", SS_REAL},
    {"normal", SS_REAL},     {"penetration", SS_REAL}, {"cone_excess", SS_REAL},
    {"slip_angle", SS_REAL}, {"power", SS_REAL},       {"velocity_error", SS_REAL},
    {"claimed_fb", SS_REAL}, {"detail", SS_TEXT},      {.name = NULL},
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
    const ss_measures *m = &verdict->measures;
    const double facts[] = {m->fb,     m->fb_contact,           m->fb_abs,         m->natural,
                            m->normal, m->penetration,          m->cone_excess,    m->slip_angle,
                            m->power,  verdict->velocity_error, claim->measures.fb};
    ss_rows_text(rows, item->label);
    ss_rows_integer(rows, item->problem->ncontacts);
    ss_rows_text(rows, claim->solver);
    ss_rows_real(rows, verdict->tolerance);
    ss_rows_text(rows, verdict->solved ? "solved" : "stopped");
    for (size_t k = 0; k < sizeof facts / sizeof facts[0]; k++) {
        ss_rows_real(rows, facts[k]);
    }
    ss_rows_text(rows, verdict->detail);
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
    verification all = {ss_rows_new(stdout, (ss_format)s.format, COLUMNS), s.tolerance};
    if (all.rows != NULL) {
        code = ss_walk(COMMAND.verb, operands.text[0], s.problem, verify, &all);
    }
    if (ss_rows_finish(all.rows) != SS_OK) {
        ss_complain(COMMAND.verb, "not enough memory for the table");
        return SS_EXIT_SYSTEM;
    }
    return code;
}
