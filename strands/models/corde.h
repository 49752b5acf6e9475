// strands/models/corde.h -- a rod of the model corde (internal; corde.c says what it is).
//
// For tests, which look at natural shapes.
#pragma once

#include "strands/model.h"

#define SS_CORDE_PLACE 7 // numbers of q, from an edge to the next

typedef struct ss_corde {
    int n; // edges
    ss_clamp clamp;
    ss_rigidity rigidity;
    double parallel;           // kappa_p, N: it holds d_3 along the edge
    double spin[3];            // kg m: inertia about d_1, d_2, d_3 a metre
    double relaxation, length; // s, m
    int nheld;
    int held[18];

    // The arrays of the natural shape have [room] numbers each, 0 after the last. Number j is that
    // of edge j, or of the joint between the edges j - 1 and j.
    int room;               // n rounded up to whole lanes
    double *edge;           // m
    double *inverse_edge;   // 1 / edge
    double *inverse_length; // 1 / l, half of both edges; 0 of joint 0, which does not exist
    double *strain[3];      // l ubar = 2 rv of joint j
    double *aim[3];         // direction of the edge among its directors; without load (0, 0, 1)
    double *more[4];        // edge and strain: the natural shape minus the style

    double *share;      // [n] of the mass and length that the edge has
    ss_vec3 *style;     // [n + 1] in the frame of the root
    ss_quat *turn;      // [n] of the edges there
    ss_vec3 *home;      // [n + 1] style in the world
    ss_quat clamped[2]; // of the first and the last edge there
    void *memory;       // of all arrays; owned
} ss_corde;

static inline ss_vec3 ss_corde_vertex(const double *q, int i)
{
    return ss_vec(q[SS_CORDE_PLACE * i], q[SS_CORDE_PLACE * i + 1], q[SS_CORDE_PLACE * i + 2]);
}

static inline ss_quat ss_corde_turn(const double *q, int j)
{
    return ss_quat_read(q + SS_CORDE_PLACE * j + 3);
}
