// Strands as they are seen from outside: where they are, what is measured of that, and pictures.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/frames/frames.h"
#include "tests/support/program.h"
#include "tests/support/support.h"

static ss_error error;

// Three straight strands of 0.1 m along +z from (0, 0, 0), (0.3, 0, 0) and (0, 0.4, 0), the first
// two on a body that moves along y.
static ss_world *three_strands(double speed)
{
    static const ss_strand_design DESIGN = {
        .length = 0.1, .material = {1320.0, 5e-5, 1.0, 3.9e9, 0.48, 0.01, 1.0}, .nsegments = 4};
    ss_model_choice model;
    CHECK_OK(ss_model_parse("super-helix", &model, &error));
    ss_world *w = ss_world_new();
    ss_motion motion = ss_motion_still();
    motion.direction = ss_vec(0.0, 1.0, 0.0);
    motion.shift = (ss_profile){.kind = SS_PROFILE_STEADY, .size = speed, .period = 1.0};
    int body, number;
    CHECK_OK(ss_world_add_body(w, &motion, &body, &error));
    const ss_vec3 roots[] = {{0.0, 0.0, 0.0}, {0.3, 0.0, 0.0}, {0.0, 0.4, 0.0}};
    // Columns n0 = z, n1 = x, n2 = y.
    const ss_mat3 turn = {{{0.0, 0.0, 1.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}}};
    for (int k = 0; k < 3; k++) {
        const ss_pose root = {turn, roots[k]};
        CHECK_OK(ss_world_add_strand(w, &model, &DESIGN, k < 2 ? body : 0, &root, &number, &error));
    }
    ss_model_choice_free(&model);
    return w;
}

// One vertex of four is 1 cm off, and the root has moved.
static void unrest_is_the_rms_distance_to_the_natural_shape(void)
{
    const ss_vec3 rest[4] = {{0.0, 0.0, 0.0}, {0.1, 0.0, 0.0}, {0.1, 0.1, 0.0}, {0.1, 0.1, 0.1}};
    ss_vec3 x[4] = {rest[0], rest[1], rest[2], rest[3]};
    x[3].z += 0.01;
    const ss_strand_design design = {.material = {1320.0, 5e-5, 1.0, 3.9e9, 0.48, 0.01, 1.0},
                                     .nvertices = 4,
                                     .vertices = x,
                                     .rest = rest,
                                     .clamp = SS_CLAMP_NONE};
    ss_model_choice model;
    CHECK_OK(ss_model_parse("lifted-curls", &model, &error));
    ss_world *w = ss_world_new();
    w->keeps_designs = true;
    const ss_pose root = {ss_rotation(ss_vec(0.0, 1.0, 0.0)), ss_vec(0.3, 0.2, 0.1)};
    int number;
    CHECK_OK(ss_world_add_strand(w, &model, &design, 0, &root, &number, &error));
    ss_model_choice_free(&model);
    ss_strands *s;
    CHECK_OK(ss_strands_new(w, &s, &error));
    CHECK_NEAR(ss_strands_unrest(s), 0.005, 1e-15);
    CHECK(isnan(ss_strands_tip_gap(s)));
    ss_strands_free(s);
    ss_world_free(w);
}

static void tips_are_measured_in_the_world(void)
{
    ss_world *w = three_strands(0.25);
    ss_strands *s;
    CHECK_OK(ss_strands_new(w, &s, &error));
    const ss_vec3 tip = ss_strands_tip(s, 1);
    CHECK_NEAR(tip.x, 0.3, 1e-15);
    CHECK_NEAR(tip.z, 0.1, 1e-15);
    CHECK_NEAR(ss_strands_dispersion(s), (0.3 + 0.4 + 0.5) / 3.0, 1e-15);
    CHECK_NEAR(ss_strands_tip_gap(s), (0.3 + 0.3 + 0.4) / 3.0, 1e-15);
    CHECK(isnan(ss_strands_unrest(s))); // no strand has vertices of its own
    CHECK_NEAR(ss_strands_stretch_percent(s, 0.3), 0.0, 1e-12);
    CHECK_NEAR(ss_strands_stretch_percent(s, 0.33), 10.0, 1e-11);
    w->now.time = 10.0; // the profile is eased in by then
    ss_strands_look(s);
    CHECK_NEAR(ss_strands_tip_velocity(s, 0).y, 0.25, 1e-12);
    CHECK_NEAR(ss_strands_tip_velocity(s, 2).y, 0.0, 1e-15);
    // Unit velocity of one dof against a difference of places.
    const ss_vec3 before = ss_strands_tip(s, 2);
    const int q = w->strands[2].q + 1, v = w->strands[2].v + 1;
    w->now.v[v] = 1.0;
    const ss_vec3 rate = ss_strands_tip_velocity(s, 2);
    w->now.q[q] += 1e-6;
    ss_strands_look(s);
    const ss_vec3 way = ss_scaled(1e6, ss_minus(ss_strands_tip(s, 2), before));
    CHECK_LE(ss_length(ss_minus(way, rate)), 1e-6 * ss_length(rate));
    CHECK(ss_length(rate) > 1e-4);
    ss_strands_free(s);
    ss_world_free(w);
}

static void a_look_at_tips_sees_them_where_they_are(void)
{
    ss_world *w = three_strands(0.25);
    ss_strands *all, *tips;
    CHECK_OK(ss_strands_new(w, &all, &error));
    CHECK_OK(ss_strands_new(w, &tips, &error));
    w->now.time = 10.0;
    for (int j = 0; j < w->nq; j++) {
        w->now.q[j] += 0.1 * (j % 7);
        w->now.v[j] = 0.3 * (j % 5);
    }
    const ss_vec3 before = ss_strands_tip(tips, 0);
    ss_strands_look(all);
    ss_strands_look_at_tips(tips, NULL);
    CHECK(ss_length(ss_minus(ss_strands_tip(tips, 0), before)) > 0.1);
    for (int k = 0; k < 3; k++) {
        const ss_vec3 a = ss_strands_tip(all, k), b = ss_strands_tip(tips, k);
        CHECK(memcmp(&a, &b, sizeof a) == 0);
        const ss_vec3 va = ss_strands_tip_velocity(all, k), vb = ss_strands_tip_velocity(tips, k);
        CHECK(memcmp(&va, &vb, sizeof va) == 0);
    }
    CHECK(ss_strands_dispersion(all) == ss_strands_dispersion(tips));
    CHECK(tips->time == 10.0);
    ss_strands *given;
    CHECK_OK(ss_strands_new(w, &given, &error));
    w->now.v[0] += 1.0;
    ss_strands_look_at_tips(tips, NULL);
    ss_strands_look_at_tips(given, all->at.x);
    CHECK(ss_strands_tip_gap(given) == ss_strands_tip_gap(tips));
    const ss_vec3 a = ss_strands_tip_velocity(given, 0), b = ss_strands_tip_velocity(tips, 0);
    CHECK(memcmp(&a, &b, sizeof a) == 0);
    ss_strands_free(given);
    ss_strands_free(all);
    ss_strands_free(tips);
    ss_world_free(w);
}

// More tips than are summed side by side: on a line, 1 m apart.
static void dispersion_is_the_mean_of_all_distances(void)
{
    const ss_strand_design design = {.length = 0.1, .material = ss_material_hair(), .nsegments = 1};
    const int n = 21;
    ss_model_choice model;
    ss_strands *s;
    ss_world *w = ss_world_new();
    CHECK_OK(ss_model_parse("tmf", &model, &error));
    for (int k = 0; k < n; k++) {
        const ss_pose root = {ss_mat3_identity(), {0.0, k, 0.0}};
        int number;
        CHECK_OK(ss_world_add_strand(w, &model, &design, 0, &root, &number, &error));
    }
    ss_model_choice_free(&model);
    CHECK_OK(ss_strands_new(w, &s, &error));
    CHECK_NEAR(ss_strands_dispersion(s), (n + 1) / 3.0, 1e-13);
    CHECK_NEAR(ss_strands_tip_gap(s), 1.0, 1e-14);
    ss_strands_free(s);
    ss_world_free(w);
}

static void obstacles_hide_what_is_behind_them(void)
{
    ss_world *w = three_strands(0.0);
    const ss_obstacle ball = {.kind = SS_OBSTACLE_SPHERE,
                              .size = {0.05, 0.05, 0.05},
                              .pose = {ss_mat3_identity(), {0.0, -1.0, 0.0}}};
    CHECK_OK(ss_world_add_obstacle(w, &ball, &error));
    ss_strands *s;
    CHECK_OK(ss_strands_new(w, &s, &error));
    const ss_view view = ss_view_around(s, &SS_CAMERA);
    const ss_vec3 middle = ss_vec(0.0, -1.0, 0.0);
    CHECK(ss_view_hides(&view, s, ss_along(middle, -0.06, view.towards)));
    CHECK(!ss_view_hides(&view, s, ss_along(middle, 0.06, view.towards)));
    CHECK(!ss_view_hides(&view, s, ss_along(middle, 0.051, view.right)));
    CHECK(ss_view_hides(&view, s, ss_along(middle, 0.049, view.right)));
    CHECK_NEAR(ss_dot(view.right, view.up), 0.0, 1e-15);
    CHECK(ss_view_y(&view, middle) - 0.05 > view.low[1]);
    ss_strands_free(s);
    ss_world_free(w);
}

// A plane below the strands: what falls on it stays in the picture, as far to the sides as it fell.
static void a_plane_in_reach_is_in_the_picture(void)
{
    static const double DEPTHS[] = {0.3, 100.0};
    for (int k = 0; k < 2; k++) {
        ss_world *w = three_strands(0.0);
        // z of the plane is up.
        const ss_mat3 turn = {{{1.0, 0.0, 0.0}, {0.0, 0.0, -1.0}, {0.0, 1.0, 0.0}}};
        ss_strands *s;
        CHECK_OK(ss_strands_new(w, &s, &error));
        const ss_view before = ss_view_around(s, &SS_CAMERA);
        ss_strands_free(s);
        const ss_obstacle plane = {.kind = SS_OBSTACLE_PLANE,
                                   .pose = {turn, {0.0, -DEPTHS[k], 0.0}}};
        CHECK_OK(ss_world_add_obstacle(w, &plane, &error));
        CHECK_OK(ss_strands_new(w, &s, &error));
        const ss_view view = ss_view_around(s, &SS_CAMERA);
        // Below the first root, and as far to the left of there.
        const ss_vec3 foot = ss_vec(0.0, -DEPTHS[k], 0.0);
        const ss_vec3 aside = ss_along(foot, -DEPTHS[k], view.right);
        CHECK(ss_view_y(&before, foot) < before.low[1] &&
              ss_view_x(&before, aside) < before.low[0]);
        CHECK((ss_view_y(&view, foot) > view.low[1]) == (k == 0));
        CHECK((ss_view_x(&view, aside) > view.low[0]) == (k == 0));
        CHECK((before.size < view.size) == (k == 0));
        ss_strands_free(s);
        ss_world_free(w);
    }
}

static void the_camera_turns_rises_and_comes_closer(void)
{
    ss_world *w = three_strands(0.0);
    ss_strands *s;
    ss_camera camera;
    CHECK_OK(ss_strands_new(w, &s, &error));
    CHECK_OK(ss_camera_parse("90,0", &camera, &error)); // from +x
    const ss_view side = ss_view_around(s, &camera);
    CHECK_NEAR(side.towards.x, 1.0, 1e-15);
    CHECK_NEAR(side.right.z, -1.0, 1e-15);
    CHECK_NEAR(side.up.y, 1.0, 1e-15);
    CHECK_OK(ss_camera_parse("0,30,2", &camera, &error));
    const ss_view close = ss_view_around(s, &camera);
    CHECK_NEAR(close.towards.y, 0.5, 1e-15);
    CHECK_OK(ss_camera_parse("0,30", &camera, &error));
    const ss_view far = ss_view_around(s, &camera);
    CHECK_NEAR(far.high[0] - far.low[0], 2.0 * (close.high[0] - close.low[0]), 1e-15);
    static const char *const BAD[] = {"",        "39",     "39,91", "a,b",
                                      "1,2,3,4", "39,9,0", "1,2,",  "nan,0"};
    for (size_t k = 0; k < sizeof BAD / sizeof BAD[0]; k++) {
        CHECK(ss_camera_parse(BAD[k], &camera, &error) == SS_BAD_INPUT);
    }
    ss_strands_free(s);
    ss_world_free(w);
}

// As a full disk, which gnuplot does not notice.
static void half_a_frame_is_said_and_removed(void)
{
    ss_world *w = three_strands(0.0);
    ss_strands *s;
    ss_frames *frames;
    char folder[400], picture[500], path[5000];
    char *before = strdup(getenv("PATH"));
    snprintf(folder, sizeof folder, "%s", scratch_path("half"));
    snprintf(picture, sizeof picture, "%s/frame_00000.png", folder);
    const char *gnuplot =
        put_scratch("gnuplot", "#!/bin/sh\nprintf '\\211PNG and half of it' >frame_00000.png\n");
    CHECK(chmod(gnuplot, 0700) == 0);
    snprintf(path, sizeof path, "%s:%s", scratch_path(""), before);
    setenv("PATH", path, 1);
    CHECK_OK(ss_strands_new(w, &s, &error));
    CHECK_OK(ss_frames_open(folder, 0.1, "half", s, &SS_CAMERA, &frames, &error));
    const ss_status status = ss_frames_draw(frames, &error);
    setenv("PATH", before, 1);
    free(before);
    TEST_ASSERT_EQUAL_INT(SS_SYSTEM, status);
    HOLDS(error.text, "half/frame_00000.png: gnuplot could not write all of it; is the disk full?");
    CHECK(access(picture, F_OK) != 0);
    TEST_ASSERT_EQUAL_INT(0, ss_frames_count(frames));
    ss_frames_free(frames);
    ss_strands_free(s);
    ss_world_free(w);
    remove(gnuplot);
    snprintf(path, sizeof path, "rm -r '%s'", folder);
    CHECK(system(path) == 0);
}

static void a_frame_holds_every_strand_in_the_world(void)
{
    if (system("gnuplot --version >/dev/null 2>&1") != 0) {
        TEST_IGNORE_MESSAGE("gnuplot is not installed");
    }
    ss_world *w = three_strands(0.0);
    ss_strands *s;
    ss_frames *frames;
    char folder[400], path[500];
    snprintf(folder, sizeof folder, "%s", scratch_path("frames"));
    CHECK_OK(ss_strands_new(w, &s, &error));
    CHECK_OK(ss_frames_open(folder, 0.1, "it's a_three", s, &SS_CAMERA, &frames, &error));
    CHECK(ss_frames_due(frames, 0.0));
    CHECK_OK(ss_frames_draw(frames, &error));
    CHECK(!ss_frames_due(frames, 0.05) && ss_frames_due(frames, 0.1 - 1e-9));
    TEST_ASSERT_EQUAL_INT(1, ss_frames_count(frames));
    snprintf(path, sizeof path, "%s/frame_00000.obj", folder);
    const char *text = file_text(path);
    HOLDS(text, "\nv 0.3 0 0.1\n");
    HOLDS(text, "\nl 11 12 13 14 15\n"); // of 3 x 5 vertices
    TEST_ASSERT_EQUAL_INT(1 + 15 + 3, count_lines(text));
    snprintf(path, sizeof path, "%s/frame_00000.png", folder);
    CHECK(strncmp(file_text(path) + 1, "PNG", 3) == 0);
    snprintf(path, sizeof path, "%s/frame.gp", folder);
    HOLDS(file_text(path), "\nset label \"it's a_three, 0.000 s\" at graph 0.02,0.03 noenhanced");
    ss_frames_free(frames);
    ss_strands_free(s);
    ss_world_free(w);
    snprintf(path, sizeof path, "rm -r '%s'", folder);
    CHECK(system(path) == 0);
}

static void run_tests(void)
{
    RUN_TEST(tips_are_measured_in_the_world);
    RUN_TEST(unrest_is_the_rms_distance_to_the_natural_shape);
    RUN_TEST(a_look_at_tips_sees_them_where_they_are);
    RUN_TEST(dispersion_is_the_mean_of_all_distances);
    RUN_TEST(obstacles_hide_what_is_behind_them);
    RUN_TEST(a_plane_in_reach_is_in_the_picture);
    RUN_TEST(the_camera_turns_rises_and_comes_closer);
    RUN_TEST(a_frame_holds_every_strand_in_the_world);
    RUN_TEST(half_a_frame_is_said_and_removed);
}

const test_group strands_tests = {.run = run_tests};
