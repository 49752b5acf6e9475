#include "solvers/global/drive.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// fb V below this many eps max|s r| is rounding.
#define FLOOR_FACTOR 64.0
#define FLOOR_IDLE   8 // evaluations there without a better answer before it is `stalled`

ss_status ss_drive_begin(ss_drive *p, ss_coupling *c, ss_error *e)
{
    p->c = c;
    p->best = malloc((size_t)c->dim * (size_t)c->n * sizeof *p->best);
    if (p->best == NULL) {
        return ss_fail_memory(e, "the best answer");
    }
    ss_coupling_get(c, p->best);
    p->fb = p->best_fb = INFINITY;
    return SS_OK;
}

void ss_drive_end(ss_drive *p)
{
    free(p->best);
}

void ss_drive_judge(ss_drive *p, const double *r)
{
    ss_coupling *c = p->c;
    if (r != c->r) {
        memcpy(c->r, r, 4 * (size_t)c->n * sizeof *r);
    }
    p->largest = 0.0;
    for (size_t k = 0; k < 4 * (size_t)c->n; k++) {
        p->largest = fmax(p->largest, fabs(c->r[k]));
    }
    p->fb = ss_coupling_measure(c).fb;
    p->idle++;
    if (p->fb < p->best_fb) {
        p->best_fb = p->fb;
        p->idle = 0;
        ss_coupling_get(c, p->best);
    }
}

ss_outcome ss_drive_test(ss_drive *p)
{
    if (p->best_fb <= p->limits.task->tolerance) {
        return SS_CONVERGED;
    }
    const double floor = FLOOR_FACTOR * DBL_EPSILON * p->c->s * p->largest;
    if (p->best_fb * p->c->V <= floor && p->idle >= FLOOR_IDLE) {
        return SS_STALLED;
    }
    return p->whole ? ss_limits_next(&p->limits, p->iterations)
                    : ss_limits_test(&p->limits, p->iterations);
}

int ss_drive_left(const ss_drive *p, int most)
{
    const int left = p->limits.task->max_iterations - p->iterations;
    return left < most ? left : most;
}

// packed: in the order of the coupling, r: in the problem's.
static void put_back(const ss_drive *p, const double *packed, double *r)
{
    if (p->ordered != NULL) {
        ss_ordered_give(p->ordered, p->c->dim, packed, r);
    } else {
        memcpy(r, packed, (size_t)p->c->dim * (size_t)p->c->n * sizeof *r);
    }
}

void ss_drive_tell(ss_drive *p, double *r)
{
    if (ss_limits_listened(&p->limits, p->iterations)) {
        ss_coupling_get(p->c, p->c->packed);
        put_back(p, p->c->packed, r);
        ss_limits_tell(&p->limits,
                       (ss_progress){.iteration = p->iterations, .estimate = p->fb, .r = r});
    }
}

void ss_drive_give(ss_drive *p, ss_outcome outcome, double *r, ss_result *result)
{
    put_back(p, p->best, r);
    result->outcome = outcome;
    result->iterations = p->iterations;
    result->own_error = p->best_fb;
    ss_limits_stop(&p->limits, result);
}

void ss_drive_refuse(ss_limits *limits, const ss_error *why, ss_result *result)
{
    ss_limits_ready(limits);
    ss_limits_stop(limits, result);
    result->outcome = SS_NOT_COVERED;
    snprintf(result->why, sizeof result->why, "%.*s", (int)sizeof result->why - 1, why->text);
}

size_t ss_drive_room(const ss_drive *p)
{
    return p->c->is_explicit ? 1 : (size_t)p->c->white->body_start[p->c->white->nbodies];
}

void ss_drive_velocity(const ss_drive *p, const double *r, double *z, double *u)
{
    const ss_coupling *c = p->c;
    if (!c->is_explicit) {
        memcpy(z, c->white->z0, ss_drive_room(p) * sizeof *z);
        for (int i = 0; i < c->n; i++) {
            ss_coupling_push(c, i, r + 4 * (size_t)i, z);
        }
    }
    for (int i = 0; i < c->n; i++) {
        double *ui = u + 4 * (size_t)i;
        if (c->is_explicit) {
            ss_coupling_row(c, i, r, ui);
        } else {
            ss_coupling_see(c, i, z, ui);
        }
        ui[3] = 0.0;
    }
}

void ss_drive_weights(const ss_drive *p, double *weights)
{
    for (int i = 0; i < p->c->n; i++) {
        const double own = p->c->compliance[i];
        weights[i] = 1.0 / (own > 0.0 ? own : p->c->s > 0.0 ? p->c->s : 1.0);
    }
}

static ss_outcome drive_iterate(const ss_steps *steps, void *state, ss_drive *p, double *r)
{
    ss_drive_judge(p, p->c->r);
    ss_drive_tell(p, r);
    ss_outcome outcome = ss_drive_test(p);
    while (outcome == SS_UNSOLVED) {
        outcome = steps->step(state, p);
        ss_drive_tell(p, r);
        if (outcome == SS_UNSOLVED) {
            outcome = ss_drive_test(p);
        }
    }
    return outcome;
}

ss_status ss_drive_solve(const ss_steps *steps, const ss_task *task, double *r, ss_result *result,
                         ss_error *e)
{
    const int form = *(const int *)task->method->global_settings;
    ss_drive p = {.limits = ss_limits_start(task), .whole = steps->whole};
    const ss_stop stop = ss_limits_stopper(&p.limits);
    ss_error why = {0};
    ss_coupling *c = NULL;
    void *state = NULL;
    ss_status status = ss_coupling_new(task->problem, (ss_coupling_form)form, false, &stop, &c, e);
    if (status == SS_OK && c != NULL) {
        ss_coupling_set(c, r);
        status = ss_drive_begin(&p, c, e);
    }
    if (status == SS_OK && c != NULL) {
        state = steps->make(&p, task->method->global_settings, &why);
        status = state != NULL ? SS_OK : why.status;
    }
    if (status == SS_OK && state == NULL && why.text[0] == '\0') {
        ss_limits_give_up(&p.limits, result);
    } else if (status == SS_OK && state == NULL) {
        ss_drive_refuse(&p.limits, &why, result);
    } else if (status != SS_OK && why.status == status) {
        ss_fail(e, status, "%s", why.text);
    }
    if (state != NULL) {
        ss_limits_ready(&p.limits);
        const ss_outcome outcome = drive_iterate(steps, state, &p, r);
        ss_drive_give(&p, outcome, r, result);
    }
    if (state != NULL) {
        steps->free(state);
    }
    ss_drive_end(&p);
    ss_coupling_free(c);
    return status;
}
