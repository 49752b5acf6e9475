#include "harness/probe.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "problems/child.h"

// Seconds of CPU time: enough for gigabytes. What takes longer never ends.
#define CPU_LIMIT 60

// Nothing of the parent's is kept open, so that its locks end with it; a library that aborts does
// so in silence; no handler of the parent runs.
static _Noreturn void run_child(void (*function)(void *context), void *context)
{
    ss_child_reset_signals(false);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    setrlimit(RLIMIT_CPU, &(struct rlimit){CPU_LIMIT, CPU_LIMIT});
    ss_child_silence();
    ss_child_close_from(STDERR_FILENO + 1);
    function(context);
    _exit(0);
}

static ss_status explain(int status, const char *path, ss_error *e)
{
    const int killer = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (status == 0) {
        return SS_OK;
    }
    if (killer == SIGKILL || killer == SIGTERM || killer == SIGINT || killer == SIGHUP) {
        return ss_fail(e, SS_SYSTEM, "%s: its reader was killed by signal %d (%s)", path, killer,
                       strsignal(killer));
    }
    return ss_fail(e, SS_BAD_INPUT, "%s: damaged file: libhdf5 died while reading it", path);
}

ss_status ss_probe(void (*function)(void *context), void *context, const char *path, ss_error *e)
{
    const pid_t pid = ss_child_fork();
    if (pid == 0) {
        run_child(function, context);
    }
    if (pid < 0) {
        return ss_fail(e, SS_SYSTEM, "%s: no process to read it: %s", path, strerror(errno));
    }
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return explain(status, path, e);
}
