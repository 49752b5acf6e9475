// tests/one_problem.h -- what tests of one problem at a time begin and end with: it is freed,
// however the test ends. Included after tests/solving.h, whose functions have errors of their own.
#pragma once

#include "problems/problem.h"
#include "tests/support.h"

static ss_error error;
static ss_problem *problem;

void setUp(void)
{
    error = (ss_error){0};
    problem = NULL;
}

void tearDown(void)
{
    ss_problem_free(problem);
    problem = NULL;
}
