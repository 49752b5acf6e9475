// problems/strands/scenes/hair.h -- a full head of hair in wisps, straight or curly.
//
// Wisps leave the scalp in rows around the head, each in the plane of its azimuth: first lifted off
// the scalp, then turning downwards on an arc until they hang straight. Rows that start higher turn
// wider, so that they hang outside of those below and no two wisps meet. The style of a wisp is an
// arc and a straight piece (bundle.h), so that it is known in closed form and all of it can be
// settled: hair is at rest until the head moves. Curly wisps are helices about straight axes that
// fan out from the head.
#pragma once

#include "problems/strands/scene.h"
#include "problems/strands/scenes/request.h"

typedef struct ss_hair {
    int rods;
    ss_friction friction;
    ss_motion head;
    bool curly;
} ss_hair;

ss_status ss_hair_build(const ss_hair *hair, const ss_scene_request *request, ss_world *world,
                        ss_step_options *options, ss_error *e);
