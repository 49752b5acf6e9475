// The second phase: contacts that press and rub, goals, and limits of joints (phases.h).
//
// A contact has two rows, along its normal n and along t = -unit(b_T), against its motion:
//
//     r = x_n n + x_t t,   x_n >= 0 complementary to u_N,   0 <= x_t <= mu x_n
#include <math.h>
#include <string.h>

#include "strands/band.h"
#include "strands/schemes/phases_extra.h"
#include "strands/schemes/phases_parts.h"

#define MOST_ROUNDS 8 // of rows of limits

// m/s: a contact that would slide more slowly without impulses keeps the tangent of its last impulse.
#define LEAST_SLIDE 1e-12

static void find_tangent(const double b[3], const double r[3], double t[3])
{
    const double speed = hypot(b[1], b[2]), held = hypot(r[1], r[2]);
    t[0] = t[2] = 0.0;
    t[1] = 1.0;
    if (speed >= LEAST_SLIDE) {
        t[1] = -b[1] / speed;
        t[2] = -b[2] / speed;
    } else if (held > 0.0) {
        t[1] = r[1] / held;
        t[2] = r[2] / held;
    }
}

// The friction of contact i, by how fast it slides after the impacts.
static double friction(const ss_phases *p, const ss_stepper *s, int i)
{
    const ss_touch *t = &s->touches[i];
    const double *u = p->u1 + 3 * i, mu = s->formed.problem.mu[i];
    const double loss = t->strand_b < 0 ? s->world->obstacles[t->segment_b].sliding_loss : 0.0;
    return hypot(u[1], u[2]) > p->set.stick ? p->set.sliding * (1.0 - loss) * mu : mu;
}

// Row 2 i is along the normal of contact i, row 2 i + 1 against its motion. The problem gets the friction that is used.
static bool add_contacts(ss_phases *p, const ss_stepper *s)
{
    bool ok = true;
    for (int i = 0; ok && i < s->ncontacts; i++) {
        const double *b = p->b + 3 * i, *r = s->r + 3 * i;
        double t[3];
        find_tangent(b, r, t);
        s->formed.problem.mu[i] = friction(p, s, i);
        const ss_row normal = {.b = b[0], .high = INFINITY, .normal = -1, .x = fmax(r[0], 0.0)};
        const ss_row across = {.b = b[1] * t[1] + b[2] * t[2],
                               .normal = 2 * i,
                               .mu = s->formed.problem.mu[i],
                               .x = r[1] * t[1] + r[2] * t[2]};
        ok = ss_phases_add_contact(&p->rows, s, i, SS_PHASES_NORMAL, &normal) &&
             ss_phases_add_contact(&p->rows, s, i, t, &across);
    }
    return ok;
}

// r of the contacts, and the impulses of the other rows.
static void read_answer(ss_phases *p, const ss_stepper *s)
{
    const ss_world *w = s->world;
    for (int i = 0; i < s->ncontacts; i++) {
        double t[3];
        find_tangent(p->b + 3 * i, s->r + 3 * i, t);
        const double across = ss_rows_at(&p->rows, 2 * i + 1)->x;
        s->r[3 * i] = ss_rows_at(&p->rows, 2 * i)->x;
        s->r[3 * i + 1] = across * t[1];
        s->r[3 * i + 2] = across * t[2];
    }
    for (int i = 2 * s->ncontacts; i < p->rows.count; i++) {
        ss_rows_push(&p->rows, w, i, ss_rows_at(&p->rows, i)->x, p->extra);
    }
}

static bool relax_rows(ss_phases *p, const ss_stepper *s, int *sweeps)
{
    if (!ss_rows_measure(&p->rows, s->world, &s->systems,
                         (ss_factors){s->systems.L, s->systems.D})) {
        return false;
    }
    ss_extras_soften(&p->rows, 2 * s->ncontacts);
    *sweeps += ss_rows_relax(&p->rows, p->set.sweeps, p->set.omega, p->set.eps);
    return true;
}

// p->end = M^-1 (f + impacts + what the rows do).
static void find_end(const ss_phases *p, const ss_stepper *s)
{
    const ss_world *w = s->world;
    memset(p->end, 0, (size_t)w->nv * sizeof *p->end);
    for (int i = 0; i < p->rows.count; i++) {
        ss_rows_push(&p->rows, w, i, ss_rows_at(&p->rows, i)->x, p->end);
    }
    for (int k = 0; k < w->nstrands; k++) {
        const int at = w->strands[k].v;
        if (ss_phases_may_act_on(p, s, k)) {
            ss_band_solve(&s->systems.L[k], s->systems.D + at, p->end + at);
        }
        for (int i = at; i < at + ss_phases_free_count(s, k); i++) {
            p->end[i] += p->free[i];
        }
    }
}

// A row bounds the turn of a joint in one direction. Other rows may send the joint beyond its limits in another
// direction: it then gets a row for that one. This ends when no joint is beyond its limits, or after MOST_ROUNDS.
bool ss_phases_find_forces(ss_phases *p, const ss_stepper *s, double h, int *sweeps)
{
    const ss_extras extras = {&p->rows, s, &p->set, p->free, p->around, p->limits, h};
    int before = 0;
    ss_rows_clear(&p->rows);
    bool ok = add_contacts(p, s) && ss_extras_add(&extras);
    for (int k = 0; ok && (k == 0 || before < p->rows.count); k++) {
        before = p->rows.count;
        ok = relax_rows(p, s, sweeps);
        if (ok && p->set.limit > 0.0 && k < MOST_ROUNDS) {
            find_end(p, s);
            ok = ss_extras_tighten(&extras, p->end);
        }
    }
    if (ok) {
        read_answer(p, s);
    }
    return ok;
}
