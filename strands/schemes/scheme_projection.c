// projection: explicit forces, and a method of the model that keeps lengths (model.h).
//
//     M0 v = M0 v_n + h F(q_n, v_n),   v <- project(q_n, v),   contacts,   q = q_n (+) h v
//
// Of an elastic model M holds neither C nor K, and damping is left out: a step is no longer than its
// bending allows, h < (l^2/2) sqrt(rhoA/EI) for a rod.
#include "strands/schemes/schemes.h"
#include "strands/step/stepper.h"

static ss_status projection_make(ss_stepper *s, const void *settings, void **own, ss_error *e)
{
    const ss_world *w = s->world;
    (void)settings;
    *own = NULL;
    for (int k = 0; k < w->nstrands; k++) {
        if (w->strands[k].model->project == NULL) {
            return ss_fail(
                e, SS_BAD_INPUT,
                "strands of the model %s have no method that keeps their length, which the "
                "scheme projection asks for: take another scheme",
                w->strands[k].model->name);
        }
    }
    return SS_OK;
}

static ss_status projection_step(ss_stepper *s, void *own, double h, ss_step_report *report,
                                 ss_step_reason *reason, ss_error *e)
{
    (void)own;
    ss_iterate it = ss_iterate_first(&s->world->now, h);
    it.particles = true;
    return ss_step_once(s, &it, NULL, h, report, reason, e);
}

const ss_scheme ss_scheme_projection = {
    .name = "projection",
    .summary = "explicit forces, lengths kept by the model's own method",
    .reference = "D11, G07",
    .projects = true,
    .make = projection_make,
    .step = projection_step,
};
