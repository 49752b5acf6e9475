#include "harness/frames/strands.h"

#include <stdlib.h>

#include "strands/step/step_control.h"

#define MOST_TIPS 2000
#define MOST_NEAR 20000 // strands, of which the nearest tips are sought
#define LANES     8     // distances summed side by side

static int last_point(const ss_strands *s, int strand)
{
    const ss_strand *at = &s->world->strands[strand];
    return at->point + at->size.npoints - 1;
}

// How many tips stand for all, and the strand of the i-th.
static int tip_count(const ss_strands *s)
{
    return s->world->nstrands < MOST_TIPS ? s->world->nstrands : MOST_TIPS;
}

static int tip_strand(const ss_strands *s, int i)
{
    return (int)((long)i * s->world->nstrands / tip_count(s));
}

void ss_strands_look(ss_strands *s)
{
    s->time = s->world->now.time;
    ss_snapshot_script(&s->at, s->world, s->time);
    ss_snapshot_place(&s->at, s->world, &s->world->now, NULL);
}

// Where strand k is.
static void place(ss_strands *s, int k)
{
    const int last = last_point(s, k);
    ss_placed at = ss_snapshot_strand(&s->at, s->world, k);
    ss_strand_place(s->world, k, &s->world->now, &at);
    s->at.x[last] = s->at.all.points[last].x;
}

void ss_strands_look_at_tips(ss_strands *s, const ss_vec3 *x)
{
    s->time = s->world->now.time;
    ss_snapshot_script(&s->at, s->world, s->time);
    for (int k = 0; x != NULL && k < s->world->nstrands; k++) {
        s->at.x[last_point(s, k)] = x[last_point(s, k)];
    }
    if (x != NULL) {
        place(s, 0);
        return;
    }
    const bool all = s->world->nstrands <= MOST_NEAR;
    const int count = all ? s->world->nstrands : tip_count(s);
    for (int i = 0; i < count; i++) {
        place(s, all ? i : tip_strand(s, i));
    }
}

ss_status ss_strands_new(const ss_world *world, ss_strands **strands, ss_error *e)
{
    *strands = NULL;
    ss_strands *s = calloc(1, sizeof *s);
    const bool ok = s != NULL && ss_snapshot_init(&s->at, world);
    if (ok) {
        s->tips = malloc(((size_t)world->nstrands + 1) * sizeof *s->tips);
        s->rank = malloc(((size_t)world->nstrands + 1) * sizeof *s->rank);
    }
    if (!ok || s->tips == NULL || s->rank == NULL) {
        ss_strands_free(s);
        return ss_fail_memory(e, "the places of the strands");
    }
    s->world = world;
    ss_strands_look(s);
    s->start_length = ss_step_length(world, &s->at);
    *strands = s;
    return SS_OK;
}

void ss_strands_free(ss_strands *s)
{
    if (s != NULL) {
        ss_snapshot_free(&s->at);
        free(s->tips);
        free(s->rank);
        free(s);
    }
}

ss_vec3 ss_strands_tip(const ss_strands *s, int strand)
{
    return s->at.x[last_point(s, strand)];
}

// The carrier moves the point, and the strand moves it besides.
ss_vec3 ss_strands_tip_velocity(const ss_strands *s, int strand)
{
    const ss_strand *at = &s->world->strands[strand];
    const ss_motion_state *body = &s->at.bodies[at->carrier];
    const ss_strand_point *p = &s->at.all.points[last_point(s, strand)];
    const double *v = s->world->now.v + at->v;
    const ss_vec3 arm = ss_minus(p->x, body->pose.place);
    ss_vec3 sum = ss_plus(body->velocity, ss_cross(body->spin, arm));
    for (int j = 0; j < p->count; j++) {
        const double *J = p->J + j;
        sum = ss_along(sum, v[ss_point_dof(p, j)], ss_vec(J[0], J[p->count], J[2 * p->count]));
    }
    return sum;
}

typedef struct tip_list {
    double x[MOST_TIPS], y[MOST_TIPS], z[MOST_TIPS];
} tip_list;

static double distance(const tip_list *tips, int i, int j)
{
    return ss_length(
        ss_vec(tips->x[i] - tips->x[j], tips->y[i] - tips->y[j], tips->z[i] - tips->z[j]));
}

// The sum of the distances of tip i to those before it, LANES at a time.
static double distances(const tip_list *tips, int i)
{
    double sums[LANES] = {0.0}, sum = 0.0;
    int j = 0;
    for (; j + LANES <= i; j += LANES) {
        for (int l = 0; l < LANES; l++) {
            sums[l] += distance(tips, i, j + l);
        }
    }
    for (; j < i; j++) {
        sum += distance(tips, i, j);
    }
    for (int l = 0; l < LANES; l++) {
        sum += sums[l];
    }
    return sum;
}

double ss_strands_dispersion(const ss_strands *s)
{
    const int n = tip_count(s);
    tip_list tips;
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        const ss_vec3 tip = ss_strands_tip(s, tip_strand(s, i));
        tips.x[i] = tip.x;
        tips.y[i] = tip.y;
        tips.z[i] = tip.z;
        sum += distances(&tips, i);
    }
    const double pairs = 0.5 * n * (n - 1.0);
    return pairs > 0.0 ? sum / pairs : NAN;
}

static int compare_tips(const void *a, const void *b)
{
    const double x = ((const ss_tip *)a)->x.x, y = ((const ss_tip *)b)->x.x;
    return (x > y) - (x < y);
}

// All tips by their x; rank[k] is where that of strand k is.
static void sort_tips(const ss_strands *s)
{
    const int n = s->world->nstrands;
    for (int k = 0; k < n; k++) {
        s->tips[k] = (ss_tip){ss_strands_tip(s, k), k};
    }
    qsort(s->tips, (size_t)n, sizeof *s->tips, compare_tips);
    for (int i = 0; i < n; i++) {
        s->rank[s->tips[i].strand] = i;
    }
}

// The square of the distance from tip i to the nearest one on a side, or `least`. Those farther away along x
// than that are not looked at.
static double nearest_beside(const ss_tip *tips, int n, int i, int side, double least)
{
    for (int j = i + side; j >= 0 && j < n; j += side) {
        const ss_vec3 d = ss_minus(tips[j].x, tips[i].x);
        if (d.x * d.x >= least) {
            break;
        }
        const double square = ss_dot(d, d);
        least = square < least ? square : least;
    }
    return least;
}

double ss_strands_tip_gap(const ss_strands *s)
{
    const int n = tip_count(s), all = s->world->nstrands;
    double sum = 0.0;
    if (all < 2 || all > MOST_NEAR) {
        return NAN;
    }
    sort_tips(s);
    for (int i = 0; i < n; i++) {
        const int at = s->rank[tip_strand(s, i)];
        const double before = nearest_beside(s->tips, all, at, -1, INFINITY);
        sum += sqrt(nearest_beside(s->tips, all, at, 1, before));
    }
    return sum / n;
}

// Squares of the distances of strand k, which has `count` vertices.
static double natural_squares(const ss_strands *s, int k)
{
    const ss_world *w = s->world;
    const ss_strand *at = &w->strands[k];
    const ss_vec3 *rest = at->design->rest != NULL ? at->design->rest : at->design->vertices;
    const ss_pose root = ss_pose_product(&s->at.bodies[at->body].pose, &at->root);
    ss_placed now = ss_snapshot_strand(&s->at, w, k);
    double sum = 0.0;
    ss_strand_place(w, k, &w->now, &now);
    for (int i = 0; i < at->size.npoints; i++) {
        const ss_vec3 off = ss_minus(now.points[i].x, ss_pose_point(&root, rest[i]));
        sum += ss_dot(off, off);
    }
    return sum;
}

double ss_strands_unrest(const ss_strands *s)
{
    double sum = 0.0;
    int count = 0;
    for (int k = 0; k < s->world->nstrands; k++) {
        const ss_strand *at = &s->world->strands[k];
        if (at->design != NULL && at->design->nvertices == at->size.npoints) {
            sum += natural_squares(s, k);
            count += at->size.npoints;
        }
    }
    return count > 0 ? sqrt(sum / count) : NAN;
}

double ss_strands_stretch_percent(const ss_strands *s, double length)
{
    return 100.0 * (length / s->start_length - 1.0);
}
