// strands/step/placed.c -- where the points and samples of a strand are (system.h).
#include <stdlib.h>

#include "strands/posing.h"
#include "strands/step/system.h"

static ss_strand_point *new_points(int count, int width)
{
    const size_t n = (size_t)count, each = 3 * (size_t)width;
    ss_strand_point *points = calloc(n + 1, sizeof *points);
    double *J = calloc(n * each + 1, sizeof *J);
    if (points == NULL || J == NULL) {
        free(points);
        free(J);
        return NULL;
    }
    for (size_t i = 0; i <= n; i++) {
        points[i].J = J + i * each; // the entry behind the last keeps an empty list freeable
    }
    return points;
}

static void free_points(ss_strand_point *points)
{
    if (points != NULL) {
        free(points[0].J);
    }
    free(points);
}

bool ss_placed_init(ss_placed *at, const ss_strand_size *size)
{
    *at = (ss_placed){.points = new_points(size->npoints, size->width),
                      .samples = new_points(size->nsamples, size->width)};
    return at->points != NULL && at->samples != NULL;
}

void ss_placed_free(ss_placed *at)
{
    free_points(at->points);
    free_points(at->samples);
    *at = (ss_placed){0};
}

ss_pose ss_strand_root(const ss_strand *s, const ss_placed *at)
{
    return s->model->frame == SS_FRAME_WORLD ? ss_pose_identity()
                                             : ss_pose_product(&at->carrier.pose, &s->root);
}

void ss_strand_place(const ss_world *w, int k, const ss_world_state *state, ss_placed *at)
{
    const ss_strand *s = &w->strands[k];
    ss_motion_state reference;
    at->time = state->time;
    ss_motion_at(&w->bodies[s->carrier], state->time, &at->carrier);
    ss_motion_at(&w->bodies[s->reference], state->time, &reference);
    at->felt = ss_strand_felt(s, &at->carrier, &reference);
    const ss_pose root = ss_strand_root(s, at);
    s->model->place(s->self, &root, state->q + s->q, at->points, at->samples);
}

ss_vec3 ss_point_rate(const ss_strand_point *p, const double *v)
{
    const double *x = p->J, *y = x + p->count, *z = y + p->count;
    ss_vec3 sum = {0.0, 0.0, 0.0};
    for (int j = 0; j < p->count; j++) {
        const double vj = v[ss_point_dof(p, j)];
        sum = ss_plus(sum, ss_vec(x[j] * vj, y[j] * vj, z[j] * vj));
    }
    return sum;
}
