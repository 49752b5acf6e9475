// harness/bench/plan.h -- the product problems x solvers, and which of it a record holds already.
#pragma once

#include "harness/bench/measure.h"
#include "harness/specs.h"
#include "harness/items.h"

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
// Which of the missing entries this record has; may be asked of several. A row is made again if it hit a limit
// that is larger now, if its run was ended because it slept or by SIGTERM, and if its problem could not be read
// but can be now.
ss_status ss_bench_plan_compare(ss_bench_plan *plan, ss_record *record, ss_error *e);
void ss_bench_plan_free(ss_bench_plan *plan);

// A blank row with the key and the label of an entry.
ss_record_row ss_bench_plan_row(const ss_bench_plan *plan, const ss_bench_entry *entry);
