#include "harness/isolate.h"
#include "solvers/clock.h"
#include "problems/child.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// A row with its history is some 10 kB.
#define MOST_BYTES (1 << 24)

// Children that are watched at a time.
#define MOST_CHILDREN 1024

// ---- Cores

int ss_core_count(void)
{
    cpu_set_t mine;
    return sched_getaffinity(0, sizeof mine, &mine) == 0 ? CPU_COUNT(&mine) : 1;
}

int ss_core_at(int k)
{
    cpu_set_t mine;
    if (sched_getaffinity(0, sizeof mine, &mine) != 0) {
        return -1;
    }
    for (size_t core = 0; core < CPU_SETSIZE; core++) {
        if (CPU_ISSET(core, &mine) && k-- == 0) {
            return (int)core;
        }
    }
    return -1;
}

// ---- The child until it is another program: no function that may wait for a lock.

static void place_on(int core)
{
    cpu_set_t one;
    if (core >= 0) {
        CPU_ZERO(&one);
        CPU_SET((size_t)core, &one);
        sched_setaffinity(0, sizeof one, &one);
    }
}

static void arrange_files(int channel)
{
    const int kept = fcntl(channel, F_DUPFD, SS_CHILD_CHANNEL + 1);
    ss_child_silence();
    dup2(kept, SS_CHILD_CHANNEL);
    ss_child_close_from(SS_CHILD_CHANNEL + 1);
}

static _Noreturn void become(const char *program, char *const words[], int core, int channel,
                             pid_t parent)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) { // it died before it could be asked to take us along
        _exit(SS_CHILD_NOT_EXECUTED);
    }
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    place_on(core);
    arrange_files(channel);
    ss_child_reset_signals(false);
    execv(program, words);
    _exit(SS_CHILD_NOT_EXECUTED);
}

// ---- The parent

static void close_if_open(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

// The group too: a grandchild must not outlive the run.
static void kill_group(const ss_child *child)
{
    kill(-child->pid, SIGKILL);
    kill(child->pid, SIGKILL);
}

static int reap(ss_child *child)
{
    int status = 0;
    pid_t waited;
    do {
        waited = waitpid(child->pid, &status, 0);
    } while (waited < 0 && errno == EINTR);
    kill(-child->pid, SIGKILL);
    child->pid = 0;
    close_if_open(&child->channel);
    close_if_open(&child->process);
    return status;
}

static ss_status fork_child(ss_child *child, const char *program, char *const words[], int core,
                            const int ends[2], ss_error *e)
{
    const pid_t parent = getpid();
    const pid_t pid = ss_child_fork();
    if (pid == 0) {
        become(program, words, core, ends[1], parent);
    }
    if (pid < 0) {
        return ss_fail(e, SS_SYSTEM, "no process for a run: %s", strerror(errno));
    }
    setpgid(pid, pid); // whoever comes first
    child->pid = pid;
    child->process = pidfd_open(pid, 0);
    return child->process >= 0
               ? SS_OK
               : ss_fail(e, SS_SYSTEM, "a run cannot be watched: %s", strerror(errno));
}

ss_status ss_child_start(ss_child *child, const char *program, char *const words[], int core,
                         double limit, ss_error *e)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return ss_fail(e, SS_SYSTEM, "no channel to a run: %s", strerror(errno));
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    *child = (ss_child){
        .process = -1, .channel = ends[0], .deadline = ss_clock_seconds(CLOCK_MONOTONIC) + limit};
    const ss_status status = fork_child(child, program, words, core, ends, e);
    close(ends[1]);
    if (status != SS_OK) {
        close_if_open(&child->channel);
        ss_child_clear(child);
    }
    return status;
}

// SS_ENDED where there is room, else why there is none.
static ss_ending make_room(ss_child *child)
{
    if (child->length < child->capacity) {
        return SS_ENDED;
    }
    const size_t capacity = child->capacity > 0 ? 2 * child->capacity : 1 << 14;
    if (capacity > MOST_BYTES) {
        return SS_ENDED_LOUD;
    }
    char *said = realloc(child->said, capacity);
    if (said == NULL) {
        return SS_ENDED_UNHEARD;
    }
    child->said = said;
    child->capacity = capacity;
    return SS_ENDED;
}

// What waits in the channel. SS_ENDED where all of it was taken, else why it was not.
static ss_ending hear(ss_child *child)
{
    while (child->channel >= 0) {
        const ss_ending room = make_room(child);
        if (room != SS_ENDED) {
            return room;
        }
        const ssize_t got =
            read(child->channel, child->said + child->length, child->capacity - child->length);
        if (got > 0) {
            child->length += (size_t)got;
        } else if (got == 0) {
            close_if_open(&child->channel);
        } else if (errno != EINTR) {
            break; // nothing more for now
        }
    }
    return SS_ENDED;
}

static void end(ss_child *child, ss_ending forced)
{
    kill_group(child);
    reap(child);
    child->ending = forced;
    child->number = SIGKILL;
}

static void end_itself(ss_child *child)
{
    const ss_ending heard = hear(child);
    const int status = reap(child);
    if (heard != SS_ENDED) {
        child->ending = heard;
    } else if (WIFSIGNALED(status)) {
        child->ending = SS_ENDED_BY_SIGNAL;
        child->number = WTERMSIG(status);
    } else {
        child->number = WEXITSTATUS(status);
        child->ending = child->number == 0 ? SS_ENDED : SS_ENDED_BY_CODE;
    }
}

// Whether the child is over now. Its end counts before its deadline: a result that has arrived is
// a result.
static bool look_at(ss_child *child, short process_events, short channel_events)
{
    if (process_events != 0) {
        end_itself(child);
        return true;
    }
    const ss_ending heard = channel_events != 0 ? hear(child) : SS_ENDED;
    if (heard != SS_ENDED) {
        end(child, heard);
    } else if (ss_clock_seconds(CLOCK_MONOTONIC) >= child->deadline) {
        end(child, SS_ENDED_LATE);
    }
    return child->pid == 0;
}

// files[2 k] and files[2 k + 1] are the process and the channel of child k; poll passes over -1.
static struct timespec prepare(const ss_child *children, int n, struct pollfd *files)
{
    double deadline = INFINITY;
    for (int k = 0; k < n; k++) {
        const bool runs = children[k].pid != 0;
        files[2 * k] = (struct pollfd){runs ? children[k].process : -1, POLLIN, 0};
        files[2 * k + 1] = (struct pollfd){runs ? children[k].channel : -1, POLLIN, 0};
        deadline = runs ? fmin(deadline, children[k].deadline) : deadline;
    }
    const double wait = fmin(fmax(deadline - ss_clock_seconds(CLOCK_MONOTONIC), 0.0), 1e6);
    return (struct timespec){(time_t)wait, (long)((wait - floor(wait)) * 1e9)};
}

ss_status ss_child_wait(ss_child *children, int n, const sigset_t *unblocked, int *ended,
                        ss_error *e)
{
    struct pollfd files[2 * MOST_CHILDREN];
    *ended = -1;
    if (n > MOST_CHILDREN) {
        return ss_fail(e, SS_SYSTEM, "at most %d runs at a time can be watched", MOST_CHILDREN);
    }
    for (;;) {
        const struct timespec wait = prepare(children, n, files);
        if (ppoll(files, (nfds_t)(2 * n), &wait, unblocked) < 0) {
            return errno == EINTR
                       ? SS_OK
                       : ss_fail(e, SS_SYSTEM, "runs cannot be watched: %s", strerror(errno));
        }
        for (int k = 0; k < n; k++) {
            if (children[k].pid != 0 &&
                look_at(&children[k], files[2 * k].revents, files[2 * k + 1].revents)) {
                *ended = k;
                return SS_OK;
            }
        }
    }
}

void ss_child_clear(ss_child *child)
{
    if (child->pid != 0) {
        kill_group(child);
        reap(child);
    }
    free(child->said);
    *child = (ss_child){0};
}
