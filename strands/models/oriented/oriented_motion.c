// The differential equation of a strand of links: rates of its coordinates, and its residual in linear time
// (oriented_strand.h).
//
//     qdot = q o (0, w)/2,   w = 2 vec(conj(q) o qdot)/|q|^2
//
// Drag brakes every part of a link by -k of its momentum, thus the link by -k m v_c and -k I omega about its
// centre. Its base moves as the root does; its weight is an acceleration of the base by -g.
//
// doc/strands.md, "Residual" and "IDA".
#include <string.h>

#include "strands/models/oriented/oriented_strand.h"
#include "strands/world.h"

static ss_vec3 read(const double *x)
{
    return ss_vec(x[0], x[1], x[2]);
}

static void write(ss_vec3 x, double *to)
{
    to[0] = x.x;
    to[1] = x.y;
    to[2] = x.z;
}

void ss_oriented_rate(const void *strand, const double *q, const double *v, double *qdot)
{
    const ss_oriented *tree = ((const ss_oriented_strand *)strand)->tree;
    for (int k = 0; k < 3 && tree->floats; k++) {
        qdot[k] = v[k];
    }
    for (int j = 0; j < tree->n; j++) {
        const int at = ss_oriented_turn_at(tree, j);
        const ss_vec3 w = ss_scaled(0.5, read(v + ss_oriented_rate_at(tree, j)));
        const ss_quat half = {0.0, w.x, w.y, w.z};
        ss_quat_write(ss_quat_product(ss_quat_read(q + at), half), qdot + at);
    }
}

void ss_oriented_unrate(const void *strand, const double *q, const double *qdot, double *v)
{
    const ss_oriented *tree = ((const ss_oriented_strand *)strand)->tree;
    for (int k = 0; k < 3 && tree->floats; k++) {
        v[k] = qdot[k];
    }
    for (int j = 0; j < tree->n; j++) {
        const int at = ss_oriented_turn_at(tree, j);
        const ss_quat own = ss_quat_read(q + at);
        const double square = own.w * own.w + own.x * own.x + own.y * own.y + own.z * own.z;
        const ss_quat d = ss_quat_product(ss_quat_conjugate(own), ss_quat_read(qdot + at));
        write(ss_scaled(2.0 / square, ss_vec(d.x, d.y, d.z)), v + ss_oriented_rate_at(tree, j));
    }
}

// The base of the tree, which the frame of the root carries; its acceleration less that of gravity.
static ss_oriented_base base_of(const ss_oriented_strand *s, const ss_surroundings *around)
{
    const ss_motion_state *root = &around->root;
    const ss_vec3 arm = ss_turned(&root->pose.turn, s->home.place);
    const ss_vec3 carried = ss_cross(root->spin, arm);
    const ss_vec3 turning = ss_plus(ss_cross(root->spin_rate, arm), ss_cross(root->spin, carried));
    return (ss_oriented_base){.pose = ss_pose_product(&root->pose, &s->home),
                              .velocity = ss_plus(root->velocity, carried),
                              .spin = root->spin,
                              .acceleration =
                                  ss_plus(ss_minus(root->acceleration, around->gravity), turning),
                              .spin_rate = root->spin_rate};
}

static void add_drag(const ss_oriented *tree, double rate)
{
    for (int j = 0; j < tree->n; j++) {
        const ss_oriented_link *l = &tree->link[j];
        const ss_oriented_motion *m = &tree->motion[j];
        const ss_vec3 v = ss_plus(m->velocity, ss_cross(m->spin, m->centre)), y = m->turn.c[1];
        const ss_vec3 turning =
            ss_along(ss_scaled(l->across, m->spin), (l->spin - l->across) * ss_dot(y, m->spin), y);
        tree->load[j].force = ss_along(tree->load[j].force, -rate * l->mass, v);
        tree->load[j].moment = ss_along(tree->load[j].moment, -rate, turning);
    }
}

// Of the air that moves, at the samples of each link.
static void add_wind(const ss_oriented_strand *s, const ss_surroundings *around)
{
    const int first = around->sample + (s->held > 0.0 ? 1 : 0);
    for (int i = 0; i < 2 * s->tree->n; i++) {
        const ss_oriented_link *l = &s->tree->link[i / 2];
        const ss_oriented_motion *m = &s->tree->motion[i / 2];
        ss_oriented_load *load = &s->tree->load[i / 2];
        const ss_vec3 y = m->turn.c[1];
        const ss_vec3 c = ss_scaled((SS_ORIENTED_SAMPLE_AT[i % 2] - 0.5) * l->length, y);
        const ss_vec3 x = ss_plus(m->joint, ss_plus(m->centre, c));
        const double drag = around->winds->drag * around->winds->length[first + i];
        const ss_vec3 force =
            ss_scaled(drag, ss_wind_felt(around->winds, around->time, first + i, x, y));
        load->force = ss_plus(load->force, force);
        load->moment = ss_plus(load->moment, ss_cross(c, force));
    }
}

// A force at the far end of a link. At the base it moves a tree that floats alone, by its first link.
static void add_pull(const ss_oriented *tree, int tip, ss_vec3 force)
{
    if (tip < 0 && !tree->floats) {
        return;
    }
    const int j = tip < 0 ? 0 : tip;
    const ss_oriented_motion *m = &tree->motion[j];
    const double side = tip < 0 ? -1.0 : 1.0; // the centre is in the middle
    ss_oriented_load *load = &tree->load[j];
    load->force = ss_plus(load->force, force);
    load->moment = ss_along(load->moment, side, ss_cross(m->centre, force));
}

static void add_pushes(const ss_oriented_strand *s, const ss_vec3 *push)
{
    for (int i = 0; i < s->npoints; i++) {
        add_pull(s->tree, s->tip[i], push[i]);
    }
}

static bool is_zero(ss_vec3 x)
{
    return x.x == 0.0 && x.y == 0.0 && x.z == 0.0;
}

void ss_oriented_equation(const void *strand, const ss_surroundings *around, const double *q,
                          const double *v, const double *vdot, double *rs)
{
    const ss_oriented_strand *s = strand;
    const ss_oriented *tree = s->tree;
    const ss_oriented_base base = base_of(s, around);
    const bool free = around->push == NULL && around->drag == 0.0 && is_zero(around->pull_root) &&
                      is_zero(around->pull_tip);
    if (!free) {
        memset(tree->load, 0, (size_t)tree->n * sizeof *tree->load);
        ss_oriented_move(tree, &base, q, v, NULL);
        add_drag(tree, around->drag);
        if (around->winds != NULL) {
            add_wind(s, around);
        }
        add_pull(tree, s->tip[0], around->pull_root);
        add_pull(tree, s->tip[s->npoints - 1], around->pull_tip);
        if (around->push != NULL) {
            add_pushes(s, around->push);
        }
    }
    ss_oriented_residual(tree, &base, q, v, vdot, free ? NULL : tree->load, rs);
}
