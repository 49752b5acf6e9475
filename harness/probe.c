#include "harness/probe.h"

#include <math.h>
#include <string.h>
#include <sys/resource.h>

#include "problems/child.h"

// Seconds of CPU time: enough for gigabytes. What takes longer never ends.
#define CPU_LIMIT 60

typedef struct probing {
    void (*function)(void *context);
    void *context;
} probing;

static void run(void *context)
{
    const probing *a = context;
    setrlimit(RLIMIT_CPU, &(struct rlimit){CPU_LIMIT, CPU_LIMIT});
    a->function(a->context);
}

static ss_status explain(const ss_child *child, const char *path, ss_error *e)
{
    const int killer = child->ending == SS_ENDED_BY_SIGNAL ? child->number : 0;
    if (killer == 0 && child->number == 0) {
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
    probing a = {function, context};
    const ss_child_setup setup = {.work = run, .context = &a};
    ss_child child;
    int ended;
    ss_status status = ss_child_start(&child, &setup, e);
    if (status == SS_OK) {
        status = ss_child_wait(&child, 1, INFINITY, NULL, &ended, e);
    }
    if (status == SS_OK) {
        status = explain(&child, path, e);
    }
    ss_child_clear(&child);
    return status;
}
