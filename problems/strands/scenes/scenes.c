// problems/strands/scenes/scenes.c -- the scenes by name, and what is asked of all of them.
#include "problems/strands/scenes/scene.h"

#include <string.h>

#include "problems/strands/scenes/request.h"
#include "problems/strands/scenes/scenes.h"

const ss_scene *const ss_scenes[] = {SS_LISTED_SCENES, NULL};

const ss_scene *ss_scene_find(const char *name)
{
    for (int k = 0; ss_scenes[k] != NULL; k++) {
        if (strcmp(ss_scenes[k]->name, name) == 0) {
            return ss_scenes[k];
        }
    }
    return NULL;
}

// The collision hash and 32-bit indices of the one-step problem end before this many strands do.
#define RODS_MAX 1000000

ss_status ss_request_check(const ss_scene_request *request, ss_error *e)
{
    if (request->rods < 0 || request->rods > RODS_MAX) {
        return ss_fail(e, SS_BAD_INPUT, "%d rods: a scene takes 1 to %d", request->rods, RODS_MAX);
    }
    if (!isnan(request->mu) && !(request->mu >= 0.0 && request->mu <= 100.0)) {
        return ss_fail(e, SS_BAD_INPUT, "a friction of %g: a scene takes 0 to 100", request->mu);
    }
    return SS_OK;
}

ss_status ss_request_check_one_rod(const ss_scene_request *request, ss_error *e)
{
    if (request->rods > 1) {
        return ss_fail(e, SS_BAD_INPUT, "%d rods: this scene has one; leave the number out",
                       request->rods);
    }
    return ss_request_check(request, e);
}
