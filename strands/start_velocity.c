// strands/start_velocity.c -- v of a strand whose design gives velocities of its vertices.
//
// v is the nearest to them in the measure of mass: M0 v = sum m_p J_p' u(x_p), u between the two
// vertices of the place of the design's polyline that is nearest to sample p. Dofs that no sample
// feels get a share of 1e-12 of the largest inertia, so that they stay at rest.
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "strands/band.h"
#include "strands/step/system.h"

#define RIDGE 1e-12

// u at the place nearest to x of the polyline X, which is in the frame of `root` like u.
static ss_vec3 velocity_near(const ss_strand_design *d, const ss_pose *root, ss_vec3 x)
{
    const ss_vec3 y = ss_pose_back(root, x);
    double nearest = DBL_MAX;
    ss_vec3 u = {0.0, 0.0, 0.0};
    for (int i = 0; i + 1 < d->nvertices; i++) {
        const ss_vec3 edge = ss_minus(d->vertices[i + 1], d->vertices[i]);
        const ss_vec3 arm = ss_minus(y, d->vertices[i]);
        const double at = fmin(fmax(ss_dot(arm, edge) / ss_dot(edge, edge), 0.0), 1.0);
        const double far = ss_length(ss_along(arm, -at, edge));
        if (far < nearest) {
            nearest = far;
            u = ss_along(ss_scaled(1.0 - at, d->velocity[i]), at, d->velocity[i + 1]);
        }
    }
    return ss_turned(&root->turn, u);
}

static void add_momentum(const ss_strand_point *p, ss_vec3 momentum, double *right)
{
    for (int j = 0; j < p->count; j++) {
        right[ss_point_dof(p, j)] += p->J[j] * momentum.x + p->J[p->count + j] * momentum.y +
                                     p->J[2 * p->count + j] * momentum.z;
    }
}

static void fit(const ss_world *w, int k, const ss_strand_design *d, const ss_placed *at,
                ss_band *M, double *D, double *v)
{
    const ss_strand *s = &w->strands[k];
    ss_motion_state body;
    ss_motion_at(&w->bodies[s->body], w->now.time, &body);
    const ss_pose root = ss_pose_product(&body.pose, &s->root);
    double largest = 0.0;
    memset(v, 0, (size_t)M->n * sizeof *v);
    for (int p = 0; p < s->size.nsamples; p++) {
        const ss_vec3 x = at->samples[p].x, arm = ss_minus(x, at->carrier.pose.place);
        const ss_vec3 carried = ss_plus(at->carrier.velocity, ss_cross(at->carrier.spin, arm));
        const ss_vec3 own = ss_minus(velocity_near(d, &root, x), carried);
        add_momentum(&at->samples[p], ss_scaled(w->mass[s->sample + p], own), v);
    }
    for (int j = 0; j < M->n; j++) {
        largest = fmax(largest, *ss_band_at(M, j, j));
    }
    for (int j = 0; j < M->n; j++) {
        *ss_band_at(M, j, j) += RIDGE * largest;
    }
    if (ss_band_factor(M, D)) {
        ss_band_solve(M, D, v);
    }
}

ss_status ss_world_start_velocity(ss_world *w, int k, const ss_strand_design *d, ss_error *e)
{
    const ss_strand *s = &w->strands[k];
    const size_t n = (size_t)s->size.nv;
    ss_band M = {s->size.nv, s->size.half_bandwidth, NULL};
    ss_placed at;
    const bool placed = ss_placed_init(&at, &s->size);
    ss_system_scratch *scratch = ss_system_scratch_new(w);
    double *D = malloc(2 * (n + 1) * sizeof *D);
    M.x = malloc(n * (size_t)(M.half + 1) * sizeof *M.x + 1);
    ss_status status = SS_OK;
    if (!placed || scratch == NULL || D == NULL || M.x == NULL) {
        status = ss_fail_memory(e, "the velocity of a strand");
    } else {
        const ss_iterate inertia = ss_iterate_first(&w->now, 0.0); // of a step of 0 s: M = M0
        ss_strand_place(w, k, &w->now, &at);
        ss_strand_system(w, k, &inertia, &at, scratch, &M, D + n);
        fit(w, k, d, &at, &M, D, w->now.v + s->v);
    }
    ss_placed_free(&at);
    ss_system_scratch_free(scratch);
    free(D);
    free(M.x);
    return status;
}
