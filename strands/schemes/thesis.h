// strands/schemes/thesis.h -- the scheme thesis: what it keeps, and what it does with each strand
// (internal; scheme_thesis.c).
#pragma once

#include "strands/schemes/local_pass.h"
#include "strands/schemes/quasi_groups.h"
#include "strands/step/stepper.h"

enum { SS_THESIS_FULL, SS_THESIS_QUASI };
enum { SS_THESIS_ADVANCE, SS_THESIS_CUBIC };

typedef struct ss_thesis_settings {
    int law, newton, search, iterations;
    double tol; // m/s
    double fb;  // 0: no matter
    double relax;
    int stiffness;
    int detection;
} ss_thesis_settings;

typedef struct ss_thesis {
    ss_thesis_settings set;
    ss_local_pass *pass;
    ss_quasi quasi;
    ss_quasi_groups groups;
    double *about;               // [nv] v*
    double *impulses;            // [nv] I
    double *change;              // [nstrands] |v - v*| over positions
    double *search_q, *search_v; // [nq], [nv] tries of a line search
    double *share;               // [nstrands] of its step that a strand took in the last search
    // Of the iterate that strands share the work of.
    ss_stepper *s;
    ss_iterate it;
    ss_world_state at; // q* and v*
    double scale;      // m/s: V, where fb matters
    bool searches;     // the present iterate does
    bool iterated;     // there was a second system
} ss_thesis;

// Of item `which` of the groups, with the room of `thread` (ss_strand_work; the context is the ss_thesis).
// The first iterate, whose systems are formed: v without contacts.
ss_strand_work ss_thesis_begin;
// q* and v* move on to v, and v to that of the system there, with the impulses.
ss_strand_work ss_thesis_iterate;
// q and v* of the last system, and M and f where the problem has them.
ss_strand_work ss_thesis_leave;
// q moves on to where v leads.
ss_strand_work ss_thesis_commit;
