// strands/schemes/phases_parts.h -- what the two phases share (internal).
//
// Velocities of strands are those of their free dofs, [nv] with those of strand k from its v on.
#pragma once

#include "strands/schemes/phases.h"
#include "strands/schemes/rows.h"

struct ss_phases {
    ss_phases_settings set;
    ss_rows rows;             // of the present phase
    double *before, *free;    // [nv] velocities: at the start; M^-1 f
    double *gained, *end;     // [nv] velocities: what the impacts add; at the end
    double *impacts, *extra;  // [nv] impulses: of impacts; of goals and limits
    ss_vec3 *pushes;          // [npoints] N s, of contacts
    bool *pushed, *hit;       // [nstrands] whether anything acts on it; whether impacts do
    ss_band *M0;              // [nstrands] factors of the inertia of what is hit; NULL: M is used
    double *numbers, *scales; // the entries of M0; the scales of its factors
    double *around, *f0;      // [nv] scratch
    ss_joint_limit *limits;   // [nv] scratch
    ss_buffer velocities;     // of contacts:
    double *u0, *u1, *b;      // [3 ncontacts] at the start; after the impacts; without forces
};

// Dofs of strand k that are free.
int ss_phases_free_count(const ss_stepper *s, int k);

// Whether anything may act on strand k.
bool ss_phases_may_act_on(const ss_phases *p, const ss_stepper *s, int k);

// A row for the weighted sum of the columns 3 i, 3 i + 1, 3 i + 2 of H, of contact i. False without memory.
bool ss_phases_add_contact(ss_rows *rows, const ss_stepper *s, int i, const double weight[3],
                           const ss_row *row);
extern const double SS_PHASES_NORMAL[3]; // the weights of its normal

// A phase: its impulses, from the velocities before it. *sweeps grows. False without memory.
bool ss_phases_find_impacts(ss_phases *p, const ss_stepper *s, double h, int *sweeps);
bool ss_phases_find_forces(ss_phases *p, const ss_stepper *s, double h, int *sweeps);
