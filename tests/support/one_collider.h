// tests/support/one_collider.h -- what tests of one collider begin and end with: it is freed, however the
// test ends. Included once by each file.
#pragma once

#include "strands/contact/collide.h"
#include "base/random.h"
#include "tests/support/support.h"

static ss_random generator;
static ss_error error;
static ss_collider *collider;
static const ss_touch *touches;
static int count;

static void set_up(void)
{
    generator = ss_random_seeded(11);
    error = (ss_error){0};
    collider = ss_collider_new(NULL);
}

static void tear_down(void)
{
    ss_collider_free(collider);
}

static inline ss_status collide(const ss_polylines *lines, const ss_obstacle *obstacles,
                                const ss_pose *poses, int nobstacles, double margin)
{
    return ss_collide(collider, lines, obstacles, poses, nobstacles, margin, &touches, &count,
                      &error);
}

static inline int count_touches(const ss_polylines *lines, double margin)
{
    CHECK_OK(collide(lines, NULL, NULL, 0, margin));
    return count;
}
