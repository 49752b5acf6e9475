// strands/scenes/capstan.h -- a strand about a fixed cylinder, pulled at both ends.
//
// Without gravity and stiffness it stays where it is as long as the larger pull is at most
// e^(mu wrap) times the smaller one (Euler 1769, Eytelwein 1808).
#pragma once

#include "strands/scenes/scene.h"

// The strand touches the cylinder over the angle `wrap` (rad, 0 .. 2 pi) and leaves it on both
// sides in straight pieces, along which it is pulled with the forces `pull_root` and `pull_tip`
// (N). The model needs a free root; SS_CAPSTAN_PIECES pieces make its style.
#define SS_CAPSTAN_PIECES 24
ss_status ss_capstan_build(double wrap, double mu, double pull_root, double pull_tip,
                           const ss_model_choice *model, ss_world *world, ss_step_options *options,
                           ss_error *e);
