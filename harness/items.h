// harness/items.h -- the problems of files, one after the other, one in memory at a time.
//
//     ss_items it = ss_items_of(verb, count, paths, NULL);
//     for (ss_item item; ss_items_next(&it, &item);) { ... }
//     code = ss_larger_code(code, ss_items_end(&it));
#pragma once

#include "problems/store/store.h"

// --problem of a verb (harness/cli.h).
#define SS_OPT_PROBLEM SS_OPT_TEXT("problem", "NAME", problem, "only this one of a collection")

// Borrowed until the next one. A file that cannot be opened is one item without a problem.
typedef struct ss_item {
    const char *file;
    const char *label;   // FILE, or FILE:NAME for a member of a collection
    const char *name;    // in the collection; "" if the file is one problem
    ss_problem *problem; // NULL if it could not be loaded
    const ss_report *report;
    const ss_error *error; // if problem is NULL
} ss_item;

// Problems number k, from 0 and over all files in their order, with k mod count = index; a file that
// cannot be opened counts as one. count 0: all.
typedef struct ss_shard {
    int index, count;
} ss_shard;

typedef struct ss_items {
    const char *verb; // in whose name it complains
    char *const *paths;
    int npaths;
    const char *chosen; // NULL: all problems
    ss_shard shard;     // may be set before the first; the problems of others are not loaded
    int code;           // exit code of what is no item: a chosen name that a file does not contain

    // The present place: problem k - 1 of file path - 1, the one before `number` of all.
    int path, k, end, number;
    ss_reader *reader;
    char *label;
    ss_problem *problem;
    ss_report report;
    ss_error error;
} ss_items;

// Of `count` files, all borrowed; only the problems called `chosen` if that is not NULL.
ss_items ss_items_of(const char *verb, int count, char *const *paths, const char *chosen);
// False after the last.
bool ss_items_next(ss_items *it, ss_item *item);
// Frees everything, wherever the loop ended; returns an exit code.
int ss_items_end(ss_items *it);

// Whether two names lead to one file, there or not yet; a name may be NULL.
bool ss_same_file(const char *a, const char *b);
// Before the problems of `in` (those called `chosen`, if that is not NULL) are written to `out`: if
// that is the same file, nothing else in it may get lost. An exit code, with a sentence.
int ss_items_check_target(const char *verb, const char *in, const char *chosen, const char *out);

// The remarks of a load, or why it failed, on stderr; the exit code that follows from it.
int ss_item_complain(const char *verb, const ss_item *item);
