// Reference frames of a rod: where they are at the start, and how motion carries them (der.h).
//
// Parallel transport from t to s, P v = v + b x v + b x (b x v) / (1 + t.s) with b = t x s, carries d1 of an
// edge from its old direction to the new one. The reference twist of a joint is the angle about t1 from
// P(t0 -> t1) d1^0 to d1^1, and of the turns by 2 pi the one nearest to what it was.
#include <math.h>
#include <string.h>

#include "strands/models/der/der.h"

#define TURN 6.28318530717958647692

// d1 carried from the direction t to s, and as orthonormal as when it began.
static ss_vec3 carried(ss_vec3 t, ss_vec3 s, ss_vec3 d1)
{
    const ss_vec3 moved = ss_transported(t, s, d1);
    return ss_unit(ss_along(moved, -ss_dot(moved, s), s));
}

// The angle about t from a to b, both across it.
static double angle_about(ss_vec3 t, ss_vec3 a, ss_vec3 b)
{
    return atan2(ss_dot(t, ss_cross(a, b)), ss_dot(a, b));
}

static double nearest_turn(double angle, double before)
{
    return angle + TURN * rint((before - angle) / TURN);
}

// Edge j of a state that is being written: where it points, and its d1.
typedef struct edge {
    ss_vec3 t, d1;
} edge;

// d1 and mref of edge j into q; `before` is edge j - 1, NULL of edge 0.
static void put_frame(const ss_der *d, int j, const edge *before, const edge *at, double mref,
                      double *q)
{
    double *frame = q + (ss_der_frame(d, q, j) - q);
    frame[0] = at->d1.x;
    frame[1] = at->d1.y;
    frame[2] = at->d1.z;
    frame[3] = 0.0;
    if (before != NULL) {
        const ss_vec3 over = ss_transported(before->t, at->t, before->d1);
        frame[3] = nearest_turn(angle_about(at->t, over, at->d1), mref);
    }
}

static void put_vertex(double *q, int i, ss_vec3 x)
{
    q[SS_DER_STRIDE * i] = x.x;
    q[SS_DER_STRIDE * i + 1] = x.y;
    q[SS_DER_STRIDE * i + 2] = x.z;
}

static ss_vec3 tangent(const double *q, int j)
{
    return ss_unit(ss_minus(ss_der_vertex(q, j + 1), ss_der_vertex(q, j)));
}

void ss_der_put(const ss_der *d, const ss_pose *root, const ss_vec3 *x, const ss_vec3 *d1,
                const double *theta, double *q)
{
    edge before = {0};
    for (int i = 0; i <= d->n; i++) {
        put_vertex(q, i, ss_pose_point(root, x[i]));
    }
    for (int j = 0; j < d->n; j++) {
        const ss_vec3 t = tangent(q, j), turned = ss_turned(&root->turn, d1[j]);
        const edge at = {t, ss_unit(ss_along(turned, -ss_dot(turned, t), t))};
        q[SS_DER_STRIDE * j + 3] = theta[j];
        put_frame(d, j, j > 0 ? &before : NULL, &at, 0.0, q);
        before = at;
    }
}

// m1 of edge j.
static ss_vec3 material(const ss_der *d, const double *q, int j)
{
    const double *frame = ss_der_frame(d, q, j), theta = q[SS_DER_STRIDE * j + 3];
    const ss_vec3 d1 = ss_vec(frame[0], frame[1], frame[2]);
    return ss_along(ss_scaled(cos(theta), d1), sin(theta), ss_cross(tangent(q, j), d1));
}

void ss_der_start(void *strand, const ss_pose *root, double *q)
{
    ss_der *d = strand;
    ss_der_put(d, root, d->style, d->director, d->theta, q);
    for (int i = 0; i <= d->n; i++) {
        d->home[i] = ss_der_vertex(q, i);
    }
    d->clamped[0] = material(d, q, 0);
    d->clamped[1] = material(d, q, d->n - 1);
}

// The place of vertex i in `moved`, which may be q.
static ss_vec3 move_vertex(const double *q, const double *v, double h, int i, double *moved)
{
    const ss_vec3 x = ss_along(ss_der_vertex(q, i), h, ss_der_vertex(v, i));
    put_vertex(moved, i, x);
    return x;
}

void ss_der_advance(const void *strand, const double *q, const double *v, double h, double *moved)
{
    const ss_der *d = strand;
    ss_vec3 was = ss_der_vertex(q, 0), is = move_vertex(q, v, h, 0, moved);
    edge before = {0};
    for (int j = 0; j < d->n; j++) {
        const ss_vec3 next = ss_der_vertex(q, j + 1), there = move_vertex(q, v, h, j + 1, moved);
        const double *frame = ss_der_frame(d, q, j);
        const ss_vec3 t = ss_unit(ss_minus(there, is));
        const edge at = {
            t, carried(ss_unit(ss_minus(next, was)), t, ss_vec(frame[0], frame[1], frame[2]))};
        const int th = SS_DER_STRIDE * j + 3;
        moved[th] = q[th] + h * v[th];
        put_frame(d, j, j > 0 ? &before : NULL, &at, frame[3], moved);
        before = at;
        was = next;
        is = there;
    }
}

void ss_der_difference(const void *strand, const double *q0, const double *q1, double h, double *v)
{
    const int n = ss_der_dofs(strand);
    for (int k = 0; k < n; k++) {
        v[k] = (q1[k] - q0[k]) / h;
    }
}

// Edge j, its two vertices and its angle go where `body` carries them; the angle on the shorter way.
static void script_edge(const ss_der *d, int j, const ss_pose *body, ss_vec3 m1, const double *q,
                        double h, double *v)
{
    const double *frame = ss_der_frame(d, q, j), theta = q[SS_DER_STRIDE * j + 3];
    const ss_vec3 x = ss_pose_point(body, d->home[j]), y = ss_pose_point(body, d->home[j + 1]);
    const ss_vec3 t = ss_unit(ss_minus(y, x));
    const ss_vec3 d1 = carried(tangent(q, j), t, ss_vec(frame[0], frame[1], frame[2]));
    const double aim = nearest_turn(angle_about(t, d1, ss_turned(&body->turn, m1)), theta);
    put_vertex(v, j, ss_scaled(1.0 / h, ss_minus(x, ss_der_vertex(q, j))));
    put_vertex(v, j + 1, ss_scaled(1.0 / h, ss_minus(y, ss_der_vertex(q, j + 1))));
    v[SS_DER_STRIDE * j + 3] = (aim - theta) / h;
}

void ss_der_script(const void *strand, const ss_pose moved[2], const double *q, double h, double *v)
{
    const ss_der *d = strand;
    if (ss_clamps_root(d->clamp)) {
        script_edge(d, 0, &moved[0], d->clamped[0], q, h, v);
    }
    if (ss_clamps_tip(d->clamp)) {
        script_edge(d, d->n - 1, &moved[1], d->clamped[1], q, h, v);
    }
}
