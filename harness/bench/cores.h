// harness/bench/cores.h -- on which cores the runs of a benchmark go.
//
// Each run at a time has a core of its own, the first of those that this process may use. They are
// its own only if no other program does the same there: a batch system may give a job fewer cores than
// the job may use and leave the choice to the kernel (Slurm without a task plugin, PBS without
// cpusets), and two benchmarks on such a machine would both take the first core. Then the kernel
// places the runs.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

typedef struct ss_cores {
    int count;   // runs at a time at most
    int allowed; // cores that this process may use
    const char
        *giver; // the batch system if it gives fewer of them and does not say which, else NULL
} ss_cores;

// What the environment of a job says of `allowed` cores; SLURM_CPUS_ON_NODE, or NCPUS of PBS.
ss_cores ss_cores_given(int allowed);
ss_cores ss_cores_here(void); // of those that this process may use
// Run k of those at a time. Nothing happens if the kernel is to choose.
void ss_cores_place(const ss_cores *cores, pid_t child, int k);
// The number of runs at a time that were asked for, or fewer; with a sentence on stderr, in the name
// of the verb, if they are fewer or not placed.
int ss_cores_limit(const ss_cores *cores, const char *verb, int jobs);
