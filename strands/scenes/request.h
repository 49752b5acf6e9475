// strands/scenes/request.h -- what scenes make of a request that is theirs to interpret.
#pragma once

#include "strands/scenes/scene.h"

// The friction of a scene: request->mu takes the place of the strands' own, and obstacles keep
// their ratio to it.
typedef struct ss_friction {
    double strand, obstacle;
} ss_friction;

// SS_BAD_INPUT with a sentence for a mu or a number of rods that cannot be.
ss_status ss_request_check(const ss_scene_request *request, ss_error *e);
// Likewise, and for another number than the one or two rods that the scene is about.
ss_status ss_request_check_one_rod(const ss_scene_request *request, ss_error *e);
ss_status ss_request_check_two_rods(const ss_scene_request *request, ss_error *e);

static inline const void *ss_request_settings(const ss_scene_request *request, const void *defaults)
{
    return request->settings != NULL ? request->settings : defaults;
}

static inline int ss_request_rods(const ss_scene_request *request, int own)
{
    return request->rods > 0 ? request->rods : own;
}

static inline ss_friction ss_request_friction(const ss_scene_request *request, ss_friction own)
{
    if (isnan(request->mu)) {
        return own;
    }
    return (ss_friction){request->mu, request->mu * own.obstacle / own.strand};
}
