// solvers/contact_normal.h -- whether the normal part of a local answer is as near to its law as the
// goal asks, and what is done if not (internal).
#pragma once

#include "solvers/contact.h"
#include "solvers/residual.h"

// m/s, at the scale of the goal.
static inline double ss_contact_normal_missed(const ss_local *p, const ss_local_goal *goal,
                                              const double r[3])
{
    double u[3];
    ss_local_velocity(p, r, u);
    return SS_NORMAL_WEIGHT * ss_normal_size(goal->scale, r[0], u[0]);
}

static inline bool ss_contact_misses_normal(const ss_local *p, const ss_local_goal *goal,
                                            const ss_local_info *info, const double r[3])
{
    return goal->normal > 0.0 && info->outcome == SS_CONVERGED && !info->normal_met &&
           !(ss_contact_normal_missed(p, goal, r) <= goal->normal);
}

// The method once more, from the answer r that missed.
ss_local_info ss_contact_ask_again(const ss_method *method, const ss_local *p,
                                   const ss_local_goal *goal, int iterations, double r[3],
                                   ss_local_counters *counters);
