// solvers/local/alart_curnier.c -- pac, dac: Newton's method on the Alart-Curnier function.
//
// F of alart_curnier.h in X = s r with the block W/s, and
//
//     p_N = 1/W_NN,    p_T = 1/lambda_max(sym W_TT)                                          (1)
//
// (doc/formulation.md, "Alart-Curnier"; [D11] section 7.1). pac takes full steps -J^-1 F, and -J'F
// where J is singular. dac takes the direction d = -J^-1 F, or -J'F if that does not descend, and a
// step t for which phi = |F|^2/2 satisfies Goldstein and Price:
//
//     phi(0) + m2 t phi'(0) <= phi(t) <= phi(0) + m1 t phi'(0)                               (2)
//
// Both end on the Fischer-Burmeister measure, as every exact solver does, and keep the iterate that
// is best by it.
#include "solvers/local/alart_curnier.h"

#include "solvers/goldstein_price.h"
#include "solvers/local/fischer_burmeister.h"
#include "solvers/local/local.h"

#include <string.h>

typedef struct settings {
    int steps;
    int variant; // place in VARIANTS
    double m1, m2;
} settings;

static const char *const VARIANTS[] = {"alart-curnier", "jean-moreau", NULL};
static const settings DEFAULTS = {.steps = 100, .variant = 0, .m1 = 0.1, .m2 = 0.9};

#define SHARED_KEYS                                                                                \
    SS_INTEGER_KEY("steps", steps, 0, 1e6, .about = "Newton steps at most"),                       \
        SS_CHOICE_KEY("variant", variant, VARIANTS, .about = "whose function")

static const ss_key PAC_KEYS[] = {SHARED_KEYS, {.name = NULL}};
static const ss_key DAC_KEYS[] = {
    SHARED_KEYS,
    SS_REAL_KEY("m1", m1, 0, 1,
                .about = "least share of the predicted descent that a step must bring"),
    SS_REAL_KEY("m2", m2, 0, 1, .about = "largest share; above it the step is lengthened"),
    {.name = NULL},
};

// Writes u = W X + b with W over s.
typedef struct contact {
    ss_fb_block hat;
    ss_ac_law law;
    double W[9], b[3];
} contact;

static contact ac_scaled(const ss_local *p, const ss_local_goal *goal, int variant)
{
    contact k = {.hat = ss_fb_hat_for(p, goal), .b = {p->b[0], p->b[1], p->b[2]}};
    for (int i = 0; i < 9; i++) {
        k.W[i] = p->W[i] * k.hat.inverse;
    }
    k.law = ss_ac_law_of(p->mu, k.W, ss_local_second_stiffness(p) * k.hat.inverse, variant == 1);
    return k;
}

static void ac_evaluate(const contact *k, const double X[3], ss_ac_point *at)
{
    double u[3];
    for (int i = 0; i < 3; i++) {
        u[i] = ss_dot3(k->W + 3 * i, X) + k->b[i];
    }
    ss_ac_evaluate(&k->law, X, u, at);
}

// Writes J = dF/dX + dF/du W.
static void jacobian(const contact *k, const double X[3], const ss_ac_point *at, double J[9])
{
    double du[9];
    ss_ac_linearise(&k->law, X, at, J, du);
    for (int i = 0; i < 9; i += 3) {
        for (int j = 0; j < 3; j++) {
            J[i + j] += du[i] * k->W[j] + du[i + 1] * k->W[3 + j] + du[i + 2] * k->W[6 + j];
        }
    }
}

static void negate(const double x[3], double minus[3])
{
    for (int i = 0; i < 3; i++) {
        minus[i] = -x[i];
    }
}

// Writes -J^-1 F or, where J is singular or `descend` asks for more than that step does, -J'F.
// *slope is its product with J'F, phi'(0).
static void direction(const contact *k, const double X[3], const ss_ac_point *at, bool descend,
                      double d[3], double *slope)
{
    double J[9], g[3], step[3];
    jacobian(k, X, at, J);
    ss_multiply3_transposed(J, at->F, g);
    const bool solved = ss_solve3(J, at->F, step);
    negate(solved && (!descend || ss_dot3(step, g) > 0.0) ? step : g, d);
    *slope = ss_dot3(d, g);
}

static void ac_advance(const double X[3], double t, const double d[3], double next[3])
{
    for (int i = 0; i < 3; i++) {
        next[i] = X[i] + t * d[i];
    }
}

static double phi(const contact *k, const double X[3], double t, const double d[3])
{
    double next[3];
    ss_ac_point at;
    ac_advance(X, t, d, next);
    ac_evaluate(k, next, &at);
    return 0.5 * ss_dot3(at.F, at.F);
}

static double ac_goldstein_price(const contact *k, const settings *set, const double X[3],
                                 const double d[3], double start, double slope)
{
    ss_goldstein search = ss_goldstein_begin(set->m1, set->m2, start, slope);
    while (ss_goldstein_goes_on(&search, phi(k, X, search.t, d))) {
    }
    return search.t;
}

// Makes one step from X. Returns false where it does not change X.
static bool ac_step(const contact *k, const settings *set, bool damped, double X[3])
{
    ss_ac_point at;
    double d[3], next[3], slope;
    ac_evaluate(k, X, &at);
    direction(k, X, &at, damped, d, &slope);
    const double start = 0.5 * ss_dot3(at.F, at.F);
    ac_advance(X, damped ? ac_goldstein_price(k, set, X, d, start, slope) : 1.0, d, next);
    const bool moved = next[0] != X[0] || next[1] != X[1] || next[2] != X[2];
    memcpy(X, next, sizeof next);
    return moved;
}

static ss_local_info ac_solve(const ss_local *p, const ss_local_goal *goal, const settings *set,
                              bool damped, double r[3])
{
    const contact k = ac_scaled(p, goal, set->variant);
    ss_fb_iterate at = ss_fb_start(&k.hat, r);
    ss_local_info info = {.outcome = SS_MAX_ITER, .error = NAN};
    for (;; info.iterations++) {
        if (ss_fb_reached(&k.hat, p, goal, &at, r, &info)) {
            return info;
        }
        if (info.iterations >= set->steps) {
            break;
        }
        if (!ac_step(&k, set, damped, at.X)) {
            info.outcome = SS_STALLED;
            break;
        }
    }
    ss_fb_settle(&k.hat, p, goal, &at, r, &info);
    return info;
}

static ss_local_info ac_solve_pac(const ss_local *p, const ss_local_goal *goal, const void *given,
                                  double r[3])
{
    return ac_solve(p, goal, given, false, r);
}

static ss_local_info ac_solve_dac(const ss_local *p, const ss_local_goal *goal, const void *given,
                                  double r[3])
{
    return ac_solve(p, goal, given, true, r);
}

const ss_local_solver ss_pac = {
    .card = {.name = "pac",
             .law = SS_EXACT,
             .reference = "AC91 D11",
             .about = "Newton's method with full steps on the function of Alart and Curnier, "
                      "or of Jean and Moreau. If the Jacobian is singular it steps along the "
                      "gradient. It keeps the best iterate by the Fischer-Burmeister measure.",
             .keys = PAC_KEYS,
             .defaults = &DEFAULTS,
             .settings_size = sizeof(settings),
             .printed = "steps=6"},
    .solve = ac_solve_pac,
};

const ss_local_solver ss_dac = {
    .card = {.name = "dac",
             .law = SS_EXACT,
             .reference = "AC91 D11",
             .about = "Newton's method on the function of Alart and Curnier, damped by the "
                      "line search of Goldstein and Price. If Newton's direction does not "
                      "descend it takes the gradient. It keeps the best iterate by the "
                      "Fischer-Burmeister measure.",
             .keys = DAC_KEYS,
             .defaults = &DEFAULTS,
             .settings_size = sizeof(settings),
             .printed = "steps=6"},
    .solve = ac_solve_dac,
};
