#include "tests/support/brute_contacts.h"

#include <assert.h>
#include <stdlib.h>

#include "strands/contact/proximity.h"

typedef struct list {
    const ss_polylines *lines;
    double margin;
    ss_touch *touches;
    int count, room;
} list;

static void append(list *l, ss_touch t)
{
    if (l->count == l->room) {
        l->room = 2 * l->room + 16;
        l->touches = realloc(l->touches, (size_t)l->room * sizeof *l->touches);
        assert(l->touches != NULL);
    }
    l->touches[l->count++] = t;
}

// The last segment alone keeps a touch at its end.
static bool keeps(const ss_polylines *lines, int strand, int segment, double abscissa)
{
    const int nsegments = lines->first[strand + 1] - lines->first[strand] - 1;
    return abscissa < 1.0 || segment == nsegments - 1;
}

static double farthest(const ss_vec3 *x, const ss_vec3 *moved)
{
    return moved == NULL
               ? 0.0
               : fmax(ss_length(ss_minus(moved[0], x[0])), ss_length(ss_minus(moved[1], x[1])));
}

// Spheres about the segments that are too far apart, with room for rounding.
static bool are_far(const list *l, int va, int vb)
{
    const ss_vec3 *x = l->lines->x, *moved = l->lines->moved;
    const ss_vec3 apart = ss_minus(ss_plus(x[va], x[va + 1]), ss_plus(x[vb], x[vb + 1])); // twice
    const double sizes = ss_length(ss_minus(x[va + 1], x[va])) +
                         ss_length(ss_minus(x[vb + 1], x[vb])) +
                         2.0 * farthest(x + va, moved == NULL ? NULL : moved + va) +
                         2.0 * farthest(x + vb, moved == NULL ? NULL : moved + vb);
    return ss_length(apart) > 1.001 * (sizes + 4.0 * l->lines->radius + 2.0 * l->margin);
}

static ss_vec3 normal_of(const ss_vec3 x[4], const ss_touch *t)
{
    const ss_vec3 w = ss_minus(ss_between(x[0], x[1], t->a), ss_between(x[2], x[3], t->b));
    return ss_normal_between(w, ss_minus(x[1], x[0]), ss_minus(x[3], x[2]));
}

static bool touch_of(const list *l, int va, int vb, ss_touch *t)
{
    const ss_vec3 *p = l->lines->x, *m = l->lines->moved;
    const ss_vec3 x[4] = {p[va], p[va + 1], p[vb], p[vb + 1]};
    const double radii = 2.0 * l->lines->radius;
    t->gap = ss_segments_nearest(x[0], x[1], x[2], x[3], &t->a, &t->b) - radii;
    t->n = normal_of(x, t);
    const bool now = t->gap < l->margin;
    if (!now) {
        double time;
        const bool moves = m != NULL;
        const ss_vec3 end[4] = {moves ? m[va] : x[0], moves ? m[va + 1] : x[1],
                                moves ? m[vb] : x[2], moves ? m[vb + 1] : x[3]};
        if (!moves || !ss_swept_segments(x, end, radii, &time)) {
            return false;
        }
        ss_vec3 then[4];
        for (int i = 0; i < 4; i++) {
            then[i] = ss_between(x[i], end[i], time);
        }
        ss_segments_nearest(then[0], then[1], then[2], then[3], &t->a, &t->b);
        t->n = normal_of(then, t);
    }
    t->y = ss_between(x[2], x[3], t->b);
    t->gap = now ? t->gap : ss_dot(t->n, ss_minus(ss_between(x[0], x[1], t->a), t->y)) - radii;
    return true;
}

// Whether a vertex is held inside an obstacle of the body that holds it.
static bool is_planted(const ss_polylines *lines, int vertex, const ss_obstacle *o,
                       const ss_pose *pose)
{
    ss_obstacle_near near;
    ss_obstacle_nearest(o, pose, lines->x[vertex], lines->x[vertex], &near);
    return lines->holder != NULL && lines->holder[vertex] == o->body &&
           near.distance < (1.0 - 1e-6) * lines->radius;
}

// Between these vertices, which may be one: that at abscissa `end` of the segment.
static void with_obstacle(list *l, int strand, int segment, const int v[2], double end,
                          const ss_obstacle *o, const ss_pose *pose, ss_touch t)
{
    const ss_polylines *lines = l->lines;
    const ss_vec3 *to = lines->moved == NULL ? lines->x : lines->moved;
    const ss_vec3 x[2] = {lines->x[v[0]], lines->x[v[1]]}, moved[2] = {to[v[0]], to[v[1]]};
    ss_obstacle_near near;
    double time;
    ss_obstacle_nearest(o, pose, x[0], x[1], &near);
    if (!(near.distance < lines->radius + l->margin)) {
        if (!ss_swept_obstacle(o, pose, x, moved, lines->radius, &time)) {
            return;
        }
        ss_obstacle_nearest(o, pose, ss_between(x[0], moved[0], time),
                            ss_between(x[1], moved[1], time), &near);
        near.distance = ss_dot(near.n, ss_minus(ss_between(x[0], x[1], near.a), near.y));
    }
    t.a = v[0] == v[1] ? end : near.a;
    t.n = near.n;
    t.y = near.y;
    t.gap = near.distance - lines->radius;
    if (keeps(lines, strand, segment, t.a) && !is_planted(lines, v[0], o, pose) &&
        !is_planted(lines, v[1], o, pose)) {
        append(l, t);
    }
}

static void with_obstacles(list *l, int strand, int segment, const ss_obstacle *obstacles,
                           const ss_pose *poses, int nobstacles)
{
    const int first = l->lines->first[strand] + segment, whole[2] = {first, first + 1};
    for (int o = 0; o < nobstacles; o++) {
        const ss_touch t = {
            .strand_a = strand, .segment_a = segment, .strand_b = -1, .segment_b = o};
        if (obstacles[o].kind != SS_OBSTACLE_PLANE) {
            with_obstacle(l, strand, segment, whole, 0.0, &obstacles[o], &poses[o], t);
        }
        for (int end = 0; obstacles[o].kind == SS_OBSTACLE_PLANE && end < 2; end++) {
            const int v[2] = {first + end, first + end};
            with_obstacle(l, strand, segment, v, end, &obstacles[o], &poses[o], t);
        }
    }
}

static void with_strand(list *l, int strand, int segment, int other)
{
    const ss_polylines *lines = l->lines;
    const int last = lines->first[other + 1] - lines->first[other] - 1;
    for (int k = other == strand ? segment + 2 : 0; k < last; k++) {
        const int va = lines->first[strand] + segment, vb = lines->first[other] + k;
        const bool roots = other != strand && segment == 0 && k == 0 && lines->holder != NULL &&
                           lines->holder[va] >= 0 && lines->holder[vb] >= 0;
        ss_touch t = {.strand_a = strand, .segment_a = segment, .strand_b = other, .segment_b = k};
        if (!roots && !are_far(l, va, vb) && touch_of(l, va, vb, &t) &&
            keeps(lines, strand, segment, t.a) && keeps(lines, other, k, t.b)) {
            append(l, t);
        }
    }
}

int brute_contacts(const ss_polylines *lines, const ss_obstacle *obstacles, const ss_pose *poses,
                   int nobstacles, double margin, ss_touch **touches)
{
    list l = {.lines = lines, .margin = margin};
    for (int strand = 0; strand < lines->nstrands; strand++) {
        const int nsegments = lines->first[strand + 1] - lines->first[strand] - 1;
        for (int segment = 0; segment < nsegments; segment++) {
            with_obstacles(&l, strand, segment, obstacles, poses, nobstacles);
            for (int other = strand; other < lines->nstrands; other++) {
                with_strand(&l, strand, segment, other);
            }
        }
    }
    *touches = l.touches;
    return l.count;
}

// ---- The deepest overlap

static bool holds(const ss_polylines *lines, int vertex)
{
    return lines->holder != NULL && lines->holder[vertex] >= 0;
}

static double into_obstacle(const ss_polylines *lines, int va, int vb, const ss_obstacle *o,
                            const ss_pose *pose)
{
    ss_obstacle_near near;
    ss_obstacle_nearest(o, pose, lines->x[va], lines->x[vb], &near);
    return lines->radius - near.distance;
}

static double with_all_obstacles(const ss_polylines *lines, int v, const ss_obstacle *obstacles,
                                 const ss_pose *poses, int nobstacles)
{
    double depth = 0.0;
    for (int o = 0; o < nobstacles; o++) {
        bool counts = !(holds(lines, v) && holds(lines, v + 1));
        for (int end = v; end < v + 2; end++) {
            const double at_end = into_obstacle(lines, end, end, &obstacles[o], &poses[o]);
            counts = counts && !(holds(lines, end) && at_end > 1e-6 * lines->radius);
        }
        const double whole = into_obstacle(lines, v, v + 1, &obstacles[o], &poses[o]);
        depth = counts ? fmax(depth, whole) : depth;
    }
    return depth;
}

static double between_segments(const ss_polylines *lines, int v, int w, bool same_strand)
{
    const ss_vec3 *x = lines->x;
    bool all = true, there = false;
    double a, b, way = 0.0;
    const double depth =
        2.0 * lines->radius - ss_segments_exact(x[v], x[v + 1], x[w], x[w + 1], &a, &b);
    if (same_strand) {
        for (int k = v; k < w; k++) {
            way += ss_length(ss_minus(x[k + 1], x[k]));
        }
        way += b * ss_length(ss_minus(x[w + 1], x[w])) - a * ss_length(ss_minus(x[v + 1], x[v]));
        return w > v + 1 && way >= M_PI * lines->radius ? depth : 0.0;
    }
    for (int k = 0; k < 4; k++) {
        const int i = v + k / 2, j = w + k % 2;
        const bool held = holds(lines, i) && holds(lines, j);
        all = all && held;
        there = there || (held && ss_length(ss_minus(x[i], x[j])) < 2.0 * lines->radius);
    }
    return all || there ? 0.0 : depth;
}

double brute_depth(const ss_polylines *lines, const ss_obstacle *obstacles, const ss_pose *poses,
                   int nobstacles)
{
    const list l = {.lines = lines};
    double depth = 0.0;
    for (int j = 0; j < lines->nstrands; j++) {
        for (int v = lines->first[j]; v + 1 < lines->first[j + 1]; v++) {
            depth = fmax(depth, with_all_obstacles(lines, v, obstacles, poses, nobstacles));
            for (int k = j; k < lines->nstrands; k++) {
                for (int w = k == j ? v + 1 : lines->first[k]; w + 1 < lines->first[k + 1]; w++) {
                    depth = are_far(&l, v, w) ? depth
                                              : fmax(depth, between_segments(lines, v, w, j == k));
                }
            }
        }
    }
    return depth;
}

static bool same(const ss_touch *a, const ss_touch *b)
{
    return a->strand_a == b->strand_a && a->segment_a == b->segment_a &&
           a->strand_b == b->strand_b && a->segment_b == b->segment_b && a->a == b->a &&
           a->b == b->b && a->gap == b->gap && a->n.x == b->n.x && a->n.y == b->n.y &&
           a->n.z == b->n.z && a->y.x == b->y.x && a->y.y == b->y.y && a->y.z == b->y.z;
}

bool same_contacts(const ss_touch *a, int na, const ss_touch *b, int nb)
{
    for (int i = 0; i < na && na == nb; i++) {
        if (!same(&a[i], &b[i])) {
            return false;
        }
    }
    return na == nb;
}
