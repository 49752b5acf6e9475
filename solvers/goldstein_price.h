// solvers/goldstein_price.h -- the step length of Goldstein and Price along a direction of descent.
//
//     phi(0) + m2 t phi'(0) <= phi(t) <= phi(0) + m1 t phi'(0),    0 < m1 < m2 < 1           (1)
//
// The search begins at t = 1. Where the right side fails, t is too long, as it is where phi is NaN;
// where the left one fails, t is too short. t is halved between the bounds known so far, and
// doubled while there is none above. After a few changes the last t is taken (doc/formulation.md,
// "Alart-Curnier").
#pragma once

#include <math.h>
#include <stdbool.h>

#define SS_GOLDSTEIN_DOUBLINGS 8
#define SS_GOLDSTEIN_TRIALS    30

typedef struct ss_goldstein {
    double m1, m2;
    double start, slope; // phi(0), phi'(0)
    double low, high;    // values of t known to be too short, too long
    double t;            // next t to try; the answer at the end
    int trials, doublings;
} ss_goldstein;

static inline ss_goldstein ss_goldstein_begin(double m1, double m2, double start, double slope)
{
    return (ss_goldstein){
        .m1 = m1, .m2 = m2, .start = start, .slope = slope, .high = HUGE_VAL, .t = 1.0};
}

// Takes phi(t) and sets the next t. Returns false where t stays as it is and is the answer.
static inline bool ss_goldstein_goes_on(ss_goldstein *search, double phi)
{
    if (!(phi <= search->start + search->m1 * search->t * search->slope)) {
        search->high = search->t;
    } else if (!(phi >= search->start + search->m2 * search->t * search->slope)) {
        search->low = search->t;
    } else {
        return false;
    }
    if (search->high < HUGE_VAL) {
        search->t = 0.5 * (search->low + search->high);
    } else if (search->doublings++ < SS_GOLDSTEIN_DOUBLINGS) {
        search->t *= 2.0;
    } else {
        return false;
    }
    return ++search->trials < SS_GOLDSTEIN_TRIALS;
}
