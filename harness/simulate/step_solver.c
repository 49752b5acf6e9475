// harness/simulate/step_solver.c -- see step_solver.h.
#include "harness/simulate/step_solver.h"

#include <math.h>
#include <string.h>

#include "harness/run.h"
#include "problems/matrix/mass.h"

// 1 N s = 1e5 dyn s, 1 m/s = 1e2 cm/s.
#define DYN_SECONDS 1e5
#define CENTIMETRES 1e2

// fb_abs and natural add velocities to impulses. A resting hair contact has some 4e-9 N s, far
// below any velocity in m/s, so that in SI they see the velocities alone; in the units of [D11]
// both are of one size, and its 1e-6 means something.
static void measure_in_cgs(const ss_problem *p, const ss_run *run, ss_step_answer *answer)
{
    const ss_measures m =
        ss_measure_in_units(DYN_SECONDS, CENTIMETRES, p->dim, p->ncontacts, run->response->b, p->mu,
                            run->answer.r, run->answer.u);
    answer->fb_abs = m.fb_abs;
    answer->natural = m.natural;
}

static void tell(const ss_run *run, ss_step_answer *answer)
{
    answer->status = run->status;
    answer->solved = run->verdict.solved;
    answer->fb = run->verdict.measures.fb;
    answer->normal = run->verdict.measures.normal;
}

// Below it a second thread costs more than it saves: it is started for each solve, and the threads wait for each
// other twice a sweep. One thread makes the same visits.
#define CONTACTS_LEAST 1000

static ss_task task_of(const ss_simulate_solver *s, const ss_problem *p)
{
    return (ss_task){
        .problem = p,
        .method = s->method,
        .tolerance = s->tolerance,
        .max_iterations = s->max_iterations,
        .time_limit = s->time_limit,
        .clock = SS_CLOCK_WALL,
        .threads = s->threads > 1 && p->ncontacts < CONTACTS_LEAST ? 1 : s->threads,
        .interrupted = s->interrupted,
    };
}

// FNV-1a over the numbers of M, four in turn: whether it is the M of the factor.
static uint64_t print_of(const ss_problem *p)
{
    const uint64_t prime = 1099511628211u;
    uint64_t print[4] = {14695981039346656037u, 1, 2, 3};
    const int count = ss_sparse_count(&p->M);
    int k = 0;
    for (; k + 4 <= count; k += 4) {
        uint64_t bits[4];
        memcpy(bits, &p->M.x[k], sizeof bits);
        for (int l = 0; l < 4; l++) {
            print[l] = (print[l] ^ bits[l]) * prime;
        }
    }
    for (; k < count; k++) {
        uint64_t bits;
        memcpy(&bits, &p->M.x[k], sizeof bits);
        print[0] = (print[0] ^ bits) * prime;
    }
    for (int l = 1; l < 4; l++) {
        print[0] = (print[0] ^ print[l]) * prime;
    }
    return print[0];
}

void ss_simulate_drop(ss_simulate_solver *s)
{
    ss_mass_free(s->factor);
    s->factor = NULL;
}

ss_status ss_simulate_solve(void *context, const ss_problem *p, double *r, ss_step_answer *answer,
                            ss_error *e)
{
    ss_simulate_solver *s = context;
    ss_task task = task_of(s, p);
    ss_simulate_drop(s);
    task.factor = &s->factor;
    s->solves++;
    const ss_status status = ss_solve(&task, r, &s->result, e);
    s->solves++;
    if (s->factor != NULL) {
        s->factored = print_of(p);
    }
    const ss_result *result = &s->result;
    *answer = (ss_step_answer){
        .status = ss_outcome_name(result->outcome),
        .iterations = result->iterations,
        .left = fmin(result->own_error, s->tolerance),
        .seconds = result->seconds,
        .setup_seconds = result->setup_seconds,
        .sweep_seconds = result->sweep_seconds,
    };
    return status == SS_OK && result->outcome == SS_INTERRUPTED
               ? ss_fail(e, SS_SYSTEM, "interrupted")
               : status;
}

ss_status ss_simulate_judge(void *context, const ss_problem *p, const double *r,
                            ss_step_answer *answer, ss_error *e)
{
    ss_simulate_solver *s = context;
    ss_task task = task_of(s, p);
    if (s->factor != NULL && s->factored != print_of(p)) { // another iterate has another M
        ss_simulate_drop(s);
    }
    task.factor = &s->factor;
    ss_run run = {0};
    const ss_status status = ss_run_judged(&task, r, &s->result, &run, e);
    if (status == SS_OK) {
        tell(&run, answer);
        measure_in_cgs(p, &run, answer);
    }
    ss_run_free(&run);
    ss_simulate_drop(s);
    return status;
}

ss_status ss_simulate_see(void *context, const ss_problem *p, const double *r,
                          const ss_step_report *report, ss_error *e)
{
    const ss_simulate_solver *s = context;
    ss_step_answer answer = {0};
    const ss_status status = ss_simulate_judge(context, p, r, &answer, e);
    if (status == SS_OK) {
        ss_iterates_add(s->iterates, s->step, report, p->ncontacts, &answer);
    }
    return status;
}
