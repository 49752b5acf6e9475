// strands/models/chain_kernel.h -- the methods of chain.h, for one chain or for many side by side
// (internal).
//
// A template: whoever includes it has defined LANES (lanes.h).
#pragma once

#include "strands/lanes.h"
#include "strands/models/chain.h"

typedef struct lane_room {
    lane3 *edge;  // [n - 1] n_i; of dftl d_{i+1}
    lanes *y;     // [n - 1] C_i, then y_i
    lanes *share; // [n - 1] of the elimination
} lane_room;

// Added to a length before division by it, m: 0 / 0 becomes 0, and no other length changes.
#define LENGTH_FLOOR 1e-290

// ---- tmf

// Finds edge and C. Vertices on one place give NaN, which stays in their chain.
static inline void lane_edges(const ss_chain_shape *s, const lane3 *p, const lane_room *room)
{
    for (int i = 0; i + 1 < s->n; i++) {
        const lane3 e = lane3_minus(p[i], p[i + 1]);
        const lanes length = lanes_root(lane3_dot(e, e));
        room->edge[i] = lane3_scaled(1.0 / length, e);
        room->y[i] = length - s->rest[i];
    }
}

// y <- S^-1 y (Thomas): S is positive definite, so that no pivot is 0.
static inline void lane_solve(const ss_chain_shape *s, const lane_room *room)
{
    const int m = s->n - 1;
    lanes inverse = lanes_all(1.0 / (s->w[0] + s->w[1]));
    room->y[0] = inverse * room->y[0];
    for (int i = 1; i < m; i++) {
        const lanes beside = -s->w[i] * lane3_dot(room->edge[i - 1], room->edge[i]);
        const lanes share = beside * inverse;
        room->share[i - 1] = share;
        inverse = 1.0 / ((s->w[i] + s->w[i + 1]) - share * beside);
        room->y[i] = (room->y[i] - beside * room->y[i - 1]) * inverse;
    }
    for (int i = m - 2; i >= 0; i--) {
        room->y[i] -= room->share[i] * room->y[i + 1];
    }
}

// p -= W G y
static inline void lane_correct(const ss_chain_shape *s, const lane_room *room, lane3 *p)
{
    for (int i = 0; i + 1 < s->n; i++) {
        const lane3 pull = lane3_scaled(room->y[i], room->edge[i]);
        p[i] = lane3_along(p[i], lanes_all(-s->w[i]), pull);
        p[i + 1] = lane3_along(p[i + 1], lanes_all(s->w[i + 1]), pull);
    }
}

// ---- pbd, and bending

// Brings the distance of vertices i and j to `rest`, or nearer to it by `share` of the difference.
static inline void lane_pair(const ss_chain_shape *s, lane3 *p, int i, int j, double rest,
                             double share)
{
    const lane3 e = lane3_minus(p[i], p[j]);
    const lanes length = lanes_root(lane3_dot(e, e)) + LENGTH_FLOOR;
    const lanes part = share * (length - rest) / (length * (s->w[i] + s->w[j]));
    p[i] = lane3_along(p[i], -s->w[i] * part, e);
    p[j] = lane3_along(p[j], s->w[j] * part, e);
}

static inline void lane_bend(const ss_chain_shape *s, double share, lane3 *p)
{
    for (int i = 0; i + 2 < s->n; i++) {
        lane_pair(s, p, i, i + 2, s->span[i], share);
    }
}

static inline void lane_sweep(const ss_chain_shape *s, lane3 *p)
{
    for (int i = 0; i + 1 < s->n; i++) {
        lane_pair(s, p, i, i + 1, s->rest[i], 1.0);
    }
}

// ---- dftl

static inline void lane_follow(const ss_chain_shape *s, const lane_room *room, lane3 *p)
{
    for (int i = 0; i + 1 < s->n; i++) {
        const lane3 e = lane3_minus(p[i + 1], p[i]);
        const lanes length = lanes_root(lane3_dot(e, e));
        const lane3 followed = lane3_along(p[i], s->rest[i] / length, e);
        room->edge[i] = lane3_minus(followed, p[i + 1]);
        p[i + 1] = followed;
    }
}

// ---- All of them

// Moves p from where the vertices would go to where they go.
static inline void lane_constrain(const ss_chain_method *m, const ss_chain_shape *s,
                                  const lane_room *room, lane3 *p)
{
    for (int k = 0; k < m->iterations; k++) {
        for (int b = 0; b < m->sweeps && m->bending > 0.0; b++) {
            lane_bend(s, m->bending, p);
        }
        switch (m->kind) {
        case SS_CHAIN_TMF:
            lane_edges(s, p, room);
            lane_solve(s, room);
            lane_correct(s, room, p);
            break;
        case SS_CHAIN_PBD:
            lane_sweep(s, p);
            break;
        case SS_CHAIN_DFTL:
            lane_follow(s, room, p);
            break;
        }
    }
}

// v of vertex i += what the method adds to it after the step
static inline void lane_damp(const ss_chain_method *m, const ss_chain_shape *s,
                             const lane_room *room, double h, int i, lane3 *v)
{
    if (m->kind == SS_CHAIN_DFTL && i + 1 < s->n && s->w[i] > 0.0) {
        *v = lane3_along(*v, lanes_all(-m->damping / h), room->edge[i]);
    }
}
