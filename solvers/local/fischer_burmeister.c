// solvers/local/fischer_burmeister.c -- mfb: Newton's method on f(r) = 0, [D11] A.2.
//
// f and J are those of fischer_burmeister.h, in X = s r. From the warm start, at most `steps`
// times:
//
//     dX = -J^-1 f;   where dX.g > -sigma |dX||g| for g = J'f, or J is singular:  dX = -g       (1)
//
// The best iterate is kept. [D11] tests |f|^2/2 there and |f| in its Algorithm 1, and prints
// J^-1 f for the gradient J'f (doc/formulation.md, "Corrections of [D11]"): here |f|_inf is tested,
// as everywhere.
// With J = L_q^-1 M the step is M dX = -L_q f and the gradient M' L_q^-1 f: J itself is not needed.
#include "solvers/local/fischer_burmeister.h"

#include "solvers/local/local.h"

typedef struct settings {
    int steps;
    double sigma;
} settings;

static const settings DEFAULTS = {.steps = 100, .sigma = 1e-3};
static const ss_key KEYS[] = {
    SS_INTEGER_KEY("steps", steps, 0, 1e6, .about = "Newton steps at most"),
    SS_REAL_KEY("sigma", sigma, 0, 1,
                .about = "least descent of a Newton step; else the gradient is taken"),
    {.name = NULL},
};

// Returns the opposite of (1) for the step -dX, squared on both sides: it has no roots, and is
// false where dX is not finite.
static bool mfb_descends(double sigma, const double dX[3], const double g[3])
{
    const double slope = ss_dot3(dX, g);
    return slope >= 0.0 && slope * slope >= sigma * sigma * ss_dot3(dX, dX) * ss_dot3(g, g);
}

static void newton_step(const ss_fb_block *k, const ss_fb_point *at, double sigma, double dX[3])
{
    ss_fb_jacobian J;
    ss_fb_linearise(k, at, &J);
    double product[3], quotient[3], g[3];
    ss_fb_times_root(&J, at->f, product);
    ss_fb_over_root(&J, at->f, quotient);
    ss_multiply3_transposed(J.M, quotient, g);
    ss_solve3_adjugate(J.M, product, dX);
    const double *step = mfb_descends(sigma, dX, g) ? dX : g;
    for (int i = 0; i < 3; i++) {
        dX[i] = -step[i];
    }
}

static bool mfb_add(double X[3], const double dX[3])
{
    bool moved = false;
    for (int i = 0; i < 3; i++) {
        const double next = X[i] + dX[i];
        moved = moved || next != X[i];
        X[i] = next;
    }
    return moved;
}

static ss_local_info mfb_solve(const ss_local *p, const ss_local_goal *goal, const void *given,
                               double r[3])
{
    const settings *set = given;
    const ss_fb_block k = ss_fb_hat_for(p, goal);
    ss_fb_iterate at = ss_fb_start(&k, r);
    ss_local_info info = {.outcome = SS_MAX_ITER, .error = NAN};
    for (;; info.iterations++) {
        if (ss_fb_reached(&k, p, goal, &at, r, &info)) {
            return info;
        }
        if (info.iterations >= set->steps) {
            break;
        }
        double dX[3];
        newton_step(&k, &at.point, set->sigma, dX);
        if (!mfb_add(at.X, dX)) {
            info.outcome = SS_STALLED;
            break;
        }
    }
    ss_fb_settle(&k, p, goal, &at, r, &info);
    return info;
}

const ss_local_solver ss_mfb = {
    .card = {.name = "mfb",
             .law = SS_EXACT,
             .reference = "D11",
             .about = "Newton's method on the Fischer-Burmeister function of second-order "
                      "cones, the measure that also judges. If Newton's direction does not "
                      "descend enough it takes the gradient. As mfb+enum it is the hybrid "
                      "that [D11] recommends.",
             .keys = KEYS,
             .defaults = &DEFAULTS,
             .settings_size = sizeof(settings),
             .printed = "steps=6"},
    .solve = mfb_solve,
};
