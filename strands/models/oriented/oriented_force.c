// Elastic forces, their K, damping, inertia and balance of a strand of links (oriented_strand.h).
//
// The force of the spins: link j asks for the moment spin [y (y.alpha) + (y.omega) omega x y] about its centre
// where no w changes; joint k bears those of all links beyond it. That a body carries the strand has no part in
// it: of the order radius^2/l^2 beside what the samples do.
#include <string.h>

#include "strands/models/oriented/oriented_joint.h"
#include "strands/models/oriented/oriented_strand.h"

static ss_joint joint_of(const ss_oriented *tree, int j, const double *q)
{
    return ss_joint_at(tree->link[j].rest, ss_quat_read(q + ss_oriented_turn_at(tree, j)));
}

double ss_oriented_energy(const void *strand, const double *q)
{
    const ss_oriented *tree = ((const ss_oriented_strand *)strand)->tree;
    double sum = 0.0;
    for (int j = 0; j < tree->n; j++) {
        const ss_joint joint = joint_of(tree, j, q);
        sum += ss_joint_energy(&joint, tree->link[j].spring);
    }
    return sum;
}

static void add(ss_vec3 x, double *to)
{
    to[0] += x.x;
    to[1] += x.y;
    to[2] += x.z;
}

static void add_spins(const ss_oriented *tree, const double *q, const double *v, double *F)
{
    const ss_oriented_base still = {.pose = ss_pose_identity()};
    ss_oriented_move(tree, &still, q, v, NULL);
    for (int j = SS_ORIENTED_BASE; j < tree->n; j++) {
        tree->sum[j].moment = ss_vec(0.0, 0.0, 0.0);
    }
    for (int j = tree->n - 1; j >= 0; j--) {
        const ss_oriented_link *l = &tree->link[j];
        const ss_oriented_motion *m = &tree->motion[j];
        ss_oriented_sum *own = &tree->sum[j], *up = &tree->sum[l->parent];
        const ss_vec3 y = m->turn.c[1];
        const ss_vec3 n = ss_along(ss_scaled(ss_dot(y, m->spin_rate), y), ss_dot(y, m->spin),
                                   ss_cross(m->spin, y));
        own->moment = ss_along(own->moment, l->spin, n);
        up->moment = ss_plus(up->moment, own->moment);
        const ss_vec3 borne = ss_scaled(-1.0, ss_turned_back(&m->turn, own->moment));
        add(borne, F + ss_oriented_rate_at(tree, j));
    }
}

void ss_oriented_force(const void *strand, const double *q, const double *v, double *F)
{
    const ss_oriented *tree = ((const ss_oriented_strand *)strand)->tree;
    for (int j = 0; j < tree->n; j++) {
        const ss_joint joint = joint_of(tree, j, q);
        add(ss_joint_torque(&joint, tree->link[j].spring), F + ss_oriented_rate_at(tree, j));
    }
    add_spins(tree, q, v, F);
}

// ---- K: a block a joint

static bool has_factor(double A[3][3])
{
    const double l1 = A[1][0] / A[0][0], l2 = A[2][0] / A[0][0];
    const double d1 = A[1][1] - l1 * A[1][0], e = A[2][1] - l2 * A[1][0];
    return A[0][0] > 0.0 && d1 > 0.0 && A[2][2] - l2 * A[2][0] - e * e / d1 > 0.0;
}

// Turns rows and columns p and r of A, and columns p and r of V, so that A[p][r] = 0.
static void annihilate(double A[3][3], double V[3][3], int p, int r)
{
    const double slope = (A[r][r] - A[p][p]) / (2.0 * A[p][r]);
    const double t = (slope < 0.0 ? -1.0 : 1.0) / (fabs(slope) + sqrt(1.0 + slope * slope));
    const double c = 1.0 / sqrt(1.0 + t * t), s = t * c;
    for (int k = 0; k < 3; k++) {
        const double a = A[k][p], b = A[k][r], x = V[k][p], y = V[k][r];
        A[k][p] = c * a - s * b;
        A[k][r] = s * a + c * b;
        V[k][p] = c * x - s * y;
        V[k][r] = s * x + c * y;
    }
    for (int k = 0; k < 3; k++) {
        const double a = A[p][k], b = A[r][k];
        A[p][k] = c * a - s * b;
        A[r][k] = s * a + c * b;
    }
}

// A without its negative eigenvalues, by Jacobi's rotations.
#define MOST_ROTATIONS 30
static void clamp_eigenvalues(double A[3][3])
{
    double V[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    for (int k = 0; k < MOST_ROTATIONS; k++) {
        const int p = k % 3 == 2 ? 1 : 0, r = k % 3 == 0 ? 1 : 2;
        if (A[p][r] != 0.0) {
            annihilate(A, V, p, r);
        }
    }
    const double value[3] = {fmax(A[0][0], 0.0), fmax(A[1][1], 0.0), fmax(A[2][2], 0.0)};
    memset(A, 0, 9 * sizeof A[0][0]);
    for (int k = 0; k < 3; k++) {
        ss_joint_add_square(A, value[k], ss_vec(V[0][k], V[1][k], V[2][k]));
    }
}

bool ss_oriented_stiffness(const void *strand, const double *q, ss_stiffness kind, double scale,
                           ss_band *A)
{
    const ss_oriented *tree = ((const ss_oriented_strand *)strand)->tree;
    for (int j = 0; j < tree->n; j++) {
        const ss_oriented_link *l = &tree->link[j];
        const ss_joint joint = joint_of(tree, j, q);
        const int first = ss_oriented_rate_at(tree, j);
        double K[3][3];
        if (kind == SS_STIFFNESS_GAUSS_NEWTON) {
            ss_joint_gauss_newton(&joint, l->spring, K);
        } else {
            ss_joint_stiffness(&joint, l->spring, K);
        }
        if (kind == SS_STIFFNESS_FILTERED && !has_factor(K)) {
            clamp_eigenvalues(K);
        }
        for (int r = 0; r < 3; r++) {
            for (int c = 0; c <= r; c++) {
                *ss_band_at(A, first + r, first + c) += scale * K[r][c];
            }
        }
    }
    return true;
}

void ss_oriented_damping(const void *strand, const double *q, double scale, ss_band *A)
{
    const ss_oriented *tree = ((const ss_oriented_strand *)strand)->tree;
    (void)q;
    for (int j = 0; j < tree->n; j++) {
        const int first = ss_oriented_rate_at(tree, j);
        const ss_vec3 C = tree->link[j].damping;
        *ss_band_at(A, first, first) += scale * C.x;
        *ss_band_at(A, first + 1, first + 1) += scale * C.y;
        *ss_band_at(A, first + 2, first + 2) += scale * C.z;
    }
}

void ss_oriented_inertia(const void *strand, const double *q, ss_band *M)
{
    ss_oriented_mass(((const ss_oriented_strand *)strand)->tree, q, false, M);
}

void ss_oriented_whole_mass(const void *strand, const double *q, ss_band *M)
{
    ss_oriented_mass(((const ss_oriented_strand *)strand)->tree, q, true, M);
}

// ---- Balance

// m/s^2: a free strand whose load accelerates it by less is at rest.
#define REST_ACCELERATION 1e-6

// Whether a load leaves the place and the first link of a tree that floats where they are.
static bool root_rests(const ss_oriented_strand *s, const double *load)
{
    const double force = REST_ACCELERATION * s->mass;
    bool rests = true;
    for (int k = 0; k < 6; k++) {
        rests = rests && fabs(load[k]) <= (k < 3 ? force : force * s->length);
    }
    return rests;
}

ss_status ss_oriented_balance(void *strand, const double *q, const double *load, ss_error *e)
{
    ss_oriented_strand *s = strand;
    ss_oriented *tree = s->tree;
    if (tree->floats && !root_rests(s, load)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "a strand with a free root cannot rest under a load that moves its root: "
                       "clamp the root, or let it begin unsettled");
    }
    for (int j = tree->floats ? 1 : 0; j < tree->n; j++) {
        ss_oriented_link *l = &tree->link[j];
        const double *own = load + ss_oriented_rate_at(tree, j);
        const ss_quat now = ss_quat_read(q + ss_oriented_turn_at(tree, j));
        ss_quat rest;
        if (!ss_joint_rest(now, l->spring, ss_vec(-own[0], -own[1], -own[2]), &rest)) {
            return ss_fail(e, SS_BAD_INPUT,
                           "no rest shape of joint %d was found in which its section, which is not "
                           "round, bears its load: make the strand stiffer, or rounder",
                           j);
        }
        l->rest = ss_quat_unit(ss_quat_product(rest, s->more[j]));
    }
    return SS_OK;
}

// Joints that turn by less of what they may, within a step as they turn now, are left out.
#define LIMIT_SEEN 0.5
// s: a joint beyond its limit is back within this, or within the step if that is longer.
#define LIMIT_BACK 0.02

// The turn from the natural shape is d = conj(q_rest) o q, at the end of the step d exp(h w) = exp(u angle), and
// d(angle)/dw = h u up to h w: -u.(w' - w) is to be at least (angle - bound)/h of the velocity w' that the joint gets.
// A row at the turn of the start would let a joint that turns across its axis by more than `most` within a step leave
// the limit with every step. The bound is `most`, or for a joint beyond it what brings it back in LIMIT_BACK, since a
// velocity that grows as a step is halved would refuse steps of any size. A root joint that is only a way to say how
// a tree that floats is turned has no limit.
int ss_oriented_limits(const void *strand, const double *q, const double *v, double h, double most,
                       ss_joint_limit *limits)
{
    const ss_oriented *tree = ((const ss_oriented_strand *)strand)->tree;
    int count = 0;
    for (int j = tree->floats ? 1 : 0; j < tree->n; j++) {
        const int dof = ss_oriented_rate_at(tree, j);
        const ss_quat own = ss_quat_unit(ss_quat_read(q + ss_oriented_turn_at(tree, j)));
        const ss_quat from = ss_quat_product(ss_quat_conjugate(tree->link[j].rest), own);
        const ss_vec3 w = ss_vec(v[dof], v[dof + 1], v[dof + 2]);
        const ss_vec3 turn = ss_quat_log(ss_quat_product(from, ss_quat_exp(ss_scaled(h, w))));
        const double start = ss_length(ss_quat_log(from)), angle = ss_length(turn);
        if (angle > 0.0 && start + h * ss_length(w) > LIMIT_SEEN * most) {
            const double back =
                start > most ? (start - most) * fmax(1.0 - h / LIMIT_BACK, 0.0) : 0.0;
            const ss_vec3 u = ss_scaled(1.0 / angle, turn);
            limits[count++] = (ss_joint_limit){.dof = dof,
                                               .along = {-u.x, -u.y, -u.z},
                                               .least = (angle - most - back) / h - ss_dot(u, w)};
        }
    }
    return count;
}
