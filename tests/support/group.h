// tests/support/group.h -- the tests of one file: a group of the test program of its folder.
#pragma once

typedef struct test_group {
    void (*run)(void);              // its RUN_TEST lines
    void (*set_up)(void);           // before each test; may be NULL
    void (*tear_down)(void);        // after each test, also one that failed; may be NULL
    int (*as_program)(char **argv); // instead of tests, if the environment says TEST_AS=<name>:
                                    // for groups that start their own program; may be NULL
} test_group;

typedef struct named_group {
    const char *name; // of the group
    const char *file; // from the root of the repository
    const test_group *group;
} named_group;

// The groups of a program, up to one without a name: made by tests/meson.build.
extern const named_group test_groups[];
// Whose set_up and tear_down Unity calls.
extern const test_group *running_group;
