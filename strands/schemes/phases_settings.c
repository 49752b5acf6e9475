// What the settings of the phases need (phases.h).
#include <string.h>

#include "strands/schemes/phases.h"

const char *const ss_phases_goals[] = {"off", "tip", NULL};

static bool is_among(const char *key, const char *const *keys)
{
    int k = 0;
    while (keys[k] != NULL && strcmp(keys[k], key) != 0) {
        k++;
    }
    return keys[k] != NULL;
}

const char *ss_phases_key_needs(const ss_phases_settings *set, bool contacts, const char *key)
{
    static const char *const GOALS[] = {"kp", "kd", NULL},
                             *const FRICTION[] = {"stick", "sliding", NULL},
                             *const ROWS[] = {"sweeps", "omega", "eps", NULL};
    const bool goals = set->goal != SS_GOAL_OFF;
    if (!goals && is_among(key, GOALS)) {
        return "goal=tip";
    }
    if (!contacts && is_among(key, FRICTION)) {
        return "contacts=on";
    }
    return !contacts && !goals && set->limit == 0.0 && is_among(key, ROWS)
               ? "contacts=on, goal=tip or limit=RAD"
               : NULL;
}

// A goal pulls with the acceleration -kp x - kd v of the start of a step all through it, and x <- x + h v of its end.
// That has the eigenvalues of z^2 - (2 - h^2 kp - h kd) z + 1 - h kd, which leave the unit circle at
// h kd + h^2 kp/2 = 2: x then changes its sign and grows from step to step.
static ss_status check_gains(const ss_phases_settings *set, double h, ss_error *e)
{
    if (h * set->kd + 0.5 * h * h * set->kp <= 2.0) {
        return SS_OK;
    }
    return ss_fail(e, SS_BAD_INPUT,
                   "goals with kp=%g and kd=%g are overshot further in every step of %g s: take "
                   "kd dt + kp dt^2/2 at most 2, such as kd=%.3g,kp=%.3g, or a smaller --dt",
                   set->kp, set->kd, h, 0.2 / h, 0.01 / (h * h));
}

ss_status ss_phases_check(const ss_world *w, const ss_phases_settings *set, double h, ss_error *e)
{
    bool joints = false, poses = false;
    for (int k = 0; k < w->nstrands; k++) {
        joints = joints || w->strands[k].model->limits != NULL;
        poses = poses || w->strands[k].posing != NULL;
    }
    if (set->limit > 0.0 && !joints) {
        return ss_fail(e, SS_BAD_INPUT,
                       "limit=%g is for joints, which strands of the model %s do not have: take "
                       "oriented-strands",
                       set->limit, w->strands[0].model->name);
    }
    if (set->goal != SS_GOAL_OFF && !poses) {
        return ss_fail(e, SS_BAD_INPUT,
                       "goal=%s is for strands that are posed, and none of these is: leave it out",
                       ss_phases_goals[set->goal]);
    }
    return set->goal != SS_GOAL_OFF ? check_gains(set, h, e) : SS_OK;
}
