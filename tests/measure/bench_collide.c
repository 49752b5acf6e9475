// What finding contacts costs: ms a call and ns a touch, on the two kinds of scene that the paper
// has: hair about a head, and a tight bundle. The best of several calls, buffers grown; wall time with
// one thread and two, in turns.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/random.h"
#include "strands/contact/collide.h"
#include "tests/measure/bench.h"

#define SEGMENTS 12
#define REPEATS  15

typedef struct hair {
    int *first;
    ss_vec3 *x, *moved;
    ss_polylines lines;
} hair;

static hair hair_new(int nstrands, double radius)
{
    const size_t n = (size_t)nstrands, npoints = n * (SEGMENTS + 1);
    hair h = {.first = calloc(n + 1, sizeof *h.first),
              .x = calloc(npoints, sizeof *h.x),
              .moved = calloc(npoints, sizeof *h.moved)};
    for (int k = 0; k <= nstrands; k++) {
        h.first[k] = k * (SEGMENTS + 1);
    }
    h.lines = (ss_polylines){.nstrands = nstrands, .first = h.first, .x = h.x, .radius = radius};
    return h;
}

static void hair_free(hair *h)
{
    free(h->first);
    free(h->x);
    free(h->moved);
}

static const ss_vec3 head = {0.075, 0.11, 0.095}; // m, half axes

// Hair that grows out of the upper half of a head, lies on it and then falls.
static void grow_on_head(hair *h, double length, ss_random *g)
{
    for (int k = 0; k < h->lines.nstrands; k++) {
        double u[3];
        ss_random_direction(g, 3, u);
        ss_vec3 p = ss_vec(head.x * u[0], head.y * fabs(u[1]), head.z * u[2]);
        ss_vec3 heading = ss_vec(u[0], 0.3, u[2]);
        for (int i = 0; i <= SEGMENTS; i++) {
            h->x[h->first[k] + i] = p;
            heading = ss_unit(ss_along(heading, 0.35, ss_vec(0.0, -1.0, 0.0)));
            heading = ss_unit(ss_plus(heading, ss_vec(ss_random_between(g, -0.05, 0.05),
                                                      ss_random_between(g, -0.05, 0.05),
                                                      ss_random_between(g, -0.05, 0.05))));
            p = ss_along(p, length / SEGMENTS, heading);
            const ss_vec3 s = ss_vec(p.x / head.x, p.y / head.y, p.z / head.z);
            const double depth = ss_length(s);
            p = depth < 1.0 ? ss_scaled(1.0 / depth, p) : p;
        }
    }
}

// A ponytail: a disc of parallel strands that waver by a part of their spacing.
static void grow_bundle(hair *h, double length, double spacing, ss_random *g)
{
    const double golden = 2.399963229728653; // rad: evenly filled disc
    for (int k = 0; k < h->lines.nstrands; k++) {
        const double rho = 0.525 * spacing * sqrt(k + 0.5);
        for (int i = 0; i <= SEGMENTS; i++) {
            const double s = length * i / SEGMENTS, waver = i > 0 ? 0.2 * spacing : 0.0;
            h->x[h->first[k] + i] =
                ss_vec(rho * cos(golden * k) + ss_random_between(g, -waver, waver) + 3.0 * s * s,
                       rho * sin(golden * k) + ss_random_between(g, -waver, waver), -s);
        }
    }
}

static void move_all(hair *h, double by, ss_random *g)
{
    for (int i = 0; i < h->first[h->lines.nstrands]; i++) {
        h->moved[i] = ss_plus(
            h->x[i], ss_vec(ss_random_between(g, -by, by), by, ss_random_between(g, -by, by)));
    }
}

// Wall seconds of a search, and what it found.
static double seconds_of(ss_collider *c, const ss_polylines *lines, const ss_obstacle *obstacles,
                         const ss_pose *poses, int nobstacles, double margin,
                         const ss_touch **touches, int *count)
{
    ss_error error;
    const double begin = ss_clock_now();
    bench_check(ss_collide(c, lines, obstacles, poses, nobstacles, margin, touches, count, &error),
                &error);
    return ss_clock_now() - begin;
}

static void measure(const char *name, const ss_polylines *lines, const ss_obstacle *obstacles,
                    const ss_pose *poses, int nobstacles, double margin)
{
    ss_team *team = ss_team_new(2);
    ss_collider *c[2] = {ss_collider_new(NULL), ss_collider_new(team)};
    const ss_touch *touches;
    int count = 0;
    double best[2] = {1e300, 1e300};
    for (int k = 0; k < 2 * REPEATS; k++) {
        best[k % 2] = fmin(best[k % 2], seconds_of(c[k % 2], lines, obstacles, poses, nobstacles,
                                                   margin, &touches, &count));
    }
    int on_obstacles = 0;
    for (int i = 0; i < count; i++) {
        on_obstacles += touches[i].strand_b < 0;
    }
    printf("%-24s %7d %8d %8d %12d %8.3f %8.3f %9.0f\n", name, lines->nstrands,
           lines->nstrands * SEGMENTS, count, on_obstacles, 1e3 * best[0], 1e3 * best[1],
           1e9 * best[0] / count);
    ss_collider_free(c[0]);
    ss_collider_free(c[1]);
    ss_team_free(team);
}

static void measure_both(const char *name, hair *h, const ss_obstacle *obstacles,
                         const ss_pose *poses, int nobstacles, double margin)
{
    char swept[64];
    snprintf(swept, sizeof swept, "%s, swept", name);
    measure(name, &h->lines, obstacles, poses, nobstacles, margin);
    h->lines.moved = h->moved;
    measure(swept, &h->lines, obstacles, poses, nobstacles, margin);
    h->lines.moved = NULL;
}

int main(void)
{
    const ss_obstacle obstacles[3] = {
        {.kind = SS_OBSTACLE_ELLIPSOID, .size = head},
        {.kind = SS_OBSTACLE_CAPSULE, .size = {0.05, 0.05, 0.12}},
        {.kind = SS_OBSTACLE_PLANE},
    };
    ss_pose poses[3] = {ss_pose_identity(), ss_pose_identity(), ss_pose_identity()};
    poses[1].place = ss_vec(0.0, -0.22, 0.0);
    poses[2].turn = ss_rotation(ss_vec(-1.5707963267948966, 0.0, 0.0)); // normal +y
    poses[2].place = ss_vec(0.0, -0.6, 0.0);
    ss_random g = ss_random_seeded(5);
    printf("finding contacts\n%-24s %7s %8s %8s %12s %8s %8s %9s\n", "scene", "strands", "segments",
           "touches", "on obstacles", "ms", "two", "ns/touch");
    const int strands[] = {30, 60, 120, 480, 960, 1920};
    for (int k = 0; k < 6; k++) {
        hair free_hair = hair_new(strands[k], 0.7e-3);
        grow_on_head(&free_hair, 0.3, &g);
        move_all(&free_hair, 1e-3, &g);
        measure_both("free", &free_hair, obstacles, poses, 3, 1.1e-3);
        hair_free(&free_hair);
    }
    hair pony = hair_new(334, 0.5e-3);
    grow_bundle(&pony, 0.25, 1.02e-3, &g);
    move_all(&pony, 0.2e-3, &g);
    measure_both("pony", &pony, obstacles, poses, 0, 0.22e-3);
    hair_free(&pony);
    return 0;
}
