// tests/support/one_stepper.h -- what tests of one world that is stepped begin and end with: it is
// freed, however the test ends. Included once by each file.
#pragma once

#include "strands/step/stepper.h"
#include "tests/support/stepping.h"
#include "tests/support/support.h"

static ss_error error;
static ss_world *world;
static ss_stepper *stepper;
static ss_step_report report;
static ss_step_options options;
static stepping secular; // the solver of `begin`

// A world without strands, default options, and no stepper yet.
static inline void begin_world(void)
{
    error = (ss_error){0};
    world = ss_world_new();
    stepper = NULL;
    options = ss_step_defaults();
    secular = (stepping){0};
}

static void tear_down(void)
{
    ss_stepper_free(stepper);
    ss_world_free(world);
}

static inline void begin(void)
{
    stepper = ss_stepper_new(world, &options,
                             (ss_step_solver){.solve = solve_step, .context = &secular}, &error);
    TEST_ASSERT_NOT_NULL_MESSAGE(stepper, error.text);
}

// By the scheme of a spec, in place of what stepped before.
static inline void begin_scheme(const char *spec)
{
    ss_scheme_choice scheme;
    CHECK_OK(ss_scheme_parse(spec, &scheme, &error));
    options.scheme = &scheme;
    ss_stepper_free(stepper);
    begin();
    ss_scheme_choice_free(&scheme);
}

static inline void step(void)
{
    CHECK_OK(ss_stepper_step(stepper, &report, &error));
}

static inline void steps(int count)
{
    for (int k = 0; k < count; k++) {
        step();
    }
}
