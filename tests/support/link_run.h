// tests/support/link_run.h -- scenes of links that run, and where their points are. Included once by each file.
#pragma once

#include <stdlib.h>

#include "tests/support/scene_run.h"
#include "tests/support/support.h"

static inline scene_run *open_links(const char *scene, int rods)
{
    const scene_choice choice = {.scene = scene, .rods = rods, .mu = NAN, .seed = 1};
    return open_run(&choice, "gs/mfb+enum", 1e-4);
}

// Its bodies rest.
static inline scene_run *open_still(const char *scene)
{
    scene_run *run = open_links(scene, 0);
    for (int k = 0; k < run->scene.world->nbodies; k++) {
        run->scene.world->bodies[k] = ss_motion_still();
    }
    return run;
}

// Where the points of strand k are now, in the frame of its body; the caller frees them.
static inline ss_vec3 *points_of(const scene_run *run, int k)
{
    const ss_world *w = run->scene.world;
    const ss_strand *s = &w->strands[k];
    ss_vec3 *x = malloc((size_t)s->size.npoints * sizeof *x);
    ss_placed at;
    CHECK(x != NULL && ss_placed_init(&at, &s->size));
    ss_strand_place(w, k, &w->now, &at);
    for (int i = 0; i < s->size.npoints; i++) {
        x[i] = ss_pose_back(&at.carrier.pose, at.points[i].x);
    }
    ss_placed_free(&at);
    return x;
}

static inline ss_vec3 point_of(const scene_run *run, int k, int i)
{
    ss_vec3 *x = points_of(run, k);
    const ss_vec3 there = x[i];
    free(x);
    return there;
}

// The farthest way of a point among [from, to) of strand 0 from its place in `start`.
static inline double moved(const scene_run *run, const ss_vec3 *start, int from, int to)
{
    ss_vec3 *x = points_of(run, 0);
    double most = 0.0;
    for (int i = from; i < to; i++) {
        most = fmax(most, ss_length(ss_minus(x[i], start[i])));
    }
    free(x);
    return most;
}

static inline void go_on(scene_run *run, double time)
{
    while (run->scene.world->now.time < time - 1e-9) {
        step_run(run);
    }
}
