// problems/matrix/sparse_factor.h -- M = L L' of a body whose entries may be anywhere, by CHOLMOD (internal).
//
// Its dofs are eliminated in an order with little fill-in: L L' = M[dofs, dofs] with dofs in that order.
#pragma once

#include "problems/matrix/sparse.h"

// Puts dofs [m], and their places in place [M->ncols], into the order of L. *broken is the dof at which the factor
// breaks down, or -1; L is empty or half made then, and freed by its owner.
ss_status ss_sparse_factor(const ss_sparse *M, int m, int *dofs, int *place, ss_sparse *L,
                           int *broken, ss_error *e);

// X <- L^-1 X and X <- L^-T X of X [m][k], a dof a row. The first entry of a column of L is its diagonal.
void ss_sparse_factor_whiten(const ss_sparse *L, double *X, int k);
void ss_sparse_factor_unwhiten(const ss_sparse *L, double *X, int k);
