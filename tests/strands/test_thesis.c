// tests/strands/test_thesis.c -- the scheme thesis: where its iterates end, with contacts and without.
#include "tests/support/thesis_world.h"

// ---- Without contacts

static void without_contacts_the_end_is_that_of_newton(void)
{
    const char *const specs[] = {"newton:tol=1e-13", "thesis:newton=full,tol=1e-14",
                                 "thesis:newton=quasi,tol=1e-14"};
    double *end[3];
    int nv = 0;
    for (int k = 0; k < 3; k++) {
        again();
        options.contacts = false;
        lattice("der", 0.0);
        begin_scheme(specs[k]);
        steps(20);
        nv = world->nv;
        end[k] = malloc((size_t)nv * sizeof *end[k]);
        memcpy(end[k], world->now.v, (size_t)nv * sizeof *end[k]);
    }
    const double size = largest_of(end[0], nv);
    for (int k = 1; k < 3; k++) {
        for (int j = 0; j < nv; j++) {
            CHECK_NEAR(end[k][j], end[0][j], 1e-9 * size);
        }
    }
    for (int k = 0; k < 3; k++) {
        free(end[k]);
    }
}

// ---- With contacts

// The velocities and impulses after `count` steps of the lattice, after which there are contacts.
static double *after(const char *spec, double relaxation, int count, int *n)
{
    again();
    lattice("der:bending=two-frame", relaxation);
    begin_scheme(spec);
    steps(count);
    CHECK(report.active > 5);
    CHECK(secular.calls == 0);
    *n = world->nv;
    double *v = malloc((size_t)*n * sizeof *v);
    memcpy(v, world->now.v, (size_t)*n * sizeof *v);
    return v;
}

static void quasi_newton_ends_where_newton_ends(void)
{
    const char *const laws[] = {"printed", "repaired", "rigid"};
    for (int k = 0; k < 6; k++) {
        char spec[2][80];
        int n;
        const double relaxation = k < 3 ? 0.0 : 1e-3;
        for (int i = 0; i < 2; i++) {
            snprintf(spec[i], sizeof spec[i], "thesis:law=%s,newton=%s,iterations=3000,tol=1e-12",
                     laws[k % 3], i == 0 ? "full" : "quasi");
        }
        double *full = after(spec[0], relaxation, 30, &n);
        double *quasi = after(spec[1], relaxation, 30, &n);
        const double size = largest_of(full, n);
        // The printed laws stop at an answer that depends on the way there.
        const double near = k % 3 == 1 ? 1e-6 : 1e-2;
        for (int j = 0; j < n; j++) {
            CHECK_NEAR(full[j], quasi[j], near * size);
        }
        free(full);
        free(quasi);
    }
}

static void the_repaired_law_ends_at_coulomb_and_the_printed_ones_do_not(void)
{
    int n;
    double normal;
    free(after("thesis:law=repaired,iterations=5000,tol=1e-12", 0.0, 30, &n));
    CHECK(report.iterates < 5000);
    CHECK_LE(judged(&normal), 1e-6);
    CHECK_LE(normal, 1e-6);
    free(after("thesis:law=printed,iterations=5000,tol=1e-12", 0.0, 30, &n));
    CHECK(report.iterates < 5000);
    CHECK(judged(NULL) > 1e-4);
    free(after("thesis:law=rigid,iterations=5000,tol=1e-12", 0.0, 30, &n));
    CHECK(judged(NULL) > 1e-4);
}

// Shorter steps on the way change nothing of the end, with damping and without.
static void a_search_ends_where_whole_steps_end(void)
{
    for (int k = 0; k < 2; k++) {
        int n;
        const double relaxation = k == 0 ? 0.0 : 1e-3;
        double *whole = after("thesis:law=repaired,iterations=3000,tol=1e-12", relaxation, 30, &n);
        double *searched =
            after("thesis:law=repaired,iterations=3000,tol=1e-12,search=on", relaxation, 30, &n);
        const double size = largest_of(whole, n);
        CHECK(report.iterates < 3000);
        for (int j = 0; j < n; j++) {
            CHECK_NEAR(searched[j], whole[j], 1e-6 * size);
        }
        free(whole);
        free(searched);
    }
}

// g of an iterate is the slope of the objective, by central differences.
static void the_objective_has_the_residual_as_its_slope(void)
{
    const int k = rod("der", ss_vec(0.0, 0.0, 0.0), ss_vec(0.0, 0.0, 0.0), SS_CLAMP_NONE);
    const ss_strand *s = &world->strands[k];
    const int nv = s->size.nv;
    const double h = 1e-3, eps = 1e-5;
    double *q = calloc((size_t)world->nq, sizeof *q), *v = calloc(4 * (size_t)nv, sizeof *v);
    double *g = v + nv, *impulses = g + nv, *past = impulses + nv, size;
    stir(world, 0.05);
    memcpy(v, world->now.v, (size_t)nv * sizeof *v);
    for (int j = 0; j < nv; j++) {
        impulses[j] = 1e-9 * (j % 7 - 3);
        past[j] = 0.5 * v[j];
    }
    ss_placed at;
    CHECK(ss_placed_init(&at, &s->size));
    ss_system_scratch *scratch = ss_system_scratch_new(world);
    const ss_world_state there = {.q = q, .v = v};
    ss_iterate it = ss_iterate_first(&there, h);
    it.past = past;
    s->model->advance(s->self, world->now.q, v, h, q);
    ss_strand_place(world, k, &there, &at);
    ss_strand_residual(world, k, &it, &at, scratch, g);
    const double largest = largest_of(g, nv);
    for (int j = 0; j < nv; j++) {
        double objective[2];
        const double before = v[j];
        for (int side = 0; side < 2; side++) {
            v[j] = before + (side == 0 ? -eps : eps);
            s->model->advance(s->self, world->now.q, v, h, q);
            ss_strand_place(world, k, &there, &at);
            objective[side] =
                ss_strand_objective(world, k, &it, &at, impulses, scratch, &size) / (2.0 * eps);
        }
        v[j] = before;
        CHECK_NEAR(objective[1] - objective[0], g[j] - impulses[j], 1e-5 * largest);
    }
    ss_system_scratch_free(scratch);
    ss_placed_free(&at);
    free(q);
    free(v);
}

// The judge's error, whose scale of compliance the scheme takes of the first iterate.
static void iterates_end_at_the_error_that_is_asked_for(void)
{
    const double asked[] = {1e-2, 1e-4, 1e-7};
    int iterates[3];
    for (int k = 0; k < 3; k++) {
        char spec[80];
        int n;
        double normal;
        snprintf(spec, sizeof spec, "thesis:law=repaired,iterations=5000,fb=%g", asked[k]);
        free(after(spec, 0.0, 30, &n));
        CHECK_LE(judged(&normal), 1.1 * asked[k]);
        CHECK_LE(normal, 2.2 * asked[k]);
        iterates[k] = report.iterates;
    }
    CHECK(iterates[0] < iterates[1] && iterates[1] < iterates[2] && iterates[2] < 5000);
}

static void the_number_of_threads_changes_no_bit(void)
{
    double *end[2];
    int n;
    for (int k = 0; k < 2; k++) {
        again();
        mixed_strands(false, 0.01);
        lattice("der", 0.0);
        stir(world, 0.1);
        options.threads = 1 + 2 * k;
        options.alone = 0;
        begin_scheme("thesis:law=repaired,relax=0.9");
        steps(5);
        CHECK(report.active > 10);
        n = world->nv;
        end[k] = malloc((size_t)n * sizeof *end[k]);
        memcpy(end[k], world->now.v, (size_t)n * sizeof *end[k]);
    }
    CHECK(memcmp(end[0], end[1], (size_t)n * sizeof *end[0]) == 0);
    free(end[0]);
    free(end[1]);
}

static void the_repaired_law_ends_where_newton_and_a_solver_end(void)
{
    int n;
    double *local = after("thesis:law=repaired,iterations=5000,tol=1e-13", 0.0, 30, &n);
    // Detection of the thesis, the iterates of newton: from the same start, one step on.
    ss_world_state start;
    CHECK(ss_world_state_init(&start, world));
    memcpy(start.q, world->now.q, (size_t)world->nq * sizeof *start.q);
    memcpy(start.v, world->now.v, (size_t)world->nv * sizeof *start.v);
    step();
    memcpy(local, world->now.v, (size_t)n * sizeof *local);
    const int contacts = report.contacts;
    memcpy(world->now.q, start.q, (size_t)world->nq * sizeof *start.q);
    memcpy(world->now.v, start.v, (size_t)world->nv * sizeof *start.v);
    options.continuous = true;
    begin_scheme("newton:tol=1e-12");
    step();
    CHECK(report.contacts == contacts);
    const double size = largest_of(local, n);
    for (int j = 0; j < n; j++) {
        if (j % 39 % SS_DER_STRIDE < 3) { // of a place
            CHECK_NEAR(world->now.v[j], local[j], 1e-6 * size);
        }
    }
    ss_world_state_free(&start);
    free(local);
}

// The contacts of a rod that is thrown at another one across it, 1.2 mm below.
static int contacts_of_throw(double speed, const char *spec)
{
    again();
    options.margin = 1e-6;
    rod("der", ss_vec(0.0, 0.0, -0.03), ss_vec(0.0, 0.0, 0.0), SS_CLAMP_BOTH);
    throw(rod("der", ss_vec(0.03, 1.2e-3, 0.0), ss_vec(0.0, 0.5 * M_PI, 0.0), SS_CLAMP_NONE),
          ss_vec(0.0, -speed, 0.0));
    begin_scheme(spec);
    step();
    return report.contacts;
}

// The axes touch at 1 mm. Moved by 0.4 mm the rods touch and do not cross, by 2 mm they cross.
static void the_cubic_finds_what_crosses_and_advancement_what_touches(void)
{
    TEST_ASSERT_EQUAL_INT(0, contacts_of_throw(0.1, "thesis"));
    TEST_ASSERT_EQUAL_INT(0, contacts_of_throw(0.1, "thesis:detection=cubic"));
    TEST_ASSERT_EQUAL_INT(1, contacts_of_throw(0.4, "thesis:detection=advance"));
    TEST_ASSERT_EQUAL_INT(0, contacts_of_throw(0.4, "thesis:detection=cubic"));
    TEST_ASSERT_EQUAL_INT(1, contacts_of_throw(2.0, "thesis:detection=advance"));
    TEST_ASSERT_EQUAL_INT(1, contacts_of_throw(2.0, "thesis:detection=cubic"));
}

static void check_stored(const ss_problem *p, const double *r, const double *v, const char *spec)
{
    const size_t n = 3 * (size_t)p->ncontacts;
    double *u = malloc(n * sizeof *u);
    memcpy(u, p->w, n * sizeof *u);
    ss_sparse_add_transposed_product(&p->H, v, u);
    CHECK(p->has_solution);
    CHECK(memcmp(p->solution.r, r, n * sizeof *r) == 0);
    CHECK(memcmp(p->solution.v, v, (size_t)p->ndofs * sizeof *v) == 0);
    CHECK(memcmp(p->solution.u, u, n * sizeof *u) == 0);
    TEST_ASSERT_EQUAL_STRING(spec, p->claim.solver);
    CHECK(isnan(p->claim.tolerance));
    free(u);
}

// The problem that a step leaves behind holds of its impulses and velocities.
static void the_step_leaves_its_last_problem_behind(void)
{
    const char *const specs[] = {
        "thesis",           "thesis:newton=full",  "thesis:law=repaired,relax=0.9",
        "thesis:law=rigid", "thesis:iterations=1", "thesis:iterations=2"};
    for (int k = 0; k < 6; k++) {
        again();
        lattice("der", 1e-3);
        begin_scheme(specs[k]);
        for (int i = 0; i < 25; i++) {
            const double *r, *v;
            step();
            const ss_problem *p = ss_stepper_problem(stepper, &r, &v);
            if (p != NULL) {
                CHECK_LE(replay_error(p, r, v), 1e-14);
                check_stored(p, r, v, specs[k]);
            }
        }
        CHECK(report.contacts > 5);
    }
}

// ---- Models

static void lengths_are_what_the_stiffness_of_lengths_adds(void)
{
    for (int kind = 0; kind < SS_STIFFNESS_KINDS; kind++) {
        double *x[3];
        int count = 0;
        for (int k = 0; k < 3; k++) {
            again();
            rod("der", ss_vec(0.0, 0.0, 0.0), ss_vec(0.0, 0.0, 0.0), SS_CLAMP_NONE);
            stir(world, 0.3);
            const ss_strand *s = &world->strands[0];
            ss_der *d = s->self;
            s->model->advance(d, world->now.q, world->now.v, 1e-2, world->now.q);
            ss_band A = {s->size.nv, s->size.half_bandwidth, NULL};
            count = A.n * (A.half + 1);
            A.x = x[k] = calloc((size_t)count, sizeof *A.x);
            d->rigidity.stretch *= k == 1 ? 2.0 : 1.0;
            if (k < 2 && kind != SS_STIFFNESS_FILTERED) {
                CHECK(s->model->stiffness(d, world->now.q, (ss_stiffness)kind, 1.0, &A));
            } else {
                s->model->lengths(d, world->now.q, (ss_stiffness)kind, 1.0, &A);
            }
        }
        const double size = largest_of(x[2], count);
        for (int i = 0; i < count; i++) {
            CHECK_NEAR(x[1][i] - x[0][i], x[2][i], 1e-12 * size);
        }
        for (int k = 0; k < 3; k++) {
            free(x[k]);
        }
    }
}

static void models_without_vertices_of_their_own_are_refused(void)
{
    const char *const models[] = {"super-helix", "lifted-curls"};
    const char *const words[] = {"super-helix have no vertices", "thesis:newton=full"};
    for (int k = 0; k < 2; k++) {
        again();
        ss_scheme_choice scheme;
        rod(models[k], ss_vec(0.0, 0.0, 0.0), ss_vec(0.0, 0.0, 0.0), SS_CLAMP_ROOT);
        CHECK_OK(ss_scheme_parse("thesis", &scheme, &error));
        options.scheme = &scheme;
        CHECK(ss_stepper_new(world, &options, (ss_step_solver){.solve = solve_step}, &error) ==
              NULL);
        TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, error.status);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, words[k]), error.text);
        ss_scheme_choice_free(&scheme);
    }
}

static void run_tests(void)
{
    RUN_TEST(without_contacts_the_end_is_that_of_newton);
    RUN_TEST(quasi_newton_ends_where_newton_ends);
    RUN_TEST(the_repaired_law_ends_at_coulomb_and_the_printed_ones_do_not);
    RUN_TEST(a_search_ends_where_whole_steps_end);
    RUN_TEST(the_objective_has_the_residual_as_its_slope);
    RUN_TEST(iterates_end_at_the_error_that_is_asked_for);
    RUN_TEST(the_number_of_threads_changes_no_bit);
    RUN_TEST(the_repaired_law_ends_where_newton_and_a_solver_end);
    RUN_TEST(the_cubic_finds_what_crosses_and_advancement_what_touches);
    RUN_TEST(the_step_leaves_its_last_problem_behind);
    RUN_TEST(lengths_are_what_the_stiffness_of_lengths_adds);
    RUN_TEST(models_without_vertices_of_their_own_are_refused);
}

const test_group thesis_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
