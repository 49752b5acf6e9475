// The scenes of rods that meet each other or an obstacle: who slides, who stays, and how deep they overlap.
#include "tests/support/brute_contacts.h"
#include "tests/support/scene_run.h"
#include "tests/support/support.h"

static scene_run *scene(const char *spec, int rods, double mu)
{
    const scene_choice choice = {.scene = spec, .rods = rods, .mu = mu, .seed = 1};
    scene_run *run = open_run(&choice, "gs/mfb+enum", 1e-6);
    start_run(run);
    return run;
}

static void start_with(scene_run *run, const char *scheme)
{
    ss_scheme_choice asked;
    ss_error error;
    CHECK_OK(ss_scheme_parse(scheme, &asked, &error));
    run->scene.options.scheme = &asked;
    start_run(run);
    ss_scheme_choice_free(&asked);
}

// ---- One rod across another

#define LOWER_EDGE 5e-3 // m

// m along the lower rod of `crossing` to the place where the upper one touches it; 0 without contact.
static double place_on_lower(const scene_run *run)
{
    int count;
    const ss_touch *t = ss_stepper_touches(run->stepper, &count);
    return count > 0 ? (t->segment_b + t->b) * LOWER_EDGE : 0.0;
}

static void restart(scene_run *run, double mu)
{
    ss_stepper_free(run->stepper);
    run->scene.world->mu = mu;
    start_run(run);
}

// m that the upper rod slides along the lower one in 0.1 s, having come to rest with a friction of 10.
static double slide(double mu)
{
    scene_run *run = scene("crossing:fall=0", 0, 10.0);
    steps_of_run(run, 400);
    const double from = place_on_lower(run);
    restart(run, mu);
    steps_of_run(run, 100);
    const double to = place_on_lower(run);
    close_run(run);
    CHECK(from > 0.0 && to > 0.0);
    return to - from;
}

// What presses them together is vertical, and leans by the slope against the normal. The lower rod bends a
// little, too: the force at rest leans by 0.984 of tan.
static void a_rod_across_a_slope_stays_from_tan_on(void)
{
    const double tangent = tan(25.0 / 180.0 * M_PI);
    CHECK_LE(fabs(slide(1.05 * tangent)), 1e-6);
    CHECK_LE(1e-4, slide(0.95 * tangent));
}

// Steps until it has left; `most` if it has not.
static int steps_on(double mu, int most)
{
    scene_run *run = scene("crossing", 0, mu);
    int last = 0;
    for (int k = 1; k <= most && (last == 0 || k < last + 20); k++) {
        last = step_run(run)->contacts > 0 ? k : last;
    }
    close_run(run);
    return last;
}

static void a_rod_slides_off_another_the_later_the_larger_the_friction(void)
{
    const double mu[] = {0.0, 0.1, 0.2, 0.3};
    int before = 0;
    for (int k = 0; k < 4; k++) {
        const int off = steps_on(mu[k], 400);
        CHECK(before < off && off < 400);
        before = off;
    }
    CHECK(steps_on(0.5, 400) == 400);
}

static void two_thrown_rods_meet_in_one_point_until_they_part(void)
{
    scene_run *run = scene("pair", 0, NAN);
    int met = 0;
    for (int k = 0; k < 60; k++) {
        const ss_step_report *r = step_run(run);
        CHECK(r->contacts <= 1);
        CHECK_LE(r->penetration, 0.01 * run->scene.world->radius);
        met += r->active;
    }
    CHECK(met > 20 && run->last.active == 0);
    close_run(run);
}

// ---- One rod across a tube

#define TUBE "tube:length=0.02,fall=0,slope=25"

static double place_on_tube(const scene_run *run)
{
    const double slope = 25.0 / 180.0 * M_PI;
    int count;
    const ss_touch *t = ss_stepper_touches(run->stepper, &count);
    CHECK(count > 0);
    return ss_dot(ss_vec(cos(slope), -sin(slope), 0.0), t->y);
}

// m/s^2, down the tube, from three places 50 ms apart.
static double acceleration(const char *scheme, double mu)
{
    const scene_choice choice = {.scene = TUBE, .mu = mu, .seed = 1};
    scene_run *run = open_run(&choice, "gs/mfb+enum", 1e-6);
    start_with(run, scheme);
    double place[3];
    for (int k = 0; k < 3; k++) {
        steps_of_run(run, 50);
        place[k] = place_on_tube(run);
    }
    close_run(run);
    return (place[2] - 2.0 * place[1] + place[0]) / (0.05 * 0.05);
}

static void a_short_hair_slides_down_a_tube_with_what_friction_leaves(void)
{
    static const char *const SCHEMES[] = {"newton", "thesis:law=repaired,iterations=500"};
    const double slope = 25.0 / 180.0 * M_PI, mu[] = {0.0, 0.2, 0.4};
    for (int j = 0; j < 2; j++) {
        for (int k = 0; k < 3; k++) {
            const double known = 9.81 * (sin(slope) - mu[k] * cos(slope));
            CHECK_NEAR(acceleration(SCHEMES[j], mu[k]), known, 0.01 * 9.81);
        }
        CHECK_NEAR(acceleration(SCHEMES[j], 1.02 * tan(slope)), 0.0, 1e-6);
    }
}

// ---- Threads

static scene_run *steps_with_threads(const scene_choice *choice, int threads)
{
    scene_run *run = open_run(choice, "gs/mfb+enum", 1e-4);
    run->scene.options.threads = threads;
    run->solver.max_iterations = 20;
    start_run(run);
    steps_of_run(run, 3);
    return run;
}

static void check_same_matrix(const ss_sparse *A, const ss_sparse *B)
{
    const size_t n = (size_t)A->ncols;
    TEST_ASSERT_EQUAL_INT(A->ncols, B->ncols);
    TEST_ASSERT_EQUAL_MEMORY(A->start, B->start, (n + 1) * sizeof *A->start);
    TEST_ASSERT_EQUAL_MEMORY(A->row, B->row, (size_t)A->start[n] * sizeof *A->row);
    TEST_ASSERT_EQUAL_MEMORY(A->x, B->x, (size_t)A->start[n] * sizeof *A->x);
}

static void check_same_step(const scene_run *one, const scene_run *many)
{
    const ss_world *a = one->scene.world, *b = many->scene.world;
    const double *r[2], *v[2];
    const ss_problem *p = ss_stepper_problem(one->stepper, &r[0], &v[0]);
    const ss_problem *q = ss_stepper_problem(many->stepper, &r[1], &v[1]);
    const size_t n = (size_t)p->ncontacts;
    CHECK(p->ncontacts > 600); // so many are shared
    TEST_ASSERT_EQUAL_INT(p->ncontacts, q->ncontacts);
    TEST_ASSERT_EQUAL_INT(one->last.hits, many->last.hits);
    check_same_matrix(&p->M, &q->M);
    check_same_matrix(&p->H, &q->H);
    TEST_ASSERT_EQUAL_MEMORY(p->w, q->w, 3 * n * sizeof *p->w);
    TEST_ASSERT_EQUAL_MEMORY(p->mu, q->mu, n * sizeof *p->mu);
    TEST_ASSERT_EQUAL_MEMORY(r[0], r[1], 3 * n * sizeof *r[0]);
    TEST_ASSERT_EQUAL_MEMORY(a->now.q, b->now.q, (size_t)a->nq * sizeof *a->now.q);
    TEST_ASSERT_EQUAL_MEMORY(a->now.v, b->now.v, (size_t)a->nv * sizeof *a->now.v);
}

static void threads_that_share_a_step_change_no_bit(void)
{
    static const char *const MODELS[] = {"super-helix", "der"};
    for (int k = 0; k < 2; k++) {
        const scene_choice choice = {
            .scene = "pony", .rods = 60, .mu = NAN, .seed = 1, .model = MODELS[k]};
        scene_run *one = steps_with_threads(&choice, 1), *many = steps_with_threads(&choice, 3);
        CHECK(one->last.hits > 0);
        check_same_step(one, many);
        close_run(one);
        close_run(many);
    }
}

// ---- Bundles

// The deepest overlap at the end of any of `count` steps, m, by the step's own word, and every tenth step by looking
// at everything: no strands overlap by more than `strands`. Obstacles stand still.
static double deepest(const char *spec, const char *scheme, int count, double strands)
{
    const scene_choice choice = {.scene = spec, .rods = 6, .mu = NAN, .seed = 1};
    scene_run *run = open_run(&choice, "gs/mfb+enum", 1e-4);
    const ss_world *w = run->scene.world;
    double depth = 0.0;
    start_with(run, scheme);
    for (int k = 0; k < count; k++) {
        depth = fmax(depth, step_run(run)->penetration);
        if (k % 10 == 9) {
            scene_lines l = lines_of(w, &w->now);
            const ss_pose pose = w->nobstacles > 0 ? w->obstacles[0].pose : ss_pose_identity();
            CHECK_LE(-least_strand_gap(&l.lines), strands);
            CHECK_NEAR(run->last.penetration,
                       brute_depth(&l.lines, w->obstacles, &pose, w->nobstacles), 1e-12);
            free_lines(&l);
        }
    }
    CHECK(run->last.active > 0);
    CHECK_NEAR(run->last.dt, 1e-3, 0.0);
    close_run(run);
    return depth;
}

// A twentieth of the radius of contacts may be left, and what the iterates leave. In the scheme
// thesis vertices alone touch obstacles, and edges of length l that lie across a cylinder of radius R
// dip into it by l^2 / 8R.
static void bundles_fall_and_do_not_overlap(void)
{
    const double most = 0.06 * 55e-6, edge = 0.1 / 24.0, dip = edge * edge / (8.0 * 0.01);
    static const char *const SCENES[] = {"bundle", "cylinder", "ground"};
    static const char *const SCHEMES[] = {"newton", "thesis:law=printed", "thesis:law=rigid",
                                          "thesis:law=repaired"};
    for (int k = 0; k < 3; k++) {
        for (int j = 0; j < 4; j++) {
            CHECK_LE(deepest(SCENES[k], SCHEMES[j], 150, most),
                     most + (j > 0 && k == 1 ? dip : 0.0));
        }
    }
}

static void without_looks_bundles_overlap(void)
{
    CHECK_LE(0.3 * 55e-6, deepest("cylinder:looks=0", "newton", 100, INFINITY));
    CHECK_LE(0.3 * 55e-6, deepest("bundle:looks=0", "thesis:law=repaired", 130, INFINITY));
}

static void a_bundle_comes_to_rest_on_the_ground(void)
{
    scene_run *run = scene("ground", 3, NAN);
    while (run->scene.world->now.time < 0.6) {
        step_run(run);
    }
    CHECK_LE(run->last.max_speed, 0.02);
    CHECK(run->last.active > 0);
    close_run(run);
}

// The mean distance from a root to the nearest other one, m.
static double spacing(const char *spec, int rods)
{
    scene_run *run = scene(spec, rods, NAN);
    scene_lines l = lines_of(run->scene.world, &run->scene.world->now);
    double sum = 0.0;
    for (int j = 0; j < rods; j++) {
        double least = INFINITY;
        for (int k = 0; k < rods; k++) {
            const ss_vec3 apart = ss_minus(l.x[l.first[j]], l.x[l.first[k]]);
            least = k != j ? fmin(least, ss_length(apart)) : least;
        }
        sum += least;
    }
    free_lines(&l);
    close_run(run);
    return sum / rods;
}

static void a_share_of_the_hairball_is_as_crowded(void)
{
    const double whole = spacing("hairball", 1000);
    CHECK_NEAR(spacing("hairball:share=0.1", 100), whole, 0.2 * whole);
    CHECK(spacing("hairball", 100) > 2.0 * whole);
}

static void run_tests(void)
{
    RUN_TEST(a_rod_across_a_slope_stays_from_tan_on);
    RUN_TEST(a_rod_slides_off_another_the_later_the_larger_the_friction);
    RUN_TEST(two_thrown_rods_meet_in_one_point_until_they_part);
    RUN_TEST(a_short_hair_slides_down_a_tube_with_what_friction_leaves);
    RUN_TEST(bundles_fall_and_do_not_overlap);
    RUN_TEST(without_looks_bundles_overlap);
    RUN_TEST(threads_that_share_a_step_change_no_bit);
    RUN_TEST(a_bundle_comes_to_rest_on_the_ground);
    RUN_TEST(a_share_of_the_hairball_is_as_crowded);
}

const test_group contact_scenes_tests = {.run = run_tests};
