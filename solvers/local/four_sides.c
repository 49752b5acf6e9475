// solvers/local/four_sides.c -- 4sides: the cone replaced by a pyramid, solved by its ten cases.
//
// [D11] section 7.1 after Otaduy et al.; doc/formulation.md, "Pyramid". With |r_1| <= mu r_N
// and |r_2| <= mu r_N each tangent is complementary to its own velocity:
//
//     u_N = 0, r_N >= 0, and for k = 1, 2 one of
//         u_k = 0, |r_k| <= mu r_N;    r_k = mu r_N, u_k <= 0;    r_k = -mu r_N, u_k >= 0    (1)
//
// or r = 0 with u_N >= 0. Take-off is tried first, then the nine cases of (1), sticking first, each
// a system of three equations: exact for this law. The law depends on the frame, and its answers
// may lie outside Coulomb's cone.
#include "solvers/contact.h"
#include "solvers/local/local.h"
#include "solvers/small.h"

#include <string.h>

// A case that misses (1) by no more than this share of |b|_inf is taken at once; else the best of
// the nine is, if it misses by no more than the goal. Rounding of a well conditioned block is less.
#define NO_MISS_SHARE 1e-13

// Signs of r_k in (1), 0 where the tangent sticks.
typedef struct sign_case {
    int sign[2];
} sign_case;

static const sign_case CASES[9] = {
    {{0, 0}}, {{0, 1}}, {{0, -1}}, {{1, 0}}, {{-1, 0}}, {{1, 1}}, {{1, -1}}, {{-1, 1}}, {{-1, -1}},
};

// The block in X = s r: u = W X + b with W over s.
typedef struct contact {
    double W[9], b[3], mu;
} contact;

// Returns the larger number, or a NaN of either.
static double four_sides_larger(double a, double b)
{
    return a >= b || a != a ? a : b;
}

// Returns the distance of X from this case of (1), as a velocity.
static double miss(const contact *k, const sign_case *c, const double X[3])
{
    double worst = four_sides_larger(fabs(ss_dot3(k->W, X) + k->b[0]), -X[0]);
    for (int i = 0; i < 2; i++) {
        const double u = ss_dot3(k->W + 3 * (i + 1), X) + k->b[i + 1];
        const int sign = c->sign[i];
        const double here =
            sign == 0 ? four_sides_larger(fabs(u), fabs(X[i + 1]) - k->mu * X[0]) : sign * u;
        worst = four_sides_larger(worst, here);
    }
    return worst;
}

// Solves the three equations of the case. Returns false where they have no single answer.
static bool solve_case(const contact *k, const sign_case *c, double X[3])
{
    double A[9];
    double rhs[3] = {-k->b[0], -k->b[1], -k->b[2]};
    memcpy(A, k->W, sizeof A);
    for (int i = 0; i < 2; i++) {
        if (c->sign[i] != 0) {
            double *row = A + 3 * (i + 1);
            row[0] = -c->sign[i] * k->mu;
            row[1] = i == 0 ? 1.0 : 0.0;
            row[2] = i == 1 ? 1.0 : 0.0;
            rhs[i + 1] = 0.0;
        }
    }
    return ss_solve3(A, rhs, X);
}

// Finds the first case that holds, or the one that misses least. Returns infinity where none has an
// answer.
static double enumerate(const contact *k, double least[3], int *tried)
{
    const double no_miss = NO_MISS_SHARE * ss_norm_inf3(k->b);
    double smallest = HUGE_VAL;
    for (*tried = 0; *tried < 9 && !(smallest <= no_miss); ++*tried) {
        double X[3];
        if (!solve_case(k, &CASES[*tried], X)) {
            continue;
        }
        const double here = miss(k, &CASES[*tried], X);
        if (here < smallest) {
            smallest = here;
            memcpy(least, X, sizeof X);
        }
    }
    return smallest;
}

static ss_local_info four_sides_solve(const ss_local *p, const ss_local_goal *goal,
                                      const void *settings, double r[3])
{
    (void)settings;
    const double inverse = 1.0 / ss_local_own_scale(p);
    contact k = {.b = {p->b[0], p->b[1], p->b[2]}, .mu = p->mu};
    for (int i = 0; i < 9; i++) {
        k.W[i] = p->W[i] * inverse;
    }
    double X[3] = {0.0};
    ss_local_info info = {.outcome = SS_CONVERGED};
    if (!(k.b[0] >= 0.0)) {
        const double missed = enumerate(&k, X, &info.iterations);
        const double no_miss = NO_MISS_SHARE * ss_norm_inf3(k.b);
        if (!(missed <= four_sides_larger(no_miss, goal->tolerance))) {
            info.outcome = SS_NO_SOLUTION;
            X[0] = X[1] = X[2] = 0.0;
        }
    }
    for (int i = 0; i < 3; i++) {
        r[i] = X[i] * inverse;
    }
    info.error = ss_local_error(p, goal, r);
    return info;
}

const ss_local_solver ss_four_sides = {
    .card = {.name = "4sides",
             .law = SS_APPROXIMATE,
             .reference = "D11",
             .about = "Replaces the friction cone by a pyramid of four sides and solves its "
                      "ten cases exactly. The pyramid depends on the tangents of the contact "
                      "frame, so that answers may lie outside Coulomb's cone. It stops on its "
                      "own relative step; the judge says how far its answer is from Coulomb's "
                      "law.",
             .printed = "step=6e-4"},
    .solve = four_sides_solve,
};
