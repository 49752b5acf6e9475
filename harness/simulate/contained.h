// harness/simulate/contained.h -- a simulation in a process of its own.
//
// A simulation calls its solver thousands of times, so that a process for each would be felt: one
// process takes all steps, with the files and streams of this one, and another watches it. What the
// simulation finds out lies in memory that both share. It costs nothing per step.
#pragma once

#include "harness/simulate/simulation.h"

// How the process of a simulation ended.
typedef enum ss_simulation_end {
    SS_SIMULATION_ENDED,       // its work returned
    SS_SIMULATION_DIED,        // the sentence says how
    SS_SIMULATION_KILLED,      // a solve did not keep its time limit (solvers/patience.h)
    SS_SIMULATION_INTERRUPTED, // it was still building its scene, or took too long for its step
} ss_simulation_end;

// Calls work(context) in a child and waits for its end. The simulation and what else the work leaves
// to this process lie in shared memory (mmap). ss_interrupted is passed on to the simulation; one that
// builds its scene is killed then, and one that is still within a step after half a second, unless it
// keeps its strands in memory: these are to be written. why [room]: who did what, where its work did
// not return.
ss_status ss_simulation_contain(void (*work)(void *context), void *context,
                                ss_simulation *simulation, ss_simulation_end *end, char *why,
                                size_t room, ss_error *e);
