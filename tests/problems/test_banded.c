// tests/problems/test_banded.c -- band matrices: factors and solutions multiplied back, and the inverse.
#include <stdlib.h>
#include <string.h>

#include "problems/matrix/banded.h"
#include "base/random.h"
#include "tests/support/support.h"

typedef struct band {
    ss_banded M, L;
    ss_random g;
} band;

// Diagonally dominant.
static band new_band(int n, int half)
{
    band b = {.g = ss_random_seeded((uint64_t)(100 * n + half))};
    CHECK(ss_banded_init(&b.M, n, half) && ss_banded_init(&b.L, n, half));
    for (int j = 0; j < n; j++) {
        *ss_banded_at(&b.M, j, j) = 2.0 * half + 1.0 + ss_random_uniform(&b.g);
        for (int i = j + 1; i < n && i <= j + half; i++) {
            *ss_banded_at(&b.M, i, j) = ss_random_between(&b.g, -1.0, 1.0);
        }
    }
    memcpy(b.L.x, b.M.x, (size_t)n * (size_t)(half + 1) * sizeof *b.L.x);
    CHECK(ss_banded_factor(&b.L, 1) == -1);
    return b;
}

static void free_band(band *b)
{
    ss_banded_free(&b->M);
    ss_banded_free(&b->L);
}

static double entry(const ss_banded *A, int i, int j)
{
    const int low = i < j ? i : j, high = i < j ? j : i;
    return high - low <= A->half ? *ss_banded_at(A, high, low) : 0.0;
}

static const int SIZES[][2] = {{1, 0},  {1, 3},  {5, 10},  {11, 10}, {40, 10},
                               {30, 1}, {25, 7}, {40, 11}, {520, 10}};
#define COUNT (int)(sizeof SIZES / sizeof SIZES[0])

// M x = y of three rows, of which the first `first` entries of y are 0.
static void solutions_multiply_back(void)
{
    for (int k = 0; k < COUNT; k++) {
        const int n = SIZES[k][0], first = n / 3;
        band b = new_band(n, SIZES[k][1]);
        for (int rows = 1; rows <= 3; rows++) {
            const size_t length = (size_t)n + 3;
            double *y = calloc(3 * length, sizeof *y), *x = calloc(3 * length, sizeof *x);
            for (int c = 0; c < rows; c++) {
                for (int j = first; j < n; j++) {
                    y[(size_t)c * length + (size_t)j] = ss_random_normal(&b.g);
                }
            }
            memcpy(x, y, 3 * length * sizeof *x);
            ss_banded_solve_rows(&b.L, first, rows, length, x);
            for (int c = 0; c < rows; c++) {
                for (int i = 0; i < n; i++) {
                    double sum = 0.0;
                    for (int j = 0; j < n; j++) {
                        sum += entry(&b.M, i, j) * x[(size_t)c * length + (size_t)j];
                    }
                    CHECK_NEAR(sum, y[(size_t)c * length + (size_t)i], 1e-12);
                }
                for (int i = n; i < n + 3; i++) { // what is between the rows stays
                    CHECK(x[(size_t)c * length + (size_t)i] == 0.0);
                }
            }
            free(y);
            free(x);
        }
        free_band(&b);
    }
}

static void whitening_and_back_is_the_solution(void)
{
    for (int k = 0; k < COUNT; k++) {
        const int n = SIZES[k][0];
        band b = new_band(n, SIZES[k][1]);
        double *X = calloc(2 * (size_t)n, sizeof *X), *x = calloc(2 * (size_t)n, sizeof *x);
        for (int j = 0; j < 2 * n; j++) {
            X[j] = x[(j % 2) * n + j / 2] = ss_random_normal(&b.g);
        }
        ss_banded_whiten(&b.L, X, 2);
        ss_banded_unwhiten(&b.L, X, 2);
        ss_banded_solve_rows(&b.L, 0, 2, (size_t)n, x);
        for (int j = 0; j < 2 * n; j++) {
            CHECK_NEAR(X[j], x[(j % 2) * n + j / 2], 1e-14);
        }
        free(X);
        free(x);
        free_band(&b);
    }
}

#define SEVERAL (SS_BANDED_SEVERAL + 3)

// Bit by bit, each with a matrix of its own.
static void several_solutions_are_those_of_one_after_the_other(void)
{
    for (int k = 0; k < COUNT; k++) {
        const int n = SIZES[k][0];
        band b[SEVERAL];
        double *x[SEVERAL], *y[SEVERAL];
        const ss_banded *L[SEVERAL];
        for (int i = 0; i < SEVERAL; i++) {
            b[i] = new_band(n, SIZES[k][1]);
            b[i].L.x[0] *= 1.0 + i;
            b[i].L.inverse[0] = 1.0 / b[i].L.x[0];
            x[i] = malloc((size_t)n * sizeof *x[i]);
            y[i] = malloc((size_t)n * sizeof *y[i]);
            for (int j = 0; j < n; j++) {
                x[i][j] = y[i][j] = ss_random_normal(&b[i].g) + i;
            }
            L[i] = &b[i].L;
            ss_banded_whiten(L[i], y[i], 1);
            ss_banded_unwhiten(L[i], y[i], 1);
        }
        ss_banded_solve_several(SEVERAL, L, x);
        for (int i = 0; i < SEVERAL; i++) {
            CHECK(memcmp(x[i], y[i], (size_t)n * sizeof *x[i]) == 0);
            free(x[i]);
            free(y[i]);
            free_band(&b[i]);
        }
    }
}

// Bit by bit, however many stand beside each other; three lanes begin where those rows do.
static void lanes_have_the_bits_of_rows(void)
{
    for (int k = 0; k < COUNT; k++) {
        const int n = SIZES[k][0], half = SIZES[k][1], first = n / 3;
        band b = new_band(n, half);
        for (int lanes = 8; lanes <= SS_BANDED_LANES; lanes += 8) {
            const size_t length = (size_t)n;
            double *X = calloc(length * (size_t)lanes, sizeof *X);
            double *x = calloc(length * (size_t)lanes, sizeof *x);
            for (int c = 0; c < lanes; c++) {
                for (int j = c % 4 == 0 ? first : first / 2; j < n; j++) {
                    X[j * lanes + c] = x[(size_t)c * length + (size_t)j] = ss_random_normal(&b.g);
                }
            }
            ss_banded_solve_lanes(&b.L, first / 2, lanes, X);
            for (int c = 0; c < lanes; c++) {
                double *row = x + (size_t)c * length;
                ss_banded_solve_rows(&b.L, c % 4 == 0 ? first : first / 2, 1, length, row);
                for (int j = 0; j < n; j++) {
                    CHECK(X[j * lanes + c] == row[j]);
                }
            }
            free(X);
            free(x);
        }
        free_band(&b);
    }
}

static void the_inverse_within_the_band_is_that_of_the_columns(void)
{
    for (int k = 0; k < COUNT; k++) {
        const int n = SIZES[k][0], half = SIZES[k][1];
        band b = new_band(n, half);
        ss_banded Z;
        CHECK(ss_banded_init(&Z, n, half));
        ss_banded_inverse(&b.L, &Z);
        for (int j = 0; j < n; j++) {
            double *column = calloc((size_t)n, sizeof *column);
            column[j] = 1.0;
            ss_banded_solve_rows(&b.L, j, 1, (size_t)n, column);
            for (int i = 0; i < n; i++) {
                if (abs(i - j) <= half) {
                    CHECK_NEAR(entry(&Z, i, j), column[i], 1e-14);
                }
            }
            free(column);
        }
        ss_banded_free(&Z);
        free_band(&b);
    }
}

// [[1, 2], [2, 1]] has a negative eigenvalue; a NaN passes no test.
static void what_is_not_definite_breaks_down_at_its_column(void)
{
    ss_banded A;
    CHECK(ss_banded_init(&A, 2, 1));
    *ss_banded_at(&A, 0, 0) = *ss_banded_at(&A, 1, 1) = 1.0;
    *ss_banded_at(&A, 1, 0) = 2.0;
    CHECK(ss_banded_factor(&A, 1) == 1);
    *ss_banded_at(&A, 0, 0) = NAN;
    CHECK(ss_banded_factor(&A, 1) == 0);
    ss_banded_free(&A);
    ss_banded_free(&A); // an empty one, too
}

// Bit by bit, and nothing else: the columns end where the allocation does.
static void columns_lose_what_each_entry_alone_would(void)
{
    ss_random g = ss_random_seeded(17);
    for (int half = 0; half <= 18; half++) {
        for (int below = 0; below <= half; below++) {
            const int length = half + 1, count = (below + 1) * length;
            double *taken = malloc((size_t)count * sizeof *taken);
            double *known = malloc((size_t)count * sizeof *known);
            for (int i = 0; i < count; i++) {
                taken[i] = known[i] = ss_random_normal(&g);
            }
            for (int row = 1; row <= below; row++) {
                for (int column = 1; column <= row; column++) {
                    known[column * length + row - column] -= known[column] * known[row];
                }
            }
            ss_band_take(taken, half, below);
            CHECK(memcmp(taken, known, (size_t)count * sizeof *taken) == 0);
            free(taken);
            free(known);
        }
    }
}

static void run_tests(void)
{
    RUN_TEST(solutions_multiply_back);
    RUN_TEST(whitening_and_back_is_the_solution);
    RUN_TEST(several_solutions_are_those_of_one_after_the_other);
    RUN_TEST(lanes_have_the_bits_of_rows);
    RUN_TEST(the_inverse_within_the_band_is_that_of_the_columns);
    RUN_TEST(what_is_not_definite_breaks_down_at_its_column);
    RUN_TEST(columns_lose_what_each_entry_alone_would);
}

const test_group banded_tests = {.run = run_tests};
