// strands/step/step_control.h -- what a step is rejected for, and where contacts are
// sought (internal).
//
// doc/strands.md, "Step control".
#pragma once

#include "strands/step/batch.h"
#include "strands/world.h"
#include "strands/step/step.h"

// The margin of detection for a step h after one with normal velocities up to `speed`.
double ss_step_margin(const ss_step_options *o, double radius, double h, double speed);

// Whether the pair `after` went too far without being among `contacts` (step.h).
bool ss_step_reached_too_far(const ss_world *w, const ss_step_options *o, const ss_snapshot *from,
                             const ss_touch *contacts, int ncontacts, const ss_touch *after);

// The energies of all strands, and the lengths of their polylines.
ss_energy ss_step_energy(const ss_world *w, const ss_world_state *state, const ss_snapshot *at);
double ss_step_length(const ss_world *w, const ss_snapshot *at);
double ss_step_strand_length(const ss_world *w, int k, const ss_snapshot *at);

// Whether the strands that were at `from` with energy `before` are somewhere and do something
// sensible at `to`.
bool ss_step_exploded(const ss_world *w, const ss_step_options *o, const ss_snapshot *from,
                      const ss_snapshot *to, const ss_energy *before, const ss_energy *after);
// The same of strands that were stepped side by side.
bool ss_step_batch_exploded(const ss_world *w, const ss_step_options *o,
                            const ss_motion_state *from, const ss_motion_state *to,
                            const ss_batch_report *report);
