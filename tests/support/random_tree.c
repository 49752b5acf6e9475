#include "tests/support/random_tree.h"

#include "tests/support/one_strand.h"
#include "tests/support/support.h"

ss_vec3 random_vector(ss_random *g, double size)
{
    return ss_vec(size * ss_random_normal(g), size * ss_random_normal(g),
                  size * ss_random_normal(g));
}

ss_quat random_turn(ss_random *g, double angle)
{
    double axis[3];
    ss_random_direction(g, 3, axis);
    return ss_quat_exp(
        ss_scaled(ss_random_between(g, 0.0, angle), ss_vec(axis[0], axis[1], axis[2])));
}

static ss_vec3 three_between(ss_random *g, double low, double high)
{
    const double x = ss_random_between(g, low, high), y = ss_random_between(g, low, high);
    return ss_vec(x, y, ss_random_between(g, low, high));
}

static ss_oriented_link random_link(ss_random *g, int j)
{
    const double l = ss_random_between(g, 0.5, 1.5), m = ss_random_between(g, 0.5, 1.5);
    return (ss_oriented_link){.parent = j > 0 ? ss_random_below(g, j) : SS_ORIENTED_BASE,
                              .joint = random_vector(g, 0.5),
                              .length = l,
                              .mass = m,
                              .across = m * l * l / 12.0,
                              .spin = ss_random_between(g, 0.01, 0.05),
                              .spring = three_between(g, 0.5, 2.0),
                              .damping = three_between(g, 0.0, 0.3),
                              .rest = random_turn(g, 1.0)};
}

random_tree new_random_tree(ss_random *g, bool floats)
{
    ss_oriented_link link[RANDOM_TREE_LINKS];
    random_tree t = {.base = {.pose = random_pose(g),
                              .velocity = random_vector(g, 1.0),
                              .spin = random_vector(g, 1.0),
                              .acceleration = random_vector(g, 5.0),
                              .spin_rate = random_vector(g, 5.0)}};
    ss_error error;
    for (int j = 0; j < RANDOM_TREE_LINKS; j++) {
        link[j] = random_link(g, j);
        t.load[j] = (ss_oriented_load){random_vector(g, 1.0), random_vector(g, 0.3)};
    }
    CHECK_OK(ss_oriented_new(RANDOM_TREE_LINKS, link, floats, &t.tree, &error));
    for (int k = 0; k < 3 && floats; k++) {
        t.q[k] = ss_random_normal(g);
        t.w[k] = ss_random_normal(g);
    }
    for (int j = 0; j < RANDOM_TREE_LINKS; j++) {
        const int at = ss_oriented_turn_at(t.tree, j), rate = ss_oriented_rate_at(t.tree, j);
        const ss_quat q = ss_quat_product(link[j].rest, random_turn(g, 1.5));
        const double length = ss_random_between(g, 0.5, 2.0);
        t.q[at] = length * q.w;
        t.q[at + 1] = length * q.x;
        t.q[at + 2] = length * q.y;
        t.q[at + 3] = length * q.z;
        for (int k = 0; k < 3; k++) {
            t.w[rate + k] = ss_random_normal(g);
        }
    }
    return t;
}

void advance_random_tree(const random_tree *t, const double *wdot, double h, double *q, double *w)
{
    const ss_oriented *s = t->tree;
    for (int k = 0; k < ss_oriented_nv(s); k++) {
        w[k] = t->w[k] + h * wdot[k];
    }
    for (int k = 0; k < 3 && s->floats; k++) {
        q[k] = t->q[k] + h * (t->w[k] + 0.5 * h * wdot[k]);
    }
    for (int j = 0; j < RANDOM_TREE_LINKS; j++) {
        const int at = ss_oriented_turn_at(s, j), rate = ss_oriented_rate_at(s, j);
        const double *a = t->w + rate, *b = wdot + rate;
        const ss_vec3 turn = ss_vec(h * (a[0] + 0.5 * h * b[0]), h * (a[1] + 0.5 * h * b[1]),
                                    h * (a[2] + 0.5 * h * b[2]));
        ss_quat_write(ss_quat_product(ss_quat_read(t->q + at), ss_quat_exp(turn)), q + at);
    }
}
