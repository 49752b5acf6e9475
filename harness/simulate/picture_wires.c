// Wire frames of obstacles: rings and meridians on their surfaces, where they are seen.
//
// A surface is x(u, v), u from top to bottom (along z), v around:
//     sphere, ellipsoid   size o (sin pi u cos 2 pi v, cos pi u, sin pi u sin 2 pi v), poles up
//     cylinder, capsule   a quarter of u for each end, flat or round, the rest for the side
//     plane               a square in its middle
#include "harness/simulate/picture.h"

#define RINGS     10
#define MERIDIANS 18
#define SAMPLES   72
#define END_SHARE 0.25 // of u, an end of a cylinder or capsule
#define LIFT      1e-4 // m above the surface

static ss_vec3 round_at(ss_vec3 size, double u, double v)
{
    const double sine = sin(M_PI * u);
    return ss_vec(size.x * sine * cos(2.0 * M_PI * v), size.y * cos(M_PI * u),
                  size.z * sine * sin(2.0 * M_PI * v));
}

static ss_vec3 tube_at(double radius, double half, bool round, double u, double v)
{
    const double end = fmin(1.0, fmin(u, 1.0 - u) / END_SHARE); // below 1 on an end
    const double side = fmax(-1.0, fmin(1.0, (0.5 - u) / (0.5 - END_SHARE)));
    const double r = radius * (round ? sin(0.5 * M_PI * end) : end);
    const double cap = round ? radius * cos(0.5 * M_PI * end) : 0.0;
    return ss_vec(r * cos(2.0 * M_PI * v), r * sin(2.0 * M_PI * v),
                  half * side + copysign(cap, side));
}

// In the obstacle's frame. span: m, the side of a plane's square.
static ss_vec3 surface_at(const ss_obstacle *o, double span, double u, double v)
{
    const double r = o->size.x;
    switch (o->kind) {
    case SS_OBSTACLE_ELLIPSOID:
        return round_at(o->size, u, v);
    case SS_OBSTACLE_CAPSULE:
        return tube_at(r, o->size.z, true, u, v);
    case SS_OBSTACLE_CYLINDER:
        return tube_at(r, o->size.z, false, u, v);
    case SS_OBSTACLE_PLANE:
        return ss_vec(span * (u - 0.5), span * (v - 0.5), 0.0);
    case SS_OBSTACLE_SPHERE:
        break;
    }
    return round_at(ss_vec(r, r, r), u, v);
}

typedef struct wiring {
    const ss_view *view;
    const ss_strands *strands;
    int number; // of the obstacle
    FILE *out;
} wiring;

static void write_point(const wiring *a, double u, double v)
{
    const ss_obstacle *o = &a->strands->world->obstacles[a->number];
    const ss_pose *pose = &a->strands->at.obstacles[a->number];
    ss_vec3 x = ss_pose_point(pose, surface_at(o, a->view->size, u, v));
    ss_obstacle_near near;
    ss_obstacle_nearest(o, pose, x, ss_along(x, LIFT, a->view->towards), &near);
    x = ss_along(near.y, LIFT, near.n);
    if (ss_view_hides(a->view, a->strands, x)) {
        fputs("\n", a->out);
    } else {
        fprintf(a->out, "%.6g %.6g\n", ss_view_x(a->view, x), ss_view_y(a->view, x));
    }
}

static void write_lines(const wiring *a, int count, bool rings)
{
    for (int k = 0; k < count; k++) {
        // Meridian 0 and the last would be one; rings at the poles would be points.
        const double level = rings ? (k + 0.5) / count : (double)k / count;
        for (int i = 0; i <= SAMPLES; i++) {
            const double t = (double)i / SAMPLES;
            write_point(a, rings ? level : t, rings ? t : level);
        }
        fputs("\n", a->out);
    }
}

void ss_picture_obstacles(const ss_view *view, const ss_strands *strands, FILE *out)
{
    wiring a = {.view = view, .strands = strands, .out = out};
    for (a.number = 0; a.number < strands->world->nobstacles; a.number++) {
        write_lines(&a, RINGS, true);
        write_lines(&a, MERIDIANS, false);
    }
}
