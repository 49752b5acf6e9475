// strands/posing.c -- scaled motions of bases, and poses (posing.h).
#include "strands/posing.h"

#include <stdlib.h>
#include <string.h>

#include "strands/step/system.h"

ss_status ss_world_scale_motion(ss_world *w, int strand, double time_scale, double local,
                                int reference, ss_error *e)
{
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

// beta (own - gamma reference), fields at the origin of `own`.
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

// Where the points of strand k are now, in the frame of its carrier.
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
