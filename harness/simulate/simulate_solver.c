#include "harness/simulate/simulate_solver.h"

#include <stdlib.h>
#include <string.h>

#include "harness/run.h"

// 1 N s = 1e5 dyn s, 1 m/s = 1e2 cm/s.
#define DYN_SECONDS 1e5
#define CENTIMETRES 1e2

// fb_abs and natural add velocities to impulses. A resting hair contact has some 4e-9 N s, far
// below any velocity in m/s, so that in SI they see the velocities alone; in the units of [D11]
// both are of one size, and its 1e-6 means something.
static ss_status measure_in_cgs(const ss_problem *p, const ss_run *run, ss_step_answer *answer,
                                ss_error *e)
{
    const size_t n = (size_t)p->dim * (size_t)p->ncontacts;
    double *numbers = malloc((3 * n + (size_t)p->ncontacts) * sizeof *numbers);
    if (numbers == NULL) {
        return ss_fail_memory(e, "the measures of a step");
    }
    double *b = numbers, *r = b + n, *u = r + n, *compliance = u + n;
    for (size_t k = 0; k < n; k++) {
        b[k] = CENTIMETRES * run->response->b[k];
        r[k] = DYN_SECONDS * run->answer.r[k];
        u[k] = CENTIMETRES * run->answer.u[k];
    }
    for (int i = 0; i < p->ncontacts; i++) {
        compliance[i] = 1.0; // neither measure looks at it
    }
    const ss_measures m = ss_measure(p->dim, p->ncontacts, compliance, b, p->mu, r, u);
    answer->fb_abs = m.fb_abs;
    answer->natural = m.natural;
    free(numbers);
    return SS_OK;
}

static void tell(const ss_run *run, ss_step_answer *answer)
{
    *answer = (ss_step_answer){
        .status = run->status,
        .solved = run->verdict.solved,
        .iterations = run->result.iterations,
        .fb = run->verdict.measures.fb,
        .seconds = run->result.seconds,
        .setup_seconds = run->result.setup_seconds,
        .sweep_seconds = run->result.sweep_seconds,
    };
}

ss_status ss_simulate_solve(void *context, const ss_problem *p, double *r, ss_step_answer *answer,
                            ss_error *e)
{
    const ss_simulate_solver *s = context;
    const ss_task task = {
        .problem = p,
        .method = s->method,
        .tolerance = s->tolerance,
        .max_iterations = s->max_iterations,
        .time_limit = s->time_limit,
        .clock = SS_CLOCK_WALL,
        .threads = s->threads,
    };
    ss_run run = {0};
    ss_status status = ss_run_task(&task, r, &run, e);
    if (status == SS_OK) {
        tell(&run, answer);
        status = measure_in_cgs(p, &run, answer, e);
    }
    if (status == SS_OK) {
        memcpy(r, run.answer.r, (size_t)p->dim * (size_t)p->ncontacts * sizeof *r);
    }
    ss_run_free(&run);
    return status;
}
