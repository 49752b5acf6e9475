// problems/tangle/tangle.c -- rods, their lattice, towers, and the matrices and loads of both.
#include "problems/tangle/tangle.h"

#include "base/assert.h"
#include "base/spectrum.h"
#include "problems/matrix/delassus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIME_STEP 1e-3 // s
#define GRAVITY   9.81 // m/s^2

// ---- Rods
//
//     K = sum over mass points of m J J'                                                      (3)
//     M = K + alpha I            where the condition of K exceeds the wanted one
//     M = |K| (K / |K|)^p, p > 1 where it does not                                            (4)
//
// with two Gauss points a link, which integrate the kinetic energy of a straight link exactly.
// alpha is dt^2 times the stiffness of a joint. K alone has a condition of 1.5e4 to 1.8e4 in space
// and of 1.8e5 to 2.8e5 in the plane; (4) stretches its spectrum about the highest eigenvalue and
// keeps its modes, as the finer links of a longer chain would do.

// Each link moves the wander by this much and keeps this share of it. Their sum stays below 1, so
// that no link turns by a right angle and the first joint axis below always exists.
#define WANDER_STEP 0.2
#define WANDER_KEPT 0.8

#define POINTS_PER_LINK 2
static const double GAUSS_POINT[POINTS_PER_LINK] = {0.21132486540518713, 0.7886751345948129};

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

// Divides a != 0 by its length.
static void normalise(double a[3])
{
    const double length = sqrt(dot(a, a));
    for (int k = 0; k < 3; k++) {
        a[k] /= length;
    }
}

static double link_length(const ss_rod *rod)
{
    return SS_ROD_LENGTH / rod->nlinks;
}

void ss_rod_growth(int dim, double direction[3])
{
    direction[0] = 0.0;
    direction[1] = dim == 2 ? 1.0 : 0.0;
    direction[2] = dim == 2 ? 0.0 : 1.0;
}

// Sets the axes of a joint: e_z in the plane; in space the part of e_x that is perpendicular to the
// link, and the third axis.
static void set_joint_axes(ss_rod *rod, int link)
{
    if (rod->dim == 2) {
        memcpy(rod->axis[link], (const double[3]){0.0, 0.0, 1.0}, sizeof rod->axis[link]);
        return;
    }
    const double *along = rod->direction[link];
    double *first = rod->axis[2 * link];
    for (int k = 0; k < 3; k++) {
        first[k] = (k == 0 ? 1.0 : 0.0) - along[0] * along[k];
    }
    normalise(first);
    cross(along, first, rod->axis[2 * link + 1]);
}

ss_rod ss_rod_drawn(ss_random *g, int dim)
{
    ss_rod rod = {.dim = dim, .nlinks = dim == 2 ? 16 : 8, .joint_axes = dim - 1};
    double growth[3], wander[3] = {0.0, 0.0, 0.0}, step[3];
    ss_rod_growth(dim, growth);
    for (int e = 0; e < rod.nlinks; e++) {
        ss_random_direction(g, dim, step);
        for (int k = 0; k < 3; k++) {
            wander[k] = WANDER_KEPT * wander[k] + WANDER_STEP * step[k];
            rod.direction[e][k] = growth[k] + wander[k];
        }
        normalise(rod.direction[e]);
        set_joint_axes(&rod, e);
        for (int k = 0; k < 3 && e > 0; k++) {
            rod.joint[e][k] = rod.joint[e - 1][k] + link_length(&rod) * rod.direction[e - 1][k];
        }
    }
    return rod;
}

static int link_at(const ss_rod *rod, double s)
{
    const int link = (int)(s / link_length(rod));
    return link < rod->nlinks ? link : rod->nlinks - 1;
}

int ss_rod_reach(const ss_rod *rod, double s)
{
    ss_assert(0.0 <= s && s <= SS_ROD_LENGTH);
    return rod->joint_axes * (link_at(rod, s) + 1);
}

void ss_rod_point(const ss_rod *rod, double s, double x[3])
{
    const int link = link_at(rod, s);
    const double beyond = s - link * link_length(rod);
    for (int k = 0; k < 3; k++) {
        x[k] = rod->joint[link][k] + beyond * rod->direction[link][k];
    }
}

int ss_rod_jacobian(const ss_rod *rod, double s, double J[SS_ROD_DOFS][3])
{
    const int reach = ss_rod_reach(rod, s);
    double x[3], arm[3];
    ss_rod_point(rod, s, x);
    for (int j = 0; j < reach; j++) {
        for (int k = 0; k < 3; k++) {
            arm[k] = x[k] - rod->joint[j / rod->joint_axes][k];
        }
        cross(rod->axis[j], arm, J[j]);
    }
    return reach;
}

static int mass_points(const ss_rod *rod)
{
    return POINTS_PER_LINK * rod->nlinks;
}

static double point_mass(const ss_rod *rod)
{
    return SS_ROD_DENSITY * SS_ROD_LENGTH / mass_points(rod);
}

static double point_arclength(const ss_rod *rod, int point)
{
    return link_length(rod) * (point / POINTS_PER_LINK + GAUSS_POINT[point % POINTS_PER_LINK]);
}

static void add_kinetic_energy(const ss_rod *rod, double K[SS_ROD_DOFS][SS_ROD_DOFS])
{
    double J[SS_ROD_DOFS][3];
    for (int point = 0; point < mass_points(rod); point++) {
        const int reach = ss_rod_jacobian(rod, point_arclength(rod, point), J);
        for (int i = 0; i < reach; i++) {
            for (int j = 0; j <= i; j++) {
                K[i][j] += point_mass(rod) * dot(J[i], J[j]);
            }
        }
    }
    for (int i = 0; i < SS_ROD_DOFS; i++) {
        for (int j = 0; j < i; j++) {
            K[j][i] = K[i][j];
        }
    }
}

static void stretch(const ss_spectrum *K, double condition, double M[SS_ROD_DOFS][SS_ROD_DOFS])
{
    const double power = ss_portable_log(condition) / ss_portable_log(K->highest / K->lowest);
    double lambda[SS_ROD_DOFS];
    for (int k = 0; k < SS_ROD_DOFS; k++) {
        const double logarithm = ss_portable_log(K->lambda[k] / K->highest);
        lambda[k] = K->highest * ss_portable_exp(power * logarithm);
    }
    ss_spectrum_matrix(K, lambda, M[0]);
}

void ss_rod_mass(const ss_rod *rod, double condition, double M[SS_ROD_DOFS][SS_ROD_DOFS])
{
    memset(M, 0, SS_ROD_DOFS * sizeof M[0]);
    add_kinetic_energy(rod, M);
    const ss_spectrum K = ss_spectrum_of(SS_ROD_DOFS, M[0]);
    const double alpha = ss_spectrum_shift(&K, condition);
    if (alpha < 0.0) {
        stretch(&K, condition, M);
        return;
    }
    for (int i = 0; i < SS_ROD_DOFS; i++) {
        M[i][i] += alpha;
    }
}

void ss_rod_weight(const ss_rod *rod, const double a[3], double torque[SS_ROD_DOFS])
{
    memset(torque, 0, SS_ROD_DOFS * sizeof torque[0]);
    double J[SS_ROD_DOFS][3];
    for (int point = 0; point < mass_points(rod); point++) {
        const int reach = ss_rod_jacobian(rod, point_arclength(rod, point), J);
        for (int j = 0; j < reach; j++) {
            torque[j] += point_mass(rod) * dot(J[j], a);
        }
    }
}

// ---- The lattice of rods: a frame and two places for each contact

// Contacts lie in this part of a rod, as joints at the root hardly move.
#define FIRST_SHARE 0.1
#define LAST_SHARE  1.0

// Two rods touch at arclengths that differ by up to this share of the length.
#define SLIP_SHARE 0.02

// Normals stray from the lattice's directions by up to some 20 degrees.
#define NORMAL_SPREAD 0.36

// If hyperstatic, so many contacts share a place up to 1 % of the length, and a normal up to 1
// degree.
#define BUNCH         8
#define BUNCH_SHARE   0.01
#define BUNCH_NORMALS 0.017

static double share_to_arclength(double share)
{
    return SS_ROD_LENGTH * (FIRST_SHARE + (LAST_SHARE - FIRST_SHARE) * fmin(fmax(share, 0.0), 1.0));
}

static void draw_normal(ss_random *g, int dim, const double about[3], double spread,
                        double normal[3])
{
    double stray[3];
    ss_random_direction(g, dim, stray);
    for (int k = 0; k < 3; k++) {
        normal[k] = about[k] + spread * stray[k];
    }
    normalise(normal);
}

// Completes a frame. The first tangent is the part of the rods' growth that is perpendicular to the
// normal, or its opposite, so that the plane's frame turns right as well; the second is normal x
// first.
static void complete_frame(int dim, double frame[3][3])
{
    double growth[3];
    ss_rod_growth(dim, growth);
    const double *n = frame[0];
    const double along = n[0] * growth[0] + n[1] * growth[1] + n[2] * growth[2];
    const double sign = dim == 2 && n[0] < 0.0 ? -1.0 : 1.0;
    double *t = frame[1], *last = frame[2];
    for (int k = 0; k < 3; k++) {
        t[k] = sign * (growth[k] - along * n[k]);
    }
    normalise(t);
    last[0] = n[1] * t[2] - n[2] * t[1];
    last[1] = n[2] * t[0] - n[0] * t[2];
    last[2] = n[0] * t[1] - n[1] * t[0];
}

// Contacts of one rod with one neighbour, or with the ground.
typedef struct patch {
    int rod, other;
    double normal[3]; // direction of the lattice
    bool bunched;
} patch;

// Draws the place of contact k of count on the first rod, as a share of the part that is touched: a
// random place in the k-th of equal pieces, one for each contact or bunch.
static double draw_share(ss_random *g, int k, int count)
{
    return (k + ss_random_uniform(g)) / count;
}

// Draws the place on the other rod. A rod touches itself at two places well apart; two rods touch
// at much the same height.
static double draw_other_share(ss_random *g, const patch *p, double share)
{
    if (p->rod != p->other) {
        return share + ss_random_between(g, -SLIP_SHARE, SLIP_SHARE);
    }
    const double apart = share + ss_random_between(g, 0.25, 0.75);
    return apart < 1.0 ? apart : apart - 1.0;
}

static ss_tangle_touch draw_touch(ss_random *g, int dim, const patch *p, double share)
{
    ss_tangle_touch t = {.rod = {p->rod, p->other}};
    t.arclength[0] = share_to_arclength(share);
    t.arclength[1] = share_to_arclength(draw_other_share(g, p, share));
    draw_normal(g, dim, p->normal, NORMAL_SPREAD, t.frame[0]);
    complete_frame(dim, t.frame);
    return t;
}

static ss_tangle_touch jittered(ss_random *g, int dim, const ss_tangle_touch *centre)
{
    ss_tangle_touch t = *centre;
    for (int end = 0; end < 2; end++) {
        const double jitter = 0.5 * BUNCH_SHARE * ss_random_between(g, -1.0, 1.0);
        t.arclength[end] = fmin(t.arclength[end] + jitter * SS_ROD_LENGTH, SS_ROD_LENGTH);
    }
    draw_normal(g, dim, centre->frame[0], BUNCH_NORMALS, t.frame[0]);
    complete_frame(dim, t.frame);
    return t;
}

static void draw_patch(ss_random *g, int dim, const patch *p, int count, ss_tangle_touch *touches)
{
    const int bunch = p->bunched ? BUNCH : 1;
    const int nbunches = (count + bunch - 1) / bunch;
    for (int k = 0; k < nbunches; k++) {
        const ss_tangle_touch centre = draw_touch(g, dim, p, draw_share(g, k, nbunches));
        for (int i = k * bunch; i < count && i < (k + 1) * bunch; i++) {
            touches[i] = p->bunched ? jittered(g, dim, &centre) : centre;
        }
    }
}

static int ground_contacts(const ss_tangle_settings *s)
{
    return (int)(s->ground_share * s->ncontacts + 0.5);
}

// Returns the rods of a tangle, which may be more than an int counts.
static double tangle_rods(const ss_tangle_settings *s)
{
    return ceil((2.0 * s->ncontacts - ground_contacts(s)) / s->ends_per_rod);
}

// Returns share k of `total` things dealt evenly to n.
static int dealt(int total, int k, int n)
{
    return (int)((long)total * (k + 1) / n - (long)total * k / n);
}

static int lattice_stride(int nrods)
{
    const int root = (int)sqrt((double)nrods);
    return root > 1 ? root : 1;
}

// Draws the contacts of each rod: with its first and (in space) second neighbour, then with the
// ground.
static void draw_touches(ss_random *g, const ss_tangle_settings *s, ss_tangle_plan *plan)
{
    const int n = plan->nrods, neighbours = s->dim - 1;
    const int stride[2] = {1, lattice_stride(n)};
    const int on_ground = ground_contacts(s), between = s->ncontacts - on_ground;
    int done = 0;
    for (int rod = 0; rod < n; rod++) {
        for (int k = 0; k < neighbours; k++) {
            patch p = {.rod = rod, .other = (rod + stride[k]) % n, .bunched = s->hyperstatic};
            p.normal[k] = -1.0; // as the neighbour lies along +e_k
            const int count = dealt(between, rod * neighbours + k, n * neighbours);
            draw_patch(g, s->dim, &p, count, plan->touches + done);
            done += count;
        }
        const patch ground = {rod, SS_GROUND, {1.0, 0.0, 0.0}, s->hyperstatic};
        const int count = dealt(on_ground, rod, n);
        draw_patch(g, s->dim, &ground, count, plan->touches + done);
        done += count;
    }
}

ss_status ss_tangle_plan_new(const ss_tangle_settings *s, ss_tangle_plan **out, ss_error *e)
{
    ss_assert(s->dim == 2 || s->dim == 3);
    *out = NULL;
    ss_tangle_plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL) {
        return ss_fail_memory(e, "a tangle");
    }
    plan->dim = s->dim;
    plan->nrods = (int)tangle_rods(s);
    plan->ncontacts = s->ncontacts;
    plan->rods = malloc((size_t)plan->nrods * sizeof *plan->rods);
    plan->touches = malloc((size_t)plan->ncontacts * sizeof *plan->touches);
    if (plan->rods == NULL || plan->touches == NULL) {
        ss_tangle_plan_free(plan);
        return ss_fail_memory(e, "the rods of a tangle");
    }
    ss_random g = ss_random_seeded(s->seed);
    for (int i = 0; i < plan->nrods; i++) {
        plan->rods[i] = ss_rod_drawn(&g, s->dim);
    }
    draw_touches(&g, s, plan);
    *out = plan;
    return SS_OK;
}

void ss_tangle_plan_free(ss_tangle_plan *plan)
{
    if (plan != NULL) {
        free(plan->rods);
        free(plan->touches);
        free(plan);
    }
}

// ---- Towers
//
// Box k stands on box k - 1, the first on the ground; each is `tower` times as heavy as the one
// below it. Contacts are dealt evenly to the faces that touch and lie anywhere in them, all normals
// upright. The dofs of a box are the velocity of its centre and its rate of turn, and M is diagonal
// within a dense block. The step adds gravity and a push to the side of each box. Few contacts
// suffice to make Gauss and Seidel's method crawl: the impulses that hold the heavy box on top are
// found face after face, and the share of each contact of a face from next to nothing.
//
// With planks >= 2 a layer has so many equal flat blocks side by side, 15 : 3 : 1 and narrower
// where they are many, across those of the layer below, and `tower` is the ratio from layer to
// layer. Each stands flat (w = 0) on all planks below, with its contacts near the corners of the
// faces. Lifting each layer faster than the one below certifies an answer.
#define MASS        1e-3 // mass of the lowest box, kg
#define HALF_HEIGHT 5e-3 // m
#define HALF_LOW    5e-3 // bounds of the sides, m
#define HALF_HIGH   15e-3

// A plank is 15 : 3 : 1, and narrower where a layer has many.
#define HALF_LENGTH    60e-3
#define HALF_WIDTH     12e-3
#define HALF_THICKNESS 4e-3
#define WIDEST         0.8 // largest share of its part of a layer that a plank takes
#define CORNER         0.2 // a contact lies within this share of the face from its corner

// Gaps over one step, m/s; the push to the side, as a share of what friction could hold.
#define SPEED_LOW  1e-6
#define SPEED_HIGH 1e-4
#define PUSH       0.5

typedef struct box {
    double half[3];   // m; the last is upright
    double centre[2]; // m; as seen from above
    double mass;
} box;

// Two boxes that touch, or a box and the ground.
typedef struct face {
    int above, below;          // boxes; below is -1 for the ground
    double centre[2], half[2]; // common part of the boxes as seen from above, m
} face;

// In space there are x, y, z and the turns about them, z upright; in the plane x, z and the turn
// about y.
typedef struct axes {
    int dofs;      // 6 or 3
    int axis[6];   // 0 .. 2 velocities, 3 .. 5 turns
    int normal[3]; // axes of the contact's components
} axes;

static const axes SPACE = {6, {0, 1, 2, 3, 4, 5}, {2, 0, 1}};
static const axes PLANE = {3, {0, 2, 4}, {2, 0, 1}};

static int boxes_of_a_layer(const ss_tangle_settings *s)
{
    return s->planks > 1 ? s->planks : 1;
}

static int tower_layers(const ss_tangle_settings *s)
{
    const int layers = (int)(2.0 * s->ncontacts / s->ends_per_rod) / boxes_of_a_layer(s);
    return layers > 1 ? layers : 1;
}

static int tower_boxes(const ss_tangle_settings *s)
{
    return boxes_of_a_layer(s) * tower_layers(s);
}

static void draw_box(ss_random *g, box *b)
{
    b->half[0] = ss_random_between(g, HALF_LOW, HALF_HIGH);
    b->half[1] = ss_random_between(g, HALF_LOW, HALF_HIGH);
    b->half[2] = HALF_HEIGHT;
    b->centre[0] = b->centre[1] = 0.0;
}

// Places plank k of a layer: along x in even layers, along y in odd ones, the outer two flush with
// the ends of those below.
static void place_plank(const ss_tangle_settings *s, int layer, int k, box *b)
{
    const int along = layer % 2;
    const double width = fmin(HALF_WIDTH, WIDEST * HALF_LENGTH / s->planks);
    b->half[along] = HALF_LENGTH;
    b->half[1 - along] = width;
    b->half[2] = HALF_THICKNESS;
    b->centre[along] = 0.0;
    b->centre[1 - along] = (HALF_LENGTH - width) * (2.0 * k / (s->planks - 1) - 1.0);
}

static void draw_boxes(ss_random *g, const ss_tangle_settings *s, const double *mass, box *boxes)
{
    const int wide = boxes_of_a_layer(s);
    double own = MASS;
    for (int layer = 0; layer < tower_layers(s); layer++, own *= s->tower) {
        for (int k = 0; k < wide; k++) {
            box *b = &boxes[wide * layer + k];
            if (s->planks > 1) {
                place_plank(s, layer, k, b);
            } else {
                draw_box(g, b);
            }
            b->mass = own * mass[wide * layer + k];
        }
    }
}

static double tower_faces(const ss_tangle_settings *s)
{
    const double wide = boxes_of_a_layer(s);
    return wide + (tower_layers(s) - 1.0) * wide * wide;
}

// Returns the number of faces of the lower side of a layer.
static int faces_of_a_layer(const ss_tangle_settings *s, int layer)
{
    const int wide = boxes_of_a_layer(s);
    return layer == 0 ? wide : wide * wide;
}

// Returns face f, from the ground up. Each box of a layer stands on all boxes of the layer below.
static face find_face(const ss_tangle_settings *s, const box *boxes, int f)
{
    const int wide = boxes_of_a_layer(s), pair = f - wide, first = wide * (pair / (wide * wide));
    face made = {.above = f, .below = -1};
    if (pair >= 0) {
        made.above = first + wide + pair % (wide * wide) / wide;
        made.below = first + pair % wide;
    }
    const box *a = &boxes[made.above], *b = made.below >= 0 ? &boxes[made.below] : a;
    for (int c = 0; c < 2; c++) {
        const double low = fmax(a->centre[c] - a->half[c], b->centre[c] - b->half[c]);
        const double high = fmin(a->centre[c] + a->half[c], b->centre[c] + b->half[c]);
        made.centre[c] = 0.5 * (low + high);
        made.half[c] = 0.5 * (high - low);
    }
    return made;
}

// Returns the inertia of a box about axis a.
static double inertia(const box *b, int a)
{
    const double p = b->half[(a + 1) % 3], q = b->half[(a + 2) % 3];
    return b->mass * (p * p + q * q) / 3.0;
}

// Returns the motion along `direction` that dof `axis` makes at the place r from the centre.
static double moves(int axis, int direction, const double r[3])
{
    if (axis < 3) {
        return axis == direction ? 1.0 : 0.0;
    }
    const int a = axis - 3; // the motion is (e_a x r) . e_direction
    if (direction == (a + 1) % 3) {
        return -r[(a + 2) % 3];
    }
    return direction == (a + 2) % 3 ? r[(a + 1) % 3] : 0.0;
}

typedef struct triplets {
    int count;
    int *row, *col;
    double *x;
} triplets;

static void tower_add(triplets *t, int row, int col, double x)
{
    t->row[t->count] = row;
    t->col[t->count] = col;
    t->x[t->count++] = x;
}

static void add_masses(const axes *ways, const box *boxes, int n, triplets *t)
{
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < ways->dofs; i++) {
            for (int j = 0; j < ways->dofs; j++) {
                const int axis = ways->axis[i];
                const double own = axis < 3 ? boxes[k].mass : inertia(&boxes[k], axis - 3);
                tower_add(t, ways->dofs * k + i, ways->dofs * k + j, i == j ? own : 0.0);
            }
        }
    }
}

// Adds contact i at a place of a face, with the sign 1 on the box above, and -1 on the one below.
static void add_contact(const axes *ways, const box *boxes, const ss_problem *p, int i,
                        const face *f, const double place[2], triplets *t)
{
    for (int below = 0; below < 2; below++) {
        const int k = below ? f->below : f->above;
        if (k < 0) {
            continue;
        }
        const box *b = &boxes[k];
        const double r[3] = {place[0] - b->centre[0], place[1] - b->centre[1],
                             below ? b->half[2] : -b->half[2]};
        for (int c = 0; c < p->dim; c++) {
            for (int j = 0; j < ways->dofs; j++) {
                const double x = moves(ways->axis[j], ways->normal[c], r);
                tower_add(t, ways->dofs * k + j, p->dim * i + c, below ? -x : x);
            }
        }
    }
}

// Draws the place of the k-th contact of a face: anywhere, or between planks near corner after
// corner.
static void draw_place(ss_random *g, const ss_tangle_settings *s, const face *f, int k,
                       double place[2])
{
    for (int c = 0; c < 2; c++) {
        double share = 0.0;
        if (s->planks > 1) {
            const double corner = (k >> c) % 2 == 0 ? -1.0 : 1.0;
            share = corner * (1.0 - CORNER * ss_random_uniform(g));
        } else if (c < s->dim - 1) {
            share = ss_random_between(g, -1.0, 1.0);
        }
        place[c] = f->centre[c] + f->half[c] * share;
    }
}

// Draws all contacts. The faces of a layer share the weight of the boxes above.
static void draw_contacts(ss_random *g, const ss_tangle_settings *s, const axes *ways,
                          const box *boxes, const ss_problem *p, triplets *t, double *r0)
{
    const int faces = (int)tower_faces(s), wide = boxes_of_a_layer(s);
    int layer = tower_layers(s);
    double above = 0.0;
    for (int k = faces - 1; k >= 0; k--) {
        const face f = find_face(s, boxes, k);
        const int first = (int)((long)p->ncontacts * k / faces);
        const int next = (int)((long)p->ncontacts * (k + 1) / faces);
        for (int b = 0; f.above / wide < layer && b < wide; b++) {
            above += boxes[f.above / wide * wide + b].mass * GRAVITY * TIME_STEP;
        }
        layer = f.above / wide;
        for (int i = first; i < next; i++) {
            double place[2];
            draw_place(g, s, &f, i - first, place);
            add_contact(ways, boxes, p, i, &f, place, t);
            if (s->planks < 2) { // as planks lie flat
                p->w[p->dim * i] = ss_random_log_between(g, SPEED_LOW, SPEED_HIGH);
            }
            r0[p->dim * i] = above / faces_of_a_layer(s, layer) / (next - first);
        }
    }
}

static void draw_loads(ss_random *g, const ss_tangle_settings *s, const axes *ways,
                       const box *boxes, int n, ss_problem *p)
{
    for (int k = 0; k < n; k++) {
        double push[3] = {0.0, 0.0, 0.0};
        ss_random_direction(g, s->dim - 1, push);
        push[0] *= PUSH * s->mu * GRAVITY;
        push[1] *= s->dim == 3 ? PUSH * s->mu * GRAVITY : 0.0;
        push[2] = -GRAVITY;
        for (int j = 0; j < ways->dofs; j++) {
            p->f[ways->dofs * k + j] =
                ways->axis[j] < 3 ? boxes[k].mass * TIME_STEP * push[ways->axis[j]] : 0.0;
        }
    }
}

// Fills in ndofs, M, H, mu, f, w of the problem in global form. mass [boxes] are factors on the
// masses. r0 is the weight of the boxes above, dealt evenly; the caller frees it, whatever is
// returned.
static ss_status tower_fill(const ss_tangle_settings *s, const double *mass, ss_problem *p,
                            double **r0, ss_error *e)
{
    const axes *ways = s->dim == 3 ? &SPACE : &PLANE;
    const int n = tower_boxes(s), m = ways->dofs;
    const size_t contacts = (size_t)s->ncontacts, size = contacts * (size_t)s->dim;
    const size_t room = 2 * size * (size_t)m + (size_t)(n * m * m);
    p->ndofs = n * m;
    triplets t = {.row = malloc(room * sizeof(int)),
                  .col = malloc(room * sizeof(int)),
                  .x = malloc(room * sizeof(double))};
    box *boxes = malloc((size_t)n * sizeof *boxes);
    p->mu = malloc(contacts * sizeof *p->mu);
    p->f = calloc((size_t)p->ndofs, sizeof *p->f);
    p->w = calloc(size, sizeof *p->w);
    *r0 = calloc(size, sizeof **r0);
    ss_status status = SS_OK;
    if (t.row == NULL || t.col == NULL || t.x == NULL || boxes == NULL || p->mu == NULL ||
        p->f == NULL || p->w == NULL || *r0 == NULL) {
        status = ss_fail_memory(e, "a tower");
    }
    if (status == SS_OK) {
        ss_random g = ss_random_seeded(s->seed);
        draw_boxes(&g, s, mass, boxes);
        for (size_t i = 0; i < contacts; i++) {
            p->mu[i] = s->mu;
        }
        draw_contacts(&g, s, ways, boxes, p, &t, *r0);
        draw_loads(&g, s, ways, boxes, n, p);
        status = ss_sparse_from_triplets(&p->H, p->ndofs, (int)size, t.count, t.row, t.col, t.x, e);
    }
    if (status == SS_OK) {
        t.count = 0;
        add_masses(ways, boxes, n, &t);
        status = ss_sparse_from_triplets(&p->M, p->ndofs, p->ndofs, t.count, t.row, t.col, t.x, e);
    }
    free(t.row);
    free(t.col);
    free(t.x);
    free(boxes);
    return status;
}

// ---- Settings

// Indices of H and M are ints: a contact has 3 x 32 entries of H, a rod 256 of M.
#define MOST_CONTACTS 10000000
#define MOST_RODS     8000000

// Limits of a tower: decades between its masses, and planks of a layer.
#define MOST_DECADES 12
#define MOST_PLANKS  1000

ss_tangle_settings ss_tangle_defaults(void)
{
    return (ss_tangle_settings)SS_TANGLE_DEFAULTS;
}

static ss_status check_tower(const ss_tangle_settings *s, ss_error *e)
{
    if (!(s->tower >= 1.0 && s->tower <= 1e6)) {
        return ss_fail(e, SS_BAD_INPUT, "tower is %g, not in 1 .. 1e6", s->tower);
    }
    if (s->hyperstatic || s->ground_share != 0.0 || s->unsymmetry != 0.0) {
        return ss_fail(e, SS_BAD_INPUT,
                       "a tower has boxes on each other: leave out hyperstatic, ground and "
                       "unsymmetric");
    }
    if (s->planks != 0 && !(s->planks >= 2 && s->planks <= MOST_PLANKS)) {
        return ss_fail(e, SS_BAD_INPUT, "planks is %d, not 0 or in 2 .. %d", s->planks,
                       MOST_PLANKS);
    }
    if (s->planks != 0 && s->dim != 3) {
        return ss_fail(e, SS_BAD_INPUT, "planks lie crosswise, which needs dim 3");
    }
    if (!(tower_faces(s) <= s->ncontacts) && s->planks != 0) {
        return ss_fail(
            e, SS_BAD_INPUT,
            "planks is %d, which makes %.0f faces for %d contacts; take fewer planks, or "
            "more ends per box",
            s->planks, tower_faces(s), s->ncontacts);
    }
    if (!((tower_layers(s) - 1) * log10(s->tower) <= MOST_DECADES)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "tower is %g, which makes the highest of %d %s more than 1e%d times as "
                       "heavy as the lowest; take a lower one, or fewer boxes",
                       s->tower, tower_layers(s), s->planks != 0 ? "layers" : "boxes",
                       MOST_DECADES);
    }
    return SS_OK;
}

ss_status ss_tangle_check(const ss_tangle_settings *s, ss_error *e)
{
    if (s->dim != 2 && s->dim != 3) {
        return ss_fail(e, SS_BAD_INPUT, "dim is %d; a tangle has 2 or 3", s->dim);
    }
    if (s->ncontacts < 1 || s->ncontacts > MOST_CONTACTS) {
        return ss_fail(e, SS_BAD_INPUT, "ncontacts is %d, not in 1 .. %d", s->ncontacts,
                       MOST_CONTACTS);
    }
    if (s->ends_per_rod < 1) {
        return ss_fail(e, SS_BAD_INPUT, "ends_per_rod is %d, not 1 or more", s->ends_per_rod);
    }
    if (!(s->mu >= 0.0 && isfinite(s->mu))) {
        return ss_fail(e, SS_BAD_INPUT, "mu is %g, not a finite number >= 0", s->mu);
    }
    if (!(s->condition >= 10.0 && s->condition <= 1e8)) {
        return ss_fail(e, SS_BAD_INPUT, "condition is %g, not in 10 .. 1e8", s->condition);
    }
    if (!(s->ground_share >= 0.0 && s->ground_share <= 1.0)) {
        return ss_fail(e, SS_BAD_INPUT, "ground_share is %g, not in 0 .. 1", s->ground_share);
    }
    if (!isfinite(s->unsymmetry)) {
        return ss_fail(e, SS_BAD_INPUT, "unsymmetry is %g, not a finite number", s->unsymmetry);
    }
    if (!(s->light[0] >= 0.0 && s->light[0] <= 1.0)) {
        return ss_fail(e, SS_BAD_INPUT, "the share of light rods is %g, not in 0 .. 1",
                       s->light[0]);
    }
    if (s->light[0] > 0.0 && !(s->light[1] >= 1.0 && s->light[1] <= 1e12)) {
        return ss_fail(e, SS_BAD_INPUT, "the factor of light rods is %g, not in 1 .. 1e12",
                       s->light[1]);
    }
    if (s->tower != 0.0) {
        return check_tower(s, e);
    }
    if (s->planks != 0) {
        return ss_fail(e, SS_BAD_INPUT, "planks are the boxes of a tower: give its ratio as well");
    }
    if (tangle_rods(s) > MOST_RODS) {
        return ss_fail(e, SS_BAD_INPUT, "ends_per_rod is %d, which makes more than %d rods",
                       s->ends_per_rod, MOST_RODS);
    }
    return SS_OK;
}

// ---- The problem
//
// With J_0, J_1 the rods' Jacobians at the two places of a contact and F its frame, the contact's
// columns of H are J_0' F' on the first rod and -J_1' F' on the second. The previous step is at
// rest, 0 = H r0 + f0, and the present one has
//
//     f = -H r0 + sum of m J' (a + a_rod) dt,    w = (gap/dt, 0, 0)                           (5)
//
// with one change a of acceleration for all roots and one for each.

// The closed share of contacts, the decade of their r0_N below the weight of a rod over one step
// times LARGEST_IMPULSE, and how near the cone's boundary r0 comes.
#define CLOSED_SHARE    0.7
#define LARGEST_IMPULSE 0.5
#define IMPULSE_DECADE  0.1
#define CONE_SHARE      0.9
#define COMMON_SHAKE    (0.1 * GRAVITY)
#define ROD_SHAKE       (0.1 * GRAVITY)

// The choice of light rods does not depend on what else is drawn from the seed.
#define LIGHT_STREAM UINT64_C(0x9e3779b97f4a7c15)

// Gaps over one step, m/s, that the shake closes easily, and that it hardly closes.
#define CLOSED_SPEED_LOW  1e-6
#define CLOSED_SPEED_HIGH 1e-4
#define OPEN_SPEED_LOW    1e-3
#define OPEN_SPEED_HIGH   1e-1

// Makes a matrix with room for count entries. On failure A is empty.
static ss_status tangle_reserve(ss_sparse *A, int nrows, int ncols, int count, ss_error *e)
{
    A->nrows = nrows;
    A->ncols = ncols;
    A->start = calloc((size_t)ncols + 1, sizeof *A->start);
    A->row = malloc((size_t)count * sizeof *A->row);
    A->x = malloc((size_t)count * sizeof *A->x);
    if (A->start == NULL || A->row == NULL || A->x == NULL) {
        ss_sparse_free(A);
        return ss_fail_memory(e, "a matrix of a tangle");
    }
    return SS_OK;
}

// Makes M of dense blocks on the diagonal, zeros included: the pattern of M tells the bodies.
static ss_status make_mass(const ss_tangle_plan *plan, double condition, const double *mass,
                           ss_sparse *M, ss_error *e)
{
    const int m = SS_ROD_DOFS, n = m * plan->nrods;
    const ss_status status = tangle_reserve(M, n, n, n * m, e);
    if (status != SS_OK) {
        return status;
    }
    double block[SS_ROD_DOFS][SS_ROD_DOFS];
    int at = 0;
    for (int rod = 0; rod < plan->nrods; rod++) {
        ss_rod_mass(&plan->rods[rod], condition, block);
        for (int j = 0; j < m; j++) {
            for (int i = 0; i < m; i++, at++) {
                M->row[at] = m * rod + i;
                M->x[at] = mass[rod] * block[i][j];
            }
            M->start[m * rod + j + 1] = at;
        }
    }
    return SS_OK;
}

// The part of a contact on one rod: the rows J of its places there, the second negative.
typedef struct part {
    int rod, reach;
    double J[SS_ROD_DOFS][3];
} part;

// Finds the parts of a contact, at most two, rods ascending, and returns their number. A rod that
// touches itself has one part, the difference.
static int contact_parts(const ss_tangle_plan *plan, const ss_tangle_touch *t, part parts[2])
{
    if (t->rod[1] == SS_GROUND) {
        parts[0].rod = t->rod[0];
        parts[0].reach = ss_rod_jacobian(&plan->rods[t->rod[0]], t->arclength[0], parts[0].J);
        return 1;
    }
    const int first = t->rod[0] > t->rod[1]; // index of the first rod's part
    for (int end = 0; end < 2; end++) {
        part *p = &parts[end ^ first];
        memset(p->J, 0, sizeof p->J);
        p->rod = t->rod[end];
        p->reach = ss_rod_jacobian(&plan->rods[p->rod], t->arclength[end], p->J);
    }
    for (int j = 0; j < SS_ROD_DOFS; j++) {
        for (int k = 0; k < 3; k++) {
            parts[!first].J[j][k] = -parts[!first].J[j][k];
        }
    }
    if (t->rod[0] != t->rod[1]) {
        return 2;
    }
    for (int j = 0; j < SS_ROD_DOFS; j++) {
        for (int k = 0; k < 3; k++) {
            parts[0].J[j][k] += parts[1].J[j][k];
        }
    }
    parts[0].reach = parts[1].reach > parts[0].reach ? parts[1].reach : parts[0].reach;
    return 1;
}

static int column_height(const ss_tangle_plan *plan, const ss_tangle_touch *t)
{
    const int first = ss_rod_reach(&plan->rods[t->rod[0]], t->arclength[0]);
    if (t->rod[1] == SS_GROUND) {
        return first;
    }
    const int second = ss_rod_reach(&plan->rods[t->rod[1]], t->arclength[1]);
    if (t->rod[0] == t->rod[1]) {
        return first > second ? first : second;
    }
    return first + second;
}

static ss_status make_contacts(const ss_tangle_plan *plan, ss_sparse *H, ss_error *e)
{
    const int dim = plan->dim, n = plan->ncontacts;
    int count = 0;
    for (int i = 0; i < n; i++) {
        count += dim * column_height(plan, &plan->touches[i]);
    }
    const ss_status status = tangle_reserve(H, SS_ROD_DOFS * plan->nrods, dim * n, count, e);
    if (status != SS_OK) {
        return status;
    }
    part parts[2];
    int at = 0;
    for (int column = 0; column < dim * n; column++) {
        const ss_tangle_touch *t = &plan->touches[column / dim];
        const double *axis = t->frame[column % dim];
        const int nparts = contact_parts(plan, t, parts);
        for (int k = 0; k < nparts; k++) {
            for (int j = 0; j < parts[k].reach; j++, at++) {
                const double *J = parts[k].J[j];
                H->row[at] = SS_ROD_DOFS * parts[k].rod + j;
                H->x[at] = axis[0] * J[0] + axis[1] * J[1] + axis[2] * J[2];
            }
        }
        H->start[column + 1] = at;
    }
    return SS_OK;
}

// Draws r0 and w of one contact, each of dim components, both zero at first.
static void draw_contact(ss_random *g, int dim, double mu, double *r0, double *w)
{
    const double weight = SS_ROD_DENSITY * SS_ROD_LENGTH * GRAVITY * TIME_STEP; // N s
    const bool closed = ss_random_uniform(g) < CLOSED_SHARE;
    const double normal = ss_random_log_between(g, IMPULSE_DECADE, 1.0) * LARGEST_IMPULSE * weight;
    const double tangential = CONE_SHARE * mu * normal * ss_random_uniform(g);
    double direction[3];
    ss_random_direction(g, dim - 1, direction);
    if (!closed) {
        w[0] = ss_random_log_between(g, OPEN_SPEED_LOW, OPEN_SPEED_HIGH);
        return;
    }
    w[0] = ss_random_log_between(g, CLOSED_SPEED_LOW, CLOSED_SPEED_HIGH);
    r0[0] = normal;
    for (int k = 1; k < dim; k++) {
        r0[k] = tangential * direction[k - 1];
    }
}

static void draw_shake(ss_random *g, const ss_tangle_plan *plan, const double *mass, double *f)
{
    double common[3], own[3], torque[SS_ROD_DOFS];
    ss_random_direction(g, plan->dim, common);
    for (int rod = 0; rod < plan->nrods; rod++) {
        ss_random_direction(g, plan->dim, own);
        for (int k = 0; k < 3; k++) {
            own[k] = COMMON_SHAKE * common[k] + ROD_SHAKE * own[k];
        }
        ss_rod_weight(&plan->rods[rod], own, torque);
        for (int j = 0; j < SS_ROD_DOFS; j++) {
            f[SS_ROD_DOFS * rod + j] += mass[rod] * (TIME_STEP * torque[j]);
        }
    }
}

// Returns the factor of the lighter rod.
static double contact_factor(const ss_tangle_touch *t, const double *mass)
{
    const double first = mass[t->rod[0]];
    return t->rod[1] == SS_GROUND ? first : fmin(first, mass[t->rod[1]]);
}

// Makes mu, f and w, and r0, which the caller frees.
static ss_status make_loads(const ss_tangle_settings *s, const ss_tangle_plan *plan,
                            const double *mass, ss_problem *p, double **r0, ss_error *e)
{
    const size_t n = (size_t)p->ncontacts;
    const int dim = p->dim;
    p->mu = calloc(n, sizeof *p->mu);
    p->f = calloc((size_t)p->ndofs, sizeof *p->f);
    p->w = calloc((size_t)dim * n, sizeof *p->w);
    *r0 = calloc((size_t)dim * n, sizeof **r0);
    if (p->mu == NULL || p->f == NULL || p->w == NULL || *r0 == NULL) {
        return ss_fail_memory(e, "the loads of a tangle");
    }
    // The stream is another one, so that mu and the loads leave the geometry alone.
    ss_random g = ss_random_seeded(~s->seed);
    for (size_t i = 0; i < n; i++) {
        p->mu[i] = s->mu;
        draw_contact(&g, dim, s->mu, *r0 + (size_t)dim * i, p->w + (size_t)dim * i);
        const double factor = contact_factor(&plan->touches[i], mass);
        for (size_t k = 0; k < (size_t)dim; k++) {
            (*r0)[(size_t)dim * i + k] *= factor;
        }
    }
    ss_sparse_add_product(&p->H, *r0, p->f);
    for (int j = 0; j < p->ndofs; j++) {
        p->f[j] = -p->f[j];
    }
    draw_shake(&g, plan, mass, p->f);
    return SS_OK;
}

static ss_status add_guess(ss_problem *p, double **r0, ss_error *e)
{
    p->guesses = calloc(1, sizeof *p->guesses);
    if (p->guesses == NULL) {
        return ss_fail_memory(e, "a guess");
    }
    p->nguesses = 1;
    p->guesses[0].r = *r0;
    *r0 = NULL;
    return SS_OK;
}

static ss_status tangle_describe(const ss_tangle_settings *s, ss_problem *p, ss_error *e)
{
    char text[400];
    int used;
    if (s->tower != 0.0) {
        used = snprintf(text, sizeof text,
                        "synthetic tower of boxes: dim %d, %d contacts, %d ends per box, mu %.17g, "
                        "seed %llu, each %.17g times as heavy as the one below",
                        s->dim, s->ncontacts, s->ends_per_rod, s->mu, (unsigned long long)s->seed,
                        s->tower);
        if (s->planks != 0) {
            used += snprintf(text + used, sizeof text - (size_t)used, ", %d planks in a layer",
                             s->planks);
        }
    } else {
        used = snprintf(text, sizeof text,
                        "synthetic tangle of rods: dim %d, %d contacts, %d ends per rod, mu %.17g, "
                        "seed %llu, condition %.17g, ground share %.17g, unsymmetry %.17g, %s",
                        s->dim, s->ncontacts, s->ends_per_rod, s->mu, (unsigned long long)s->seed,
                        s->condition, s->ground_share, s->unsymmetry,
                        s->hyperstatic ? "contacts in bunches" : "contacts spread");
    }
    if (s->light[0] > 0.0) {
        snprintf(text + used, sizeof text - (size_t)used, ", a share of %.17g lighter by %.17g",
                 s->light[0], s->light[1]);
    }
    p->title = strdup(s->tower != 0.0 ? "tower" : "tangle");
    p->description = strdup(text);
    if (p->title == NULL || p->description == NULL) {
        return ss_fail_memory(e, "the description of a tangle");
    }
    ss_provenance *from = &p->provenance;
    snprintf(from->scene, sizeof from->scene, "tangle");
    snprintf(from->units, sizeof from->units, "SI");
    snprintf(from->frame, sizeof from->frame, "normal first");
    from->has_seed = true;
    from->seed = s->seed;
    from->step = 0;
    from->time = 0.0;
    from->dt = TIME_STEP;
    return SS_OK;
}

// Returns the factor on the mass of each of n bodies, from a stream of its own, or NULL without
// memory.
static double *draw_masses(const ss_tangle_settings *s, int n)
{
    double *mass = malloc((size_t)n * sizeof *mass);
    ss_random g = ss_random_seeded(s->seed ^ LIGHT_STREAM);
    for (int k = 0; mass != NULL && k < n; k++) {
        mass[k] = ss_random_uniform(&g) < s->light[0] ? 1.0 / s->light[1] : 1.0;
    }
    return mass;
}

static ss_status fill_rods(const ss_tangle_settings *s, const double *mass,
                           const ss_tangle_plan *plan, ss_problem *p, double **r0, ss_error *e)
{
    p->ndofs = SS_ROD_DOFS * plan->nrods;
    ss_status status = make_mass(plan, s->condition, mass, &p->M, e);
    if (status == SS_OK) {
        status = make_contacts(plan, &p->H, e);
    }
    return status == SS_OK ? make_loads(s, plan, mass, p, r0, e) : status;
}

// Fills in the problem; plan is NULL for a tower.
static ss_status fill_global(const ss_tangle_settings *s, const ss_tangle_plan *plan, ss_problem *p,
                             ss_error *e)
{
    p->form = SS_GLOBAL;
    p->dim = s->dim;
    p->ncontacts = s->ncontacts;
    double *r0 = NULL;
    double *mass = draw_masses(s, plan != NULL ? plan->nrods : tower_boxes(s));
    ss_status status = mass == NULL ? ss_fail_memory(e, "the masses of a tangle") : SS_OK;
    if (status == SS_OK) {
        status =
            plan != NULL ? fill_rods(s, mass, plan, p, &r0, e) : tower_fill(s, mass, p, &r0, e);
    }
    free(mass);
    if (status == SS_OK && s->warm) {
        status = add_guess(p, &r0, e);
    }
    free(r0);
    return status == SS_OK ? tangle_describe(s, p, e) : status;
}

// Returns G (I - E K), laid out like G, or NULL without memory.
static double *turned_factors(const ss_whitened *white, double unsymmetry)
{
    size_t count = 0;
    for (int end = 0; end < white->nends; end++) {
        const int k = white->end_body[end];
        count += (size_t)(white->dim * (white->body_start[k + 1] - white->body_start[k]));
    }
    double *turned = malloc(count * sizeof *turned);
    for (size_t j = 0; turned != NULL && j + 1 < count; j += 2) {
        // Rods have an even number of dofs: no pair straddles two rows of G.
        const double *g = white->G + j;
        turned[j] = g[0] + unsymmetry * g[1];
        turned[j + 1] = g[1] - unsymmetry * g[0];
    }
    return turned;
}

// Makes p local with W of (1), and frees the arrays that only the global form has.
static ss_status tangle_make_local(ss_problem *p, double unsymmetry, ss_error *e)
{
    ss_whitened *white = NULL;
    ss_blocks W = {0};
    ss_status status = ss_whitened_new(p, &white, e);
    if (status != SS_OK) {
        return status;
    }
    double *turned = turned_factors(white, unsymmetry);
    status = turned == NULL ? ss_fail_memory(e, "the unsymmetric part of W")
                            : ss_blocks_assemble(white, turned, &W, e);
    if (status == SS_OK) {
        status = ss_blocks_to_sparse(&W, &p->W, e);
    }
    if (status == SS_OK) {
        p->form = SS_LOCAL;
        p->ndofs = 0;
        p->b = white->b;
        white->b = NULL;
        ss_sparse_free(&p->M);
        ss_sparse_free(&p->H);
        free(p->f);
        free(p->w);
        p->f = p->w = NULL;
    }
    free(turned);
    ss_blocks_free(&W);
    ss_whitened_free(white);
    return status;
}

ss_status ss_tangle_new(const ss_tangle_settings *settings, ss_problem **problem, ss_error *e)
{
    *problem = NULL;
    ss_status status = ss_tangle_check(settings, e);
    if (status != SS_OK) {
        return status;
    }
    ss_tangle_plan *plan = NULL;
    status = settings->tower != 0.0 ? SS_OK : ss_tangle_plan_new(settings, &plan, e);
    if (status != SS_OK) {
        return status;
    }
    ss_problem *p = ss_problem_new();
    status = p == NULL ? ss_fail_memory(e, "a problem") : fill_global(settings, plan, p, e);
    if (status == SS_OK && settings->unsymmetry != 0.0) {
        status = tangle_make_local(p, settings->unsymmetry, e);
    }
    ss_tangle_plan_free(plan);
    if (status != SS_OK) {
        ss_problem_free(p);
        return status;
    }
    *problem = p;
    return SS_OK;
}
