// strands/scenes/thin_hair.h -- the hair of the scenes of [J20] (internal).
//
// Its scene files have E of 0.8 to 1 GPa, nu 0.36, 1320 kg/m^3 and a radius of 50 um, contacts 55
// um from the centre line, and a stretch stiffness that is multiplied by 0.01 wherever there are
// contacts; viscosity and drag never act. Friction is 0.3 on everything. `stretch` and `looks` are
// options of each scene.
//
// doc/strands.md, "[J20]".
#pragma once

#include "strands/scenes/request.h"

#define SS_THIN_CONTACT 55e-6 // m
#define SS_THIN_STRETCH 0.01
#define SS_THIN_MU      0.3
#define SS_THIN_LOOKS   50

#define SS_THIN_STRETCH_KEY SS_REAL_KEY("stretch", stretch, 1e-4, 100.0)

// How often a step looks at where it ends for strands that overlap (step.h); 0: contacts are those
// of its beginning, as in [J20].
#define SS_THIN_LOOKS_KEY SS_INTEGER_KEY("looks", looks, 0, 1000)

static inline ss_material ss_thin_hair(double stretch)
{
    return (ss_material){.density = 1320.0,
                         .radius = 50e-6,
                         .ellipticity = 1.0,
                         .young = 1e9,
                         .poisson = 0.36,
                         .stretch = stretch};
}

// The contacts of a world of such hair. A strand that falls covers many radii in a step: contacts
// are looked for on its way, too. *obstacle becomes the friction of obstacles.
static inline void ss_thin_contacts(const ss_scene_request *request, int looks, ss_world *w,
                                    ss_step_options *options, double *obstacle)
{
    const ss_friction mu = ss_request_friction(request, (ss_friction){SS_THIN_MU, SS_THIN_MU});
    w->radius = SS_THIN_CONTACT;
    w->mu = mu.strand;
    *obstacle = mu.obstacle;
    options->continuous = true;
    options->looks = looks;
}
