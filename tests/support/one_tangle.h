// tests/support/one_tangle.h -- what tests of one tangle at a time begin and end with. Included once
// by each file.
#pragma once

#include "problems/tangle/tangle.h"
#include "tests/support/support.h"

static ss_error error;
static ss_tangle_settings settings;
static ss_problem *problem;

static inline void begin_tangle(void)
{
    settings = ss_tangle_defaults();
    problem = NULL;
}

static void tear_down(void)
{
    ss_problem_free(problem);
}

// The problem of the settings, in place of the last.
static inline void make(void)
{
    ss_problem_free(problem);
    CHECK_OK(ss_tangle_new(&settings, &problem, &error));
}
