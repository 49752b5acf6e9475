// The first phase: impulses of the contacts that meet within the step (phases.h).
//
//     x_n >= 0 complementary to v_N + (H'M^-1 H x)_N - v_wanted,   v_wanted = -e v_N, or -gap/h where e = 0
//
// M is that of the step, or M0 of the strands that are hit if the scheme asks for it and each has a factor.
#include <math.h>
#include <string.h>

#include "strands/band.h"
#include "strands/schemes/phases_parts.h"

// s: M of a step of this length takes the place of an M0 without a factor, as that of a straight super-helix.
#define BRIEF 1e-6

// The least velocity of contact i along its normal after its impact.
static double wanted_after(const ss_stepper *s, int i, double before, double h)
{
    const ss_touch *t = &s->touches[i];
    const double e = t->strand_b < 0 ? s->world->obstacles[t->segment_b].restitution : 0.0;
    return e > 0.0 ? -e * before : -fmax(t->gap, 0.0) / h;
}

// Factors M0 of the strands that are hit. False if one has none.
static bool factor_inertia(ss_phases *p, const ss_stepper *s)
{
    const ss_world *w = s->world;
    bool definite = true;
    for (int k = 0; definite && k < w->nstrands; k++) {
        const ss_placed at = ss_snapshot_strand(&s->here, w, k);
        double *f = p->f0 + w->strands[k].v, *D = p->scales + w->strands[k].v;
        definite = !p->hit[k];
        for (int try = 0; !definite && try < 2; try++) {
            const ss_iterate it = ss_iterate_first(&w->now, try == 0 ? 0.0 : BRIEF);
            definite =
                ss_strand_system(w, k, &it, &at, s->systems.rooms[0].scratch, &p->M0[k], f) &&
                ss_band_factor(&p->M0[k], D);
        }
    }
    return definite;
}

// Rows of the contacts that meet within the step, and the strands that they hit.
static bool add_impacts(ss_phases *p, const ss_stepper *s, double h)
{
    for (int i = 0; i < s->ncontacts; i++) {
        const ss_touch *t = &s->touches[i];
        const double before = p->u0[3 * i];
        if (before < 0.0 && t->gap < -h * before) {
            const ss_row row = {
                .b = before - wanted_after(s, i, before, h), .high = INFINITY, .normal = -1};
            if (!ss_phases_add_contact(&p->rows, s, i, SS_PHASES_NORMAL, &row)) {
                return false;
            }
            p->hit[t->strand_a] = true;
            p->hit[t->strand_b >= 0 ? t->strand_b : t->strand_a] = true;
        }
    }
    return true;
}

bool ss_phases_find_impacts(ss_phases *p, const ss_stepper *s, double h, int *sweeps)
{
    const ss_world *w = s->world;
    memset(p->hit, 0, (size_t)w->nstrands * sizeof *p->hit);
    ss_rows_clear(&p->rows);
    if (!add_impacts(p, s, h)) {
        return false;
    }
    if (p->rows.count == 0) {
        return true;
    }
    const bool inertia = p->M0 != NULL && factor_inertia(p, s);
    const ss_factors M = {inertia ? p->M0 : s->systems.L, inertia ? p->scales : s->systems.D};
    if (!ss_rows_measure(&p->rows, w, &s->systems, M)) {
        return false;
    }
    *sweeps += ss_rows_relax(&p->rows, p->set.sweeps, p->set.omega, p->set.eps);
    for (int i = 0; i < p->rows.count; i++) {
        ss_rows_push(&p->rows, w, i, ss_rows_at(&p->rows, i)->x, p->impacts);
    }
    for (int k = 0; k < w->nstrands; k++) {
        const int at = w->strands[k].v;
        if (p->hit[k]) {
            memcpy(p->gained + at, p->impacts + at,
                   (size_t)ss_phases_free_count(s, k) * sizeof *p->gained);
            ss_band_solve(&M.L[k], M.D + at, p->gained + at);
        }
    }
    return true;
}
