// strands/scenes/lantern.c -- a flower on a rod, heavy at its tip, that twists as it is swung
// [H06].
//
// A rod that bends over, its tip a flower of petals, which carry most of the mass: a tree of links.
// The hand turns about the vertical and back, and the flower goes on turning by its twist.
#include "strands/scenes/growth.h"
#include "strands/scenes/request.h"
#include "strands/scenes/scenes.h"

#define STEM   20
#define PETALS 6
#define EACH   3     // links of a petal
#define LINK   0.015 // m, of the stem
#define PETAL  0.022 // m, a link
#define ASIDE  0.68  // rad about the vertical: across the way in which frames are seen

// Half a circle of a rod, then down; petals open downwards from its end.
static ss_growth make(void)
{
    const ss_strand_part stem = {1.0, 1.0, 1.0, 1.0, 1.0}, petal = {12.0, 1.0, 4.0, 4.0, 1.0};
    ss_growth g = ss_growth_seed(ss_vec(0.0, 0.0, 0.0));
    for (int k = 0; k < STEM; k++) {
        const double angle = 0.5 * M_PI - 1.1 * M_PI * fmin((k + 0.5) / (STEM - 6), 0.9);
        const double out = LINK * cos(angle);
        ss_growth_add(&g, k, ss_vec(out * cos(ASIDE), LINK * sin(angle), -out * sin(ASIDE)), stem);
    }
    for (int p = 0; p < PETALS; p++) {
        const double angle = 2.0 * M_PI * p / PETALS;
        int from = STEM;
        for (int k = 0; k < EACH; k++) {
            const double out = 1.0 - 0.3 * k;
            const ss_vec3 way = ss_vec(out * cos(angle), -0.7 - 0.5 * k, out * sin(angle));
            from = ss_growth_add(&g, from, ss_scaled(PETAL, ss_unit(way)), petal);
        }
    }
    return g;
}

static ss_status build(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                       ss_error *e)
{
    ss_status status = ss_request_check_one_rod(request, e);
    if (status != SS_OK) {
        return status;
    }
    const ss_growth flower = make();
    const ss_material wood = ss_growth_material(600.0, 0.001, 3e9, 0.02);
    ss_motion hand = ss_motion_still();
    int body, number;
    hand.axis = ss_vec(0.0, 1.0, 0.0);
    hand.angle = (ss_profile){.kind = SS_PROFILE_OSCILLATE, .size = 0.4, .period = 1.2};
    w->radius = 0.002;
    options->contacts = false;
    status = ss_world_add_body(w, &hand, &body, e);
    return status == SS_OK ? ss_growth_plant(&flower, &wood, request, body, w, &number, e) : status;
}

const ss_scene ss_scene_lantern = {
    .name = "lantern",
    .model = "oriented-strands",
    .shows = "a flower on a rod, heavy at its tip, that twists as the hand turns",
    .reference = "[H06] Figure 1",
    .rods = 1,
    .steps = 360,
    .dt = 1.0 / 120.0,
    .build = build,
};
