// solvers/local/slip.c -- the equation of slip.h: what its solution seldom needs.
#include "solvers/local/slip.h"

// The root of the straight line that mu N/|q| - W_NN becomes as a grows:
// a = (W_NN |c|/mu - w.c)/beta - c.Wb c/|c|^2, which is the root itself in the plane.
static double far_root(const ss_slip *k)
{
    const double squared = k->c[0] * k->c[0] + k->c[1] * k->c[1];
    const double along = k->trace - (k->c[0] * k->q[0] + k->c[1] * k->q[1]) / squared;
    const double normal = k->p->W[0] * sqrt(squared) / k->p->mu;
    return (normal - (k->w[0] * k->c[0] + k->w[1] * k->c[1])) / k->beta - along;
}

double ss_slip_guess(ss_slip k)
{
    const double root = far_root(&k);
    return root > 0.0 ? root : 0.0;
}

// All positive roots are below p + sqrt q: doc/formulation.md, "Slip ratio".
static double upper_bound(const ss_slip *k)
{
    const double weight = k->p->W[0] / k->p->mu;
    const double p = fabs(k->slope) + weight * ss_length2(k->c[0], k->c[1]);
    const double q = fabs(k->N0) + weight * ss_length2(k->q[0], k->q[1]);
    return p / k->beta + sqrt(q / k->beta);
}

double ss_slip_between(ss_slip k, double low, double high)
{
    const double bound = upper_bound(&k);
    return high <= bound ? 0.5 * (low + high) : bound;
}

ss_quartic ss_slip_quartic(const ss_slip *k)
{
    const double share = 1.0 / k->beta, weight = k->p->W[0] * share / k->p->mu;
    return (ss_quartic){.A = k->slope * share,
                        .C = k->N0 * share,
                        .B = {weight * k->q[0], weight * k->q[1]},
                        .c = {weight * k->c[0], weight * k->c[1]}};
}
