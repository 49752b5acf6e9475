// problems/matrix/mass.h -- M = L L', body by body.
//
// Bodies are the connected components of M's pattern. Where M is diagonal every dof would be a
// body; single dofs that exactly the same contacts touch are then taken as one body, and those that
// no contact touches as another. A body of at most SS_DENSE_BODY dofs has a dense factor, and a
// larger one whose entries are near the diagonal a band. Others have a sparse factor whose fill-reducing
// order CHOLMOD chooses: its dofs are listed in that order, so that L L' = M[dofs, dofs] holds for all.
#pragma once

#include "problems/matrix/banded.h"
#include "problems/problem.h"

// Up to so many dofs the factor of a body is dense; above, it is a band or sparse.
#define SS_DENSE_BODY 64
// Up to this half bandwidth it is a band: rods have 8 to 11.
#define SS_BAND_FACTOR SS_BANDED_WIDEST

typedef struct ss_mass ss_mass;

// p in global form. SS_BAD_INPUT naming the dof if M is not positive definite.
ss_status ss_mass_new(const ss_problem *p, ss_mass **mass, ss_error *e);
// One more owner of the factor; each frees it, and the last one ends it. Not for owners in several threads.
ss_mass *ss_mass_share(ss_mass *mass);
void ss_mass_free(ss_mass *mass); // takes NULL
// The dense factors of the bodies before `body` will not be asked for again: nobody else shares them, or
// nothing happens. Their memory goes back to the system.
void ss_mass_forget(ss_mass *mass, int body);
// The factor in *room, shared; where the room is empty it is made and left there, too. room NULL: it is made.
ss_status ss_mass_find(const ss_problem *p, ss_mass **room, ss_mass **mass, ss_error *e);

int ss_mass_bodies(const ss_mass *mass);
int ss_mass_size(const ss_mass *mass, int body);
const int *ss_mass_dofs(const ss_mass *mass, int body); // [size]
int ss_mass_body_of(const ss_mass *mass, int dof);
int ss_mass_place(const ss_mass *mass, int dof);              // of a dof among the dofs of its body
const ss_banded *ss_mass_band(const ss_mass *mass, int body); // NULL where the factor is no band

// On k vectors over the dofs of one body at once, in place; X is [size][k], a dof a row.
void ss_mass_whiten(const ss_mass *mass, int body, double *X, int k);   // X <- L^-1 X
void ss_mass_unwhiten(const ss_mass *mass, int body, double *X, int k); // X <- L^-T X
// The k >= count with which `count` vectors are whitened most quickly; those behind are zeros.
int ss_mass_columns(const ss_mass *mass, int body, int count);

// x <- M^-1 x of the bodies first .. end - 1, the dofs of body k from x + start[k] on. The bits of a body do not
// depend on which ones are with it.
void ss_mass_solve_bodies(const ss_mass *mass, int first, int end, const int *start, double *x);
// x <- M^-1 x over all dofs; scratch is [ndofs].
void ss_mass_solve(const ss_mass *mass, double *x, double *scratch);
