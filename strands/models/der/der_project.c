// Steps of a rod that keeps its lengths by projection [G07], with its angles at rest (der.h).
//
// Vertices go where explicit forces take them. C_i = |e_i|^2 - |ebar_i|^2 is then made 0 by steps
//
//     (dC W dC') y = C,   x -= W dC' y,   W inverse masses, 0 of held vertices
//
// dC row i being -2 e_i at i and 2 e_i at i + 1: a tridiagonal matrix. The angles are where dE/dth vanishes
// for those vertices, by Newton's method with the squares of the strains, a tridiagonal matrix too. M is
// then that of particles, or with impulses=inextensible, as for chains, particles and stiff springs along
// the edges: those of chain.c.
//
// doc/strands.md, "Mass, clamp, damping, contact" (Projected variant).
#include <math.h>
#include <string.h>

#include "strands/models/der/der.h"

#define MOST_PASSES 100
#define TOLERANCE   1e-6 // of C, in |ebar|^2
#define MOST_TURNS  20
#define ANGLE       1e-10 // rad: what an angle at rest may be off
// Share of a mass over the springs that impulses meet; smaller ones cost digits of M.
#define COMPLIANCE 1e-8

// Solves a symmetric tridiagonal system in place: x becomes the solution, `over` (beside[k] couples k and
// k + 1) is used up.
static void solve_tridiagonal(int n, double *diagonal, double *over, double *x)
{
    for (int k = 1; k < n; k++) {
        const double share = over[k - 1] / diagonal[k - 1];
        diagonal[k] -= share * over[k - 1];
        x[k] -= share * x[k - 1];
        over[k - 1] = share;
    }
    x[n - 1] /= diagonal[n - 1];
    for (int k = n - 2; k >= 0; k--) {
        x[k] = x[k] / diagonal[k] - over[k] * x[k + 1];
    }
}

static ss_vec3 edge_of(const double *q, int j)
{
    return ss_minus(ss_der_vertex(q, j + 1), ss_der_vertex(q, j));
}

// Inverse mass of vertex i.
static double mobility(const ss_der *d, int i)
{
    const bool held =
        (ss_clamps_root(d->clamp) && i < 2) || (ss_clamps_tip(d->clamp) && i > d->n - 2);
    const double share = (i > 0 ? d->share[i - 1] : 0.0) + (i < d->n ? d->share[i] : 0.0);
    return held ? 0.0 : 2.0 / (share * d->length * d->rigidity.line_density);
}

static bool is_stiff(const ss_der *d, int j)
{
    return mobility(d, j) + mobility(d, j + 1) > 0.0;
}

// C and dC W dC' at x; the largest |C| over |ebar|^2. Edges between held vertices ask nothing.
static double form_lengths(const ss_der *d, const double *x, double *diagonal, double *over,
                           double *C)
{
    double most = 0.0;
    for (int j = 0; j < d->n; j++) {
        const ss_vec3 e = edge_of(x, j);
        const double rest = d->edge[j] * d->edge[j], length = ss_dot(e, e);
        const bool stiff = is_stiff(d, j);
        C[j] = stiff ? length - rest : 0.0;
        diagonal[j] = stiff ? 4.0 * length * (mobility(d, j) + mobility(d, j + 1)) : 1.0;
        over[j] = 0.0;
        if (j + 1 < d->n && stiff && is_stiff(d, j + 1)) {
            over[j] = -4.0 * mobility(d, j + 1) * ss_dot(e, edge_of(x, j + 1));
        }
        const double off = fabs(C[j]) / rest;
        most = off > most || isnan(off) ? off : most;
    }
    return most;
}

static void correct(const ss_der *d, const double *y, double *x)
{
    ss_vec3 e = edge_of(x, 0);
    for (int j = 0; j < d->n; j++) {
        const ss_vec3 next = j + 1 < d->n ? edge_of(x, j + 1) : e;
        const double pull[3] = {2.0 * e.x * y[j], 2.0 * e.y * y[j], 2.0 * e.z * y[j]};
        for (int k = 0; k < 3; k++) {
            x[SS_DER_STRIDE * j + k] += mobility(d, j) * pull[k];
            x[SS_DER_STRIDE * (j + 1) + k] -= mobility(d, j + 1) * pull[k];
        }
        e = next;
    }
}

// Vertices of x to where all lengths are right. False where that fails.
static bool keep_lengths(const ss_der *d, double *x)
{
    double *diagonal = d->scratch + ss_der_dofs(d) + 4 * d->n, *over = diagonal + d->n;
    double *y = over + d->n;
    double off = form_lengths(d, x, diagonal, over, y);
    for (int pass = 0; pass < MOST_PASSES && off > TOLERANCE; pass++) {
        solve_tridiagonal(d->n, diagonal, over, y);
        correct(d, y, x);
        off = form_lengths(d, x, diagonal, over, y);
    }
    return off <= TOLERANCE;
}

// Angles of q that are not held, to where the energy is least.
static void rest_angles(const ss_der *d, double *q)
{
    double *diagonal = d->scratch + ss_der_dofs(d) + 4 * d->n, *over = diagonal + d->n;
    double *torque = over + d->n, most = INFINITY;
    const int first = ss_clamps_root(d->clamp) ? 1 : 0;
    const int end = ss_clamps_tip(d->clamp) ? d->n - 1 : d->n;
    for (int turn = 0; turn < MOST_TURNS && most > ANGLE; turn++) {
        ss_der_angles(d, q, torque, diagonal, over);
        // What nothing holds may turn as a whole: the shift is far below any other stiffness.
        for (int j = first; j < end; j++) {
            diagonal[j] *= 1.0 + 1e-12;
        }
        solve_tridiagonal(end - first, diagonal + first, over + first, torque + first);
        most = 0.0;
        for (int j = first; j < end; j++) {
            q[SS_DER_STRIDE * j + 3] += torque[j];
            most = fmax(most, fabs(torque[j]));
        }
    }
}

// M += scale t t' along edge j.
static void couple(const double *q, int j, double scale, ss_band *M)
{
    const ss_vec3 t = ss_unit(edge_of(q, j));
    const double by[3] = {t.x, t.y, t.z};
    const int at = SS_DER_STRIDE * j, next = at + SS_DER_STRIDE;
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 3; i++) {
            const double x = scale * by[i] * by[k];
            *ss_band_at(M, next + i, at + k) -= x;
            if (i >= k) {
                *ss_band_at(M, at + i, at + k) += x;
                *ss_band_at(M, next + i, next + k) += x;
            }
        }
    }
}

void ss_der_project(const void *strand, const double *q, double h, double *v, double *after,
                    ss_band *M)
{
    const ss_der *d = strand;
    const int nv = ss_der_dofs(d);
    double *moved = d->scratch;
    memset(after, 0, (size_t)nv * sizeof *after);
    for (int k = 0; k < nv; k++) {
        moved[k] = q[k] + h * v[k];
    }
    if (!keep_lengths(d, moved)) {
        v[nv - 1] = NAN; // the step is rejected
        return;
    }
    for (int k = 0; k < nv; k++) {
        v[k] = k % SS_DER_STRIDE == 3 ? v[k] : (moved[k] - q[k]) / h;
    }
    // Angles of what is free start from where they were.
    for (int j = 0; j < d->n; j++) {
        const bool held =
            (ss_clamps_root(d->clamp) && j == 0) || (ss_clamps_tip(d->clamp) && j == d->n - 1);
        v[SS_DER_STRIDE * j + 3] = held ? v[SS_DER_STRIDE * j + 3] : 0.0;
    }
    ss_der_advance(d, q, v, h, moved);
    rest_angles(d, moved);
    for (int j = 0; j < d->n; j++) {
        const int th = SS_DER_STRIDE * j + 3;
        v[th] = (moved[th] - q[th]) / h;
    }
    const double mass = d->length * d->rigidity.line_density / (d->n + 1);
    for (int j = 0; j < d->n && d->inextensible; j++) {
        if (is_stiff(d, j)) {
            couple(moved, j, mass / COMPLIANCE, M);
        }
    }
}
