#include "solvers/global/auto_price.h"

#include <math.h>

#include "solvers/linear/implicit.h"

// A multiplication of a factorisation in floats; one in doubles takes twice as long.
#define VISITS_OF_WORK   8e-4
#define VISITS_OF_NUMBER 5e-3 // of a factor, in a solution

#define PPA_STEPS  30.0
#define PPA_VISITS 15.0 // in a step, without its factorisation

#define ADMM_STEPS  20.0
#define ADMM_VISITS 1.5  // in a step, without the solution
#define ADMM_SETUP  20.0 // without its factorisation

ss_prices ss_prices_of(const ss_problem *p)
{
    const double n = p->ncontacts, work = ss_implicit_guess(p);
    const double factor = VISITS_OF_WORK * work / n;
    const double step = ADMM_VISITS + VISITS_OF_NUMBER * pow(work, 2.0 / 3.0) / n;
    return (ss_prices){.ppa = PPA_STEPS * (PPA_VISITS + factor),
                       .admm = ADMM_SETUP + 2.0 * factor + ADMM_STEPS * step,
                       .admm_step = step};
}
