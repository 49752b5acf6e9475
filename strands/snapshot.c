// strands/snapshot.c -- a world's strands, bodies and obstacles at one time.
#include "strands/snapshot.h"

#include <stdlib.h>

#include "strands/posing.h"

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

// The J of `count` points that lie behind each other are about to be written.
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
