// A local solver outside the library: the projected step, repeated until the goal is met.
#include <stdio.h>
#include <stdlib.h>
#include <stickslip.h>

static ss_local_info solve(const ss_local *p, const ss_local_goal *goal, const void *settings,
                           double r[3])
{
    const double step = 1.0 / (3.0 * ss_local_own_scale(p) * (1.0 + p->mu));
    ss_local_info info = {.outcome = SS_MAX_ITER, .error = ss_local_error(p, goal, r)};
    (void)settings;
    while (!(info.error <= goal->tolerance) && info.iterations++ < 10000) {
        double u[3];
        ss_local_velocity(p, r, u);
        u[0] += p->mu * sqrt(u[1] * u[1] + u[2] * u[2]);
        for (int i = 0; i < 3; i++) {
            r[i] -= step * u[i];
        }
        ss_cone_project(p->mu, r, r);
        info.error = ss_local_error(p, goal, r);
    }
    info.outcome = info.error <= goal->tolerance ? SS_CONVERGED : SS_MAX_ITER;
    return info;
}

static const ss_local_solver MINE = {.card = {.name = "mine", .law = SS_EXACT}, .solve = solve};

int main(int argc, char **argv)
{
    ss_error e;
    ss_problem *p = NULL;
    ss_method *method = NULL;
    if (argc != 2 || ss_store_read(argv[1], NULL, &p, &e) != SS_OK ||
        ss_method_parse("projection", &method, &e) != SS_OK) {
        return 1;
    }
    method->local = &MINE;
    double *r = calloc((size_t)(p->dim * p->ncontacts), sizeof *r);
    const ss_task task = {
        .problem = p, .method = method, .tolerance = 1e-8, .max_iterations = 10000};
    ss_result result = {.outcome = SS_UNSOLVED};
    if (r != NULL && ss_solve(&task, r, &result, &e) == SS_OK) {
        printf("%s by %s\n", ss_outcome_name(result.outcome), method->local->card.name);
    }
    free(r);
    ss_method_free(method);
    ss_problem_free(p);
    return 0;
}
