// tests/support/toy_strands.h -- two strand models whose answers are known by hand, for the tests of what
// all models share.
//
// toy_chain: particles joined by springs of zero rest length, q = their positions in the root's
// frame, so that J is constant and everything is linear; nothing holds it to its root. Strand and
// design: particle i of nsegments + 1 starts at (i, 0, 0) length / nsegments; its mass is an equal
// share of the strand's; all springs have the stiffness toy_stiffness.
//
// toy_pendulum: a stiff rod that turns about the root's z axis by the angle q, its points at
// s (cos q, sin q, 0); the spring of its hinge has the stiffness toy_stiffness.
#pragma once

#include "strands/system.h"

extern const ss_strand_model toy_chain, toy_pendulum;

extern double toy_stiffness;     // N/m, N m/rad; set before a strand is made
extern double toy_chain_damping; // s: C = this x K
extern int toy_chain_twig;       // point at which a second polyline begins, from point 1; 0: none

// A strand of `model` with a line density of 1e-5 kg/m,
// added to the world. Ends the test on failure.
int toy_strand(ss_world *w, const ss_strand_model *model, double length, int nsegments, int body,
               const ss_pose *root);

// M and f of strand k for a step h of the theta scheme from where the world is. Room for 200 dofs.
void theta_system(const ss_world *w, int k, const ss_placed *at, double h, double theta,
                  ss_system_scratch *scratch, ss_band *M, double *f);
