// tests/strands/test_super_helix_motion.c -- a super-helix in motion without contacts: rest, return,
// frequency, energy and momentum.
#include <stdlib.h>
#include <string.h>

#include "strands/band.h"
#include "strands/system.h"
#include "tests/support/one_strand.h"
#include "tests/support/support.h"
#include "tests/support/toy_strands.h"

#define PI 3.14159265358979323846

// A world with one strand and what its steps need.
static ss_world *world;
static ss_placed at;
static ss_system_scratch *scratch;
static ss_band M;
static double *D, *mean;
static ss_error error;
static ss_random g;

static void set_up(void)
{
    error = (ss_error){0};
    g = ss_random_seeded(29);
    world = ss_world_new();
    at = (ss_placed){0};
    scratch = NULL;
    M = (ss_band){0};
    D = mean = NULL;
}

static void clear(void)
{
    ss_world_free(world);
    ss_placed_free(&at);
    ss_system_scratch_free(scratch);
    free(M.x);
    free(D);
    free(mean);
}

static void tear_down(void)
{
    clear();
}

static const ss_strand *strand(void)
{
    return &world->strands[0];
}

static void add_strand(const char *spec, const ss_strand_design *design, const ss_pose *root)
{
    ss_model_choice choice;
    int number;
    CHECK_OK(ss_model_parse(spec, &choice, &error));
    CHECK_OK(ss_world_add_strand(world, &choice, design, 0, root, &number, &error));
    ss_model_choice_free(&choice);
    const size_t n = (size_t)strand()->size.nv;
    CHECK(ss_placed_init(&at, &strand()->size));
    scratch = ss_system_scratch_new(world);
    M = (ss_band){(int)n, strand()->size.half_bandwidth, calloc(n * n, sizeof(double))};
    D = calloc(n, sizeof *D);
    mean = calloc(n, sizeof *mean);
}

static void step(double h, double theta)
{
    const ss_strand *s = strand();
    double *q = world->now.q, *v = world->now.v;
    ss_strand_place(world, 0, &world->now, &at);
    for (int k = 0; k < s->size.nv; k++) {
        mean[k] = (1.0 - theta) * v[k];
    }
    double *f = calloc((size_t)s->size.nv, sizeof *f);
    theta_system(world, 0, &at, h, theta, scratch, &M, f);
    CHECK(ss_band_factor(&M, D));
    ss_band_solve(&M, D, f);
    for (int k = 0; k < s->size.nv; k++) {
        v[k] = f[k];
        mean[k] += theta * f[k];
    }
    free(f);
    s->model->advance(s->self, q, mean, h, q);
    world->now.time += h;
}

static ss_energy energy_now(void)
{
    ss_energy energy;
    ss_strand_place(world, 0, &world->now, &at);
    ss_strand_energy(world, 0, &world->now, &at, &energy);
    return energy;
}

// ---- Rest

static void a_natural_helix_without_gravity_stays_at_rest(void)
{
    const ss_strand_design design = random_design(&g, 5, 30.0);
    const ss_pose root = random_pose(&g);
    world->gravity = ss_vec(0.0, 0.0, 0.0);
    add_strand("super-helix", &design, &root);
    for (int k = 0; k < 50; k++) {
        step(2e-3, 1.0);
    }
    CHECK_LE(largest_of(world->now.v, 15), 1e-12);
}

// A lock that leaves its root horizontally and falls: other styles of this length can be rests that
// any touch ends, as their weight is more than their stiffness bears.
static const double LOCK[7][3] = {{1.0, 1.0, -22.0}, {-1.0, 2.0, -22.0}, {0.5, 0.0, -4.0},
                                  {0.0, -2.0, -4.0}, {1.0, 1.0, 0.0},    {0.0, 0.0, 2.0},
                                  {0.0, 0.0, -2.0}};

static void check_settled_style(const char *spec)
{
    const ss_strand_design design = {.length = 0.25,
                                     .material = ss_material_hair(),
                                     .npieces = 7,
                                     .style = LOCK,
                                     .nsegments = 11};
    const ss_pose root = {ss_rotation(ss_vec(0.0, 0.7, 0.0)), ss_vec(0.1, 0.2, 0.3)};
    add_strand(spec, &design, &root);
    const int n = strand()->size.nv;
    double *q0 = calloc((size_t)n, sizeof *q0);
    memcpy(q0, world->now.q, (size_t)n * sizeof *q0);
    CHECK_OK(ss_world_settle(world, &error));
    for (int k = 0; k < 300; k++) {
        step(2e-3, 1.0);
        CHECK_LE(largest_of(world->now.v, n), 1e-10);
    }
    for (int k = 0; k < n; k++) {
        world->now.q[k] = q0[k] * (1.0 + 0.01 * ss_random_between(&g, -1.0, 1.0));
        world->now.v[k] = 0.0;
    }
    world->drag = 1e-4; // that of the air leaves it swinging for many seconds
    double away = 0.0;
    for (int k = 0; k < 1000; k++) {
        step(4e-3, 1.0);
        away = fmax(away, largest_of(world->now.v, n));
    }
    CHECK(away > 0.01);
    for (int k = 0; k < n; k++) {
        CHECK_NEAR(world->now.q[k], q0[k], 1e-6);
    }
    free(q0);
}

static void a_settled_style_rests_under_gravity_and_returns(void)
{
    check_settled_style("super-helix");
}

static void a_settled_style_with_shared_twist_does_so_too(void)
{
    check_settled_style("super-helix:layout=shared");
}

// ---- Oscillation

// 10 cm of straight hair, undamped and weightless.
static void add_free_beam(int elements)
{
    char spec[40];
    snprintf(spec, sizeof spec, "super-helix:elements=%d", elements);
    ss_strand_design design = {.length = 0.1, .material = ss_material_hair(), .nsegments = 1};
    design.material.relaxation = 0.0;
    const ss_pose root = ss_pose_identity();
    world->gravity = ss_vec(0.0, 0.0, 0.0);
    add_strand(spec, &design, &root);
}

// Bends element e by size x the curvature of a beam's first mode there, nearly (1 - s/L)^(3/2).
static void bend_like_first_mode(double size)
{
    const int n = strand()->size.nv / 3;
    for (int e = 0; e < n; e++) {
        world->now.q[3 * e + 2] = size * pow(1.0 - (e + 0.5) / n, 1.5);
    }
}

static double tip_height(void)
{
    ss_strand_place(world, 0, &world->now, &at);
    return at.points[1].x.y;
}

// From the first to the sixth time that the tip passes through 0: five halves of a period.
static double frequency(int elements)
{
    const double h = 1e-3;
    add_free_beam(elements);
    bend_like_first_mode(1e-3);
    double before = tip_height(), first = 0.0, last = 0.0;
    for (int crossings = 0; crossings < 6 && world->now.time < 3.0;) {
        step(h, 0.5);
        const double now = tip_height();
        if ((now > 0.0) != (before > 0.0)) {
            last = world->now.time - h * now / (now - before);
            first = crossings == 0 ? last : first;
            crossings++;
        }
        before = now;
    }
    return 2.5 / (last - first);
}

// f1 = (1.8751^2 / (2 pi L^2)) sqrt(EI / rho S), 2.405 Hz here.
static double beam_frequency(void)
{
    const ss_material hair = ss_material_hair();
    const ss_rigidity r = ss_material_rigidity(&hair);
    const double root = 1.875104069;
    return root * root / (2.0 * PI * 0.01) * sqrt(r.bend2 / r.line_density);
}

static void five_elements_swing_within_a_percent_of_the_beam(void)
{
    const double known = beam_frequency();
    CHECK_NEAR(known, 2.405, 1e-3);
    CHECK_NEAR(frequency(5), known, 0.01 * known);
}

static void eight_elements_swing_within_four_tenths_of_a_percent(void)
{
    const double known = beam_frequency();
    CHECK_NEAR(frequency(8), known, 0.004 * known);
}

// The share of the energy that 20 ms of a large swing in space lose. One element: the twist of more
// has hardly any inertia, and swings too fast for a test.
static double energy_loss(double h)
{
    add_free_beam(1);
    for (int k = 0; k < 3; k++) {
        world->now.q[k] = 10.0 + 4.0 * k;
    }
    const double before = energy_now().elastic;
    const int steps = (int)lround(0.02 / h);
    for (int k = 0; k < steps; k++) {
        step(h, 1.0);
    }
    const ss_energy after = energy_now();
    CHECK(after.kinetic > 0.1 * before); // it does swing
    return (before - after.kinetic - after.elastic) / before;
}

static void energy_is_lost_to_first_order_in_the_step(void)
{
    double loss[3];
    for (int k = 0; k < 3; k++) {
        if (k > 0) {
            clear();
            set_up();
        }
        loss[k] = energy_loss(1e-4 / (1 << k));
    }
    CHECK(loss[0] < 0.05);
    CHECK_NEAR(loss[0] / loss[1], 2.0, 0.1);
    CHECK_NEAR(loss[1] / loss[2], 2.0, 0.1);
}

// ---- Free strands

static ss_vec3 sum_over_mass(bool moment)
{
    ss_vec3 sum = {0.0, 0.0, 0.0};
    ss_strand_place(world, 0, &world->now, &at);
    for (int p = 0; p < strand()->size.nsamples; p++) {
        const ss_vec3 u = ss_point_rate(&at.samples[p], world->now.v);
        sum = ss_along(sum, world->mass[p], moment ? ss_cross(at.samples[p].x, u) : u);
    }
    return sum;
}

static void momentum_changes(double h, double *linear, double *angular)
{
    ss_random own = ss_random_seeded(3);
    const ss_strand_design design = random_design(&own, 5, 20.0);
    const ss_pose root = random_pose(&own);
    world->gravity = ss_vec(0.0, 0.0, 0.0);
    add_strand("super-helix:root=free,elements=1", &design, &root);
    for (int k = 0; k < strand()->size.nv; k++) {
        world->now.v[k] = (k < 3 ? 0.2 : k < 6 ? 3.0 : 10.0) * ss_random_normal(&own);
    }
    const ss_vec3 P = sum_over_mass(false), A = sum_over_mass(true);
    for (int k = 0; k < (int)lround(0.05 / h); k++) {
        step(h, 1.0);
    }
    *linear = ss_length(ss_minus(sum_over_mass(false), P)) / ss_length(P);
    *angular = ss_length(ss_minus(sum_over_mass(true), A)) / ss_length(A);
}

static void a_free_strand_keeps_its_momenta_to_first_order(void)
{
    double linear[2], angular[2];
    momentum_changes(2e-4, &linear[0], &angular[0]);
    clear();
    set_up();
    momentum_changes(1e-4, &linear[1], &angular[1]);
    CHECK(linear[0] < 0.02 && angular[0] < 0.02);
    CHECK_NEAR(linear[0] / linear[1], 2.0, 0.2);
    CHECK_NEAR(angular[0] / angular[1], 2.0, 0.2);
}

// From rest, weight along -y: after n steps of h it has fallen by g h^2 n (n + 1) / 2.
static void a_free_strand_falls_like_a_stone(void)
{
    const ss_strand_design design = random_design(&g, 5, 20.0);
    const ss_pose root = random_pose(&g);
    add_strand("super-helix:root=free", &design, &root);
    ss_strand_place(world, 0, &world->now, &at);
    const ss_vec3 x = at.points[11].x;
    for (int k = 0; k < 100; k++) {
        step(1e-3, 1.0);
    }
    ss_strand_place(world, 0, &world->now, &at);
    const double drop = 9.81 * 1e-6 * 100.0 * 101.0 / 2.0;
    CHECK_LE(ss_length(ss_minus(at.points[11].x, ss_along(x, -drop, ss_vec(0.0, 1.0, 0.0)))), 1e-9);
}

static void run_tests(void)
{
    RUN_TEST(a_natural_helix_without_gravity_stays_at_rest);
    RUN_TEST(a_settled_style_rests_under_gravity_and_returns);
    RUN_TEST(a_settled_style_with_shared_twist_does_so_too);
    RUN_TEST(five_elements_swing_within_a_percent_of_the_beam);
    RUN_TEST(eight_elements_swing_within_four_tenths_of_a_percent);
    RUN_TEST(energy_is_lost_to_first_order_in_the_step);
    RUN_TEST(a_free_strand_keeps_its_momenta_to_first_order);
    RUN_TEST(a_free_strand_falls_like_a_stone);
}

const test_group super_helix_motion_tests = {
    .run = run_tests, .set_up = set_up, .tear_down = tear_down};
