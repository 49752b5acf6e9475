#include "solvers/aside.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "problems/child.h"
#include "problems/response.h"
#include "solvers/clock.h"

// Between two looks at the time limit and at the interrupt; the end of the child is seen at once.
#define SLICE 20 // ms

// A child at work.
typedef struct child {
    const ss_task *task;
    pid_t pid;
    int process;                      // its pidfd
    clockid_t cpu;                    // its CPU time
    double start;                     // s, CLOCK_MONOTONIC
    double wall_seconds, cpu_seconds; // of the child, as seen from here
    int ending;                       // wait status; -1 where somebody else has taken it
} child;

// ---- The child

// Instead of the exit functions that this process has registered: they are the parent's.
static void leave(int code, void *unused)
{
    (void)unused;
    _exit(code);
}

static _Noreturn void work_aside(const ss_task *task, void (*work)(const ss_task *, ss_aside *),
                                 ss_aside *aside, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || on_exit(leave, NULL) != 0) {
        _exit(EXIT_FAILURE);
    }
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    ss_child_silence();
    ss_child_close_from(STDERR_FILENO + 1);
    ss_child_reset_signals(true);
    work(task, aside);
    aside->finished = true;
    _exit(EXIT_SUCCESS);
}

// ---- What both share

static size_t shared_bytes(size_t size)
{
    return sizeof(ss_aside) + 2 * size * sizeof(double);
}

static ss_aside *share(size_t size, const double *r)
{
    ss_aside *aside =
        mmap(NULL, shared_bytes(size), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (aside == MAP_FAILED) {
        return NULL;
    }
    aside->size = size;
    aside->best = (double *)(aside + 1);
    aside->latest = aside->best + size;
    memcpy(aside->best, r, size * sizeof *r);
    memcpy(aside->latest, r, size * sizeof *r);
    return aside;
}

// ---- The parent while the child works

static ss_status start(child *c, void (*work)(const ss_task *, ss_aside *), ss_aside *aside,
                       ss_error *e)
{
    const pid_t parent = getpid();
    c->start = ss_clock_seconds(CLOCK_MONOTONIC);
    c->pid = ss_child_fork();
    if (c->pid == 0) {
        work_aside(c->task, work, aside, parent);
    }
    if (c->pid < 0) {
        return ss_fail(e, SS_SYSTEM, "no process for a solve: %s", strerror(errno));
    }
    c->process = pidfd_open(c->pid, 0);
    if (c->process < 0 || clock_getcpuclockid(c->pid, &c->cpu) != 0) {
        return ss_fail(e, SS_SYSTEM, "a solve in a process of its own cannot be watched: %s",
                       strerror(errno));
    }
    return SS_OK;
}

static void take_time(child *c)
{
    c->wall_seconds = ss_clock_seconds(CLOCK_MONOTONIC) - c->start;
    c->cpu_seconds = ss_clock_seconds(c->cpu);
}

// SS_UNSOLVED while the child may go on.
static ss_outcome test_limits(child *c)
{
    const ss_task *t = c->task;
    take_time(c);
    if (t->interrupted != NULL && *t->interrupted) {
        return SS_INTERRUPTED;
    }
    const double spent = t->clock == CLOCK_PROCESS_CPUTIME_ID ? c->cpu_seconds : c->wall_seconds;
    return t->time_limit > 0.0 && spent >= t->time_limit ? SS_TIME_LIMIT : SS_UNSOLVED;
}

// Why the child has to be ended, or SS_UNSOLVED where it has come to its own end.
static ss_outcome wait_for_end(child *c)
{
    for (;;) {
        struct pollfd end = {.fd = c->process, .events = POLLIN};
        const int ready = poll(&end, 1, SLICE);
        const ss_outcome limit = test_limits(c);
        if (ready > 0) {
            return SS_UNSOLVED;
        }
        if (limit != SS_UNSOLVED) {
            return limit;
        }
    }
}

// Leaves no child and no descriptor, whatever there was.
static void end(child *c, bool by_force)
{
    pid_t waited = -1;
    if (c->pid > 0 && by_force) {
        kill(c->pid, SIGKILL);
    }
    if (c->pid > 0) {
        do {
            waited = waitpid(c->pid, &c->ending, 0);
        } while (waited < 0 && errno == EINTR);
    }
    c->ending = waited < 0 ? -1 : c->ending;
    if (c->process >= 0) {
        close(c->process);
    }
}

// ---- What came of it

// Of a child that ended before its work did.
static void describe_death(const child *c, ss_result *result)
{
    const char *name = c->task->method->name;
    result->outcome = SS_CRASHED;
    if (c->ending == -1) {
        snprintf(result->why, sizeof result->why, "%s died in its process", name);
    } else if (!WIFSIGNALED(c->ending)) {
        snprintf(result->why, sizeof result->why, "%s left its process with exit code %d", name,
                 WEXITSTATUS(c->ending));
    } else if (WTERMSIG(c->ending) == SIGXCPU) { // a limit that this process has inherited
        result->outcome = SS_TIME_LIMIT;
    } else {
        snprintf(result->why, sizeof result->why, "%s died by signal %d (%s)", name,
                 WTERMSIG(c->ending), strsignal(WTERMSIG(c->ending)));
    }
}

static void conclude(const child *c, const ss_aside *aside, ss_outcome forced, ss_result *result)
{
    if (aside->finished) {
        *result = aside->result;
        return;
    }
    result->iterations = aside->result.iterations;
    result->seconds = c->wall_seconds;
    result->cpu_seconds = c->cpu_seconds;
    if (forced != SS_UNSOLVED) {
        result->outcome = forced;
    } else {
        describe_death(c, result);
    }
}

// Its arrays may be half written: they are candidates, and the judge decides.
static ss_status choose_answer(const ss_task *task, const ss_aside *aside, double *r,
                               ss_result *result, ss_error *e)
{
    const double *const candidates[] = {r, aside->best, aside->latest};
    ss_response *response = NULL;
    double *u = malloc(aside->size * sizeof *u);
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
        memmove(r, chosen, aside->size * sizeof *r);
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

static ss_status watch_over(child *c, const ss_aside *aside, double *r, ss_result *result,
                            ss_error *e)
{
    const ss_outcome forced = wait_for_end(c);
    end(c, forced != SS_UNSOLVED);
    if (aside->finished && aside->status != SS_OK) {
        return ss_fail(e, aside->status, "%s", aside->error.text);
    }
    conclude(c, aside, forced, result);
    const ss_status status = choose_answer(c->task, aside, r, result, e);
    if (status == SS_OK) {
        tell(c->task, result, result->seconds, r);
    }
    return status;
}

ss_status ss_aside_solve(const ss_task *task, void (*work)(const ss_task *task, ss_aside *aside),
                         double *r, ss_result *result, ss_error *e)
{
    const size_t size = (size_t)task->problem->dim * (size_t)task->problem->ncontacts;
    ss_aside *aside = share(size, r);
    if (aside == NULL) {
        return ss_fail_memory(e, "a solve in a process of its own");
    }
    child c = {.task = task, .process = -1, .ending = -1};
    aside->result = *result;
    tell(task, result, 0.0, r);
    ss_status status = start(&c, work, aside, e);
    if (status == SS_OK) {
        status = watch_over(&c, aside, r, result, e);
    } else {
        end(&c, true);
    }
    munmap(aside, shared_bytes(size));
    return status;
}
