// Heads of hair: that it lies on head and shoulders, and what friction does to it.
#include "harness/frames/trajectory.h"
#include "tests/support/scene_run.h"
#include "tests/support/support.h"

#define STEP 0.004 // s: half as many steps as a scene's own

static scene_run *start(const scene_choice *choice)
{
    scene_run *run = open_run(choice, "gs/mfb+enum", 1e-3);
    run->scene.options.dt = STEP;
    run->solver.max_iterations = 200;
    start_run(run);
    return run;
}

// ---- Head and shoulders

#define HEAD     0 // obstacles of head.c
#define SHOULDER 2 // and the next

// Which of the obstacles are touched in the first 0.4 s.
static void touched(const char *scene, bool *head, bool *shoulders)
{
    const scene_choice choice = {.scene = scene, .rods = 40, .mu = NAN, .seed = 1};
    scene_run *run = start(&choice);
    *head = *shoulders = false;
    for (int k = 0; k < 100; k++) {
        step_run(run);
        int count;
        const ss_touch *touches = ss_stepper_touches(run->stepper, &count);
        for (int i = 0; i < count; i++) {
            const bool obstacle = touches[i].strand_b < 0;
            *head |= obstacle && touches[i].segment_b == HEAD;
            *shoulders |= obstacle && touches[i].segment_b >= SHOULDER;
        }
    }
    close_run(run);
}

static void hair_falls_on_head_and_shoulders(void)
{
    static const char *const SCENES[] = {"free-a", "free-b", "curly"};
    for (int k = 0; k < 3; k++) {
        bool head, shoulders;
        touched(SCENES[k], &head, &shoulders);
        CHECK(head);
        CHECK(shoulders);
    }
}

// ---- Friction in a fast turn (Figure 8 of [D11])

#define RODS       32
#define AFTER_TURN 0.6 // s: the head rests from 0.32 s on
#define END        0.94

// Means over the time after the turn.
typedef struct after_turn {
    double dispersion, kinetic; // m, J
} after_turn;

static after_turn turn_head(double mu, uint64_t seed)
{
    ss_error error;
    ss_strands *strands;
    const scene_choice choice = {.scene = "turn", .rods = RODS, .mu = mu, .seed = seed};
    scene_run *run = start(&choice);
    CHECK_OK(ss_strands_new(run->scene.world, &strands, &error));
    after_turn mean = {0.0, 0.0};
    double time = 0.0;
    while (run->scene.world->now.time < END) {
        const ss_step_report *r = step_run(run);
        if (r->time > AFTER_TURN) {
            ss_strands_look(strands);
            mean.dispersion += r->dt * ss_strands_dispersion(strands);
            mean.kinetic += r->dt * r->energy.kinetic;
            time += r->dt;
        }
    }
    ss_strands_free(strands);
    close_run(run);
    return (after_turn){mean.dispersion / time, mean.kinetic / time};
}

// Friction takes 29 % of the dispersion and 69 % of the kinetic energy; another seed moves both by
// 1 %.
static void friction_keeps_hair_together_and_brings_it_to_rest(void)
{
    const after_turn smooth = turn_head(0.0, 1), rough = turn_head(0.5, 1);
    const after_turn other = turn_head(0.0, 2);
    CHECK_LE(rough.dispersion, 0.85 * smooth.dispersion);
    CHECK_LE(rough.kinetic, 0.6 * smooth.kinetic);
    CHECK_NEAR(other.dispersion, smooth.dispersion, 0.05 * smooth.dispersion);
    CHECK_NEAR(other.kinetic, smooth.kinetic, 0.15 * smooth.kinetic);
}

static void run_tests(void)
{
    RUN_TEST(hair_falls_on_head_and_shoulders);
    RUN_TEST(friction_keeps_hair_together_and_brings_it_to_rest);
}

const test_group hair_tests = {.run = run_tests};
