// Iterates and dumped steps, and the lock that keeps a second simulation out of the same file.
#include "harness/simulate/outputs.h"

#include "base/status.h"
#include "harness/table.h"
#include "problems/store/store.h"
#include "base/clock.h"
#include "strands/step/step.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- The lock of an output

// Takes the lock of an open file, which lasts until it is closed or its process ends. SS_SYSTEM if
// another program has it. Only regular files have one, on file systems that know locks.
static ss_status hold(int fd, const char *path, ss_error *e)
{
    struct stat about;
    const bool regular = fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
    if (regular && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        return ss_fail(e, SS_SYSTEM, "%s: another simulation is writing it; name another file",
                       path);
    }
    return SS_OK;
}

static ss_status fail_writing(const char *path, ss_error *e)
{
    return ss_fail(e, SS_SYSTEM, "%s: cannot be written: %s", path, strerror(errno));
}

ss_status ss_hold_open(const char *path, FILE **file, ss_error *e)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) {
        return fail_writing(path, e);
    }
    ss_status status = hold(fd, path, e);
    if (status == SS_OK) {
        *file = fdopen(fd, "w");
        status = *file != NULL ? SS_OK : ss_fail_memory(e, path);
    }
    if (status != SS_OK) {
        close(fd);
    }
    return status;
}

ss_status ss_hold_empty(FILE *file, const char *path, ss_error *e)
{
    const bool emptied = ftruncate(fileno(file), 0) == 0 || errno == EINVAL; // a pipe or a device
    return emptied ? SS_OK : fail_writing(path, e);
}

// ---- A row an iterate

struct ss_iterates {
    char *path;
    FILE *file;
    ss_table *rows;
};

typedef struct row {
    int step, iterate, contacts;
    double change, change_rms, impulse_change, fb, normal;
} row;

static const ss_field FIELDS[] = {
    SS_FIELD(row, step, SS_FIELD_INTEGER, .unit = "1"),
    SS_FIELD(row, iterate, SS_FIELD_INTEGER, .unit = "1"),
    SS_FIELD(row, contacts, SS_FIELD_INTEGER, .unit = "1"),
    SS_FIELD(row, change, SS_FIELD_REAL, .unit = "m/s"),
    SS_FIELD(row, change_rms, SS_FIELD_REAL, .unit = "m/s"),
    SS_FIELD(row, impulse_change, SS_FIELD_REAL, .unit = "N s"),
    SS_FIELD(row, fb, SS_FIELD_REAL, .unit = "1"),
    SS_FIELD(row, normal, SS_FIELD_REAL, .unit = "1"),
    {.name = NULL},
};

static void iterates_free(ss_iterates *a)
{
    ss_table_free(a->rows);
    if (a->file != NULL) {
        fclose(a->file);
    }
    free(a->path);
    free(a);
}

ss_iterates *ss_iterates_open(const char *path, ss_error *e)
{
    ss_iterates *a = calloc(1, sizeof *a);
    if (a == NULL) {
        ss_fail_memory(e, path);
        return NULL;
    }
    a->path = strdup(path);
    ss_status status = a->path != NULL ? ss_hold_open(path, &a->file, e) : ss_fail_memory(e, path);
    if (status == SS_OK) {
        status = ss_hold_empty(a->file, path, e);
    }
    if (status == SS_OK) {
        a->rows = ss_table_of_fields(a->file, SS_FORMAT_CSV, FIELDS);
        status = a->rows != NULL ? SS_OK : ss_fail_memory(e, path);
    }
    if (status != SS_OK) {
        iterates_free(a);
        return NULL;
    }
    return a;
}

void ss_iterates_add(ss_iterates *a, int step, const ss_step_report *report, int contacts,
                     const ss_step_answer *answer)
{
    const row now = {.step = step,
                     .iterate = report->iterates,
                     .contacts = contacts,
                     .change = report->change,
                     .change_rms = report->change_rms,
                     .impulse_change = report->impulse_change,
                     .fb = answer->fb,
                     .normal = answer->normal};
    ss_table_row(a->rows, &now);
}

ss_status ss_iterates_close(ss_iterates *a, ss_error *e)
{
    if (a == NULL) {
        return SS_OK;
    }
    const bool printed = ss_table_finish(a->rows, NULL) == SS_OK; // which frees it
    a->rows = NULL;
    const bool written = fflush(a->file) == 0 && !ferror(a->file) && printed;
    const ss_status status =
        written ? SS_OK : ss_fail(e, SS_SYSTEM, "%s: cannot be written in full", a->path);
    iterates_free(a);
    return status;
}

// ---- Steps that become problems

#define ACTIVE_SHARE 0.3
// Between two writings pass so many times the seconds that the last one took.
#define WRITE_PAUSE 20.0

struct ss_dump {
    ss_writer *writer;
    char scene[96], *description;
    uint64_t seed;
    int count, steps; // asked for; of the run
    int taken, kept;  // kept: on disk
    int begin, end;   // the present stretch: steps begin + 1 .. end
    bool done;        // its step is taken
    int digits;       // of the step in a problem's name
    bool unwritten, failed;
    double written, cost; // s: when the last writing ended, and how long it took
    // The step with the largest share of active contacts in the present stretch, while nothing is
    // taken; NULL without such a step.
    ss_problem *best;
    int best_step;
    double best_share;
    // The file.
    char *path;
    int lock; // -1: nothing is locked
    bool there;
    dev_t device; // where it is there: of the file that was found, or written last
    ino_t inode;
};

static void forget_best(ss_dump *a)
{
    ss_problem_free(a->best);
    a->best = NULL;
    a->best_share = -1.0;
}

// The stretch behind step `begin`.
static void next_stretch(ss_dump *a, int begin)
{
    forget_best(a);
    const int left = a->count - a->taken;
    a->begin = begin;
    a->end = left > 0 ? begin + (a->steps - begin) / left : a->steps;
    a->end = a->end > begin ? a->end : begin + 1;
    a->done = left <= 0;
}

// -- The file is ours

static void look_at_file(ss_dump *a)
{
    struct stat about;
    a->there = stat(a->path, &about) == 0;
    if (a->there) {
        a->device = about.st_dev;
        a->inode = about.st_ino;
    }
}

// Locks the file that is there. Each writing puts another in its place.
static ss_status lock_file(ss_dump *a, ss_error *e)
{
    const int fd = open(a->path, O_RDONLY | O_CLOEXEC);
    const ss_status status = fd >= 0 ? hold(fd, a->path, e) : SS_OK;
    if (a->lock >= 0) {
        close(a->lock);
    }
    a->lock = fd;
    look_at_file(a);
    return status;
}

// A file that somebody has removed may be written anew.
static ss_status check_file(const ss_dump *a, ss_error *e)
{
    struct stat now;
    if (stat(a->path, &now) != 0 ||
        (a->there && now.st_dev == a->device && now.st_ino == a->inode)) {
        return SS_OK;
    }
    return ss_fail(
        e, SS_SYSTEM,
        "%s: another program has written it since the simulation began; name another file",
        a->path);
}

static void dump_free(ss_dump *a)
{
    ss_writer_close(a->writer);
    ss_problem_free(a->best);
    if (a->lock >= 0) {
        close(a->lock);
    }
    free(a->path);
    free(a->description);
    free(a);
}

ss_status ss_dump_open(const char *path, int count, int from, int steps,
                       const ss_dump_source *source, ss_dump **dump, ss_error *e)
{
    *dump = NULL;
    ss_dump *a = calloc(1, sizeof *a);
    if (a == NULL) {
        return ss_fail_memory(e, "the dump");
    }
    *a = (ss_dump){.seed = source->seed, .count = count, .steps = steps, .lock = -1};
    a->path = strdup(path);
    snprintf(a->scene, sizeof a->scene, "%s", source->scene);
    a->description = strdup(source->description);
    a->digits = snprintf(NULL, 0, "%d", steps);
    next_stretch(a, from);
    ss_status status = a->path != NULL && a->description != NULL
                           ? ss_writer_open(path, &a->writer, e)
                           : ss_fail_memory(e, "the dump");
    if (status == SS_OK) {
        status = lock_file(a, e);
    }
    if (status != SS_OK) {
        dump_free(a);
        return status;
    }
    *dump = a;
    return SS_OK;
}

static ss_status write_all(ss_dump *a, ss_error *e)
{
    const double start = ss_clock_seconds(CLOCK_MONOTONIC);
    ss_status status = check_file(a, e);
    if (status == SS_OK) {
        status = ss_writer_commit(a->writer, e);
        if (status != SS_OK && a->kept > 0) { // the file of the last writing is there
            const size_t used = strlen(e->text);
            snprintf(e->text + used, sizeof e->text - used, "; it contains %d of %d problems",
                     a->kept, a->count);
        }
    }
    if (status == SS_OK) {
        a->kept = a->taken;
        status = lock_file(a, e);
    }
    a->written = ss_clock_seconds(CLOCK_MONOTONIC);
    a->cost = a->written - start;
    a->unwritten = false;
    a->failed = status != SS_OK;
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
    forget_best(a); // which may be p
    return status;
}

static ss_status consider(ss_dump *a, int step, int active, const ss_problem *p, ss_error *e)
{
    const double share = (double)active / p->ncontacts;
    if (!(share > a->best_share)) {
        return SS_OK;
    }
    forget_best(a);
    const ss_status status = ss_problem_copy(p, &a->best, e);
    a->best_step = step;
    a->best_share = share;
    return status;
}

// Without a busy step.
static ss_status end_stretch(ss_dump *a, int step, const ss_problem *p, ss_error *e)
{
    if (p != NULL) {
        return take(a, step, p, e);
    }
    return a->best != NULL ? take(a, a->best_step, a->best, e) : SS_OK;
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
    if (!a->done && busy) {
        status = take(a, step, p, e);
    } else if (!a->done && step >= a->end) {
        status = end_stretch(a, step, p, e);
    } else if (!a->done && p != NULL) {
        status = consider(a, step, active, p, e);
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

ss_status ss_dump_finish(ss_dump *a, ss_error *e)
{
    ss_status status = SS_OK;
    if (!a->done && a->best != NULL && !a->failed) {
        status = take(a, a->best_step, a->best, e);
    }
    return status == SS_OK && a->unwritten && !a->failed ? write_all(a, e) : status;
}

ss_status ss_dump_close(ss_dump *a, ss_error *e)
{
    if (a == NULL) {
        return SS_OK;
    }
    const ss_status status = ss_dump_finish(a, e);
    dump_free(a);
    return status;
}
