#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"

#define MOST_FILES    65536 // files to close where the system has no close_range and no limit
#define MOST_CHILDREN 1024  // children that are waited for at a time

#define FIRST_CAPACITY 4096

// ---- The child until it works: no function that may wait for a lock.

// The files that a child keeps.
typedef struct inheritance {
    int files[3], nfiles;
    int streams; // standard output and error; -1 for nowhere
} inheritance;

static _Noreturn void child_give_up(void)
{
    _exit(SS_CHILD_NOT_STARTED);
}

static bool is_ignored(int number)
{
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

// Gives the child its signals. timeout(1) and kill(1) with a group send SIGTERM to all processes:
// the parent decides what it means.
static void reset_signals(const ss_child_setup *setup)
{
    for (int k = 1; k < NSIG; k++) {
        if (!(setup->keeps_files && is_ignored(k))) {
            signal(k, SIG_DFL);
        }
    }
    if (setup->work != NULL) {
        signal(SIGINT, SIG_IGN);
        signal(SIGQUIT, SIG_IGN);
        signal(SIGHUP, SIG_IGN);
    }
    if (setup->work != NULL && !setup->outlives_thread) {
        signal(SIGTERM, SIG_IGN);
    }
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
}

static void close_from(int first)
{
    if (close_range((unsigned)first, ~0U, 0) == 0) {
        return;
    }
    struct rlimit limit;
    const bool limited = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < MOST_FILES;
    const int end = limited ? (int)limit.rlim_cur : MOST_FILES;
    for (int k = first; k < end; k++) {
        close(k);
    }
}

// Returns the file under a number that none of the final places has.
static int set_aside(int file, int nfiles)
{
    const int kept = fcntl(file, F_DUPFD, SS_CHILD_FILE + nfiles);
    if (kept < 0) {
        child_give_up();
    }
    return kept;
}

static void put_at(int file, int place)
{
    if (dup2(file, place) < 0) {
        child_give_up();
    }
}

static void arrange_files(const inheritance *from)
{
    int kept[3];
    for (int k = 0; k < from->nfiles; k++) {
        kept[k] = set_aside(from->files[k], from->nfiles);
    }
    const int nowhere = open("/dev/null", O_RDWR);
    const int null = set_aside(nowhere, from->nfiles);
    const int streams = from->streams >= 0 ? set_aside(from->streams, from->nfiles) : null;
    put_at(null, STDIN_FILENO);
    put_at(streams, STDOUT_FILENO);
    put_at(streams, STDERR_FILENO);
    for (int k = 0; k < from->nfiles; k++) {
        put_at(kept[k], SS_CHILD_FILE + k);
    }
    close_from(SS_CHILD_FILE + from->nfiles);
}

// Runs instead of the exit functions that this process has registered, which are the parent's.
static void leave(int code, void *unused)
{
    (void)unused;
    _exit(code);
}

static _Noreturn void become(const ss_child_setup *setup, const inheritance *from, pid_t parent)
{
    const bool calls = setup->work != NULL;
    if (!calls) {
        setpgid(0, 0);
    }
    if (!setup->outlives_thread) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    }
    if (getppid() != parent) { // it died before the child asked to die with it
        child_give_up();
    }
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    if (!setup->keeps_files) {
        arrange_files(from);
    }
    reset_signals(setup);
    if (calls && on_exit(leave, NULL) == 0) {
        setup->work(setup->context);
        _exit(0);
    }
    if (!calls && (setup->folder == NULL || chdir(setup->folder) == 0)) {
        execvp(setup->program, setup->words);
    }
    child_give_up();
}

// ---- Starting one

static void close_if_open(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

// Forks. Signals wait in the child until it has removed the parent's handlers.
static pid_t fork_with_signals_blocked(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t pid = fork();
    if (pid != 0) {
        const int error = errno;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        errno = error;
    }
    return pid;
}

static ss_status child_start(ss_child *child, const ss_child_setup *setup, const inheritance *from,
                             ss_error *e)
{
    const pid_t parent = getpid();
    const pid_t pid = fork_with_signals_blocked();
    if (pid == 0) {
        become(setup, from, parent);
    }
    if (pid < 0) {
        return ss_fail(e, SS_SYSTEM, "no process can be started: %s", strerror(errno));
    }
    child->pid = pid;
    child->leads_group = setup->work == NULL;
    if (child->leads_group) {
        setpgid(pid, pid); // the child does so, too; one of them is first
    }
    child->process = pidfd_open(pid, 0);
    return child->process >= 0
               ? SS_OK
               : ss_fail(e, SS_SYSTEM, "a process cannot be watched: %s", strerror(errno));
}

ss_status ss_child_start(ss_child *child, const ss_child_setup *setup, ss_error *e)
{
    ss_assert((setup->work != NULL) != (setup->program != NULL));
    int ends[2] = {-1, -1};
    *child = (ss_child){.process = -1, .channel = -1};
    if (setup->speech != SS_CHILD_MUTE) {
        if (pipe2(ends, O_CLOEXEC) != 0) {
            *child = (ss_child){0};
            return ss_fail(e, SS_SYSTEM, "no pipe to a process: %s", strerror(errno));
        }
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        child->channel = ends[0];
    }
    inheritance from = {.streams = setup->speech == SS_CHILD_ON_STREAMS ? ends[1] : -1};
    if (setup->speech == SS_CHILD_ON_CHANNEL) {
        from.files[from.nfiles++] = ends[1];
    }
    for (int k = 0; k < setup->nfiles; k++) {
        from.files[from.nfiles++] = setup->files[k];
    }
    const ss_status status = child_start(child, setup, &from, e);
    close_if_open(&ends[1]);
    if (status != SS_OK) {
        close_if_open(&child->channel);
        ss_child_clear(child);
    }
    return status;
}

// ---- Hearing one

static bool child_make_room(ss_child *child)
{
    if (child->length < child->capacity) {
        return true;
    }
    const size_t capacity = child->capacity > 0 ? 2 * child->capacity : FIRST_CAPACITY;
    char *said = capacity <= SS_CHILD_MOST_SAID ? realloc(child->said, capacity) : NULL;
    if (said == NULL) {
        child->ending = capacity > SS_CHILD_MOST_SAID ? SS_ENDED_LOUD : SS_ENDED_UNHEARD;
        return false;
    }
    child->said = said;
    child->capacity = capacity;
    return true;
}

// Hears what waits in the channel. Returns false, with the ending, where it is too much.
static bool child_hear(ss_child *child)
{
    while (child->channel >= 0) {
        if (!child_make_room(child)) {
            return false;
        }
        const ssize_t got =
            read(child->channel, child->said + child->length, child->capacity - child->length);
        if (got > 0) {
            child->length += (size_t)got;
        } else if (got == 0) {
            close_if_open(&child->channel);
        } else if (errno != EINTR) {
            break; // there is nothing more for now
        }
    }
    return true;
}

// ---- The end of one

double ss_child_cpu_seconds(const ss_child *child)
{
    clockid_t clock;
    if (child->pid == 0) {
        return child->cpu_seconds;
    }
    return clock_getcpuclockid(child->pid, &clock) == 0 ? ss_clock_seconds(clock) : 0.0;
}

static void kill_group(const ss_child *child)
{
    if (child->leads_group) { // a grandchild must not outlive it
        kill(-child->pid, SIGKILL);
    }
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static void reap(ss_child *child)
{
    int status = 0;
    struct rusage used = {0};
    const double cpu_seconds = ss_child_cpu_seconds(child);
    siginfo_t ended;
    int waited;
    do {
        waited = waitid(P_PID, (id_t)child->pid, &ended, WEXITED | WNOWAIT);
    } while (waited < 0 && errno == EINTR);
    if (waited == 0) { // the numbers of the child and of its group are not used again until wait4
        kill_group(child);
        waited = wait4(child->pid, &status, 0, &used);
    }
    child->cpu_seconds = fmax(cpu_seconds, seconds_of(used.ru_utime) + seconds_of(used.ru_stime));
    child->pid = 0;
    close_if_open(&child->channel);
    close_if_open(&child->process);
    if (waited < 0) {
        child->ending = SS_ENDED_UNKNOWN;
    } else if (WIFSIGNALED(status)) {
        child->ending = SS_ENDED_BY_SIGNAL;
        child->number = WTERMSIG(status);
    } else {
        child->ending = SS_ENDED_BY_CODE;
        child->number = WEXITSTATUS(status);
    }
}

void ss_child_describe_end(const ss_child *child, char *text, size_t room)
{
    switch (child->ending) {
    case SS_ENDED_BY_CODE:
        snprintf(text, room, "left its process with exit code %d", child->number);
        return;
    case SS_ENDED_BY_SIGNAL:
        snprintf(text, room, "died by signal %d (%s)", child->number, strsignal(child->number));
        return;
    case SS_ENDED_LOUD:
    case SS_ENDED_UNHEARD:
    case SS_ENDED_UNKNOWN:
        break;
    }
    snprintf(text, room, "died in its process");
}

void ss_child_end(ss_child *child)
{
    if (child->pid != 0) {
        kill_group(child);
        kill(child->pid, SIGKILL);
        reap(child);
    }
}

void ss_child_clear(ss_child *child)
{
    ss_child_end(child);
    free(child->said);
    *child = (ss_child){0};
}

// Returns whether it has ended now. What it said before its end is heard first.
static bool child_look_at(ss_child *child, bool ended)
{
    const bool heard = child_hear(child);
    const ss_ending why = child->ending;
    if (!heard) {
        ss_child_end(child);
        child->ending = why;
    } else if (ended) {
        reap(child);
    }
    return child->pid == 0;
}

// files[2 k] and files[2 k + 1] are the process and the channel of child k; poll passes over -1.
static void list_files(const ss_child *children, int n, struct pollfd *files)
{
    for (int k = 0; k < n; k++) {
        const bool runs = children[k].pid != 0;
        files[2 * k] = (struct pollfd){runs ? children[k].process : -1, POLLIN, 0};
        files[2 * k + 1] = (struct pollfd){runs ? children[k].channel : -1, POLLIN, 0};
    }
}

ss_status ss_child_wait(ss_child *children, int n, double seconds, const sigset_t *unblocked,
                        int *ended, ss_error *e)
{
    struct pollfd files[2 * MOST_CHILDREN];
    const double end = ss_clock_now() + seconds;
    *ended = -1;
    if (n > MOST_CHILDREN) {
        return ss_fail(e, SS_SYSTEM, "at most %d processes at a time can be watched",
                       MOST_CHILDREN);
    }
    for (;;) {
        const double left = fmin(fmax(end - ss_clock_now(), 0.0), 1e6);
        const struct timespec wait = {(time_t)left, (long)((left - floor(left)) * 1e9)};
        list_files(children, n, files);
        const int ready = ppoll(files, (nfds_t)(2 * n), &wait, unblocked);
        if (ready < 0 && errno != EINTR) {
            return ss_fail(e, SS_SYSTEM, "processes cannot be watched: %s", strerror(errno));
        }
        for (int k = 0; ready > 0 && k < n; k++) {
            if ((files[2 * k].revents | files[2 * k + 1].revents) != 0 &&
                child_look_at(&children[k], files[2 * k].revents != 0)) {
                *ended = k;
                return SS_OK;
            }
        }
        if (ready == 0 || (ready < 0 && unblocked != NULL)) {
            return SS_OK;
        }
    }
}

// ---- Patience

#define CPU_FACTOR   2.0
#define SLEEP_FACTOR 3.0
#define ALLOWANCE    2.0 // s

#define LOOK        0.25 // seconds that are judged as one
#define SLEEP_SHARE 1e-3 // a child that uses less of a processor sleeps

ss_patience ss_patience_begin(const ss_child *child, double limit, int threads)
{
    const double cpu = ss_child_cpu_seconds(child);
    return (ss_patience){
        .most_cpu = limit > 0.0 ? (CPU_FACTOR * limit + ALLOWANCE) * fmax(threads, 1) : INFINITY,
        .most_sleep = limit > 0.0 ? SLEEP_FACTOR * limit + ALLOWANCE : INFINITY,
        .cpu = cpu,
        .looked = ss_clock_now(),
        .looked_cpu = cpu,
    };
}

void ss_patience_resume(ss_patience *patience, const ss_child *child)
{
    patience->asleep = 0.0;
    patience->looked = ss_clock_now();
    patience->looked_cpu = ss_child_cpu_seconds(child);
}

bool ss_patience_ends(ss_patience *patience, const ss_child *child)
{
    const double now = ss_clock_now();
    const double passed = now - patience->looked, cpu = ss_child_cpu_seconds(child);
    if (passed >= LOOK) {
        const bool slept = cpu - patience->looked_cpu < SLEEP_SHARE * passed;
        patience->asleep = slept ? patience->asleep + LOOK : 0.0;
        patience->looked = now;
        patience->looked_cpu = cpu;
    }
    return cpu - patience->cpu >= patience->most_cpu || patience->asleep >= patience->most_sleep;
}

// ---- This process

void ss_child_limit_memory(uint64_t bytes)
{
    unsigned long long used = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    if (statm == NULL || fscanf(statm, "%llu", &used) != 1) {
        used = 0;
    }
    if (statm != NULL) {
        fclose(statm);
    }
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t half = (uint64_t)sysconf(_SC_PHYS_PAGES) / 2 * page;
    const rlim_t limit = used * page + (bytes < half ? bytes : half);
    struct rlimit inherited;
    if (used > 0 && getrlimit(RLIMIT_AS, &inherited) == 0 && limit < inherited.rlim_max) {
        setrlimit(RLIMIT_AS, &(struct rlimit){limit, inherited.rlim_max});
    }
}
