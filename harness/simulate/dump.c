#include "harness/simulate/dump.h"

#include <stdio.h>
#include <stdlib.h>

#include "solvers/clock.h"

#define ACTIVE_SHARE 0.3
// Between two writings pass so many times the seconds that the last one took.
#define WRITE_PAUSE 20.0

struct ss_dump {
    ss_writer *writer;
    char scene[96], description[SS_DUMP_DESCRIPTION];
    uint64_t seed;
    int count, steps; // asked for; of the run
    int taken, kept;  // kept: on disk
    int begin, end;   // the present stretch: steps begin + 1 .. end
    bool done;        // its step is taken
    int digits;       // of the step in a problem's name
    bool unwritten, failed;
    double written, cost; // s: when the last writing ended, and how long it took
};

// The stretch behind step `begin`.
static void next_stretch(ss_dump *a, int begin)
{
    const int left = a->count - a->taken;
    a->begin = begin;
    a->end = left > 0 ? begin + (a->steps - begin) / left : a->steps;
    a->end = a->end > begin ? a->end : begin + 1;
    a->done = left <= 0;
}

ss_status ss_dump_open(const char *path, int count, int from, int steps,
                       const ss_dump_source *source, ss_dump **dump, ss_error *e)
{
    *dump = NULL;
    ss_dump *a = calloc(1, sizeof *a);
    if (a == NULL) {
        return ss_fail_memory(e, "the dump");
    }
    *a = (ss_dump){.seed = source->seed, .count = count, .steps = steps};
    snprintf(a->scene, sizeof a->scene, "%s", source->scene);
    snprintf(a->description, sizeof a->description, "%s", source->description);
    a->digits = snprintf(NULL, 0, "%d", steps);
    next_stretch(a, from);
    const ss_status status = ss_writer_open(path, &a->writer, e);
    if (status != SS_OK) {
        free(a);
        return status;
    }
    *dump = a;
    return SS_OK;
}

static ss_status write_all(ss_dump *a, ss_error *e)
{
    const double start = ss_clock_seconds(CLOCK_MONOTONIC);
    const ss_status status = ss_writer_commit(a->writer, e);
    a->written = ss_clock_seconds(CLOCK_MONOTONIC);
    a->cost = a->written - start;
    a->unwritten = false;
    a->failed = status != SS_OK;
    a->kept = status == SS_OK ? a->taken : a->kept;
    return status;
}

static ss_status take(ss_dump *a, int step, const ss_problem *p, ss_error *e)
{
    char name[40], title[160];
    snprintf(name, sizeof name, "step-%0*d", a->digits, step);
    snprintf(title, sizeof title, "%s, step %d", a->scene, step);
    ss_problem described = *p; // with the arrays of p, which the writer does not change
    described.title = title;
    described.description = a->description;
    ss_provenance *from = &described.provenance;
    snprintf(from->scene, sizeof from->scene, "%s", a->scene);
    from->has_seed = true;
    from->seed = a->seed;
    from->step = step;
    const ss_status status = ss_writer_add(a->writer, name, &described, e);
    a->taken += status == SS_OK;
    a->done = true;
    a->unwritten = true;
    return status;
}

static bool is_due(const ss_dump *a)
{
    const double now = ss_clock_seconds(CLOCK_MONOTONIC);
    return a->unwritten && (a->taken == 1 || now >= a->written + WRITE_PAUSE * a->cost);
}

ss_status ss_dump_offer(ss_dump *a, int step, int active, const ss_problem *p, ss_error *e)
{
    ss_status status = SS_OK;
    if (a->taken == a->count || step <= a->begin) {
        return SS_OK;
    }
    const bool busy = p != NULL && active > ACTIVE_SHARE * p->ncontacts;
    if (p != NULL && !a->done && (busy || step >= a->end)) {
        status = take(a, step, p, e);
    }
    if (step >= a->end) {
        next_stretch(a, step);
    }
    return status == SS_OK && is_due(a) ? write_all(a, e) : status;
}

int ss_dump_taken(const ss_dump *a)
{
    return a->taken;
}

int ss_dump_kept(const ss_dump *a)
{
    return a->kept;
}

bool ss_dump_failed(const ss_dump *a)
{
    return a->failed;
}

ss_status ss_dump_close(ss_dump *a, ss_error *e)
{
    if (a == NULL) {
        return SS_OK;
    }
    const ss_status status = a->unwritten ? write_all(a, e) : SS_OK;
    ss_writer_close(a->writer);
    free(a);
    return status;
}
