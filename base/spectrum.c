// base/spectrum.c -- Jacobi's method: plane rotations until A is diagonal.
//
// The rotation by the angle phi in the plane (p, q) makes A_pq zero where
//
//     t = tan phi = sign(h) / (|h| + sqrt(h^2 + 1)),    h = (A_qq - A_pp) / (2 A_pq)           (1)
//
// which takes the smaller of the two angles. Sweeps over all planes converge quadratically.
#include "base/spectrum.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/assert.h"

#define N SS_SPECTRUM_LARGEST

// Six to eight are usual; the bound is for matrices that hold a NaN.
#define MAX_SWEEPS 30

// A_pq below this share of sqrt(A_pp A_qq) moves no eigenvalue by a bit.
#define NEGLIGIBLE 1e-17

static bool negligible(double A[N][N], int p, int q)
{
    return fabs(A[p][q]) <= NEGLIGIBLE * sqrt(fabs(A[p][p] * A[q][q]));
}

// Turns rows p and q of B by the angle whose cosine and sine are c and s.
static void rotate_rows(int n, double B[N][N], int p, int q, double c, double s)
{
    double *restrict x = B[p], *restrict y = B[q];
    for (int k = 0; k < n; k++) {
        const double turned = c * x[k] - s * y[k];
        y[k] = s * x[k] + c * y[k];
        x[k] = turned;
    }
}

static void spectrum_eliminate(int n, double A[N][N], double Q[N][N], int p, int q)
{
    const double h = (A[q][q] - A[p][p]) / (2.0 * A[p][q]);
    const double t = (h < 0.0 ? -1.0 : 1.0) / (fabs(h) + sqrt(h * h + 1.0));
    const double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
    const double app = A[p][p] - t * A[p][q], aqq = A[q][q] + t * A[p][q];
    rotate_rows(n, A, p, q, c, s);
    rotate_rows(n, Q, p, q, c, s);
    for (int k = 0; k < n; k++) {
        A[k][p] = A[p][k];
        A[k][q] = A[q][k];
    }
    A[p][p] = app;
    A[q][q] = aqq;
    A[p][q] = A[q][p] = 0.0;
}

static bool spectrum_sweep(int n, double A[N][N], double Q[N][N])
{
    bool moved = false;
    for (int p = 0; p < n; p++) {
        for (int q = p + 1; q < n; q++) {
            if (!negligible(A, p, q)) {
                spectrum_eliminate(n, A, Q, p, q);
                moved = true;
            }
        }
    }
    return moved;
}

ss_spectrum ss_spectrum_of(int n, const double *symmetric)
{
    ss_assert(1 <= n && n <= N);
    ss_spectrum s = {.n = n};
    double A[N][N];
    for (int i = 0; i < n; i++) {
        memcpy(A[i], symmetric + i * n, (size_t)n * sizeof(double));
        s.Q[i][i] = 1.0;
    }
    bool moved = true;
    for (int k = 0; k < MAX_SWEEPS && moved; k++) {
        moved = spectrum_sweep(n, A, s.Q);
    }
    s.lowest = s.highest = A[0][0];
    for (int k = 0; k < n; k++) {
        s.lambda[k] = A[k][k];
        s.lowest = fmin(s.lowest, A[k][k]);
        s.highest = fmax(s.highest, A[k][k]);
    }
    return s;
}

void ss_spectrum_matrix(const ss_spectrum *s, const double *value, double *A)
{
    const int n = s->n;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = 0.0;
            for (int k = 0; k < n; k++) {
                sum += value[k] * s->Q[k][i] * s->Q[k][j];
            }
            A[i * n + j] = A[j * n + i] = sum;
        }
    }
}

double ss_spectrum_shift(const ss_spectrum *s, double condition)
{
    return (s->highest - condition * s->lowest) / (condition - 1.0);
}
