// problems/matrix/mass.h -- M = L L', body by body.
//
// Bodies are the connected components of M's pattern. Where M is diagonal every dof would be a
// body; single dofs that exactly the same contacts touch are then taken as one body, and those that
// no contact touches as another. A body of at most SS_DENSE_BODY dofs has a dense factor, and a
// larger one whose entries are near the diagonal a band. Others have a sparse factor whose
// fill-reducing order CHOLMOD chooses: its dofs are listed in that order, so that L L' = M[dofs,
// dofs] holds for all.
#pragma once

#include "problems/matrix/banded.h"
#include "problems/problem.h"

#include <stdbool.h>
#include <string.h>

// ---- Which dofs move together

// Writes into first[j], [M->ncols], the smallest dof of the connected component of dof j in M's
// pattern.
void ss_components(const ss_sparse *M, int *first);

// The bodies of a problem in global form.
typedef struct ss_bodies {
    int ndofs, nbodies;
    int *body_of; // [ndofs]
    int *place;   // [ndofs] place of a dof among the dofs of its body
    int *start;   // [nbodies + 1] into dofs
    int *dofs;    // [ndofs] grouped by body, bodies in the order of their first dofs
} ss_bodies;

ss_status ss_bodies_find(const ss_problem *p, ss_bodies *bodies, ss_error *e); // p in global form
void ss_bodies_free(ss_bodies *bodies);

// Returns whether a problem with so many bodies has no more dofs than rigid bodies have.
static inline bool ss_bodies_are_rigid(const ss_problem *p, int nbodies)
{
    return p->ndofs <= (p->dim == 3 ? 6 : 3) * nbodies;
}

// Returns the first dof of a body whose dofs follow each other in the order of their places, else
// -1.
static inline int ss_bodies_first(const ss_bodies *b, int body)
{
    const int *dofs = b->dofs + b->start[body], size = b->start[body + 1] - b->start[body];
    int alike = 0;
    while (alike < size && dofs[alike] == dofs[0] + alike) {
        alike++;
    }
    return alike == size ? dofs[0] : -1;
}

// Returns whether columns column .. column + dim - 1 have entries in the same rows, as those of a
// contact mostly do.
static inline bool ss_alike_columns(const ss_sparse *H, int column, int dim)
{
    const int *start = H->start + column, count = start[1] - start[0];
    bool alike = true;
    for (int c = 1; alike && c < dim; c++) {
        alike = start[c + 1] - start[c] == count &&
                memcmp(H->row + start[c], H->row + start[0], (size_t)count * sizeof *H->row) == 0;
    }
    return alike;
}

// Returns the place of a row on a body, or the size of the body for rows of other bodies. There is
// no branch for a body that has a first dof, as it would be mispredicted twice a column.
static inline size_t ss_bodies_place(const ss_bodies *b, int body, int first, int row)
{
    const unsigned size = (unsigned)(b->start[body + 1] - b->start[body]);
    if (first >= 0) {
        const unsigned place = (unsigned)(row - first);
        return place < size ? place : size;
    }
    return b->body_of[row] == body ? (unsigned)b->place[row] : size;
}

// Writes the entries of a contact on a body into x: a dof has a row, `width` long, and the columns
// of H stand beside each other; other numbers stay. x has one more row than dofs, for entries of
// other bodies.
static inline void ss_bodies_spread(const ss_bodies *b, int body, int first, const ss_sparse *H,
                                    int dim, int contact, double *x, int width)
{
    const int column = dim * contact, *start = H->start + column;
    if (dim == 3 && ss_alike_columns(H, column, 3)) {
        const double *x0 = H->x + start[0], *x1 = H->x + start[1], *x2 = H->x + start[2];
        const int *row = H->row + start[0], count = start[1] - start[0];
        for (int k = 0; k < count; k++) {
            double *to = x + ss_bodies_place(b, body, first, row[k]) * (size_t)width;
            to[0] = x0[k];
            to[1] = x1[k];
            to[2] = x2[k];
        }
        return;
    }
    for (int c = 0; c < dim; c++) {
        for (int k = start[c]; k < start[c + 1]; k++) {
            x[ss_bodies_place(b, body, first, H->row[k]) * (size_t)width + (size_t)c] = H->x[k];
        }
    }
}

// ---- M = L L'

// Up to so many dofs the factor of a body is dense. Above, it is a band if its half bandwidth is at
// most SS_BANDED_WIDEST (rods have 8 to 11), or sparse.
#define SS_DENSE_BODY 64

typedef struct ss_mass ss_mass;

// Makes the factor of a problem in global form. Returns SS_BAD_INPUT naming the dof if M is not
// positive definite.
ss_status ss_mass_new(const ss_problem *p, ss_mass **mass, ss_error *e);
void ss_mass_free(ss_mass *mass); // takes NULL
// Gives the memory of the dense factors of the bodies before `body` back to the system, unless
// another owner shares them. They must not be used again.
void ss_mass_forget(ss_mass *mass, int body);
// Shares the factor in *room. Where the room is empty, the factor is made and left there, too;
// where it is NULL, the factor is made.
ss_status ss_mass_find(const ss_problem *p, ss_mass **room, ss_mass **mass, ss_error *e);

const ss_bodies *ss_mass_layout(const ss_mass *mass); // borrowed
int ss_mass_bodies(const ss_mass *mass);
int ss_mass_size(const ss_mass *mass, int body);
const int *ss_mass_dofs(const ss_mass *mass, int body); // [size]
int ss_mass_body_of(const ss_mass *mass, int dof);
int ss_mass_place(const ss_mass *mass, int dof);              // place among the dofs of its body
const ss_banded *ss_mass_band(const ss_mass *mass, int body); // NULL where the factor is no band

// X <- L^-1 X for k vectors over the dofs of one body at once; X is [size][k], a dof a row.
void ss_mass_whiten(const ss_mass *mass, int body, double *X, int k);
// Returns the k >= count with which `count` vectors are whitened most quickly; the others are
// zeros.
int ss_mass_columns(const ss_mass *mass, int body, int count);

// x <- M^-1 x for the bodies first .. end - 1, the dofs of body k from x + start[k] on. The bits of
// a body do not depend on the other bodies.
void ss_mass_solve_bodies(const ss_mass *mass, int first, int end, const int *start, double *x);
// x <- M^-1 x over all dofs; scratch is [ndofs].
void ss_mass_solve(const ss_mass *mass, double *x, double *scratch);

// ---- For tests

// Adds an owner of the factor; each frees it, and the last one ends it. Owners are in one thread.
ss_mass *ss_mass_share(ss_mass *mass);
void ss_mass_unwhiten(const ss_mass *mass, int body, double *X, int k); // X <- L^-T X

// Factors A = L L' in place, the lower triangle from the upper one; m is at most SS_DENSE_BODY.
// Returns the failing row, or -1.
int ss_dense_factor(double *A, int m);

// X <- L^-1 X and X <- L^-T X for X [m][k], a dof a row; k is best a multiple of SS_DENSE_LANES.
enum { SS_DENSE_LANES = 8 };
void ss_dense_whiten(const double *L, int m, double *X, int k);
void ss_dense_unwhiten(const double *L, int m, double *X, int k);

// X[b] <- M_b^-1 X[b], a vector for each of four bodies of m dofs. `next` are the factors of four
// bodies of m dofs that will be needed next, or L.
void ss_dense_solve_four(const double *const L[4], const double *const next[4], int m,
                         double *const X[4]);
