// problems/matrix/bodies.h -- which dofs move together (internal; problems/matrix/mass.h is the public view).
#pragma once

#include "problems/problem.h"

// first[j] is the smallest dof of the connected component of dof j in M's pattern; [M->ncols].
void ss_components(const ss_sparse *M, int *first);

// The bodies of a problem in global form, as problems/matrix/mass.h says what a body is.
typedef struct ss_bodies {
    int ndofs, nbodies;
    int *body_of; // [ndofs]
    int *place;   // [ndofs] of a dof among the dofs of its body
    int *start;   // [nbodies + 1] into dofs
    int *dofs;    // [ndofs] grouped by body, bodies in the order of their first dofs
} ss_bodies;

struct ss_mass;
const ss_bodies *ss_mass_layout(const struct ss_mass *mass); // borrowed

ss_status ss_bodies_find(const ss_problem *p, ss_bodies *bodies, ss_error *e);
void ss_bodies_free(ss_bodies *bodies);
