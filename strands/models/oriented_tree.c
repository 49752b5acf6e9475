// strands/models/oriented_tree.c -- trees of links: the springs of their joints, how they move, and
// their mass (oriented.h).
#include "strands/models/oriented.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

// ---- The spring of a joint
//
//     d = conj(q_rest) o q,  N = d0^2 + d2^2,  T = d2/d0
//     bx = (d0 d1 - d2 d3)/N,  bz = (d0 d3 + d1 d2)/N
//     U = -K_b ln N - 2 K_t ln(d0/sqrt N)                         of d of unit length
//     Q = -(K_b bx + K_t T bz,  K_t T,  K_b bz - K_t T bx)        -dU/dphi for q <- q o exp(dphi/2)
//     D2 U = K_b/2 I + 2 K_t g0 g0'/d0^2 + 2 (K_t - K_b)/N^2 (per per' - par par')
//     g0 = -(d1, d2, d3)/2,  g2 = (d3, d0, -d1)/2,  par = d0 g0 + d2 g2,  per = d0 g2 - d2 g0
//
// bx and bz are tan(theta_b/2) times the axis of the bend, T = tan(theta_t/2). Q and D2 U are the
// same for any length and sign of d. Springs are (K_x, K_t, K_z), and K_b their mean (K_x + K_z)/2;
// of a section that is not round there is more, see below.
//
// doc/strands.md, "Joint stiffness".

// Below this share of their most, N and d0/sqrt N belong to a joint that is all but turned round:
// it has no energy and no torque (NaN), and the step that asks is rejected.
#define LEAST 1e-6

ss_joint ss_joint_at(ss_quat rest, ss_quat q)
{
    const ss_quat d = ss_quat_product(ss_quat_conjugate(rest), q);
    const double N = d.w * d.w + d.y * d.y, across = d.x * d.x + d.z * d.z;
    const ss_joint joint = {d,
                            N,
                            (d.w * d.x - d.y * d.z) / N,
                            (d.w * d.z + d.x * d.y) / N,
                            d.y / d.w,
                            N >= LEAST * (N + across) && d.w * d.w >= LEAST * LEAST * N};
    return joint;
}

static double mean_bend(ss_vec3 spring)
{
    return 0.5 * (spring.x + spring.z);
}

// The moments of the dampers at the rates w.
ss_vec3 ss_joint_damping(ss_vec3 damping, const double w[3])
{
    return ss_vec(damping.x * w[0], damping.y * w[1], damping.z * w[2]);
}

// K += k a a'
void ss_joint_add_square(double K[3][3], double k, ss_vec3 a)
{
    const double x[3] = {a.x, a.y, a.z};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            K[i][j] += k * x[i] * x[j];
        }
    }
}

// ---- Sections that are not round
//
// A bend about the axis b has the energy -2 K_b(b) ln cos(theta_b/2) with K_b(b) = (K_x bx^2 + K_z
// bz^2)/s, s = bx^2 + bz^2, so that a pure bend about x or z has the torque of K_x or K_z. Beside
// the energy of the mean K_b this is
//
//     (K_x - K_z)/2 h,   h = (bx^2 - bz^2) g(s),   g = ln(1 + s)/s
//     dbx/dphi = a = (1 + bx^2 - bz^2, -2 bz, 2 bx bz)/2
//     dbz/dphi = c = (2 bx bz, 2 bx, 1 + bz^2 - bx^2)/2
//     D2 bx = sym[e_x (bx a - bz c)' - e_y c' + e_z (bz a + bx c)'],   sym A = (A + A')/2
//     D2 bz = sym[e_x (bz a + bx c)' + e_y a' + e_z (bz c - bx a)']
//
// with derivatives along q <- q o exp(dphi/2), the second ones twice along one phi.
//

// Finds g and its first two derivatives. Below this s by their series, the closed forms lose digits
// as s^-2.
#define SERIES_BELOW 0.03
#define TERMS        12
static void log_share(double s, double g[3])
{
    if (s < SERIES_BELOW) {
        g[0] = g[1] = g[2] = 0.0;
        for (int k = TERMS; k >= 0; k--) { // g = sum (-s)^k/(k + 1), by Horner's rule
            const double sign = k % 2 == 0 ? 1.0 : -1.0, term = sign / (k + 1);
            g[0] = g[0] * s + term;
            g[1] = k >= 1 ? g[1] * s + k * term : g[1];
            g[2] = k >= 2 ? g[2] * s + k * (k - 1) * term : g[2];
        }
        return;
    }
    const double one = 1.0 / (1.0 + s);
    g[0] = log1p(s) / s;
    g[1] = (one - g[0]) / s;
    g[2] = (-one * one - 2.0 * g[1]) / s;
}

// bx, bz, their derivatives, and those of h by them.
typedef struct uneven {
    double bx, bz, h, hx, hz, hxx, hxz, hzz;
    ss_vec3 a, c;
} uneven;

static uneven uneven_at(const ss_joint *joint)
{
    const double bx = joint->bx, bz = joint->bz, e = bx * bx - bz * bz;
    double g[3];
    log_share(bx * bx + bz * bz, g);
    return (uneven){.bx = bx,
                    .bz = bz,
                    .h = e * g[0],
                    .hx = 2.0 * bx * (g[0] + e * g[1]),
                    .hz = 2.0 * bz * (e * g[1] - g[0]),
                    .hxx = 2.0 * (g[0] + e * g[1]) + 4.0 * bx * bx * (2.0 * g[1] + e * g[2]),
                    .hxz = 4.0 * bx * bz * e * g[2],
                    .hzz = 2.0 * (e * g[1] - g[0]) + 4.0 * bz * bz * (e * g[2] - 2.0 * g[1]),
                    .a = ss_vec(0.5 * (1.0 + e), -bz, bx * bz),
                    .c = ss_vec(bx * bz, bx, 0.5 * (1.0 - e))};
}

static double half_difference(ss_vec3 spring)
{
    return 0.5 * (spring.x - spring.z);
}

static double uneven_energy(const ss_joint *joint, ss_vec3 spring)
{
    return half_difference(spring) * uneven_at(joint).h;
}

static ss_vec3 uneven_torque(const ss_joint *joint, ss_vec3 spring)
{
    const uneven u = uneven_at(joint);
    return ss_scaled(-half_difference(spring), ss_along(ss_scaled(u.hx, u.a), u.hz, u.c));
}

// K += k (x y' + y x')/2
static void add_product(double K[3][3], double k, ss_vec3 x, ss_vec3 y)
{
    const double p[3] = {x.x, x.y, x.z}, q[3] = {y.x, y.y, y.z};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            K[i][j] += 0.5 * k * (p[i] * q[j] + q[i] * p[j]);
        }
    }
}

static void add_uneven(const ss_joint *joint, ss_vec3 spring, double K[3][3])
{
    const uneven u = uneven_at(joint);
    const double D = half_difference(spring);
    const ss_vec3 x = ss_vec(1.0, 0.0, 0.0), y = ss_vec(0.0, 1.0, 0.0), z = ss_vec(0.0, 0.0, 1.0);
    const ss_vec3 less = ss_along(ss_scaled(u.bx, u.a), -u.bz, u.c); // of bx^2 - bz^2, halved
    const ss_vec3 both = ss_along(ss_scaled(u.bz, u.a), u.bx, u.c);  // of bx bz
    ss_joint_add_square(K, D * u.hxx, u.a);
    ss_joint_add_square(K, D * u.hzz, u.c);
    add_product(K, 2.0 * D * u.hxz, u.a, u.c);
    add_product(K, D * u.hx, x, less);
    add_product(K, -D * u.hx, y, u.c);
    add_product(K, D * u.hx, z, both);
    add_product(K, D * u.hz, x, both);
    add_product(K, D * u.hz, y, u.a);
    add_product(K, -D * u.hz, z, less);
}

// ---- Energy, torque and stiffness

double ss_joint_energy(const ss_joint *joint, ss_vec3 spring)
{
    const ss_quat d = joint->d;
    const double across = d.x * d.x + d.z * d.z;
    // -ln(N/|d|^2) and -2 ln(|d0|/sqrt N)
    const double even = joint->sound ? mean_bend(spring) * log1p(across / joint->N) +
                                           spring.y * log1p(joint->T * joint->T)
                                     : NAN;
    return spring.x == spring.z ? even : even + uneven_energy(joint, spring);
}

ss_vec3 ss_joint_torque(const ss_joint *joint, ss_vec3 spring)
{
    const double bend = mean_bend(spring), turn = spring.y * joint->T;
    const double sound = joint->sound ? 1.0 : NAN;
    const ss_vec3 even = ss_vec(-sound * (bend * joint->bx + turn * joint->bz), -sound * turn,
                                -sound * (bend * joint->bz - turn * joint->bx));
    return spring.x == spring.z ? even : ss_plus(even, uneven_torque(joint, spring));
}

void ss_joint_stiffness(const ss_joint *joint, ss_vec3 spring, double K[3][3])
{
    const ss_quat d = joint->d;
    const double bend = mean_bend(spring), twist = spring.y;
    const ss_vec3 g0 = ss_vec(-0.5 * d.x, -0.5 * d.y, -0.5 * d.z);
    const ss_vec3 g2 = ss_vec(0.5 * d.z, 0.5 * d.w, -0.5 * d.x);
    const ss_vec3 par = ss_along(ss_scaled(d.w, g0), d.y, g2);
    const ss_vec3 per = ss_along(ss_scaled(d.w, g2), -d.y, g0);
    const double share = 2.0 * (twist - bend) / (joint->N * joint->N);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            K[i][j] = i == j ? 0.5 * bend : 0.0;
        }
    }
    ss_joint_add_square(K, 2.0 * twist / (d.w * d.w), g0);
    ss_joint_add_square(K, share, per);
    ss_joint_add_square(K, -share, par);
    if (spring.x != spring.z) {
        add_uneven(joint, spring, K);
    }
}

// The squares of the first derivatives of bend and twist: diag(K_x (1 + bx^2 + bz^2), K_t (1 +
// T^2), K_z ..)/2.
void ss_joint_gauss_newton(const ss_joint *joint, ss_vec3 spring, double K[3][3])
{
    const double bent = 0.5 * (1.0 + joint->bx * joint->bx + joint->bz * joint->bz);
    const double own[3] = {bent * spring.x, 0.5 * spring.y * (1.0 + joint->T * joint->T),
                           bent * spring.z};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            K[i][j] = i == j ? own[i] : 0.0;
        }
    }
}

// ---- Rest shapes

// The rest shape of a round section has
//
//     T = -Q_y/K_t,  k = K_t T,  det = K_b^2 + k^2
//     bx = (-Q_x K_b + Q_z k)/det,  bz = (-Q_z K_b - Q_x k)/det
//     d = (1, 0, T, 0)/sqrt(1 + T^2) o (1, bx, 0, bz)/sqrt(1 + bx^2 + bz^2)
static ss_quat even_rest(double bend, double twist, ss_vec3 Q)
{
    const double T = -Q.y / twist, k = twist * T, det = bend * bend + k * k;
    const double bx = (-Q.x * bend + Q.z * k) / det, bz = (-Q.z * bend - Q.x * k) / det;
    const ss_quat turn = {1.0, 0.0, T, 0.0}, fold = {1.0, bx, 0.0, bz};
    return ss_quat_unit(ss_quat_product(turn, fold));
}

// Returns the x of A x = b, by Cramer's rule.
static ss_vec3 solved(const ss_mat3 *A, ss_vec3 b)
{
    const ss_vec3 c12 = ss_cross(A->c[1], A->c[2]);
    const double det = ss_dot(A->c[0], c12);
    return ss_vec(ss_dot(b, c12) / det, ss_dot(A->c[0], ss_cross(b, A->c[2])) / det,
                  ss_dot(A->c[0], ss_cross(A->c[1], b)) / det);
}

static ss_joint joint_of(ss_quat d)
{
    const ss_quat none = {1.0, 0.0, 0.0, 0.0};
    return ss_joint_at(none, d);
}

// Newton's method on d <- d o exp(phi/2): the torque changes by -(D2 U phi + phi x Q/2). At most a
// turn of MOST_TURN at once.
#define ROUNDS    40
#define MOST_TURN 0.3   // rad
#define CLOSE     1e-14 // of the springs and the torque
static bool improve(ss_vec3 spring, ss_vec3 Q, ss_quat *d)
{
    const double size = spring.x + spring.y + spring.z + ss_length(Q);
    for (int k = 0; k < ROUNDS; k++) {
        const ss_joint joint = joint_of(*d);
        const ss_vec3 now = ss_joint_torque(&joint, spring), off = ss_minus(now, Q);
        double K[3][3];
        if (!joint.sound || !isfinite(ss_length(off))) {
            return false;
        }
        if (ss_length(off) <= CLOSE * size) {
            return true;
        }
        ss_joint_stiffness(&joint, spring, K);
        const ss_mat3 A = {{ss_vec(K[0][0], K[1][0] - 0.5 * now.z, K[2][0] + 0.5 * now.y),
                            ss_vec(K[0][1] + 0.5 * now.z, K[1][1], K[2][1] - 0.5 * now.x),
                            ss_vec(K[0][2] - 0.5 * now.y, K[1][2] + 0.5 * now.x, K[2][2])}};
        const ss_vec3 phi = solved(&A, off);
        const double turn = ss_length(phi), share = turn > MOST_TURN ? MOST_TURN / turn : 1.0;
        *d = ss_quat_unit(ss_quat_product(*d, ss_quat_exp(ss_scaled(share, phi))));
    }
    return false;
}

// Follows the joint `d` that bears `from_load` with the spring `from` to one that bears Q with
// another spring, by way of joints between: the more of them the harder it is.
#define FIRST_STAGE 0.125
#define LAST_STAGE  1e-3
static bool follow(ss_vec3 from, ss_vec3 from_load, ss_vec3 spring, ss_vec3 Q, ss_quat *d)
{
    double share = 0.0, stage = FIRST_STAGE;
    while (share < 1.0 && stage >= LAST_STAGE) {
        const double next = fmin(share + stage, 1.0);
        const ss_vec3 between = ss_along(ss_scaled(1.0 - next, from), next, spring);
        const ss_vec3 load = ss_along(ss_scaled(1.0 - next, from_load), next, Q);
        ss_quat tried = *d;
        if (improve(between, load, &tried)) {
            *d = tried;
            share = next;
        } else {
            stage *= 0.5;
        }
    }
    return share == 1.0;
}

// Sections that are not round start from the round one with the mean K_b, or else from no load.
bool ss_joint_rest(ss_quat q, ss_vec3 spring, ss_vec3 Q, ss_quat *rest)
{
    const double bend = mean_bend(spring);
    const ss_vec3 even = ss_vec(bend, spring.y, bend), none = {0.0, 0.0, 0.0};
    ss_quat d = even_rest(bend, spring.y, Q);
    bool found = spring.x == spring.z || follow(even, Q, spring, Q, &d);
    if (!found) {
        d = (ss_quat){1.0, 0.0, 0.0, 0.0};
        found = follow(spring, none, spring, Q, &d);
    }
    *rest = ss_quat_unit(ss_quat_product(q, ss_quat_conjugate(d)));
    return found;
}

// ---- Trees

// A composite body: all that a link carries.
typedef struct ss_oriented_body {
    double I[9]; // kg m^2, about the joint
    double mass; // kg
    ss_vec3 h;   // kg m
} ss_oriented_body;

#define UNIT_ROUNDING 1e-9

static bool positive(double x)
{
    return isfinite(x) && x > 0.0;
}

static bool none_negative(ss_vec3 x)
{
    return isfinite(ss_length(x)) && x.x >= 0.0 && x.y >= 0.0 && x.z >= 0.0;
}

static double norm_of(ss_quat q)
{
    return sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
}

static ss_status check_link(const ss_oriented_link *l, int j, ss_error *e)
{
    if (!positive(l->length) || !positive(l->mass)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "link %d has the length %g m and the mass %g kg; both must be above 0", j,
                       l->length, l->mass);
    }
    if (!positive(l->across) || !positive(l->spin) || !isfinite(ss_length(l->joint))) {
        return ss_fail(
            e, SS_BAD_INPUT,
            "link %d has the moments of inertia %g and %g kg m^2, which must be above 0, "
            "or no finite joint",
            j, l->across, l->spin);
    }
    if (!none_negative(l->spring) || !none_negative(l->damping)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "the joint of link %d has a stiffness or damping that is no number >= 0", j);
    }
    if (!(fabs(norm_of(l->rest) - 1.0) <= UNIT_ROUNDING)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "the rest quaternion of link %d has the length %g; give it the length 1", j,
                       norm_of(l->rest));
    }
    return SS_OK;
}

static ss_status check(int n, const ss_oriented_link *links, bool floats, ss_error *e)
{
    ss_status status =
        n > 0 ? SS_OK : ss_fail(e, SS_BAD_INPUT, "a tree has at least 1 link, not %d", n);
    int roots = 0;
    for (int j = 0; status == SS_OK && j < n; j++) {
        status = check_link(&links[j], j, e);
        roots += links[j].parent == SS_ORIENTED_BASE;
    }
    if (status == SS_OK && floats && roots != 1) {
        return ss_fail(e, SS_BAD_INPUT, "a tree that floats has one link at its base, not %d",
                       roots);
    }
    return status;
}

static ss_status check_parents(int n, const ss_oriented_link *links, ss_error *e)
{
    int *parent = malloc((size_t)n * sizeof *parent);
    if (parent == NULL) {
        return ss_fail_memory(e, "a tree of links");
    }
    for (int j = 0; j < n; j++) {
        parent[j] = links[j].parent;
    }
    const ss_status status = ss_check_parents(n, parent, "link", e);
    free(parent);
    return status;
}

// Returns the number of entries of all paths.
static size_t count_paths(int n, const ss_oriented_link *links)
{
    size_t count = 0;
    for (int j = 0; j < n; j++) {
        for (int i = j; i != SS_ORIENTED_BASE; i = links[i].parent) {
            count++;
        }
    }
    return count;
}

// Arrays one after another in one piece of memory: those of numbers first, which want the stricter
// place.
static bool allocate(ss_oriented *s, size_t n, size_t paths)
{
    const size_t numbers = n * (sizeof *s->link + sizeof *s->load) +
                           (n + 1) * (sizeof *s->motion + sizeof *s->sum + sizeof *s->body);
    s->memory = calloc(1, numbers + (2 * n + paths) * sizeof(int));
    if (s->memory == NULL) {
        return false;
    }
    s->motion = (ss_oriented_motion *)s->memory + 1;
    s->sum = (ss_oriented_sum *)(s->motion + n) + 1;
    s->link = (ss_oriented_link *)(s->sum + n);
    s->load = (ss_oriented_load *)(s->link + n);
    char *const bodies = (char *)(s->load + n);
    void *const first = bodies + sizeof *s->body;
    void *const counts = bodies + (n + 1) * sizeof *s->body;
    s->body = first;
    s->depth = counts;
    s->begin = s->depth + n;
    s->path = s->begin + n;
    return true;
}

static void fill_paths(ss_oriented *s)
{
    int at = 0;
    for (int j = 0; j < s->n; j++) {
        const int parent = s->link[j].parent;
        const int above = parent == SS_ORIENTED_BASE ? 0 : s->depth[parent];
        s->begin[j] = at;
        s->depth[j] = above + 1;
        if (above > 0) {
            memcpy(s->path + at, s->path + s->begin[parent], (size_t)above * sizeof *s->path);
        }
        s->path[at + above] = j;
        at += above + 1;
    }
}

ss_status ss_oriented_new(int n, const ss_oriented_link *links, bool floats, ss_oriented **tree,
                          ss_error *e)
{
    *tree = NULL;
    ss_status status = check(n, links, floats, e);
    status = status == SS_OK ? check_parents(n, links, e) : status;
    if (status != SS_OK) {
        return status;
    }
    ss_oriented *s = calloc(1, sizeof *s);
    if (s == NULL || !allocate(s, (size_t)n, count_paths(n, links))) {
        free(s);
        return ss_fail_memory(e, "a tree of links");
    }
    s->n = n;
    s->floats = floats;
    memcpy(s->link, links, (size_t)n * sizeof *links);
    fill_paths(s);
    *tree = s;
    return SS_OK;
}

void ss_oriented_free(ss_oriented *s)
{
    if (s != NULL) {
        free(s->memory);
        free(s);
    }
}

// ---- Motion
//
// With d the arm from the parent p to link j (of the base: p is the base), c from its joint to its
// centre of mass, R its turn, all along the axes of the world:
//
//     R_j = R_p R(q_j),          x_j = x_p + d,           omega_j = omega_p + R_j w_j
//     alpha_j = alpha_p + R_j wdot_j + omega_p x R_j w_j
//     a_j = a_p + alpha_p x d + omega_p x (omega_p x d)
//     f_j = m [a_j + alpha_j x c + omega_j x (omega_j x c)] - load
//     n_j = I alpha_j + omega_j x I omega_j + c x f_j - load,   I = across 1 + (spin - across) y y'
//     F_j = f_j + sum over children F,   N_j = n_j + sum over children (N + d x F)
//     residual_j = R_j' N_j - Q_j + C_j w_j
//
// These are the v, a and rs of doc/strands.md, "Residual", written at the joints and along other
// axes.

// Returns R(q / |q|).
static ss_mat3 turn_of(const double q[4])
{
    const double s = 2.0 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    const double w = s * q[0], x = s * q[1], y = s * q[2], z = s * q[3];
    const ss_mat3 R = {
        {ss_vec(1.0 - y * q[2] - z * q[3], x * q[2] + w * q[3], x * q[3] - w * q[2]),
         ss_vec(x * q[2] - w * q[3], 1.0 - x * q[1] - z * q[3], y * q[3] + w * q[1]),
         ss_vec(x * q[3] + w * q[2], y * q[3] - w * q[1], 1.0 - x * q[1] - y * q[2])}};
    return R;
}

void ss_oriented_place(const ss_oriented *s, const ss_pose *base, const double *q)
{
    const double *turn = q + ss_oriented_turn_at(s, 0);
    ss_oriented_motion *first = &s->motion[SS_ORIENTED_BASE];
    first->turn = base->turn;
    first->arm = s->floats ? ss_turned(&base->turn, ss_vec_read(q)) : ss_vec(0.0, 0.0, 0.0);
    first->joint = ss_plus(base->place, first->arm);
    for (int j = 0; j < s->n; j++) {
        const ss_oriented_link *l = &s->link[j];
        const ss_oriented_motion *up = &s->motion[l->parent];
        ss_oriented_motion *m = &s->motion[j];
        const ss_mat3 R = turn_of(turn + 4 * j);
        m->turn = ss_mat3_product(&up->turn, &R);
        m->arm = ss_turned(&up->turn, l->joint);
        m->joint = ss_plus(up->joint, m->arm);
        m->centre = ss_scaled(0.5 * l->length, m->turn.c[1]);
    }
}

// Moves the base. The carrier of a root joint that floats turns as the base does, and moves against
// it.
static void move_base(const ss_oriented *s, const ss_oriented_base *base, const double *w,
                      const double *wdot)
{
    ss_oriented_motion *m = &s->motion[SS_ORIENTED_BASE];
    m->velocity = base->velocity;
    m->acceleration = base->acceleration;
    m->spin = base->spin;
    m->spin_rate = base->spin_rate;
    if (!s->floats) {
        return;
    }
    const ss_vec3 rate = ss_turned(&m->turn, ss_vec_read(w)), carried = ss_cross(m->spin, m->arm);
    const ss_vec3 about = ss_cross(m->spin, ss_along(carried, 2.0, rate));
    m->velocity = ss_plus(m->velocity, ss_plus(carried, rate));
    m->acceleration = ss_plus(m->acceleration, ss_plus(ss_cross(m->spin_rate, m->arm), about));
    if (wdot != NULL) {
        m->acceleration = ss_plus(m->acceleration, ss_turned(&m->turn, ss_vec_read(wdot)));
    }
}

void ss_oriented_move(const ss_oriented *s, const ss_oriented_base *base, const double *q,
                      const double *w, const double *wdot)
{
    const double *rate = w + ss_oriented_rate_at(s, 0);
    const double *change = wdot != NULL ? wdot + ss_oriented_rate_at(s, 0) : NULL;
    ss_oriented_place(s, &base->pose, q);
    move_base(s, base, w, wdot);
    for (int j = 0; j < s->n; j++) {
        const ss_oriented_motion *up = &s->motion[s->link[j].parent];
        ss_oriented_motion *m = &s->motion[j];
        const ss_vec3 own = ss_turned(&m->turn, ss_vec_read(rate + 3 * j));
        const ss_vec3 moved = ss_cross(up->spin, m->arm);
        const ss_vec3 turning = ss_plus(ss_cross(up->spin_rate, m->arm), ss_cross(up->spin, moved));
        m->spin = ss_plus(up->spin, own);
        m->velocity = ss_plus(up->velocity, moved);
        m->acceleration = ss_plus(up->acceleration, turning);
        m->spin_rate = ss_plus(up->spin_rate, ss_cross(up->spin, own));
        if (change != NULL) {
            m->spin_rate = ss_plus(m->spin_rate, ss_turned(&m->turn, ss_vec_read(change + 3 * j)));
        }
    }
}

// ---- Residual

// Adds f_j and n_j of a link.
static void add_own(const ss_oriented_link *l, const ss_oriented_motion *m,
                    const ss_oriented_load *load, ss_oriented_sum *sum)
{
    const ss_vec3 y = m->turn.c[1];
    const ss_vec3 about =
        ss_plus(ss_cross(m->spin_rate, m->centre), ss_cross(m->spin, ss_cross(m->spin, m->centre)));
    ss_vec3 f = ss_scaled(l->mass, ss_plus(m->acceleration, about));
    const ss_vec3 twist =
        ss_along(ss_scaled(ss_dot(y, m->spin_rate), y), ss_dot(y, m->spin), ss_cross(m->spin, y));
    ss_vec3 n = ss_along(ss_scaled(l->across, m->spin_rate), l->spin - l->across, twist);
    if (load != NULL) {
        f = ss_minus(f, load->force);
        n = ss_minus(n, load->moment);
    }
    sum->force = ss_plus(sum->force, f);
    sum->moment = ss_plus(sum->moment, ss_plus(n, ss_cross(m->centre, f)));
}

static void clear_sums(const ss_oriented *s)
{
    for (int j = SS_ORIENTED_BASE; j < s->n; j++) {
        s->sum[j].force = s->sum[j].moment = ss_vec(0.0, 0.0, 0.0);
    }
}

void ss_oriented_residual(const ss_oriented *s, const ss_oriented_base *base, const double *q,
                          const double *w, const double *wdot, const ss_oriented_load *load,
                          double *rs)
{
    const double *turn = q + ss_oriented_turn_at(s, 0);
    const int first = ss_oriented_rate_at(s, 0);
    ss_oriented_move(s, base, q, w, wdot);
    clear_sums(s);
    for (int j = s->n - 1; j >= 0; j--) {
        const ss_oriented_link *l = &s->link[j];
        const ss_oriented_motion *m = &s->motion[j];
        ss_oriented_sum *sum = &s->sum[j], *up = &s->sum[l->parent];
        const double *rate = w + first + 3 * j;
        add_own(l, m, load != NULL ? &load[j] : NULL, sum);
        const ss_joint joint = ss_joint_at(l->rest, ss_quat_read(turn + 4 * j));
        const ss_vec3 Q = ss_joint_torque(&joint, l->spring);
        const ss_vec3 damped = ss_joint_damping(l->damping, rate);
        const ss_vec3 own = ss_turned_back(&m->turn, sum->moment);
        ss_vec_write(ss_plus(ss_minus(own, Q), damped), rs + first + 3 * j);
        up->force = ss_plus(up->force, sum->force);
        up->moment = ss_plus(up->moment, ss_plus(sum->moment, ss_cross(m->arm, sum->force)));
    }
    if (s->floats) {
        ss_vec_write(ss_turned_back(&base->pose.turn, s->sum[SS_ORIENTED_BASE].force), rs);
    }
}

// ---- Composite bodies [F08]
//
// m, h = sum m (x - x_j) and I, about x_j, are those of all that link j carries. A unit of w_j, e =
// R_j e_k, gives it the momentum P = e x h and the angular momentum L = I e about its joint; about
// that of an ancestor i it is L + (x_j - x_i) x P, so that M_ij = R_i' (L + (x_j - x_i) x P).

static ss_vec3 times(const double A[9], ss_vec3 x)
{
    return ss_vec(A[0] * x.x + A[1] * x.y + A[2] * x.z, A[3] * x.x + A[4] * x.y + A[5] * x.z,
                  A[6] * x.x + A[7] * x.y + A[8] * x.z);
}

// A += k 1 + l x x'
static void add_diagonal(double A[9], double k, double l, ss_vec3 x)
{
    const double e[3] = {x.x, x.y, x.z};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            A[3 * i + j] += l * e[i] * e[j] + (i == j ? k : 0.0);
        }
    }
}

// Joins a composite body to its parent's, about whose joint its points are d farther away:
// I gains m (|d|^2 - dd') + 2 h.d - hd' - dh'.
static void join(const ss_oriented_body *own, ss_vec3 d, ss_oriented_body *up)
{
    const double x[3] = {own->h.x, own->h.y, own->h.z}, y[3] = {d.x, d.y, d.z};
    add_diagonal(up->I, own->mass * ss_dot(d, d) + 2.0 * ss_dot(own->h, d), -own->mass, d);
    for (int i = 0; i < 9; i++) {
        up->I[i] += own->I[i] - x[i / 3] * y[i % 3] - y[i / 3] * x[i % 3];
    }
    up->h = ss_plus(up->h, ss_along(own->h, own->mass, d));
    up->mass += own->mass;
}

static void clear_bodies(const ss_oriented *s)
{
    memset(s->body + SS_ORIENTED_BASE, 0, (size_t)(s->n + 1) * sizeof *s->body);
}

static void make_composites(const ss_oriented *s, bool whole)
{
    clear_bodies(s);
    for (int j = s->n - 1; j >= 0; j--) {
        const ss_oriented_link *l = &s->link[j];
        const ss_oriented_motion *m = &s->motion[j];
        ss_oriented_body *own = &s->body[j];
        const double mass = whole ? l->mass : 0.0, across = whole ? l->across : 0.0;
        add_diagonal(own->I, across, l->spin - across, m->turn.c[1]);
        add_diagonal(own->I, mass * ss_dot(m->centre, m->centre), -mass, m->centre);
        own->h = ss_along(own->h, mass, m->centre);
        own->mass += mass;
        join(own, m->arm, &s->body[l->parent]);
    }
}

static void add_entry(ss_band *M, int i, int j, double x)
{
    *ss_band_at(M, i > j ? i : j, i > j ? j : i) += x;
}

// Adds column k of link j, along its path to the base.
static void add_column(const ss_oriented *s, int j, int k, ss_band *M)
{
    const ss_oriented_motion *m = &s->motion[j];
    const ss_vec3 e = m->turn.c[k], P = ss_cross(e, s->body[j].h);
    const ss_vec3 L = times(s->body[j].I, e);
    const int column = ss_oriented_rate_at(s, j) + k, *path = s->path + s->begin[j];
    for (int above = 0; above < s->depth[j]; above++) {
        const int i = path[above], row = ss_oriented_rate_at(s, i);
        const ss_oriented_motion *at = &s->motion[i];
        const ss_vec3 about = ss_plus(L, ss_cross(ss_minus(m->joint, at->joint), P));
        const ss_vec3 own = ss_turned_back(&at->turn, about);
        const double x[3] = {own.x, own.y, own.z};
        for (int r = 0; r < (i == j ? k + 1 : 3); r++) {
            add_entry(M, row + r, column, x[r]);
        }
    }
    if (s->floats) {
        const ss_vec3 along = ss_turned_back(&s->motion[SS_ORIENTED_BASE].turn, P);
        add_entry(M, 0, column, along.x);
        add_entry(M, 1, column, along.y);
        add_entry(M, 2, column, along.z);
    }
}

void ss_oriented_mass(const ss_oriented *s, const double *q, bool whole, ss_band *M)
{
    const ss_pose home = ss_pose_identity();
    ss_assert(M->n == ss_oriented_nv(s) && M->half == M->n - 1);
    ss_oriented_place(s, &home, q);
    make_composites(s, whole);
    for (int j = 0; j < s->n; j++) {
        for (int k = 0; k < 3; k++) {
            add_column(s, j, k, M);
        }
    }
    for (int k = 0; k < 3 && s->floats; k++) {
        add_entry(M, k, k, s->body[SS_ORIENTED_BASE].mass);
    }
}
