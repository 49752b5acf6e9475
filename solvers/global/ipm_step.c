#include "solvers/global/ipm_step.h"

#include <math.h>
#include <string.h>

#define START_IMPULSE 0.1 // r_N of the start over V / (tr W_ii / d)

#define LONG_STEP  0.9  // correctors gain nothing
#define CORRECTORS 2    // most in a step, while each makes it longer
#define GAIN       0.03 // by as much,
#define REACH      0.3  // and looks so much farther
#define CENTRED    0.5  // share of x.y that a centring step aims at

void ss_ipm_step_start(ss_interior *state, const ss_drive *d)
{
    const size_t n = (size_t)d->c->n;
    memset(state->x, 0, 4 * n * sizeof *state->x);
    memset(state->y, 0, 4 * n * sizeof *state->y);
    ss_drive_weights(d, state->compliance);
    ss_ipm_set_free(state);
    for (size_t i = 0; i < n; i++) {
        const double unit =
            ss_ipm_is_line(state, (int)i) ? 1.0 : fmin(3.0 * d->c->mu[i], 1.0); // about P
        state->x[4 * i] = START_IMPULSE * d->c->V * unit * state->compliance[i];
        state->y[4 * i] = d->c->V / unit;
        state->compliance[i] = 1.0 / state->compliance[i];
    }
}

static double step_length(ss_interior *state)
{
    return SS_IPM_KEPT * ss_ipm_way(state);
}

// Mehrotra's direction for the t that it finds, from his first one.
static double step_predict(ss_interior *state, double *t)
{
    const double after = ss_ipm_gap(state, fmin(ss_ipm_way(state), 1.0)) / state->gap;
    const double share = fmin(fmax(after, 0.0), 1.0);
    *t = share * share * share * state->gap;
    ss_ipm_aim(state, *t, true);
    return ss_ipm_direction_again(state) ? step_length(state) : NAN;
}

// Gondzio's correctors of a step of length a, if there is memory for them. One that makes it shorter is undone.
static double step_correct(ss_interior *state, ss_ipm_point shorter, double t, double a)
{
    for (int k = 0; k < CORRECTORS && a < LONG_STEP && shorter.q != NULL; k++) {
        ss_ipm_copy(state, ss_ipm_change(state), shorter);
        if (!ss_ipm_centre(state, fmin(a + REACH, 1.0), t)) {
            return NAN;
        }
        const double longer = step_length(state);
        if (!(longer >= a)) {
            ss_ipm_copy(state, shorter, ss_ipm_change(state));
            return a;
        }
        if (longer < a + GAIN) {
            return longer;
        }
        a = longer;
    }
    return a;
}

double ss_ipm_step_find(ss_interior *state, ss_ipm_point shorter, double hopeless, double *plain)
{
    *plain = NAN;
    ss_ipm_aim(state, 0.0, false);
    if (!ss_ipm_direction_roughly(state)) {
        return NAN;
    }
    if (state->is_rough) {
        ss_ipm_soften(state);
    }
    *plain = step_length(state);
    if (*plain < hopeless) {
        return *plain;
    }
    double t = 0.0;
    *plain = step_predict(state, &t);
    const double a = step_correct(state, shorter, t, *plain);
    if (a >= SS_IPM_SHORT || !isfinite(a)) {
        return a;
    }
    ss_ipm_aim(state, CENTRED * state->gap, false);
    return ss_ipm_direction(state) ? step_length(state) : NAN;
}
