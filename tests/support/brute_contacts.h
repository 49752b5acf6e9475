// tests/support/brute_contacts.h -- the touches of a scene by comparing every segment with every other.
//
// The oracle of the collider's broad phase: it knows the rules of collide.h and the exact tests of
// two segments, and nothing of boxes and cells.
#pragma once

#include "strands/contact/collide.h"

// As ss_collide; *touches is the caller's to free.
int brute_contacts(const ss_polylines *lines, const ss_obstacle *obstacles, const ss_pose *poses,
                   int nobstacles, double margin, ss_touch **touches);

// As ss_collider_depth of strands that do not branch, by looking at everything.
double brute_depth(const ss_polylines *lines, const ss_obstacle *obstacles, const ss_pose *poses,
                   int nobstacles);

// Whether both lists hold the same touches in the same order, bit by bit.
bool same_contacts(const ss_touch *a, int na, const ss_touch *b, int nb);
