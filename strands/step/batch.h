// strands/step/batch.h -- strands that are alike and touch nothing, stepped side by side.
//
// A model may offer to step many strands at once (the entry `batch` of its table). The stepper
// takes it where contacts are off and the world has more than one strand, all of them of that
// model, alike, on one body and without pulls; all other worlds are stepped strand by strand, to
// the same answers but for rounding. Which steps are taken, and what is told of them, stays the
// stepper's (step.h).
#pragma once

#include "strands/system.h"

// An end of a step. Sums are over the strands.
typedef struct ss_batch_end {
    ss_energy energy;
    double root_speed, root_square; // m/s, m^2/s^2: |v| and |v|^2 of roots that the body carries
} ss_batch_end;

typedef struct ss_batch_report {
    ss_batch_end from, to; // NaN or infinite where a strand is
    double length;         // m, of all polylines at the end
    double speed;          // m/s, the largest of a point against the body
    double moved;          // m, the longest way of a point against the body
} ss_batch_report;

typedef struct ss_batch_model {
    // Whether two strands differ in nothing but where they are rooted, where they are and how they
    // move.
    bool (*alike)(const void *strand, const void *other);

    // For the strands of a world, which are as said above and outlive the batch. threads >= 1; no
    // bit of a step depends on them.
    ss_status (*make)(const ss_world *w, int threads, void **batch, ss_error *e);
    void (*free)(void *batch); // takes NULL

    // Steps from where the world is, which is left as it is, by h: q and v of `end` are filled as
    // one step of each strand by system.h would, theta = 1. The body moves from `from` to `to`.
    void (*step)(void *batch, const ss_world *w, const ss_motion_state *from,
                 const ss_motion_state *to, double h, const ss_world_state *end,
                 ss_batch_report *report);
} ss_batch_model;
