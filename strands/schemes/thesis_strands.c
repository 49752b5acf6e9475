// What the scheme thesis does with each strand, and with those that go side by side (thesis.h).
#include "strands/schemes/thesis.h"

#include <math.h>
#include <string.h>

// A strand that nothing touches rests when its velocity changes by less than this share of tol.
#define REST 0.01

// Armijo's condition: the objective falls by at least this share of what its slope promises; and how often a
// step is halved at most.
#define SUFFICIENT 0.03
#define HALVINGS   20
// Of the sizes of its parts.
#define ROUNDING 1e-12

// |v - v*| over positions.
static double change_of(const ss_thesis *t, int k)
{
    const ss_strand *strand = &t->s->world->strands[k];
    const ss_strand_point *points = t->s->here.all.points + strand->point;
    const double *v = t->s->trial.v + strand->v, *about = t->about + strand->v;
    double sum = 0.0;
    for (int i = 0; i < strand->size.npoints; i++) {
        for (int c = 0; c < 3; c++) {
            const int j = points[i].first + c;
            sum += (v[j] - about[j]) * (v[j] - about[j]);
        }
    }
    return sqrt(sum);
}

// q moves on to where v leads, and v* to what that is.
static void commit(ss_thesis *t, int k)
{
    const ss_world *w = t->s->world;
    const ss_strand *strand = &w->strands[k];
    const double *v = t->s->trial.v + strand->v;
    double *q = t->s->trial.q + strand->q, *step = t->s->mean + strand->v;
    double *about = t->about + strand->v;
    for (int j = 0; j < strand->size.nv; j++) {
        step[j] = v[j] - about[j];
        about[j] = v[j];
    }
    strand->model->advance(strand->self, q, step, t->it.h, q);
    if (strand->model->difference != NULL) {
        strand->model->difference(strand->self, w->now.q + strand->q, q, t->it.h, about);
    }
}

static void solve(ss_thesis *t, int k)
{
    ss_stepper *s = t->s;
    const ss_strand *strand = &s->world->strands[k];
    const double *impulses = t->impulses + strand->v;
    double *v = s->trial.v + strand->v, *right = s->mean + strand->v;
    if (t->set.newton == SS_THESIS_QUASI) {
        ss_quasi_solve(&t->quasi, &s->systems, s->world, k, t->about + strand->v, impulses, v);
        return;
    }
    for (int i = 0; i < s->systems.M[k].n; i++) {
        right[i] = s->systems.f[strand->v + i] + impulses[s->systems.free[strand->v + i]];
    }
    ss_systems_solve(&s->systems, s->world, k, right, v);
}

// The objective of a step ([J20] 2.17, of which g - I is the gradient) at q, v, which are strand k's part of
// search_q and search_v.
static double objective(ss_thesis *t, int k, int thread, double *size)
{
    ss_stepper *s = t->s;
    const ss_world_state there = {.time = t->at.time, .q = t->search_q, .v = t->search_v};
    ss_placed at = ss_snapshot_strand(&s->there, s->world, k);
    ss_iterate it = t->it;
    it.at = &there;
    ss_strand_place(s->world, k, &there, &at);
    return ss_strand_objective(s->world, k, &it, &at, t->impulses + s->world->strands[k].v,
                               s->systems.rooms[thread].scratch, size);
}

// search_q and search_v: so much of the way from v* to v.
static void go(ss_thesis *t, int k, double share)
{
    const ss_strand *strand = &t->s->world->strands[k];
    const double *about = t->about + strand->v, *v = t->s->trial.v + strand->v;
    double *at = t->search_v + strand->v, *step = t->s->mean + strand->v;
    for (int j = 0; j < strand->size.nv; j++) {
        step[j] = share * (v[j] - about[j]);
        at[j] = about[j] + step[j];
    }
    strand->model->advance(strand->self, t->s->trial.q + strand->q, step, t->it.h,
                           t->search_q + strand->q);
}

// [J20] Algorithm 1 with its loop put right: v is halved towards v* until the objective has fallen enough. Its
// slope is -(v - v*)' M (v - v*), as M (v - v*) = I - g.
static void search(ss_thesis *t, int k, int thread)
{
    ss_stepper *s = t->s;
    const ss_strand *strand = &s->world->strands[k];
    double *v = s->trial.v + strand->v, share = 1.0, size, most;
    go(t, k, 0.0);
    const double before = objective(t, k, thread, &size);
    const double slope = -ss_systems_square(&s->systems, s->world, k, v, t->about + strand->v);
    const double rounding = ROUNDING * size;
    for (int i = 0; i < HALVINGS; i++, share *= 0.5) {
        go(t, k, share);
        most = before + SUFFICIENT * share * slope + rounding;
        if (objective(t, k, thread, &size) <= most) {
            break;
        }
    }
    memcpy(v, t->search_v + strand->v, (size_t)strand->size.nv * sizeof *v);
    t->share[k] = share;
}

// Its system about q*, and v of that.
static void renew(ss_thesis *t, int k, int thread)
{
    ss_stepper *s = t->s;
    ss_placed at = ss_snapshot_strand(&s->there, s->world, k);
    ss_strand_place(s->world, k, t->it.at, &at);
    s->systems.definite[k] =
        t->set.newton == SS_THESIS_QUASI
            ? ss_quasi_renew(&t->quasi, &s->systems, s->world, k, &t->it, &at, thread)
            : ss_systems_form_strand(&s->systems, s->world, k, &t->it, &at, thread);
    solve(t, k);
    if (t->searches) {
        search(t, k, thread);
    }
    t->change[k] = change_of(t, k);
}

static ss_quasi_step group_step(ss_thesis *t, int thread)
{
    ss_stepper *s = t->s;
    return (ss_quasi_step){.world = s->world,
                           .systems = &s->systems,
                           .here = &s->here,
                           .quasi = &t->quasi,
                           .h = t->it.h,
                           .impulses = t->impulses,
                           .q = s->trial.q,
                           .v = s->trial.v,
                           .about = t->about,
                           .change = t->change,
                           .scratch = t->groups.scratch + (size_t)thread * t->groups.each};
}

static bool has_left(const ss_quasi_item *item, int i)
{
    return item->model == NULL || (item->left >> i & 1u) != 0;
}

// Nothing touches its strands, and they have stopped changing.
static bool rests(const ss_thesis *t, const ss_quasi_item *item)
{
    const ss_world *w = t->s->world;
    for (int i = 0; i < item->count; i++) {
        const int k = item->strand[i];
        const double dim = 3.0 * w->strands[k].size.npoints;
        if ((t->s->ncontacts > 0 && t->s->formed.row[k] >= 0) ||
            !(t->change[k] <= REST * t->set.tol * dim)) {
            return false;
        }
    }
    return true;
}

// Those of the group together; what has left it, and what leaves it now, strand by strand.
void ss_thesis_iterate(void *context, int which, int thread)
{
    ss_thesis *t = context;
    ss_quasi_item *item = &t->groups.items[which];
    const ss_quasi_step step = group_step(t, thread);
    for (int i = 0; i < item->count; i++) {
        t->quasi.seconds[item->strand[i]] = 0.0;
    }
    if (rests(t, item)) {
        return;
    }
    for (int i = 0; i < item->count; i++) {
        if (has_left(item, i)) {
            commit(t, item->strand[i]);
            renew(t, item->strand[i], thread);
        }
    }
    const unsigned leave = item->model != NULL ? item->model->iterate(item->group, &step) : 0;
    for (int i = 0; i < item->count; i++) {
        if ((leave >> i & 1u) != 0) {
            item->model->end(item->group, &step, &t->s->systems, i);
            item->model->leave(item->group, i);
            renew(t, item->strand[i], thread);
        }
    }
    item->left |= leave;
}

// The first: v without contacts.
static void begin_strand(ss_thesis *t, int k, int thread)
{
    ss_stepper *s = t->s;
    if (t->set.newton == SS_THESIS_QUASI) {
        ss_quasi_keep(&t->quasi, &s->systems, s->world, k, &t->it, thread);
    }
    ss_systems_end(&s->systems, s->world, k, s->trial.v + s->world->strands[k].v);
    memcpy(t->about + s->world->strands[k].v, s->world->now.v + s->world->strands[k].v,
           (size_t)s->world->strands[k].size.nv * sizeof *t->about);
    t->change[k] = change_of(t, k);
}

void ss_thesis_begin(void *context, int which, int thread)
{
    ss_thesis *t = context;
    ss_quasi_item *item = &t->groups.items[which];
    const ss_quasi_step step = group_step(t, thread);
    for (int i = 0; i < item->count; i++) {
        begin_strand(t, item->strand[i], thread);
    }
    item->left = 0;
    if (item->model != NULL) {
        item->model->begin(item->group, &step);
    }
}

void ss_thesis_leave(void *context, int which, int thread)
{
    ss_thesis *t = context;
    ss_stepper *s = t->s;
    const ss_quasi_item *item = &t->groups.items[which];
    const ss_quasi_step step = group_step(t, thread);
    for (int i = 0; i < item->count; i++) {
        const int k = item->strand[i];
        const bool touches = s->ncontacts > 0 && s->formed.row[k] >= 0;
        if (t->set.newton == SS_THESIS_QUASI && t->iterated) {
            if (!has_left(item, i)) {
                item->model->end(item->group, &step, touches ? &s->systems : NULL, i);
            }
            if (touches) {
                ss_quasi_right(&t->quasi, &s->systems, s->world, k,
                               t->about + s->world->strands[k].v);
            }
        }
    }
}

void ss_thesis_commit(void *context, int which, int thread)
{
    ss_thesis *t = context;
    const ss_quasi_item *item = &t->groups.items[which];
    (void)thread;
    for (int i = 0; i < item->count; i++) {
        commit(t, item->strand[i]);
    }
}
