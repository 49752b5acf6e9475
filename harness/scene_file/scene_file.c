// Scenes from JSON files (scene_file.h). Every object is a table of its keys; what is absent has
// the default that stands in the struct.
#include "harness/scene_file/scene_file.h"

#include "harness/scene_file/json.h"
#include "strands/world.h"
#include "strands/scenes/scene.h"
#include "strands/shape.h"
#include "strands/spec.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool scene_word(const ss_json *at, const char *key, const char *const *words,
                       const char *word, int *place, ss_error *e);

// ---- Bodies and obstacles

// A line of a table of keys: the member of a struct that a key fills.
#define FIELD(type, word, member, what)                                                            \
    {                                                                                              \
        .key = word, .kind = SS_JSON_##what, .place = offsetof(type, member)                       \
    }
#define NEEDED(type, word, member, what)                                                           \
    {                                                                                              \
        .key = word, .kind = SS_JSON_##what, .place = offsetof(type, member), .required = true     \
    }
//
//

// Adds what the items of an array of the file say, if there is one.
typedef ss_status ss_scene_add_item(const ss_json *at, ss_world *w, ss_error *e);

// A pose as an object says it, by "position" and "rotation" or "turn".
typedef struct ss_scene_pose {
    ss_vec3 position;
    double rotation[4];
    ss_mat3 turn; // NaN: absent
} ss_scene_pose;

// How far from 1 and from each other's right angles a rotation may be.
#define TURN_ROUNDING 1e-6
// How far from 1 the length of a quaternion is that was made unit.
#define UNIT_ROUNDING 1e-15

// -- Poses

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

static const ss_scene_pose SS_SCENE_POSE_NONE = {
    .rotation = {1.0, 0.0, 0.0, 0.0},
    .turn = {{{NAN, NAN, NAN}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}}};

static ss_status scene_pose_of(const ss_json *at, const ss_scene_pose *given, ss_pose *pose,
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

// -- Bodies

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
    if (status != SS_OK || !scene_word(&at, "kind", ss_scene_profiles, p.kind, &kind, e)) {
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

typedef struct named_body {
    const char *name;
    json_t *motion;
} named_body;

static const ss_json_field BODY[] = {
    NEEDED(named_body, "name", name, TEXT),
    FIELD(named_body, "motion", motion, VALUE),
    {.key = NULL},
};

static ss_status add_body(const ss_json *at, ss_world *w, ss_error *e)
{
    named_body b = {0};
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

static ss_status scene_add_all(const ss_json *root, const char *key, ss_scene_add_item *add,
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

// The number of the body of that name, which is that of `key`; 0, the world, for NULL.
static ss_status scene_body(const ss_json *at, const char *key, const char *name, int *number,
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

// -- Obstacles

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
    if (status != SS_OK || !scene_word(at, "kind", ss_scene_obstacles, o.kind, &kind, e)) {
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
    status = status == SS_OK ? scene_pose_of(at, &o.pose, &solid.pose, e) : status;
    status = status == SS_OK ? turn_to_axis(at, &o, &solid.pose, e) : status;
    status = status == SS_OK ? scene_body(at, "body", o.body, &solid.body, e) : status;
    const ss_json axes = ss_json_member(at, "semi_axes");
    if (status == SS_OK && axes.value != NULL &&
        !(o.semi_axes.x > 0.0 && o.semi_axes.y > 0.0 && o.semi_axes.z > 0.0)) {
        status = ss_json_fail(&axes, e, "must be three numbers above 0");
    }
    return status == SS_OK ? ss_json_prefix(at, ss_world_add_obstacle(w, &solid, e), e) : status;
}

// -- Both

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

// Adds all bodies and obstacles of the file.
static ss_status scene_add_solids(const ss_json *root, ss_world *w, ss_error *e)
{
    ss_status status = scene_add_all(root, "bodies", add_body, w, e);
    status = status == SS_OK ? check_bodies(root, e) : status;
    return status == SS_OK ? scene_add_all(root, "obstacles", add_obstacle, w, e) : status;
}

// ---- Winds
//
//

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
    if (status != SS_OK || !scene_word(at, "kind", ss_wind_kinds, given.kind, &kind, e)) {
        return SS_BAD_INPUT;
    }
    given.air.kind = (ss_wind_kind)kind;
    status = scene_body(at, "body", given.body, &given.air.body, e);
    return status == SS_OK ? ss_json_prefix(at, ss_world_add_wind(w, &given.air, e), e) : status;
}

// Adds all winds of the file to a world that has its bodies.
static ss_status scene_add_winds(const ss_json *root, ss_world *w, ss_error *e)
{
    return scene_add_all(root, "winds", add_wind, w, e);
}

// ---- Strands
//
//

// -- Materials

typedef struct material {
    double E, nu, rho, a, a1, a2, viscosity, stretch;
    double ellipticity, relaxation; // in place of a1, a2 and of the viscosity; NaN: absent
} material;

static const ss_json_field MATERIAL[] = {
    NEEDED(material, "E", E, POSITIVE),
    NEEDED(material, "nu", nu, REAL),
    NEEDED(material, "rho", rho, POSITIVE),
    FIELD(material, "a", a, POSITIVE),
    FIELD(material, "a1", a1, POSITIVE),
    FIELD(material, "a2", a2, POSITIVE),
    FIELD(material, "ellipticity", ellipticity, POSITIVE),
    FIELD(material, "viscosity", viscosity, NOT_NEGATIVE),
    FIELD(material, "relaxation", relaxation, NOT_NEGATIVE),
    FIELD(material, "stretch", stretch, POSITIVE),
    {.key = NULL},
};

// Radius sqrt(a1 a2) and a1 / a2.
static ss_status read_section(const ss_json *at, const material *m, ss_material *to, ss_error *e)
{
    const bool round = !isnan(m->a), both = !isnan(m->a1) && !isnan(m->a2);
    const bool any = !isnan(m->a1) || !isnan(m->a2);
    if (round == any || (any && !both)) {
        return ss_json_fail(at, e, "the section is 'a', or 'a1' and 'a2': give one of these");
    }
    if (both && !isnan(m->ellipticity)) {
        return ss_json_fail(at, e, "'ellipticity' goes with 'a' alone: leave it out");
    }
    to->radius = round ? m->a : sqrt(m->a1 * m->a2);
    to->ellipticity = both ? m->a1 / m->a2 : isnan(m->ellipticity) ? 1.0 : m->ellipticity;
    return SS_OK;
}

static ss_status read_material(const ss_json *at, ss_material *to, ss_error *e)
{
    material m = {.a = NAN,
                  .a1 = NAN,
                  .a2 = NAN,
                  .ellipticity = NAN,
                  .viscosity = NAN,
                  .relaxation = NAN,
                  .stretch = 1.0};
    const ss_json nu = ss_json_member(at, "nu");
    ss_status status = ss_json_object(at, MATERIAL, &m, e);
    if (status != SS_OK) {
        return status;
    }
    if (!(m.nu > -1.0 && m.nu <= 0.5)) {
        return ss_json_fail(&nu, e, "must be above -1 and at most 0.5, not %.10g", m.nu);
    }
    if (!isnan(m.viscosity) && !isnan(m.relaxation)) {
        return ss_json_fail(at, e, "'relaxation' is viscosity / E: leave one of them out");
    }
    *to = (ss_material){.density = m.rho,
                        .young = m.E,
                        .poisson = m.nu,
                        .relaxation = !isnan(m.relaxation)  ? m.relaxation
                                      : !isnan(m.viscosity) ? m.viscosity / m.E
                                                            : 0.0,
                        .stretch = m.stretch};
    return read_section(at, &m, to, e);
}

// All of a file, in the order of their names there.
typedef struct materials {
    size_t count;
    const char **name;
    ss_material *all;
} materials;

static void materials_free(materials *m)
{
    free(m->name);
    free(m->all);
}

static ss_status materials_read(const ss_json *root, materials *m, ss_error *e)
{
    const ss_json list = ss_json_member(root, "materials");
    const size_t n = json_object_size(list.value);
    const char *key;
    json_t *value;
    *m = (materials){.name = calloc(n + 1, sizeof *m->name), .all = calloc(n + 1, sizeof *m->all)};
    if (m->name == NULL || m->all == NULL) {
        return ss_fail_memory(e, "the materials of a scene");
    }
    if (list.value != NULL && !json_is_object(list.value)) {
        return ss_json_fail(&list, e, "must be an object: a material per name");
    }
    ss_status status = SS_OK;
    json_object_foreach(list.value, key, value)
    {
        const ss_json at = {root->file, &list, key, 0, value};
        status = status == SS_OK ? read_material(&at, &m->all[m->count], e) : status;
        m->name[m->count++] = key;
    }
    return status;
}

static ss_status find_material(const ss_json *at, const materials *m, const char *name,
                               ss_material *to, ss_error *e)
{
    for (size_t k = 0; k < m->count; k++) {
        if (strcmp(m->name[k], name) == 0) {
            *to = m->all[k];
            return SS_OK;
        }
    }
    const ss_json member = ss_json_member(at, "material");
    return ss_json_fail(&member, e, "there is no '%.60s' among 'materials'", name);
}

// -- Strands

typedef struct strand {
    const char *material, *clamp, *body, *tip_body;
    json_t *vertices, *rest, *theta, *rest_theta, *velocity; // borrowed, as all
    ss_vec3 director, pull_root, pull_tip;
    json_t *curvatures, *unrest, *root;
    json_t *parent, *parts, *pose;
    const char *reference;
    double time_scale, local;
    double length;
    int segments;
} strand;

static const ss_json_field STRAND[] = {
    NEEDED(strand, "material", material, TEXT),
    FIELD(strand, "vertices", vertices, VALUE),
    FIELD(strand, "rest", rest, VALUE),
    FIELD(strand, "theta", theta, VALUE),
    FIELD(strand, "rest_theta", rest_theta, VALUE),
    FIELD(strand, "director", director, VECTOR),
    FIELD(strand, "velocity", velocity, VALUE),
    FIELD(strand, "clamp", clamp, TEXT),
    FIELD(strand, "body", body, TEXT),
    FIELD(strand, "tip_body", tip_body, TEXT),
    FIELD(strand, "pull_root", pull_root, VECTOR),
    FIELD(strand, "pull_tip", pull_tip, VECTOR),
    FIELD(strand, "length", length, POSITIVE),
    FIELD(strand, "segments", segments, COUNT),
    FIELD(strand, "curvatures", curvatures, VALUE),
    FIELD(strand, "unrest", unrest, VALUE),
    FIELD(strand, "root", root, VALUE),
    FIELD(strand, "parent", parent, VALUE),
    FIELD(strand, "parts", parts, VALUE),
    FIELD(strand, "pose", pose, VALUE),
    FIELD(strand, "time_scale", time_scale, REAL),
    FIELD(strand, "local", local, REAL),
    FIELD(strand, "reference", reference, TEXT),
    {.key = NULL},
};

static const ss_json_field ROOT[] = {
    FIELD(ss_scene_pose, "position", position, VECTOR),
    FIELD(ss_scene_pose, "rotation", rotation, QUATERNION),
    FIELD(ss_scene_pose, "turn", turn, MATRIX),
    {.key = NULL},
};

// The arrays of a design, to be freed.
typedef struct arrays {
    double *vertices, *rest, *theta, *rest_theta, *velocity, *curvatures, *unrest, *parts;
    int *parent;
} arrays;

static void arrays_free(arrays *a)
{
    free(a->vertices);
    free(a->rest);
    free(a->theta);
    free(a->rest_theta);
    free(a->velocity);
    free(a->curvatures);
    free(a->unrest);
    free(a->parts);
    free(a->parent);
}

// Rows of a key that may be absent: as many as `count`, of what `of` calls them.
static ss_status read_rows(const ss_json *at, const char *key, size_t width, size_t count,
                           const char *of, double **rows, ss_error *e)
{
    const ss_json member = ss_json_member(at, key);
    size_t found = count;
    if (member.value == NULL) {
        return SS_OK;
    }
    const ss_status status = ss_json_rows(&member, width, rows, &found, e);
    if (status == SS_OK && found != count) {
        return ss_json_fail(&member, e, "has %zu %s instead of %zu, %s", found,
                            width > 1 ? "rows" : "numbers", count, of);
    }
    return status;
}

static const ss_vec3 *points(const double *numbers)
{
    return (const ss_vec3 *)numbers;
}

// The vertex that each of n hangs from.
static ss_status read_parents(const ss_json *at, size_t n, arrays *a, ss_strand_design *d,
                              ss_error *e)
{
    const ss_json member = ss_json_member(at, "parent");
    double *numbers = NULL;
    ss_status status = read_rows(at, "parent", 1, n, "as 'vertices'", &numbers, e);
    if (status == SS_OK && numbers != NULL) {
        d->parent = a->parent = malloc(n * sizeof *a->parent);
        status = a->parent != NULL ? SS_OK : ss_fail_memory(e, "the parents of a strand");
    }
    for (size_t i = 0; status == SS_OK && numbers != NULL && i < n; i++) {
        if (!(fabs(numbers[i]) <= 1e9 && numbers[i] == floor(numbers[i]))) {
            status = ss_json_fail(&member, e, "%.10g is not the number of a vertex", numbers[i]);
        } else {
            a->parent[i] = (int)numbers[i];
        }
    }
    free(numbers);
    return status;
}

// Factors of what the material gives equal parts of the strand.
static ss_status read_parts(const ss_json *at, arrays *a, ss_strand_design *d, ss_error *e)
{
    const ss_json member = ss_json_member(at, "parts");
    size_t n = 0;
    if (member.value == NULL) {
        return SS_OK;
    }
    const ss_status status =
        ss_json_rows(&member, sizeof(ss_strand_part) / sizeof(double), &a->parts, &n, e);
    if (status == SS_OK && n > (size_t)INT_MAX) {
        return ss_json_fail(&member, e, "has too many rows");
    }
    d->nparts = (int)n;
    d->parts = n > 0 ? (const ss_strand_part *)a->parts : NULL;
    return status;
}

static ss_status read_vertices(const ss_json *at, arrays *a, ss_strand_design *d, ss_error *e)
{
    const ss_json vertices = ss_json_member(at, "vertices");
    size_t n = 0;
    ss_status status = ss_json_rows(&vertices, 3, &a->vertices, &n, e);
    if (status == SS_OK && n < 3) {
        return ss_json_fail(&vertices, e, "a strand has at least 3 vertices, not %zu", n);
    }
    const char *as_vertices = "as 'vertices'", *as_edges = "one per edge";
    status = status == SS_OK ? read_rows(at, "rest", 3, n, as_vertices, &a->rest, e) : status;
    status =
        status == SS_OK ? read_rows(at, "velocity", 3, n, as_vertices, &a->velocity, e) : status;
    status = status == SS_OK ? read_rows(at, "theta", 1, n - 1, as_edges, &a->theta, e) : status;
    status = status == SS_OK ? read_rows(at, "rest_theta", 1, n - 1, as_edges, &a->rest_theta, e)
                             : status;
    status = status == SS_OK ? read_parents(at, n, a, d, e) : status;
    d->nvertices = (int)n;
    d->vertices = points(a->vertices);
    d->rest = points(a->rest);
    d->velocity = points(a->velocity);
    d->theta = a->theta;
    d->rest_theta = a->rest_theta;
    return status;
}

static ss_status read_root(const ss_json *at, ss_pose *root, ss_error *e)
{
    const ss_json member = ss_json_member(at, "root");
    ss_scene_pose pose = SS_SCENE_POSE_NONE;
    const ss_status status = member.value != NULL ? ss_json_object(&member, ROOT, &pose, e) : SS_OK;
    return status == SS_OK && member.value != NULL ? scene_pose_of(&member, &pose, root, e)
                                                   : status;
}

// Vertices beside curvatures are theirs, for readers that know vertices alone.
#define SAME_SHAPE 1e-6 // of the length

static ss_status check_vertices(const ss_json *at, const ss_strand_design *d, const ss_pose *root,
                                ss_error *e)
{
    const ss_json member = ss_json_member(at, "vertices");
    const size_t n = (size_t)d->nsegments + 1;
    double *given = NULL, far = 0.0;
    if (member.value == NULL) {
        return SS_OK;
    }
    ss_status status = read_rows(at, "vertices", 3, n, "one more than 'segments'", &given, e);
    ss_vec3 *x = malloc(n * sizeof *x);
    if (status == SS_OK && x == NULL) {
        status = ss_fail_memory(e, "the vertices of a strand");
    } else if (status == SS_OK) {
        ss_shape_vertices(d, SS_SHAPE_START, (int)n, x);
        for (size_t i = 0; i < n; i++) {
            far = fmax(far, ss_length(ss_minus(ss_pose_point(root, x[i]), points(given)[i])));
        }
        if (!(far <= SAME_SHAPE * d->length)) {
            status = ss_json_fail(&member, e,
                                  "are not those of 'curvatures', which rule: leave out either");
        }
    }
    free(given);
    free(x);
    return status;
}

// By curvatures of equal pieces of a length.
static ss_status read_curvatures(const ss_json *at, const strand *s, arrays *a, ss_strand_design *d,
                                 ss_pose *root, ss_error *e)
{
    static const char *const OTHERS[] = {"rest",     "theta",    "rest_theta",
                                         "director", "velocity", "parent"};
    const ss_json curvatures = ss_json_member(at, "curvatures");
    for (size_t k = 0; k < sizeof OTHERS / sizeof OTHERS[0]; k++) {
        const ss_json other = ss_json_member(at, OTHERS[k]);
        if (other.value != NULL) {
            return ss_json_fail(&other, e, "does not go with 'curvatures': leave out either");
        }
    }
    if (isnan(s->length) || s->segments == 0) {
        return ss_json_fail(at, e, "'curvatures' need 'length' and 'segments'");
    }
    size_t n = 0;
    ss_status status = ss_json_rows(&curvatures, 3, &a->curvatures, &n, e);
    status =
        status == SS_OK ? read_rows(at, "unrest", 3, n, "as 'curvatures'", &a->unrest, e) : status;
    d->length = s->length;
    d->npieces = (int)n;
    d->style = n > 0 ? (const double(*)[3])a->curvatures : NULL;
    d->unrest = n > 0 ? (const double(*)[3])a->unrest : NULL;
    status = status == SS_OK ? read_root(at, root, e) : status;
    return status == SS_OK ? ss_json_prefix(at, ss_strand_design_check_varied(d, e), e) : status;
}

static ss_status read_shape(const ss_json *at, const strand *s, arrays *a, ss_strand_design *d,
                            ss_pose *root, ss_error *e)
{
    ss_status status = read_parts(at, a, d, e);
    if (status != SS_OK) {
        return status;
    }
    if (s->curvatures != NULL) {
        status = read_curvatures(at, s, a, d, root, e);
        return status == SS_OK ? check_vertices(at, d, root, e) : status;
    }
    if (s->vertices == NULL) {
        return ss_json_fail(at, e, "'vertices' is missing");
    }
    static const char *const OTHERS[] = {"length", "unrest", "root"};
    for (size_t k = 0; k < sizeof OTHERS / sizeof OTHERS[0]; k++) {
        const ss_json other = ss_json_member(at, OTHERS[k]);
        if (other.value != NULL) {
            return ss_json_fail(&other, e, "goes with 'curvatures' alone: leave it out");
        }
    }
    return read_vertices(at, a, d, e);
}

// -- What animators ask

static const ss_json_field POSE[] = {
    NEEDED(ss_posing_key, "time", time, REAL),
    NEEDED(ss_posing_key, "strength", strength, NOT_NEGATIVE),
    FIELD(ss_posing_key, "damping", damping, NOT_NEGATIVE),
    FIELD(ss_posing_key, "vertices", place, VALUE),
    {.key = NULL},
};

// Places of a key, in *places; those of the polyline.
static ss_status read_pose_key(const ss_json *at, int npoints, ss_posing_key *key, double **places,
                               ss_error *e)
{
    const ss_json vertices = ss_json_member(at, "vertices");
    ss_status status = ss_json_object(at, POSE, key, e);
    key->place = NULL;
    if (status == SS_OK && vertices.value != NULL) {
        status = read_rows(at, "vertices", 3, (size_t)npoints, "a place per point of its polylines",
                           places, e);
        key->place = points(*places);
    }
    return status;
}

static ss_status read_pose(const ss_json *at, ss_world *w, int number, ss_error *e)
{
    const ss_json list = ss_json_member(at, "pose");
    const size_t n = json_array_size(list.value);
    if (list.value == NULL) {
        return SS_OK;
    }
    if (n == 0 || n > INT_MAX) {
        return ss_json_fail(&list, e, "must be an array of keys");
    }
    ss_posing_key *keys = calloc(n, sizeof *keys);
    double **places = calloc(n, sizeof *places);
    ss_status status =
        keys != NULL && places != NULL ? SS_OK : ss_fail_memory(e, "the pose of a strand");
    for (size_t k = 0; status == SS_OK && k < n; k++) {
        const ss_json item = ss_json_item(&list, k);
        status = read_pose_key(&item, w->strands[number].size.npoints, &keys[k], &places[k], e);
    }
    if (status == SS_OK) {
        status = ss_json_prefix(at, ss_world_pose_strand(w, number, (int)n, keys, e), e);
    }
    for (size_t k = 0; places != NULL && k < n; k++) {
        free(places[k]);
    }
    free(places);
    free(keys);
    return status;
}

static ss_status read_wishes(const ss_json *at, const strand *s, ss_world *w, int number,
                             ss_error *e)
{
    int reference;
    ss_status status = scene_body(at, "reference", s->reference, &reference, e);
    if (status == SS_OK) {
        status = ss_json_prefix(
            at, ss_world_scale_motion(w, number, s->time_scale, s->local, reference, e), e);
    }
    return status == SS_OK ? read_pose(at, w, number, e) : status;
}

static ss_status add_strand(const ss_json *at, const strand *s, const ss_strand_design *d,
                            const ss_pose *root, const ss_model_choice *model, ss_world *w,
                            ss_error *e)
{
    int body, tip, number;
    ss_status status = scene_body(at, "body", s->body, &body, e);
    status = status == SS_OK ? scene_body(at, "tip_body", s->tip_body, &tip, e) : status;
    if (status == SS_OK) {
        status = ss_json_prefix(at, ss_world_add_strand(w, model, d, body, root, &number, e), e);
    }
    if (status != SS_OK) {
        return status;
    }
    w->strands[number].pull_root = s->pull_root;
    w->strands[number].pull_tip = s->pull_tip;
    status = read_wishes(at, s, w, number, e);
    return status == SS_OK && s->tip_body != NULL ? ss_world_tie_tip(w, number, tip, e) : status;
}

static ss_status read_strand(const ss_json *at, const materials *m, const ss_model_choice *model,
                             ss_world *w, ss_error *e)
{
    strand s = {.clamp = ss_scene_clamps[SS_CLAMP_ROOT], .length = NAN, .time_scale = 1.0};
    arrays a = {0};
    ss_strand_design d = {0};
    ss_pose root = ss_pose_identity();
    int clamp = SS_CLAMP_ROOT;
    ss_status status = ss_json_object(at, STRAND, &s, e);
    status = status == SS_OK ? find_material(at, m, s.material, &d.material, e) : status;
    if (status == SS_OK && !scene_word(at, "clamp", ss_scene_clamps, s.clamp, &clamp, e)) {
        status = SS_BAD_INPUT;
    }
    d.clamp = (ss_clamp)clamp;
    d.director = s.director;
    d.nsegments = s.segments;
    status = status == SS_OK ? read_shape(at, &s, &a, &d, &root, e) : status;
    status = status == SS_OK ? add_strand(at, &s, &d, &root, model, w, e) : status;
    arrays_free(&a);
    return status;
}

// Adds all strands of the file to a world that has its bodies.
static ss_status scene_add_strands(const ss_json *root, const ss_model_choice *model, ss_world *w,
                                   ss_error *e)
{
    const ss_json list = ss_json_member(root, "strands");
    materials m;
    ss_status status = materials_read(root, &m, e);
    for (size_t k = 0; k < json_array_size(list.value) && status == SS_OK; k++) {
        const ss_json item = ss_json_item(&list, k);
        status = read_strand(&item, &m, model, w, e);
    }
    materials_free(&m);
    return status;
}

// ---- The file

#define LEAST_STEP 1e-9 // s, as of --dt
#define MOST_STEP  1.0
#define STEPS      1000
#define STEP       0.002 // s
#define MODEL      "der"

const char *const ss_scene_obstacles[] = {"sphere",   "ellipsoid", "plane",
                                          "cylinder", "capsule",   NULL};
const char *const ss_scene_clamps[] = {"root", "tip", "both", "none", NULL};
const char *const ss_scene_gaps[] = {"none", "positive", "baumgarte", NULL};
const char *const ss_scene_profiles[] = {"still", "oscillate", "move", "steady", NULL};

// -- The whole file

typedef struct whole {
    const char *title, *model, *scheme, *gap;
    ss_vec3 gravity;
    double drag, mu, radius, dt, dt_min;
    int steps;
    double margin, beta, reach, explosion;
    bool contacts, continuous, settled;
    int looks;
    json_t *materials, *bodies, *obstacles, *strands, *winds;
} whole;

static const ss_json_field WHOLE[] = {
    FIELD(whole, "title", title, TEXT),
    FIELD(whole, "gravity", gravity, VECTOR),
    FIELD(whole, "drag", drag, NOT_NEGATIVE),
    FIELD(whole, "mu", mu, NOT_NEGATIVE),
    FIELD(whole, "radius", radius, POSITIVE),
    FIELD(whole, "dt", dt, POSITIVE),
    FIELD(whole, "dt_min", dt_min, POSITIVE),
    FIELD(whole, "steps", steps, COUNT),
    FIELD(whole, "model", model, TEXT),
    FIELD(whole, "scheme", scheme, TEXT),
    FIELD(whole, "materials", materials, VALUE),
    FIELD(whole, "bodies", bodies, VALUE),
    FIELD(whole, "obstacles", obstacles, VALUE),
    FIELD(whole, "winds", winds, VALUE),
    NEEDED(whole, "strands", strands, VALUE),
    FIELD(whole, "contacts", contacts, FLAG),
    FIELD(whole, "gap", gap, TEXT),
    FIELD(whole, "beta", beta, NOT_NEGATIVE),
    FIELD(whole, "margin", margin, NOT_NEGATIVE),
    FIELD(whole, "reach", reach, NOT_NEGATIVE),
    FIELD(whole, "explosion", explosion, NOT_NEGATIVE),
    FIELD(whole, "continuous", continuous, FLAG),
    FIELD(whole, "looks", looks, WHOLE),
    FIELD(whole, "settled", settled, FLAG),
    {.key = NULL},
};

// Parts of its file that a scene keeps.
typedef struct content {
    json_t *root; // owned
    char path[1]; // as long as it is
} content;

// Returns the defaults of a world that is still empty; without a world, any.
static whole whole_defaults(const ss_world *w)
{
    const ss_step_options o = ss_step_defaults();
    whole all = {.title = "a scene of a file",
                 .model = MODEL,
                 .gap = ss_scene_gaps[o.gap],
                 .dt = STEP,
                 .dt_min = o.dt_min,
                 .steps = STEPS,
                 .margin = o.margin,
                 .beta = o.beta,
                 .reach = o.reach,
                 .explosion = o.explosion,
                 .contacts = o.contacts,
                 .continuous = o.continuous,
                 .looks = o.looks};
    if (w != NULL) {
        all.gravity = w->gravity;
        all.drag = w->drag;
        all.mu = w->mu;
        all.radius = w->radius;
    }
    return all;
}

// The place of a word in a list; false, and a sentence, where it has none.
static bool scene_word(const ss_json *at, const char *key, const char *const *words,
                       const char *word, int *place, ss_error *e)
{
    const ss_json member = ss_json_member(at, key);
    char all[200] = "";
    for (int k = 0; words[k] != NULL; k++) {
        if (strcmp(words[k], word) == 0) {
            *place = k;
            return true;
        }
        const size_t length = strlen(all);
        snprintf(all + length, sizeof all - length, "%s%s", k > 0 ? ", " : "", words[k]);
    }
    ss_json_fail(&member, e, "'%.60s' is none of %s", word, all);
    return false;
}

// -- Building

// --mu takes the place of the strands' own, and obstacles keep their ratio to it.
static void change_friction(ss_world *w, double mu)
{
    for (int k = 0; k < w->nobstacles && mu != w->mu; k++) {
        w->obstacles[k].mu = w->mu > 0.0 ? mu * w->obstacles[k].mu / w->mu : w->obstacles[k].mu;
    }
    w->mu = mu;
}

static void take_options(const whole *all, int gap, ss_world *w, ss_step_options *options)
{
    w->gravity = all->gravity;
    w->drag = all->drag;
    w->mu = all->mu;
    w->radius = all->radius;
    options->dt_min = all->dt_min;
    options->gap = (ss_gap)gap;
    options->beta = all->beta;
    options->margin = all->margin;
    options->reach = all->reach;
    options->explosion = all->explosion;
    options->contacts = all->contacts;
    options->continuous = all->continuous;
    options->looks = all->looks;
}

static ss_status build(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                       ss_error *e)
{
    const content *c = request->settings;
    const ss_json root = {.file = c->path, .value = c->root};
    whole all = whole_defaults(w);
    int gap = 0;
    ss_status status = ss_json_object(&root, WHOLE, &all, e);
    if (status != SS_OK || !scene_word(&root, "gap", ss_scene_gaps, all.gap, &gap, e)) {
        return SS_BAD_INPUT;
    }
    if (request->rods != (int)json_array_size(all.strands)) {
        return ss_fail(e, SS_BAD_INPUT, "%s: has strands of its own: leave --rods out", c->path);
    }
    take_options(&all, gap, w, options);
    status = scene_add_solids(&root, w, e);
    status = status == SS_OK ? scene_add_winds(&root, w, e) : status;
    status = status == SS_OK ? scene_add_strands(&root, request->model, w, e) : status;
    if (status == SS_OK && !isnan(request->mu)) {
        change_friction(w, request->mu);
    }
    return status == SS_OK && all.settled ? ss_json_prefix(&root, ss_world_settle(w, e), e)
                                          : status;
}

// -- Reading

bool ss_scene_file_is(const char *spec)
{
    const size_t length = strlen(spec);
    return length > 5 && strcmp(spec + length - 5, ".json") == 0;
}

// Whether the file's specs are some.
static ss_status check_specs(const ss_json *root, const whole *all, ss_error *e)
{
    const ss_json model = ss_json_member(root, "model"), scheme = ss_json_member(root, "scheme");
    ss_model_choice m;
    ss_scheme_choice s;
    ss_status status = ss_json_prefix(&model, ss_model_parse(all->model, &m, e), e);
    ss_model_choice_free(&m);
    if (status == SS_OK && all->scheme != NULL) {
        status = ss_json_prefix(&scheme, ss_scheme_parse(all->scheme, &s, e), e);
        ss_scheme_choice_free(&s);
    }
    return status;
}

// The path as the rows of a run name it, or its end where it is too long.
static void name_choice(const char *path, ss_scene_choice *choice)
{
    const size_t room = sizeof choice->spec, length = strlen(path);
    snprintf(choice->spec, room, "%s", length < room ? path : path + length - room + 1);
}

ss_status ss_scene_file_read(const char *path, ss_scene_file *file, ss_error *e)
{
    content *c = malloc(sizeof *c + strlen(path));
    *file = (ss_scene_file){.content = c};
    if (c == NULL) {
        return ss_fail_memory(e, path);
    }
    strcpy(c->path, path);
    c->root = NULL;
    whole all = whole_defaults(NULL);
    ss_status status = ss_json_read(path, &c->root, e);
    const ss_json root = {.file = c->path, .value = c->root};
    status = status == SS_OK ? ss_json_object(&root, WHOLE, &all, e) : status;
    status = status == SS_OK ? check_specs(&root, &all, e) : status;
    const ss_json dt = ss_json_member(&root, "dt");
    if (status == SS_OK && !(all.dt >= LEAST_STEP && all.dt <= MOST_STEP)) {
        status =
            ss_json_fail(&dt, e, "must be from %g to %g, not %g", LEAST_STEP, MOST_STEP, all.dt);
    }
    const size_t strands = json_array_size(all.strands);
    if (status == SS_OK && strands == 0) {
        const ss_json list = ss_json_member(&root, "strands");
        status = ss_json_fail(&list, e, "must be an array of one strand or more");
    }
    if (status != SS_OK) {
        ss_scene_file_free(file);
        return status;
    }
    file->scheme = all.scheme;
    file->scene = (ss_scene){.name = "file",
                             .model = all.model,
                             .shows = all.title,
                             .reference = "",
                             .rods = (int)strands,
                             .steps = all.steps,
                             .dt = all.dt,
                             .mu = NAN, // bodies and strands have their own
                             .build = build};
    file->choice.scene = &file->scene;
    file->choice.settings = c;
    name_choice(path, &file->choice);
    return SS_OK;
}

void ss_scene_file_free(ss_scene_file *file)
{
    content *c = file->content;
    if (c != NULL) {
        json_decref(c->root);
    }
    free(c);
    *file = (ss_scene_file){0};
}
