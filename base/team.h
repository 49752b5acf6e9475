// base/team.h -- threads that share work (internal).
//
// The caller works, too, and takes over items that the others have not begun: on a busy machine it
// waits only for those that have begun an item. A thread without work looks for some for twenty
// microseconds and then sleeps. (Threads that wait for each other actively, as those of OpenMP do,
// take a hundred times the seconds of one where another program has a core.) Items may be done in
// any order and by any thread: results must not depend on it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct ss_team ss_team;

// Does item 0 .. items - 1; thread is 0 .. size - 1, and no two threads have the same number.
typedef void ss_team_work(void *context, int item, int thread);

// Makes a team of so many threads, the caller's among them, and at most as many as there are cores.
// They are started when there is work; the system may give fewer. Returns NULL without memory.
ss_team *ss_team_new(int threads);
int ss_team_size(const ss_team *team);
// Does all items before it returns. team may be NULL: then the caller is alone.
void ss_team_run(ss_team *team, int items, ss_team_work *work, void *context);
void ss_team_free(ss_team *team); // takes NULL

// Returns whether so much work, in nanoseconds of one thread, is worth sharing: waking a thread
// takes longer than a small loop. Threads that are awake help with less work.
bool ss_team_pays(ss_team *team, double nanoseconds);

// Works on things first .. end - 1 of n.
typedef void ss_team_range(void *context, int first, int end);
// Works on all of n things, each of about so many nanoseconds; by the caller alone where sharing
// does not pay.
void ss_team_divide(ss_team *team, int n, double nanoseconds, ss_team_range *work, void *context);

// Returns where part 0 .. nparts of n things begins, if they are cut into nparts equal ones.
static inline int ss_team_cut(int n, int part, int nparts)
{
    return (int)((int64_t)n * part / nparts);
}
