// Conservative advancement: see swept.h.
#include "strands/contact/swept.h"

#include <stddef.h>

#include "strands/contact/proximity.h"

// Where a pair passes just outside reach, steps of the safe length shrink to nothing. They are at
// least this share of reach, or of the whole motion: what stays unseen is a shallower graze.
#define GRAZE         0.01
#define TIME_STEP_MIN 1e-5

typedef struct scene {
    const ss_vec3 *x, *moved;
    const ss_obstacle *obstacle; // NULL: the second segment
    const ss_pose *pose;
} scene;

static double distance_at(const scene *s, double t)
{
    const ss_vec3 x0 = ss_between(s->x[0], s->moved[0], t);
    const ss_vec3 x1 = ss_between(s->x[1], s->moved[1], t);
    if (s->obstacle != NULL) {
        ss_obstacle_near near;
        ss_obstacle_nearest(s->obstacle, s->pose, x0, x1, &near);
        return near.distance;
    }
    double a, b;
    return ss_segments_exact(x0, x1, ss_between(s->x[2], s->moved[2], t),
                             ss_between(s->x[3], s->moved[3], t), &a, &b);
}

static bool advance(const scene *s, double speed, double reach, double *time)
{
    double t = 0.0;
    for (;;) {
        const double distance = distance_at(s, t);
        if (distance <= reach) {
            *time = t;
            return true;
        }
        if (!(distance - reach < speed * (1.0 - t))) {
            return false;
        }
        const double safe = ss_larger(distance - reach, GRAZE * reach) / speed;
        t = ss_smaller(1.0, t + ss_larger(safe, TIME_STEP_MIN));
    }
}

double ss_swept_speed(const ss_vec3 x[4], const ss_vec3 moved[4])
{
    double square = 0.0;
    for (int i = 0; i < 2; i++) {
        for (int j = 2; j < 4; j++) {
            const ss_vec3 apart = ss_minus(ss_minus(moved[i], x[i]), ss_minus(moved[j], x[j]));
            square = ss_larger(square, ss_dot(apart, apart));
        }
    }
    return sqrt(square);
}

bool ss_swept_segments(const ss_vec3 x[4], const ss_vec3 moved[4], double reach, double *time)
{
    return advance(&(scene){.x = x, .moved = moved}, ss_swept_speed(x, moved), reach, time);
}

bool ss_swept_obstacle(const ss_obstacle *o, const ss_pose *pose, const ss_vec3 x[2],
                       const ss_vec3 moved[2], double reach, double *time)
{
    const double speed =
        ss_larger(ss_length(ss_minus(moved[0], x[0])), ss_length(ss_minus(moved[1], x[1])));
    return advance(&(scene){x, moved, o, pose}, speed, reach, time);
}
