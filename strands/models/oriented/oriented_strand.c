// Where a strand of links is and how it moves (oriented_strand.h).
//
// A unit of w_i about axis e of link i moves a point x beyond its joint by R_i e x (x - x_i). Places are taken
// from the base: far from the world's origin that difference would lose digits.
#include "strands/models/oriented/oriented_strand.h"

static bool holds(const ss_oriented_strand *s)
{
    return s->held > 0.0;
}

void ss_oriented_start(void *strand, const ss_pose *root, double *q)
{
    const ss_oriented_strand *s = strand;
    (void)root; // q is of its frame
    q[0] = q[1] = q[2] = 0.0;
    for (int j = 0; j < s->tree->n; j++) {
        ss_quat_write(s->style[j], q + ss_oriented_turn_at(s->tree, j));
    }
}

void ss_oriented_lumps(const void *strand, double *mass, double *length)
{
    const ss_oriented_strand *s = strand;
    const int first = holds(s) ? 1 : 0;
    length[0] = s->held * s->length;
    mass[0] = s->held_mass;
    for (int k = 0; k < 2 * s->tree->n; k++) {
        length[first + k] = 0.5 * s->share[k / 2] * s->length;
        mass[first + k] = 0.5 * s->tree->link[k / 2].mass;
    }
}

static ss_vec3 read(const double *x)
{
    return ss_vec(x[0], x[1], x[2]);
}

void ss_oriented_advance(const void *strand, const double *q, const double *v, double h,
                         double *moved)
{
    const ss_oriented *tree = ((const ss_oriented_strand *)strand)->tree;
    for (int k = 0; k < 3 && tree->floats; k++) {
        moved[k] = q[k] + h * v[k];
    }
    for (int j = 0; j < tree->n; j++) {
        const int at = ss_oriented_turn_at(tree, j);
        const ss_quat by = ss_quat_exp(ss_scaled(h, read(v + ss_oriented_rate_at(tree, j))));
        ss_quat_write(ss_quat_unit(ss_quat_product(ss_quat_read(q + at), by)), moved + at);
    }
}

void ss_oriented_difference(const void *strand, const double *q0, const double *q1, double h,
                            double *v)
{
    const ss_oriented *tree = ((const ss_oriented_strand *)strand)->tree;
    for (int k = 0; k < 3 && tree->floats; k++) {
        v[k] = (q1[k] - q0[k]) / h;
    }
    for (int j = 0; j < tree->n; j++) {
        const int at = ss_oriented_turn_at(tree, j), rate = ss_oriented_rate_at(tree, j);
        const ss_quat turn =
            ss_quat_product(ss_quat_conjugate(ss_quat_read(q0 + at)), ss_quat_read(q1 + at));
        const ss_vec3 w = ss_scaled(1.0 / h, ss_quat_log(turn));
        v[rate] = w.x;
        v[rate + 1] = w.y;
        v[rate + 2] = w.z;
    }
}

// ---- Places and their Jacobians

static void put_column(ss_strand_point *p, int column, ss_vec3 x)
{
    p->J[column] = x.x;
    p->J[p->count + column] = x.y;
    p->J[2 * p->count + column] = x.z;
}

// A point that no dof moves but the place of a tree that floats, at x from the origin of the base.
static void put_fixed(const ss_oriented_strand *s, ss_vec3 x, bool carried, ss_strand_point *p)
{
    const ss_oriented *tree = s->tree;
    p->x = x;
    p->first = 0;
    p->dofs = NULL;
    p->count = tree->floats && carried ? 3 : 0;
    for (int k = 0; k < p->count; k++) {
        put_column(p, k, tree->motion[SS_ORIENTED_BASE].turn.c[k]);
    }
}

// The point of link j at y = `along`.
static void put_point(const ss_oriented_strand *s, int j, double along, ss_strand_point *p)
{
    const ss_oriented *tree = s->tree;
    const ss_oriented_motion *own = &tree->motion[j];
    const int first = tree->floats ? 3 : 0, depth = tree->depth[j];
    put_fixed(s, ss_along(own->joint, along, own->turn.c[1]), false, p);
    p->count = first + 3 * depth;
    p->dofs = s->dofs != NULL ? s->dofs + s->dofs_from[j] : NULL;
    for (int k = 0; k < first; k++) {
        put_column(p, k, tree->motion[SS_ORIENTED_BASE].turn.c[k]);
    }
    const int *path = tree->path + tree->begin[j];
    for (int above = 0; above + 1 < depth; above++) {
        const ss_oriented_motion *m = &tree->motion[path[above]];
        const ss_vec3 way = ss_minus(p->x, m->joint);
        for (int k = 0; k < 3; k++) {
            put_column(p, first + 3 * above + k, ss_cross(m->turn.c[k], way));
        }
    }
    // Of its own joint: exactly none about y.
    const int column = first + 3 * (depth - 1);
    put_column(p, column, ss_scaled(along, own->turn.c[2]));
    put_column(p, column + 1, ss_vec(0.0, 0.0, 0.0));
    put_column(p, column + 2, ss_scaled(-along, own->turn.c[0]));
}

// Places the tree at the turn of its base, which stands at the origin; where it stands.
static ss_vec3 place_tree(const ss_oriented_strand *s, const ss_pose *root, const double *q)
{
    const ss_pose base = ss_pose_product(root, &s->home);
    const ss_pose turned = {base.turn, ss_vec(0.0, 0.0, 0.0)};
    ss_oriented_place(s->tree, &turned, q);
    return base.place;
}

void ss_oriented_put(const void *strand, const ss_pose *root, const double *q,
                     ss_strand_point *points, ss_strand_point *samples)
{
    const ss_oriented_strand *s = strand;
    const ss_oriented *tree = s->tree;
    const ss_vec3 origin = place_tree(s, root, q);
    const ss_vec3 held = ss_minus(ss_pose_point(root, s->held_from), origin);
    const int first = holds(s) ? 1 : 0;
    for (int i = 0; i < s->npoints; i++) {
        const int tip = s->tip[i];
        if (tip >= 0) {
            put_point(s, tip, tree->link[tip].length, &points[i]);
        } else {
            const ss_vec3 joint = tree->motion[SS_ORIENTED_BASE].joint;
            put_fixed(s, tip == SS_ORIENTED_HELD ? held : joint, true, &points[i]);
        }
        points[i].x = ss_plus(points[i].x, origin);
    }
    if (holds(s)) {
        put_fixed(s, ss_scaled(0.5, held), true, &samples[0]);
        samples[0].x = ss_plus(samples[0].x, origin);
    }
    for (int k = 0; k < 2 * tree->n; k++) {
        ss_strand_point *sample = &samples[first + k];
        put_point(s, k / 2, SS_ORIENTED_SAMPLE_AT[k % 2] * tree->link[k / 2].length, sample);
        sample->x = ss_plus(sample->x, origin);
    }
}

// (dJ/dt) v is the acceleration of the sample where v stays constant.
void ss_oriented_convect(const void *strand, const ss_pose *root, const double *q, const double *v,
                         ss_vec3 *a)
{
    const ss_oriented_strand *s = strand;
    const ss_oriented *tree = s->tree;
    const ss_oriented_base base = {.pose = ss_pose_product(root, &s->home)};
    const int first = holds(s) ? 1 : 0;
    ss_oriented_move(tree, &base, q, v, NULL);
    a[0] = ss_vec(0.0, 0.0, 0.0);
    for (int k = 0; k < 2 * tree->n; k++) {
        const ss_oriented_motion *m = &tree->motion[k / 2];
        const ss_vec3 c =
            ss_scaled(SS_ORIENTED_SAMPLE_AT[k % 2] * tree->link[k / 2].length, m->turn.c[1]);
        const ss_vec3 about =
            ss_plus(ss_cross(m->spin_rate, c), ss_cross(m->spin, ss_cross(m->spin, c)));
        a[first + k] = ss_plus(m->acceleration, about);
    }
}
