// strands/scenes/ball.c -- see ball.h.
#include "strands/scenes/ball.h"

ss_status ss_ball_add(ss_world *w, double radius, const ss_profile *angle, double mu, int *body,
                      ss_error *e)
{
    ss_motion turn = ss_motion_still();
    turn.axis = ss_vec(0.0, 1.0, 0.0);
    turn.angle = *angle;
    ss_obstacle ball = {.kind = SS_OBSTACLE_SPHERE,
                        .size = {radius, radius, radius},
                        .pose = ss_pose_identity(),
                        .mu = mu};
    const ss_status status = ss_world_add_body(w, &turn, body, e);
    ball.body = *body;
    return status == SS_OK ? ss_world_add_obstacle(w, &ball, e) : status;
}
