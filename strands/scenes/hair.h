// strands/scenes/hair.h -- a full head of hair in wisps, straight or curly.
//
// Wisps leave the scalp in rows around the head, each in the plane of its place's normal and the
// vertical. A straight wisp is an arc that lies on the scalp, or on the rows below it, as closely
// as it can without touching, and a tail that bends outwards a little, down to the shoulders or
// past them (bundle.h). Curly wisps are helices about straight axes that fan out from the head.
// Either way the hair starts apart, in the shape that is natural to it, and falls: it lies on the
// head after a tenth of a second. Strands stand for their neighbours, and are the thicker the fewer
// there are, so that few lie as densely as many.
#pragma once

#include "strands/scenes/scene.h"
#include "strands/scenes/request.h"

// The options of all these scenes.
typedef struct ss_hair_settings {
    int segments; // of a strand; 0: as many as its cylinders need to follow its curls
} ss_hair_settings;
extern const ss_hair_settings ss_hair_defaults;
extern const ss_key ss_hair_keys[];
#define SS_HAIR_OPTIONS                                                                            \
    .keys = ss_hair_keys, .defaults = &ss_hair_defaults, .settings_size = sizeof(ss_hair_settings)

typedef struct ss_hair {
    int rods;
    ss_friction friction;
    ss_motion head;
    bool curly;
    double open; // deg of azimuth without hair about the face; 0: what leaves the face free
} ss_hair;

ss_status ss_hair_build(const ss_hair *hair, const ss_scene_request *request, ss_world *world,
                        ss_step_options *options, ss_error *e);
