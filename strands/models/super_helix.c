// strands/models/super_helix.c -- super-helix: a strand of pieces of helix, inextensible by
// construction [B06].
//
// A strand of length L has N equal elements of constant curvatures (helix.h), joined so that point
// and frame are continuous. The curvatures of element e are offset_e + B_e q, where B picks the
// dofs of the element:
//     full      three dofs an element, and no offset
//     shared    7 elements with two curvatures each, and two twists for elements 1-4 and 5-7: 16
//               dofs. The offset is what the twist of the style differs from its mean over a share
// Dofs are in the order of the elements, so that a point is moved by the first of them only.
//
// A clamped root stands in its pose, or where given vertices begin. A free root has six more
// velocities in front, both along the axes of its pose (which do not turn with the strand):
// velocity of the root point and angular velocity; and seven more coordinates, place of the root
// point (m) and unit quaternion (w, x, y, z), both relative to that pose.
//
//     E = 1/2 sum_e l_e (GJ (q_0 - q^n_0)^2 + E I1 (q_1 - q^n_1)^2 + E I2 (q_2 - q^n_2)^2)
//
// so that K is constant and diagonal, and C = relaxation K. Rotation of the sections has no
// inertia, but that about a free strand's centre line. Integrals over mass are Gauss quadratures of
//
//     n_G = max(6, ceil(x) + 5)
//
// points an element, x = 1 rad plus the largest angle that an element of the style or the natural
// shape turns through. Clamped hair stays near its style, and the radian is room to leave it: M0
// loses a digit for a few radians more.
//
// doc/strands.md, "Super-helix".
#include "strands/models/super_helix.h"

#include "base/assert.h"
#include "strands/shape.h"

#include <stdlib.h>

#define LANES SS_HELIX_ROW
#include "strands/helix_kernel.h"

// ---- The strand

#define MOST_ELEMENTS 32

#define MOST_DOFS (6 + 3 * MOST_ELEMENTS)

typedef struct super_helix {
    int nelements;
    bool free_root;
    bool begins_away; // given vertices begin at `begin` in the frame of the root
    ss_pose begin;
    int nroot, nv; // velocities of the root, 0 or 6, and all; a free root has nq = nv + 1
    int dof[MOST_ELEMENTS][3];         // among the velocities: twist, bend1, bend2
    int reach[MOST_ELEMENTS];          // dofs that move points of this element
    ss_vec3 offset[MOST_ELEMENTS];     // 1/m
    double element_length;             // m
    double line_density, spin_inertia; // kg/m, kg m
    double relaxation;                 // s
    double rigidity[MOST_DOFS];        // [nv] diagonal of K, N m^3; 0 for the root
    double style[MOST_DOFS];           // [nv] 1/m; 0 for the root, and so below
    double natural[MOST_DOFS];
    double unrest[MOST_DOFS];
    int npoints, ngauss;
    int first[MOST_ELEMENTS +
              1];         // [nelements + 1]: element e has the points first[e] .. first[e + 1] - 1
    double *sigma;        // [npoints] m, from the near end of the element; owned
    double *gauss_sigma;  // [ngauss] m, in every element; owned
    double *gauss_length; // [ngauss] m, their weights
} super_helix;

// Returns the place in q of velocity k >= nroot.
static int coordinate_of(const super_helix *helix, int k)
{
    return helix->free_root ? k + 1 : k;
}

// ---- Points of one element side by side

static lane3 lane3_all(ss_vec3 a)
{
    return (lane3){lanes_all(a.x), lanes_all(a.y), lanes_all(a.z)};
}

static void store(lane3 a, double x[3][SS_HELIX_ROW])
{
    memcpy(x[0], &a.x, sizeof a.x);
    memcpy(x[1], &a.y, sizeof a.y);
    memcpy(x[2], &a.z, sizeof a.z);
}

// Returns R a.
static lane3 turned(const ss_mat3 *R, lane3 a)
{
    const ss_vec3 *c = R->c;
    return (lane3){a.x * c[0].x + a.y * c[1].x + a.z * c[2].x,
                   a.x * c[0].y + a.y * c[1].y + a.z * c[2].y,
                   a.x * c[0].z + a.y * c[1].z + a.z * c[2].z};
}

// Takes points that turn too far for the series one by one.
static void replace_far_ones(lanes y, lane_terms *t)
{
    for (int l = 0; l < SS_HELIX_ROW; l++) {
        if (!(y[l] < SS_HELIX_SERIES_BELOW * SS_HELIX_SERIES_BELOW)) {
            const ss_helix_terms own = ss_helix_terms_at(y[l]);
            t->b[l] = own.b;
            t->c[l] = own.c;
            t->b1[l] = own.b1;
            t->c1[l] = own.c1;
            t->b2[l] = own.b2;
            t->c2[l] = own.c2;
        }
    }
}

// b2 and c2 are 0 where `all` is false.
static lane_terms terms_at(lanes y, bool all)
{
    const four *first = &FIRST[SERIES - 1];
    const two *second = &SECOND[SERIES - 1];
    lane_terms t = {.b = lanes_all((*first)[0]),
                    .c = lanes_all((*first)[1]),
                    .b1 = lanes_all((*first)[2]),
                    .c1 = lanes_all((*first)[3])};
    if (all) {
        t.b2 = lanes_all((*second)[0]);
        t.c2 = lanes_all((*second)[1]);
    }
    for (int k = SERIES - 2; k >= 0; k--) {
        t.b = t.b * y + FIRST[k][0];
        t.c = t.c * y + FIRST[k][1];
        t.b1 = t.b1 * y + FIRST[k][2];
        t.c1 = t.c1 * y + FIRST[k][3];
        if (all) {
            t.b2 = t.b2 * y + SECOND[k][0];
            t.c2 = t.c2 * y + SECOND[k][1];
        }
    }
    replace_far_ones(y, &t);
    return t;
}

void ss_helix_row_at(ss_vec3 q, const double sigma[SS_HELIX_ROW], const ss_mat3 *R, ss_vec3 r,
                     ss_helix_row *row)
{
    lanes s;
    memcpy(&s, sigma, sizeof s);
    const lane3 phi = lane3_scaled(s, lane3_all(q));
    const lane_terms t = terms_at(lane3_dot(phi, phi), false);
    const lane_arc arc = lane_arc_at(phi, s, &t);
    store(lane3_plus(lane3_all(r), turned(R, arc.p)), row->x);
    for (int i = 0; i < 3; i++) {
        store(turned(R, arc.dp[i]), row->own[i]);
    }
}

void ss_helix_row_carried(ss_vec3 q, ss_vec3 qdot, const double sigma[SS_HELIX_ROW],
                          const ss_mat3 *R, const ss_helix_carrier *c, ss_vec3 a[SS_HELIX_ROW])
{
    lanes s;
    memcpy(&s, sigma, sizeof s);
    const lane3 phi = lane3_scaled(s, lane3_all(q)), d = lane3_scaled(s, lane3_all(qdot));
    const lane_terms t = terms_at(lane3_dot(phi, phi), true);
    const lane_motion m = lane_motion_at(phi, d, s, &t);
    const lane_carrier by = {lane3_all(c->spin), lane3_all(c->spin_rate),
                             lane3_all(c->acceleration)};
    const lane3 all = turned(R, lane_carried(&by, &m));
    for (int l = 0; l < SS_HELIX_ROW; l++) {
        a[l] = ss_vec(all.x[l], all.y[l], all.z[l]);
    }
}

// ---- Where it is and how it moves
//
// With element e's near end at (r_e, R_e), R_{e+1} = R_e exp [phi_e]x and r_{e+1} = r_e + R_e p_e.
// A dof of element e moves a point x beyond it rigidly: with the angular velocity w = column of
// R_e l T_e, and so that r_{e+1} moves with R_e dp_e/dq,
//
//     dx/dq = c + w x x,   c = R_e dp_e/dq - w x r_{e+1}                          (1)
//
// so that c and w, once known, serve all points beyond. x and r are relative to the root point: far
// from the world's origin c + w x x would cancel.

// A walk along the strand stands at the near end of an element. c and w are those of (1), and 0
// for dofs of elements ahead.
typedef struct walk {
    ss_mat3 R;
    ss_vec3 r; // m, from the root point
    double c[3][MOST_DOFS];
    double w[3][MOST_DOFS];
} walk;

// Returns the rates of the curvatures of element e at v.
static ss_vec3 curvature_rate(const super_helix *helix, const double *v, int e)
{
    const int *dof = helix->dof[e];
    return ss_vec(v[dof[0]], v[dof[1]], v[dof[2]]);
}

// Returns the curvatures of element e at q.
static ss_vec3 curvature_at(const super_helix *helix, const double *q, int e)
{
    return ss_plus(helix->offset[e], curvature_rate(helix, q + helix->free_root, e));
}

static ss_mat3 quaternion_turn(const double p[4])
{
    const double s = 2.0 / (p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
    const double w = s * p[0];
    const ss_vec3 u = ss_vec(p[1], p[2], p[3]), v = ss_scaled(s, u);
    return (ss_mat3){
        {ss_vec(1.0 - u.y * v.y - u.z * v.z, u.x * v.y + w * u.z, u.x * v.z - w * u.y),
         ss_vec(u.x * v.y - w * u.z, 1.0 - u.x * v.x - u.z * v.z, u.y * v.z + w * u.x),
         ss_vec(u.x * v.z + w * u.y, u.y * v.z - w * u.x, 1.0 - u.x * v.x - u.y * v.y)}};
}

// Returns the frame and point where the strand begins.
static ss_pose near_end(const super_helix *helix, const ss_pose *root, const double *q)
{
    if (!helix->free_root) {
        return helix->begins_away ? ss_pose_product(root, &helix->begin) : *root;
    }
    const ss_pose free = {quaternion_turn(q + 3), ss_vec(q[0], q[1], q[2])};
    return ss_pose_product(root, &free);
}

static void put_column(double (*rows)[MOST_DOFS], int column, ss_vec3 x)
{
    rows[0][column] += x.x;
    rows[1][column] += x.y;
    rows[2][column] += x.z;
}

// Begins a walk; `axes` are those of the root's pose.
static void begin(const super_helix *helix, const ss_mat3 *axes, const ss_mat3 *turn, walk *at)
{
    at->R = *turn;
    at->r = ss_vec(0.0, 0.0, 0.0);
    for (int k = 0; k < 3; k++) {
        memset(at->c[k], 0, (size_t)helix->nv * sizeof(double));
        memset(at->w[k], 0, (size_t)helix->nv * sizeof(double));
    }
    for (int k = 0; k < helix->nroot; k++) {
        put_column(k < 3 ? at->c : at->w, k, axes->c[k % 3]);
    }
}

// Passes over element e with curvatures kappa.
static void pass(const super_helix *helix, int e, ss_vec3 kappa, walk *at)
{
    const ss_helix_arc arc = ss_helix_arc_at(kappa, helix->element_length);
    const ss_helix_joint joint = ss_helix_joint_at(kappa, helix->element_length);
    at->r = ss_plus(at->r, ss_turned(&at->R, arc.p));
    for (int i = 0; i < 3; i++) {
        const ss_vec3 w = ss_turned(&at->R, joint.spin.c[i]);
        const ss_vec3 end = ss_turned(&at->R, arc.dp.c[i]);
        put_column(at->w, helix->dof[e][i], w);
        put_column(at->c, helix->dof[e][i], ss_minus(end, ss_cross(w, at->r)));
    }
    at->R = ss_mat3_product(&at->R, &joint.turn);
}

// Fills in a point: number l of a row of element e.
static void fill(const super_helix *helix, const walk *at, ss_vec3 origin, int e,
                 const ss_helix_row *row, int l, ss_strand_point *point)
{
    const int n = helix->reach[e];
    const ss_vec3 x = ss_vec(row->x[0][l], row->x[1][l], row->x[2][l]);
    double *restrict Jx = point->J, *restrict Jy = point->J + n, *restrict Jz = point->J + 2 * n;
    for (int k = 0; k < n; k++) {
        Jx[k] = at->c[0][k] + at->w[1][k] * x.z - at->w[2][k] * x.y;
        Jy[k] = at->c[1][k] + at->w[2][k] * x.x - at->w[0][k] * x.z;
        Jz[k] = at->c[2][k] + at->w[0][k] * x.y - at->w[1][k] * x.x;
    }
    for (int i = 0; i < 3; i++) {
        const int k = helix->dof[e][i];
        Jx[k] += row->own[i][0][l];
        Jy[k] += row->own[i][1][l];
        Jz[k] += row->own[i][2][l];
    }
    point->x = ss_plus(origin, x);
    point->first = 0;
    point->count = n;
}

// Fills in the `count` points of element e at sigma.
static void fill_all(const super_helix *helix, const walk *at, ss_vec3 origin, int e, ss_vec3 kappa,
                     const double *sigma, int count, ss_strand_point *points)
{
    for (int first = 0; first < count; first += SS_HELIX_ROW) {
        double some[SS_HELIX_ROW] = {0.0};
        const int rest = count - first, here = rest < SS_HELIX_ROW ? rest : SS_HELIX_ROW;
        memcpy(some, sigma + first, (size_t)here * sizeof *some);
        ss_helix_row row;
        ss_helix_row_at(kappa, some, &at->R, at->r, &row);
        for (int l = 0; l < here; l++) {
            fill(helix, at, origin, e, &row, l, &points[first + l]);
        }
    }
}

// The functions of that name in model.h.
static void place(const void *strand, const ss_pose *root, const double *q, ss_strand_point *points,
                  ss_strand_point *samples)
{
    const super_helix *helix = strand;
    const ss_pose near = near_end(helix, root, q);
    walk at;
    begin(helix, &root->turn, &near.turn, &at);
    for (int e = 0; e < helix->nelements; e++) {
        const ss_vec3 kappa = curvature_at(helix, q, e);
        const int from = helix->first[e];
        fill_all(helix, &at, near.place, e, kappa, helix->sigma + from, helix->first[e + 1] - from,
                 points + from);
        fill_all(helix, &at, near.place, e, kappa, helix->gauss_sigma, helix->ngauss,
                 samples + e * helix->ngauss);
        pass(helix, e, kappa, &at);
    }
}

// Moves the carrier from the near end of an element to its far end, whose axes are those of the
// next.
static void carry(const super_helix *helix, ss_vec3 kappa, ss_vec3 rate, const ss_mat3 *turn,
                  ss_helix_carrier *c)
{
    const ss_helix_motion end = ss_helix_motion_at(kappa, rate, helix->element_length);
    ss_vec3 spin, spin_rate;
    ss_helix_spin_at(kappa, rate, helix->element_length, &spin, &spin_rate);
    const ss_vec3 acceleration = ss_helix_carried(c, &end);
    const ss_vec3 turned = ss_plus(spin_rate, ss_cross(c->spin, spin));
    c->acceleration = ss_turned_back(turn, acceleration);
    c->spin_rate = ss_turned_back(turn, ss_plus(c->spin_rate, turned));
    c->spin = ss_turned_back(turn, ss_plus(c->spin, spin));
}

// Finds R times the accelerations of the samples of an element.
static void convect_element(const super_helix *helix, ss_vec3 kappa, ss_vec3 rate, const ss_mat3 *R,
                            const ss_helix_carrier *c, ss_vec3 *a)
{
    for (int first = 0; first < helix->ngauss; first += SS_HELIX_ROW) {
        double some[SS_HELIX_ROW] = {0.0};
        ss_vec3 moved[SS_HELIX_ROW];
        const int rest = helix->ngauss - first, here = rest < SS_HELIX_ROW ? rest : SS_HELIX_ROW;
        memcpy(some, helix->gauss_sigma + first, (size_t)here * sizeof *some);
        ss_helix_row_carried(kappa, rate, some, R, c, moved);
        memcpy(a + first, moved, (size_t)here * sizeof *a);
    }
}

// (dJ/dt) v is the acceleration of the sample where v stays constant.
static void convect(const void *strand, const ss_pose *root, const double *q, const double *v,
                    ss_vec3 *a)
{
    const super_helix *helix = strand;
    ss_mat3 R = near_end(helix, root, q).turn;
    ss_helix_carrier c = {0};
    if (helix->free_root) {
        c.spin = ss_turned_back(&R, ss_turned(&root->turn, ss_vec(v[3], v[4], v[5])));
    }
    for (int e = 0; e < helix->nelements; e++) {
        const ss_vec3 kappa = curvature_at(helix, q, e);
        const ss_vec3 rate = curvature_rate(helix, v, e);
        convect_element(helix, kappa, rate, &R, &c, a + e * helix->ngauss);
        const ss_mat3 turn = ss_helix_joint_at(kappa, helix->element_length).turn;
        carry(helix, kappa, rate, &turn, &c);
        R = ss_mat3_product(&R, &turn);
    }
}

// Finds about [reach of e], the angular velocity about the tangent at sigma of element e for a unit
// of each dof.
static void spin_about_tangent(const super_helix *helix, const walk *at, int e, ss_vec3 kappa,
                               double sigma, double *about)
{
    const ss_helix_joint joint = ss_helix_joint_at(kappa, sigma);
    const ss_vec3 tangent = ss_turned(&at->R, joint.turn.c[0]);
    for (int k = 0; k < helix->reach[e]; k++) {
        about[k] = ss_dot(tangent, ss_vec(at->w[0][k], at->w[1][k], at->w[2][k]));
    }
    for (int i = 0; i < 3; i++) {
        about[helix->dof[e][i]] += ss_dot(joint.turn.c[0], joint.spin.c[i]);
    }
}

// A free strand that is straight can spin about itself without moving a sample, so that here, and
// only here, the rotation of its section has to count: M += integral of spin_inertia (w_t' w_t),
// w_t the angular velocity about the tangent. This is of the order radius^2 / L^2 beside the rest;
// its own velocity terms are neglected.
static void inertia(const void *strand, const double *q, ss_band *M)
{
    const super_helix *helix = strand;
    ss_assert(M->n == helix->nv && M->half == helix->nv - 1);
    if (!helix->free_root) {
        return;
    }
    const ss_mat3 axes = ss_mat3_identity(), turn = quaternion_turn(q + 3);
    walk at;
    begin(helix, &axes, &turn, &at);
    for (int e = 0; e < helix->nelements; e++) {
        const ss_vec3 kappa = curvature_at(helix, q, e);
        for (int g = 0; g < helix->ngauss; g++) {
            double about[MOST_DOFS];
            spin_about_tangent(helix, &at, e, kappa, helix->gauss_sigma[g], about);
            const double inertia = helix->spin_inertia * helix->gauss_length[g];
            for (int j = 0; j < helix->reach[e]; j++) {
                for (int i = j; i < helix->reach[e]; i++) {
                    *ss_band_at(M, i, j) += inertia * about[i] * about[j];
                }
            }
        }
        pass(helix, e, kappa, &at);
    }
}

// q <- exp(h w / 2) q: turns the strand's root about axes of its pose.
static void turn_quaternion(ss_vec3 turn, const double p[4], double moved[4])
{
    const double half = 0.5 * ss_length(turn);
    const double w = cos(half);
    const ss_vec3 u = ss_scaled(half > 1e-6 ? 0.5 * sin(half) / half : 0.5, turn);
    const ss_vec3 x = ss_vec(p[1], p[2], p[3]);
    const ss_vec3 y = ss_plus(ss_along(ss_scaled(w, x), p[0], u), ss_cross(u, x));
    const double scalar = w * p[0] - ss_dot(u, x);
    const double norm = sqrt(scalar * scalar + ss_dot(y, y));
    moved[0] = scalar / norm;
    moved[1] = y.x / norm;
    moved[2] = y.y / norm;
    moved[3] = y.z / norm;
}

static void advance(const void *strand, const double *q, const double *v, double h, double *moved)
{
    const super_helix *helix = strand;
    if (helix->free_root) {
        for (int k = 0; k < 3; k++) {
            moved[k] = q[k] + h * v[k];
        }
        turn_quaternion(ss_scaled(h, ss_vec(v[3], v[4], v[5])), q + 3, moved + 3);
    }
    for (int k = helix->nroot; k < helix->nv; k++) {
        const int place = coordinate_of(helix, k);
        moved[place] = q[place] + h * v[k];
    }
}

// Inverts advance: log(p1 p0*) is the turn about axes of the root's pose.
static void difference(const void *strand, const double *q0, const double *q1, double h, double *v)
{
    const super_helix *helix = strand;
    if (helix->free_root) {
        const ss_quat turn =
            ss_quat_product(ss_quat_read(q1 + 3), ss_quat_conjugate(ss_quat_read(q0 + 3)));
        const ss_vec3 w = ss_scaled(1.0 / h, ss_quat_log(turn));
        for (int k = 0; k < 3; k++) {
            v[k] = (q1[k] - q0[k]) / h;
        }
        v[3] = w.x;
        v[4] = w.y;
        v[5] = w.z;
    }
    for (int k = helix->nroot; k < helix->nv; k++) {
        const int place = coordinate_of(helix, k);
        v[k] = (q1[place] - q0[place]) / h;
    }
}

// ---- From a design

#define DEFAULT_ELEMENTS 5
#define SHARED_ELEMENTS  7
#define SHARED_FIRST     4 // elements that have the first of two twists in common

// rad: an element that turns further is not resolved by any use of it, and would need thousands of
// quadrature points.
#define MOST_TURN 200.0

// rad: room for motion about the style, see above.
#define TURN_ROOM 1.0

// m/s^2: a free strand that its load accelerates by less is at rest.
#define REST_ACCELERATION 1e-6

typedef enum layout { LAYOUT_FULL, LAYOUT_SHARED } layout;
enum { ROOT_DESIGN, ROOT_CLAMPED, ROOT_FREE };

typedef struct settings {
    int elements; // 0: those of the layout
    int layout;
    int root;
} settings;

static const settings DEFAULTS = {0, LAYOUT_FULL, ROOT_DESIGN};
static const char *const LAYOUTS[] = {"full", "shared", NULL};
static const char *const ROOTS[] = {"design", "clamped", "free", NULL};
static const ss_key KEYS[] = {
    SS_INTEGER_KEY("elements", elements, 1, MOST_ELEMENTS),
    SS_CHOICE_KEY("layout", layout, LAYOUTS),
    SS_CHOICE_KEY("root", root, ROOTS),
    {.name = NULL},
};

static void free_strand(void *strand)
{
    super_helix *helix = strand;
    if (helix != NULL) {
        free(helix->sigma);
        free(helix->gauss_sigma);
        free(helix->gauss_length);
        free(helix);
    }
}

// Numbers the dofs in the order of the elements.
static void number_dofs(super_helix *helix, bool shared)
{
    int next = helix->nroot, twist = 0;
    for (int e = 0; e < helix->nelements; e++) {
        if (!shared || e == 0 || e == SHARED_FIRST) {
            twist = next++;
        }
        helix->dof[e][0] = twist;
        helix->dof[e][1] = next++;
        helix->dof[e][2] = next++;
        helix->reach[e] = next;
    }
    helix->nv = next;
}

static double *component(ss_vec3 *x, int i)
{
    return i == 0 ? &x->x : i == 1 ? &x->y : &x->z;
}

// Finds style, natural shape and K of the dofs: sums over the elements that share one, then means.
static void gather_shape(super_helix *helix, const ss_strand_design *design)
{
    const ss_rigidity r = ss_material_rigidity(&design->material);
    const double bends[3] = {r.twist, r.bend1, r.bend2};
    const int n = helix->nelements;
    double style[MOST_ELEMENTS][3], unrest[MOST_ELEMENTS][3];
    int elements[MOST_DOFS] = {0};
    ss_shape_curvatures(design, !helix->free_root, n, style, unrest);
    for (int e = 0; e < n; e++) {
        for (int i = 0; i < 3; i++) {
            const int k = helix->dof[e][i];
            helix->rigidity[k] += bends[i] * helix->element_length;
            helix->style[k] += style[e][i];
            helix->unrest[k] += unrest[e][i];
            elements[k]++;
        }
    }
    for (int k = helix->nroot; k < helix->nv; k++) {
        helix->style[k] /= elements[k];
        helix->unrest[k] /= elements[k];
        helix->natural[k] = helix->style[k] + helix->unrest[k];
    }
    for (int e = 0; e < n; e++) {
        for (int i = 0; i < 3; i++) {
            *component(&helix->offset[e], i) = style[e][i] - helix->style[helix->dof[e][i]];
        }
    }
}

// Returns the largest angle that an element turns through, in the style or the natural shape.
static double largest_turn(const super_helix *helix)
{
    double most = 0.0;
    for (int e = 0; e < helix->nelements; e++) {
        const ss_vec3 style = ss_plus(helix->offset[e], curvature_rate(helix, helix->style, e));
        const ss_vec3 unrest = curvature_rate(helix, helix->unrest, e);
        const double a = ss_length(style), b = ss_length(ss_plus(style, unrest));
        most = fmax(most, fmax(a, b) * helix->element_length);
    }
    return most;
}

// Finds nodes and weights of Gauss and Legendre on [0, length]: the zeros z of P_n by Newton's
// method, and 2 / ((1 - z^2) P_n'^2).
static void gauss(int n, double length, double *sigma, double *weight)
{
    for (int k = 0; k < n; k++) {
        double z = -cos(M_PI * (k + 0.75) / (n + 0.5)), slope = 1.0;
        for (int step = 0; step < 8; step++) {
            double before = 0.0, value = 1.0;
            for (int j = 1; j <= n; j++) {
                const double next = ((2.0 * j - 1.0) * z * value - (j - 1.0) * before) / j;
                before = value;
                value = next;
            }
            slope = n * (z * value - before) / (z * z - 1.0);
            z -= value / slope;
        }
        sigma[k] = 0.5 * length * (1.0 + z);
        weight[k] = length / ((1.0 - z * z) * slope * slope);
    }
}

// Puts point k at sigma of an element; points come by arclength.
static void put_point(super_helix *helix, int k, int element, double sigma)
{
    helix->sigma[k] = sigma;
    for (int e = element; e < helix->nelements; e++) {
        helix->first[e + 1] = k + 1;
    }
}

// Vertex k of the polyline is at k nelements / (npoints - 1) elements from the root; one between
// two elements is the end of the first, which fewer dofs move.
static void put_stations(super_helix *helix)
{
    const int n = helix->nelements, segments = helix->npoints - 1;
    for (int k = 0; k <= segments; k++) {
        const int e = k > 0 ? (k * n - 1) / segments : 0;
        const double share = (double)(k * n - e * segments) / segments;
        put_point(helix, k, e, share * helix->element_length);
    }
}

// Puts the stations of a strand that is held up to `held`: what is held has no station but its end.
static void put_held_stations(super_helix *helix, double length, double held)
{
    const int segments = helix->npoints - 1, last = helix->nelements - 1;
    for (int k = 0; k <= segments; k++) {
        const double s = fmax(k * length / segments - held, 0.0);
        const int e = s > 0.0 ? (int)ceil(s / helix->element_length) - 1 : 0;
        const int in = e < last ? e : last;
        put_point(helix, k, in, s - in * helix->element_length);
    }
}

static ss_status allocate(super_helix *helix, ss_error *e)
{
    helix->sigma = calloc((size_t)helix->npoints, sizeof *helix->sigma);
    helix->gauss_sigma = calloc((size_t)helix->ngauss, sizeof *helix->gauss_sigma);
    helix->gauss_length = calloc((size_t)helix->ngauss, sizeof *helix->gauss_length);
    return helix->sigma != NULL && helix->gauss_sigma != NULL && helix->gauss_length != NULL
               ? SS_OK
               : ss_fail_memory(e, "a strand");
}

static void take_material(super_helix *helix, const ss_material *m)
{
    const ss_rigidity rigidity = ss_material_rigidity(m);
    helix->line_density = rigidity.line_density;
    helix->spin_inertia = rigidity.spin_inertia;
    helix->relaxation = m->relaxation;
}

static ss_status take_settings(super_helix *helix, const settings *s, ss_clamp clamp, ss_error *e)
{
    const bool shared = s->layout == LAYOUT_SHARED;
    const int own = shared ? SHARED_ELEMENTS : DEFAULT_ELEMENTS;
    helix->nelements = s->elements > 0 ? s->elements : own;
    if (shared && helix->nelements != SHARED_ELEMENTS) {
        return ss_fail(e, SS_BAD_INPUT, "layout=shared has %d elements: leave elements=%d away",
                       SHARED_ELEMENTS, s->elements);
    }
    helix->free_root = s->root == ROOT_DESIGN ? clamp == SS_CLAMP_NONE : s->root == ROOT_FREE;
    helix->nroot = helix->free_root ? 6 : 0;
    number_dofs(helix, shared);
    return SS_OK;
}

static ss_status fill_strand(super_helix *helix, const ss_strand_design *design, const settings *s,
                             ss_error *e)
{
    ss_status status = take_settings(helix, s, design->clamp, e);
    if (status != SS_OK) {
        return status;
    }
    helix->npoints = ss_shape_segments(design) + 1;
    const double length = ss_shape_length(design), held = ss_shape_held(design, !helix->free_root);
    helix->element_length = (length - held) / helix->nelements;
    helix->begins_away = design->nvertices > 0;
    helix->begin = ss_shape_root(design, !helix->free_root);
    take_material(helix, &design->material);
    gather_shape(helix, design);
    const double turn = largest_turn(helix);
    if (!(turn <= MOST_TURN)) {
        return ss_fail(
            e, SS_BAD_INPUT,
            "an element of the strand turns by %.3g rad, more than %g: use more elements", turn,
            MOST_TURN);
    }
    helix->ngauss = (int)fmax(6.0, ceil(turn + TURN_ROOM) + 5.0);
    status = allocate(helix, e);
    if (status == SS_OK) {
        put_stations(helix);
        if (held > 0.0) {
            put_held_stations(helix, length, held);
        }
        gauss(helix->ngauss, helix->element_length, helix->gauss_sigma, helix->gauss_length);
    }
    return status;
}

static ss_status make(const ss_strand_design *design, const void *settings_, void **strand,
                      ss_error *e)
{
    *strand = NULL;
    ss_status status = ss_strand_design_check(design, e);
    if (status == SS_OK) {
        status = ss_strand_design_check_tip(design, "super-helix", e);
    }
    if (status != SS_OK) {
        return status;
    }
    super_helix *helix = calloc(1, sizeof *helix);
    if (helix == NULL) {
        return ss_fail_memory(e, "a strand");
    }
    status = fill_strand(helix, design, settings_, e);
    if (status != SS_OK) {
        free_strand(helix);
        return status;
    }
    *strand = helix;
    return SS_OK;
}

static ss_strand_size size(const void *strand)
{
    const super_helix *helix = strand;
    return (ss_strand_size){.nq = coordinate_of(helix, helix->nv),
                            .nv = helix->nv,
                            .half_bandwidth = helix->nv - 1,
                            .npoints = helix->npoints,
                            .nsamples = helix->nelements * helix->ngauss,
                            .width = helix->nv};
}

static void start(void *strand, const ss_pose *root, double *q)
{
    const super_helix *helix = strand;
    (void)root; // q is of its frame
    if (helix->free_root) {
        q[0] = helix->begin.place.x;
        q[1] = helix->begin.place.y;
        q[2] = helix->begin.place.z;
        ss_quat_write(ss_quat_of_matrix(&helix->begin.turn), q + 3);
    }
    for (int k = helix->nroot; k < helix->nv; k++) {
        q[coordinate_of(helix, k)] = helix->style[k];
    }
}

static void lumps(const void *strand, double *mass, double *length)
{
    const super_helix *helix = strand;
    for (int k = 0; k < helix->nelements * helix->ngauss; k++) {
        length[k] = helix->gauss_length[k % helix->ngauss];
        mass[k] = helix->line_density * length[k];
    }
}

// Returns q - q^n of the dof of velocity k; 0 for the root, as its rigidity is.
static double strain(const super_helix *helix, const double *q, int k)
{
    return q[coordinate_of(helix, k)] - helix->natural[k];
}

static double energy(const void *strand, const double *q)
{
    const super_helix *helix = strand;
    double sum = 0.0;
    for (int k = helix->nroot; k < helix->nv; k++) {
        sum += 0.5 * helix->rigidity[k] * strain(helix, q, k) * strain(helix, q, k);
    }
    return sum;
}

static void force(const void *strand, const double *q, const double *v, double *F)
{
    const super_helix *helix = strand;
    (void)v;
    for (int k = helix->nroot; k < helix->nv; k++) {
        F[k] -= helix->rigidity[k] * strain(helix, q, k);
    }
}

// Adds K, which is constant.
static void add_rigidity(const super_helix *helix, double scale, ss_band *A)
{
    ss_assert(A->n == helix->nv);
    for (int k = helix->nroot; k < helix->nv; k++) {
        *ss_band_at(A, k, k) += scale * helix->rigidity[k];
    }
}

static bool stiffness(const void *strand, const double *q, ss_stiffness kind, double scale,
                      ss_band *A)
{
    (void)q;
    if (kind == SS_STIFFNESS_EXACT) {
        add_rigidity(strand, scale, A);
    }
    return kind == SS_STIFFNESS_EXACT;
}

static void damping(const void *strand, const double *q, double scale, ss_band *A)
{
    const super_helix *helix = strand;
    (void)q;
    add_rigidity(helix, scale * helix->relaxation, A);
}

// True if a load leaves the root of a free strand where it is.
static bool root_rests(const super_helix *helix, const double *load)
{
    const double length = helix->nelements * helix->element_length;
    const double force_bound = REST_ACCELERATION * helix->line_density * length;
    bool rests = true;
    for (int k = 0; k < helix->nroot; k++) {
        const double bound = k < 3 ? force_bound : force_bound * length;
        rests = rests && fabs(load[k]) <= bound;
    }
    return rests;
}

static ss_status balance(void *strand, const double *q, const double *load, ss_error *e)
{
    super_helix *helix = strand;
    if (!root_rests(helix, load)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "a strand with root=free cannot rest under a load that moves its root: "
                       "clamp the root, or let it begin unsettled");
    }
    for (int k = helix->nroot; k < helix->nv; k++) {
        helix->natural[k] =
            q[coordinate_of(helix, k)] - load[k] / helix->rigidity[k] + helix->unrest[k];
    }
    return SS_OK;
}

const ss_strand_model ss_super_helix = {
    .name = "super-helix",
    .summary = "elements of constant curvature and twist, inextensible, dense mass",
    .reference = "B06",
    .keys = KEYS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .scheme = "linear",
    .frame = SS_FRAME_ROOT,
    .make = make,
    .free = free_strand,
    .size = size,
    .start = start,
    .lumps = lumps,
    .advance = advance,
    .difference = difference,
    .place = place,
    .convect = convect,
    .energy = energy,
    .force = force,
    .stiffness = stiffness,
    .damping = damping,
    .inertia = inertia,
    .balance = balance,
};
