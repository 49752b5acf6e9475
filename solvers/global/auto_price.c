#include "solvers/global/auto_price.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "problems/matrix/bodies.h"
#include "solvers/linear/implicit.h"
#include "solvers/vectors.h"

// A multiplication of a factorisation in floats; one in doubles takes twice as long.
#define VISITS_OF_WORK   8e-4
#define VISITS_OF_NUMBER 5e-3 // of a factor, in a solution

#define PPA_STEPS  30.0
#define PPA_VISITS 15.0 // in a step, without its factorisation

#define ADMM_STEPS  20.0
#define ADMM_VISITS 1.5  // in a step, without the solution
#define ADMM_SETUP  20.0 // without its factorisation

#define IPM_STEPS       20.0
#define IPM_VISITS      5.0   // in a step, without its factorisation,
#define IPM_SHARE       0.4   // whose first half is in floats
#define LOOKED_AT       64    // contacts
#define WHITENED        8     // columns of a contact at most
#define INTERIOR_SPREAD 100.0 // of tr W_ii, at most

static bool are_rigid(const ss_problem *p, int bodies)
{
    return p->ndofs <= (p->dim == 3 ? 6 : 3) * bodies;
}

// A problem in local form does not tell.
static bool may_be_rigid(const ss_problem *p)
{
    ss_bodies bodies;
    ss_error ignored;
    if (p->form != SS_GLOBAL || ss_bodies_find(p, &bodies, &ignored) != SS_OK) {
        return true;
    }
    const bool rigid = are_rigid(p, bodies.nbodies);
    ss_bodies_free(&bodies);
    return rigid;
}

ss_prices ss_prices_of(const ss_problem *p)
{
    const double n = p->ncontacts, work = ss_implicit_guess(p);
    const double factor = VISITS_OF_WORK * work / n;
    const double step = ADMM_VISITS + VISITS_OF_NUMBER * pow(work, 2.0 / 3.0) / n;
    return (ss_prices){.ppa = PPA_STEPS * (PPA_VISITS + factor),
                       .ipm = IPM_STEPS * (IPM_VISITS + IPM_SHARE * factor),
                       .admm = may_be_rigid(p) ? ADMM_SETUP + 2.0 * factor + ADMM_STEPS * step
                                               : INFINITY,
                       .admm_step = step};
}

bool ss_prices_are_dense(const ss_problem *p)
{
    return p->form == SS_GLOBAL && p->ndofs < 0.5 * p->dim * p->ncontacts;
}

// Of bodies that are eliminated, not contacts. False, too, where a contact has tr W_ii = 0.
bool ss_prices_are_even(const ss_problem *p, const ss_coupling *c)
{
    if (!ss_prices_are_dense(p) || c->is_explicit || !ss_implicit_prefers_bodies(c->white)) {
        return false;
    }
    double least = INFINITY, most = 0.0;
    for (int i = 0; i < c->n; i++) {
        least = fmin(least, c->compliance[i]);
        most = fmax(most, c->compliance[i]);
    }
    return least > 0.0 && most <= INTERIOR_SPREAD * least;
}

// The least body of contact i above `body`; INT_MAX: none.
static int next_body(const ss_problem *p, const ss_mass *mass, int i, int body)
{
    int next = INT_MAX;
    for (int k = p->H.start[p->dim * i]; k < p->H.start[p->dim * (i + 1)]; k++) {
        const int other = ss_mass_body_of(mass, p->H.row[k]);
        next = other > body && other < next ? other : next;
    }
    return next;
}

// tr W_ii; NAN where a body is too large.
static double find_trace(const ss_problem *p, const ss_mass *mass, int i)
{
    double X[SS_IMPLICIT_ROOM * WHITENED], trace = 0.0;
    for (int body = next_body(p, mass, i, -1); body < INT_MAX; body = next_body(p, mass, i, body)) {
        const int size = ss_mass_size(mass, body), columns = ss_mass_columns(mass, body, p->dim);
        if (size > SS_IMPLICIT_ROOM || columns > WHITENED) {
            return NAN;
        }
        memset(X, 0, (size_t)(size * columns) * sizeof *X);
        for (int c = 0; c < p->dim; c++) {
            for (int k = p->H.start[p->dim * i + c]; k < p->H.start[p->dim * i + c + 1]; k++) {
                if (ss_mass_body_of(mass, p->H.row[k]) == body) {
                    X[ss_mass_place(mass, p->H.row[k]) * columns + c] = p->H.x[k];
                }
            }
        }
        ss_mass_whiten(mass, body, X, columns);
        trace += ss_vector_dot((size_t)(size * columns), X, X);
    }
    return trace;
}

bool ss_prices_favour_interior(const ss_problem *p, ss_mass **factor)
{
    ss_mass *mass = NULL;
    ss_error ignored;
    if (!ss_prices_are_dense(p) || ss_mass_find(p, factor, &mass, &ignored) != SS_OK) {
        return false;
    }
    const bool rigid = are_rigid(p, ss_mass_bodies(mass));
    double least = rigid ? 0.0 : INFINITY, most = 0.0;
    const int looks = p->ncontacts < LOOKED_AT ? p->ncontacts : LOOKED_AT;
    for (int k = 0; k < looks && least > 0.0; k++) {
        const double trace = find_trace(p, mass, (int)((double)p->ncontacts * k / looks));
        least = trace < least || isnan(trace) ? trace : least;
        most = fmax(most, trace);
    }
    ss_mass_free(mass);
    return least > 0.0 && most <= INTERIOR_SPREAD * least;
}
