// strands/world.c -- how a world is filled.
#include "strands/world.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "strands/shape.h"
#include "strands/step/system.h"

#define HAIR_RADIUS   55e-6 // m, of collision cylinders
#define HAIR_MU       0.3
#define UNIT_ROUNDING 1e-9 // how far from 1 the length of a given axis may be

ss_world *ss_world_new(void)
{
    ss_world *w = calloc(1, sizeof *w);
    ss_motion *bodies = malloc(sizeof *bodies);
    if (w == NULL || bodies == NULL) {
        free(w);
        free(bodies);
        return NULL;
    }
    w->gravity = ss_vec(0.0, -9.81, 0.0);
    w->radius = HAIR_RADIUS;
    w->mu = HAIR_MU;
    w->bodies = bodies;
    w->bodies[0] = ss_motion_still();
    w->nbodies = 1;
    return w;
}

void ss_world_free(ss_world *w)
{
    if (w == NULL) {
        return;
    }
    for (int k = 0; k < w->nstrands; k++) {
        w->strands[k].model->free(w->strands[k].self);
        free(w->strands[k].design);
        free(w->strands[k].posing);
    }
    for (int k = 0; k < w->nbodies; k++) {
        free(w->bodies[k].keys);
    }
    free(w->bodies);
    free(w->obstacles);
    free(w->winds);
    free(w->wind_places);
    free(w->strands);
    free(w->mass);
    free(w->length);
    ss_world_state_free(&w->now);
    free(w);
}

// The smallest power of two that is not below count: the room of an array with count entries.
static size_t room_of(size_t count)
{
    size_t room = 1;
    while (room < count) {
        room *= 2;
    }
    return room;
}

// The array with room for `more` entries behind `count`; NULL without memory, the array unharmed.
static void *with_room(void *array, int count, int more, size_t size)
{
    const size_t now = (size_t)count, then = now + (size_t)more;
    if (array != NULL && room_of(now) >= then) {
        return array;
    }
    return realloc(array, room_of(then) * size);
}

bool ss_world_state_init(ss_world_state *state, const ss_world *w)
{
    state->q = calloc(room_of((size_t)w->nq), sizeof *state->q);
    state->v = calloc(room_of((size_t)w->nv), sizeof *state->v);
    return state->q != NULL && state->v != NULL;
}

void ss_world_state_free(ss_world_state *state)
{
    free(state->q);
    free(state->v);
    state->q = state->v = NULL;
}

static bool make_room(double **numbers, int count, int more)
{
    double *larger = with_room(*numbers, count, more, sizeof *larger);
    if (larger == NULL) {
        return false;
    }
    *numbers = larger;
    return true;
}

static bool is_unit(ss_vec3 a)
{
    return fabs(ss_length(a) - 1.0) <= UNIT_ROUNDING;
}

static bool profile_is_sound(const ss_profile *p)
{
    return p->kind == SS_PROFILE_STILL ||
           (isfinite(p->size) && isfinite(p->start) && p->period > 0.0 && isfinite(p->period));
}

static bool keys_are_sound(int n, const ss_motion_key *keys)
{
    bool sound = true;
    for (int k = 0; k < n; k++) {
        const ss_motion_key *at = &keys[k];
        const ss_vec3 u = ss_quat_vector(at->turn);
        sound = sound && isfinite(at->time) && (k == 0 || at->time > keys[k - 1].time) &&
                isfinite(ss_length(at->place)) &&
                fabs(at->turn.w * at->turn.w + ss_dot(u, u) - 1.0) <= UNIT_ROUNDING;
    }
    return sound;
}

// *keys: a copy of those of the motion, joined; NULL where it has none.
static ss_status copy_keys(const ss_motion *motion, ss_motion_key **keys, ss_error *e)
{
    const size_t bytes = (size_t)motion->nkeys * sizeof **keys;
    *keys = NULL;
    if (motion->nkeys == 0) {
        return SS_OK;
    }
    if (!keys_are_sound(motion->nkeys, motion->keys)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "the times of a body's keys do not increase, or a key is no finite pose; "
                       "give places and unit quaternions in order of time");
    }
    *keys = malloc(bytes);
    if (*keys == NULL) {
        return ss_fail_memory(e, "the motion of a body");
    }
    memcpy(*keys, motion->keys, bytes);
    ss_motion_keys_join(motion->nkeys, *keys);
    const ss_motion joined = {.nkeys = motion->nkeys, .keys = *keys};
    const ss_status status = ss_motion_keys_check(&joined, e);
    if (status != SS_OK) {
        free(*keys);
    }
    return status;
}

ss_status ss_world_add_body(ss_world *w, const ss_motion *motion, int *body, ss_error *e)
{
    if (!(is_unit(motion->axis) && is_unit(motion->direction))) {
        return ss_fail(e, SS_BAD_INPUT,
                       "the axis or the direction of body %d is not of unit length; normalise it",
                       w->nbodies);
    }
    if (!profile_is_sound(&motion->angle) || !profile_is_sound(&motion->shift)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "body %d moves with a size, start or period that is not a number, or with a "
                       "period that is not positive; give it finite ones",
                       w->nbodies);
    }
    ss_motion *bodies = with_room(w->bodies, w->nbodies, 1, sizeof *bodies);
    if (bodies == NULL) {
        return ss_fail_memory(e, "the bodies of a world");
    }
    w->bodies = bodies;
    ss_motion_key *keys;
    const ss_status status = copy_keys(motion, &keys, e);
    if (status != SS_OK) {
        return status;
    }
    *body = w->nbodies;
    w->bodies[w->nbodies] = *motion;
    w->bodies[w->nbodies++].keys = keys;
    return SS_OK;
}

static ss_status check_body(const ss_world *w, int body, const char *rider, ss_error *e)
{
    if (body < 0 || body >= w->nbodies) {
        return ss_fail(e, SS_BAD_INPUT,
                       "body %d, which is to carry %s, does not exist; add it first", body, rider);
    }
    return SS_OK;
}

ss_status ss_world_add_obstacle(ss_world *w, const ss_obstacle *obstacle, ss_error *e)
{
    const ss_status status = check_body(w, obstacle->body, "an obstacle", e);
    if (status != SS_OK) {
        return status;
    }
    if (!(obstacle->mu >= 0.0 && isfinite(obstacle->mu))) {
        return ss_fail(e, SS_BAD_INPUT, "mu of obstacle %d is %g, not a finite number >= 0",
                       w->nobstacles, obstacle->mu);
    }
    if (!(obstacle->sliding_loss >= 0.0 && obstacle->sliding_loss <= 1.0)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "the share of mu that sliding leaves of obstacle %d is %g, not from 0 to 1",
                       w->nobstacles, 1.0 - obstacle->sliding_loss);
    }
    if (!(obstacle->restitution >= 0.0 && obstacle->restitution <= 1.0)) {
        return ss_fail(e, SS_BAD_INPUT, "the restitution of obstacle %d is %g, not from 0 to 1",
                       w->nobstacles, obstacle->restitution);
    }
    ss_obstacle *obstacles = with_room(w->obstacles, w->nobstacles, 1, sizeof *obstacles);
    if (obstacles == NULL) {
        return ss_fail_memory(e, "the obstacles of a world");
    }
    w->obstacles = obstacles;
    w->obstacles[w->nobstacles++] = *obstacle;
    return SS_OK;
}

// Whether offsets into the arrays of all strands stay ints, and those of their points' Jacobians.
static bool fits(const ss_world *w, const ss_strand_size *size)
{
    const int most = INT_MAX / 2;
    const int wide = 3 * (size->width > 0 ? size->width : 1);
    return w->nq <= most - size->nq && w->nv <= most - size->nv &&
           w->npoints <= most / wide - size->npoints &&
           w->nsamples <= most / wide - size->nsamples &&
           size->nv <= most / (size->half_bandwidth + 1);
}

static ss_status make_room_for(ss_world *w, const ss_strand_size *size, ss_error *e)
{
    if (!fits(w, size)) {
        return ss_fail(e, SS_BAD_INPUT, "strand %d makes the world too large; take fewer strands",
                       w->nstrands);
    }
    ss_strand *strands = with_room(w->strands, w->nstrands, 1, sizeof *strands);
    if (strands == NULL) {
        return ss_fail_memory(e, "the strands of a world");
    }
    w->strands = strands;
    if (!make_room(&w->now.q, w->nq, size->nq) || !make_room(&w->now.v, w->nv, size->nv) ||
        !make_room(&w->mass, w->nsamples, size->nsamples) ||
        !make_room(&w->length, w->nsamples, size->nsamples)) {
        return ss_fail_memory(e, "the strands of a world");
    }
    return SS_OK;
}

// The inverse of the pose of a body now.
static ss_pose unmoved(const ss_world *w, int body)
{
    ss_motion_state at;
    ss_motion_at(&w->bodies[body], w->now.time, &at);
    const ss_mat3 *R = &at.pose.turn;
    const ss_mat3 back = {{{R->c[0].x, R->c[1].x, R->c[2].x},
                           {R->c[0].y, R->c[1].y, R->c[2].y},
                           {R->c[0].z, R->c[1].z, R->c[2].z}}};
    return (ss_pose){back, ss_scaled(-1.0, ss_turned_back(R, at.pose.place))};
}

ss_status ss_world_tie_tip(ss_world *w, int strand, int body, ss_error *e)
{
    const ss_status status = check_body(w, body, "the tip of a strand", e);
    if (status == SS_OK) {
        w->strands[strand].tip_body = body;
        w->strands[strand].still[1] = unmoved(w, body);
    }
    return status;
}

static void append(ss_world *w, const ss_strand *s)
{
    w->strands[w->nstrands++] = *s;
    ss_motion_state body;
    ss_motion_at(&w->bodies[s->body], w->now.time, &body);
    const ss_pose root = ss_pose_product(&body.pose, &s->root);
    s->model->start(s->self, &root, w->now.q + s->q);
    memset(w->now.v + s->v, 0, (size_t)s->size.nv * sizeof *w->now.v);
    s->model->lumps(s->self, w->mass + s->sample, w->length + s->sample);
    w->nq += s->size.nq;
    w->nv += s->size.nv;
    w->npoints += s->size.npoints;
    w->nsamples += s->size.nsamples;
}

ss_status ss_world_add_strand(ss_world *w, const ss_model_choice *model,
                              const ss_strand_design *design, int body, const ss_pose *root,
                              int *number, ss_error *e)
{
    ss_status status = check_body(w, body, "a strand", e);
    if (status != SS_OK) {
        return status;
    }
    ss_strand s = {.model = model->model,
                   .length = ss_shape_length(design),
                   .material = design->material,
                   .clamp = design->clamp,
                   .body = body,
                   .tip_body = body,
                   .carrier = model->model->frame == SS_FRAME_WORLD ? 0 : body,
                   .root = *root,
                   .time_scale = 1.0,
                   .q = w->nq,
                   .v = w->nv,
                   .point = w->npoints,
                   .sample = w->nsamples};
    status = s.model->make(design, model->settings, &s.self, e);
    if (status != SS_OK) {
        return status;
    }
    s.size = s.model->size(s.self);
    s.still[0] = s.still[1] = unmoved(w, body);
    status = w->keeps_designs ? ss_strand_design_copy(design, &s.design, e) : SS_OK;
    status = status == SS_OK ? make_room_for(w, &s.size, e) : status;
    if (status != SS_OK) {
        s.model->free(s.self);
        free(s.design);
        return status;
    }
    *number = w->nstrands;
    append(w, &s);
    status = w->nwinds > 0 ? ss_wind_find_places(w, *number, e) : SS_OK;
    return status == SS_OK && design->velocity != NULL && design->nvertices > 0
               ? ss_world_start_velocity(w, *number, design, e)
               : status;
}

static ss_status settle_strand(ss_world *w, int k, ss_error *e)
{
    const ss_strand *s = &w->strands[k];
    ss_placed at;
    double *load = calloc((size_t)s->size.nv, sizeof *load);
    const bool ok = ss_placed_init(&at, &s->size);
    ss_status status = SS_OK;
    if (!ok || load == NULL) {
        status = ss_fail_memory(e, "the load of a strand");
    } else {
        ss_strand_place(w, k, &w->now, &at);
        ss_strand_load(w, k, &at, load);
        status = s->model->balance(s->self, w->now.q + s->q, load, e);
    }
    ss_placed_free(&at);
    free(load);
    return status;
}

ss_status ss_world_settle(ss_world *w, ss_error *e)
{
    ss_status status = SS_OK;
    ss_error own;
    w->settled = true;
    for (int k = 0; status == SS_OK && k < w->nstrands; k++) {
        const ss_strand_model *model = w->strands[k].model;
        if (model->balance != NULL) {
            status = settle_strand(w, k, &own);
            status = status == SS_OK ? SS_OK : ss_fail(e, status, "strand %d: %s", k, own.text);
        } else if (model->energy != NULL) {
            w->unsettled++;
        }
    }
    return status;
}
