#include "harness/profile.h"

#include <math.h>

static double time_of(const ss_trial *trial)
{
    return trial->solved && trial->seconds > 0.0 ? trial->seconds : INFINITY;
}

double ss_profile_ratio(const ss_trials *t, const ss_entrant *entrant, size_t p)
{
    double best = INFINITY;
    for (size_t k = 0; k < t->nentrants; k++) {
        best = fmin(best, time_of(&t->entrants[k].trials[p]));
    }
    const double own = time_of(&entrant->trials[p]);
    return isfinite(own) ? own / best : INFINITY;
}

double ss_profile_percent(const ss_trials *t, const ss_entrant *entrant, double x)
{
    size_t within = 0;
    for (size_t p = 0; p < t->nproblems; p++) {
        within += ss_profile_ratio(t, entrant, p) <= x;
    }
    return 100.0 * (double)within / (double)t->nproblems;
}
