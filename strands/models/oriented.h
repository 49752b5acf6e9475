// strands/models/oriented.h -- a tree of rigid links with ball joints [H06] (internal).
//
// Link j hangs by its joint from its parent, which comes before it, or from the base, which is
// scripted. Its frame is at its joint, y along it, its centre of mass in its middle. q_j is the
// quaternion that maps its frame to its parent's, w_j its angular velocity against its parent, in
// its own frame:
//
//     qdot = q o (0, w) / 2,   q (+) h w = q o exp(h w / 2)
//
// Quaternions need not be of length 1: turns and torques are those of q / |q|. A tree that floats
// has one root joint, whose place in the frame of the base comes before the quaternions, and its
// rate (along the axes of the base) before the w: nq = 4 n or 3 + 4 n, nv = 3 n or 3 + 3 n.
//
// The residual (what [H06] integrates) and the composite bodies are written each on its own, so
// that they test each other. Both walk along the links once, with vectors along the axes of the
// world and moments about the joints, and allocate nothing.
//
// doc/strands.md, "Oriented Strands".
#pragma once

#include "strands/model.h"

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

// The motion of the base: the pose of its frame, and velocity and acceleration of its origin. The
// weight of the links is an acceleration of the base by -g.
typedef struct ss_oriented_base {
    ss_pose pose;
    ss_vec3 velocity, spin;          // m/s, rad/s
    ss_vec3 acceleration, spin_rate; // m/s^2, rad/s^2
} ss_oriented_base;

// A force at the centre of mass of a link and a moment about it, along the axes of the world.
typedef struct ss_oriented_load {
    ss_vec3 force, moment; // N, N m
} ss_oriented_load;

// A link's place and motion.
typedef struct ss_oriented_motion {
    ss_mat3 turn;                   // of its frame
    ss_vec3 joint;                  // m: its place
    ss_vec3 arm;                    // m: from the parent's joint, or the base, to its own
    ss_vec3 centre;                 // m: from its joint to its centre of mass
    ss_vec3 velocity, acceleration; // of its joint
    ss_vec3 spin, spin_rate;        // rad/s, rad/s^2
} ss_oriented_motion;

// The force that a joint transmits to its link, and the moment about the joint.
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

    // Scratch: [-1] is the base, or what carries the root joint of a tree that floats.
    ss_oriented_motion *motion;    // [n] as ss_oriented_place or ss_oriented_move left it
    ss_oriented_sum *sum;          // [n]
    struct ss_oriented_body *body; // [n] composite bodies
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

// Returns where q of link j begins.
static inline int ss_oriented_turn_at(const ss_oriented *s, int j)
{
    return 4 * j + (s->floats ? 3 : 0);
}

static inline int ss_oriented_rate_at(const ss_oriented *s, int j)
{
    return 3 * j + (s->floats ? 3 : 0);
}

// ---- Joints

typedef struct ss_joint {
    ss_quat d;
    double N, bx, bz, T;
    bool sound;
} ss_joint;

// Finds where a joint is: d = conj(q_rest) o q, and bend and twist.
ss_joint ss_joint_at(ss_quat rest, ss_quat q);
// Energy, torque -dU/dphi for q <- q o exp(dphi/2), and D2 U; NaN for a joint that is all but
// turned round. The springs are (K_x, K_t, K_z).
double ss_joint_energy(const ss_joint *joint, ss_vec3 spring);
ss_vec3 ss_joint_torque(const ss_joint *joint, ss_vec3 spring);
void ss_joint_stiffness(const ss_joint *joint, ss_vec3 spring, double K[3][3]);
// Finds the squares of the first derivatives of bend and twist.
void ss_joint_gauss_newton(const ss_joint *joint, ss_vec3 spring, double K[3][3]);
// Returns the moments of the dampers at the rates w.
ss_vec3 ss_joint_damping(ss_vec3 damping, const double w[3]);
// K += k a a'
void ss_joint_add_square(double K[3][3], double k, ss_vec3 a);
// Finds the q_rest at which the joint has the torque Q at q ("Zero-gravity rest shape"). False
// where none was found, which may be where the section is not round.
bool ss_joint_rest(ss_quat q, ss_vec3 spring, ss_vec3 Q, ss_quat *rest);

// ---- Trees

// Makes a tree of n links, which are copied. SS_BAD_INPUT with a sentence for what is no tree (a
// loop, a parent that does not exist or comes later) and for links without length, mass, inertia or
// a rest shape.
ss_status ss_oriented_new(int n, const ss_oriented_link *links, bool floats, ss_oriented **tree,
                          ss_error *e);

void ss_oriented_free(ss_oriented *s); // takes NULL

// Finds where the links are: turn, joint, arm and centre of s->motion.
void ss_oriented_place(const ss_oriented *s, const ss_pose *base, const double *q);

// Finds where they are and how they move. wdot: NULL for 0.
void ss_oriented_move(const ss_oriented *s, const ss_oriented_base *base, const double *q,
                      const double *w, const double *wdot);

// Finds rs [nv], by which the torques at the joints (and the force on a tree that floats) exceed
// those of springs and dampers; 0 for the wdot of the motion. load [n] of the links; NULL: none but
// weight. Moves the links.
void ss_oriented_residual(const ss_oriented *s, const ss_oriented_base *base, const double *q,
                          const double *w, const double *wdot, const ss_oriented_load *load,
                          double *rs);

// M += M0 of all links, by composite bodies; `whole` false: of the spins about their y alone.
void ss_oriented_mass(const ss_oriented *s, const double *q, bool whole, ss_band *M);

// ---- For tests

// A strand of the model oriented-strands (oriented.c).
typedef struct ss_oriented_strand {
    ss_oriented *tree;
    ss_pose home;       // of the tree's base in the frame of the root
    double length;      // m, that the links and the held edge stand for
    double mass;        // kg, of all
    double held;        // share of the length of the held edge; 0: there is none
    double held_mass;   // kg
    ss_vec3 held_from;  // m: where that begins, in the frame of the root
    ss_quat *style;     // [n] q of the start
    ss_quat *more;      // [n] natural = style o more, and so at rest under a load
    double *share;      // [n] of the length, of each link
    int npoints, width; // of the polylines; the most dofs that move a point
    bool branches;      // there is more than one polyline
    int *tip;           // [npoints] the link whose tip it is, SS_ORIENTED_BASE or SS_ORIENTED_HELD
    int *branch;        // [npoints] as in model.h
    int *first_child;   // [n] the first link that hangs from it, or -1; [-1] of the base
    void *memory;       // of these arrays; owned
    int *dofs, *dofs_from; // if it branches: of the path to each link, and where they begin; owned
} ss_oriented_strand;

#define SS_ORIENTED_HELD (-2) // among `tip`
