#include "harness/bench/cores.h"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>

#include "base/number.h"
#include "harness/complain.h"

// A batch system: set in its jobs; how many cores of this machine the job has.
static const struct {
    const char *name, *job, *cores;
} SYSTEMS[] = {
    {"Slurm", "SLURM_JOB_ID", "SLURM_CPUS_ON_NODE"},
    {"PBS", "PBS_JOBID", "NCPUS"},
};

enum { NSYSTEMS = sizeof SYSTEMS / sizeof SYSTEMS[0] };

ss_cores ss_cores_given(int allowed)
{
    ss_cores cores = {.count = allowed, .allowed = allowed};
    for (int k = 0; k < NSYSTEMS; k++) {
        const char *text = getenv(SYSTEMS[k].cores);
        long given;
        if (getenv(SYSTEMS[k].job) != NULL && text != NULL &&
            ss_number_whole(text, 1, INT_MAX, &given) && given < cores.count) {
            cores.count = (int)given;
            cores.giver = SYSTEMS[k].name;
        }
    }
    return cores;
}

ss_cores ss_cores_here(void)
{
    cpu_set_t mine;
    return ss_cores_given(sched_getaffinity(0, sizeof mine, &mine) == 0 ? CPU_COUNT(&mine) : 1);
}

void ss_cores_place(const ss_cores *cores, pid_t child, int k)
{
    cpu_set_t mine, one;
    CPU_ZERO(&one);
    if (cores->giver != NULL || sched_getaffinity(0, sizeof mine, &mine) != 0) {
        return;
    }
    for (size_t core = 0; core < CPU_SETSIZE; core++) {
        if (CPU_ISSET(core, &mine) && k-- == 0) {
            CPU_SET(core, &one);
            sched_setaffinity(child, sizeof one, &one);
        }
    }
}

int ss_cores_limit(const ss_cores *cores, const char *verb, int jobs)
{
    const int count = cores->count;
    if (cores->giver != NULL) {
        ss_complain(verb,
                    "%s gives this job %d of the %d cores that it may use and does not say which: "
                    "runs are not bound to cores",
                    cores->giver, count, cores->allowed);
    }
    if (jobs > count) {
        ss_complain(verb, "--jobs %d is more than the %d core%s of this %s: %d run%s at a time",
                    jobs, count, ss_plural(count), cores->giver != NULL ? "job" : "machine", count,
                    ss_plural(count));
    }
    return jobs < count ? jobs : count;
}
