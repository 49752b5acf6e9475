// tests/problems/test_compliance.c -- tr(W_ii)/d against the diagonal of W from the raw M and H, and what threads
// share of a judge.
#include <stdlib.h>
#include <string.h>

#include "problems/matrix/delassus.h"
#include "problems/matrix/delassus.h"
#include "problems/response.h"
#include "problems/tangle/tangle.h"
#include "tests/support/make_problem.h"
#include "tests/support/support.h"

static void check_traces(ss_problem *p)
{
    const int d = p->dim, size = d * p->ncontacts;
    double *W = malloc((size_t)size * (size_t)size * sizeof *W);
    double *compliance = malloc((size_t)p->ncontacts * sizeof *compliance);
    ss_mass *mass;
    ss_error error;
    CHECK_OK(ss_delassus_naive(p, W, &error));
    CHECK_OK(ss_mass_new(p, &mass, &error));
    CHECK(ss_compliance_find(p, mass, NULL, compliance));
    for (int i = 0; i < p->ncontacts; i++) {
        double trace = 0.0;
        for (int c = d * i; c < d * (i + 1); c++) {
            trace += W[c * size + c];
        }
        CHECK_NEAR(compliance[i], trace / d, 1e-12 * trace);
    }
    ss_mass_free(mass);
    free(compliance);
    free(W);
    ss_problem_free(p);
}

// More contacts to a body than are whitened at once, too.
static void compliance_is_the_trace_of_w(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        check_traces(random_problem(1, dim, 60, 5, 12));
        check_traces(random_problem(2, dim, 20, 4, 90));
        check_traces(random_diagonal_problem(3, dim, 12, 5, 6));
    }
}

// Contacts of a strand with itself are wider than the band where they are far apart.
static void compliance_of_bands_is_the_trace_of_w(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        check_traces(random_strand_problem(4, dim, 40, 4, 30));
    }
}

// ---- Threads

// The measures of some impulses by a judge with a team; b and compliance behind them in `all` [2 d n + n].
static ss_measures judge_by(ss_team *team, const ss_problem *p, const double *r, double *all)
{
    const size_t n = (size_t)p->ncontacts, size = (size_t)p->dim * n;
    ss_response *response;
    ss_error error;
    CHECK_OK(ss_response_with(p, NULL, team, &response, &error));
    const ss_measures m = ss_response_judge(response, r, all);
    memcpy(all + size, response->b, size * sizeof *all);
    memcpy(all + 2 * size, response->compliance, n * sizeof *all);
    ss_response_free(response);
    return m;
}

static void check_threads(ss_problem *p)
{
    const size_t n = (size_t)p->ncontacts, room = (2 * (size_t)p->dim + 1) * n;
    double *r = malloc((size_t)p->dim * n * sizeof *r), *all[3];
    ss_measures m[3];
    for (size_t k = 0; k < (size_t)p->dim * n; k++) {
        r[k] = k % 3 == 0 ? 1e-3 * (double)(k % 7) : 1e-4 * (double)(k % 5);
    }
    for (int threads = 0; threads < 3; threads++) {
        ss_team *team = threads > 0 ? ss_team_new(threads) : NULL;
        all[threads] = malloc(room * sizeof *all[0]);
        m[threads] = judge_by(team, p, r, all[threads]);
        CHECK(memcmp(all[threads], all[0], room * sizeof *all[0]) == 0);
        CHECK(m[threads].fb == m[0].fb && m[threads].natural == m[0].natural);
        CHECK(m[threads].power == m[0].power && m[threads].worst_contact == m[0].worst_contact);
        ss_team_free(team);
    }
    for (int threads = 0; threads < 3; threads++) {
        free(all[threads]);
    }
    free(r);
    ss_problem_free(p);
}

// Enough of them that work is shared: dofs of bodies apart and side by side, bands, single dofs.
static void threads_change_no_bit_of_the_judge(void)
{
    ss_problem *tangle;
    ss_error error;
    ss_tangle_settings settings = ss_tangle_defaults();
    settings.ncontacts = 3000;
    CHECK_OK(ss_tangle_new(&settings, &tangle, &error));
    check_threads(tangle);
    check_threads(random_problem(5, 3, 2000, 150, 12));
    check_threads(random_strand_problem(6, 2, 2000, 60, 30));
    check_threads(random_diagonal_problem(7, 3, 2000, 150, 6));
}

static void run_tests(void)
{
    RUN_TEST(compliance_is_the_trace_of_w);
    RUN_TEST(compliance_of_bands_is_the_trace_of_w);
    RUN_TEST(threads_change_no_bit_of_the_judge);
}

const test_group compliance_tests = {.run = run_tests};
