// A program that builds a problem in memory, solves it, and has the answer judged; C17 and C++.
//
//     cc program.c $(pkg-config --cflags --libs stickslip)
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stickslip.h>

static const int PLACE[3] = {0, 1, 2};
static const double INVERSE_MASS[3] = {1.0, 1.0, 1.0}, VELOCITY[3] = {-1.0, 2.0, 0.0};

// u = W r + b of a block of 1 kg that meets the ground at 1 m/s and 2 m/s along it; mu = 1/2.
static ss_status build(ss_problem *p, ss_error *e)
{
    p->form = SS_LOCAL;
    p->dim = 3;
    p->ncontacts = 1;
    p->mu = (double *)malloc(sizeof *p->mu);
    p->b = (double *)malloc(3 * sizeof *p->b);
    if (p->mu == NULL || p->b == NULL) {
        return ss_fail_memory(e, "a block");
    }
    p->mu[0] = 0.5;
    for (int i = 0; i < 3; i++) {
        p->b[i] = VELOCITY[i];
    }
    return ss_sparse_from_triplets(&p->W, 3, 3, 3, PLACE, PLACE, INVERSE_MASS, e);
}

// Prints the outcome, the answer r, and what the judge finds.
static ss_status solve(const ss_problem *p, const ss_method *method, ss_error *e)
{
    ss_task task;
    memset(&task, 0, sizeof task);
    task.problem = p;
    task.method = method;
    task.tolerance = 1e-10; // of fb
    task.max_iterations = 1000;
    double r[3] = {0.0, 0.0, 0.0}, u[3];
    ss_result result;
    ss_response *response = NULL;
    ss_status status = ss_solve(&task, r, &result, e);
    if (status == SS_OK && (status = ss_response_new(p, &response, e)) == SS_OK) {
        const ss_measures found = ss_response_judge(response, r, u);
        printf("%s: r = (%g, %g, %g) N s, fb = %.1e, %s\n", ss_outcome_name(result.outcome), r[0],
               r[1], r[2], found.fb,
               ss_measures_pass(&found, task.tolerance) ? "solved" : "not solved");
        ss_response_free(response);
    }
    return status;
}

int main(void)
{
    ss_error error;
    ss_method *method = NULL;
    ss_problem *problem = ss_problem_new();
    ss_status status =
        problem != NULL ? build(problem, &error) : ss_fail_memory(&error, "a problem");
    if (status == SS_OK && (status = ss_method_parse("mfb+enum", &method, &error)) == SS_OK) {
        status = solve(problem, method, &error);
    }
    if (status != SS_OK) {
        fprintf(stderr, "%s\n", error.text);
    }
    ss_method_free(method);
    ss_problem_free(problem);
    return status;
}
