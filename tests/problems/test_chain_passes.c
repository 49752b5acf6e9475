// Where passes of the laws of split_impulse.h end when a stiff chain carries impulses from contact to contact:
// the table "What the forms reach" of doc/strands.md, "Local impulses", by other random numbers.
//
// Ten nodes of mass m = 1 in a row, M = I + k L with L the second differences, both ends free. One to four nodes
// approach obstacles, with random frames and friction. A pass takes the velocities of all contacts from
// u = W r + b, with m_loc = m, and changes every r.
#include <stdlib.h>
#include <string.h>

#include "problems/split_impulse.h"
#include "base/random.h"
#include "tests/support/support.h"

#define NODES  10
#define MOST   4 // contacts
#define TRIALS 200
#define PASSES 2000
#define STILL  1e-13 // of the largest velocity: no pass changes an impulse by more
#define WRONG  1e-6

typedef struct trial {
    int n; // contacts
    double mu[MOST];
    double b[3 * MOST], W[3 * MOST][3 * MOST];
    double fastest; // the largest |b|
} trial;

// The inverse of I + k L, by Gauss without pivots: M is diagonally dominant.
static void invert_chain(double k, double inverse[NODES][NODES])
{
    double M[NODES][NODES] = {{0}};
    for (int i = 0; i < NODES; i++) {
        M[i][i] = 1.0 + k * ((i > 0) + (i < NODES - 1));
        for (int j = 0; j < NODES; j++) {
            M[i][j] -= abs(i - j) == 1 ? k : 0.0;
            inverse[i][j] = i == j;
        }
    }
    for (int p = 0; p < NODES; p++) {
        const double pivot = M[p][p];
        for (int j = 0; j < NODES; j++) {
            M[p][j] /= pivot;
            inverse[p][j] /= pivot;
        }
        for (int i = 0; i < NODES; i++) {
            const double by = i == p ? 0.0 : M[i][p];
            for (int j = 0; j < NODES; j++) {
                M[i][j] -= by * M[p][j];
                inverse[i][j] -= by * inverse[p][j];
            }
        }
    }
}

// Rows n, t1, t2.
static void random_frame(ss_random *g, double E[3][3])
{
    double side[3], along;
    ss_random_direction(g, 3, E[0]);
    do {
        ss_random_direction(g, 3, side);
        along = side[0] * E[0][0] + side[1] * E[0][1] + side[2] * E[0][2];
    } while (along * along > 0.9);
    for (int c = 0; c < 3; c++) {
        E[1][c] = (side[c] - along * E[0][c]) / sqrt(1.0 - along * along);
    }
    for (int c = 0; c < 3; c++) {
        const int d = (c + 1) % 3, e = (c + 2) % 3;
        E[2][c] = E[0][d] * E[1][e] - E[0][e] * E[1][d];
    }
}

static double turned(const double E[3][3], int row, const double v[3])
{
    return E[row][0] * v[0] + E[row][1] * v[1] + E[row][2] * v[2];
}

// Contacts at different nodes; frames are turned about until their node approaches.
static trial random_trial(ss_random *g, double inverse[NODES][NODES])
{
    trial t = {.n = 1 + ss_random_below(g, MOST)};
    int node[MOST];
    double E[MOST][3][3];
    for (int i = 0; i < t.n; i++) {
        bool taken;
        do {
            taken = false;
            node[i] = ss_random_below(g, NODES);
            for (int j = 0; j < i; j++) {
                taken |= node[j] == node[i];
            }
        } while (taken);
        const double v[3] = {ss_random_normal(g), ss_random_normal(g), ss_random_normal(g)};
        t.mu[i] = ss_random_between(g, 0.1, 0.9);
        do {
            random_frame(g, E[i]);
        } while (turned((const double(*)[3])E[i], 0, v) >= 0.0);
        for (int c = 0; c < 3; c++) {
            t.b[3 * i + c] = turned((const double(*)[3])E[i], c, v);
            t.fastest = fmax(t.fastest, fabs(t.b[3 * i + c]));
        }
    }
    for (int i = 0; i < 3 * t.n; i++) {
        for (int j = 0; j < 3 * t.n; j++) {
            t.W[i][j] = inverse[node[i / 3]][node[j / 3]] *
                        turned((const double(*)[3])E[i / 3], i % 3, E[j / 3][j % 3]);
        }
    }
    return t;
}

static void find_velocities(const trial *t, const double *r, double *u)
{
    for (int i = 0; i < 3 * t->n; i++) {
        u[i] = t->b[i];
        for (int j = 0; j < 3 * t->n; j++) {
            u[i] += t->W[i][j] * r[j];
        }
    }
}

// The largest change of the map of Alart and Curnier, zero where Coulomb's law holds, against the velocities.
static double violation(const trial *t, const double *r)
{
    double u[3 * MOST], worst = 0.0;
    find_velocities(t, r, u);
    for (int i = 0; i < t->n; i++) {
        double next[3];
        memcpy(next, r + 3 * i, sizeof next);
        ss_impulse_repaired(t->mu[i], 1.0, u + 3 * i, next);
        for (int c = 0; c < 3; c++) {
            worst = fmax(worst, fabs(next[c] - r[3 * i + c]));
        }
    }
    return worst / t->fastest;
}

static void change(const trial *t, bool repaired, int i, const double *u, double *r)
{
    double dr[3];
    if (repaired) {
        ss_impulse_repaired(t->mu[i], 1.0, u + 3 * i, r + 3 * i);
        return;
    }
    ss_impulse_printed(t->mu[i], 1.0, u + 3 * i, dr);
    for (int c = 0; c < 3; c++) {
        r[3 * i + c] += dr[c];
    }
}

// How many passes change something; PASSES where that does not end.
static int run_passes(const trial *t, bool repaired, double *r)
{
    memset(r, 0, 3 * MOST * sizeof *r);
    for (int pass = 0; pass < PASSES; pass++) {
        double u[3 * MOST], before[3 * MOST], most = 0.0;
        memcpy(before, r, sizeof before);
        find_velocities(t, r, u);
        for (int i = 0; i < t->n; i++) {
            change(t, repaired, i, u, r);
        }
        for (int i = 0; i < 3 * t->n; i++) {
            most = fmax(most, fabs(r[i] - before[i]));
        }
        if (most <= STILL * t->fastest) {
            return pass;
        }
    }
    return PASSES;
}

typedef struct outcome {
    int stops, wrong; // trials; wrong: of those that stop
    int median;       // of passes
    double worst;
} outcome;

static int compare_counts(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static outcome outcome_of(double k, bool repaired)
{
    ss_random g = ss_random_seeded(2025);
    double inverse[NODES][NODES], r[3 * MOST];
    int passes[TRIALS];
    outcome all = {0};
    invert_chain(k, inverse);
    for (int j = 0; j < TRIALS; j++) {
        const trial t = random_trial(&g, inverse);
        passes[j] = run_passes(&t, repaired, r);
        if (passes[j] < PASSES) {
            const double left = violation(&t, r);
            all.stops++;
            all.wrong += left > WRONG;
            all.worst = fmax(all.worst, left);
        }
    }
    qsort(passes, TRIALS, sizeof passes[0], compare_counts);
    all.median = passes[TRIALS / 2];
    return all;
}

static void nodes_alone_have_their_answer_after_one_pass(void)
{
    for (int repaired = 0; repaired <= 1; repaired++) {
        const outcome o = outcome_of(0.0, repaired);
        CHECK(o.stops == TRIALS && o.wrong == 0 && o.median == 1);
        CHECK_LE(o.worst, 1e-14);
    }
}

// Two hundred trials of one to four contacts: a single contact is right, and most of the others are not.
static void the_printed_law_stops_at_impulses_that_violate_coulomb(void)
{
    static const double STIFF[] = {0.01, 1.0, 100.0};
    for (int k = 0; k < 3; k++) {
        const outcome o = outcome_of(STIFF[k], false);
        CHECK(2 * o.wrong > o.stops && o.stops > TRIALS / 2);
        CHECK_LE(1e-3, o.worst);
    }
}

static void the_repaired_law_obeys_coulomb_wherever_it_stops(void)
{
    static const double STIFF[] = {0.01, 1.0, 100.0};
    for (int k = 0; k < 3; k++) {
        const outcome o = outcome_of(STIFF[k], true);
        CHECK(o.wrong == 0);
        CHECK(k < 2 ? o.stops == TRIALS : o.stops > TRIALS / 2);
    }
}

// Medians of the table: 8, 48, and 680 to 772 passes.
static void passes_grow_with_stiffness(void)
{
    static const double STIFF[] = {0.01, 1.0, 100.0}, KNOWN[] = {8.0, 48.0, 726.0};
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(outcome_of(STIFF[k], true).median, KNOWN[k], 0.5 * KNOWN[k]);
    }
}

static void run_tests(void)
{
    RUN_TEST(nodes_alone_have_their_answer_after_one_pass);
    RUN_TEST(the_printed_law_stops_at_impulses_that_violate_coulomb);
    RUN_TEST(the_repaired_law_obeys_coulomb_wherever_it_stops);
    RUN_TEST(passes_grow_with_stiffness);
}

const test_group chain_passes_tests = {.run = run_tests};
