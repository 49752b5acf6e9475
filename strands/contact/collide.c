// Touches: boxes about the segments, pairs of boxes that overlap (cells.h), exact tests, sorting.
#include "strands/contact/collide.h"

#include "base/status.h"
#include "base/team.h"
#include "strands/contact/cells.h"
#include "strands/contact/obstacle.h"
#include "strands/contact/proximity.h"
#include "strands/geometry.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

// ---- The order of touches

typedef struct ss_found {
    ss_touch touch;
    int key[2]; // a's segment among all; the obstacle, or their count + b's segment among all
} ss_found;

// Makes a pass of a counting sort of what was found, by one of its keys in 0 .. nkeys - 1.
static void sort_by(int which, const ss_found *const *from, const ss_found **to, size_t n,
                    int *count, int nkeys)
{
    for (int k = 0; k <= nkeys; k++) {
        count[k] = 0;
    }
    for (size_t i = 0; i < n; i++) {
        count[from[i]->key[which] + 1]++;
    }
    for (int k = 0; k < nkeys; k++) {
        count[k + 1] += count[k];
    }
    for (size_t i = 0; i < n; i++) {
        to[count[from[i]->key[which]]++] = from[i];
    }
}

// order [2 n], of which the first half lists what was found: by their keys, those with equal ones
// as they were. Keys are 0 .. nkeys - 1; count [nkeys + 1] is scratch.
static void found_sort(const ss_found **order, size_t n, int nkeys, int *count)
{
    sort_by(1, order, order + n, n, count, nkeys);
    sort_by(0, order + n, order, n, count, nkeys);
}

// ---- Places that keep segments from ending in each other

// Cosine of the angle by which the normal of a place may lean from that of the first touch. Where
// axes nearly meet at the end, the way from one to the other is any direction: its sign alone would
// send one segment to one side and its neighbour, which ends in the same vertex, to the other.
#define ALIKE 0.87

// Returns the way from b's point to a's, on these ends.
static ss_vec3 apart(const ss_vec3 ends[4], double a, double b)
{
    return ss_minus(ss_between(ends[0], ends[1], a), ss_between(ends[2], ends[3], b));
}

static ss_vec3 contact_normal_at(const ss_vec3 ends[4], double a, double b)
{
    return ss_normal_between(apart(ends, a, b), ss_minus(ends[1], ends[0]),
                             ss_minus(ends[3], ends[2]));
}

static void fill(const ss_vec3 x[4], double a, double b, ss_vec3 n, double radii, double gap,
                 ss_touch *t)
{
    t->a = a;
    t->b = b;
    t->n = n;
    t->y = ss_between(x[2], x[3], b);
    t->gap = gap;
    t->ahead = ss_dot(n, apart(x, a, b)) - radii - gap;
}

typedef struct overlap {
    double a, b;
} overlap;

// Returns the normal of a place at the end, towards the side from which a came.
static ss_vec3 normal_towards(ss_vec3 side, const ss_vec3 moved[4], overlap at)
{
    const ss_vec3 n = contact_normal_at(moved, at.a, at.b);
    const double along = ss_dot(n, side);
    return along >= ALIKE ? n : along <= -ALIKE ? ss_scaled(-1.0, n) : side;
}

// The ends of the part that two segments have beside each other: where their lines diverge by less
// than `reach` over it, and farther than `reach` from what is there already.
static int add_ends(const ss_vec3 ends[4], double reach, overlap at[SS_OVERLAPS_MOST])
{
    const ss_vec3 d = ss_minus(ends[1], ends[0]), e = ss_minus(ends[3], ends[2]);
    const ss_vec3 c = ss_cross(d, e), r = ss_minus(ends[2], ends[0]);
    const double dd = ss_dot(d, d), ee = ss_dot(e, e);
    if (!(ss_dot(c, c) < reach * reach * ss_larger(dd, ee))) {
        return 1;
    }
    const double first = ss_dot(r, d) / dd, second = first + ss_dot(e, d) / dd;
    const double part[2] = {ss_larger(0.0, ss_smaller(first, second)),
                            ss_smaller(1.0, ss_larger(first, second))};
    int count = 1;
    for (int k = 0; k < 2; k++) {
        overlap end = {.a = part[k]};
        const ss_vec3 x = ss_between(ends[0], ends[1], end.a);
        double unused;
        const double distance = ss_segments_exact(x, x, ends[2], ends[3], &unused, &end.b);
        const double moved = (end.a - at[0].a) * (end.a - at[0].a) * dd;
        if (part[0] < part[1] && distance < reach && moved > reach * reach) {
            at[count++] = end;
        }
    }
    return count;
}

// m that a pair with this gap at the start may overlap by at the end.
static double allowed(ss_slack slack, double gap)
{
    return ss_larger(slack.overlap, -(1.0 - slack.taken_back) * gap);
}

int ss_overlap_segments(const ss_vec3 x[4], const ss_vec3 moved[4], double radii, ss_slack slack,
                        ss_touch t[SS_OVERLAPS_MOST])
{
    double time, a, b;
    if (!ss_swept_segments(x, moved, radii, &time)) {
        return 0;
    }
    const double gap = ss_smaller(0.0, ss_segments_exact(x[0], x[1], x[2], x[3], &a, &b) - radii);
    ss_vec3 then[4];
    for (int i = 0; i < 4; i++) {
        then[i] = ss_between(x[i], moved[i], time);
    }
    ss_segments_exact(then[0], then[1], then[2], then[3], &a, &b);
    const ss_vec3 side = contact_normal_at(then, a, b);
    overlap at[SS_OVERLAPS_MOST];
    if (!(ss_segments_exact(moved[0], moved[1], moved[2], moved[3], &at[0].a, &at[0].b) <
          radii - allowed(slack, gap))) {
        fill(x, a, b, side, radii, gap, &t[0]);
        return ss_dot(side, apart(moved, a, b)) < 0.0 ? 1 : 0;
    }
    const int count = add_ends(moved, radii, at);
    for (int k = 0; k < count; k++) {
        fill(x, at[k].a, at[k].b, normal_towards(side, moved, at[k]), radii, gap, &t[k]);
    }
    return count;
}

bool ss_overlap_obstacle(const ss_obstacle *o, const ss_pose *pose, const ss_vec3 x[2],
                         const ss_vec3 moved[2], double radius, ss_slack slack, ss_touch *t)
{
    ss_obstacle_near start, end;
    if (!ss_obstacle_within(o, pose, moved[0], moved[1], radius - slack.overlap, &end)) {
        return false;
    }
    ss_obstacle_nearest(o, pose, x[0], x[1], &start);
    const double gap = ss_smaller(0.0, start.distance - radius);
    t->a = end.a;
    t->n = end.n;
    t->y = end.y;
    t->gap = gap;
    t->ahead = ss_dot(end.n, ss_minus(ss_between(x[0], x[1], end.a), end.y)) - radius - gap;
    return end.distance < radius - allowed(slack, gap);
}

// ---- Touches and their rules

// Share of the radii below which the lines of two segments cross, and the way from one to the other
// is no direction.
#define CROSSING 1e-3

// The search is cut into so many parts if threads share it; few segments are one part, for a thread
// takes ten microseconds to wake.
#define PARTS          64
#define SEGMENTS_LEAST 500

// Memory of a part of the search.
typedef struct part {
    ss_buffer pairs, found;
    size_t nfound;
    double depth; // m: of the deepest overlap so far
    bool ok;      // false: without memory
} part;

struct ss_collider {
    ss_team *team; // the caller's
    ss_cells cells;
    ss_buffer segments, boxes, bars, orders, counts, touches;
    part parts[PARTS];
    double depth; // of the last search
};

// Arguments and memory of one call of ss_collide.
typedef struct search {
    ss_collider *c;
    const ss_polylines *lines;
    const ss_obstacle *obstacles;
    const ss_pose *poses;
    int nobstacles;
    double margin;
    const ss_segment *segments;
    const ss_segment_bar *bars; // [nsegments]; NULL where they move
    int nsegments;
    int nparts;
    size_t nfound; // in all parts
    double depth;  // likewise
} search;

ss_collider *ss_collider_new(ss_team *team)
{
    ss_collider *c = calloc(1, sizeof *c);
    if (c != NULL) {
        c->team = team;
        c->depth = NAN;
    }
    return c;
}

void ss_collider_free(ss_collider *c)
{
    if (c == NULL) {
        return;
    }
    ss_cells_free(&c->cells);
    ss_buffer_free(&c->segments);
    ss_buffer_free(&c->boxes);
    ss_buffer_free(&c->bars);
    ss_buffer_free(&c->orders);
    ss_buffer_free(&c->counts);
    ss_buffer_free(&c->touches);
    for (int k = 0; k < PARTS; k++) {
        ss_buffer_free(&c->parts[k].pairs);
        ss_buffer_free(&c->parts[k].found);
    }
    free(c);
}

// The vertex where a segment begins: of a branch, the one that it branches from.
static int origin(const ss_polylines *lines, const ss_segment *a)
{
    return ss_begins_branch(lines, a->vertex) ? lines->branch[a->vertex] : a->vertex;
}

static bool is_held(const ss_polylines *lines, int vertex)
{
    return lines->holder != NULL && lines->holder[vertex] >= 0;
}

// True for neighbours on one strand.
static bool share_vertex(const ss_polylines *lines, const ss_segment *a, const ss_segment *b)
{
    const int from_a = origin(lines, a), from_b = origin(lines, b);
    return from_a == from_b || from_a == b->vertex + 1 || from_b == a->vertex + 1;
}

static bool never_touch(const ss_polylines *lines, const ss_segment *a, const ss_segment *b)
{
    return a->strand != b->strand ? a->number == 0 && b->number == 0 && is_held(lines, a->vertex) &&
                                        is_held(lines, b->vertex)
                                  : share_vertex(lines, a, b);
}

static bool belongs_to_next(const search *s, const ss_segment *a, double abscissa)
{
    const int next = a->vertex + 2;
    return abscissa >= 1.0 && next < s->lines->first[a->strand + 1] &&
           !ss_begins_branch(s->lines, next);
}

static void add(part *p, const ss_touch *t, int key_a, int key_b)
{
    ss_found *list = ss_buffer_room(&p->found, (p->nfound + 1) * sizeof *list);
    if (list == NULL) {
        p->ok = false;
        return;
    }
    list[p->nfound++] = (ss_found){*t, {key_a, key_b}};
}

static void two_segments(const ss_vec3 *x, const ss_segment *a, const ss_segment *b,
                         ss_vec3 ends[4])
{
    ends[0] = x[a->vertex];
    ends[1] = x[a->vertex + 1];
    ends[2] = x[b->vertex];
    ends[3] = x[b->vertex + 1];
}

// t's points, for its abscissae on these segments: y, and w from y to a's point.
static ss_vec3 points_apart(const ss_vec3 ends[4], ss_touch *t)
{
    t->y = ss_between(ends[2], ends[3], t->b);
    return ss_minus(ss_between(ends[0], ends[1], t->a), t->y);
}

static ss_vec3 obstacle_normal_at(const ss_vec3 ends[4], ss_touch *t)
{
    return ss_normal_between(points_apart(ends, t), ss_minus(ends[1], ends[0]),
                             ss_minus(ends[3], ends[2]));
}

// The normal where centre lines cross, for t's abscissae: on the side of b from which a comes.
static ss_vec3 normal_of_crossing(const ss_vec3 begin[4], const ss_vec3 then[4], ss_touch *t)
{
    const ss_vec3 n = ss_normal_between(ss_vec(0.0, 0.0, 0.0), ss_minus(then[1], then[0]),
                                        ss_minus(then[3], then[2]));
    return ss_dot(n, points_apart(begin, t)) < 0.0 ? ss_scaled(-1.0, n) : n;
}

// The touch that moving segments come to later in the step: abscissae and normal are of that time,
// point and gap of now, so that the gap along the normal is what may close during the step.
static bool touch_later(const search *s, const ss_vec3 ends[4], const ss_vec3 moved[4],
                        double radii, ss_touch *t)
{
    ss_vec3 then[4];
    double time;
    if (!(s->lines->coplanar ? ss_coplanar_segments(ends, moved, radii, &time)
                             : ss_swept_segments(ends, moved, radii, &time))) {
        return false;
    }
    for (int i = 0; i < 4; i++) {
        then[i] = ss_between(ends[i], moved[i], time);
    }
    const double apart = ss_segments_nearest(then[0], then[1], then[2], then[3], &t->a, &t->b);
    t->n =
        apart < CROSSING * radii ? normal_of_crossing(ends, then, t) : obstacle_normal_at(then, t);
    t->gap = ss_dot(t->n, points_apart(ends, t)) - radii;
    return true;
}

// How many touches the pair has.
static int touches_of(const search *s, const ss_segment *a, const ss_segment *b, ss_touch t[])
{
    const double radii = 2.0 * s->lines->radius;
    const ss_vec3 *place = s->lines->x, *moves = s->lines->moved;
    ss_vec3 x[4], moved[4];
    double reach = radii + s->margin;
    if (moves != NULL) {
        two_segments(place, a, b, x);
        two_segments(moves, a, b, moved);
        reach = ss_larger(reach, radii + ss_swept_speed(x, moved));
    }
    if (s->bars == NULL && ss_segments_are_beyond(place + a->vertex, place + b->vertex, reach)) {
        return 0;
    }
    two_segments(place, a, b, x);
    if (s->lines->overlaps) {
        return ss_overlap_segments(x, moved, radii, s->lines->slack, t);
    }
    t->ahead = 0.0;
    t->gap = (s->lines->exact ? ss_segments_exact : ss_segments_nearest)(x[0], x[1], x[2], x[3],
                                                                         &t->a, &t->b) -
             radii;
    if (t->gap < s->margin) {
        t->n = obstacle_normal_at(x, t);
        return 1;
    }
    return moves != NULL && touch_later(s, x, moved, radii, t) ? 1 : 0;
}

// m along their polyline from the nearest point of a to that of b, which comes later; infinite on
// another polyline.
static double way_along(const ss_polylines *lines, const ss_segment *a, double at_a,
                        const ss_segment *b, double at_b)
{
    double way = 0.0;
    for (int v = a->vertex; v <= b->vertex; v++) {
        const double share = (v < b->vertex ? 1.0 : at_b) - (v > a->vertex ? 0.0 : at_a);
        way += share * ss_length(ss_minus(lines->x[v + 1], lines->x[v]));
        if (v > a->vertex && ss_begins_branch(lines, v)) {
            return INFINITY;
        }
    }
    return way;
}

// Whether ends of both are held where they overlap, or all of both is.
static bool are_held_together(const ss_polylines *lines, int a, int b)
{
    bool all = true, there = false;
    for (int i = a; i < a + 2; i++) {
        for (int j = b; j < b + 2; j++) {
            const bool held = is_held(lines, i) && is_held(lines, j);
            const double apart = ss_length(ss_minus(lines->x[i], lines->x[j]));
            all = all && held;
            there = there || (held && apart < 2.0 * lines->radius);
        }
    }
    return all || there;
}

static bool may_overlap(const ss_polylines *lines, const ss_segment *a, double at_a,
                        const ss_segment *b, double at_b)
{
    if (a->strand != b->strand) {
        return !are_held_together(lines, a->vertex, b->vertex);
    }
    return !share_vertex(lines, a, b) && way_along(lines, a, at_a, b, at_b) >= M_PI * lines->radius;
}

static void measure_pair(const search *s, part *p, ss_pair pair)
{
    const ss_segment *a = &s->segments[pair.a], *b = &s->segments[pair.b];
    const double radii = 2.0 * s->lines->radius;
    if (ss_bars_are_beyond(&s->bars[pair.a], &s->bars[pair.b], radii - p->depth)) {
        return;
    }
    ss_vec3 x[4];
    double at_a, at_b;
    two_segments(s->lines->x, a, b, x);
    const double depth = radii - ss_segments_exact(x[0], x[1], x[2], x[3], &at_a, &at_b);
    if (depth > p->depth && may_overlap(s->lines, a, at_a, b, at_b)) {
        p->depth = depth;
    }
}

static void touch_segments(const search *s, part *p, ss_pair pair)
{
    const ss_segment *a = &s->segments[pair.a], *b = &s->segments[pair.b];
    ss_touch t[SS_OVERLAPS_MOST]; // few pairs get as far as to have one
    const int count = never_touch(s->lines, a, b) ? 0 : touches_of(s, a, b, t);
    for (int k = 0; k < count; k++) {
        t[k].strand_a = a->strand;
        t[k].segment_a = a->number;
        t[k].strand_b = b->strand;
        t[k].segment_b = b->number;
        if (!belongs_to_next(s, a, t[k].a) && !belongs_to_next(s, b, t[k].b)) {
            add(p, &t[k], pair.a, s->nobstacles + pair.b);
        }
    }
}

static bool obstacle_later(const search *s, const ss_vec3 x[2], const ss_vec3 moved[2], int o,
                           ss_obstacle_near *near)
{
    double time;
    if (!ss_swept_obstacle(&s->obstacles[o], &s->poses[o], x, moved, s->lines->radius, &time)) {
        return false;
    }
    ss_obstacle_nearest(&s->obstacles[o], &s->poses[o], ss_between(x[0], moved[0], time),
                        ss_between(x[1], moved[1], time), near);
    near->distance = ss_dot(near->n, ss_minus(ss_between(x[0], x[1], near->a), near->y));
    return true;
}

// How far the farther of two points moves.
static double reach_of_motion(const ss_vec3 x[2], const ss_vec3 moved[2])
{
    return ss_larger(ss_length(ss_minus(moved[0], x[0])), ss_length(ss_minus(moved[1], x[1])));
}

// The ends move from x to `moved`, which is NULL if they rest.
static bool near_obstacle(const search *s, const ss_vec3 x[2], const ss_vec3 *moved, int o,
                          ss_touch *t)
{
    const double radius = s->lines->radius, now = radius + s->margin;
    const double far = moved != NULL ? ss_larger(now, radius + reach_of_motion(x, moved)) : now;
    ss_obstacle_near near;
    if (s->lines->overlaps) {
        return ss_overlap_obstacle(&s->obstacles[o], &s->poses[o], x, moved, radius,
                                   s->lines->slack, t);
    }
    if (!ss_obstacle_within(&s->obstacles[o], &s->poses[o], x[0], x[1], far, &near) ||
        (near.distance >= now && !obstacle_later(s, x, moved, o, &near))) {
        return false;
    }
    t->a = near.a;
    t->n = near.n;
    t->y = near.y;
    t->gap = near.distance - radius;
    return true;
}

static bool touch_vertices(const search *s, int o)
{
    return s->lines->vertices || s->obstacles[o].kind == SS_OBSTACLE_PLANE;
}

// Whether the vertex is held where it overlaps the obstacle, by more than rounding.
static bool is_held_inside(const search *s, int vertex, int o)
{
    const ss_vec3 x = s->lines->x[vertex];
    const double reach = (1.0 - 1e-6) * s->lines->radius;
    ss_obstacle_near near;
    return is_held(s->lines, vertex) &&
           ss_obstacle_within(&s->obstacles[o], &s->poses[o], x, x, reach, &near);
}

// Whether it is, for good.
static bool is_planted(const search *s, int vertex, int o)
{
    return is_held(s->lines, vertex) && s->lines->holder[vertex] == s->obstacles[o].body &&
           is_held_inside(s, vertex, o);
}

// The segment, or of one that touches by its vertices that at abscissa `end`, 0 or 1.
static void touch_obstacle(const search *s, part *p, int i, int o, int end)
{
    const ss_segment *a = &s->segments[i];
    const ss_polylines *lines = s->lines;
    const bool vertices = touch_vertices(s, o);
    const int from = a->vertex + (vertices ? end : 0), to = a->vertex + (vertices ? end : 1);
    const ss_vec3 x[2] = {lines->x[from], lines->x[to]};
    const bool moves = lines->moved != NULL;
    const ss_vec3 moved[2] = {moves ? lines->moved[from] : x[0], moves ? lines->moved[to] : x[1]};
    ss_touch t = {.strand_a = a->strand, .segment_a = a->number, .strand_b = -1, .segment_b = o};
    if (!near_obstacle(s, x, moves ? moved : NULL, o, &t) || is_planted(s, from, o) ||
        is_planted(s, to, o)) {
        return;
    }
    t.a = vertices ? end : t.a;
    if (!vertices && belongs_to_next(s, a, t.a)) {
        return;
    }
    add(p, &t, i, o);
}

// An obstacle touches all of a segment, or its first vertex, and the last one of a polyline.
static void touch_whole_or_vertices(const search *s, part *p, int i, int o)
{
    touch_obstacle(s, p, i, o, 0);
    if (touch_vertices(s, o) && !belongs_to_next(s, &s->segments[i], 1.0)) {
        touch_obstacle(s, p, i, o, 1);
    }
}

static void measure_obstacle(const search *s, part *p, int i, int o)
{
    const ss_polylines *lines = s->lines;
    const int v = s->segments[i].vertex;
    ss_obstacle_near near;
    if (ss_obstacle_within(&s->obstacles[o], &s->poses[o], lines->x[v], lines->x[v + 1],
                           lines->radius - p->depth, &near) &&
        !(is_held(lines, v) && is_held(lines, v + 1)) && !is_held_inside(s, v, o) &&
        !is_held_inside(s, v + 1, o)) {
        p->depth = lines->radius - near.distance;
    }
}

// Segments first .. end - 1.
static void touch_by(const search *s, part *p, int o, int first, int end)
{
    const double reach = ss_obstacle_ball(&s->obstacles[o]) + s->lines->radius + s->margin;
    for (int i = first; i < end && p->ok; i++) {
        if (s->bars == NULL || !ss_bar_is_beyond(&s->bars[i], s->poses[o].place, reach)) {
            touch_whole_or_vertices(s, p, i, o);
            if (s->bars != NULL) {
                measure_obstacle(s, p, i, o);
            }
        }
    }
}

// Keeps the pairs that are not beyond all reach, three quarters of which are: at once, so that what
// is known of the segments of later ones can be asked for.
static size_t sift(const search *s, ss_pair *pairs, size_t npairs)
{
    const double reach = 2.0 * s->lines->radius + s->margin;
    const size_t ahead = 8;
    size_t kept = 0;
    for (size_t k = 0; k < npairs; k++) {
        if (k + ahead < npairs) {
            __builtin_prefetch(&s->bars[pairs[k + ahead].a]);
            __builtin_prefetch(&s->bars[pairs[k + ahead].b]);
        }
        const ss_pair pair = pairs[k];
        pairs[kept] = pair;
        kept += !ss_bars_are_beyond(&s->bars[pair.a], &s->bars[pair.b], reach);
    }
    return kept;
}

// Part `item` of the pairs of segments, and of segments and obstacles.
static void find_part(void *context, int item, int thread)
{
    const search *s = context;
    part *p = &s->c->parts[item];
    size_t npairs;
    (void)thread;
    p->nfound = 0;
    p->depth = 0.0;
    p->ok = ss_cells_pairs(&s->c->cells, item, s->nparts, &p->pairs, &npairs);
    ss_pair *pairs = p->pairs.data;
    npairs = s->bars != NULL && p->ok ? sift(s, pairs, npairs) : npairs;
    for (size_t k = 0; k < npairs && p->ok; k++) {
        touch_segments(s, p, pairs[k]);
        if (s->bars != NULL) {
            measure_pair(s, p, pairs[k]);
        }
    }
    for (int o = 0; o < s->nobstacles; o++) {
        touch_by(s, p, o, ss_team_cut(s->nsegments, item, s->nparts),
                 ss_team_cut(s->nsegments, item + 1, s->nparts));
    }
}

static ss_status list_segments(search *s, ss_error *e)
{
    const size_t room = ss_segments_room(s->lines);
    ss_segment *list = ss_buffer_room(&s->c->segments, room * sizeof *list);
    if (list == NULL) {
        return ss_fail_memory(e, "the list of segments");
    }
    s->nsegments = ss_segments_list(s->lines, list);
    s->segments = list;
    return SS_OK;
}

static ss_status measure_segments(search *s, double largest, ss_box **boxes, ss_error *e)
{
    const size_t n = (size_t)s->nsegments + 1;
    *boxes = ss_buffer_room(&s->c->boxes, n * sizeof **boxes);
    ss_segment_bar *bars = ss_buffer_room(&s->c->bars, n * sizeof *bars);
    if (*boxes == NULL || bars == NULL) {
        return ss_fail_memory(e, "the boxes of the segments");
    }
    ss_segments_boxes(s->lines, s->margin, largest, s->segments, s->nsegments, *boxes);
    for (int i = 0; s->lines->moved == NULL && i < s->nsegments; i++) {
        bars[i] = ss_segment_bar_of(s->lines->x + s->segments[i].vertex);
    }
    s->bars = s->lines->moved == NULL ? bars : NULL;
    return SS_OK;
}

static ss_status find(search *s, double largest, ss_error *e)
{
    ss_collider *c = s->c;
    ss_box *boxes = NULL;
    ss_status status = measure_segments(s, largest, &boxes, e);
    if (status != SS_OK) {
        return status;
    }
    status = ss_cells_fill(&c->cells, boxes, s->nsegments, e);
    if (status != SS_OK) {
        return status;
    }
    s->nparts = c->team != NULL && s->nsegments >= SEGMENTS_LEAST ? PARTS : 1;
    ss_team_run(c->team, s->nparts, find_part, s);
    bool ok = true;
    for (int k = 0; k < s->nparts; k++) {
        ok = ok && c->parts[k].ok;
        s->nfound += c->parts[k].nfound;
        s->depth = ss_larger(s->depth, c->parts[k].depth);
    }
    return ok ? SS_OK : ss_fail_memory(e, "the contacts");
}

static ss_status sort_found(search *s, ss_error *e)
{
    const size_t n = s->nfound;
    const int nkeys = s->nobstacles + s->nsegments;
    const ss_found **order = ss_buffer_room(&s->c->orders, 2 * n * sizeof(const ss_found *));
    int *count = ss_buffer_room(&s->c->counts, ((size_t)nkeys + 1) * sizeof *count);
    ss_touch *touches = ss_buffer_room(&s->c->touches, n * sizeof *touches);
    if (order == NULL || count == NULL || touches == NULL) {
        return ss_fail_memory(e, "the sorted contacts");
    }
    size_t listed = 0;
    for (int k = 0; k < s->nparts; k++) {
        const part *p = &s->c->parts[k];
        const ss_found *list = p->found.data;
        for (size_t i = 0; i < p->nfound; i++) {
            order[listed++] = &list[i];
        }
    }
    found_sort(order, n, nkeys, count);
    for (size_t i = 0; i < n; i++) {
        touches[i] = order[i]->touch;
    }
    return SS_OK;
}

ss_status ss_collide(ss_collider *c, const ss_polylines *lines, const ss_obstacle *obstacles,
                     const ss_pose *poses, int nobstacles, double margin, const ss_touch **touches,
                     int *count, ss_error *e)
{
    search s = {.c = c,
                .lines = lines,
                .obstacles = obstacles,
                .poses = poses,
                .nobstacles = nobstacles,
                .margin = margin};
    *touches = NULL;
    *count = 0;
    double largest = 0.0;
    ss_status status = ss_segments_check(lines, margin, &largest, e);
    status = status == SS_OK ? list_segments(&s, e) : status;
    status = status == SS_OK ? find(&s, largest, e) : status;
    status = status == SS_OK ? sort_found(&s, e) : status;
    if (status == SS_OK) {
        *touches = c->touches.data;
        *count = (int)s.nfound;
    }
    c->depth = status == SS_OK && lines->moved == NULL ? s.depth : NAN;
    return status;
}

double ss_collider_depth(const ss_collider *c)
{
    return c->depth;
}
