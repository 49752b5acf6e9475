// strands/models/oriented/oriented.h -- a tree of rigid links with ball joints [H06] (internal).
//
// Link j hangs by its joint from its parent, which comes before it, or from the base, which is scripted. Its
// frame is at its joint, y along it, its centre of mass in its middle. q_j is the quaternion that maps its
// frame to its parent's, w_j its angular velocity against its parent, in its own frame:
//
//     qdot = q o (0, w) / 2,   q (+) h w = q o exp(h w / 2)
//
// Quaternions need not be of length 1: turns and torques are those of q / |q|. A tree that floats has one
// root joint, whose place in the frame of the base comes before the quaternions, and its rate (along the axes
// of the base) before the w: nq = 4 n or 3 + 4 n, nv = 3 n or 3 + 3 n.
//
// The residual (what [H06] integrates), the composite bodies and the articulated bodies are written each on
// its own, so that they test each other. All walk along the links once, with vectors along the axes of the
// world and moments about the joints, and allocate nothing.
//
// doc/strands.md, "Oriented Strands".
#pragma once

#include <stdbool.h>
#include "strands/model.h"
#include "strands/quaternion.h"

#define SS_ORIENTED_BASE (-1) // the parent of links that hang from the base

// A link, and the joint by which it hangs.
typedef struct ss_oriented_link {
    int parent;          // its number, or SS_ORIENTED_BASE
    ss_vec3 joint;       // m: in the frame of the parent, or of the base
    double length, mass; // m, kg
    double across, spin; // kg m^2, about the centre of mass: about x and z, and about y
    ss_vec3 spring;      // N m, about x, y and z: K_x, K_t, K_z; x and z alike of a round section
    ss_vec3 damping;     // N m s, of w_x, w_y and w_z
    ss_quat rest;        // q_rest, of unit length
} ss_oriented_link;

// How the base moves: the pose of its frame, and velocity and acceleration of its origin. The weight of the
// links is an acceleration of the base by -g.
typedef struct ss_oriented_base {
    ss_pose pose;
    ss_vec3 velocity, spin;          // m/s, rad/s
    ss_vec3 acceleration, spin_rate; // m/s^2, rad/s^2
} ss_oriented_base;

// A force at the centre of mass of a link and a moment about it, along the axes of the world.
typedef struct ss_oriented_load {
    ss_vec3 force, moment; // N, N m
} ss_oriented_load;

// Where a link is and how it moves.
typedef struct ss_oriented_motion {
    ss_mat3 turn;                   // of its frame
    ss_vec3 joint;                  // m: its place
    ss_vec3 arm;                    // m: from the parent's joint, or the base, to its own
    ss_vec3 centre;                 // m: from its joint to its centre of mass
    ss_vec3 velocity, acceleration; // of its joint
    ss_vec3 spin, spin_rate;        // rad/s, rad/s^2
} ss_oriented_motion;

// What a joint transmits to its link: the force, and the moment about the joint.
typedef struct ss_oriented_sum {
    ss_vec3 force, moment; // N, N m
} ss_oriented_sum;

typedef struct ss_oriented {
    int n;
    bool floats;
    ss_oriented_link *link; // [n]
    int *depth;             // [n] links from the base to it, both included
    int *path;              // [depth[j]] from path + begin[j]: the links from the base to link j
    int *begin;             // [n]

    // Scratch. [-1] is the base; of a tree that floats, what carries its root joint.
    ss_oriented_motion *motion;    // [n] as ss_oriented_place or ss_oriented_move left it
    ss_oriented_sum *sum;          // [n]
    struct ss_oriented_body *body; // [n] of oriented_bodies.c
    ss_oriented_load *load;        // [n] of ss_oriented_equation
    void *memory;                  // of all arrays; owned
} ss_oriented;

static inline int ss_oriented_nq(const ss_oriented *s)
{
    return 4 * s->n + (s->floats ? 3 : 0);
}

static inline int ss_oriented_nv(const ss_oriented *s)
{
    return 3 * s->n + (s->floats ? 3 : 0);
}

// Where q and w of link j begin.
static inline int ss_oriented_turn_at(const ss_oriented *s, int j)
{
    return 4 * j + (s->floats ? 3 : 0);
}

static inline int ss_oriented_rate_at(const ss_oriented *s, int j)
{
    return 3 * j + (s->floats ? 3 : 0);
}

// ---- oriented_tree.c

// A tree of n links, which are copied. SS_BAD_INPUT with a sentence for what is no tree (a loop, a parent that
// does not exist or comes later) and for links without length, mass, inertia or a rest shape.
ss_status ss_oriented_new(int n, const ss_oriented_link *links, bool floats, ss_oriented **tree,
                          ss_error *e);
void ss_oriented_free(ss_oriented *s); // takes NULL

// ---- oriented_residual.c

// Where the links are: turn, joint, arm and centre of s->motion.
void ss_oriented_place(const ss_oriented *s, const ss_pose *base, const double *q);
// How they move too. wdot: NULL for 0.
void ss_oriented_move(const ss_oriented *s, const ss_oriented_base *base, const double *q,
                      const double *w, const double *wdot);
// rs [nv]: what the torques at the joints (and the force on a tree that floats) exceed those of springs and
// dampers by; 0 for the wdot of the motion. load [n] of the links; NULL: none but weight. Moves the links.
void ss_oriented_residual(const ss_oriented *s, const ss_oriented_base *base, const double *q,
                          const double *w, const double *wdot, const ss_oriented_load *load,
                          double *rs);

// ---- oriented_bodies.c

size_t ss_oriented_body_size(void); // bytes of an element of s->body

// M += M0 of all links, by composite bodies; `whole` false: of the spins about their y alone.
void ss_oriented_mass(const ss_oriented *s, const double *q, bool whole, ss_band *M);
// The wdot [nv] for which the residual is 0, by articulated bodies. Moves the links.
void ss_oriented_forward(const ss_oriented *s, const ss_oriented_base *base, const double *q,
                         const double *w, const ss_oriented_load *load, double *wdot);
// What `load` adds to the wdot of the last ss_oriented_forward, in which no link has moved since: a test load,
// in linear time.
void ss_oriented_respond(const ss_oriented *s, const ss_oriented_load *load, double *wdot);
