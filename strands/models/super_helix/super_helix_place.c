// Where a super-helix is and how it moves: points, their J, and (dJ/dt) v (super_helix.h).
//
// With element e's near end at (r_e, R_e), R_{e+1} = R_e exp [phi_e]x and r_{e+1} = r_e + R_e p_e.
// A dof of element e moves a point x beyond it rigidly: with the angular velocity w = column of
// R_e l T_e, and so that r_{e+1} moves with R_e dp_e/dq,
//
//     dx/dq = c + w x x,   c = R_e dp_e/dq - w x r_{e+1}                          (1)
//
// so that c and w, once known, serve all points beyond. x and r are relative to the root point: far
// from the world's origin c + w x x would cancel.
#include "strands/models/super_helix/super_helix.h"

#include <string.h>

#include "strands/models/super_helix/super_helix_row.h"
#include "strands/quaternion.h"

// What a walk along the strand has gathered up to the near end of an element.
typedef struct walk {
    ss_mat3 R;
    ss_vec3 r;                       // m, from the root point
    double c[3][SS_HELIX_MOST_DOFS]; // of (1), for the dofs of the root and of elements behind,
    double w[3][SS_HELIX_MOST_DOFS]; // 0 for the others
} walk;

ss_vec3 ss_helix_curvature_rate(const ss_helix *helix, const double *v, int e)
{
    const int *dof = helix->dof[e];
    return ss_vec(v[dof[0]], v[dof[1]], v[dof[2]]);
}

ss_vec3 ss_helix_curvature(const ss_helix *helix, const double *q, int e)
{
    return ss_plus(helix->offset[e], ss_helix_curvature_rate(helix, q + helix->free_root, e));
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

// The frame and point where the strand begins.
static ss_pose near_end(const ss_helix *helix, const ss_pose *root, const double *q)
{
    if (!helix->free_root) {
        return helix->begins_away ? ss_pose_product(root, &helix->begin) : *root;
    }
    const ss_pose free = {quaternion_turn(q + 3), ss_vec(q[0], q[1], q[2])};
    return ss_pose_product(root, &free);
}

static void put_column(double (*rows)[SS_HELIX_MOST_DOFS], int column, ss_vec3 x)
{
    rows[0][column] += x.x;
    rows[1][column] += x.y;
    rows[2][column] += x.z;
}

// `axes` are those of the root's pose.
static void begin(const ss_helix *helix, const ss_mat3 *axes, const ss_mat3 *turn, walk *at)
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

// Over element e with curvatures kappa.
static void pass(const ss_helix *helix, int e, ss_vec3 kappa, walk *at)
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

// Point l of a row of element e.
static void fill(const ss_helix *helix, const walk *at, ss_vec3 origin, int e,
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

// The `count` points of element e at sigma.
static void fill_all(const ss_helix *helix, const walk *at, ss_vec3 origin, int e, ss_vec3 kappa,
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

void ss_helix_place(const void *strand, const ss_pose *root, const double *q,
                    ss_strand_point *points, ss_strand_point *samples)
{
    const ss_helix *helix = strand;
    const ss_pose near = near_end(helix, root, q);
    walk at;
    begin(helix, &root->turn, &near.turn, &at);
    for (int e = 0; e < helix->nelements; e++) {
        const ss_vec3 kappa = ss_helix_curvature(helix, q, e);
        const int from = helix->first[e];
        fill_all(helix, &at, near.place, e, kappa, helix->sigma + from, helix->first[e + 1] - from,
                 points + from);
        fill_all(helix, &at, near.place, e, kappa, helix->gauss_sigma, helix->ngauss,
                 samples + e * helix->ngauss);
        pass(helix, e, kappa, &at);
    }
}

// From the near end of an element to its far end, whose axes are those of the next.
static void carry(const ss_helix *helix, ss_vec3 kappa, ss_vec3 rate, const ss_mat3 *turn,
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

// R times the accelerations of the samples of an element.
static void convect_element(const ss_helix *helix, ss_vec3 kappa, ss_vec3 rate, const ss_mat3 *R,
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
void ss_helix_convect(const void *strand, const ss_pose *root, const double *q, const double *v,
                      ss_vec3 *a)
{
    const ss_helix *helix = strand;
    ss_mat3 R = near_end(helix, root, q).turn;
    ss_helix_carrier c = {0};
    if (helix->free_root) {
        c.spin = ss_turned_back(&R, ss_turned(&root->turn, ss_vec(v[3], v[4], v[5])));
    }
    for (int e = 0; e < helix->nelements; e++) {
        const ss_vec3 kappa = ss_helix_curvature(helix, q, e);
        const ss_vec3 rate = ss_helix_curvature_rate(helix, v, e);
        convect_element(helix, kappa, rate, &R, &c, a + e * helix->ngauss);
        const ss_mat3 turn = ss_helix_joint_at(kappa, helix->element_length).turn;
        carry(helix, kappa, rate, &turn, &c);
        R = ss_mat3_product(&R, &turn);
    }
}

// about [reach of e]: the angular velocity about the tangent at sigma of element e, a unit of each
// dof.
static void spin_about_tangent(const ss_helix *helix, const walk *at, int e, ss_vec3 kappa,
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
// w_t the angular velocity about the tangent. Of the order radius^2 / L^2 beside the rest; its own
// velocity terms are neglected.
void ss_helix_inertia(const void *strand, const double *q, ss_band *M)
{
    const ss_helix *helix = strand;
    if (!helix->free_root) {
        return;
    }
    const ss_mat3 axes = ss_mat3_identity(), turn = quaternion_turn(q + 3);
    walk at;
    begin(helix, &axes, &turn, &at);
    for (int e = 0; e < helix->nelements; e++) {
        const ss_vec3 kappa = ss_helix_curvature(helix, q, e);
        for (int g = 0; g < helix->ngauss; g++) {
            double about[SS_HELIX_MOST_DOFS];
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

// q <- exp(h w / 2) q: the strand's root turns about axes of its pose.
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

void ss_helix_advance(const void *strand, const double *q, const double *v, double h, double *moved)
{
    const ss_helix *helix = strand;
    if (helix->free_root) {
        for (int k = 0; k < 3; k++) {
            moved[k] = q[k] + h * v[k];
        }
        turn_quaternion(ss_scaled(h, ss_vec(v[3], v[4], v[5])), q + 3, moved + 3);
    }
    for (int k = helix->nroot; k < helix->nv; k++) {
        const int place = ss_helix_coordinate(helix, k);
        moved[place] = q[place] + h * v[k];
    }
}

// The inverse of advance: log(p1 p0*) is the turn about axes of the root's pose.
void ss_helix_difference(const void *strand, const double *q0, const double *q1, double h,
                         double *v)
{
    const ss_helix *helix = strand;
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
        const int place = ss_helix_coordinate(helix, k);
        v[k] = (q1[place] - q0[place]) / h;
    }
}
