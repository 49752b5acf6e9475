// strands/step/contact_dofs.h -- which dofs move a contact, and how (internal).
#pragma once

#include "strands/step/step_problem.h"

// What a contact has to do with a strand: the free dofs that move it, increasing, by their places among those of the
// strand, and their columns of J_A - J_B.
typedef struct ss_contact_part {
    int strand, count;
    bool
        ranges; // the dofs of each end of the segment follow each other; those of the second begin at `second`
    int second;
    int *dof;     // [count]
    double *J[3]; // [count] each
} ss_contact_part;

// One or two, in the order of the strands.
typedef struct ss_contact_dofs {
    ss_contact_part of[2];
    int count;
} ss_contact_dofs;

// Bytes for strands of at most `widest` dofs; and without entries, in such room.
size_t ss_contact_room(int widest);
ss_contact_dofs ss_contact_dofs_in(void *room, int widest);

// The dofs of a contact, J unset; and both.
void ss_contact_find(const ss_step_parts *in, const ss_touch *t, ss_contact_dofs *d);
void ss_contact_fill(const ss_step_parts *in, const ss_touch *t, ss_contact_dofs *d);
// Asks for what a contact some places behind contact i has to do with its second strand: the contacts of the first
// strand follow each other, but each is on another second one.
void ss_contact_ask(const ss_step_parts *in, int i);

// The points at the ends of a segment.
static inline const ss_strand_point *ss_segment_ends(const ss_step_parts *in, int k, int segment)
{
    return in->from->all.points + in->world->strands[k].point + segment;
}
