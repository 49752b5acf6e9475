#include "harness/strands.h"

#include <stdlib.h>

#define MOST_TIPS 2000

static int last_point(const ss_strands *s, int strand)
{
    const ss_strand *at = &s->world->strands[strand];
    return at->point + at->size.npoints - 1;
}

static double total_length(const ss_strands *s)
{
    double length = 0.0;
    for (int k = 0; k < s->world->nstrands; k++) {
        for (int i = s->world->strands[k].point + 1; i <= last_point(s, k); i++) {
            length += ss_length(ss_minus(s->at.x[i], s->at.x[i - 1]));
        }
    }
    return length;
}

void ss_strands_look(ss_strands *s)
{
    s->time = s->world->now.time;
    ss_snapshot_script(&s->at, s->world, s->time);
    ss_snapshot_place(&s->at, s->world, &s->world->now);
}

ss_status ss_strands_new(const ss_world *world, ss_strands **strands, ss_error *e)
{
    *strands = NULL;
    ss_strands *s = calloc(1, sizeof *s);
    if (s == NULL || !ss_snapshot_init(&s->at, world)) {
        ss_strands_free(s);
        return ss_fail_memory(e, "the places of the strands");
    }
    s->world = world;
    ss_strands_look(s);
    s->start_length = total_length(s);
    *strands = s;
    return SS_OK;
}

void ss_strands_free(ss_strands *s)
{
    if (s != NULL) {
        ss_snapshot_free(&s->at);
        free(s);
    }
}

ss_vec3 ss_strands_tip(const ss_strands *s, int strand)
{
    return s->at.x[last_point(s, strand)];
}

// The body of the root carries the point, and the strand moves it besides.
ss_vec3 ss_strands_tip_velocity(const ss_strands *s, int strand)
{
    const ss_strand *at = &s->world->strands[strand];
    const ss_motion_state *body = &s->at.bodies[at->body];
    const ss_strand_point *p = &s->at.all.points[last_point(s, strand)];
    const double *v = s->world->now.v + at->v + p->first;
    const ss_vec3 arm = ss_minus(p->x, body->pose.place);
    ss_vec3 sum = ss_plus(body->velocity, ss_cross(body->spin, arm));
    for (int j = 0; j < p->count; j++) {
        const double *J = p->J + j;
        sum = ss_along(sum, v[j], ss_vec(J[0], J[p->count], J[2 * p->count]));
    }
    return sum;
}

double ss_strands_dispersion(const ss_strands *s)
{
    const long all = s->world->nstrands, n = all < MOST_TIPS ? all : MOST_TIPS;
    double sum = 0.0;
    for (long i = 0; i < n; i++) {
        const ss_vec3 tip = ss_strands_tip(s, (int)(i * all / n));
        for (long j = 0; j < i; j++) {
            sum += ss_length(ss_minus(tip, ss_strands_tip(s, (int)(j * all / n))));
        }
    }
    const double pairs = 0.5 * (double)n * (double)(n - 1);
    return pairs > 0.0 ? sum / pairs : NAN;
}

double ss_strands_stretch_percent(const ss_strands *s)
{
    return 100.0 * (total_length(s) / s->start_length - 1.0);
}
