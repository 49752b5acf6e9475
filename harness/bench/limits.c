#include "harness/bench/limits.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "solvers/clock.h"

#define SLEEP_FACTOR 3.0
#define CPU_FACTOR   2.0
#define ALLOWANCE    2.0 // s

// CPU seconds for all but the solves: the problem is loaded, M factored, some 200 iterates judged.
#define PREPARATION 300.0

// Between SIGXCPU and SIGKILL, in s of CPU time.
#define GRACE 5.0

// No limit is longer: it fits into a signed long.
#define LONGEST 1e8 // s

// ---- CPU time

static double most_cpu_seconds(double limit)
{
    return fmin(CPU_FACTOR * limit + ALLOWANCE, LONGEST);
}

static void limit_cpu(double seconds)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_CPU, &limit) == 0) {
        const double most =
            limit.rlim_max != RLIM_INFINITY ? (double)limit.rlim_max - GRACE : INFINITY;
        const double wanted = ceil(fmin(seconds, most));
        limit.rlim_cur = isfinite(wanted) ? (rlim_t)fmax(wanted, 0.0) : RLIM_INFINITY;
        setrlimit(RLIMIT_CPU, &limit);
    }
}

void ss_cpu_limit_arm(ss_cpu_limit *limit, double seconds)
{
    limit->deadline = ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID) + most_cpu_seconds(seconds);
    limit_cpu(limit->deadline);
}

void ss_cpu_limit_pause(ss_cpu_limit *limit)
{
    limit->then = ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
    limit_cpu(INFINITY);
}

void ss_cpu_limit_resume(ss_cpu_limit *limit)
{
    limit->deadline += ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - limit->then;
    limit_cpu(limit->deadline);
}

void ss_cpu_limit_disarm(void)
{
    limit_cpu(INFINITY);
}

void ss_limit_child(pid_t child, double seconds, int solves)
{
    const double most = fmin(PREPARATION + solves * most_cpu_seconds(seconds), LONGEST);
    struct rlimit limit;
    if (prlimit(child, RLIMIT_CPU, NULL, &limit) == 0 && most + GRACE < (double)limit.rlim_max) {
        limit = (struct rlimit){.rlim_cur = (rlim_t)most, .rlim_max = (rlim_t)(most + GRACE)};
        prlimit(child, RLIMIT_CPU, &limit, NULL);
    }
}

// ---- Sleep

typedef struct process {
    char state; // as ps shows it
    int group;
    unsigned long long ticks; // of CPU time
} process;

// False where it has gone. See proc(5): the name, in brackets, may hold anything.
static bool read_process(const char *pid, process *p)
{
    char path[300], line[1024];
    unsigned long long user, system;
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *file = fopen(path, "r");
    const char *rest = NULL;
    if (file != NULL) {
        rest = fgets(line, sizeof line, file) != NULL ? strrchr(line, ')') : NULL;
        fclose(file);
    }
    const bool known =
        rest != NULL && sscanf(rest + 1, " %c %*d %d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu",
                               &p->state, &p->group, &user, &system) == 4;
    p->ticks = known ? user + system : 0;
    return known;
}

static bool is_asleep(const process *p)
{
    return p->state == 'S' || p->state == 'Z' || p->state == 'X';
}

// ticks: of the whole group.
static bool group_is_asleep(int group, unsigned long long *ticks)
{
    bool asleep = true;
    *ticks = 0;
    DIR *folder = opendir("/proc");
    for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        process p;
        if (isdigit((unsigned char)entry->d_name[0]) && read_process(entry->d_name, &p) &&
            p.group == group) {
            asleep = asleep && is_asleep(&p);
            *ticks += p.ticks;
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return asleep;
}

ss_sleep ss_sleep_begin(void)
{
    return (ss_sleep){.looked = ss_clock_seconds(CLOCK_MONOTONIC)};
}

// The child alone is looked at first: mostly it computes, and to look at all processes takes time.
// What slept at each look and has used less than a tick of CPU time between them did sleep.
double ss_sleep_look(ss_sleep *sleep, pid_t child)
{
    char pid[24];
    process p;
    unsigned long long ticks = 0;
    const double now = ss_clock_seconds(CLOCK_MONOTONIC);
    const double passed = now - sleep->looked;
    if (passed < SS_SLEEP_LOOK) {
        return sleep->seconds;
    }
    snprintf(pid, sizeof pid, "%d", (int)child);
    const bool asleep = read_process(pid, &p) && is_asleep(&p) && group_is_asleep(p.group, &ticks);
    const bool slept = asleep && ticks <= sleep->ticks + 1;
    sleep->seconds = slept ? sleep->seconds + fmin(passed, SS_SLEEP_LOOK) : 0.0;
    sleep->looked = now;
    sleep->ticks = ticks;
    return sleep->seconds;
}

double ss_sleep_limit(double seconds)
{
    return fmin(SLEEP_FACTOR * seconds + ALLOWANCE, LONGEST);
}
