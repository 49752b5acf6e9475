// strands/schemes/local_pass.h -- the impulses that contacts between vertices ask for, each from its
// own velocity (internal).
//
// A contact lies between the vertices of one edge or two, with the weights 1 - a and a of the first strand
// and b - 1 and -b of the second; an obstacle is met by vertices alone. With J these weights,
//
//     u = E' J v + w,   I = J' E r,   1/m_loc = sum J_j^2 c_j / m_j,   c_j the contacts of vertex j
//
// over the vertices that are free, and problems/split_impulse.h gives r. Contacts count that were active in
// the pass before, r != 0 (of the laws that add increments: increment != 0); each counts one at least, and
// all count in the first pass. A contact whose increment was 0 gets no more of them.
//
// doc/strands.md, "Local impulses".
#pragma once

#include "strands/step/stepper.h"

typedef enum ss_law { SS_LAW_PRINTED, SS_LAW_REPAIRED, SS_LAW_RIGID } ss_law;
extern const char *const ss_law_names[]; // printed, repaired, rigid, NULL

typedef struct ss_local_pass ss_local_pass; // memory that is kept from step to step

ss_local_pass *ss_local_pass_new(const ss_world *w); // NULL without memory
void ss_local_pass_free(ss_local_pass *p);           // takes NULL

// The contacts of the stepper, of which the problem is formed; s->r are their impulses so far.
ss_status ss_local_pass_begin(ss_local_pass *p, const ss_stepper *s, ss_law law, ss_error *e);
// One pass over them: s->r from the velocities v [nv]. Returns the mean over the contacts of |change of
// r_i|, N s, [J20] (4.4).
double ss_local_pass_run(ss_local_pass *p, ss_stepper *s, const double *v);
// What ss_local_pass_error measures by, for a step whose contacts are begun: V from the velocities v [nv]
// without impulses, and s, the mean of tr(W_ii)/3 over 256 contacts at most, from the factors of s->systems
// (problems/coulomb.h). Of more contacts every so manieth counts. Returns V, m/s.
double ss_local_pass_find_scales(ss_local_pass *p, const ss_stepper *s, const double *v);
// max(fb, normal/2) of s->r with the velocities v.
double ss_local_pass_error(const ss_local_pass *p, const ss_stepper *s, const double *v);
// I [nv] = J' E r of all strands.
void ss_local_pass_impulses(const ss_local_pass *p, const ss_stepper *s, double *impulses);
