// harness/simulate/size.h -- whether the machine's memory holds a scene.
#pragma once

#include "strands/scenes/scene.h"

// Of a scene with so many strands that building them takes long, two smaller ones are built first, and the
// memory of a strand, in the world and in its steps, is what the larger takes more. SS_BAD_INPUT where
// all strands, without their contacts, take more than the machine has.
ss_status ss_simulate_check_size(const ss_scene *scene, const ss_scene_request *request,
                                 const ss_step_options *options, ss_error *e);
