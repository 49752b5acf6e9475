// problems/matrix/bodies.h -- which dofs move together (internal; problems/matrix/mass.h is the public view).
#pragma once

#include <string.h>
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

// True if a problem with so many bodies has no more dofs than rigid bodies have.
static inline bool ss_bodies_are_rigid(const ss_problem *p, int nbodies)
{
    return p->ndofs <= (p->dim == 3 ? 6 : 3) * nbodies;
}

// The first dof of a body whose dofs follow each other in the order of their places, else -1.
static inline int ss_bodies_first(const ss_bodies *b, int body)
{
    const int *dofs = b->dofs + b->start[body], size = b->start[body + 1] - b->start[body];
    int alike = 0;
    while (alike < size && dofs[alike] == dofs[0] + alike) {
        alike++;
    }
    return alike == size ? dofs[0] : -1;
}

// Whether columns column .. column + dim - 1 have entries in the same rows, as those of a contact mostly do.
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

// The place of a row on a body, or its size where it is of another one: without a branch for a body that has a
// first dof, as it would be guessed wrongly twice a column.
static inline size_t ss_bodies_place(const ss_bodies *b, int body, int first, int row)
{
    const unsigned size = (unsigned)(b->start[body + 1] - b->start[body]);
    if (first >= 0) {
        const unsigned place = (unsigned)(row - first);
        return place < size ? place : size;
    }
    return b->body_of[row] == body ? (unsigned)b->place[row] : size;
}

// The entries of a contact on a body, a dof a row of x, as long as `width`, and the columns of H beside each other;
// other numbers stay. x has a row more than dofs, for entries that are not of the body.
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

ss_status ss_bodies_find(const ss_problem *p, ss_bodies *bodies, ss_error *e);
void ss_bodies_free(ss_bodies *bodies);
