// solvers/sweep/order.h -- the order in which a sweep visits the contacts.
//
// The problem itself is put into that order, so that a sweep runs through its data front to back;
// answers are put back.
//
// In the striped order threads may visit groups of contacts at the same time. Contacts are laid out
// in levels: level 0 is one contact, the next level all that share a body with the last and are in
// none before. Contacts whose levels differ by two or more share no body. The levels are cut into
// stripes of about n / SS_STRIPES_MAX contacts. A sweep visits first all even stripes, each by one
// thread from its first contact to its last, then all odd ones: within a phase no two threads touch
// the same body, so the bits do not depend on the number of threads.
#pragma once

#include "problems/problem.h"

#include <stdbool.h>
#include <stdint.h>

// The number of stripes, even and odd. This is enough for 16 threads; more would only make them
// thinner.
#define SS_STRIPES_MAX 32

typedef struct ss_stripes {
    int count;  // number of stripes
    int *start; // [count + 1] first visit of each stripe, in the order of the visits; owned
    int neven;  // the first neven of them make the first phase
} ss_stripes;

typedef enum ss_order_kind { SS_NATURAL, SS_REVERSE, SS_RANDOM, SS_STRIPED } ss_order_kind;

typedef struct ss_ordered {
    ss_problem view;    // parts that the order does not touch are borrowed from the problem
    bool owned;         // true if mu, W, H, b, w of the view are this struct's own
    int *order;         // [ncontacts] visit k is contact order[k]; NULL: natural; owned
    ss_stripes stripes; // empty unless the order is striped
} ss_ordered;

ss_status ss_ordered_new(const ss_problem *p, ss_order_kind kind, uint64_t seed,
                         ss_ordered *ordered, ss_error *e);
void ss_ordered_free(ss_ordered *ordered);

// Copy quantities of contacts, `width` numbers each, from the problem's order into that of the
// visits, and back.
void ss_ordered_take(const ss_ordered *ordered, int width, const double *problem, double *visits);
void ss_ordered_give(const ss_ordered *ordered, int width, const double *visits, double *problem);
