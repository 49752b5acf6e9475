// tests/support/sample.h -- a small problem with every field known, for tests of files and checksums.
#pragma once

#include "problems/problem.h"

// Contact i joins bodies i and i + 1 of ncontacts + 1; bodies have 4 dofs, the last two 6. M is
// diagonally dominant, so that it is positive definite. W (local form) is full and unsymmetric.
// The last column of H has no entry. Two guesses, a solution, provenance, claim and strings.
// The values are the same on every machine. Fails the test when memory runs out.
ss_problem *sample_problem(ss_form form, int dim, int ncontacts);

// Every array bit for bit, sizes, guesses, solution and strings; not provenance and claim.
void check_same_problem(const ss_problem *a, const ss_problem *b);
void check_same_provenance(const ss_provenance *a, const ss_provenance *b);
void check_same_claim(const ss_claim *a, const ss_claim *b);
