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
    int form; // ss_coupling_form
    double rho;
    double memory; // GB
} settings;

static const settings DEFAULTS = {.rho = 1000.0, .memory = SS_MEMORY_DEFAULT};

static const ss_key KEYS[] = {
    SS_FORM_KEY,
    SS_REAL_KEY("rho", rho, 1e-6, 1e9, .about = "weight of the augmentation, over tr(W_ii)/d"),
    SS_MEMORY_KEY,
    {.name = NULL},
};

typedef struct alm_state {
    ss_prox *prox;
} alm_state;

static void alm_release(void *of)
{
    ss_prox_free(((alm_state *)of)->prox);
}

static ss_status alm_make(void *of, ss_drive *d, ss_error *e)
{
    alm_state *state = of;
    const settings *s = d->settings;
    const ss_status status = ss_prox_new(d->c, s->memory, &d->limits, &state->prox, e);
    ss_prox *p = state->prox;
    if (p == NULL) {
        d->halted = true;
        return status;
    }
    ss_drive_weights(d, p->R);
    for (int i = 0; i < d->c->n; i++) {
        p->R[i] *= s->rho;
    }
    ss_prox_start(p);
    memcpy(p->l, p->phi, 4 * (size_t)d->c->n * sizeof *p->l);
    return ss_prox_freeze_shift(p, e);
}

static ss_outcome alm_step(void *of, ss_drive *d)
{
    ss_prox *p = ((alm_state *)of)->prox;
    const ss_prox_info info = ss_prox_solve(p, INNER_SHARE, ss_drive_left(d, INNER_STEPS));
    d->iterations += info.steps > 0 ? info.steps : 1;
    memcpy(p->l, p->phi, 4 * (size_t)d->c->n * sizeof *p->l);
    ss_drive_judge(d, p->phi);
    ss_prox_freeze_shift(p, NULL); // its memory is there
    return info.steps > 0 || info.reached ? SS_UNSOLVED : ss_drive_stopped(d);
}

static const ss_steps STEPS = {.moves = SS_MOVES_COUPLING,
                               .state_size = sizeof(alm_state),
                               .make = alm_make,
                               .step = alm_step,
                               .release = alm_release};

const ss_global_solver ss_alm = {
    .card = {.name = "alm",
             .law = SS_EXACT,
             .reference = "R76 AC91",
             .about = "Augmented Lagrangian: each outer step solves a smooth convex problem "
                      "by a semismooth Newton method, with De Saxce's shift frozen. A large "
                      "weight takes some ten outer steps, each of some linear solves. The "
                      "matrix is sparse and factorised by blocks.",
             SS_OPTIONS(KEYS, DEFAULTS)},
    SS_DRIVEN(STEPS),
    .takes_threads = ss_drive_takes_threads,
};
