// strands/world.c -- how a world is filled, and where its strands are.
#include "strands/world.h"

#include "base/assert.h"
#include "strands/band.h"
#include "strands/shape.h"
#include "strands/system.h"

#include <float.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

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

// Returns the smallest power of two that is not below count: the room of an array with count
// entries.
static size_t room_of(size_t count)
{
    size_t room = 1;
    while (room < count) {
        room *= 2;
    }
    return room;
}

// Returns the array with room for `more` entries behind `count`; NULL without memory, the array
// unharmed.
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

// ---- Bodies and obstacles

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

// Makes *keys, a copy of those of the motion, joined; NULL where it has none.
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

// ---- Where a strand is

// Finds beta (own - gamma reference), fields at the origin of `own`.
ss_motion_state ss_strand_felt(const ss_strand *s, const ss_motion_state *carrier,
                               const ss_motion_state *reference)
{
    if (s->time_scale == 1.0 && s->local == 0.0) {
        return *carrier;
    }
    const double b = s->time_scale, c = -s->time_scale * s->local;
    const ss_vec3 d = ss_minus(carrier->pose.place, reference->pose.place);
    const ss_vec3 w = reference->spin, carried = ss_cross(w, d);
    const ss_vec3 v = ss_plus(reference->velocity, carried);
    const ss_vec3 turning = ss_plus(ss_cross(reference->spin_rate, d), ss_cross(w, carried));
    const ss_vec3 a = ss_plus(reference->acceleration, turning);
    return (ss_motion_state){
        .pose = carrier->pose,
        .velocity = ss_along(ss_scaled(b, carrier->velocity), c, v),
        .spin = ss_along(ss_scaled(b, carrier->spin), c, w),
        .acceleration = ss_along(ss_scaled(b, carrier->acceleration), c, a),
        .spin_rate = ss_along(ss_scaled(b, carrier->spin_rate), c, reference->spin_rate)};
}

static ss_strand_point *new_points(int count, int width)
{
    const size_t n = (size_t)count, each = 3 * (size_t)width;
    ss_strand_point *points = calloc(n + 1, sizeof *points);
    double *J = calloc(n * each + 1, sizeof *J);
    if (points == NULL || J == NULL) {
        free(points);
        free(J);
        return NULL;
    }
    for (size_t i = 0; i <= n; i++) {
        points[i].J = J + i * each; // the entry behind the last keeps an empty list freeable
    }
    return points;
}

static void free_points(ss_strand_point *points)
{
    if (points != NULL) {
        free(points[0].J);
    }
    free(points);
}

bool ss_placed_init(ss_placed *at, const ss_strand_size *size)
{
    *at = (ss_placed){.points = new_points(size->npoints, size->width),
                      .samples = new_points(size->nsamples, size->width)};
    return at->points != NULL && at->samples != NULL;
}

void ss_placed_free(ss_placed *at)
{
    free_points(at->points);
    free_points(at->samples);
    *at = (ss_placed){0};
}

ss_pose ss_strand_root(const ss_strand *s, const ss_placed *at)
{
    return s->model->frame == SS_FRAME_WORLD ? ss_pose_identity()
                                             : ss_pose_product(&at->carrier.pose, &s->root);
}

void ss_strand_place(const ss_world *w, int k, const ss_world_state *state, ss_placed *at)
{
    const ss_strand *s = &w->strands[k];
    ss_motion_state reference;
    at->time = state->time;
    ss_motion_at(&w->bodies[s->carrier], state->time, &at->carrier);
    ss_motion_at(&w->bodies[s->reference], state->time, &reference);
    at->felt = ss_strand_felt(s, &at->carrier, &reference);
    const ss_pose root = ss_strand_root(s, at);
    s->model->place(s->self, &root, state->q + s->q, at->points, at->samples);
}

void ss_point_push(const ss_strand_point *p, ss_vec3 force, double *F)
{
    const double *x = p->J, *y = x + p->count, *z = y + p->count;
    for (int j = 0; j < p->count; j++) {
        F[ss_point_dof(p, j)] += x[j] * force.x + y[j] * force.y + z[j] * force.z;
    }
}

ss_vec3 ss_point_rate(const ss_strand_point *p, const double *v)
{
    const double *x = p->J, *y = x + p->count, *z = y + p->count;
    ss_vec3 sum = {0.0, 0.0, 0.0};
    for (int j = 0; j < p->count; j++) {
        const double vj = v[ss_point_dof(p, j)];
        sum = ss_plus(sum, ss_vec(x[j] * vj, y[j] * vj, z[j] * vj));
    }
    return sum;
}

// ---- Where everything is

bool ss_snapshot_init(ss_snapshot *s, const ss_world *w)
{
    ss_strand_size size = {.npoints = w->npoints, .nsamples = w->nsamples};
    for (int k = 0; k < w->nstrands; k++) {
        const int width = w->strands[k].size.width;
        size.width = width > size.width ? width : size.width;
    }
    const bool ok = ss_placed_init(&s->all, &size);
    s->x = malloc(((size_t)w->npoints + 1) * sizeof *s->x);
    s->bodies = malloc((size_t)w->nbodies * sizeof *s->bodies);
    s->obstacles = malloc(((size_t)w->nobstacles + 1) * sizeof *s->obstacles);
    return ok && s->x != NULL && s->bodies != NULL && s->obstacles != NULL;
}

void ss_snapshot_free(ss_snapshot *s)
{
    ss_placed_free(&s->all);
    free(s->x);
    free(s->bodies);
    free(s->obstacles);
    *s = (ss_snapshot){0};
}

void ss_snapshot_script(ss_snapshot *s, const ss_world *w, double time)
{
    s->time = time;
    for (int b = 0; b < w->nbodies; b++) {
        ss_motion_at(&w->bodies[b], time, &s->bodies[b]);
    }
    for (int o = 0; o < w->nobstacles; o++) {
        const ss_obstacle *obstacle = &w->obstacles[o];
        s->obstacles[o] = ss_pose_product(&s->bodies[obstacle->body].pose, &obstacle->pose);
    }
}

ss_placed ss_snapshot_strand(const ss_snapshot *s, const ss_world *w, int k)
{
    ss_assert(k >= 0 && k < w->nstrands);
    const ss_strand *strand = &w->strands[k];
    const ss_motion_state *carrier = &s->bodies[strand->carrier];
    return (ss_placed){.points = s->all.points + strand->point,
                       .samples = s->all.samples + strand->sample,
                       .time = s->time,
                       .carrier = *carrier,
                       .felt = ss_strand_felt(strand, carrier, &s->bodies[strand->reference])};
}

typedef struct placing {
    ss_snapshot *s;
    const ss_world *w;
    const ss_world_state *state;
} placing;

// Prefetches the J of `count` points that lie behind each other and are about to be written.
static void ask_for_points(const ss_strand_point *p, int count)
{
    const char *J = (const char *)p[0].J;
    for (size_t k = 0; count > 1 && k < (size_t)(p[1].J - p[0].J) * (size_t)count; k += 8) {
        __builtin_prefetch(J + k * sizeof(double), 1);
    }
}

void ss_snapshot_place_strand(ss_snapshot *s, const ss_world *w, const ss_world_state *state, int k)
{
    const ss_strand *strand = &w->strands[k];
    ss_placed at = ss_snapshot_strand(s, w, k);
    if (k + 1 < w->nstrands) { // the J of all strands are more than caches hold
        ask_for_points(at.points + strand->size.npoints, strand[1].size.npoints);
        ask_for_points(at.samples + strand->size.nsamples, strand[1].size.nsamples);
    }
    ss_strand_place(w, k, state, &at);
    for (int i = 0; i < strand->size.npoints; i++) {
        s->x[strand->point + i] = at.points[i].x;
    }
}

static void place_one(void *context, int k, int thread)
{
    const placing *c = context;
    (void)thread;
    ss_snapshot_place_strand(c->s, c->w, c->state, k);
}

void ss_snapshot_place(ss_snapshot *s, const ss_world *w, const ss_world_state *state,
                       ss_team *team)
{
    placing c = {s, w, state};
    ss_team_run(team, w->nstrands, place_one, &c);
}

// ---- Velocities of the start
//
// v of a strand is the nearest to the velocities of its design's vertices in the measure of mass:
// M0 v = sum m_p J_p' u(x_p), u between the two vertices of the place of the design's polyline that
// is nearest to sample p. Dofs that no sample feels get a share of 1e-12 of the largest inertia, so
// that they stay at rest.

#define RIDGE 1e-12

// Returns u at the place nearest to x of the polyline of the design, which is in the frame of
// `root` like u.
static ss_vec3 velocity_near(const ss_strand_design *d, const ss_pose *root, ss_vec3 x)
{
    const ss_vec3 y = ss_pose_back(root, x);
    double nearest = DBL_MAX;
    ss_vec3 u = {0.0, 0.0, 0.0};
    for (int i = 0; i + 1 < d->nvertices; i++) {
        const ss_vec3 edge = ss_minus(d->vertices[i + 1], d->vertices[i]);
        const ss_vec3 arm = ss_minus(y, d->vertices[i]);
        const double at = fmin(fmax(ss_dot(arm, edge) / ss_dot(edge, edge), 0.0), 1.0);
        const double far = ss_length(ss_along(arm, -at, edge));
        if (far < nearest) {
            nearest = far;
            u = ss_along(ss_scaled(1.0 - at, d->velocity[i]), at, d->velocity[i + 1]);
        }
    }
    return ss_turned(&root->turn, u);
}

static void fit(const ss_world *w, int k, const ss_strand_design *d, const ss_placed *at,
                ss_band *M, double *D, double *v)
{
    const ss_strand *s = &w->strands[k];
    ss_motion_state body;
    ss_motion_at(&w->bodies[s->body], w->now.time, &body);
    const ss_pose root = ss_pose_product(&body.pose, &s->root);
    double largest = 0.0;
    memset(v, 0, (size_t)M->n * sizeof *v);
    for (int p = 0; p < s->size.nsamples; p++) {
        const ss_vec3 x = at->samples[p].x, arm = ss_minus(x, at->carrier.pose.place);
        const ss_vec3 carried = ss_plus(at->carrier.velocity, ss_cross(at->carrier.spin, arm));
        const ss_vec3 own = ss_minus(velocity_near(d, &root, x), carried);
        ss_point_push(&at->samples[p], ss_scaled(w->mass[s->sample + p], own), v);
    }
    for (int j = 0; j < M->n; j++) {
        largest = fmax(largest, *ss_band_at(M, j, j));
    }
    for (int j = 0; j < M->n; j++) {
        *ss_band_at(M, j, j) += RIDGE * largest;
    }
    if (ss_band_factor(M, D)) {
        ss_band_solve(M, D, v);
    }
}

// Finds v of strand k from the velocities of its design.
static ss_status start_velocity(ss_world *w, int k, const ss_strand_design *d, ss_error *e)
{
    const ss_strand *s = &w->strands[k];
    const size_t n = (size_t)s->size.nv;
    ss_band M = {s->size.nv, s->size.half_bandwidth, NULL};
    ss_placed at;
    const bool placed = ss_placed_init(&at, &s->size);
    ss_system_scratch *scratch = ss_system_scratch_new(w);
    double *D = malloc(2 * (n + 1) * sizeof *D);
    M.x = malloc(n * (size_t)(M.half + 1) * sizeof *M.x + 1);
    ss_status status = SS_OK;
    if (!placed || scratch == NULL || D == NULL || M.x == NULL) {
        status = ss_fail_memory(e, "the velocity of a strand");
    } else {
        const ss_iterate inertia = ss_iterate_first(&w->now, 0.0); // a step of 0 s has M = M0
        ss_strand_place(w, k, &w->now, &at);
        ss_strand_system(w, k, &inertia, &at, scratch, &M, D + n);
        fit(w, k, d, &at, &M, D, w->now.v + s->v);
    }
    ss_placed_free(&at);
    ss_system_scratch_free(scratch);
    free(D);
    free(M.x);
    return status;
}

// ---- Strands

// True if offsets into the arrays of all strands stay ints, and those of their points' Jacobians.
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

// Returns the inverse of the pose of a body now.
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
    ss_assert(strand >= 0 && strand < w->nstrands);
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
               ? start_velocity(w, *number, design, e)
               : status;
}

// ---- Settling

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
// ---- Scaled motions

ss_status ss_world_scale_motion(ss_world *w, int strand, double time_scale, double local,
                                int reference, ss_error *e)
{
    ss_assert(strand >= 0 && strand < w->nstrands);
    ss_strand *s = &w->strands[strand];
    if (!isfinite(time_scale) || !isfinite(local)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "the time scale %g or the share %g of local dynamics is not finite",
                       time_scale, local);
    }
    if (reference < 0 || reference >= w->nbodies) {
        return ss_fail(e, SS_BAD_INPUT,
                       "body %d, against which a strand is to move, does not exist; add it first",
                       reference);
    }
    if (s->model->frame != SS_FRAME_ROOT && (time_scale != 1.0 || local != 0.0)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "a strand of the model %s moves in the world: time scale and local dynamics "
                       "are for oriented-strands, super-helix and chains",
                       s->model->name);
    }
    if (local != 0.0 && reference == 0) {
        return ss_fail(e, SS_BAD_INPUT,
                       "the share %g of local dynamics is that of the motion of the world, which "
                       "never moves; name another reference",
                       local);
    }
    s->time_scale = time_scale;
    s->local = local;
    s->reference = reference;
    return SS_OK;
}

// ---- Poses

static ss_status check_keys(int npoints, int nkeys, const ss_posing_key *keys, ss_error *e)
{
    for (int k = 0; k < nkeys; k++) {
        const ss_posing_key *at = &keys[k];
        if (!isfinite(at->time) || (k > 0 && !(at->time > keys[k - 1].time))) {
            return ss_fail(e, SS_BAD_INPUT, "key %d of a pose is at %g s; keys increase in time", k,
                           at->time);
        }
        if (!(isfinite(at->strength) && at->strength >= 0.0) ||
            !(isfinite(at->damping) && at->damping >= 0.0)) {
            return ss_fail(
                e, SS_BAD_INPUT,
                "key %d of a pose has the strength %g N/m and the damping %g N s/m; both "
                "are 0 or more",
                k, at->strength, at->damping);
        }
        for (int i = 0; at->place != NULL && i < npoints; i++) {
            if (!isfinite(ss_length(at->place[i]))) {
                return ss_fail(e, SS_BAD_INPUT, "place %d in key %d of a pose is not finite", i, k);
            }
        }
    }
    return SS_OK;
}

static struct ss_posing *new_posing(int npoints, int nkeys)
{
    const size_t places = (size_t)npoints * (size_t)nkeys;
    struct ss_posing *p =
        malloc(sizeof *p + (size_t)nkeys * sizeof *p->keys + places * sizeof *p->keys[0].place);
    if (p != NULL) {
        *p = (struct ss_posing){nkeys, npoints, (ss_posing_key *)(p + 1)};
    }
    return p;
}

// Finds the places of the points of strand k now, in the frame of its carrier.
static ss_status find_places(const ss_world *w, int k, ss_vec3 *place, ss_error *e)
{
    const ss_strand *s = &w->strands[k];
    ss_placed at;
    const bool ok = ss_placed_init(&at, &s->size);
    if (ok) {
        ss_strand_place(w, k, &w->now, &at);
        for (int i = 0; i < s->size.npoints; i++) {
            place[i] = ss_pose_back(&at.carrier.pose, at.points[i].x);
        }
    }
    ss_placed_free(&at);
    return ok ? SS_OK : ss_fail_memory(e, "the pose of a strand");
}

ss_status ss_world_pose_strand(ss_world *w, int strand, int nkeys, const ss_posing_key *keys,
                               ss_error *e)
{
    ss_assert(strand >= 0 && strand < w->nstrands);
    ss_strand *s = &w->strands[strand];
    const int n = s->size.npoints;
    ss_status status = nkeys > 0
                           ? check_keys(n, nkeys, keys, e)
                           : ss_fail(e, SS_BAD_INPUT, "a pose has at least 1 key, not %d", nkeys);
    if (status != SS_OK) {
        return status;
    }
    struct ss_posing *p = new_posing(n, nkeys);
    if (p == NULL) {
        return ss_fail_memory(e, "the pose of a strand");
    }
    ss_vec3 *place = (ss_vec3 *)(p->keys + nkeys);
    for (int k = 0; status == SS_OK && k < nkeys; k++, place += n) {
        p->keys[k] = keys[k];
        p->keys[k].place = place;
        if (keys[k].place != NULL || k > 0) {
            memcpy(place, keys[k].place != NULL ? keys[k].place : place - n,
                   (size_t)n * sizeof *place);
        } else {
            status = find_places(w, strand, place, e);
        }
    }
    if (status != SS_OK) {
        free(p);
        return status;
    }
    free(s->posing);
    s->posing = p;
    return SS_OK;
}

ss_posing_at ss_posing_find(const struct ss_posing *p, double time)
{
    ss_assert(p != NULL && p->nkeys > 0);
    int k = 0;
    while (k + 1 < p->nkeys && p->keys[k + 1].time <= time) {
        k++;
    }
    const ss_posing_key *from = &p->keys[k], *to = k + 1 < p->nkeys ? from + 1 : from;
    ss_posing_at at = {from->strength, from->damping, from->place, to->place, 0.0, 0.0};
    if (to != from && time >= from->time) {
        at.rate = 1.0 / (to->time - from->time);
        at.share = (time - from->time) * at.rate;
        at.strength += at.share * (to->strength - from->strength);
        at.damping += at.share * (to->damping - from->damping);
    }
    return at;
}
