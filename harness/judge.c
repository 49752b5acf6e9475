// The verdict on one answer, and what is worth saying about it.
#include "harness/judge.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

// max |x - y|. A NaN stays.
static double largest_difference(const double *x, const double *y, int n)
{
    double largest = 0.0;
    for (int i = 0; i < n; i++) {
        const double difference = fabs(x[i] - y[i]);
        if (!(difference <= largest)) {
            largest = difference;
        }
        if (isnan(largest)) {
            break;
        }
    }
    return largest;
}

// fb is not known below this.
static double rounding_floor(const ss_problem *p, const ss_measures *m, const double *r,
                             const double *u)
{
    double floor = 0.0;
    for (int i = 0; i < p->ncontacts; i++) {
        double ri[3] = {0.0}, ui[3] = {0.0};
        for (int c = 0; c < p->dim; c++) {
            ri[c] = r[p->dim * i + c];
            ui[c] = u[p->dim * i + c];
        }
        floor = fmax(floor, ss_coulomb_rounding(p->mu[i], m->compliance_scale, ri, ui));
    }
    return floor / m->velocity_scale;
}

static void explain(ss_verdict *verdict, double claimed, double floor)
{
    const ss_measures *m = &verdict->measures;
    if (!isnan(claimed) && (claimed <= verdict->tolerance) != verdict->solved) {
        say(verdict, "the file claims an error of %.3g, the judge finds %.3g", claimed,
            ss_measures_error(m));
    }
    if (!verdict->solved && m->fb <= verdict->tolerance) {
        say(verdict,
            "fb is within the tolerance but normal/2 is %.3g: contacts push while they separate, "
            "pull, or overlap",
            SS_NORMAL_WEIGHT * m->normal);
    }
    if (floor > verdict->tolerance) {
        say(verdict, "the tolerance is below the rounding floor, about %.1g", floor);
    }
}

ss_verdict ss_judge(ss_response *response, const ss_state *answer, double claimed, double tolerance,
                    double *u)
{
    const int size = response->problem->dim * response->problem->ncontacts;
    ss_verdict verdict = {.tolerance = tolerance, .velocity_error = NAN};
    verdict.measures = ss_response_judge(response, answer->r, u);
    verdict.solved = ss_measures_pass(&verdict.measures, tolerance);
    if (answer->u != NULL) {
        verdict.velocity_error =
            largest_difference(answer->u, u, size) / verdict.measures.velocity_scale;
    }
    explain(&verdict, claimed, rounding_floor(response->problem, &verdict.measures, answer->r, u));
    return verdict;
}
