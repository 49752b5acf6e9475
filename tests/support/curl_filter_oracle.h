// tests/support/curl_filter_oracle.h -- the filters of doc/strands.md, "Lifted Curls", of a curl of four vertices,
// as sums of products of rows by the 12 dofs, clamped by Jacobi's method; the Hessian of an angle is by complex
// step (curl_oracle.h).
#pragma once

#include "strands/models/lifted_curls.h"
#include "tests/support/curl_oracle.h"

// A without its negative eigenvalues.
void clamp_matrix(int n, double *A);
// K += the torsion's Hessian by either way to say it, or, if `clamps`, with both parts of it clamped.
void add_split(const curl *r, const vector *x, bool clamps, double *K);
void add_text(const curl *r, const vector *x, bool clamps, double *K);
// K += what the filter makes of the Hessian of one energy.
void add_filtered(const curl *r, ss_curl_energy_kind energy, ss_curl_filter filter, double *K);
