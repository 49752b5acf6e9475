// solvers/solve_in_child.h -- a solve in its own process (internal).
//
// Whatever a solver does there is one outcome here: it may abort, exit, hang, print or leak. The
// child is a fork of this process with nothing but its memory (base/child.h). It writes its
// iterates into memory that both share, so that the iterate of a child that had to be killed is not
// lost. The child must not enter a library whose threads stayed behind in the parent.
#pragma once

#include "solvers/solver.h"

// ---- Any solver

// Runs ss_solve in a child, with the same bits and the same seconds. The solver keeps its limits as
// it does here, the interrupt is passed on to it, and the listener hears each iterate in this
// process. A child with which patience is at its end (base/child.h) is killed: SS_TIME_LIMIT or
// SS_INTERRUPTED. A child that dies is SS_CRASHED. Both have the cause in result->why, and r is
// then the best, by the judge, of the start and the arrays that the child left behind. SS_SYSTEM
// may mean that the child had no memory.
ss_status ss_solve_contained(const ss_task *task, double *r, ss_result *result, ss_error *e);

// ---- The code of others, which knows nothing of limits and listeners

// The child's messages, in shared memory.
typedef struct ss_shared_solve {
    ss_status status; // status of the work, and its sentence
    ss_error error;
    ss_result result; // `iterations` grows while the work goes on; all else is set before it ends
    bool finished;    // true once the work has returned
    size_t size;      // dim ncontacts
    double *best;     // [size] best answer of the work; the start at first
    double *latest;   // [size] last iterate of the work; the start at first
} ss_shared_solve;

typedef void ss_child_work(const ss_task *task, ss_shared_solve *shared);

// Runs `work` in a child and waits for its end; the parent keeps the time limit and looks at
// `interrupted`. r becomes the best, by the judge, of the start and the arrays that the child left
// behind. A child that dies is SS_CRASHED, with the cause in result->why. seconds and cpu_seconds
// are the child's if it has reported them.
ss_status ss_solve_in_child(const ss_task *task, ss_child_work *work, double *r, ss_result *result,
                            ss_error *e);
