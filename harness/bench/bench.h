// harness/bench/bench.h -- the product problems x solvers, and which of it a record holds already.
#pragma once

#include "harness/bench/measure.h"
#include "harness/run.h"

#include <stdbool.h>
#include <sys/types.h>

// ---- plan

typedef struct ss_bench_problem {
    char *file, *name, *label; // name "" where the file is one problem
    char *defect;              // a sentence where it cannot be loaded, else NULL
    char sha256[65];           // of the label where it cannot be loaded
    char scene[sizeof((ss_record_row *)0)->scene];
    int contacts, dim; // -1 if it cannot be loaded
    bool has_guess;
} ss_bench_problem;

typedef struct ss_bench_entry {
    const ss_bench_problem *problem;
    const char *spec; // borrowed
    double tolerance;
    bool present; // in the record, and no run with these settings would say more
} ss_bench_entry;

typedef struct ss_bench_plan {
    const char *verb; // for sentences
    ss_bench_settings settings;
    char build[sizeof((ss_record_row *)0)->build];
    char **files; // [nfiles] owned, as are the next two
    int nfiles;
    ss_bench_problem *problems; // [nproblems]
    int nproblems;
    ss_bench_entry *entries; // [count] by problem, tolerance and solver
    int count, missing;
} ss_bench_plan;

// The files of the operands: an operand is a file, a folder, which means its *.h5 and *.hdf5, or
// @LIST, a file with an operand per line. What is not there or is no HDF5 file is reported on
// stderr, in the name of the verb, and left out. Exit code 0, 3 if something was left out, 4.
int ss_bench_plan_begin(const char *verb, int noperands, char *const *operands,
                        const ss_bench_settings *settings, ss_bench_plan *plan);
// Loads every problem of the shard once. One that occurs twice is planned once, and one that cannot
// be loaded has its sentence as a defect; so it is said on stderr, and how many have no guess to
// start from. All entries are missing then. specs must outlive the plan. Exit code 0, or 4.
int ss_bench_plan_load(ss_bench_plan *plan, const ss_specs *specs, ss_shard shard);
// Marks the missing entries that this record has; may be called for several records. A row is made
// again if it hit a limit that is larger now, if its run was ended because it slept or by SIGTERM,
// and if its problem could not be read but can be now.
ss_status ss_bench_plan_compare(ss_bench_plan *plan, ss_record *record, ss_error *e);
void ss_bench_plan_free(ss_bench_plan *plan);

// A blank row with the key and the label of an entry.
ss_record_row ss_bench_plan_row(const ss_bench_plan *plan, const ss_bench_entry *entry);

// ---- cores

// on which cores the runs of a benchmark go.
//
// Each run at a time has a core of its own, the first of those that this process may use. They are
// its own only if no other program does the same there: a batch system may give a job fewer cores
// than the job may use and leave the choice to the kernel (Slurm without a task plugin, PBS without
// cpusets), and two benchmarks on such a machine would both take the first core. Then the kernel
// places the runs.

typedef struct ss_cores {
    int count;   // runs at a time at most
    int allowed; // cores that this process may use
    const char
        *giver; // the batch system if it gives fewer of them and does not say which, else NULL
} ss_cores;

// ---- run

// the missing rows of a plan, made by child processes and added to the record.

typedef struct ss_bench_orders {
    const char *verb;    // for sentences
    const char *program; // that knows the verb run-one
    int jobs;            // children at a time, each on a core of its own
} ss_bench_orders;

// Exit code: 0 if the record holds a row of every entry, 2 after Ctrl-C or SIGTERM, 4. Children
// that run then are killed; every row that was finished is in the record.
int ss_bench_run(const ss_bench_plan *plan, const ss_bench_orders *orders, ss_record *record);

// How far a series has come after `seconds`: "[####----]  4/8  2.0/s  0:02 left  WHAT", cut to
// `width` characters. Control characters of WHAT come out as '?'.
typedef struct ss_bar {
    int done, total; // done: those of this series, not of an earlier one
    bool terminal;   // where it rewrites itself; elsewhere each step is a plain line
    double start;    // s, CLOCK_MONOTONIC
} ss_bar;

// ---- For tests

// Returns what the environment of a job grants of `allowed` cores: SLURM_CPUS_ON_NODE, or NCPUS of
// PBS.
ss_cores ss_cores_given(int allowed);
ss_cores ss_cores_here(void); // of those that this process may use
// Run k of those at a time. Nothing happens if the kernel is to choose.
void ss_cores_place(const ss_cores *cores, pid_t child, int k);
void ss_bar_text(const ss_bar *bar, double seconds, const char *what, int width, char *text,
                 size_t room);
