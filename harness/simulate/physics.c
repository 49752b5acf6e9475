#include "harness/simulate/physics.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// Kinetic energy at this speed counts as there in any case, m/s: strands that begin inside
// something are pushed out of it as fast (EXIT_SPEED in strands/step/step_tools.c).
#define PUSHED_SPEED 0.1

typedef struct rule {
    const char *name;
    double remark, end;    // the first bound and the last one
    double unit;           // 0.01 of what is printed in percent
    const char *what, *of; // words before and after a value
} rule;

static const rule RULES[SS_PHYSICS_KINDS] = {
    [SS_PHYSICS_GAIN] = {"gain", 0.1, 1.0, 0.01, "energy grew without a source by",
                         "% of what could have been kinetic"},
    [SS_PHYSICS_STRETCH] = {"stretch", 0.1, 1.0, 0.01, "a strand was longer than it was made by",
                            "%"},
    [SS_PHYSICS_OVERLAP] = {"overlap", 1.0, DBL_MAX, 1.0, "strands or obstacles overlapped by",
                            "radii"},
};

static double total(const ss_energy *e)
{
    return e->kinetic + e->elastic + e->potential;
}

static bool is_still(const ss_motion_state *s)
{
    return ss_dot(s->velocity, s->velocity) == 0.0 && ss_dot(s->spin, s->spin) == 0.0;
}

// Whether anything may have worked on the strands from one time to another.
static bool has_source(const ss_world *w, double from, double to)
{
    bool any = w->nwinds > 0;
    for (int k = 0; k < w->nstrands && !any; k++) {
        any = w->strands[k].posing != NULL;
    }
    for (int k = 0; k < w->nbodies && !any; k++) {
        ss_motion_state at[2];
        ss_motion_at(&w->bodies[k], from, &at[0]);
        ss_motion_at(&w->bodies[k], to, &at[1]);
        const ss_vec3 way = ss_minus(at[1].pose.place, at[0].pose.place);
        any = !is_still(&at[0]) || !is_still(&at[1]) || ss_dot(way, way) > 0.0;
    }
    return any;
}

static double pushed_energy(const ss_world *w)
{
    double mass = 0.0;
    for (int i = 0; i < w->nsamples; i++) {
        mass += w->mass[i];
    }
    return 0.5 * mass * PUSHED_SPEED * PUSHED_SPEED;
}

// 0 where a source acted.
static double gain_of(ss_physics *p, const ss_world *w, const ss_step_report *r)
{
    const bool alone = !has_source(w, r->time - r->dt, r->time);
    if (alone && !p->alone) {
        p->before = r->before;
        p->least = total(&r->before);
        p->fallen = 0.0;
    }
    p->alone = alone;
    if (!alone) {
        return 0.0;
    }
    const double rest = r->energy.elastic + r->energy.potential;
    p->fallen = fmax(p->fallen, p->before.elastic + p->before.potential - rest);
    p->least = fmin(p->least, total(&r->energy));
    return (total(&r->energy) - p->least) / (p->before.kinetic + p->fallen + pushed_energy(w));
}

// Whether a strand has no elasticity along it, and only a method that keeps its length.
static bool keeps_lengths(const ss_world *w)
{
    bool keeps = false;
    for (int k = 0; k < w->nstrands; k++) {
        const ss_strand_model *m = w->strands[k].model;
        keeps = keeps || (m->project != NULL && m->energy == NULL);
    }
    return keeps;
}

// A measure that is missing (NaN) is none.
static void keep(ss_physics *p, ss_physics_kind kind, double value)
{
    ss_physics_measure *m = &p->measures[kind];
    m->over += value > RULES[kind].remark;
    if (value > m->worst) {
        m->worst = value;
        m->step = p->steps;
    }
}

ss_status ss_physics_see(ss_physics *p, const ss_world *w, const ss_step_report *report,
                         ss_error *e)
{
    const double values[SS_PHYSICS_KINDS] = {
        [SS_PHYSICS_GAIN] = gain_of(p, w, report),
        [SS_PHYSICS_STRETCH] = report->stretch,
        [SS_PHYSICS_OVERLAP] = w->radius > 0.0 ? report->penetration / w->radius : 0.0,
    };
    p->steps++;
    for (int k = 0; k < SS_PHYSICS_KINDS; k++) {
        const rule *r = &RULES[k];
        keep(p, (ss_physics_kind)k, values[k]);
        if (p->ends && values[k] > r->end && (k != SS_PHYSICS_STRETCH || keeps_lengths(w))) {
            return ss_fail(e, SS_BAD_INPUT,
                           "%s %.3g %s, above the %g at which this is no motion of the model: "
                           "take smaller steps, or another model",
                           r->what, values[k] / r->unit, r->of, r->end / r->unit);
        }
    }
    return SS_OK;
}

bool ss_physics_remark(const ss_physics *p, ss_physics_kind kind, char *text, size_t room)
{
    const ss_physics_measure *m = &p->measures[kind];
    const rule *r = &RULES[kind];
    if (m->over == 0) {
        return false;
    }
    snprintf(text, room, "%s %.3g %s at step %d, and by more than %g in %d of %d steps", r->what,
             m->worst / r->unit, r->of, m->step, r->remark / r->unit, m->over, p->steps);
    return true;
}

void ss_physics_remarks(const ss_physics *p, char *text, size_t room)
{
    size_t used = 0;
    text[0] = '\0';
    for (int k = 0; k < SS_PHYSICS_KINDS; k++) {
        if (p->measures[k].over > 0 && used < room) {
            used += (size_t)snprintf(text + used, room - used, "%s%s", used > 0 ? " " : "",
                                     RULES[k].name);
        }
    }
}
