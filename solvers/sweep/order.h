// solvers/sweep/order.h -- the order in which a sweep visits the contacts.
//
// The problem itself is put into that order, so that a sweep runs through its data front to back;
// answers are put back.
#pragma once

#include <stdint.h>
#include "solvers/sweep/stripes.h"

// Striped: in groups that threads may visit at the same time (solvers/sweep/stripes.h).
typedef enum ss_order_kind { SS_NATURAL, SS_REVERSE, SS_RANDOM, SS_STRIPED } ss_order_kind;

typedef struct ss_ordered {
    ss_problem view;    // what the order does not touch is borrowed from the problem
    bool owned;         // mu, W, H, b, w of the view are this struct's own
    int *order;         // [ncontacts] visit k is contact order[k]; NULL: the natural order; owned
    ss_stripes stripes; // of visits; empty unless the order is striped
} ss_ordered;

ss_status ss_ordered_new(const ss_problem *p, ss_order_kind kind, uint64_t seed,
                         ss_ordered *ordered, ss_error *e);
void ss_ordered_free(ss_ordered *ordered);

// Contact quantities, `width` numbers each: from the problem's order into the visits' and back.
void ss_ordered_take(const ss_ordered *ordered, int width, const double *problem, double *visits);
void ss_ordered_give(const ss_ordered *ordered, int width, const double *visits, double *problem);
