// strands/contact/obstacle.h -- solid bodies that strands touch.
//
// Each is given by its signed distance to a point (negative inside) or, for segments, by the pair
// of closest points. A shape stands in the frame of its obstacle:
//     sphere     |x| <= size.x
//     ellipsoid  (x/size.x)^2 + (y/size.y)^2 + (z/size.z)^2 <= 1
//     plane      z <= 0, so that its outward normal is +z
//     cylinder   x^2 + y^2 <= size.x^2, |z| <= size.z (its rims are part of it)
//     capsule    points within size.x of the segment |z| <= size.z on the z axis
#pragma once

#include <stdbool.h>
#include "strands/geometry.h"

typedef enum ss_obstacle_kind {
    SS_OBSTACLE_SPHERE,
    SS_OBSTACLE_ELLIPSOID,
    SS_OBSTACLE_PLANE,
    SS_OBSTACLE_CYLINDER,
    SS_OBSTACLE_CAPSULE,
} ss_obstacle_kind;

typedef struct ss_obstacle {
    ss_obstacle_kind kind;
    ss_vec3 size; // m, as above
    ss_pose pose; // in the frame of its body
    int body;     // of the world
    double mu;    // strand against obstacle
    // 0 .. 1: share of mu that is lost while sliding, in schemes with two coefficients
    double sliding_loss;
    double restitution; // 0 .. 1: share of the normal speed with which what hits it leaves it
} ss_obstacle;

// The radius of a ball about the place of its pose that holds it; infinite for a plane.
double ss_obstacle_ball(const ss_obstacle *o);

// Nearest points of a segment and an obstacle: abscissa a in [0, 1] on the segment, the point y of
// the obstacle's surface, the outward unit normal n there, and the signed distance.
typedef struct ss_obstacle_near {
    double a;
    ss_vec3 y, n;    // world
    double distance; // m, negative inside
} ss_obstacle_near;

// `pose` is the obstacle's pose in the world. The point of the segment that is deepest or nearest.
void ss_obstacle_nearest(const ss_obstacle *o, const ss_pose *pose, ss_vec3 x0, ss_vec3 x1,
                         ss_obstacle_near *near);

// The same where the distance is below `reach`; false, and *near unset, where it is not. Far
// segments cost little.
bool ss_obstacle_within(const ss_obstacle *o, const ss_pose *pose, ss_vec3 x0, ss_vec3 x1,
                        double reach, ss_obstacle_near *near);
