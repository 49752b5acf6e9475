// harness/simulate/outputs.h -- the files that a simulation writes while it runs: iterates, and
// steps as problems. A file belongs to one simulation at a time, since two would spoil each other's
// output.
#pragma once

#include "base/status.h"
#include "strands/step/step.h"
#include "problems/store/store.h"

#include <stdio.h>

// Opens a file for writing and takes its lock; its content stays until ss_hold_empty.
ss_status ss_hold_open(const char *path, FILE **file, ss_error *e);
ss_status ss_hold_empty(FILE *file, const char *path, ss_error *e);

// ---- iterates

// a CSV row per iterate of the scheme thesis, for curves over its iterations.

typedef struct ss_iterates ss_iterates;

// An existing file is emptied. NULL with a sentence.
ss_iterates *ss_iterates_open(const char *path, ss_error *e);
// The iterate that the report is of, of step `step`, with the measures of its answer.
void ss_iterates_add(ss_iterates *a, int step, const ss_step_report *report, int contacts,
                     const ss_step_answer *answer);
// Tells whether all of it was written, and frees; takes NULL.
ss_status ss_iterates_close(ss_iterates *a, ss_error *e);

// ---- dump

// one-step problems of a simulation, spread over its run, into a file.
//
// The run is cut into `count` stretches of equal length, without its first steps if these are to be
// left out: scenes start with transients. Of each stretch the first step is taken of which more
// than 30 % of the contacts carry an impulse: problems of strands that barely touch are trivial. A
// stretch without such a step gives its last one, or, if that has no contact, the one before it
// with the largest share of them; so does the stretch in which a run ends early. After a stretch
// without any contact what is left of the run is cut afresh.
//
// The file belongs to one simulation at a time: one that finds it locked, or written by another
// program since it began, fails and leaves it alone.
//
// The file is written when the run ends, however it does, and before that now and then, so that
// even a kill leaves a valid file with all but the last problems. Until it is complete the problems
// are in memory, compressed; of others at most one is.

// Properties that all problems of a dump share.
typedef struct ss_dump_source {
    const char *scene;
    const char *description;
    uint64_t seed;
} ss_dump_source;

typedef struct ss_dump ss_dump;

// Opens a dump of `count` of the steps after `from`. Fails if the file cannot be written.
ss_status ss_dump_open(const char *path, int count, int from, int steps,
                       const ss_dump_source *source, ss_dump **dump, ss_error *e);
// Step `step`, from 1; p NULL for one without contacts.
ss_status ss_dump_offer(ss_dump *dump, int step, int active, const ss_problem *p, ss_error *e);
int ss_dump_taken(const ss_dump *dump);
int ss_dump_kept(const ss_dump *dump); // of these: on disk by now
// A writing failed, which ss_dump_offer has said: there will be no other.
bool ss_dump_failed(const ss_dump *dump);
// The run is over: takes what the present stretch has, and writes what is not written yet.
ss_status ss_dump_finish(ss_dump *dump, ss_error *e);
// Finishes and frees; dump may be NULL. A dump without problems leaves the disk as it was.
ss_status ss_dump_close(ss_dump *dump, ss_error *e);
