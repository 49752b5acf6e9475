// Factors of bodies with few dofs: what they solve, and that numbers do not depend on what is solved
// together.
#include <math.h>
#include <string.h>

#include "problems/matrix/mass.h"
#include "base/random.h"
#include "tests/support/support.h"

enum { MOST = 20, WIDEST = 43 };

// B B' + I with random B, and its factor.
static void draw(ss_random *g, int m, double *A, double *L)
{
    double B[MOST * MOST];
    for (int k = 0; k < m * m; k++) {
        B[k] = ss_random_normal(g);
    }
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < m; j++) {
            double sum = i == j ? 1.0 : 0.0;
            for (int k = 0; k < m; k++) {
                sum += B[i * m + k] * B[j * m + k];
            }
            A[i * m + j] = sum;
        }
    }
    memcpy(L, A, (size_t)(m * m) * sizeof *L);
    CHECK(ss_dense_factor(L, m) == -1);
}

static void draw_vector(ss_random *g, int n, double *x)
{
    for (int k = 0; k < n; k++) {
        x[k] = ss_random_normal(g);
    }
}

static void whitened_columns_have_the_bits_of_each_alone(void)
{
    ss_random g = ss_random_seeded(1);
    double A[MOST * MOST], L[MOST * MOST], X[MOST * WIDEST], Y[MOST * WIDEST], one[MOST];
    for (int m = 1; m <= MOST; m += 3) {
        draw(&g, m, A, L);
        for (int k = 1; k <= WIDEST; k++) {
            draw_vector(&g, m * k, X);
            memcpy(Y, X, (size_t)(m * k) * sizeof *Y);
            ss_dense_whiten(L, m, Y, k);
            for (int c = 0; c < k; c++) {
                for (int i = 0; i < m; i++) {
                    one[i] = X[i * k + c];
                }
                ss_dense_whiten(L, m, one, 1);
                for (int i = 0; i < m; i++) {
                    CHECK(one[i] == Y[i * k + c]);
                }
            }
        }
    }
}

static void four_bodies_have_the_bits_and_the_answer_of_each(void)
{
    ss_random g = ss_random_seeded(2);
    double A[4][MOST * MOST], L[4][MOST * MOST], b[4][MOST], x[4][MOST], one[MOST];
    for (int m = 1; m <= MOST; m++) {
        for (int k = 0; k < 4; k++) {
            draw(&g, m, A[k], L[k]);
            draw_vector(&g, m, b[k]);
            memcpy(x[k], b[k], sizeof x[k]);
        }
        const double *factors[4] = {L[0], L[1], L[2], L[3]};
        double *vectors[4] = {x[0], x[1], x[2], x[3]};
        ss_dense_solve_four(factors, factors, m, vectors);
        for (int k = 0; k < 4; k++) {
            memcpy(one, b[k], (size_t)m * sizeof *one);
            ss_dense_whiten(L[k], m, one, 1);
            ss_dense_unwhiten(L[k], m, one, 1);
            for (int i = 0; i < m; i++) {
                double left = b[k][i];
                for (int j = 0; j < m; j++) {
                    left -= A[k][i * m + j] * x[k][j];
                }
                CHECK(one[i] == x[k][i]);
                CHECK_LE(fabs(left), 1e-11);
            }
        }
    }
}

static void run_tests(void)
{
    RUN_TEST(whitened_columns_have_the_bits_of_each_alone);
    RUN_TEST(four_bodies_have_the_bits_and_the_answer_of_each);
}

const test_group dense_tests = {.run = run_tests};
