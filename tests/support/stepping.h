// tests/support/stepping.h -- solvers for steps of small worlds, and worlds whose strands touch.
#pragma once

#include "strands/step/step.h"
#include "tests/support/toy_strands.h"

// secular, to fb 1e-10; calls counts how often. It says that it leaves `left`.
typedef struct stepping {
    int calls;
    double left; // of fb
} stepping;
ss_status solve_step(void *context, const ss_problem *p, double *r, ss_step_answer *answer,
                     ss_error *e);

// A pose at `place` whose x, y, z axes are turned by |w| about w.
ss_pose pose_at(ss_vec3 place, ss_vec3 w);

// Two chains of 3 segments and 0.3 m that cross at right angles in their middle segments, the
// second `apart` above the first along z.
void crossing_chains(ss_world *w, double apart);

// Random velocities up to `speed` in every dof.
void stir(ss_world *w, double speed);

// A bit of everything: two toy chains, a pendulum, two super-helices, a chain of tmf, and a twisting
// chain between two bodies, on bodies
// that move, and a ball on one of them, all so near each other that they touch with a radius of 1
// cm. Scripted velocities are about `speed`, m/s.
void crowd(ss_world *w, double speed);

// A straight strand of the example model (twisting_chain.h), 0.2 m long in 8 segments.
int tied_strand(ss_world *world, int body, const ss_pose *root, int tip_body, ss_clamp clamp);

// max |M v - f - H r|_i / (|M||v| + |f| + |H||r|)_i of a problem and its answer.
double replay_error(const ss_problem *p, const double *r, const double *v);
