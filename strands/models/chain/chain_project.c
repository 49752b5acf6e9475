// Steps of one chain without contacts, and what contacts find when they push it.
//
// A contact's impulse must not stretch the chain. In exact form M v = f + H r + G y with G' v
// given; solvers that know no constraints are handed
//
//     M = diag(m) + (m / COMPLIANCE) G G',   f = M v
//
// with v the outcome of the method and G at the places that v leads to, m the mean mass of a
// vertex: the chain of stiff springs along its edges that does what the method says where nothing
// touches it. As COMPLIANCE goes to 0, M^-1 goes to that of the exact form, W - W G S^-1 G' W
// (ss_chain_respond). Its error, against the mobility 1 / m of a vertex alone, is at most
// COMPLIANCE over the smallest eigenvalue of m S, which is (pi / 2n)^2 for a straight chain of n
// equal masses.
#include "strands/models/chain/chain_strand.h"

#include <string.h>

#define LANES 1
#include "strands/models/chain/chain_kernel.h"

// 1e-5 off at 50 vertices. Smaller ones cost digits: the condition of M is the inverse.
#define COMPLIANCE 1e-8

static lane_room room_of(const ss_chain *c, lane3 **p)
{
    const size_t n = (size_t)c->shape.n;
    *p = (lane3 *)c->scratch;
    return (lane_room){.edge = *p + n, .y = c->scratch + 6 * n, .share = c->scratch + 7 * n};
}

// x + scale v; the attached root, which q does not hold, where the style begins.
static void spread(const ss_chain *c, const double *x, double scale, const double *v, lane3 *p)
{
    p[0] = (lane3){c->style[0].x, c->style[0].y, c->style[0].z};
    for (int i = c->first; i < c->shape.n; i++) {
        const int j = 3 * (i - c->first);
        p[i] =
            (lane3){x[j] + scale * v[j], x[j + 1] + scale * v[j + 1], x[j + 2] + scale * v[j + 2]};
    }
}

// The block of dofs of vertices i >= j += scale a a'; the lower half of it for i = j.
static void add_block(const ss_chain *c, int i, int j, double scale, const double a[3], ss_band *M)
{
    for (int row = 0; row < 3; row++) {
        for (int column = 0; column < (i == j ? row + 1 : 3); column++) {
            *ss_band_at(M, 3 * (i - c->first) + row, 3 * (j - c->first) + column) +=
                scale * a[row] * a[column];
        }
    }
}

// M += scale G G'
static void couple(const ss_chain *c, const lane_room *room, double scale, ss_band *M)
{
    for (int i = 0; i + 1 < c->shape.n; i++) {
        const double edge[3] = {room->edge[i].x, room->edge[i].y, room->edge[i].z};
        add_block(c, i + 1, i + 1, scale, edge, M);
        if (i >= c->first) {
            add_block(c, i, i, scale, edge, M);
            add_block(c, i + 1, i, -scale, edge, M);
        }
    }
}

static bool all_finite(const double *x, int count)
{
    bool finite = true;
    for (int j = 0; j < count; j++) {
        finite = finite && isfinite(x[j]);
    }
    return finite;
}

void ss_chain_project(const void *strand, const double *q, double h, double *v, double *after,
                      ss_band *M)
{
    const ss_chain *c = strand;
    const int n = c->shape.n, nv = 3 * (n - c->first);
    lane3 *p;
    const lane_room room = room_of(c, &p);
    spread(c, q, h, v, p);
    lane_constrain(&c->method, &c->shape, &room, p);
    for (int i = c->first; i < n; i++) {
        const int j = 3 * (i - c->first);
        lane3 change = {0.0, 0.0, 0.0};
        lane_damp(&c->method, &c->shape, &room, h, i, &change);
        const double moved[3] = {p[i].x, p[i].y, p[i].z};
        const double changes[3] = {change.x, change.y, change.z};
        for (int k = 0; k < 3; k++) {
            v[j + k] = (moved[k] - q[j + k]) / h;
            after[j + k] = changes[k];
        }
    }
    if (c->inextensible && all_finite(v, nv)) {
        lane_edges(&c->shape, p, &room);
        couple(c, &room, c->mean_mass / COMPLIANCE, M);
    }
}

void ss_chain_respond(const void *strand, const double *q, double *x)
{
    const ss_chain *c = strand;
    const int n = c->shape.n;
    lane3 *p;
    const lane_room room = room_of(c, &p);
    spread(c, q, 0.0, q, p);
    lane_edges(&c->shape, p, &room);
    spread(c, x, 0.0, x, p);
    for (int i = 0; i < n; i++) {
        p[i] = lane3_scaled(c->shape.w[i] / c->mean_mass, p[i]);
    }
    for (int i = 0; i + 1 < n; i++) {
        room.y[i] = lane3_dot(room.edge[i], lane3_minus(p[i], p[i + 1]));
    }
    lane_solve(&c->shape, &room);
    lane_correct(&c->shape, &room, p);
    memcpy(x, p + c->first, (size_t)(n - c->first) * sizeof *p);
}
