// Energy, gradient and Hessian of a rod with directors, SS_CORDE_LANES edges side by side (corde.h).
//
// Edge j, with t = e/|e|, d = R(p) aim, c = t.d, tau = R(p)'t, l its natural length, K = kappa_p l:
//
//     V_s = EA l/2 (|e|/l - 1)^2,   V_p = K/2 |t - d|^2
//     dV_p/de = -K (d - c t)/|e|,   d - c t = t x R (aim x tau)
//     dV_p/dphi = -K aim x tau           both of one rounded tilt, so that its error pulls at nothing
//     ee  K [sym(d, t) + c (I - 3 t t')]/|e|^2      e phi  K (I - t t') R [aim]x/|e|
//     phi phi  -K [sym(tau, aim)/2 - tau.aim I]
//
// of which the squares of first derivatives are what these are for aim = tau. Joint j, between the edges
// j - 1 and j, with rho = conj(p_{j-1}) o p_j = (r0, rv), r0 >= 0, and w_k = K_k / l, K = (EI1, EI2, GJ):
//
//     V_b = sum_k w_k/2 (2 rv_k - strain_k)^2,   m_k = w_k (2 rv_k - strain_k)
//     A = -(r0 I - [rv]x), B = r0 I + [rv]x: the derivatives of 2 rv by phi_{j-1} and phi_j
//     dV_b = (A'm, B'm),   D2 V_b = (A B)' diag(w) (A B) + [[Y, X], [X', Y]]
//     Y = -(m.rv) I/2,     X = -[(m.rv) I - rv m' - m rv' - r0 [m]x]/2
//
// Number j of a lane is edge j and the joint before it.
//
// doc/strands.md, "CoRdE energies", "CoRdE gradients and Hessians".
#include <string.h>

#include "strands/models/corde/corde.h"
#include "problems/tangle/spectrum.h"

#define LANES SS_CORDE_LANES
#include "strands/lanes.h"

// Eigenvalues below this share of the largest are 0.
#define ZERO_SHARE 1e-12

// The last lane of `before`, then all but the last of `now`.
static lanes shifted(lanes before, lanes now)
{
    return __builtin_shufflevector(before, now, 7, 8, 9, 10, 11, 12, 13, 14);
}

// Edges side by side.
typedef struct edges {
    lanes pw;
    lane3 pv;         // the quaternions
    lane3 d1, d2, d3; // the directors
    lane3 t, tau;
    lanes length, inverse; // |e|, 1 / |e|
} edges;

static void find_directors(edges *f)
{
    const lanes x = f->pv.x, y = f->pv.y, z = f->pv.z, w = f->pw;
    f->d1 = (lane3){1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)};
    f->d2 = (lane3){2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)};
    f->d3 = (lane3){2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)};
}

// Edges from .. from + LANES - 1; beyond the ends, the nearest one.
static edges edges_at(const ss_corde *d, const double *q, int from)
{
    edges f;
    lane3 e;
    for (int l = 0; l < LANES; l++) {
        const int k = from + l < 0 ? 0 : from + l, j = k < d->n ? k : d->n - 1;
        const double *x = q + SS_CORDE_PLACE * j;
        e.x[l] = x[7] - x[0];
        e.y[l] = x[8] - x[1];
        e.z[l] = x[9] - x[2];
        f.pw[l] = x[3];
        f.pv.x[l] = x[4];
        f.pv.y[l] = x[5];
        f.pv.z[l] = x[6];
    }
    find_directors(&f);
    f.length = lanes_root(lane3_dot(e, e));
    f.inverse = 1.0 / f.length;
    f.t = lane3_scaled(f.inverse, e);
    f.tau = (lane3){lane3_dot(f.t, f.d1), lane3_dot(f.t, f.d2), lane3_dot(f.t, f.d3)};
    return f;
}

// Where the last lane of edges before `from` would be: all that a joint needs of it.
static edges edges_before(const ss_corde *d, const double *q)
{
    return edges_at(d, q, -LANES);
}

// The joints before the edges `f`.
typedef struct joints {
    lanes r0;
    lane3 rv;
    lane3 m, w; // moments, and K / l
} joints;

static joints joints_between(const ss_corde *d, const edges *before, const edges *f, int from)
{
    const lanes a = shifted(before->pw, f->pw);
    const lane3 b = {shifted(before->pv.x, f->pv.x), shifted(before->pv.y, f->pv.y),
                     shifted(before->pv.z, f->pv.z)};
    joints s = {.r0 = a * f->pw + lane3_dot(b, f->pv)};
    s.rv = lane3_minus(lane3_along(lane3_scaled(a, f->pv), -f->pw, b), lane3_cross(b, f->pv));
    for (int l = 0; l < LANES; l++) {
        const double sign = s.r0[l] < 0.0 ? -1.0 : 1.0;
        s.r0[l] *= sign;
        s.rv.x[l] *= sign;
        s.rv.y[l] *= sign;
        s.rv.z[l] *= sign;
    }
    const lanes inverse = lanes_of(d->inverse_length + from);
    s.w = (lane3){d->rigidity.bend1 * inverse, d->rigidity.bend2 * inverse,
                  d->rigidity.twist * inverse};
    s.m = (lane3){s.w.x * (2.0 * s.rv.x - lanes_of(d->strain[0] + from)),
                  s.w.y * (2.0 * s.rv.y - lanes_of(d->strain[1] + from)),
                  s.w.z * (2.0 * s.rv.z - lanes_of(d->strain[2] + from))};
    return s;
}

static lane3 aim_of(const ss_corde *d, int from)
{
    return (lane3){lanes_of(d->aim[0] + from), lanes_of(d->aim[1] + from),
                   lanes_of(d->aim[2] + from)};
}

// R a
static lane3 turned(const edges *f, lane3 a)
{
    return lane3_along(lane3_along(lane3_scaled(a.x, f->d1), a.y, f->d2), a.z, f->d3);
}

// kappa_p l
static lanes parallel_weight(const ss_corde *d, int from)
{
    return d->parallel * lanes_of(d->edge + from);
}

static lanes stretch_of(const ss_corde *d, const edges *f, int from)
{
    return f->length * lanes_of(d->inverse_edge + from) - 1.0;
}

// ---- Energy

double ss_corde_energy(const void *strand, const double *q)
{
    const ss_corde *d = strand;
    edges before = edges_before(d, q);
    double sum = 0.0;
    for (int from = 0; from < d->n; from += LANES) {
        const edges f = edges_at(d, q, from);
        const joints s = joints_between(d, &before, &f, from);
        const lane3 off = lane3_minus(f.t, turned(&f, aim_of(d, from)));
        const lane3 strain = {2.0 * s.rv.x - lanes_of(d->strain[0] + from),
                              2.0 * s.rv.y - lanes_of(d->strain[1] + from),
                              2.0 * s.rv.z - lanes_of(d->strain[2] + from)};
        const lanes stretch = stretch_of(d, &f, from);
        const lanes all = d->rigidity.stretch * lanes_of(d->edge + from) * stretch * stretch +
                          parallel_weight(d, from) * lane3_dot(off, off) + lane3_dot(s.m, strain);
        for (int l = 0; l < LANES; l++) {
            sum += all[l];
        }
        before = f;
    }
    return 0.5 * sum;
}

// ---- Forces

// To the dofs from p_{j-1} on: torques at both p of the joint, and the force of the edge.
static void add_forces(const lane3 *at0, const lane3 *at1, const lane3 *g, int from, int end,
                       double *F)
{
    for (int l = 0; l < LANES && from + l < end; l++) {
        double *r = F + SS_CORDE_DOFS * (from + l);
        if (from + l > 0) {
            r[-3] -= at0->x[l];
            r[-2] -= at0->y[l];
            r[-1] -= at0->z[l];
        }
        r[0] += g->x[l];
        r[1] += g->y[l];
        r[2] += g->z[l];
        r[3] -= at1->x[l];
        r[4] -= at1->y[l];
        r[5] -= at1->z[l];
        r[6] -= g->x[l];
        r[7] -= g->y[l];
        r[8] -= g->z[l];
    }
}

// F -= omega x I omega
static void add_gyroscopic(const ss_corde *d, const double *v, double *F)
{
    for (int j = 0; j < d->n; j++) {
        const double *u = v + SS_CORDE_DOFS * j + 3, length = d->share[j] * d->length;
        double *to = F + SS_CORDE_DOFS * j + 3;
        const double *I = d->spin;
        to[0] -= length * (I[2] - I[1]) * u[1] * u[2];
        to[1] -= length * (I[0] - I[2]) * u[2] * u[0];
        to[2] -= length * (I[1] - I[0]) * u[0] * u[1];
    }
}

void ss_corde_force(const void *strand, const double *q, const double *v, double *F)
{
    const ss_corde *d = strand;
    edges before = edges_before(d, q);
    for (int from = 0; from < d->n; from += LANES) {
        const edges f = edges_at(d, q, from);
        const joints s = joints_between(d, &before, &f, from);
        const lane3 tilt = lane3_cross(aim_of(d, from), f.tau);
        const lanes K = parallel_weight(d, from);
        const lane3 across = lane3_cross(f.t, turned(&f, tilt));
        const lane3 g =
            lane3_along(lane3_scaled(d->rigidity.stretch * stretch_of(d, &f, from), f.t),
                        -K * f.inverse, across);
        const lane3 bent = lane3_scaled(s.r0, s.m), turn = lane3_cross(s.rv, s.m);
        const lanes none = {0.0};
        const lane3 zero = {none, none, none};
        const lane3 at0 = lane3_minus(lane3_minus(zero, bent), turn);
        const lane3 at1 = lane3_along(lane3_minus(bent, turn), -K, tilt);
        add_forces(&at0, &at1, &g, from, d->n, F);
        before = f;
    }
    add_gyroscopic(d, v, F);
}

// ---- Stiffness

static void components(lane3 a, lanes x[3])
{
    x[0] = a.x;
    x[1] = a.y;
    x[2] = a.z;
}

// Of a joint: rows and columns phi_{j-1}, phi_j. `curved`: also what the second derivatives give.
static void joint_matrix(const joints *s, bool curved, lanes H[6][6])
{
    const lanes r0 = s->r0;
    lanes rv[3], m[3], w[3];
    components(s->rv, rv);
    components(s->m, m);
    components(s->w, w);
    const lanes none = {0.0};
    // Row k of [rv]x.
    const lanes X[3][3] = {{none, -rv[2], rv[1]}, {rv[2], none, -rv[0]}, {-rv[1], rv[0], none}};
    lanes G[3][6]; // (A B)
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 3; i++) {
            G[k][i] = i == k ? X[k][i] - r0 : X[k][i];
            G[k][3 + i] = i == k ? X[k][i] + r0 : X[k][i];
        }
    }
    for (int i = 0; i < 6; i++) {
        const lanes a = w[0] * G[0][i], b = w[1] * G[1][i], c = w[2] * G[2][i];
        for (int j = 0; j <= i; j++) {
            H[i][j] = a * G[0][j] + b * G[1][j] + c * G[2][j];
        }
    }
    if (curved) {
        const lanes half = 0.5 * lane3_dot(s->m, s->rv);
        const lanes cross[3][3] = {{none, -m[2], m[1]}, {m[2], none, -m[0]}, {-m[1], m[0], none}};
        for (int i = 0; i < 3; i++) {
            H[i][i] -= half;
            H[3 + i][3 + i] -= half;
            for (int j = 0; j < 3; j++) { // X' below the diagonal
                const lanes x = 0.5 * (rv[j] * m[i] + m[j] * rv[i] + r0 * cross[j][i]);
                H[3 + i][j] += i == j ? x - half : x;
            }
        }
    }
}

// V_p of an edge whose aim is `aim`: rows and columns e, phi.
static void parallel_matrix(const edges *f, lane3 aim, lanes K, lanes H[6][6])
{
    const lane3 d = turned(f, aim);
    const lanes c = lane3_dot(f->t, d), with = lane3_dot(f->tau, aim);
    const lanes first = K * f->inverse * f->inverse, second = K * f->inverse;
    lanes t[3], dd[3], tau[3], a[3];
    components(f->t, t);
    components(d, dd);
    components(f->tau, tau);
    components(aim, a);
    // Columns of R [aim]x, without their parts along t.
    lane3 across[3] = {lane3_along(lane3_scaled(aim.z, f->d2), -aim.y, f->d3),
                       lane3_along(lane3_scaled(aim.x, f->d3), -aim.z, f->d1),
                       lane3_along(lane3_scaled(aim.y, f->d1), -aim.x, f->d2)};
    for (int k = 0; k < 3; k++) {
        lanes x[3];
        components(lane3_along(across[k], -lane3_dot(across[k], f->t), f->t), x);
        for (int i = 0; i < 3; i++) {
            H[3 + k][i] = second * x[i];
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j <= i; j++) {
            const lanes x = dd[i] * t[j] + t[i] * dd[j] - 3.0 * c * t[i] * t[j];
            const lanes y = -0.5 * (tau[i] * a[j] + a[i] * tau[j]);
            H[i][j] = first * (i == j ? x + c : x);
            H[3 + i][3 + j] = K * (i == j ? y + with : y);
        }
    }
}

// += EA [tt'/l + across (I - tt')]
static void add_stretch(const ss_corde *d, const edges *f, int from, lanes across, lanes H[6][6])
{
    const lanes first = d->rigidity.stretch * (lanes_of(d->inverse_edge + from) - across);
    lanes t[3];
    components(f->t, t);
    across *= d->rigidity.stretch;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j <= i; j++) {
            H[i][j] += i == j ? first * t[i] * t[j] + across : first * t[i] * t[j];
        }
    }
}

// Each matrix without what is negative in it.
static void clamp_matrices(lanes H[6][6])
{
    for (int l = 0; l < LANES; l++) {
        double A[36], value[6];
        for (int i = 0; i < 6; i++) {
            for (int j = 0; j <= i; j++) {
                A[6 * i + j] = A[6 * j + i] = H[i][j][l];
            }
        }
        const ss_spectrum s = ss_spectrum_of(6, A);
        for (int k = 0; k < 6; k++) {
            value[k] = s.lambda[k] > ZERO_SHARE * s.highest ? s.lambda[k] : 0.0;
        }
        ss_spectrum_matrix(&s, value, A);
        for (int i = 0; i < 6; i++) {
            for (int j = 0; j <= i; j++) {
                H[i][j][l] = A[6 * i + j];
            }
        }
    }
}

// The joints, to the dofs of both p.
static void add_joints(lanes H[6][6], int from, int end, double scale, ss_band *A)
{
    for (int l = from > 0 ? 0 : 1; l < LANES && from + l < end; l++) {
        const int first = SS_CORDE_DOFS * (from + l) - 3;
        for (int j = 0; j < 6; j++) {
            const int c = j < 3 ? first + j : first + 3 + j;
            double *column = ss_band_at(A, c, c);
            for (int i = j; i < 6; i++) {
                const int down = j < 3 && i >= 3 ? i - j + 3 : i - j;
                column[down] += scale * H[i][j][l];
            }
        }
    }
}

// The edges, to r_j, p_j and r_{j+1}: e is their difference.
static void add_edges(lanes H[6][6], int from, int end, double scale, ss_band *A)
{
    for (int l = 0; l < LANES && from + l < end; l++) {
        double *r = ss_band_at(A, SS_CORDE_DOFS * (from + l), SS_CORDE_DOFS * (from + l));
        const int next = A->half + 1;
        for (int j = 0; j < 3; j++, r += next) {
            double *p = r + 3 * next, *s = r + 6 * next;
            for (int i = 0; i < 3; i++) {
                const double ee = scale * (i >= j ? H[i][j][l] : H[j][i][l]);
                const double ephi = scale * H[3 + i][j][l];
                r[3 + i - j] -= ephi;
                r[6 + i - j] -= ee;
                p[3 + i - j] += scale * H[3 + j][i][l];
                if (i >= j) {
                    r[i - j] += ee;
                    p[i - j] += scale * H[3 + i][3 + j][l];
                    s[i - j] += ee;
                }
            }
        }
    }
}

bool ss_corde_stiffness(const void *strand, const double *q, ss_stiffness kind, double scale,
                        ss_band *A)
{
    const ss_corde *d = strand;
    const bool squares = kind == SS_STIFFNESS_GAUSS_NEWTON;
    edges before = edges_before(d, q);
    for (int from = 0; from < d->n; from += LANES) {
        const edges f = edges_at(d, q, from);
        const joints s = joints_between(d, &before, &f, from);
        const lanes across = lanes_of(d->inverse_edge + from) - f.inverse;
        lanes joint[6][6], edge[6][6];
        joint_matrix(&s, !squares, joint);
        parallel_matrix(&f, squares ? f.tau : aim_of(d, from), parallel_weight(d, from), edge);
        if (kind == SS_STIFFNESS_FILTERED) {
            clamp_matrices(joint);
            clamp_matrices(edge);
        }
        add_stretch(d, &f, from, kind == SS_STIFFNESS_EXACT ? across : lanes_above_zero(across),
                    edge);
        add_joints(joint, from, d->n, scale, A);
        add_edges(edge, from, d->n, scale, A);
        before = f;
    }
    return true;
}

// Kelvin and Voigt: a moment is relaxation times stiffness times the rate of its strain. Lengths and what
// holds the directors along the edges are not damped, as of rods (der_stiffness.c).
void ss_corde_damping(const void *strand, const double *q, double scale, ss_band *A)
{
    const ss_corde *d = strand;
    edges before = edges_before(d, q);
    for (int from = 0; from < d->n && d->relaxation > 0.0; from += LANES) {
        const edges f = edges_at(d, q, from);
        const joints s = joints_between(d, &before, &f, from);
        lanes joint[6][6];
        joint_matrix(&s, false, joint);
        add_joints(joint, from, d->n, scale * d->relaxation, A);
        before = f;
    }
}
