#include "solvers/global/auto_price.h"

#include <math.h>

#include "solvers/linear/implicit.h"
#include "solvers/sweep/coupling.h"

// A multiplication of a factorisation in floats; one in doubles takes twice as long.
#define VISITS_OF_WORK   8e-4
#define VISITS_OF_NUMBER 5e-3 // of a factor, in a solution

#define PPA_STEPS  30.0
#define PPA_VISITS 15.0 // in a step, without its factorisation

#define ADMM_STEPS  20.0
#define ADMM_VISITS 1.5  // in a step, without the solution
#define ADMM_SETUP  20.0 // without its factorisation

#define IPM_STEPS  20.0
#define IPM_VISITS 5.0   // in a step, without its factorisation,
#define IPM_SHARE  0.4   // whose first half is in floats
#define IPM_SPREAD 100.0 // of tr W_ii, at most

ss_prices ss_prices_of(const ss_problem *p)
{
    const double n = p->ncontacts, work = ss_implicit_guess(p);
    const double factor = VISITS_OF_WORK * work / n;
    const double step = ADMM_VISITS + VISITS_OF_NUMBER * pow(work, 2.0 / 3.0) / n;
    return (ss_prices){.ppa = PPA_STEPS * (PPA_VISITS + factor),
                       .ipm = IPM_STEPS * (IPM_VISITS + IPM_SHARE * factor),
                       .admm = ADMM_SETUP + 2.0 * factor + ADMM_STEPS * step,
                       .admm_step = step};
}

// Of bodies that are eliminated, not contacts. False, too, where a contact has tr W_ii = 0.
static bool is_even(const ss_coupling *c)
{
    if (c->is_explicit || !ss_implicit_prefers_bodies(c->white)) {
        return false;
    }
    double least = INFINITY, most = 0.0;
    for (int i = 0; i < c->n; i++) {
        least = fmin(least, c->compliance[i]);
        most = fmax(most, c->compliance[i]);
    }
    return least > 0.0 && most <= IPM_SPREAD * least;
}

bool ss_prices_are_dense(const ss_problem *p)
{
    return p->form == SS_GLOBAL && p->ndofs < 0.5 * p->dim * p->ncontacts;
}

bool ss_prices_favour_ipm(const ss_problem *p, ss_mass **factor)
{
    if (!ss_prices_are_dense(p)) {
        return false;
    }
    ss_coupling *c = NULL;
    ss_error ignored;
    const bool even =
        ss_coupling_with(p, factor, NULL, SS_FORM_AUTO, false, NULL, &c, &ignored) == SS_OK &&
        is_even(c);
    ss_coupling_free(c);
    return even;
}
