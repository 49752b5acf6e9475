// solvers/local/duriez.c -- duriez06, duriez06-sofa, duriez08: the answer by its status.
//
// [D11] section 7.1; doc/formulation.md, "Duriez". The contact takes off (b_N >= 0: r = 0), or
// sticks (r = -W^-1 b in K_mu), or slides with an impulse along t, from u_N = 0:
//
//     r = r_N (1, mu t),    r_N = -b_N / (W_NN + mu w.t),    w = (W_01, W_02)                (1)
//
// duriez06 freezes t at the direction of the sticking impulse: one pass, another law than
// Coulomb's, which asks for u_T = -a r_T. duriez08 repeats it with
//
//     t <- unit(r_T - p_T u_T),    p_T = 2/(W_11 + W_22)                                     (2)
//
// and is exact where that converges: from the direction of its start where that has one, or (from=
// sticking) always from that of the sticking impulse, as duriez06. duriez06-sofa makes one pass of
// projections from its start, in which the tangential velocity follows the change of r_N:
//
//     r_N <- max(0, r_N - u_N/W_NN),  r_T <- r_T - p_T u_T,  |r_T| clipped to mu r_N         (3)
#include "solvers/local/fischer_burmeister.h"
#include "solvers/local/local.h"

#include <string.h>

// |det W| below this, for W over s: the block counts as singular, and sticks only where an answer
// of W + SHIFT I is one of W. A block of condition 1e6 has 3e-12 or more, rounding leaves 1e-16.
#define SINGULAR 1e-14
#define SHIFT    1e-10

// duriez08 ends where r changes less than this share of itself, or after its passes.
#define SMALL_CHANGE 1e-9

typedef enum direction { FROM_LAST, FROM_STICKING } direction;

// Settings of duriez08.
typedef struct settings {
    int passes;
    int from; // start of the direction
} settings;

static const settings DEFAULTS = {.passes = 100, .from = FROM_LAST};
static const char *const DIRECTIONS[] = {"last", "sticking", NULL};
static const ss_key KEYS[] = {
    SS_INTEGER_KEY("passes", passes, 1, 1e6, .about = "of the fixed point, at most"),
    SS_CHOICE_KEY("from", from, DIRECTIONS,
                  .about = "its first direction: of the last impulse, or of the sticking one"),
    {.name = NULL},
};

// Below this share of tr(W)/d the tangents give no step p_T; tr(W)/d does instead, as any positive
// p_T has the same fixed points.
#define LEAST_SHARE 1e-12

// The block in X = s r: u = W X + b with W over s.
typedef struct contact {
    ss_fb_block hat;
    double W[9], b[3], mu;
    double p_T;
} contact;

static contact duriez_scaled(const ss_local *p)
{
    contact k = {.hat = ss_fb_hat(p), .b = {p->b[0], p->b[1], p->b[2]}, .mu = p->mu};
    for (int i = 0; i < 9; i++) {
        k.W[i] = p->W[i] * k.hat.inverse;
    }
    const double sum = k.W[4] + ss_local_second_stiffness(p) * k.hat.inverse;
    k.p_T = sum > LEAST_SHARE ? 2.0 / sum : 1.0;
    return k;
}

static void velocity(const contact *k, const double X[3], double u[3])
{
    for (int i = 0; i < 3; i++) {
        u[i] = ss_dot3(k->W + 3 * i, X) + k->b[i];
    }
}

static void unscale(const contact *k, const double X[3], double r[3])
{
    for (int i = 0; i < 3; i++) {
        r[i] = X[i] * k->hat.inverse;
    }
}

// Writes t, or 0 where x_T = 0.
static void unit(const double x[3], double t[2])
{
    const double length = ss_length2(x[1], x[2]);
    t[0] = length > 0.0 ? x[1] / length : 0.0;
    t[1] = length > 0.0 ? x[2] / length : 0.0;
}

static double determinant(const double W[9])
{
    return W[0] * (W[4] * W[8] - W[5] * W[7]) - W[1] * (W[3] * W[8] - W[5] * W[6]) +
           W[2] * (W[3] * W[7] - W[4] * W[6]);
}

// Returns whether X = -W^-1 b is an answer. X is that of the shifted block where W is singular;
// false with X = 0 where there is none at all.
static bool sticks(const contact *k, double tolerance, double X[3])
{
    const double minus_b[3] = {-k->b[0], -k->b[1], -k->b[2]};
    const bool singular = !(fabs(determinant(k->W)) > SINGULAR);
    double W[9];
    memcpy(W, k->W, sizeof W);
    for (int i = 0; i < 9 && singular; i += 4) {
        W[i] += SHIFT;
    }
    if (!ss_solve3(W, minus_b, X)) {
        X[0] = X[1] = X[2] = 0.0;
        return false;
    }
    double u[3];
    velocity(k, X, u);
    const bool held = !singular || ss_norm_inf3(u) <= tolerance;
    return held && X[0] >= 0.0 && ss_length2(X[1], X[2]) <= k->mu * X[0];
}

// Writes X by (1). Returns false with X = 0 where no r_N > 0 stops the normal velocity.
static bool duriez_slide(const contact *k, const double t[2], double X[3])
{
    const double response = k->W[0] + k->mu * (k->W[1] * t[0] + k->W[2] * t[1]);
    const bool possible = response > 0.0;
    X[0] = possible ? -k->b[0] / response : 0.0;
    X[1] = k->mu * X[0] * t[0];
    X[2] = k->mu * X[0] * t[1];
    return possible;
}

static ss_local_info solve06(const ss_local *p, const ss_local_goal *goal, const void *unused,
                             double r[3])
{
    (void)unused;
    const contact k = duriez_scaled(p);
    double X[3] = {0.0}, t[2];
    bool answered = k.b[0] >= 0.0 || sticks(&k, goal->tolerance, X);
    if (!answered) {
        unit(X, t);
        answered = duriez_slide(&k, t, X);
    }
    unscale(&k, X, r);
    return (ss_local_info){.outcome = answered ? SS_CONVERGED : SS_STALLED,
                           .iterations = 1,
                           .error = ss_local_error(p, goal, r)};
}

// Makes the pass (3), with the velocities at r.
static ss_local_info solve06_sofa(const ss_local *p, const ss_local_goal *goal, const void *unused,
                                  double r[3])
{
    (void)unused;
    const contact k = duriez_scaled(p);
    if (!(k.W[0] > LEAST_SHARE)) {
        return (ss_local_info){.outcome = SS_NOT_COVERED, .error = NAN};
    }
    double X[3] = {k.hat.scale * r[0], k.hat.scale * r[1], k.hat.scale * r[2]}, u[3];
    velocity(&k, X, u);
    const double pushed = X[0] - u[0] / k.W[0], normal = pushed > 0.0 ? pushed : 0.0;
    const double change = normal - X[0];
    X[0] = normal;
    X[1] -= k.p_T * (u[1] + k.W[3] * change);
    X[2] -= k.p_T * (u[2] + k.W[6] * change);
    const double length = ss_length2(X[1], X[2]), reach = k.mu * normal;
    const double clip = length > reach ? reach / length : 1.0;
    X[1] *= clip;
    X[2] *= clip;
    unscale(&k, X, r);
    return (ss_local_info){
        .outcome = SS_CONVERGED, .iterations = 1, .error = ss_local_error(p, goal, r)};
}

static bool small_change(const double old[3], const double X[3])
{
    const double d[3] = {X[0] - old[0], X[1] - old[1], X[2] - old[2]};
    return ss_dot3(d, d) < SMALL_CHANGE * SMALL_CHANGE * ss_dot3(X, X);
}

// Finds the fixed point of (1) and (2) from the direction t.
static ss_local_info duriez_iterate(const contact *k, const ss_local *p, const ss_local_goal *goal,
                                    int passes, double t[2], double r[3])
{
    ss_fb_iterate at = {.least = HUGE_VAL};
    ss_local_info info = {.outcome = SS_MAX_ITER, .error = NAN};
    double u[3], old[3] = {0.0};
    while (info.iterations < passes) {
        info.iterations++;
        if (!duriez_slide(k, t, at.X)) {
            info.outcome = SS_STALLED;
            break;
        }
        if (ss_fb_reached(&k->hat, p, goal, &at, r, &info)) {
            return info;
        }
        if (small_change(old, at.X)) {
            info.outcome = SS_STALLED;
            break;
        }
        memcpy(old, at.X, sizeof old);
        velocity(k, at.X, u);
        const double next[3] = {at.X[0], at.X[1] - k->p_T * u[1], at.X[2] - k->p_T * u[2]};
        unit(next, t);
    }
    ss_fb_settle(&k->hat, p, goal, &at, r, &info);
    return info;
}

static ss_local_info solve08(const ss_local *p, const ss_local_goal *goal, const void *given,
                             double r[3])
{
    const settings *set = given;
    const contact k = duriez_scaled(p);
    double X[3] = {0.0}, t[2];
    if (k.b[0] >= 0.0 || sticks(&k, goal->tolerance, X)) {
        unscale(&k, X, r);
        const double error = ss_local_error(p, goal, r);
        return (ss_local_info){.outcome = error <= goal->tolerance ? SS_CONVERGED : SS_STALLED,
                               .iterations = 1,
                               .error = error};
    }
    unit(set->from == FROM_LAST && (r[1] != 0.0 || r[2] != 0.0) ? r : X, t);
    return duriez_iterate(&k, p, goal, set->passes, t, r);
}

const ss_local_solver ss_duriez06 = {
    .card = {.name = "duriez06",
             .law = SS_APPROXIMATE,
             .reference = "D06b D11",
             .about = "Takes off, sticks, or slides along the direction of the sticking "
                      "impulse, in one pass. Freezing that direction makes it another law "
                      "than Coulomb's. It stops on its own relative step; the judge says how "
                      "far its answer is from Coulomb's law."},
    .solve = solve06,
};

const ss_local_solver ss_duriez06_sofa = {
    .card = {.name = "duriez06-sofa",
             .law = SS_APPROXIMATE,
             .reference = "D06b D11",
             .about = "One pass of projections in which the tangential velocity follows the "
                      "change of the normal impulse, as the SOFA framework does it. Its law "
                      "is not Coulomb's. It stops on its own relative step; the judge says "
                      "how far its answer is from Coulomb's law."},
    .solve = solve06_sofa,
};

const ss_local_solver ss_duriez08 = {
    .card = {.name = "duriez08",
             .law = SS_EXACT,
             .reference = "D11",
             .about = "Takes off, sticks, or slides along a direction that is iterated until "
                      "it no longer turns. Where that converges the answer is Coulomb's. It "
                      "often does not converge if the contact is strongly coupled to itself.",
             .keys = KEYS,
             .defaults = &DEFAULTS,
             .settings_size = sizeof(settings),
             .printed = "passes=40,from=sticking"},
    .solve = solve08,
};
