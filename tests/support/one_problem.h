// tests/support/one_problem.h -- what tests of one problem at a time begin and end with: it is freed,
// however the test ends. Included after tests/support/solving.h, whose functions have errors of their own.
#pragma once

#include "problems/problem.h"
#include "tests/support/support.h"

static ss_error error;
static ss_problem *problem;

static void set_up(void)
{
    error = (ss_error){0};
    problem = NULL;
}

static void tear_down(void)
{
    ss_problem_free(problem);
    problem = NULL;
}
