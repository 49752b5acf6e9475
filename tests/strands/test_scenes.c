// The scenes: that they can be built, start apart and at rest, and are the same each time.
#include <stdlib.h>
#include <string.h>

#include "strands/scenes/props.h"
#include "tests/support/brute_contacts.h"
#include "tests/support/scene_run.h"
#include "tests/support/support.h"

#define FEW 40 // strands: more than wisps, so that some have neighbours

// Scenes of one or two rods have these, whatever is asked for.
static bool is_hair(const ss_scene *s)
{
    return s->rods > 2;
}

static scene_choice few_of(const ss_scene *s)
{
    return (scene_choice){.scene = s->name, .rods = is_hair(s) ? FEW : 0, .mu = NAN, .seed = 1};
}

static void every_scene_is_named_found_and_complete(void)
{
    for (int k = 0; ss_scenes[k] != NULL; k++) {
        const ss_scene *s = ss_scenes[k];
        CHECK(ss_scene_find(s->name) == s);
        CHECK(strspn(s->name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(s->name));
        CHECK(strlen(s->shows) > 0 && s->reference != NULL && s->build != NULL);
        CHECK(s->rods >= 1 && s->steps >= 1 && s->dt >= 1e-3 && s->dt <= 4e-2);
    }
    CHECK(ss_scene_find("bald") == NULL);
}

static void every_scene_has_the_strands_asked_for(void)
{
    for (int k = 0; ss_scenes[k] != NULL; k++) {
        const scene_choice choice = few_of(ss_scenes[k]);
        scene_world s = open_scene(&choice);
        CHECK(s.world->nstrands == (is_hair(ss_scenes[k]) ? FEW : ss_scenes[k]->rods));
        for (int j = 0; j < s.world->nq; j++) {
            CHECK(isfinite(s.world->now.q[j]));
        }
        close_scene(&s);
    }
}

// Obstacles may be touched at the start, up to rounding.
#define TOUCHING 1e-9 // m

static void check_apart(const scene_choice *choice)
{
    scene_world s = open_scene(choice);
    scene_lines l = lines_of(s.world, &s.world->now);
    const double strands = least_strand_gap(&l.lines);
    const double obstacles = least_obstacle_gap(s.world, &s.world->now, &l.lines);
    free_lines(&l);
    close_scene(&s);
    CHECK_LE(0.0, strands);
    CHECK_LE(-TOUCHING, obstacles);
}

static void no_strand_starts_inside_another_or_an_obstacle(void)
{
    for (int k = 0; ss_scenes[k] != NULL; k++) {
        scene_choice choice = few_of(ss_scenes[k]);
        check_apart(&choice);
        choice.rods = is_hair(ss_scenes[k]) ? 150 : 0;
        choice.seed = 2;
        check_apart(&choice);
    }
}

static void chords_stay_within_half_a_radius_of_the_strand(void)
{
    // Not on the capstan, where chords touch and vertices stay outside.
    for (int k = 0; ss_scenes[k] != NULL && is_hair(ss_scenes[k]); k++) {
        const scene_choice coarse = few_of(ss_scenes[k]);
        scene_world s = open_scene(&coarse);
        scene_lines l = lines_of(s.world, &s.world->now);
        for (int j = 0; j < l.lines.nstrands; j++) {
            for (int p = l.first[j]; p + 2 < l.first[j + 1]; p++) {
                // The middle vertex of three is as far from the chord of the other two as four
                // arcs of one segment are high.
                const ss_vec3 middle = ss_scaled(0.5, ss_plus(l.x[p], l.x[p + 2]));
                const double height = ss_length(ss_minus(l.x[p + 1], middle)) / 4.0;
                CHECK_LE(height, 0.5 * s.world->radius);
            }
        }
        free_lines(&l);
        close_scene(&s);
    }
}

static void the_same_seed_gives_the_same_bits(void)
{
    for (int k = 0; ss_scenes[k] != NULL; k++) {
        const scene_choice choice = few_of(ss_scenes[k]);
        scene_world a = open_scene(&choice), b = open_scene(&choice);
        const size_t size = (size_t)a.world->nq * sizeof(double);
        CHECK(memcmp(a.world->now.q, b.world->now.q, size) == 0);
        close_scene(&a);
        close_scene(&b);
    }
}

static void another_seed_gives_other_hair(void)
{
    scene_choice choice = {.scene = "pony", .rods = FEW, .mu = NAN, .seed = 1};
    scene_world a = open_scene(&choice);
    choice.seed = 2;
    scene_world b = open_scene(&choice);
    CHECK(a.world->strands[0].root.place.x != b.world->strands[0].root.place.x);
    close_scene(&a);
    close_scene(&b);
}

static void friction_of_a_request_keeps_the_ratio_of_obstacles(void)
{
    const scene_choice choice = {.scene = "free-b", .rods = FEW, .mu = 0.4, .seed = 1};
    scene_world s = open_scene(&choice);
    CHECK_NEAR(s.world->mu, 0.4, 1e-15);
    CHECK_NEAR(s.world->obstacles[0].mu, 0.6, 1e-15);
    close_scene(&s);
}

static void check_refused(const char *name, int rods, double mu)
{
    ss_error error;
    ss_model_choice model;
    const ss_scene *scene = ss_scene_find(name);
    CHECK_OK(ss_model_parse(scene->model, &model, &error));
    ss_world *world = ss_world_new();
    ss_step_options options = ss_step_defaults();
    const ss_scene_request request = {.rods = rods, .mu = mu, .seed = 1, .model = &model};
    const ss_status status = ss_scene_build(scene, &request, world, &options, &error);
    ss_world_free(world);
    ss_model_choice_free(&model);
    CHECK(status == SS_BAD_INPUT && strlen(error.text) > 0);
}

static void requests_that_cannot_be_are_refused(void)
{
    for (int k = 0; ss_scenes[k] != NULL; k++) {
        check_refused(ss_scenes[k]->name, -1, NAN);
        check_refused(ss_scenes[k]->name, 0, -0.1);
        check_refused(ss_scenes[k]->name, 0, INFINITY);
        if (!is_hair(ss_scenes[k])) {
            check_refused(ss_scenes[k]->name, ss_scenes[k]->rods + 1, NAN);
        }
    }
    check_refused("pony", 100000, NAN); // wider than its bend
}

// ---- Bundles

static scene_lines bundle_lines(const ss_bundle *bundle, ss_world **world)
{
    ss_error error;
    ss_model_choice model;
    CHECK_OK(ss_model_parse("super-helix", &model, &error));
    *world = ss_world_new();
    ss_random g = ss_random_seeded(3);
    const ss_pose root = ss_pose_identity();
    CHECK_OK(ss_bundle_add(*world, &model, bundle, 0, &root, &g, &error));
    ss_model_choice_free(&model);
    return lines_of(*world, &(*world)->now);
}

static const ss_bundle PLAIN = {.rods = 37,
                                .material = {1320.0, 50e-6, 1.0, 3.9e9, 0.48, 0.01, 1.0},
                                .length = 0.2,
                                .pieces = 5,
                                .bent = 2,
                                .bend = -15.0,
                                .tail = 3.0,
                                .flat = 1.0,
                                .spacing = 1e-3,
                                .nsegments = 400};

// Two rods of a planar bundle are one spacing apart all along, up to their last piece.
static void check_spacing(const ss_bundle *b, double tolerance)
{
    ss_world *world;
    scene_lines l = bundle_lines(b, &world);
    const double gap = least_strand_gap(&l.lines) + 2.0 * world->radius;
    free_lines(&l);
    ss_world_free(world);
    CHECK_NEAR(gap, b->spacing, tolerance);
}

static void parallel_rods_keep_their_spacing(void)
{
    ss_bundle b = PLAIN;
    check_spacing(&b, 1e-8);
    b.flat = 4.0;
    check_spacing(&b, 1e-8);
}

static void copies_of_a_helix_are_a_spacing_apart_at_least(void)
{
    ss_bundle b = PLAIN;
    b.twist = 60.0;
    b.bend = 40.0;
    b.bent = b.pieces;
    ss_world *world;
    scene_lines l = bundle_lines(&b, &world);
    const double gap = least_strand_gap(&l.lines) + 2.0 * world->radius;
    free_lines(&l);
    ss_world_free(world);
    CHECK_LE(b.spacing, gap * (1.0 + 1e-6));
    CHECK_LE(gap, 1.1 * b.spacing); // and the bound is not idle
}

static void a_hexagonal_bundle_is_as_wide_as_it_says(void)
{
    // 37 places are a hexagon with four to a side: its corners are three spacings out.
    ss_world *world;
    scene_lines l = bundle_lines(&PLAIN, &world);
    double reach = 0.0;
    for (int k = 0; k < PLAIN.rods; k++) {
        reach = fmax(reach, ss_length(l.x[l.first[k]]));
    }
    free_lines(&l);
    ss_world_free(world);
    CHECK_NEAR(reach, 3.0 * PLAIN.spacing, 1e-12);
    ss_error error;
    double extent[2];
    CHECK_OK(ss_bundle_extent(&PLAIN, extent, &error));
    CHECK_NEAR(extent[0], 3.0 * sqrt(0.75) * PLAIN.spacing, 1e-12);
    CHECK_NEAR(extent[1], 3.0 * PLAIN.spacing, 1e-12);
    CHECK_LE(reach, ss_bundle_reach(&PLAIN, 1));
    CHECK_LE(reach, ss_bundle_reach(&PLAIN, 2));
}

static void segments_follow_the_rule_of_half_a_radius(void)
{
    const int K = ss_bundle_segments(0.25, 10.0, 5e-4);
    const double l = 0.25 / K, longer = 0.25 / (K - 1);
    CHECK_LE(l * l * 10.0 / 8.0, 2.5e-4);
    CHECK_LE(2.5e-4, longer * longer * 10.0 / 8.0);
    CHECK(ss_bundle_segments(0.25, 0.0, 5e-4) == 1);
}

// Without unrest the style is an equilibrium: what is left are rates of rounding.
static void a_settled_bundle_rests(void)
{
    ss_error error;
    ss_world *world;
    ss_bundle bundle = PLAIN;
    bundle.nsegments = 20;
    scene_lines l = bundle_lines(&bundle, &world);
    CHECK_OK(ss_world_settle(world, &error));
    ss_step_options options = ss_step_defaults();
    options.contacts = false;
    const ss_step_solver none = {.solve = NULL, .context = NULL};
    ss_stepper *stepper = ss_stepper_new(world, &options, none, &error);
    CHECK(stepper != NULL);
    for (int k = 0; k < 5; k++) {
        ss_step_report report;
        CHECK_OK(ss_stepper_step(stepper, &report, &error));
    }
    CHECK_LE(largest_of(world->now.v, world->nv), 1e-9);
    ss_stepper_free(stepper);
    free_lines(&l);
    ss_world_free(world);
}

// A straight bundle at rest except for what gathers it: rod 0 is the centre line, and the outermost
// come nearer to it everywhere.
static void gathered_rods_press_towards_the_centre_line(void)
{
    ss_error error;
    ss_world *world;
    ss_bundle bundle = PLAIN;
    bundle.nsegments = 20;
    bundle.bend = bundle.tail = 0.0;
    bundle.gather = 2.0;
    scene_lines before = bundle_lines(&bundle, &world);
    CHECK_OK(ss_world_settle(world, &error));
    ss_step_options options = ss_step_defaults();
    options.contacts = false;
    ss_stepper *stepper =
        ss_stepper_new(world, &options, (ss_step_solver){.solve = NULL, .context = NULL}, &error);
    CHECK(stepper != NULL);
    ss_step_report report;
    CHECK_OK(ss_stepper_step(stepper, &report, &error));
    scene_lines after = lines_of(world, &world->now);
    for (int k = 19; k < PLAIN.rods; k++) {
        const int middle = bundle.nsegments / 2;
        const int a = before.first[0] + middle, b = before.first[k] + middle;
        CHECK(ss_length(ss_minus(after.x[b], after.x[a])) <
              ss_length(ss_minus(before.x[b], before.x[a])));
    }
    ss_stepper_free(stepper);
    free_lines(&before);
    free_lines(&after);
    ss_world_free(world);
}

static void run_tests(void)
{
    RUN_TEST(every_scene_is_named_found_and_complete);
    RUN_TEST(every_scene_has_the_strands_asked_for);
    RUN_TEST(no_strand_starts_inside_another_or_an_obstacle);
    RUN_TEST(chords_stay_within_half_a_radius_of_the_strand);
    RUN_TEST(the_same_seed_gives_the_same_bits);
    RUN_TEST(another_seed_gives_other_hair);
    RUN_TEST(friction_of_a_request_keeps_the_ratio_of_obstacles);
    RUN_TEST(requests_that_cannot_be_are_refused);
    RUN_TEST(parallel_rods_keep_their_spacing);
    RUN_TEST(copies_of_a_helix_are_a_spacing_apart_at_least);
    RUN_TEST(a_hexagonal_bundle_is_as_wide_as_it_says);
    RUN_TEST(segments_follow_the_rule_of_half_a_radius);
    RUN_TEST(a_settled_bundle_rests);
    RUN_TEST(gathered_rods_press_towards_the_centre_line);
}

const test_group scenes_tests = {.run = run_tests};
