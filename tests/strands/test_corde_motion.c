// tests/strands/test_corde_motion.c -- rods with directors that move: their one-step problems, energy and
// frequency.
#include <stdlib.h>

#include "tests/support/scene_run.h"
#include "tests/support/stepping.h"
#include "tests/support/strand_run.h"
#include "tests/support/support.h"

#define LENGTH 0.1 // m, free
#define EDGES  16

static ss_error error;

static void set_up(void)
{
    error = (ss_error){0};
}

// ---- Problems

// Of every iterate's last: M has the gyroscopic and elastic terms of the directors.
static void the_problem_of_a_ponytail_replays(void)
{
    const scene_choice pony = {.scene = "pony", .rods = 6, .mu = NAN, .seed = 1, .model = "corde"};
    scene_run *tail = open_run(&pony, "mfb+enum", 1e-8);
    start_run(tail);
    int contacts = 0;
    for (int i = 0; i < 6; i++) {
        step_run(tail);
        const double *r, *v;
        const ss_problem *p = ss_stepper_problem(tail->stepper, &r, &v);
        contacts += p != NULL ? p->ncontacts : 0;
        CHECK(p == NULL || replay_error(p, r, v) <= 1e-14);
        CHECK(tail->last.stiffness == SS_STIFFNESS_EXACT && tail->last.rejected == 0);
    }
    CHECK(contacts > 20);
    close_run(tail);
}

// A ponytail begins at rest: what carries its weight are natural strains and aims.
static void a_settled_strand_stays_where_it_is(void)
{
    scene_run *tail = open_empty_run("corde", "mfb+enum", 1e-8);
    const double style[2][3] = {{5.0, 3.0, -12.0}, {0.0, -8.0, 4.0}};
    const ss_strand_design design = {.length = 0.15,
                                     .material = ss_material_hair(),
                                     .npieces = 2,
                                     .style = style,
                                     .nsegments = 20};
    const ss_pose root = pose_at(ss_vec(0.1, 0.2, 0.3), ss_vec(0.3, -1.0, 0.4));
    int number;
    tail->scene.options.contacts = false;
    CHECK_OK(ss_world_add_strand(tail->scene.world, &tail->scene.model, &design, 0, &root, &number,
                                 &error));
    CHECK_OK(ss_world_settle(tail->scene.world, &error));
    CHECK(tail->scene.world->unsettled == 0);
    start_run(tail);
    for (int i = 0; i < 50; i++) {
        step_run(tail);
        CHECK_LE(tail->last.max_speed, 1e-9);
    }
    close_run(tail);
}

// ---- Energy and frequency

static void a_rod_let_go_keeps_its_energy_to_the_order_of_its_scheme(void)
{
    const double coarse = energy_lost("corde", "newton", EDGES, LENGTH, 1e-3),
                 fine = energy_lost("corde", "newton", EDGES, LENGTH, 5e-4);
    CHECK(fine > 0.0);
    CHECK_NEAR(coarse / fine, 2.0, 0.2);
    const double second = energy_lost("corde", "bdf2", EDGES, LENGTH, 1e-3),
                 finer = energy_lost("corde", "bdf2", EDGES, LENGTH, 5e-4);
    CHECK_NEAR(second / finer, 4.0, 0.4);
    CHECK_LE(fabs(second), 0.05 * coarse);
}

// Two periods between turns of the tip; 16 edges swing 0.1 % off, bdf2 at 2 ms as much.
static void a_rod_swings_with_the_first_frequency(void)
{
    run r = level_rod("corde", "bdf2", EDGES, LENGTH, 0.0, ss_vec(0.0, -1e-3, 0.0), 2e-3);
    double first = 0.0, time = 0.0, before = 0.0, last = 0.0;
    for (int count = 0; count < 5;) {
        CHECK_OK(ss_stepper_step(r.s, &r.report, &error));
        const double y = tip_of(&r).y, speed = y - before;
        if (last * speed < 0.0) {
            time = r.report.time - 2e-3 * (0.5 + speed / (speed - last));
            first = count++ == 0 ? time : first;
        }
        last = speed;
        before = y;
    }
    const ss_material hair = ss_material_hair();
    CHECK_NEAR(2.0 / (time - first) / ss_material_frequency(&hair, LENGTH), 1.0, 0.006);
    free_run(&r);
}

static void run_tests(void)
{
    RUN_TEST(the_problem_of_a_ponytail_replays);
    RUN_TEST(a_settled_strand_stays_where_it_is);
    RUN_TEST(a_rod_let_go_keeps_its_energy_to_the_order_of_its_scheme);
    RUN_TEST(a_rod_swings_with_the_first_frequency);
}

const test_group corde_motion_tests = {.run = run_tests, .set_up = set_up};
