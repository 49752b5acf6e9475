#include "solvers/solve_in_child.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "problems/child.h"
#include "problems/response.h"
#include "solvers/clock.h"

// Between two looks at the time limit and at the interrupt; the end of the child is seen at once.
#define SLICE 0.02 // s

// A child at work.
typedef struct solving {
    const ss_task *task;
    ss_child_work *work;
    ss_shared_solve *shared;
    ss_child child;
    double start; // s, CLOCK_MONOTONIC
} solving;

static void work_in_child(void *context)
{
    const solving *job = context;
    job->work(job->task, job->shared);
    job->shared->finished = true;
}

// ---- What both share

static size_t shared_bytes(size_t size)
{
    return sizeof(ss_shared_solve) + 2 * size * sizeof(double);
}

static ss_shared_solve *share(size_t size, const double *r)
{
    ss_shared_solve *shared =
        mmap(NULL, shared_bytes(size), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        return NULL;
    }
    shared->size = size;
    shared->best = (double *)(shared + 1);
    shared->latest = shared->best + size;
    memcpy(shared->best, r, size * sizeof *r);
    memcpy(shared->latest, r, size * sizeof *r);
    return shared;
}

// ---- The parent while the child works

// SS_UNSOLVED while the child may go on.
static ss_outcome test_limits(const solving *job)
{
    const ss_task *t = job->task;
    if (t->interrupted != NULL && *t->interrupted) {
        return SS_INTERRUPTED;
    }
    const double spent = t->clock == SS_CLOCK_CPU ? ss_child_cpu_seconds(&job->child)
                                                  : ss_clock_seconds(CLOCK_MONOTONIC) - job->start;
    return t->time_limit > 0.0 && spent >= t->time_limit ? SS_TIME_LIMIT : SS_UNSOLVED;
}

// forced: why the child had to be ended, or SS_UNSOLVED where it came to its own end.
static ss_status wait_for_end(solving *job, ss_outcome *forced, ss_error *e)
{
    int ended = -1;
    ss_status status = SS_OK;
    *forced = SS_UNSOLVED;
    while (status == SS_OK && ended < 0 && *forced == SS_UNSOLVED) {
        status = ss_child_wait(&job->child, 1, SLICE, NULL, &ended, e);
        *forced = ended < 0 ? test_limits(job) : SS_UNSOLVED;
    }
    ss_child_end(&job->child);
    return status;
}

// ---- What came of it

// Of a child that ended before its work did.
static void describe_death(const solving *job, ss_result *result)
{
    const char *name = job->task->method->name;
    const int number = job->child.number;
    result->outcome = SS_CRASHED;
    if (job->child.ending == SS_ENDED_BY_CODE) {
        snprintf(result->why, sizeof result->why, "%s left its process with exit code %d", name,
                 number);
    } else if (job->child.ending != SS_ENDED_BY_SIGNAL) {
        snprintf(result->why, sizeof result->why, "%s died in its process", name);
    } else if (number == SIGXCPU) { // a limit that this process has inherited
        result->outcome = SS_TIME_LIMIT;
    } else {
        snprintf(result->why, sizeof result->why, "%s died by signal %d (%s)", name, number,
                 strsignal(number));
    }
}

static void conclude(const solving *job, ss_outcome forced, ss_result *result)
{
    if (job->shared->finished) {
        *result = job->shared->result;
        return;
    }
    result->iterations = job->shared->result.iterations;
    result->seconds = ss_clock_seconds(CLOCK_MONOTONIC) - job->start;
    result->cpu_seconds = job->child.cpu_seconds;
    if (forced != SS_UNSOLVED) {
        result->outcome = forced;
    } else {
        describe_death(job, result);
    }
}

// Its arrays may be half written: they are candidates, and the judge decides.
static ss_status choose_answer(const ss_task *task, const ss_shared_solve *shared, double *r,
                               ss_result *result, ss_error *e)
{
    const double *const candidates[] = {r, shared->best, shared->latest};
    ss_response *response = NULL;
    double *u = malloc(shared->size * sizeof *u);
    ss_status status =
        u != NULL ? ss_response_new(task->problem, &response, e) : ss_fail_memory(e, "an answer");
    if (status == SS_OK) {
        const double *chosen = r;
        for (int k = 0; k < 3; k++) {
            const double fb = ss_response_judge(response, candidates[k], u).fb;
            if (k == 0 || fb < result->own_error || (isnan(result->own_error) && !isnan(fb))) {
                result->own_error = fb;
                chosen = candidates[k];
            }
        }
        memmove(r, chosen, shared->size * sizeof *r);
    }
    ss_response_free(response);
    free(u);
    return status;
}

// The iterates between the first and the last are the child's.
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

static ss_status run(solving *job, double *r, ss_result *result, ss_error *e)
{
    const ss_child_setup setup = {.work = work_in_child, .context = job};
    ss_outcome forced = SS_UNSOLVED;
    tell(job->task, result, 0.0, r);
    job->start = ss_clock_seconds(CLOCK_MONOTONIC);
    ss_status status = ss_child_start(&job->child, &setup, e);
    if (status == SS_OK) {
        status = wait_for_end(job, &forced, e);
    }
    if (status == SS_OK && job->shared->finished && job->shared->status != SS_OK) {
        status = ss_fail(e, job->shared->status, "%s", job->shared->error.text);
    }
    if (status == SS_OK) {
        conclude(job, forced, result);
        status = choose_answer(job->task, job->shared, r, result, e);
    }
    if (status == SS_OK) {
        tell(job->task, result, result->seconds, r);
    }
    return status;
}

ss_status ss_solve_in_child(const ss_task *task, ss_child_work *work, double *r, ss_result *result,
                            ss_error *e)
{
    const size_t size = (size_t)task->problem->dim * (size_t)task->problem->ncontacts;
    solving job = {.task = task, .work = work, .shared = share(size, r)};
    if (job.shared == NULL) {
        return ss_fail_memory(e, "a solve in a process of its own");
    }
    job.shared->result = *result;
    const ss_status status = run(&job, r, result, e);
    munmap(job.shared, shared_bytes(size));
    return status;
}
