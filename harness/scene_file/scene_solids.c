// Bodies and obstacles of a scene file (scene_parts.h).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/scene_file/scene_file.h"
#include "harness/scene_file/scene_parts.h"

// How far from 1 and from each other's right angles a rotation may be.
#define TURN_ROUNDING 1e-6
// How far from 1 the length of a quaternion is that was made unit.
#define UNIT_ROUNDING 1e-15

// ---- Poses

// The rotation of a quaternion that is of unit length up to rounding.
static ss_status unit_of(const ss_json *at, const double q[4], ss_quat *turn, ss_error *e)
{
    const ss_quat p = ss_quat_read(q);
    const double size = sqrt(p.w * p.w + p.x * p.x + p.y * p.y + p.z * p.z);
    const ss_json member = ss_json_member(at, "rotation");
    if (!(fabs(size - 1.0) <= TURN_ROUNDING)) {
        return ss_json_fail(&member, e,
                            "has the length %.10g: a rotation is [w, x, y, z] of length 1", size);
    }
    *turn = fabs(size - 1.0) <= UNIT_ROUNDING ? p : ss_quat_unit(p); // what was written is read
    return SS_OK;
}

static bool is_turn(const ss_mat3 *R)
{
    double far = ss_length(ss_minus(ss_cross(R->c[0], R->c[1]), R->c[2]));
    for (int k = 0; k < 3; k++) {
        far = fmax(far, fabs(ss_dot(R->c[k], R->c[k]) - 1.0));
    }
    return fmax(far, fabs(ss_dot(R->c[0], R->c[1]))) <= TURN_ROUNDING;
}

const ss_scene_pose SS_SCENE_POSE_NONE = {
    .rotation = {1.0, 0.0, 0.0, 0.0},
    .turn = {{{NAN, NAN, NAN}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}}};

ss_status ss_scene_pose_of(const ss_json *at, const ss_scene_pose *given, ss_pose *pose,
                           ss_error *e)
{
    ss_quat p;
    *pose = (ss_pose){given->turn, given->position};
    if (isnan(given->turn.c[0].x)) {
        const ss_status status = unit_of(at, given->rotation, &p, e);
        if (status == SS_OK) {
            pose->turn = ss_quat_matrix(p);
        }
        return status;
    }
    const ss_json member = ss_json_member(at, "turn");
    if (ss_json_member(at, "rotation").value != NULL) {
        return ss_json_fail(&member, e, "and 'rotation' say the same: leave one of them out");
    }
    return is_turn(&pose->turn)
               ? SS_OK
               : ss_json_fail(&member, e, "is no rotation: give three orthonormal columns");
}

// ---- Bodies

typedef struct profile {
    const char *kind;
    double size, period, start;
} profile;

static const ss_json_field PROFILE[] = {
    NEEDED(profile, "kind", kind, TEXT),
    FIELD(profile, "size", size, REAL),
    FIELD(profile, "period", period, POSITIVE),
    FIELD(profile, "start", start, REAL),
    {.key = NULL},
};

typedef struct script {
    json_t *angle, *shift;
    ss_vec3 axis, centre, direction;
} script;

static const ss_json_field SCRIPT[] = {
    FIELD(script, "angle", angle, VALUE),          FIELD(script, "axis", axis, VECTOR),
    FIELD(script, "centre", centre, VECTOR),       FIELD(script, "shift", shift, VALUE),
    FIELD(script, "direction", direction, VECTOR), {.key = NULL},
};

static ss_status read_profile(const ss_json *motion, const char *key, ss_profile *to, ss_error *e)
{
    const ss_json at = ss_json_member(motion, key);
    profile p = {.kind = ss_scene_profiles[SS_PROFILE_STILL], .period = 1.0};
    int kind = SS_PROFILE_STILL;
    const ss_status status = at.value != NULL ? ss_json_object(&at, PROFILE, &p, e) : SS_OK;
    if (status != SS_OK || !ss_scene_word(&at, "kind", ss_scene_profiles, p.kind, &kind, e)) {
        return SS_BAD_INPUT;
    }
    *to = (ss_profile){(ss_profile_kind)kind, p.size, p.period, p.start};
    return SS_OK;
}

// An object: a turn about an axis and a shift, by profiles of time.
static ss_status read_script(const ss_json *at, ss_motion *motion, ss_error *e)
{
    const ss_motion still = ss_motion_still();
    script s = {.axis = still.axis, .direction = still.direction};
    ss_status status = ss_json_object(at, SCRIPT, &s, e);
    *motion = still;
    motion->axis = s.axis;
    motion->centre = s.centre;
    motion->direction = s.direction;
    status = status == SS_OK ? read_profile(at, "angle", &motion->angle, e) : status;
    status = status == SS_OK ? read_profile(at, "shift", &motion->shift, e) : status;
    const double a = ss_profile_start(&motion->shift), turning = ss_profile_start(&motion->angle);
    return status != SS_OK || (a <= SS_MOTION_JUMP && turning <= SS_MOTION_SPIN_JUMP)
               ? status
               : ss_json_fail(
                     at, e,
                     "jumps: it would need %.3g m/s^2 and %.3g rad/s^2, and at most %g and "
                     "%g are taken; give it a longer period",
                     a, turning, SS_MOTION_JUMP, SS_MOTION_SPIN_JUMP);
}

typedef struct keyframe {
    double time;
    ss_vec3 position;
    double rotation[4];
} keyframe;

static const ss_json_field KEY[] = {
    NEEDED(keyframe, "time", time, REAL),
    FIELD(keyframe, "position", position, VECTOR),
    FIELD(keyframe, "rotation", rotation, QUATERNION),
    {.key = NULL},
};

// An array of keys. The caller frees motion->keys.
static ss_status read_keys(const ss_json *at, ss_motion *motion, ss_error *e)
{
    const size_t n = json_array_size(at->value);
    ss_status status = SS_OK;
    *motion = ss_motion_still();
    if (n == 0) {
        return ss_json_fail(at, e, "has no key: leave it out of a body that rests");
    }
    motion->keys = calloc(n, sizeof *motion->keys);
    if (motion->keys == NULL) {
        return ss_fail_memory(e, "the motion of a body");
    }
    keyframe one = {
        .rotation = {1.0, 0.0, 0.0, 0.0}}; // what a key leaves out is that of the one before
    for (size_t k = 0; k < n && status == SS_OK; k++) {
        const ss_json item = ss_json_item(at, k), time = ss_json_member(&item, "time");
        status = ss_json_object(&item, KEY, &one, e);
        if (status == SS_OK && k > 0 && !(one.time > motion->keys[k - 1].time)) {
            status = ss_json_fail(&time, e, "must be later than that of the key before");
        }
        motion->keys[k] = (ss_motion_key){.time = one.time, .place = one.position};
        status = status == SS_OK ? unit_of(&item, one.rotation, &motion->keys[k].turn, e) : status;
    }
    motion->nkeys = (int)n;
    return status;
}

typedef struct body {
    const char *name;
    json_t *motion;
} body;

static const ss_json_field BODY[] = {
    NEEDED(body, "name", name, TEXT),
    FIELD(body, "motion", motion, VALUE),
    {.key = NULL},
};

static ss_status add_body(const ss_json *at, ss_world *w, ss_error *e)
{
    body b = {0};
    ss_motion motion = ss_motion_still();
    ss_status status = ss_json_object(at, BODY, &b, e);
    if (status == SS_OK && b.motion != NULL) {
        const ss_json how = ss_json_member(at, "motion");
        status =
            json_is_array(b.motion) ? read_keys(&how, &motion, e) : read_script(&how, &motion, e);
    }
    int number;
    if (status == SS_OK) {
        status = ss_json_prefix(at, ss_world_add_body(w, &motion, &number, e), e);
    }
    free(motion.keys);
    return status;
}

ss_status ss_scene_add_all(const ss_json *root, const char *key, ss_scene_add_item *add,
                           ss_world *w, ss_error *e)
{
    const ss_json list = ss_json_member(root, key);
    if (list.value != NULL && !json_is_array(list.value)) {
        return ss_json_fail(&list, e, "must be an array");
    }
    ss_status status = SS_OK;
    for (size_t k = 0; k < json_array_size(list.value) && status == SS_OK; k++) {
        const ss_json item = ss_json_item(&list, k);
        status = add(&item, w, e);
    }
    return status;
}

ss_status ss_scene_body(const ss_json *at, const char *key, const char *name, int *number,
                        ss_error *e)
{
    const ss_json *root = at;
    while (root->parent != NULL) {
        root = root->parent;
    }
    json_t *bodies = json_object_get(root->value, "bodies");
    *number = 0;
    for (size_t k = 0; name != NULL && k < json_array_size(bodies); k++) {
        const char *own = json_string_value(json_object_get(json_array_get(bodies, k), "name"));
        if (own != NULL && strcmp(own, name) == 0) {
            *number = (int)k + 1; // body 0 is the world
        }
    }
    const ss_json member = ss_json_member(at, key);
    return name == NULL || *number > 0
               ? SS_OK
               : ss_json_fail(&member, e, "there is no body '%.60s' among 'bodies'", name);
}

// ---- Obstacles

typedef struct obstacle {
    const char *kind, *body;
    ss_scene_pose pose;
    ss_vec3 axis, semi_axes;
    double radius, length, mu, sliding, restitution;
} obstacle;

static const ss_json_field OBSTACLE[] = {
    NEEDED(obstacle, "kind", kind, TEXT),
    FIELD(obstacle, "body", body, TEXT),
    FIELD(obstacle, "mu", mu, NOT_NEGATIVE),
    FIELD(obstacle, "sliding", sliding, NOT_NEGATIVE),
    FIELD(obstacle, "restitution", restitution, NOT_NEGATIVE),
    FIELD(obstacle, "position", pose.position, VECTOR),
    FIELD(obstacle, "rotation", pose.rotation, QUATERNION),
    FIELD(obstacle, "turn", pose.turn, MATRIX),
    FIELD(obstacle, "axis", axis, VECTOR),
    FIELD(obstacle, "normal", axis, VECTOR),
    FIELD(obstacle, "radius", radius, POSITIVE),
    FIELD(obstacle, "semi_axes", semi_axes, VECTOR),
    FIELD(obstacle, "length", length, NOT_NEGATIVE),
    {.key = NULL},
};

// The keys of size and direction that each kind takes; the first `needed` of them must be there.
static const struct shape_keys {
    const char *takes[3];
    int needed;
} SHAPE_KEYS[] = {
    [SS_OBSTACLE_SPHERE] = {{"radius"}, 1},
    [SS_OBSTACLE_ELLIPSOID] = {{"semi_axes"}, 1},
    [SS_OBSTACLE_PLANE] = {{"normal"}, 0},
    [SS_OBSTACLE_CYLINDER] = {{"radius", "length", "axis"}, 2},
    [SS_OBSTACLE_CAPSULE] = {{"radius", "length", "axis"}, 2},
};

static ss_status check_shape(const ss_json *at, const char *name, int kind, ss_error *e)
{
    static const char *const ALL[] = {"radius", "semi_axes", "normal", "length", "axis"};
    const struct shape_keys *own = &SHAPE_KEYS[kind];
    for (size_t k = 0; k < sizeof ALL / sizeof ALL[0]; k++) {
        bool takes = false;
        for (int i = 0; i < 3 && own->takes[i] != NULL; i++) {
            const bool same = strcmp(own->takes[i], ALL[k]) == 0;
            takes = takes || same;
            if (same && i < own->needed && ss_json_member(at, ALL[k]).value == NULL) {
                return ss_json_fail(at, e, "'%s' is missing: a %s needs it", ALL[k], name);
            }
        }
        const ss_json member = ss_json_member(at, ALL[k]);
        if (!takes && member.value != NULL) {
            return ss_json_fail(&member, e, "is no key of a %s", name);
        }
    }
    return SS_OK;
}

// The frame whose z is the axis, where one is given.
static ss_status turn_to_axis(const ss_json *at, const obstacle *o, ss_pose *pose, ss_error *e)
{
    const char *key = ss_json_member(at, "axis").value != NULL ? "axis" : "normal";
    const ss_json member = ss_json_member(at, key);
    if (member.value == NULL) {
        return SS_OK;
    }
    if (ss_json_member(at, "rotation").value != NULL || ss_json_member(at, "turn").value != NULL) {
        return ss_json_fail(&member, e, "and a rotation say the same: leave one of them out");
    }
    if (!(ss_length(o->axis) > 0.0)) {
        return ss_json_fail(&member, e, "has no direction: it must not be 0");
    }
    const ss_vec3 z = ss_unit(o->axis);
    const ss_vec3 x = ss_transported(ss_vec(0.0, 0.0, 1.0), z, ss_vec(1.0, 0.0, 0.0));
    pose->turn = (ss_mat3){{x, ss_cross(z, x), z}};
    return SS_OK;
}

static ss_status add_obstacle(const ss_json *at, ss_world *w, ss_error *e)
{
    obstacle o = {.pose = SS_SCENE_POSE_NONE, .mu = w->mu, .sliding = 1.0};
    ss_obstacle solid;
    int kind;
    ss_status status = ss_json_object(at, OBSTACLE, &o, e);
    if (status != SS_OK || !ss_scene_word(at, "kind", ss_scene_obstacles, o.kind, &kind, e)) {
        return SS_BAD_INPUT;
    }
    solid = (ss_obstacle){.kind = (ss_obstacle_kind)kind,
                          .mu = o.mu,
                          .sliding_loss = 1.0 - o.sliding,
                          .restitution = o.restitution};
    solid.size = kind == SS_OBSTACLE_ELLIPSOID ? o.semi_axes
                 : kind == SS_OBSTACLE_SPHERE  ? ss_vec(o.radius, o.radius, o.radius)
                                               : ss_vec(o.radius, o.radius, 0.5 * o.length);
    status = check_shape(at, o.kind, kind, e);
    status = status == SS_OK ? ss_scene_pose_of(at, &o.pose, &solid.pose, e) : status;
    status = status == SS_OK ? turn_to_axis(at, &o, &solid.pose, e) : status;
    status = status == SS_OK ? ss_scene_body(at, "body", o.body, &solid.body, e) : status;
    const ss_json axes = ss_json_member(at, "semi_axes");
    if (status == SS_OK && axes.value != NULL &&
        !(o.semi_axes.x > 0.0 && o.semi_axes.y > 0.0 && o.semi_axes.z > 0.0)) {
        status = ss_json_fail(&axes, e, "must be three numbers above 0");
    }
    return status == SS_OK ? ss_json_prefix(at, ss_world_add_obstacle(w, &solid, e), e) : status;
}

// ---- Both

static ss_status check_bodies(const ss_json *root, ss_error *e)
{
    const ss_json list = ss_json_member(root, "bodies");
    for (size_t k = 0; k < json_array_size(list.value); k++) {
        const ss_json item = ss_json_item(&list, k), name = ss_json_member(&item, "name");
        for (size_t i = 0; i < k && json_is_string(name.value); i++) {
            const char *other =
                json_string_value(json_object_get(json_array_get(list.value, i), "name"));
            if (other != NULL && strcmp(other, json_string_value(name.value)) == 0) {
                return ss_json_fail(&name, e, "'%.60s' is the name of two bodies", other);
            }
        }
    }
    return SS_OK;
}

ss_status ss_scene_add_solids(const ss_json *root, ss_world *w, ss_error *e)
{
    ss_status status = ss_scene_add_all(root, "bodies", add_body, w, e);
    status = status == SS_OK ? check_bodies(root, e) : status;
    return status == SS_OK ? ss_scene_add_all(root, "obstacles", add_obstacle, w, e) : status;
}
