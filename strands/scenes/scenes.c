// strands/scenes/scenes.c -- the scenes by name, and what is asked of all of them.
#include "strands/scenes/scene.h"

#include <stdlib.h>
#include <string.h>

#include "strands/scenes/request.h"
#include "strands/scenes/scenes.h"
#include "strands/spec.h"

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

static ss_entry scene_entry(int k)
{
    const ss_scene *s = ss_scenes[k];
    return s != NULL ? (ss_entry){s->name, s->keys, s->defaults, s->settings_size, s->key_needs}
                     : (ss_entry){0};
}

ss_status ss_scene_parse(const char *spec, ss_scene_choice *choice, ss_error *e)
{
    const ss_catalogue scenes = {"scene", scene_entry};
    int which;
    *choice = (ss_scene_choice){0};
    const ss_status status = ss_spec_parse(&scenes, spec, &which, &choice->settings, e);
    if (status == SS_OK) {
        choice->scene = ss_scenes[which];
        strcpy(choice->spec, spec);
    }
    return status;
}

void ss_scene_choice_free(ss_scene_choice *choice)
{
    free(choice->settings);
    *choice = (ss_scene_choice){0};
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

static ss_status check_rods(const ss_scene_request *request, int rods, const char *number,
                            ss_error *e)
{
    if (request->rods > 0 && request->rods != rods) {
        return ss_fail(e, SS_BAD_INPUT, "%d rod%s: this scene has %s; leave the number out",
                       request->rods, request->rods == 1 ? "" : "s", number);
    }
    return ss_request_check(request, e);
}

ss_status ss_request_check_one_rod(const ss_scene_request *request, ss_error *e)
{
    return check_rods(request, 1, "one", e);
}

ss_status ss_request_check_two_rods(const ss_scene_request *request, ss_error *e)
{
    return check_rods(request, 2, "two", e);
}
