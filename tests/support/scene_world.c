// tests/support/scene_world.c -- see the header.
#include "tests/support/scene_world.h"

#include <stdlib.h>

#include "tests/support/support.h"

scene_world open_scene(const scene_choice *choice)
{
    scene_world s = {.world = ss_world_new(), .options = ss_step_defaults()};
    ss_error error;
    ss_scene_choice named;
    CHECK(s.world != NULL);
    CHECK_OK(ss_scene_parse(choice->scene, &named, &error));
    s.options.dt = named.scene->dt;
    const char *model = choice->model != NULL ? choice->model : named.scene->model;
    CHECK_OK(ss_model_parse(model, &s.model, &error));
    const ss_scene_request request = {.rods = choice->rods,
                                      .mu = choice->mu,
                                      .seed = choice->seed,
                                      .model = &s.model,
                                      .settings = named.settings};
    CHECK_OK(ss_scene_build(named.scene, &request, s.world, &s.options, &error));
    ss_scene_choice_free(&named);
    return s;
}

void close_scene(scene_world *s)
{
    ss_world_free(s->world);
    ss_model_choice_free(&s->model);
}

scene_lines lines_of(const ss_world *w, const ss_world_state *state)
{
    scene_lines l = {.first = malloc(((size_t)w->nstrands + 1) * sizeof(int)),
                     .x = malloc((size_t)w->npoints * sizeof(ss_vec3))};
    CHECK(l.first != NULL && l.x != NULL);
    for (int k = 0; k < w->nstrands; k++) {
        const ss_strand *s = &w->strands[k];
        ss_placed at;
        CHECK(ss_placed_init(&at, &s->size));
        ss_strand_place(w, k, state, &at);
        l.first[k] = s->point;
        for (int p = 0; p < s->size.npoints; p++) {
            l.x[s->point + p] = at.points[p].x;
        }
        ss_placed_free(&at);
    }
    l.first[w->nstrands] = w->npoints;
    l.lines =
        (ss_polylines){.nstrands = w->nstrands, .first = l.first, .x = l.x, .radius = w->radius};
    return l;
}

void free_lines(scene_lines *l)
{
    free(l->first);
    free(l->x);
}

// The distance of the boxes' centres less half their diagonals: the segments are not nearer.
static double boxes_apart(const ss_vec3 *a, const ss_vec3 *b)
{
    const ss_vec3 between = ss_minus(ss_plus(a[0], a[1]), ss_plus(b[0], b[1]));
    return 0.5 *
           (ss_length(between) - ss_length(ss_minus(a[1], a[0])) - ss_length(ss_minus(b[1], b[0])));
}

static double least_distance(const ss_polylines *l, int j, int k, double least)
{
    for (int p = l->first[j]; p + 1 < l->first[j + 1]; p++) {
        for (int q = l->first[k]; q + 1 < l->first[k + 1]; q++) {
            if (!(boxes_apart(l->x + p, l->x + q) > least)) {
                double a, b;
                const double d =
                    ss_segments_nearest(l->x[p], l->x[p + 1], l->x[q], l->x[q + 1], &a, &b);
                least = d < least ? d : least;
            }
        }
    }
    return least;
}

double least_strand_gap(const ss_polylines *lines)
{
    double least = INFINITY;
    for (int j = 0; j < lines->nstrands; j++) {
        for (int k = 0; k < j; k++) {
            least = least_distance(lines, j, k, least);
        }
    }
    return least - 2.0 * lines->radius;
}

double least_obstacle_gap(const ss_world *w, const ss_world_state *state, const ss_polylines *lines)
{
    double least = INFINITY;
    for (int o = 0; o < w->nobstacles; o++) {
        ss_motion_state at;
        ss_motion_at(&w->bodies[w->obstacles[o].body], state->time, &at);
        const ss_pose pose = ss_pose_product(&at.pose, &w->obstacles[o].pose);
        for (int k = 0; k < lines->nstrands; k++) {
            for (int p = lines->first[k]; p + 1 < lines->first[k + 1]; p++) {
                ss_obstacle_near near;
                ss_obstacle_nearest(&w->obstacles[o], &pose, lines->x[p], lines->x[p + 1], &near);
                least = near.distance < least ? near.distance : least;
            }
        }
    }
    return least - lines->radius;
}
