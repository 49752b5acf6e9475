// solvers/sweep/stripes.h -- groups of contacts that threads may visit at the same time.
//
// Contacts are laid out in levels: level 0 is one contact, the next level all that share a body
// with the last and are in none before. Contacts whose levels differ by two or more share no body.
// The levels are cut into stripes of about n / SS_STRIPES_MAX contacts, and a sweep visits first
// all even stripes, each by one thread from its first contact to its last, then all odd ones:
// within a phase no two threads touch the same body, so the bits do not depend on the number of
// threads.
#pragma once

#include "problems/problem.h"

// Even and odd ones together. Enough for 16 threads; more would only make them thinner.
#define SS_STRIPES_MAX 32

typedef struct ss_stripes {
    int count;  // stripes
    int *order; // [ncontacts] the contacts, stripe by stripe: even ones first; owned
    int *start; // [count + 1] of a stripe in order, in the order of the visits; owned
    int neven;  // the first neven of them make the first phase
} ss_stripes;

ss_status ss_stripes_find(const ss_problem *p, ss_stripes *stripes, ss_error *e);
void ss_stripes_free(ss_stripes *stripes);
