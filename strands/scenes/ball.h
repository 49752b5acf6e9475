// strands/scenes/ball.h -- a ball about the origin that turns about the vertical.
#pragma once

#include "strands/world.h"

// angle: rad over time. mu: of strands against the ball. The body carries it and all that is
// clamped to it.
ss_status ss_ball_add(ss_world *w, double radius, const ss_profile *angle, double mu, int *body,
                      ss_error *e);
