// strands/scenes/incline.h -- a straight rod on an inclined plane.
//
// With slope theta it stays where it is for mu >= tan theta, and otherwise slides down with
// g (sin theta - mu cos theta).
#pragma once

#include "strands/scenes/scene.h"

// The rod lies across the way down at an angle, the plane through the origin rises along +x.
// The model needs a free root.
ss_status ss_incline_build(double slope, double mu, const ss_model_choice *model, ss_world *world,
                           ss_step_options *options, ss_error *e);

// The unit vector down the plane.
ss_vec3 ss_incline_down(double slope);
