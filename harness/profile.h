// harness/profile.h -- performance profiles (Dolan, More 2002).
//
// On problem p solver s takes the time T(p, s), infinite where it is not solved. Its ratio is
// T(p, s) / min_s T(p, s); its profile at x is the share of problems with a ratio of at most x.
#pragma once

#include "harness/trials.h"

// The ratio on problem p; infinite where the entrant did not solve it.
double ss_profile_ratio(const ss_trials *trials, const ss_entrant *entrant, size_t p);

// Over all problems of the comparison, run or not.
double ss_profile_percent(const ss_trials *trials, const ss_entrant *entrant, double x);
