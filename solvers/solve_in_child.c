#include "solvers/solve_in_child.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/memory.h"
#include "problems/response.h"
#include "solvers/limits.h"
#include "solvers/registry.h"

#include <errno.h>
#include <math.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// Seconds between two looks at the limits and at the interrupt. An iterate that the child tells,
// and the end of the code of others, are seen at once.
#define SLICE 0.02

// A solver that has been interrupted may take as long as one with this limit, s.
#define INTERRUPT_LIMIT 1.0

#define NOTE_ROOM 80

// A thousand contacts need about so many bytes. A forked process shares its pages with its parent
// until it writes to them, and each first write is a page fault. Faults take a fifth of the time of
// a small problem, and little of a large one.
#define MEMORY_READY ((size_t)2 << 20)

// A contained solver and its parent meet here: the child tells an iterate and waits until it is
// heard.
typedef struct exchange {
    sem_t told, heard;
    volatile sig_atomic_t interrupted;
    int listen_from;
    ss_progress progress; // r and note stand elsewhere
    bool noted;
    char note[NOTE_ROOM];
} exchange;

typedef struct shared_memory {
    ss_shared_solve solve;
    exchange exchange;
} shared_memory;

// A child at work. The pointers into shared memory stand here, where the child cannot change them.
typedef struct solving {
    const ss_task *task;
    ss_child_work *work;
    shared_memory *memory;
    ss_shared_solve *shared;
    exchange *exchange; // NULL for the code of others
    size_t size;
    double *best, *latest; // [size] shared
    ss_child child;
    ss_patience patience; // patience with its time limit
    bool recalled;        // true once it has been interrupted
    ss_patience recall;   // patience since then
    double start;         // s by ss_clock_now
} solving;

static size_t task_size(const ss_task *task)
{
    return (size_t)task->problem->dim * (size_t)task->problem->ncontacts;
}

// ---- Shared memory

static size_t memory_bytes(size_t size)
{
    return sizeof(shared_memory) + 2 * size * sizeof(double);
}

static bool share(solving *job, const double *r)
{
    job->memory = mmap(NULL, memory_bytes(job->size), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (job->memory == MAP_FAILED) {
        return false;
    }
    job->best = (double *)(job->memory + 1);
    job->latest = job->best + job->size;
    job->shared = &job->memory->solve;
    *job->shared = (ss_shared_solve){.size = job->size, .best = job->best, .latest = job->latest};
    memcpy(job->best, r, job->size * sizeof *r);
    memcpy(job->latest, r, job->size * sizeof *r);
    return true;
}

static void unshare(const solving *job)
{
    munmap(job->memory, memory_bytes(job->size));
}

// ---- The listener of a contained solver

// Tells an iterate, in the child.
static void hand_over(void *listener, const ss_progress *progress)
{
    const solving *job = listener;
    exchange *x = job->exchange;
    memcpy(job->latest, progress->r, job->size * sizeof *progress->r);
    x->progress = *progress;
    x->noted = progress->note != NULL;
    snprintf(x->note, sizeof x->note, "%s", x->noted ? progress->note : "");
    sem_post(&x->told);
    while (sem_wait(&x->heard) != 0 && errno == EINTR) {
    }
}

// Hears it, in the parent. This time is not the child's.
static void hear(solving *job)
{
    const ss_task *task = job->task;
    exchange *x = job->exchange;
    ss_progress progress = x->progress;
    char note[NOTE_ROOM];
    memcpy(note, x->note, sizeof note);
    note[sizeof note - 1] = '\0';
    progress.note = x->noted ? note : NULL;
    progress.r = job->latest;
    if (task->listen != NULL) {
        task->listen(task->listener, &progress);
        x->listen_from = task->listen_from != NULL ? *task->listen_from : 0;
    }
    ss_patience_resume(&job->patience, &job->child);
    ss_patience_resume(&job->recall, &job->child);
    sem_post(&x->heard);
}

// Returns the task as the child sees it.
static ss_task task_in_child(solving *job)
{
    const ss_task *task = job->task;
    exchange *x = job->exchange;
    ss_task inner = *task;
    inner.interrupted = &x->interrupted;
    if (task->factor != NULL && *task->factor == NULL) { // a factor made by the child ends with it
        inner.factor = NULL;
    }
    if (task->listen != NULL) {
        inner.listen = hand_over;
        inner.listener = job;
        inner.listen_from = &x->listen_from;
    }
    return inner;
}

// ---- The child

static void work_in_child(void *context)
{
    solving *job = context;
    ss_shared_solve *shared = job->shared;
    ss_memory_ready(MEMORY_READY);
    if (job->exchange == NULL) {
        job->work(job->task, shared);
        shared->finished = true;
        return;
    }
    const ss_task inner = task_in_child(job);
    shared->status = ss_solve(&inner, job->best, &shared->result, &shared->error);
    shared->finished = true;
    sem_post(&job->exchange->told);
}

// ---- The parent while the child works

static bool is_interrupted(const ss_task *task)
{
    return task->interrupted != NULL && *task->interrupted;
}

// This function and the next return SS_UNSOLVED while the child may go on.
static ss_outcome test_limits(const solving *job)
{
    const ss_task *t = job->task;
    if (is_interrupted(t)) {
        return SS_INTERRUPTED;
    }
    const double spent =
        t->clock == SS_CLOCK_CPU ? ss_child_cpu_seconds(&job->child) : ss_clock_now() - job->start;
    return t->time_limit > 0.0 && spent >= t->time_limit ? SS_TIME_LIMIT : SS_UNSOLVED;
}

static ss_outcome test_patience(solving *job)
{
    if (!job->recalled && is_interrupted(job->task)) {
        job->recalled = true;
        job->exchange->interrupted = 1;
        job->recall = ss_patience_begin(&job->child, INTERRUPT_LIMIT, 1);
    }
    if (job->recalled && ss_patience_ends(&job->recall, &job->child)) {
        return SS_INTERRUPTED;
    }
    return ss_patience_ends(&job->patience, &job->child) ? SS_TIME_LIMIT : SS_UNSOLVED;
}

// Waits for a slice, or until the child tells something, and returns whether it does.
static bool is_told(exchange *x)
{
    const double until = ss_clock_now() + SLICE;
    const struct timespec t = {(time_t)until, (long)(1e9 * (until - floor(until)))};
    return sem_clockwait(&x->told, CLOCK_MONOTONIC, &t) == 0;
}

// Waits for a slice; *ended becomes 0 where the child has come to its end.
static ss_status wait_for_contained(solving *job, int *ended, ss_error *e)
{
    if (!is_told(job->exchange)) {
        return ss_child_wait(&job->child, 1, 0.0, NULL, ended, e);
    }
    if (job->shared->finished) {
        *ended = 0;
    } else {
        hear(job);
    }
    return SS_OK;
}

// Waits for the end of the child. *forced says why it had to be ended, or is SS_UNSOLVED where it
// ended by itself.
static ss_status wait_for_end(solving *job, ss_outcome *forced, ss_error *e)
{
    const bool contained = job->exchange != NULL;
    int ended = -1;
    ss_status status = SS_OK;
    *forced = SS_UNSOLVED;
    while (status == SS_OK && ended < 0 && *forced == SS_UNSOLVED) {
        status = contained ? wait_for_contained(job, &ended, e)
                           : ss_child_wait(&job->child, 1, SLICE, NULL, &ended, e);
        if (ended < 0) {
            *forced = contained ? test_patience(job) : test_limits(job);
        }
    }
    ss_child_end(&job->child);
    return status;
}

// ---- The outcome

// Describes a child that ended before its work did.
static void describe_death(const solving *job, ss_result *result)
{
    char end[80];
    if (job->child.ending == SS_ENDED_BY_SIGNAL && job->child.number == SIGXCPU) {
        result->outcome = SS_TIME_LIMIT; // by a limit that this process has inherited
        return;
    }
    ss_child_describe_end(&job->child, end, sizeof end);
    result->outcome = SS_CRASHED;
    snprintf(result->why, sizeof result->why, "%s %s", job->task->method->name, end);
}

// Describes a contained solver that had to be ended.
static void describe_force(const solving *job, ss_result *result)
{
    const char *name = job->task->method->name;
    if (result->outcome == SS_TIME_LIMIT) {
        snprintf(result->why, sizeof result->why,
                 "%s did not keep the time limit of %.3g s and was killed", name,
                 job->task->time_limit);
    } else {
        snprintf(result->why, sizeof result->why, "%s ignored the interrupt and was killed", name);
    }
}

static void conclude(const solving *job, ss_outcome forced, ss_result *result)
{
    if (job->shared->finished) {
        *result = job->shared->result;
        result->why[sizeof result->why - 1] = '\0';
        return;
    }
    const int heard = job->exchange != NULL ? job->exchange->progress.iteration : 0;
    const int written = job->shared->result.iterations;
    result->iterations = heard > written ? heard : written;
    result->seconds = ss_clock_now() - job->start;
    result->cpu_seconds = job->child.cpu_seconds;
    result->outcome = forced;
    if (forced == SS_UNSOLVED) {
        describe_death(job, result);
    } else if (job->exchange != NULL) {
        describe_force(job, result);
    }
}

// Chooses r. The child's arrays may be half written: they are candidates, and the judge decides.
static ss_status choose_answer(const solving *job, double *r, ss_result *result, ss_error *e)
{
    const double *const candidates[] = {r, job->best, job->latest};
    ss_response *response = NULL;
    double *u = malloc(job->size * sizeof *u);
    ss_status status = u != NULL ? ss_response_new(job->task->problem, &response, e)
                                 : ss_fail_memory(e, "an answer");
    if (status == SS_OK) {
        const double *chosen = r;
        for (int k = 0; k < 3; k++) {
            const ss_measures m = ss_response_judge(response, candidates[k], u);
            const double error = ss_measures_error(&m);
            if (k == 0 || error < result->own_error ||
                (isnan(result->own_error) && !isnan(error))) {
                result->own_error = error;
                chosen = candidates[k];
            }
        }
        memmove(r, chosen, job->size * sizeof *r);
    }
    ss_response_free(response);
    free(u);
    return status;
}

static ss_status run_in_child(solving *job, ss_result *result, ss_outcome *forced, ss_error *e)
{
    const ss_child_setup setup = {.work = work_in_child, .context = job};
    job->start = ss_clock_now();
    ss_status status = ss_child_start(&job->child, &setup, e);
    if (status == SS_OK) {
        job->patience = ss_patience_begin(&job->child, job->task->time_limit, job->task->threads);
        status = wait_for_end(job, forced, e);
    }
    if (status == SS_OK && job->shared->finished && job->shared->status != SS_OK) {
        const ss_error *said = &job->shared->error;
        status = ss_fail(e, job->shared->status, "%.*s", (int)sizeof said->text - 1, said->text);
    }
    if (status == SS_OK) {
        conclude(job, *forced, result);
    }
    return status;
}

// Tells the first or the last iterate; those between are told by the child.
static void tell(const ss_task *task, const ss_result *result, double seconds, const double *r)
{
    if (task->listen != NULL) {
        const ss_progress progress = {.iteration = result->iterations,
                                      .seconds = seconds,
                                      .local_solves = result->local_solves,
                                      .estimate = result->own_error,
                                      .r = r};
        task->listen(task->listener, &progress);
    }
}

ss_status ss_solve_in_child(const ss_task *task, ss_child_work *work, double *r, ss_result *result,
                            ss_error *e)
{
    solving job = {.task = task, .work = work, .size = task_size(task)};
    ss_outcome forced;
    if (!share(&job, r)) {
        return ss_fail_memory(e, "a solve in a process of its own");
    }
    job.shared->result = *result;
    tell(task, result, 0.0, r);
    ss_status status = run_in_child(&job, result, &forced, e);
    if (status == SS_OK) {
        status = choose_answer(&job, r, result, e);
    }
    if (status == SS_OK) {
        tell(task, result, result->seconds, r);
    }
    unshare(&job);
    return status;
}

// ---- Any solver

static bool open_exchange(solving *job)
{
    exchange *x = &job->memory->exchange;
    const ss_task *task = job->task;
    *x = (exchange){.listen_from = task->listen_from != NULL ? *task->listen_from : 0};
    job->exchange = x;
    return sem_init(&x->told, 1, 0) == 0 && sem_init(&x->heard, 1, 0) == 0;
}

ss_status ss_solve_contained(const ss_task *task, double *r, ss_result *result, ss_error *e)
{
    solving job = {.task = task, .size = task_size(task)};
    ss_outcome forced;
    *result = ss_result_unknown();
    if (!share(&job, r)) {
        return ss_fail_memory(e, "a solve in a process of its own");
    }
    ss_status status = open_exchange(&job) ? run_in_child(&job, result, &forced, e)
                                           : ss_fail_memory(e, "semaphores");
    if (status == SS_OK && job.shared->finished) {
        memcpy(r, job.best, job.size * sizeof *r);
    } else if (status == SS_OK) {
        status = choose_answer(&job, r, result, e);
    }
    unshare(&job);
    return status;
}
