// A solver and two chains that many tests of steps begin with.
#include "tests/support/stepping.h"

#include <stdlib.h>

#include "base/random.h"
#include "solvers/registry.h"
#include "tests/support/support.h"
#include "tests/support/twisting_chain.h"

ss_status solve_step(void *context, const ss_problem *p, double *r, ss_step_answer *answer,
                     ss_error *e)
{
    stepping *s = context;
    ss_method *method = NULL;
    ss_result result = {0};
    s->calls++;
    ss_status status = ss_method_parse("secular", &method, e);
    if (status == SS_OK) {
        const ss_task task = {.problem = p,
                              .method = method,
                              .tolerance = 1e-10,
                              .max_iterations = 2000,
                              .clock = SS_CLOCK_WALL};
        status = ss_solve(&task, r, &result, e);
    }
    ss_method_free(method);
    *answer = (ss_step_answer){
        .status = "solved", .solved = true, .iterations = result.iterations, .left = s->left};
    return status;
}

ss_pose pose_at(ss_vec3 place, ss_vec3 w)
{
    return (ss_pose){ss_rotation(w), place};
}

void crossing_chains(ss_world *w, double apart)
{
    const ss_pose first = pose_at(ss_vec(-0.15, 0.0, 0.0), ss_vec(0.0, 0.0, 0.0));
    const ss_pose second = pose_at(ss_vec(0.0, -0.15, apart), ss_vec(0.0, 0.0, 0.5 * M_PI));
    toy_strand(w, &toy_chain, 0.3, 3, 0, &first);
    toy_strand(w, &toy_chain, 0.3, 3, 0, &second);
}

void stir(ss_world *world, double speed)
{
    ss_random g = ss_random_seeded(11);
    for (int j = 0; j < world->nv; j++) {
        world->now.v[j] = speed * ss_random_between(&g, -1.0, 1.0);
    }
}

static int moving_body(ss_world *world, double size)
{
    ss_error error = {0};
    const ss_motion m = {
        .angle = {.kind = SS_PROFILE_OSCILLATE, .size = size, .period = 0.5, .start = -0.6},
        .axis = ss_unit(ss_vec(1.0, -2.0, 0.5)),
        .centre = {0.1, 0.2, -0.3},
        .shift = {.kind = SS_PROFILE_STEADY, .size = size, .period = 0.2, .start = -1.0},
        .direction = ss_unit(ss_vec(0.0, 1.0, 3.0)),
    };
    int body = -1;
    CHECK_OK(ss_world_add_body(world, &m, &body, &error));
    return body;
}

static void add_obstacle(ss_world *world, ss_obstacle_kind kind, ss_vec3 size, ss_vec3 place,
                         int body)
{
    ss_error error = {0};
    const ss_obstacle o = {
        .kind = kind, .size = size, .pose = {ss_mat3_identity(), place}, .body = body, .mu = 0.5};
    CHECK_OK(ss_world_add_obstacle(world, &o, &error));
}

static int curl(ss_world *world, const char *model, int body, const ss_pose *root)
{
    ss_error error = {0};
    ss_model_choice choice = {0};
    CHECK_OK(ss_model_parse(model, &choice, &error));
    const double style[5][3] = {
        {1.0, 8.0, -3.0}, {2.0, -5.0, 9.0}, {0.0, 7.0, 4.0}, {1.0, 1.0, 1.0}, {3.0, -9.0, 2.0}};
    const ss_strand_design design = {.length = 0.2,
                                     .material = ss_material_hair(),
                                     .npieces = 5,
                                     .style = style,
                                     .nsegments = 10};
    int number = -1;
    CHECK_OK(ss_world_add_strand(world, &choice, &design, body, root, &number, &error));
    ss_model_choice_free(&choice);
    return number;
}

int tied_strand(ss_world *world, int body, const ss_pose *root, int tip_body, ss_clamp clamp)
{
    ss_error error = {0};
    const ss_model_choice choice = {.model = &twisting_chain};
    const ss_strand_design design = {
        .length = 0.2, .material = ss_material_hair(), .nsegments = 8, .clamp = clamp};
    int number = -1;
    CHECK_OK(ss_world_add_strand(world, &choice, &design, body, root, &number, &error));
    CHECK_OK(ss_world_tie_tip(world, number, tip_body, &error));
    return number;
}

// What is at `pose` in the world, in the frame of a body at time 0.
static ss_pose in_body(const ss_world *world, int body, const ss_pose *pose)
{
    ss_motion_state at;
    ss_motion_at(&world->bodies[body], 0.0, &at);
    const ss_mat3 *turn = &at.pose.turn;
    return (ss_pose){
        (ss_mat3){{ss_turned_back(turn, pose->turn.c[0]), ss_turned_back(turn, pose->turn.c[1]),
                   ss_turned_back(turn, pose->turn.c[2])}},
        ss_pose_back(&at.pose, pose->place)};
}

void crowd(ss_world *world, double speed)
{
    const int first = moving_body(world, 0.1 * speed), second = moving_body(world, -0.15 * speed);
    crossing_chains(world, 0.012);
    const ss_pose hinge = pose_at(ss_vec(-0.1, -0.1, 0.006), ss_vec(0.0, 0.0, 0.7));
    toy_strand(world, &toy_pendulum, 0.3, 3, first, &hinge);
    const ss_pose near = pose_at(ss_vec(0.0, -0.05, -0.006), ss_vec(0.0, 0.0, 1.0));
    const ss_pose far = pose_at(ss_vec(0.03, -0.03, 0.02), ss_vec(0.3, 0.0, 1.9));
    const ss_pose beside = pose_at(ss_vec(0.06, -0.02, -0.02), ss_vec(0.2, 0.4, 2.6));
    curl(world, "super-helix", first, &near);
    curl(world, "super-helix", second, &far);
    curl(world, "tmf", second, &beside);
    for (int k = 0; k < world->nstrands; k++) {
        ss_strand *s = &world->strands[k]; // roots are where they are above at time 0
        s->root = in_body(world, s->body, &s->root);
    }
    const ss_pose across = pose_at(ss_vec(-0.15, 0.11, 0.0), ss_vec(0.0, 0.0, 0.0));
    const ss_pose tie = in_body(world, first, &across);
    tied_strand(world, first, &tie, second, SS_CLAMP_BOTH);
    ss_motion_state at;
    ss_motion_at(&world->bodies[second], 0.0, &at);
    add_obstacle(world, SS_OBSTACLE_SPHERE, ss_vec(0.05, 0.0, 0.0),
                 ss_pose_back(&at.pose, ss_vec(0.05, 0.05, -0.04)), second);
    stir(world, 0.3 * speed);
}

double replay_error(const ss_problem *p, const double *r, const double *v)
{
    double worst = 0.0;
    double *rest = calloc(2 * (size_t)p->ndofs, sizeof *rest), *size = rest + p->ndofs;
    for (int i = 0; i < p->ndofs; i++) {
        rest[i] = -p->f[i];
        size[i] = fabs(p->f[i]);
    }
    for (int j = 0; j < p->ndofs; j++) {
        for (int k = p->M.start[j]; k < p->M.start[j + 1]; k++) {
            rest[p->M.row[k]] += p->M.x[k] * v[j];
            size[p->M.row[k]] += fabs(p->M.x[k] * v[j]);
        }
    }
    for (int j = 0; j < p->H.ncols; j++) {
        for (int k = p->H.start[j]; k < p->H.start[j + 1]; k++) {
            rest[p->H.row[k]] -= p->H.x[k] * r[j];
            size[p->H.row[k]] += fabs(p->H.x[k] * r[j]);
        }
    }
    for (int i = 0; i < p->ndofs; i++) {
        const double share = size[i] > 0.0 ? fabs(rest[i]) / size[i] : 0.0;
        worst = share > worst || isnan(share) ? share : worst;
    }
    free(rest);
    return worst;
}
