// alm: augmented Lagrangian with a semismooth Newton method inside (Rockafellar 1976b; Alart and
// Curnier 1991), with De Saxce's shift frozen in each outer step (prox_step.h):
//
//     inner:  F(z) = z - z0 - G' P_K(l - R (G z + w + s)) = 0   to 1e-3 of its first residual
//     outer:  l <- P_K(l - R (G z + w + s)),   s <- mu |u_T| e of u = G z + w
//
// R_i = rho / (tr W_ii / d). rho = 1 does not get there; rho = 1000 takes some ten outer steps.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/global/global.h"
#include "solvers/global/prox_step.h"
#include "solvers/global/drive.h"
#include "solvers/sweep/sweep_keys.h"

#define INNER_SHARE 1e-3
#define INNER_STEPS 50

typedef struct settings {
    int form; // first, as ss_drive_solve wants it
    double rho;
    double memory; // GB
} settings;

static const settings DEFAULTS = {.rho = 1000.0, .memory = SS_MEMORY_DEFAULT};

static const ss_key KEYS[] = {
    SS_FORM_KEY(settings),
    {.name = "rho",
     .kind = SS_KEY_REAL,
     .place = offsetof(settings, rho),
     .low = 1e-6,
     .high = 1e9},
    SS_MEMORY_KEY(settings),
    {.name = NULL},
};

static void alm_release(void *of)
{
    ss_prox_free(of);
}

static void *alm_make(const ss_drive *q, const void *of_method, ss_error *e)
{
    const settings *s = of_method;
    ss_prox *p;
    if (ss_prox_new(q->c, s->memory, &q->limits, &p, e) != SS_OK || p == NULL) {
        return NULL;
    }
    ss_drive_weights(q, p->R);
    for (int i = 0; i < q->c->n; i++) {
        p->R[i] *= s->rho;
    }
    ss_prox_start(p);
    memcpy(p->l, p->phi, 4 * (size_t)q->c->n * sizeof *p->l);
    if (ss_prox_freeze_shift(p, e) != SS_OK) {
        ss_prox_free(p);
        return NULL;
    }
    return p;
}

static ss_outcome alm_step(void *of, ss_drive *q)
{
    ss_prox *p = of;
    const ss_prox_info info = ss_prox_solve(p, INNER_SHARE, ss_drive_left(q, INNER_STEPS));
    q->iterations += info.steps > 0 ? info.steps : 1;
    memcpy(p->l, p->phi, 4 * (size_t)q->c->n * sizeof *p->l);
    ss_drive_judge(q, p->phi);
    ss_prox_freeze_shift(p, NULL); // its memory is there
    if (info.steps > 0 || info.reached) {
        return SS_UNSOLVED;
    }
    const ss_outcome limit = ss_limits_test(&q->limits, -1); // it ends a factorisation, too
    return limit != SS_UNSOLVED ? limit : SS_STALLED;
}

static const ss_steps STEPS = {.make = alm_make, .free = alm_release, .step = alm_step};

static ss_status alm_solve(const ss_task *task, double *r, ss_result *result, ss_error *e)
{
    return ss_drive_solve(&STEPS, task, r, result, e);
}

const ss_global_solver ss_alm = {
    .card = {.name = "alm",
             .law = SS_EXACT,
             .reference = "R76,AC91",
             .keys = KEYS,
             .defaults = &DEFAULTS,
             .settings_size = sizeof(settings)},
    .solve = alm_solve,
};
