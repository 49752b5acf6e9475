// Winds of a scene file (scene_parts.h).
#include "harness/scene_file/scene_parts.h"

typedef struct wind {
    const char *kind, *body;
    ss_wind air;
} wind;

static const ss_json_field WIND[] = {
    NEEDED(wind, "kind", kind, TEXT),
    FIELD(wind, "velocity", air.velocity, VECTOR),
    FIELD(wind, "drift", air.drift, VECTOR),
    FIELD(wind, "gust", air.gust, REAL),
    FIELD(wind, "period", air.period, POSITIVE),
    FIELD(wind, "start", air.start, REAL),
    FIELD(wind, "rise", air.rise, NOT_NEGATIVE),
    FIELD(wind, "size", air.size, POSITIVE),
    FIELD(wind, "length", air.length, POSITIVE),
    FIELD(wind, "strength", air.strength, REAL),
    FIELD(wind, "body", body, TEXT),
    FIELD(wind, "position", air.place, VECTOR),
    FIELD(wind, "seed", air.seed, COUNT),
    FIELD(wind, "along", air.along, REAL),
    FIELD(wind, "across", air.across, REAL),
    FIELD(wind, "root", air.root, REAL),
    FIELD(wind, "tip", air.tip, REAL),
    {.key = NULL},
};

static ss_status add_wind(const ss_json *at, ss_world *w, ss_error *e)
{
    wind given = {.air = ss_wind_still(SS_WIND_STEADY)};
    int kind;
    ss_status status = ss_json_object(at, WIND, &given, e);
    if (status != SS_OK || !ss_scene_word(at, "kind", ss_wind_kinds, given.kind, &kind, e)) {
        return SS_BAD_INPUT;
    }
    given.air.kind = (ss_wind_kind)kind;
    status = ss_scene_body(at, "body", given.body, &given.air.body, e);
    return status == SS_OK ? ss_json_prefix(at, ss_world_add_wind(w, &given.air, e), e) : status;
}

ss_status ss_scene_add_winds(const ss_json *root, ss_world *w, ss_error *e)
{
    return ss_scene_add_all(root, "winds", add_wind, w, e);
}
