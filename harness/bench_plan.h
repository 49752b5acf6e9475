// harness/bench_plan.h -- the product problems x solvers, and which of it a record holds already.
#pragma once

#include "harness/bench.h"
#include "harness/bench_specs.h"

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
    bool present;     // in the record, and no run with these settings would say more
} ss_bench_entry;

typedef struct ss_bench_plan {
    ss_bench_settings settings;
    char build[sizeof((ss_record_row *)0)->build];
    ss_bench_problem *problems; // [nproblems] owned, as are the entries
    int nproblems;
    ss_bench_entry *entries; // [count] problem by problem, each with all its solvers
    int count, missing;
} ss_bench_plan;

// Loads every problem of the files once. A problem that occurs twice is planned once, and a remark
// on stderr says so, in the name of the verb; a problem that cannot be loaded has its sentence
// there too; so is it said how many problems have no guess to start from. A row is made again where
// it met a limit that is larger now, and where its problem could not be read but can be now. record
// NULL: nothing is present. specs must outlive the plan. Exit code 0, 3 for a damaged record, 4.
int ss_bench_plan_make(const char *verb, int nfiles, char *const *files, const ss_specs *specs,
                       const ss_bench_settings *settings, ss_record *record, ss_bench_plan *plan);
void ss_bench_plan_free(ss_bench_plan *plan);

// A blank row with the key and the label of an entry.
ss_record_row ss_bench_plan_row(const ss_bench_plan *plan, const ss_bench_entry *entry);
