// tests/support/articulated.c -- forward dynamics of a tree of links by articulated bodies.
//
// The links beyond joint j, with their joints free to move, ask of it
//
//     N = A alpha + B a + n,   F = B' alpha + C a + f                             (1)
//
// where a link alone has A = I + m (|c|^2 - cc'), B = m [c]x, C = m. The joint transmits the known
// torque N = R (Q - C_j w_j) =: t, so that alpha = A^-1 (t - n - B a), and what its parent meets is
// a force alone,
//
//     F = G a + g,   G = C - B' A^-1 B,   g = f + B' A^-1 (t - n)                 (2)
//
// at a = a_p + alpha_p x d + omega_p x (omega_p x d), and the torque t: the parent's A, B, C gain
// -[d]x G [d]x, [d]x G and G, its n and f gain t + d x g' and g' = g + G (omega_p x (omega_p x d)).
//
// doc/strands.md, "Articulated bodies".
#include "tests/support/articulated.h"

#include <stdlib.h>
#include <string.h>

// ---- 3 x 3 matrices, row by row

static ss_vec3 times(const double A[9], ss_vec3 x)
{
    return ss_vec(A[0] * x.x + A[1] * x.y + A[2] * x.z, A[3] * x.x + A[4] * x.y + A[5] * x.z,
                  A[6] * x.x + A[7] * x.y + A[8] * x.z);
}

static ss_vec3 times_back(const double A[9], ss_vec3 x)
{
    return ss_vec(A[0] * x.x + A[3] * x.y + A[6] * x.z, A[1] * x.x + A[4] * x.y + A[7] * x.z,
                  A[2] * x.x + A[5] * x.y + A[8] * x.z);
}

// A += k [x]x
static void add_cross(double A[9], double k, ss_vec3 x)
{
    A[1] -= k * x.z;
    A[2] += k * x.y;
    A[3] += k * x.z;
    A[5] -= k * x.x;
    A[6] -= k * x.y;
    A[7] += k * x.x;
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

// [x]x A
static void cross_product(ss_vec3 x, const double A[9], double product[9])
{
    for (int j = 0; j < 3; j++) {
        const ss_vec3 column = ss_cross(x, ss_vec(A[j], A[3 + j], A[6 + j]));
        product[j] = column.x;
        product[3 + j] = column.y;
        product[6 + j] = column.z;
    }
}

// A^-1 b of a positive definite A, by A = L D L'.
static ss_vec3 solve(const double A[9], ss_vec3 b)
{
    const double l1 = A[3] / A[0], l2 = A[6] / A[0];
    const double d1 = A[4] - l1 * A[3], e = A[7] - l2 * A[3];
    const double l3 = e / d1, d2 = A[8] - l2 * A[6] - l3 * e;
    const double y = b.y - l1 * b.x, z = (b.z - l2 * b.x - l3 * y) / d2;
    const double u = y / d1 - l3 * z;
    return ss_vec(b.x / A[0] - l1 * u - l2 * z, u, z);
}

// ---- Bodies

typedef struct body {
    double A[9];     // kg m^2: of (1), about the joint
    double B[9];     // kg m; after (2): Y = A^-1 B
    double C[9];     // kg; after (2): G
    ss_vec3 n, f;    // N m, N: of (1); n becomes A^-1 (t - n)
    ss_vec3 t;       // N m, that the joint transmits
    ss_vec3 turning; // m/s^2: omega_p x (omega_p x d)
    ss_vec3 extra;   // rad/s^2: omega_p x R w
} body;

// The bodies of the tree that moved last; [SS_ORIENTED_BASE] is the base.
static body *bodies;
static int room;

static void clear_bodies(const ss_oriented *s)
{
    if (s->n + 1 > room) {
        free(bodies != NULL ? bodies - 1 : NULL);
        body *const all = malloc((size_t)(s->n + 1) * sizeof *all);
        if (all == NULL) {
            abort();
        }
        bodies = all + 1;
        room = s->n + 1;
    }
    memset(bodies + SS_ORIENTED_BASE, 0, (size_t)(s->n + 1) * sizeof *bodies);
}

// Y = A^-1 B and G = C - B'Y of a body whose A, B and C are whole.
static void eliminate(body *b)
{
    double Y[9];
    for (int c = 0; c < 3; c++) {
        const ss_vec3 y = solve(b->A, ss_vec(b->B[c], b->B[3 + c], b->B[6 + c]));
        Y[c] = y.x;
        Y[3 + c] = y.y;
        Y[6 + c] = y.z;
    }
    for (int i = 0; i < 3; i++) {
        for (int c = 0; c < 3; c++) {
            for (int k = 0; k < 3; k++) {
                b->C[3 * i + c] -= b->B[3 * k + i] * Y[3 * k + c];
            }
        }
    }
    memcpy(b->B, Y, sizeof Y);
}

// Adds a force G a at the end of the arm d to the parent's A, B and C.
static void hang(const body *own, ss_vec3 d, body *up)
{
    double dG[9], back[9];
    cross_product(d, own->C, dG);
    for (int i = 0; i < 9; i++) {
        back[i] = dG[3 * (i % 3) + i / 3]; // -G [d]x = ([d]x G)'
        up->B[i] += dG[i];
        up->C[i] += own->C[i];
    }
    cross_product(d, back, dG); // -[d]x G [d]x
    for (int i = 0; i < 9; i++) {
        up->A[i] += dG[i];
    }
}

static void articulate(const ss_oriented *s)
{
    clear_bodies(s);
    for (int j = s->n - 1; j >= 0; j--) {
        const ss_oriented_link *l = &s->link[j];
        const ss_oriented_motion *m = &s->motion[j];
        body *own = &bodies[j];
        add_diagonal(own->A, l->across, l->spin - l->across, m->turn.c[1]);
        add_diagonal(own->A, l->mass * ss_dot(m->centre, m->centre), -l->mass, m->centre);
        add_cross(own->B, l->mass, m->centre);
        add_diagonal(own->C, l->mass, 0.0, m->centre);
        eliminate(own);
        hang(own, m->arm, &bodies[l->parent]);
    }
}

// Finds what the motion of a link asks for beside A, B and C, and the torque of its joint.
static void set_bias(const ss_oriented *s, int j, ss_quat q, const double w[3])
{
    const ss_oriented_link *l = &s->link[j];
    const ss_oriented_motion *m = &s->motion[j], *up = &s->motion[l->parent];
    body *own = &bodies[j];
    const ss_joint joint = ss_joint_at(l->rest, q);
    const ss_vec3 damped = ss_joint_damping(l->damping, w);
    const ss_vec3 Q = ss_joint_torque(&joint, l->spring), y = m->turn.c[1];
    const ss_vec3 inward = ss_scaled(l->mass, ss_cross(m->spin, ss_cross(m->spin, m->centre)));
    const ss_vec3 spun = ss_scaled((l->spin - l->across) * ss_dot(y, m->spin), y);
    const ss_vec3 gyration = ss_cross(m->spin, ss_along(spun, l->across, m->spin));
    own->t = ss_turned(&m->turn, ss_minus(Q, damped));
    own->turning = ss_cross(up->spin, ss_cross(up->spin, m->arm));
    own->extra = ss_cross(up->spin, ss_turned(&m->turn, ss_vec(w[0], w[1], w[2])));
    own->f = inward;
    own->n = ss_plus(gyration, ss_cross(m->centre, inward));
}

static void put_into(ss_vec3 x, double *to)
{
    to[0] = x.x;
    to[1] = x.y;
    to[2] = x.z;
}

static void clear_bias(const ss_oriented *s)
{
    for (int j = SS_ORIENTED_BASE; j < s->n; j++) {
        body *own = &bodies[j];
        own->t = own->turning = own->extra = own->f = own->n = ss_vec(0.0, 0.0, 0.0);
    }
}

// Finds g of (2), and what it is to the parent, from the tips to the base.
static void gather(const ss_oriented *s, const ss_oriented_load *load)
{
    for (int j = s->n - 1; j >= 0; j--) {
        body *own = &bodies[j], *up = &bodies[s->link[j].parent];
        const ss_oriented_motion *m = &s->motion[j];
        if (load != NULL) {
            const ss_vec3 moment = ss_plus(load[j].moment, ss_cross(m->centre, load[j].force));
            own->f = ss_minus(own->f, load[j].force);
            own->n = ss_minus(own->n, moment);
        }
        const ss_vec3 left = ss_minus(own->t, own->n);
        const ss_vec3 g =
            ss_plus(ss_plus(own->f, times_back(own->B, left)), times(own->C, own->turning));
        own->n = solve(own->A, left);
        up->f = ss_plus(up->f, g);
        up->n = ss_plus(up->n, ss_plus(own->t, ss_cross(m->arm, g)));
    }
}

// Finds wdot from the base, which accelerates by a and turns faster by alpha, to the tips.
// Accelerations go into s->sum: `force` holds a, `moment` alpha.
static void spread(const ss_oriented *s, ss_vec3 a, ss_vec3 alpha, double *wdot)
{
    s->sum[SS_ORIENTED_BASE] = (ss_oriented_sum){a, alpha};
    for (int j = 0; j < s->n; j++) {
        const body *own = &bodies[j];
        const ss_oriented_sum *up = &s->sum[s->link[j].parent];
        const ss_oriented_motion *m = &s->motion[j];
        const ss_vec3 at = ss_plus(up->force, ss_plus(ss_cross(up->moment, m->arm), own->turning));
        const ss_vec3 rate = ss_minus(own->n, times(own->B, at));
        const ss_vec3 relative = ss_minus(rate, ss_plus(up->moment, own->extra));
        s->sum[j] = (ss_oriented_sum){at, rate};
        put_into(ss_turned_back(&m->turn, relative), wdot + ss_oriented_rate_at(s, j));
    }
}

// Returns the acceleration at which the root joint of a tree that floats transmits no force, given
// that of the base.
static ss_vec3 float_freely(const ss_oriented *s, ss_vec3 a, ss_vec3 alpha, double *wdot)
{
    const body *base = &bodies[SS_ORIENTED_BASE];
    const ss_vec3 f = ss_plus(base->f, times_back(base->B, alpha));
    const ss_vec3 own = solve(base->C, ss_scaled(-1.0, f));
    put_into(ss_turned_back(&s->motion[SS_ORIENTED_BASE].turn, ss_minus(own, a)), wdot);
    return own;
}

void articulated_motion(const ss_oriented *s, const ss_oriented_base *base, const double *q,
                        const double *w, const ss_oriented_load *load, double *wdot)
{
    ss_oriented_move(s, base, q, w, NULL);
    articulate(s);
    for (int j = 0; j < s->n; j++) {
        set_bias(s, j, ss_quat_read(q + ss_oriented_turn_at(s, j)), w + ss_oriented_rate_at(s, j));
    }
    gather(s, load);
    const ss_oriented_motion *first = &s->motion[SS_ORIENTED_BASE];
    const ss_vec3 alpha = first->spin_rate;
    const ss_vec3 a =
        s->floats ? float_freely(s, first->acceleration, alpha, wdot) : first->acceleration;
    spread(s, a, alpha, wdot);
}

void articulated_response(const ss_oriented *s, const ss_oriented_load *load, double *wdot)
{
    const ss_vec3 none = ss_vec(0.0, 0.0, 0.0);
    clear_bias(s);
    gather(s, load);
    spread(s, s->floats ? float_freely(s, none, none, wdot) : none, none, wdot);
}
