#include "harness/run.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/team.h"
#include "harness/complain.h"
#include "problems/certificate.h"
#include "problems/matrix/mass.h"
#include "solvers/solve_in_child.h"

const char *const ss_start_names[] = {"zero", "guess", NULL};

// The judge's word where it is satisfied, else why the solver ended.
static const char *status_of(const ss_run *run)
{
    if (run->verdict.solved) {
        return "solved";
    }
    switch (run->result.outcome) {
    case SS_MAX_ITER:
    case SS_TIME_LIMIT:
    case SS_STALLED:
    case SS_INTERRUPTED:
    case SS_CRASHED:
        return ss_outcome_name(run->result.outcome);
    case SS_UNSOLVED:
    case SS_CONVERGED:
    case SS_STEPPED:
    case SS_NO_SOLUTION:
    case SS_NOT_COVERED:
        break;
    }
    return "stopped";
}

static bool met_a_limit(const ss_result *result)
{
    return result->outcome == SS_MAX_ITER || result->outcome == SS_TIME_LIMIT;
}

static void describe(const ss_task *task, ss_run *run)
{
    const double believed = run->result.own_error;
    const char *separator = run->verdict.detail[0] != '\0' ? "; " : "";
    snprintf(run->detail, sizeof run->detail, "%s", run->verdict.detail);
    if (run->result.outcome == SS_CRASHED) { // whatever the judge says of what it left behind
        snprintf(run->detail, sizeof run->detail, "%s%s%s", run->verdict.detail, separator,
                 run->result.why);
    } else if (!run->verdict.solved && believed <= task->tolerance) {
        snprintf(run->detail, sizeof run->detail,
                 "%s%sthe solver believes an error of %.3g, the judge finds %.3g",
                 run->verdict.detail, separator, believed,
                 ss_measures_error(&run->verdict.measures));
    } else if (!run->verdict.solved && run->result.unanswered > 0) {
        snprintf(run->detail, sizeof run->detail,
                 "%s%s%ld of the last local solves had no answer; fb is worst at contact %d",
                 run->verdict.detail, separator, run->result.unanswered,
                 run->verdict.measures.worst_contact);
    } else if (!run->verdict.solved && run->result.why[0] != '\0') {
        snprintf(run->detail, sizeof run->detail, "%s%s%s", run->verdict.detail, separator,
                 run->result.why);
    } else if (!run->verdict.solved && met_a_limit(&run->result)) {
        const bool automatic = strcmp(task->method->global->card.name, "auto") == 0;
        snprintf(run->detail, sizeof run->detail, "%s%sfb is worst at contact %d%s",
                 run->verdict.detail, separator, run->verdict.measures.worst_contact,
                 automatic ? "" : "; the solver auto may solve it");
    }
}

static bool allocate(const ss_problem *p, const double *start, ss_run *run)
{
    const size_t size = (size_t)p->dim * (size_t)p->ncontacts;
    run->answer.r = calloc(size, sizeof(double));
    run->answer.u = calloc(size, sizeof(double));
    if (p->form == SS_GLOBAL) {
        run->answer.v = calloc((size_t)p->ndofs, sizeof(double));
    }
    const bool ok = run->answer.r != NULL && run->answer.u != NULL &&
                    (p->form == SS_LOCAL || run->answer.v != NULL);
    if (ok && start != NULL) {
        memcpy(run->answer.r, start, size * sizeof *start);
    }
    return ok;
}

static ss_status judge(const ss_task *task, ss_run *run, ss_error *e)
{
    const ss_problem *p = task->problem;
    run->team = task->threads > 1 ? ss_team_new(task->threads) : NULL;
    const ss_status status = ss_response_with(p, task->factor, run->team, &run->response, e);
    if (status == SS_OK) {
        const ss_state impulses = {.r = run->answer.r};
        run->verdict = ss_judge(run->response, &impulses, NAN, task->tolerance, run->answer.u);
    }
    if (status == SS_OK && p->form == SS_GLOBAL) {
        memcpy(run->answer.v, run->response->motion, (size_t)p->ndofs * sizeof(double));
    }
    return status;
}

const double *ss_run_guess(const ss_problem *p)
{
    for (int k = 0; k < p->nguesses; k++) {
        if (p->guesses[k].r != NULL) {
            return p->guesses[k].r;
        }
    }
    return NULL;
}

static ss_status finish(const ss_task *task, ss_status status, ss_run *run, ss_error *e)
{
    if (status == SS_OK) {
        status = judge(task, run, e);
    }
    if (status == SS_OK) {
        run->status = status_of(run);
        describe(task, run);
    } else {
        ss_run_free(run);
    }
    return status;
}

typedef ss_status solve_function(const ss_task *task, double *r, ss_result *result, ss_error *e);

static ss_status run_by(solve_function *solve, const ss_task *task, const double *start,
                        ss_run *run, ss_error *e)
{
    *run = (ss_run){.status = "stopped"};
    ss_mass *factor = NULL; // the judge has it from the solver, if that works here
    ss_task shared = *task;
    shared.factor = task->factor != NULL ? task->factor : &factor;
    ss_status status = allocate(task->problem, start, run) ? SS_OK : ss_fail_memory(e, "an answer");
    if (status == SS_OK) {
        status = solve(&shared, run->answer.r, &run->result, e);
    }
    status = finish(&shared, status, run, e);
    ss_mass_free(factor);
    return status;
}

ss_status ss_run_judged(const ss_task *task, const double *r, const ss_result *result, ss_run *run,
                        ss_error *e)
{
    *run = (ss_run){.status = "stopped", .result = *result};
    const ss_status status =
        allocate(task->problem, r, run) ? SS_OK : ss_fail_memory(e, "an answer");
    return finish(task, status, run, e);
}

ss_status ss_run_task(const ss_task *task, const double *start, ss_run *run, ss_error *e)
{
    return run_by(ss_solve, task, start, run, e);
}

ss_status ss_run_contained(const ss_task *task, const double *start, ss_run *run, ss_error *e)
{
    return run_by(ss_solve_contained, task, start, run, e);
}

__attribute__((format(printf, 3, 4))) static void append(char *detail, size_t room,
                                                         const char *format, ...)
{
    size_t used = strlen(detail);
    used += (size_t)snprintf(detail + used, room - used, "%s", used > 0 ? "; " : "");
    if (used < room) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(detail + used, room - used, format, arguments);
        va_end(arguments);
    }
}

// A solver says so of the problem, or rests with contacts that it could not answer.
static bool denies_a_solution(const ss_result *result)
{
    return result->outcome == SS_NO_SOLUTION ||
           (result->outcome == SS_STALLED && result->unanswered > 0);
}

static void tell_unproved(const ss_certificate *found, const char **status, char *detail,
                          size_t room)
{
    if (found->verdict == SS_EXISTENCE_PROVED) {
        append(detail, room, "a solution exists: a velocity strictly inside all cones proves it");
        return;
    }
    *status = "undecided";
    append(detail, room, "%s",
           found->too_large ? "the problem is too large to look for a proof that it has no solution"
                            : "neither a solution nor its absence could be proved");
}

ss_status ss_run_decide(const ss_problem *p, const ss_result *result, const char **status,
                        char *detail, size_t room, ss_error *e)
{
    if (strcmp(*status, "solved") == 0 || result->outcome == SS_INTERRUPTED ||
        result->outcome == SS_CRASHED) {
        return SS_OK;
    }
    const bool denied = denies_a_solution(result);
    ss_certificate found;
    const ss_status done = ss_certificate_find(p, denied, &found, e);
    if (done != SS_OK) {
        return done;
    }
    if (found.verdict == SS_EXISTENCE_REFUTED) {
        int worst = 0;
        for (int i = 0; i < p->ncontacts; i++) {
            worst = found.lambda[i] > found.lambda[worst] ? i : worst;
        }
        *status = "no_solution";
        append(detail, room,
               "no velocity opens all contacts: contact %d, among others, contradicts the "
               "rest (proved for velocities up to %.1g times the problem's own)",
               worst, found.reach);
    } else if (denied) {
        tell_unproved(&found, status, detail, room);
    }
    ss_certificate_free(&found);
    return SS_OK;
}

void ss_run_remark_threads(const char *verb, int threads, const ss_method *method)
{
    if (threads > 0 && !ss_method_takes_threads(method)) {
        ss_complain(verb, "--threads %d has no effect on %s, which uses one thread", threads,
                    method->spec);
    }
}

void ss_run_free(ss_run *run)
{
    ss_state_free(&run->answer);
    ss_response_free(run->response);
    ss_team_free(run->team);
    run->response = NULL;
    run->team = NULL;
}

static double percent(long part, long whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0.0;
}

void ss_run_describe(const ss_run *run, ss_record_row *row)
{
    const ss_result *result = &run->result;
    snprintf(row->status, sizeof row->status, "%s", run->status);
    snprintf(row->detail, sizeof row->detail, "%s", run->detail);
    snprintf(row->outcome, sizeof row->outcome, "%s", ss_outcome_name(result->outcome));
    row->iterations = result->iterations;
    row->local_solves = result->local_solves;
    row->alt_percent = percent(result->failsafe_calls, result->local_solves);
    row->fail_percent = percent(result->failures, result->local_solves);
    row->seconds = result->seconds;
    row->cpu_seconds = result->cpu_seconds;
    row->setup_seconds = result->setup_seconds;
    row->sweep_seconds = result->sweep_seconds;
    row->measures = run->verdict.measures;
}
