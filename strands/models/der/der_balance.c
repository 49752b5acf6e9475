// The natural shape at which a rod rests where it is, under a load (der.h).
//
// At a given shape dE/dq is linear in the moments of the joints, Y = B (kappa - kappabar) / lbar and
// GJ (m - mbar) / lbar, and in the tensions T of the edges. Vertex k + 1 and angle k meet joint k, edge k and
// what is beyond: from a free tip on, each joint's three moments and its edge's tension are solved from the
// four rows of that vertex and that angle, and their part in the rows before is taken off. From a free root
// on, the same with the order of all things reversed. Where both ends are held, what holds the tip is taken
// to pull at nothing. Then |ebar| = |e| / (1 + T/EA), and strains lbar Y/B below those of the shape are
// natural.
//
// doc/strands.md, "Mass, clamp, damping, contact" (Balance).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "strands/models/der/der.h"

// m/s^2: a free rod whose load accelerates it by less is at rest.
#define REST_ACCELERATION 1e-6

enum { KAPPA1, KAPPA2, TWIST, TENSION, UNKNOWNS };

// x <- A^-1 x by elimination with the largest pivot of each column. A pivot of 0 gives NaN.
static void solve_rows(double A[UNKNOWNS][UNKNOWNS], double x[UNKNOWNS])
{
    for (int k = 0; k < UNKNOWNS; k++) {
        int best = k;
        for (int i = k + 1; i < UNKNOWNS; i++) {
            best = fabs(A[i][k]) > fabs(A[best][k]) ? i : best;
        }
        for (int j = 0; j < UNKNOWNS; j++) {
            const double other = A[best][j];
            A[best][j] = A[k][j];
            A[k][j] = other;
        }
        const double right = x[best];
        x[best] = x[k];
        x[k] = right;
        for (int i = k + 1; i < UNKNOWNS; i++) {
            const double share = A[i][k] / A[k][k];
            for (int j = k; j < UNKNOWNS; j++) {
                A[i][j] -= share * A[k][j];
            }
            x[i] -= share * x[k];
        }
    }
    for (int k = UNKNOWNS - 1; k >= 0; k--) {
        for (int j = k + 1; j < UNKNOWNS; j++) {
            x[k] -= A[k][j] * x[j];
        }
        x[k] /= A[k][k];
    }
}

// rest -= scale times what a unit of edge j's tension adds to dE/dq.
static void take_tension(const double *q, int j, double scale, double *rest)
{
    const ss_vec3 t = ss_unit(ss_minus(ss_der_vertex(q, j + 1), ss_der_vertex(q, j)));
    const double by[3] = {t.x, t.y, t.z};
    for (int i = 0; i < 3; i++) {
        rest[SS_DER_STRIDE * j + i] += scale * by[i];
        rest[SS_DER_STRIDE * (j + 1) + i] -= scale * by[i];
    }
}

// Y and T of joint k and of the edge beyond it (before it, where the root is free) from what rests of
// the load, which loses their part.
static void solve_joint(const ss_der *d, const double *q, int k, bool from_root, double *rest,
                        double x[UNKNOWNS])
{
    const int edge = from_root ? k - 1 : k, first = SS_DER_STRIDE * (k - 1);
    const int row[UNKNOWNS] = {from_root ? 0 : 8, from_root ? 1 : 9, from_root ? 2 : 10,
                               from_root ? 3 : 7};
    double gradient[3][11], along[8 + 3] = {0.0}, A[UNKNOWNS][UNKNOWNS];
    ss_der_gradients(d, q, k, gradient);
    const ss_vec3 t = ss_unit(ss_minus(ss_der_vertex(q, edge + 1), ss_der_vertex(q, edge)));
    const double by[3] = {t.x, t.y, t.z};
    for (int i = 0; i < 3; i++) {
        along[row[i]] = from_root ? -by[i] : by[i];
    }
    for (int i = 0; i < UNKNOWNS; i++) {
        for (int c = 0; c < 3; c++) {
            A[i][c] = gradient[c][row[i]];
        }
        A[i][TENSION] = along[row[i]];
        x[i] = rest[first + row[i]];
    }
    solve_rows(A, x);
    for (int i = 0; i < 11; i++) {
        for (int c = 0; c < 3; c++) {
            rest[first + i] -= x[c] * gradient[c][i];
        }
    }
    take_tension(q, edge, x[TENSION], rest);
}

// What is left of the load on a rod that nothing holds: the tension of edge 0, and then nothing.
static ss_status solve_free(const ss_der *d, const double *q, double *rest, double *tension,
                            ss_error *e)
{
    const ss_vec3 t = ss_unit(ss_minus(ss_der_vertex(q, 1), ss_der_vertex(q, 0)));
    *tension = ss_dot(ss_der_vertex(rest, 1), t);
    take_tension(q, 0, *tension, rest);
    const double force = REST_ACCELERATION * d->rigidity.line_density * d->length;
    bool rests = true;
    for (int k = 0; k < SS_DER_STRIDE + 3; k++) {
        rests = rests && fabs(rest[k]) <= (k == 3 ? force * d->length : force);
    }
    return rests ? SS_OK
                 : ss_fail(e, SS_BAD_INPUT,
                           "a rod that nothing holds cannot rest under a load that moves it: clamp "
                           "its root, or let it begin unsettled");
}

// Y [3] of each joint and T of each edge, number j of both at unknown[4 j].
static ss_status solve_all(const ss_der *d, const double *q, double *rest, double *unknown,
                           ss_error *e)
{
    const bool from_root = d->clamp == SS_CLAMP_TIP;
    for (int i = 1; i < d->n; i++) {
        const int k = from_root ? i : d->n - i, edge = from_root ? k - 1 : k;
        double x[UNKNOWNS];
        solve_joint(d, q, k, from_root, rest, x);
        memcpy(unknown + UNKNOWNS * k, x, 3 * sizeof *x);
        unknown[UNKNOWNS * edge + TENSION] = x[TENSION];
    }
    return d->clamp == SS_CLAMP_NONE ? solve_free(d, q, rest, unknown + TENSION, e) : SS_OK;
}

// The natural shape, given the present strains in its place.
static bool set_natural(ss_der *d, const double *unknown)
{
    bool sound = true;
    for (int j = 0; j < d->n; j++) {
        const double strain = unknown[UNKNOWNS * j + TENSION] / d->rigidity.stretch;
        d->edge[j] = d->edge[j] / (1.0 + strain) + d->more[0][j];
        d->inverse_edge[j] = 1.0 / d->edge[j];
        sound = sound && strain > -1.0 && d->edge[j] > 0.0;
    }
    const double stiff[3] = {d->rigidity.bend2, d->rigidity.bend1, d->rigidity.twist};
    for (int j = 1; j < d->n; j++) {
        const double length = 0.5 * (d->edge[j - 1] + d->edge[j]);
        double strain[3];
        d->inverse_length[j] = 1.0 / length;
        for (int c = 0; c < 3; c++) {
            strain[c] = length * unknown[UNKNOWNS * j + c] / stiff[c];
            sound = sound && isfinite(strain[c]);
        }
        d->twist[j] += d->more[1][j] - strain[TWIST];
        for (int c = 0; c < (d->two_frame ? 4 : 2); c++) {
            d->bend[c][j] += d->more[2 + c][j] - strain[c % 2];
        }
    }
    return sound;
}

ss_status ss_der_balance(void *strand, const double *q, const double *load, ss_error *e)
{
    ss_der *d = strand;
    const size_t dofs = (size_t)ss_der_dofs(d);
    double *rest = calloc(dofs + UNKNOWNS * (size_t)d->n, sizeof *rest), *unknown = rest + dofs;
    if (rest == NULL) {
        return ss_fail_memory(e, "the natural shape of a strand");
    }
    memcpy(rest, load, dofs * sizeof *rest);
    ss_status status = solve_all(d, q, rest, unknown, e);
    if (status == SS_OK) {
        ss_der_strains(d, q, d->edge, d->twist, d->bend);
        for (int j = d->n; j < d->room; j++) {
            d->edge[j] = 0.0;
        }
        if (!set_natural(d, unknown)) {
            status =
                ss_fail(e, SS_BAD_INPUT,
                        "no natural shape carries the load of a strand of the model der: use a "
                        "stiffer material or let it begin unsettled");
        }
    }
    free(rest);
    return status;
}
