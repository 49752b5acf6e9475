// Where a rod with directors starts, and how velocities and clamps move it (corde.h).
//
//     p (+) h omega = p o exp(h omega / 2),   difference = (2/h) log(conj(p_0) o p_1), the shorter way
#include "strands/models/corde/corde.h"

static void put_vector(double *to, ss_vec3 x)
{
    to[0] = x.x;
    to[1] = x.y;
    to[2] = x.z;
}

static ss_vec3 vector_at(const double *x)
{
    return ss_vec(x[0], x[1], x[2]);
}

void ss_corde_put(const ss_corde *d, const ss_pose *root, const ss_vec3 *x, const ss_quat *turn,
                  double *q)
{
    const ss_quat first = ss_quat_of_matrix(&root->turn);
    for (int i = 0; i <= d->n; i++) {
        put_vector(q + SS_CORDE_PLACE * i, ss_pose_point(root, x[i]));
    }
    for (int j = 0; j < d->n; j++) {
        const ss_quat p = ss_quat_unit(ss_quat_product(first, turn[j]));
        ss_quat_write(p, q + SS_CORDE_PLACE * j + 3);
    }
}

void ss_corde_start(void *strand, const ss_pose *root, double *q)
{
    ss_corde *d = strand;
    ss_corde_put(d, root, d->style, d->turn, q);
    for (int i = 0; i <= d->n; i++) {
        d->home[i] = ss_corde_vertex(q, i);
    }
    d->clamped[0] = ss_corde_turn(q, 0);
    d->clamped[1] = ss_corde_turn(q, d->n - 1);
}

void ss_corde_advance(const void *strand, const double *q, const double *v, double h, double *moved)
{
    const ss_corde *d = strand;
    for (int j = 0; j <= d->n; j++) {
        const double *x = q + SS_CORDE_PLACE * j, *u = v + SS_CORDE_DOFS * j;
        double *to = moved + SS_CORDE_PLACE * j;
        put_vector(to, ss_along(vector_at(x), h, vector_at(u)));
        if (j < d->n) {
            const ss_quat by = ss_quat_exp(ss_scaled(h, vector_at(u + 3)));
            ss_quat_write(ss_quat_unit(ss_quat_product(ss_quat_read(x + 3), by)), to + 3);
        }
    }
}

// omega that turns p0 to p1 in h.
static ss_vec3 spin_between(ss_quat p0, ss_quat p1, double h)
{
    return ss_scaled(1.0 / h, ss_quat_log(ss_quat_product(ss_quat_conjugate(p0), p1)));
}

void ss_corde_difference(const void *strand, const double *q0, const double *q1, double h,
                         double *v)
{
    const ss_corde *d = strand;
    for (int j = 0; j <= d->n; j++) {
        double *to = v + SS_CORDE_DOFS * j;
        const ss_vec3 way = ss_minus(ss_corde_vertex(q1, j), ss_corde_vertex(q0, j));
        put_vector(to, ss_scaled(1.0 / h, way));
        if (j < d->n) {
            put_vector(to + 3, spin_between(ss_corde_turn(q0, j), ss_corde_turn(q1, j), h));
        }
    }
}

// Edge j and its directors go where `body` carries them.
static void script_edge(const ss_corde *d, int j, const ss_pose *body, ss_quat home,
                        const double *q, double h, double *v)
{
    const ss_quat there = ss_quat_product(ss_quat_of_matrix(&body->turn), home);
    double *to = v + SS_CORDE_DOFS * j;
    for (int end = 0; end < 2; end++) {
        const ss_vec3 x = ss_pose_point(body, d->home[j + end]);
        put_vector(to + SS_CORDE_DOFS * end,
                   ss_scaled(1.0 / h, ss_minus(x, ss_corde_vertex(q, j + end))));
    }
    put_vector(to + 3, spin_between(ss_corde_turn(q, j), there, h));
}

void ss_corde_script(const void *strand, const ss_pose moved[2], const double *q, double h,
                     double *v)
{
    const ss_corde *d = strand;
    if (ss_clamps_root(d->clamp)) {
        script_edge(d, 0, &moved[0], d->clamped[0], q, h, v);
    }
    if (ss_clamps_tip(d->clamp)) {
        script_edge(d, d->n - 1, &moved[1], d->clamped[1], q, h, v);
    }
}
