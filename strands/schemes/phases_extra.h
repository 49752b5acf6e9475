// strands/schemes/phases_extra.h -- goals of posed tips and limits of joints, as rows (internal).
//
// The tip of a strand that is posed has three rows without bounds, for the acceleration of [H06] (15),
// pddot + kp (p - x) + kd (pdot - xdot); a joint near its limit has one (model.h).
//
// doc/strands.md, "Phases".
#pragma once

#include "strands/schemes/phases.h"
#include "strands/schemes/rows.h"

typedef struct ss_extras {
    ss_rows *rows; // that they are added to
    const ss_stepper *s;
    const ss_phases_settings *set;
    const double *v;        // [nv] of the free dofs, at the end of the step without these rows
    double *around;         // [nv] scratch
    ss_joint_limit *limits; // [nv] scratch
    double h;
} ss_extras;

// Goals come first. False without memory.
bool ss_extras_add(const ss_extras *e);
// More rows of limits, of the joints that would end beyond theirs at the velocities `end` [nv] of the free dofs, which
// all rows together bring about. False without memory.
bool ss_extras_tighten(const ss_extras *e, const double *end);
// Of rows that are measured: the goals, which begin at `first`, ask for little where they cannot move.
void ss_extras_soften(const ss_rows *rows, int first);
