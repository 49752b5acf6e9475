// The verdict on one answer, and what is worth saying about it.
#include "harness/judge.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// fb goes blind as mu -> 0, where it vanishes whatever the normal parts do. Above this ratio of
// normal to fb the verdict is to be read with care (doc/formulation.md, "Measures").
#define NORMAL_WARNING 10.0

__attribute__((format(printf, 2, 3))) static void say(ss_verdict *verdict, const char *format, ...)
{
    size_t used = strlen(verdict->detail);
    if (used > 0) {
        snprintf(verdict->detail + used, sizeof verdict->detail - used, "; ");
        used = strlen(verdict->detail);
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(verdict->detail + used, sizeof verdict->detail - used, format, arguments);
    va_end(arguments);
}

// max |x - y|, y NULL for 0. A NaN stays.
static double largest_difference(const double *x, const double *y, int n)
{
    double largest = 0.0;
    for (int i = 0; i < n; i++) {
        const double difference = fabs(x[i] - (y != NULL ? y[i] : 0.0));
        if (!(difference <= largest)) {
            largest = difference;
        }
        if (isnan(largest)) {
            break;
        }
    }
    return largest;
}

// u = W r + b rounds s |r| eps away from the exact one at least, and so does fb V.
static double rounding_floor(const ss_measures *m, double largest_impulse)
{
    return DBL_EPSILON * m->compliance_scale * largest_impulse / m->velocity_scale;
}

static void explain(ss_verdict *verdict, double claimed_fb, double floor)
{
    const ss_measures *m = &verdict->measures;
    const bool claimed = claimed_fb <= verdict->tolerance;
    if (!isnan(claimed_fb) && claimed != verdict->solved) {
        say(verdict, "the file claims fb %.3g, the judge finds %.3g", claimed_fb, m->fb);
    }
    if (m->normal > NORMAL_WARNING * m->fb) {
        say(verdict, "normal is %.3g: the normal parts are further from the law than fb says",
            m->normal);
    }
    if (floor > verdict->tolerance) {
        say(verdict, "the tolerance is below the rounding floor, about %.1g", floor);
    }
}

ss_verdict ss_judge(ss_response *response, const ss_state *answer, double claimed_fb,
                    double tolerance, double *u)
{
    const int size = response->problem->dim * response->problem->ncontacts;
    ss_verdict verdict = {.tolerance = tolerance, .velocity_error = NAN};
    verdict.measures = ss_response_judge(response, answer->r, u);
    verdict.solved = ss_measures_pass(&verdict.measures, tolerance);
    if (answer->u != NULL) {
        verdict.velocity_error =
            largest_difference(answer->u, u, size) / verdict.measures.velocity_scale;
    }
    const double largest_impulse = largest_difference(answer->r, NULL, size);
    explain(&verdict, claimed_fb, rounding_floor(&verdict.measures, largest_impulse));
    return verdict;
}
