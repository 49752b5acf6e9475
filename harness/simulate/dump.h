// harness/simulate/dump.h -- one-step problems of a simulation, spread over its run, into a file.
//
// The run is cut into `count` stretches of equal length, without its first steps if these are to be
// left out: scenes start with transients. Of each stretch the first step is taken
// of which more than 30 % of the contacts carry an impulse: problems of strands that barely touch
// are trivial. A stretch without such a step gives its last one, or, if that has no contact, the one before
// it with the largest share of them; so does the stretch in which a run ends early. After a stretch
// without any contact what is left of the run is cut afresh.
//
// The file belongs to one simulation at a time: one that finds it locked, or written by another program
// since it began, fails and leaves it alone.
//
// The file is written when the run ends, however it does, and before that now and then, so that
// even a kill leaves a valid file with all but the last problems. Until it is complete the
// problems are in memory, compressed; of others at most one is.
#pragma once

#include "problems/store/store.h"

// What is the same in every problem.
typedef struct ss_dump_source {
    const char *scene;
    const char *description;
    uint64_t seed;
} ss_dump_source;

typedef struct ss_dump ss_dump;

// Of the steps after `from`. Tells whether the file can be written.
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
