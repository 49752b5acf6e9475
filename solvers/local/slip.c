// solvers/local/slip.c -- the equation of slip.h, set up and solved by a bracketed Newton.
#include "solvers/local/slip.h"

// det Wb below this share of tr Wb tr W is rounding: doc/formulation.md, "Slip ratio".
#define SINGULAR_SHARE 1e-12

// A Newton step this small, relative to a, leaves the next one at the rounding level.
#define LAST_STEP 1e-7

// Newton takes 2 to 6 steps; each one that leaves the bracket costs a bisection.
#define MOST_STEPS 100

bool ss_slip_eliminate(const ss_local *p, ss_slip *k)
{
    const double *W = p->W, *b = p->b;
    k->p = p;
    k->beta = -b[0];
    k->w[0] = W[1];
    k->w[1] = W[2];
    k->v[0] = W[3];
    k->v[1] = W[6];
    k->share = 1.0 / W[0];
    const double l1 = W[3] * k->share, l2 = W[6] * k->share;
    k->Wb[0] = W[4] - l1 * W[1];
    k->Wb[1] = W[5] - l1 * W[2];
    k->Wb[2] = W[7] - l2 * W[1];
    k->Wb[3] = W[8] - l2 * W[2];
    k->c[0] = b[1] - l1 * b[0];
    k->c[1] = b[2] - l2 * b[0];
    k->q[0] = k->Wb[3] * k->c[0] - k->Wb[1] * k->c[1];
    k->q[1] = k->Wb[0] * k->c[1] - k->Wb[2] * k->c[0];
    k->trace = k->Wb[0] + k->Wb[3];
    k->det = k->Wb[0] * k->Wb[3] - k->Wb[1] * k->Wb[2];
    k->slope = k->beta * k->trace + (W[1] * k->c[0] + W[2] * k->c[1]);
    k->N0 = k->beta * k->det + (W[1] * k->q[0] + W[2] * k->q[1]);
    const double whole = W[0] + W[4] + W[8];
    return W[0] > 0.0 && k->trace > 0.0 && k->det > SINGULAR_SHARE * k->trace * whole;
}

// The root of the straight line that mu N/|q| - W_NN becomes as a grows:
// a = (W_NN |c|/mu - w.c)/beta - c.Wb c/|c|^2, which is the root itself in the plane.
static double far_root(const ss_slip *k)
{
    const double squared = k->c[0] * k->c[0] + k->c[1] * k->c[1];
    const double along = k->trace - (k->c[0] * k->q[0] + k->c[1] * k->q[1]) / squared;
    const double normal = k->p->W[0] * sqrt(squared) / k->p->mu;
    return (normal - (k->w[0] * k->c[0] + k->w[1] * k->c[1])) / k->beta - along;
}

// All positive roots are below p + sqrt q: doc/formulation.md, "Slip ratio".
static double upper_bound(const ss_slip *k)
{
    const double weight = k->p->W[0] / k->p->mu;
    const double p = fabs(k->slope) + weight * ss_length2(k->c[0], k->c[1]);
    const double q = fabs(k->N0) + weight * ss_length2(k->q[0], k->q[1]);
    return p / k->beta + sqrt(q / k->beta);
}

static double slip_between(const ss_slip *k, double low, double high)
{
    const double bound = upper_bound(k);
    return high <= bound ? 0.5 * (low + high) : bound;
}

double ss_slip_bracketed(const ss_slip *k, double a, int *steps)
{
    double low = 0.0, high = INFINITY;
    if (!(a > 0.0 && a < INFINITY)) {
        const double guess = far_root(k);
        a = guess > 0.0 ? guess : 0.0;
    }
    for (*steps = 1; *steps <= MOST_STEPS; ++*steps) {
        ss_slip_point at;
        ss_slip_evaluate(k, a, &at);
        if (at.G < 0.0) {
            low = a;
        } else {
            high = a;
        }
        const double next = a + ss_slip_step(k, a, &at);
        if (fabs(next - a) <= LAST_STEP * a) {
            return next;
        }
        if (low < next && next < high) {
            a = next;
            continue;
        }
        const double middle = slip_between(k, low, high);
        if (!(low < middle && middle < high)) { // G has no root here, or rounding holds it
            return a;
        }
        a = middle;
    }
    return a;
}

ss_quartic ss_slip_quartic(const ss_slip *k)
{
    const double share = 1.0 / k->beta, weight = k->p->W[0] * share / k->p->mu;
    return (ss_quartic){.A = k->slope * share,
                        .C = k->N0 * share,
                        .B = {weight * k->q[0], weight * k->q[1]},
                        .c = {weight * k->c[0], weight * k->c[1]}};
}
