// tests/strands/test_link_scenes.c -- the scenes of [H06]: what each of them shows, and where there are known
// answers.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/frames/frames.h"
#include "strands/models/oriented.h"
#include "strands/world.h"
#include "tests/support/link_run.h"
#include "tests/support/support.h"

#define BODY 1 // the one that a scene adds first

// The farthest way of any point of strand 0 at any step until `time`.
static double moved_until(scene_run *run, double time)
{
    const int n = run->scene.world->strands[0].size.npoints;
    ss_vec3 *start = points_of(run, 0);
    double most = 0.0;
    while (run->scene.world->now.time < time - 1e-9) {
        step_run(run);
        most = fmax(most, moved(run, start, 0, n));
    }
    free(start);
    return most;
}

// ---- Zero-gravity rest shape

// The largest torque at a joint that springs and weight leave, over m g L/2.
static double rest_error(const ss_world *w, int k)
{
    const ss_strand *s = &w->strands[k];
    const ss_oriented_strand *own = s->self;
    const ss_oriented_base base = {.pose = ss_pose_product(&s->root, &own->home),
                                   .acceleration = ss_scaled(-1.0, w->gravity)};
    double *rs = calloc(2 * (size_t)s->size.nv, sizeof *rs), *rest = rs + s->size.nv;
    CHECK(rs != NULL);
    ss_oriented_residual(own->tree, &base, w->now.q + s->q, rest, NULL, NULL, rs);
    const double most = largest_of(rs, s->size.nv);
    free(rs);
    return most / (own->mass * ss_length(w->gravity) * 0.5 * own->length);
}

static void every_scene_of_links_begins_in_equilibrium(void)
{
    static const char *const SCENES[] = {"bangs", "lantern", "tree", "ear", "braid"};
    for (int k = 0; k < 5; k++) {
        scene_run *run = open_links(SCENES[k], 0);
        for (int j = 0; j < run->scene.world->nstrands; j++) {
            CHECK_LE(rest_error(run->scene.world, j), 1e-12);
        }
        close_run(run);
    }
}

static void bangs_are_nine_strands_of_15_links_that_do_not_sag(void)
{
    scene_run *run = open_still("bangs");
    const ss_world *w = run->scene.world;
    TEST_ASSERT_EQUAL_INT(9, w->nstrands);
    TEST_ASSERT_EQUAL_INT(3 * 15, w->strands[0].size.nv);
    scene_lines l = lines_of(w, &w->now);
    CHECK(least_strand_gap(&l.lines) > 0.0);
    free_lines(&l);
    start_run(run);
    CHECK_LE(moved_until(run, 1.0), 1e-10);
    CHECK_LE(largest_of(w->now.v, w->nv), 1e-7);
    close_run(run);
    // Their shape is due to their weight: with half of it more they sag.
    run = open_still("bangs");
    run->scene.world->gravity = ss_scaled(1.5, run->scene.world->gravity);
    start_run(run);
    CHECK(moved_until(run, 0.3) > 1e-3);
    close_run(run);
}

// ---- Lantern

#define STEM 20 // links

// The angle by which the stem is twisted: that of its joints together.
static double stem_twist(const scene_run *run)
{
    const ss_world *w = run->scene.world;
    const ss_oriented *tree = ((const ss_oriented_strand *)w->strands[0].self)->tree;
    double sum = 0.0;
    for (int j = 0; j < STEM; j++) {
        const ss_joint joint = ss_joint_at(tree->link[j].rest, ss_quat_read(w->now.q + 4 * j));
        sum += 2.0 * atan(joint.T);
    }
    return sum;
}

typedef struct lantern_motion {
    double twist, swing, after; // the most; m; the most of the twist in the last 0.2 s
} lantern_motion;

// While the hand turns with this period, and then does not.
static lantern_motion wave_lantern(double period, double until, double calm)
{
    scene_run *run = open_links("lantern", 0);
    ss_world *w = run->scene.world;
    lantern_motion m = {0.0, 0.0, 0.0};
    w->bodies[BODY].angle.period = period;
    start_run(run);
    const double at_rest = stem_twist(run);
    const ss_vec3 start = point_of(run, 0, STEM);
    while (w->now.time < until + calm) {
        step_run(run);
        const double twist = fabs(stem_twist(run) - at_rest);
        if (w->now.time < until) {
            m.twist = fmax(m.twist, twist);
            m.swing = fmax(m.swing, ss_length(ss_minus(point_of(run, 0, STEM), start)));
        } else {
            w->bodies[BODY].angle.kind = SS_PROFILE_STILL;
            m.after = w->now.time > until + calm - 0.2 ? fmax(m.after, twist) : 0.0;
        }
    }
    close_run(run);
    return m;
}
// The hand takes a flower along that it turns slowly: what twists the stem is inertia alone, as period^-2.
static void a_lantern_twists_and_swings_with_the_hand(void)
{
    scene_run *run = open_links("lantern", 0);
    const ss_oriented_strand *own = run->scene.world->strands[0].self;
    double petals = 0.0;
    for (int j = STEM; j < own->tree->n; j++) {
        petals += own->tree->link[j].mass;
    }
    CHECK(petals > 0.8 * own->mass);
    close_run(run);
    const lantern_motion brisk = wave_lantern(1.2, 3.6, 4.0);
    CHECK(brisk.twist > 0.1 && brisk.swing > 0.03);
    CHECK_LE(brisk.after, 0.3 * brisk.twist);
    const lantern_motion slow = wave_lantern(8.0, 8.0, 0.0), slower = wave_lantern(16.0, 16.0, 0.0);
    CHECK_NEAR(4.0, slow.twist / slower.twist, 0.2);
    CHECK_NEAR(4.0, slow.swing / slower.swing, 0.2);
}

// ---- Tree

static ss_vec3 crown(const scene_run *run)
{
    ss_vec3 *x = points_of(run, 0), sum = {0.0, 0.0, 0.0};
    const int n = run->scene.world->strands[0].size.npoints;
    for (int i = 0; i < n; i++) {
        sum = ss_along(sum, 1.0 / n, x[i]);
    }
    free(x);
    return sum;
}

// How far a tree leans after `time` of a steady wind, and `calm` later.
static void blow(double wind, double time, double calm, ss_vec3 *leans, ss_vec3 *after)
{
    char spec[60];
    snprintf(spec, sizeof spec, "tree:wind=%g,turbulence=0", wind);
    scene_run *run = open_links(spec, 0);
    ss_world *w = run->scene.world;
    TEST_ASSERT_EQUAL_INT(93, ((const ss_oriented_strand *)w->strands[0].self)->tree->n);
    w->winds[0].gust = 0.0;
    start_run(run);
    const ss_vec3 before = crown(run);
    go_on(run, time);
    *leans = ss_minus(crown(run), before);
    w->winds[0].velocity = ss_vec(0.0, 0.0, 0.0);
    go_on(run, time + calm);
    *after = ss_minus(crown(run), before);
    close_run(run);
}

static void a_tree_bends_with_the_wind_and_comes_back(void)
{
    ss_vec3 leans, after;
    blow(6.0, 2.0, 4.0, &leans, &after);
    CHECK(leans.x > 0.02 && leans.x > 5.0 * fabs(leans.z));
    CHECK_LE(ss_length(after), 0.05 * ss_length(leans));
    blow(0.0, 1.0, 0.0, &leans, &after);
    CHECK_LE(ss_length(leans), 1e-11);
}

static void a_tree_leans_in_proportion_to_a_light_wind(void)
{
    ss_vec3 one, two, after;
    blow(0.02, 1.0, 0.0, &one, &after);
    blow(0.04, 1.0, 0.0, &two, &after);
    CHECK_LE(ss_length(ss_minus(ss_scaled(2.0, one), two)), 2e-3 * ss_length(two));
}

// ---- Ear

#define EAR_TIP 12

// Of the tip from the place that the pose has at the first or the third key, that of the folded ear.
static double from_pose(const scene_run *run, int key)
{
    const struct ss_posing *pose = run->scene.world->strands[0].posing;
    return ss_length(ss_minus(point_of(run, 0, EAR_TIP), pose->keys[key].place[EAR_TIP]));
}

static void an_ear_keeps_its_pose_and_follows_the_animated_one(void)
{
    scene_run *run = open_still("ear");
    const struct ss_posing *pose = run->scene.world->strands[0].posing;
    const double way =
        ss_length(ss_minus(pose->keys[2].place[EAR_TIP], pose->keys[0].place[EAR_TIP]));
    start_run(run);
    CHECK_LE(moved_until(run, 0.79), 1e-9); // upright, at rest
    go_on(run, 1.7);
    CHECK_LE(from_pose(run, 2), 0.1 * way); // folded
    go_on(run, 2.2);
    CHECK_LE(from_pose(run, 0), 0.1 * way); // upright again
    close_run(run);
}

// How far the tip is from the folded pose.
static double unfolded(const char *spec)
{
    scene_run *run = open_links(spec, 0);
    start_run(run);
    go_on(run, 1.65);
    const double far = from_pose(run, 2);
    close_run(run);
    return far;
}

static void a_stronger_pose_holds_an_ear_closer(void)
{
    const double weak = unfolded("ear:strength=0.1,damping=0.1"), own = unfolded("ear");
    const double strong = unfolded("ear:strength=10,damping=10");
    CHECK(weak > 1.5 * own && own > 1.5 * strong);
    CHECK(unfolded("ear:strength=0,damping=0") > 0.1);
}

static void an_ear_is_let_loose_and_caught_again(void)
{
    scene_run *run = open_links("ear", 0);
    double loose = 0.0;
    start_run(run);
    go_on(run, 2.3);
    while (run->scene.world->now.time < 3.2) {
        step_run(run);
        loose = fmax(loose, from_pose(run, 0));
    }
    go_on(run, 4.0);
    CHECK(loose > 0.1);
    CHECK_LE(from_pose(run, 0), 0.2 * loose);
    close_run(run);
}

// ---- Braid

#define BUN_END 20 // the last point of the stiff part
#define LAST    44

// The largest motion of the stiff part and of the tip in the frame of the head.
static void braid_moves(const char *spec, bool turns, double *bun, double *tip)
{
    scene_run *run = open_links(spec, 0);
    ss_world *w = run->scene.world;
    run->scene.options.contacts = turns;
    for (int k = 1; k < w->nbodies && !turns; k++) {
        w->bodies[k].angle.kind = SS_PROFILE_STILL;
    }
    start_run(run);
    TEST_ASSERT_EQUAL_INT(LAST + 1, w->strands[0].size.npoints);
    ss_vec3 *start = points_of(run, 0);
    *bun = *tip = 0.0;
    while (w->now.time < 2.0) {
        step_run(run);
        *bun = fmax(*bun, moved(run, start, 0, BUN_END + 1));
        *tip = fmax(*tip, moved(run, start, LAST, LAST + 1));
    }
    free(start);
    close_run(run);
}

static void the_bun_stays_in_shape_and_the_braid_follows(void)
{
    double bun, tip;
    braid_moves("braid", true, &bun, &tip);
    CHECK_LE(bun, 0.008); // m; its diameter is ten times as much
    CHECK(tip > 0.08 && tip > 15.0 * bun);
}

// The hips bob with the head: against them the head rests. The shoulders, which do not bob, are left out.
static void local_dynamics_take_the_bobbing_away(void)
{
    double bun, tip, own;
    braid_moves("braid:local=1", false, &bun, &tip);
    CHECK_LE(tip, 1e-9);
    braid_moves("braid:local=0.5", false, &bun, &own);
    braid_moves("braid:local=0", false, &bun, &tip);
    CHECK(own > 1e-3 && tip > 1.5 * own);
}

// ---- Pictures

// How far the strands are outside their picture at most, as a share of its size, in the first 3.3 s.
static double outside(const char *scene)
{
    ss_error error;
    ss_strands *strands;
    scene_run *run = open_links(scene, 0);
    const ss_world *w = run->scene.world;
    double most = 0.0;
    CHECK_OK(ss_strands_new(w, &strands, &error));
    const ss_view view = ss_view_around(strands, &SS_CAMERA);
    start_run(run);
    while (w->now.time < 3.3) {
        step_run(run);
        scene_lines l = lines_of(w, &w->now);
        for (int i = 0; i < w->npoints; i++) {
            const double x = ss_view_x(&view, l.x[i]), y = ss_view_y(&view, l.x[i]);
            most = fmax(most, fmax(view.low[0] - x, x - view.high[0]));
            most = fmax(most, fmax(view.low[1] - y, y - view.high[1]));
        }
        free_lines(&l);
    }
    ss_strands_free(strands);
    close_run(run);
    return most / view.size;
}

static void strands_that_swing_stay_in_their_pictures(void)
{
    static const char *const SCENES[] = {"lantern", "tree", "ear", "braid"};
    for (int k = 0; k < 4; k++) {
        CHECK_LE(outside(SCENES[k]), 0.0);
    }
}

static void run_tests(void)
{
    RUN_TEST(every_scene_of_links_begins_in_equilibrium);
    RUN_TEST(bangs_are_nine_strands_of_15_links_that_do_not_sag);
    RUN_TEST(a_lantern_twists_and_swings_with_the_hand);
    RUN_TEST(a_tree_bends_with_the_wind_and_comes_back);
    RUN_TEST(a_tree_leans_in_proportion_to_a_light_wind);
    RUN_TEST(an_ear_keeps_its_pose_and_follows_the_animated_one);
    RUN_TEST(a_stronger_pose_holds_an_ear_closer);
    RUN_TEST(an_ear_is_let_loose_and_caught_again);
    RUN_TEST(the_bun_stays_in_shape_and_the_braid_follows);
    RUN_TEST(local_dynamics_take_the_bobbing_away);
    RUN_TEST(strands_that_swing_stay_in_their_pictures);
}

const test_group link_scenes_tests = {.run = run_tests};
