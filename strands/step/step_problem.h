// strands/step/step_problem.h -- the one-step problem of step.h (1), put together
// (internal).
//
// Strands without a contact are left out: they have no say in the contacts and would only cost the
// solvers. The dofs of the others follow each other in the order of the world.
#pragma once

#include "strands/buffer.h"
#include "strands/step/step.h"
#include "strands/step/systems.h"

// The arrays of the problem live in buffers that are kept from step to step.
typedef struct ss_step_problem {
    ss_problem problem; // its arrays are borrowed from the buffers: it is never freed as such
    int *row;           // [nstrands] where a strand's dofs begin in the problem; -1 without contact
    int *entry;         // [nstrands] where its entries of M begin
    double *scripted;   // [3 contacts] relative velocities that scripts alone give, without gaps
    ss_state guess;
    int widest;     // the most dofs of a strand
    char info[256]; // the problem's math_info
    ss_buffer rows, columns, entries_M, entries_H, contacts, dofs, parts;
} ss_step_problem;

// What it is made of: contacts with their frames, at `from` and h later at `to` (of which only
// bodies and obstacles are looked at).
typedef struct ss_step_parts {
    const ss_world *world;
    const ss_step_options *options;
    const ss_systems *systems;
    const ss_snapshot *from, *to;
    double h;
    const ss_touch *touches; // [count]
    const ss_mat3 *E;        // [count]
    int count;               // >= 1
    bool impacts;            // are found apart: w knows no restitution
} ss_step_parts;

// All but the guess and the provenance. SS_SYSTEM without memory.
ss_status ss_step_problem_form(ss_step_problem *s, const ss_step_parts *parts, ss_error *e);
// M and f again, of the same parts with systems that were formed about another iterate.
void ss_step_problem_refresh(ss_step_problem *s, const ss_step_parts *parts);
void ss_step_problem_free(ss_step_problem *s);

// The point of segment `segment` of strand k at abscissa a.
ss_vec3 ss_segment_point(const ss_world *w, const ss_vec3 *x, int k, int segment, double a);
// The point where the material point x of `from` is at `to`, were it carried by the body.
ss_vec3 ss_carried(const ss_snapshot *from, const ss_snapshot *to, int body, ss_vec3 x);
