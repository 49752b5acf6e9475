// problems/tangle/tangle_settings.c -- what a tangle may be asked for.
#include <math.h>

#include "problems/tangle/tangle_plan.h"
#include "problems/tangle/tangle_tower.h"

// Indices of H and M are ints: 3 x 32 entries of H a contact, 256 of M a rod.
#define MOST_CONTACTS 10000000
#define MOST_RODS     8000000

// Masses of a tower.
#define MOST_DECADES 12
#define MOST_PLANKS  1000 // of a layer

ss_tangle_settings ss_tangle_defaults(void)
{
    return (ss_tangle_settings)SS_TANGLE_DEFAULTS;
}

static ss_status check_tower(const ss_tangle_settings *s, ss_error *e)
{
    if (!(s->tower >= 1.0 && s->tower <= 1e6)) {
        return ss_fail(e, SS_BAD_INPUT, "tower is %g, not in 1 .. 1e6", s->tower);
    }
    if (s->hyperstatic || s->ground_share != 0.0 || s->unsymmetry != 0.0) {
        return ss_fail(e, SS_BAD_INPUT,
                       "a tower has boxes on each other: leave out hyperstatic, ground and "
                       "unsymmetric");
    }
    if (s->planks != 0 && !(s->planks >= 2 && s->planks <= MOST_PLANKS)) {
        return ss_fail(e, SS_BAD_INPUT, "planks is %d, not 0 or in 2 .. %d", s->planks,
                       MOST_PLANKS);
    }
    if (s->planks != 0 && s->dim != 3) {
        return ss_fail(e, SS_BAD_INPUT, "planks lie crosswise, which needs dim 3");
    }
    if (!(ss_tower_faces(s) <= s->ncontacts) && s->planks != 0) {
        return ss_fail(
            e, SS_BAD_INPUT,
            "planks is %d, which makes %.0f faces for %d contacts; take fewer planks, or "
            "more ends per box",
            s->planks, ss_tower_faces(s), s->ncontacts);
    }
    if (!((ss_tower_layers(s) - 1) * log10(s->tower) <= MOST_DECADES)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "tower is %g, which makes the highest of %d %s more than 1e%d times as "
                       "heavy as the lowest; take a lower one, or fewer boxes",
                       s->tower, ss_tower_layers(s), s->planks != 0 ? "layers" : "boxes",
                       MOST_DECADES);
    }
    return SS_OK;
}

ss_status ss_tangle_check(const ss_tangle_settings *s, ss_error *e)
{
    if (s->dim != 2 && s->dim != 3) {
        return ss_fail(e, SS_BAD_INPUT, "dim is %d; a tangle has 2 or 3", s->dim);
    }
    if (s->ncontacts < 1 || s->ncontacts > MOST_CONTACTS) {
        return ss_fail(e, SS_BAD_INPUT, "ncontacts is %d, not in 1 .. %d", s->ncontacts,
                       MOST_CONTACTS);
    }
    if (s->ends_per_rod < 1) {
        return ss_fail(e, SS_BAD_INPUT, "ends_per_rod is %d, not 1 or more", s->ends_per_rod);
    }
    if (!(s->mu >= 0.0 && isfinite(s->mu))) {
        return ss_fail(e, SS_BAD_INPUT, "mu is %g, not a finite number >= 0", s->mu);
    }
    if (!(s->condition >= 10.0 && s->condition <= 1e8)) {
        return ss_fail(e, SS_BAD_INPUT, "condition is %g, not in 10 .. 1e8", s->condition);
    }
    if (!(s->ground_share >= 0.0 && s->ground_share <= 1.0)) {
        return ss_fail(e, SS_BAD_INPUT, "ground_share is %g, not in 0 .. 1", s->ground_share);
    }
    if (!isfinite(s->unsymmetry)) {
        return ss_fail(e, SS_BAD_INPUT, "unsymmetry is %g, not a finite number", s->unsymmetry);
    }
    if (!(s->light[0] >= 0.0 && s->light[0] <= 1.0)) {
        return ss_fail(e, SS_BAD_INPUT, "the share of light rods is %g, not in 0 .. 1",
                       s->light[0]);
    }
    if (s->light[0] > 0.0 && !(s->light[1] >= 1.0 && s->light[1] <= 1e12)) {
        return ss_fail(e, SS_BAD_INPUT, "the factor of light rods is %g, not in 1 .. 1e12",
                       s->light[1]);
    }
    if (s->tower != 0.0) {
        return check_tower(s, e);
    }
    if (s->planks != 0) {
        return ss_fail(e, SS_BAD_INPUT, "planks are the boxes of a tower: give its ratio as well");
    }
    if (ss_tangle_rods(s) > MOST_RODS) {
        return ss_fail(e, SS_BAD_INPUT, "ends_per_rod is %d, which makes more than %d rods",
                       s->ends_per_rod, MOST_RODS);
    }
    return SS_OK;
}
