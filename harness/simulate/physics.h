// harness/simulate/physics.h -- whether a run can be a motion of its model.
//
// Measures of where every step ends, none of which asks which contacts were found:
//
//     gain      growth of kinetic, elastic and potential energy together since a source last acted,
//               as a share of the most kinetic energy that there could have been since then
//     stretch   share by which a strand is longer than it was made, the most of any
//     overlap   of vertices and edges with all obstacles and strands, in radii
//
// Sources are bodies that move, with what they carry, winds and poses: their work is not known
// here, and the measure begins anew behind them.
//
// Beyond its first bound a measure is a remark: documented scenes are rough on purpose, such as
// chains that are measured by their stretch ([HH13]), contacts without looks, and vertices that
// alone touch obstacles ([J20]). Beyond its last bound it ends the run as exploded: more than half
// of the energy came from nowhere, or chains, which are to keep their length, are twice as long.
// The stretch of elastic strands is a matter of their material, and an overlap moves nothing:
// these remain remarks.
#pragma once

#include "base/status.h"
#include "strands/step/step.h"

typedef enum ss_physics_kind {
    SS_PHYSICS_GAIN,
    SS_PHYSICS_STRETCH,
    SS_PHYSICS_OVERLAP,
    SS_PHYSICS_KINDS
} ss_physics_kind;

// A measure over all steps.
typedef struct ss_physics_measure {
    double worst;
    int step; // where that was
    int over; // steps beyond the first bound
} ss_physics_measure;

// All of it is zero before the first step, but for `ends`.
typedef struct ss_physics {
    bool ends; // the last bounds end the run
    ss_physics_measure measures[SS_PHYSICS_KINDS];
    int steps;
    bool alone;       // no source acted in the last step
    ss_energy before; // where the present time without sources began
    double least;     // J, of all energies since then, together
    double fallen;    // J, the most by which elastic and potential energy were less than then
} ss_physics;

// Measures the step that the world has taken. SS_BAD_INPUT with a sentence where the run has
// exploded.
ss_status ss_physics_see(ss_physics *p, const ss_world *w, const ss_step_report *report,
                         ss_error *e);

// Writes the sentence of a measure that is a remark; false, and nothing, where it is none.
bool ss_physics_remark(const ss_physics *p, ss_physics_kind kind, char *text, size_t room);
// Names of all remarks with a space between; "" without.
void ss_physics_remarks(const ss_physics *p, char *text, size_t room);
