// harness/walk.h -- every problem of a file, one after the other.
#pragma once

#include "problems/store/store.h"

// --problem of a verb (harness/cli.h).
#define SS_OPT_PROBLEM SS_OPT_TEXT("problem", "NAME", problem, "only this one of a collection")

typedef struct ss_item {
    const char *label;   // FILE, or FILE:NAME for a member of a collection
    const char *name;    // in the collection; "" where the file is one problem
    ss_problem *problem; // NULL where it could not be loaded; freed by the walk
    const ss_report *report;
    const ss_error *error; // where problem is NULL
} ss_item;

// Returns an exit code; the walk goes on.
typedef int (*ss_visit)(const ss_item *item, void *context);

// Visits the problems of a file, or the one called `name` where that is not NULL. A file that
// cannot be opened is one visit without a problem. Returns the largest code; complains in the name
// of the verb about an unknown name.
int ss_walk(const char *verb, const char *path, const char *name, ss_visit visit, void *context);

// The remarks of a load, or why it failed, on stderr; the exit code that follows from it.
int ss_item_complain(const char *verb, const ss_item *item);
