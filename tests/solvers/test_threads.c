// Methods that factor: the number of threads changes no bit, and limits end what threads share.
#include <stdatomic.h>

#include "solvers/linear/block_lu.h"
#include "base/random.h"
#include "tests/support/make_problem.h"
#include "tests/support/solving.h"

static ss_error error;

static void set_up(void)
{
    error = (ss_error){0};
}

static ss_problem *hair(int ncontacts, int per_rod, double mu)
{
    ss_tangle_settings settings = ss_tangle_defaults();
    settings.ncontacts = ncontacts;
    settings.ends_per_rod = per_rod;
    settings.mu = mu;
    return tangle_of(&settings);
}

// ---- Methods

static void check_threads(const ss_problem *p, const char *spec)
{
    ss_task task = {.problem = p,
                    .tolerance = 1e-11,
                    .max_iterations = 20,
                    .clock = SS_CLOCK_WALL,
                    .threads = 1};
    solved one = run_task(spec, task, NULL);
    for (task.threads = 2; task.threads <= 3; task.threads++) {
        solved more = run_task(spec, task, NULL);
        if (memcmp(one.r, more.r, components(p) * sizeof *one.r) != 0 ||
            one.result.iterations != more.result.iterations ||
            one.result.outcome != more.result.outcome) {
            TEST_FAIL_MESSAGE(spec);
        }
        free_solved(&more);
    }
    free_solved(&one);
}

static void the_number_of_threads_changes_no_bit(void)
{
    static const char *const specs[] = {"ppa:start=sweeps,sweeps=5,form=matrix-free",
                                        "ppa:start=sweeps,sweeps=5,form=explicit",
                                        "ppa:form=matrix-free",
                                        "ppa:form=explicit",
                                        "ipm:form=matrix-free",
                                        "ipm:form=explicit",
                                        "alm:form=matrix-free",
                                        "alm:form=explicit",
                                        "admm:form=matrix-free",
                                        "admm:form=explicit"};
    ss_problem *problems[] = {hair(800, 40, 0.3), hair(300, 59, 0.8), tangle(2, 200, 2)};
    for (size_t k = 0; k < sizeof specs / sizeof specs[0]; k++) {
        for (int j = 0; j < 3; j++) {
            check_threads(problems[j], specs[k]);
        }
    }
    ss_problem *large = hair(2500, 59, 0.3); // its factor is shared in this form, too
    for (size_t k = 0; k < sizeof specs / sizeof specs[0]; k += 2) {
        check_threads(large, specs[k]);
    }
    ss_problem_free(large);
    ss_problem *local;
    CHECK_OK(ss_problem_to_local(problems[2], &local, &error));
    check_threads(local, "ppa:sweeps=0");
    check_threads(local, "ipm");
    ss_problem_free(local);
    for (int j = 0; j < 3; j++) {
        ss_problem_free(problems[j]);
    }
}

// A factor of seconds.
static void a_factorisation_by_threads_is_left_when_time_is_up(void)
{
    ss_problem *p = hair(3000, 59, 0.3);
    static const char *const specs[] = {"ppa:form=explicit,sweeps=0", "ipm:form=explicit",
                                        "admm:form=explicit"};
    for (int k = 0; k < 3; k++) {
        const ss_task task = {.problem = p,
                              .tolerance = 1e-12,
                              .max_iterations = 1000000,
                              .time_limit = 0.6,
                              .clock = SS_CLOCK_CPU,
                              .threads = 2};
        solved a = run_task(specs[k], task, NULL);
        CHECK(a.result.outcome == SS_TIME_LIMIT);
        CHECK_LE(a.result.cpu_seconds, 0.8);
        free_solved(&a);
    }
    ss_problem_free(p);
}

// ---- Factors

#define WIDTH 9 // of a cube of nodes that touch their neighbours
#define NODES (WIDTH * WIDTH * WIDTH)

static int room[NODES]; // rows of each node

static double *fill_block(ss_block_lu *lu, int a, int b, ss_random *g)
{
    double *A = ss_block_lu_values(lu) + ss_block_lu_place(lu, a, b);
    for (int k = 0; k < room[a] * room[b]; k++) {
        A[k] = ss_random_between(g, -1.0, 1.0);
    }
    return A;
}

// The last plane of the cube stands alone, so that the tree has two roots.
static ss_block_lu *make_lattice(const ss_stop *stop, ss_team *team, uint64_t seed)
{
    static int pairs[3 * NODES][2];
    int npairs = 0;
    for (int k = 0; k < NODES; k++) {
        room[k] = k % 5 == 0 ? 4 : 12;
        for (int axis = 0, step = 1; axis < 3; axis++, step *= WIDTH) {
            const int at = k / step % WIDTH;
            if (at + 1 < (axis == 2 ? WIDTH - 1 : WIDTH)) {
                pairs[npairs][0] = k;
                pairs[npairs++][1] = k + step;
            }
        }
    }
    ss_block_lu *lu;
    CHECK_OK(ss_block_lu_new(NODES, room, npairs, (const int(*)[2])pairs, stop, &lu, &error));
    CHECK(lu != NULL && ss_block_lu_reserve(lu, team));
    CHECK(ss_block_lu_is_shared(lu) == (team != NULL && ss_team_size(team) > 1));
    ss_random g = ss_random_seeded(seed);
    for (int k = 0; k < npairs; k++) {
        fill_block(lu, pairs[k][0], pairs[k][1], &g);
        fill_block(lu, pairs[k][1], pairs[k][0], &g);
    }
    for (int k = 0; k < NODES; k++) {
        double *A = fill_block(lu, k, k, &g);
        for (int j = 0; j < room[k]; j++) {
            A[j * room[k] + j] +=
                k % 7 == 0 ? 0.0 : 30.0; // of both signs, mostly far from singular
        }
    }
    return lu;
}

static size_t count_rows(void)
{
    size_t rows = 0;
    for (int k = 0; k < NODES; k++) {
        rows += (size_t)room[k];
    }
    return rows;
}

static double *solve_ones(const ss_block_lu *lu)
{
    double *x = malloc(count_rows() * sizeof *x);
    for (size_t k = 0; k < count_rows(); k++) {
        x[k] = 1.0;
    }
    ss_block_lu_solve(lu, x);
    return x;
}

static void a_factor_has_the_same_bits_whoever_makes_it(void)
{
    for (int threads = 2; threads <= 5; threads++) {
        ss_team *team = ss_team_new(threads);
        ss_block_lu *one = make_lattice(NULL, NULL, (uint64_t)threads);
        ss_block_lu *more = make_lattice(NULL, team, (uint64_t)threads);
        for (int is_short = 0; is_short < 2; is_short++) {
            CHECK(is_short != 0 ? ss_block_lu_factor_short(one) : ss_block_lu_factor(one));
            CHECK(is_short != 0 ? ss_block_lu_factor_short(more) : ss_block_lu_factor(more));
            double *x = solve_ones(one), *y = solve_ones(more);
            CHECK(memcmp(x, y, count_rows() * sizeof *x) == 0);
            CHECK(ss_block_lu_is_negative(one) == ss_block_lu_is_negative(more));
            free(x);
            free(y);
        }
        ss_block_lu_free(one);
        ss_block_lu_free(more);
        ss_team_free(team);
    }
}

// In a part, and above all of them.
static void a_singular_block_is_told_by_whoever_meets_it(void)
{
    ss_team *team = ss_team_new(2);
    ss_block_lu *lu = make_lattice(NULL, team, 1);
    CHECK(ss_block_lu_factor(lu));
    const int places[] = {0, NODES - 1};
    for (int k = 0; k < 2; k++) {
        for (int node = 0; node < NODES; node++) {
            if (ss_block_lu_turn(lu, node) == places[k]) {
                double *A = ss_block_lu_values(lu) + ss_block_lu_place(lu, node, node);
                const double kept = A[0];
                A[0] = NAN;
                CHECK(!ss_block_lu_factor(lu) && !ss_block_lu_factor_short(lu));
                A[0] = kept;
            }
        }
    }
    CHECK(ss_block_lu_factor(lu));
    ss_block_lu_free(lu);
    ss_team_free(team);
}

// Says no so many times, and then yes for ever: to any thread.
static bool has_ended(const void *of)
{
    atomic_long *const *left = of;
    return atomic_fetch_sub(*left, 1) <= 0;
}

static void a_factorisation_by_threads_is_stopped_at_any_moment(void)
{
    atomic_long left = 1000000, *of = &left;
    const ss_stop stop = {has_ended, &of};
    ss_team *team = ss_team_new(2);
    ss_block_lu *lu = make_lattice(&stop, team, 1);
    int asked = 0;
    for (bool done = false; !done; asked++) {
        atomic_store(&left, asked);
        done = ss_block_lu_factor(lu);
        CHECK(done || atomic_load(&left) < 0);
    }
    CHECK(asked > 5);
    ss_block_lu_free(lu);
    ss_team_free(team);
}

static void run_tests(void)
{
    RUN_TEST(the_number_of_threads_changes_no_bit);
    RUN_TEST(a_factorisation_by_threads_is_left_when_time_is_up);
    RUN_TEST(a_factor_has_the_same_bits_whoever_makes_it);
    RUN_TEST(a_singular_block_is_told_by_whoever_meets_it);
    RUN_TEST(a_factorisation_by_threads_is_stopped_at_any_moment);
}

const test_group threads_tests = {.run = run_tests, .set_up = set_up};
