// Places where a step must keep segments from each other: see overlap.h.
#include "strands/contact/overlap.h"

#include "strands/contact/proximity.h"
#include "strands/contact/swept.h"

// Cosine of the angle by which the normal of a place may lean from that of the first touch. Where axes nearly meet at
// the end, the way from one to the other is any direction: its sign alone would send one segment to one side and its
// neighbour, which ends in the same vertex, to the other.
#define ALIKE 0.87

// From b's point to a's, on these ends.
static ss_vec3 apart(const ss_vec3 ends[4], double a, double b)
{
    return ss_minus(ss_between(ends[0], ends[1], a), ss_between(ends[2], ends[3], b));
}

static ss_vec3 normal_at(const ss_vec3 ends[4], double a, double b)
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

typedef struct place {
    double a, b;
} place;

// Of a place at the end, towards the side from which a came.
static ss_vec3 normal_towards(ss_vec3 side, const ss_vec3 moved[4], place at)
{
    const ss_vec3 n = normal_at(moved, at.a, at.b);
    const double along = ss_dot(n, side);
    return along >= ALIKE ? n : along <= -ALIKE ? ss_scaled(-1.0, n) : side;
}

// The ends of the part that two segments have beside each other: where their lines diverge by less than `reach` over
// it, and farther than `reach` from what is there already.
static int add_ends(const ss_vec3 ends[4], double reach, place at[SS_OVERLAPS_MOST])
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
        place end = {.a = part[k]};
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
    const ss_vec3 side = normal_at(then, a, b);
    place at[SS_OVERLAPS_MOST];
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
