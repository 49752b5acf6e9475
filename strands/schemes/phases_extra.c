// Goals of posed tips and limits of joints as rows of the box law (phases_extra.h).
#include "strands/schemes/phases_extra.h"

#include <math.h>

#include "strands/world.h"

// A point that is near its goal along a direction in which it hardly moves is left there: of the largest of its three
// K_ii, this is added to each.
#define GOAL_SOFTNESS 1e-3
// A joint that would end beyond its limit by less, as a share of it, is left alone.
#define LIMIT_MISSED 1e-2

// Of a point that a body carries at the arm d, and that moves against it by `rate`.
static ss_vec3 carried_acceleration(const ss_motion_state *body, ss_vec3 d, ss_vec3 rate)
{
    const ss_vec3 about = ss_along(ss_cross(body->spin, d), 2.0, rate);
    return ss_plus(body->acceleration,
                   ss_plus(ss_cross(body->spin_rate, d), ss_cross(body->spin, about)));
}

// J (v - v_n) - h (wanted - that of J v_n on its body) of the tip of strand k, [H06] (15).
static ss_vec3 goal_velocity(const ss_extras *e, int k, const ss_strand_point *tip)
{
    const ss_world *w = e->s->world;
    const ss_strand *strand = &w->strands[k];
    const ss_motion_state *body = &e->s->here.bodies[strand->carrier];
    const ss_posing_at pose = ss_posing_find(strand->posing, w->now.time);
    const int last = strand->size.npoints - 1;
    const ss_vec3 way = ss_minus(pose.to[last], pose.from[last]);
    const ss_vec3 place = ss_along(pose.from[last], pose.share, way);
    const ss_vec3 arm = ss_turned(&body->pose.turn, place);
    const ss_vec3 rate = ss_turned(&body->pose.turn, ss_scaled(pose.rate, way));
    const ss_vec3 d = ss_minus(tip->x, body->pose.place);
    const ss_vec3 own = ss_point_rate(tip, w->now.v + strand->v);
    const ss_vec3 behind = ss_minus(arm, d); // and slower: both turn with the body
    const ss_vec3 slower = ss_plus(ss_minus(rate, own), ss_cross(body->spin, behind));
    const ss_vec3 wanted = ss_along(
        ss_along(carried_acceleration(body, arm, rate), e->set->kp, behind), e->set->kd, slower);
    const ss_vec3 gained = ss_minus(ss_point_rate(tip, e->around + strand->v), own);
    return ss_along(gained, -e->h, ss_minus(wanted, carried_acceleration(body, d, own)));
}

// `v`, that of the free dofs, as that of all dofs of strand k, into e->around.
static void widen(const ss_extras *e, int k, const double *v)
{
    const int at = e->s->world->strands[k].v;
    for (int j = 0; j < e->s->world->strands[k].size.nv; j++) {
        const int place = e->s->systems.place[at + j];
        e->around[at + j] = place >= 0 ? v[at + place] : e->s->systems.held[at + j];
    }
}

static bool add_goal(const ss_extras *e, int k)
{
    const ss_strand *strand = &e->s->world->strands[k];
    const ss_strand_point *tip = &e->s->here.all.points[strand->point + strand->size.npoints - 1];
    widen(e, k, e->v);
    const ss_vec3 u = goal_velocity(e, k, tip);
    const double b[3] = {u.x, u.y, u.z};
    for (int c = 0; c < 3; c++) {
        const ss_row row = {.b = b[c], .low = -INFINITY, .high = INFINITY, .normal = -1};
        double *x =
            ss_rows_add(e->rows, &row) ? ss_rows_add_end(e->rows, k, e->s->systems.M[k].n) : NULL;
        if (x == NULL) {
            return false;
        }
        for (int j = 0; j < tip->count; j++) {
            const int place = e->s->systems.place[strand->v + ss_point_dof(tip, j)];
            if (place >= 0) {
                x[place] = tip->J[c * tip->count + j];
            }
        }
    }
    return true;
}

static bool add_limit(const ss_extras *e, int k, const ss_joint_limit *limit)
{
    const ss_strand *strand = &e->s->world->strands[k];
    const ss_row row = {.b = -limit->least, .high = INFINITY, .normal = -1};
    double *x =
        ss_rows_add(e->rows, &row) ? ss_rows_add_end(e->rows, k, e->s->systems.M[k].n) : NULL;
    if (x == NULL) {
        return false;
    }
    for (int c = 0; c < 3; c++) {
        const int place = e->s->systems.place[strand->v + limit->dof + c];
        if (place >= 0) {
            x[place] = limit->along[c];
        }
    }
    ss_rows_at(e->rows, e->rows->count - 1)->b +=
        ss_rows_velocity(e->rows, e->s->world, e->rows->count - 1, e->v);
    return true;
}

// By how much a limit is missed at the velocities e->around of strand k.
static double missed(const ss_extras *e, int k, const ss_joint_limit *limit)
{
    const double *w = e->around + e->s->world->strands[k].v + limit->dof, *a = limit->along;
    return limit->least - (a[0] * w[0] + a[1] * w[1] + a[2] * w[2]);
}

// Those of strand k that the velocities `end` miss by more than `most`.
static bool add_limits(const ss_extras *e, int k, const double *end, double most)
{
    const ss_strand *strand = &e->s->world->strands[k];
    if (strand->model->limits == NULL) {
        return true;
    }
    widen(e, k, end);
    const int count = strand->model->limits(strand->self, e->s->world->now.q + strand->q,
                                            e->around + strand->v, e->h, e->set->limit, e->limits);
    bool ok = true;
    for (int i = 0; ok && i < count; i++) {
        ok = !(missed(e, k, &e->limits[i]) > most) || add_limit(e, k, &e->limits[i]);
    }
    return ok;
}

bool ss_extras_add(const ss_extras *e)
{
    const ss_world *w = e->s->world;
    bool ok = true;
    for (int k = 0; ok && e->set->goal != SS_GOAL_OFF && k < w->nstrands; k++) {
        ok = w->strands[k].posing == NULL || add_goal(e, k);
    }
    for (int k = 0; ok && e->set->limit > 0.0 && k < w->nstrands; k++) {
        ok = add_limits(e, k, e->v, -INFINITY);
    }
    return ok;
}

bool ss_extras_tighten(const ss_extras *e, const double *end)
{
    const ss_world *w = e->s->world;
    bool ok = true;
    for (int k = 0; ok && k < w->nstrands; k++) {
        ok = add_limits(e, k, end, LIMIT_MISSED * e->set->limit / e->h);
    }
    return ok;
}

void ss_extras_soften(const ss_rows *rows, int first)
{
    for (int i = first; i < rows->count && ss_rows_at(rows, i)->low < 0.0; i += 3) {
        double largest = 0.0;
        for (int c = 0; c < 3; c++) {
            largest = fmax(largest, ss_rows_at(rows, i + c)->diagonal);
        }
        for (int c = 0; c < 3; c++) {
            ss_rows_at(rows, i + c)->added = GOAL_SOFTNESS * largest;
        }
    }
}
