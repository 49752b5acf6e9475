// solvers/local/enumerative.c -- enum: the cases of Coulomb's law, with the slip ratio from a
// quartic.
//
// [D11] B.2: with a = |u_T|/|r_T|, sliding leads to
//
//     P(a) = (a^2 + A a + C)^2 - (W_NN/mu)^2 |B + a c|^2 = 0                                  (1)
//
// a squared equation: a root is admissible where a^2 + A a + C >= 0. The largest positive root
// always is (doc/formulation.md, "Slip ratio"): P = (Q - n)(Q + n) with n >= 0, and beyond the last
// root of Q - n, which is there as Q - n < 0 at 0, both factors are positive. Two steps of Newton
// on G polish it. The cases of the law are in slip.h.
#include "solvers/local/local.h"
#include "solvers/local/slip.h"

#define POLISHING_STEPS 2

enum { CLOSED, GSL };

typedef struct settings {
    int roots;
} settings;

static const char *const ROOTS[] = {"closed", "gsl", NULL};
static const settings DEFAULTS = {.roots = CLOSED};
static const ss_key KEYS[] = {
    SS_CHOICE_KEY("roots", roots, ROOTS, .about = "who finds the roots of the quartic"),
    {.name = NULL},
};

// Returns the largest root, or 0 where there is none above.
static double largest_root(const ss_slip *k, int method)
{
    const ss_quartic quartic = ss_slip_quartic(k);
    double roots[4], largest = 0.0;
    const int n =
        method == GSL ? ss_quartic_roots_gsl(&quartic, roots) : ss_quartic_roots(&quartic, roots);
    for (int i = 0; i < n; i++) {
        largest = roots[i] > largest ? roots[i] : largest;
    }
    return largest;
}

static double enum_find(const ss_slip *k, const void *given, const double start[3],
                        const ss_local_goal *goal, int *steps)
{
    (void)start;
    (void)goal;
    const settings *s = given;
    double a = largest_root(k, s->roots);
    if (!(a > 0.0)) {
        return ss_slip_bracketed(k, 0.0, 0.0, steps);
    }
    for (int step = 0; step < POLISHING_STEPS; step++) {
        ss_slip_point at;
        ss_slip_evaluate(k, a, &at);
        a += ss_slip_step(k, a, &at);
    }
    *steps = POLISHING_STEPS;
    return a;
}

static ss_local_info enum_solve(const ss_local *p, const ss_local_goal *goal, const void *given,
                                double r[3])
{
    return ss_cases_solve(p, goal, enum_find, given, r);
}

const ss_local_solver ss_enumerative = {
    .card = {.name = "enum",
             .law = SS_EXACT,
             .reference = "BDB11 D11",
             .about = "Tries take-off, sticking and sliding in turn; the slip ratio of "
                      "sliding is a root of a polynomial of degree four. Each case is solved "
                      "in closed form and polished by two Newton steps. It needs no start and "
                      "serves as the fail-safe of the others.",
             .keys = KEYS,
             .defaults = &DEFAULTS,
             .settings_size = sizeof(settings)},
    .solve = enum_solve,
};
