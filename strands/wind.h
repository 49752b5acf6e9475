// strands/wind.h -- air that moves: winds, wakes of bodies, turbulence.
//
// If the air moves with u(x, t), the drag of the world pushes a strand by drag (W u - v) per
// length, v its own velocity. W weighs the field by direction and along the strand: with t the
// tangent and s the share of the way from the root to the farthest tip,
//
//     W = [root + (tip - root) s] [across + (along - across) t t']
//
// doc/strands.md, "Winds".
#pragma once

#include "base/status.h"
#include "strands/geometry.h"

typedef enum ss_wind_kind { SS_WIND_STEADY, SS_WIND_WAKE, SS_WIND_TURBULENCE } ss_wind_kind;
extern const char *const ss_wind_kinds[]; // steady, wake, turbulence, NULL

#define SS_WIND_WAVES 24

// A wave of turbulence: a cos(k.x - w t + phase), a across k.
typedef struct ss_wind_wave {
    ss_vec3 k, a; // 1/m, 1
    double w, phase;
} ss_wind_wave;

typedef struct ss_wind {
    ss_wind_kind kind;
    ss_vec3 velocity;                // m/s: steady: of the air; turbulence: rms along each axis
    ss_vec3 drift;                   // m/s: carries turbulence along
    double gust;                     // steady: share of the velocity by which it comes and goes
    double period;                   // s: of gusts; of the largest eddies
    double start, rise;              // s: nothing before `start`; it comes up over `rise`
    double size;                     // m: of the body with a wake; of the largest eddies
    double length;                   // m: of a wake
    double strength;                 // wake: of the body's velocity
    int body;                        // has the wake
    ss_vec3 place;                   // m: of its middle, in the frame of the body
    int seed;                        // of turbulence, above 0
    double along, across, root, tip; // weights

    ss_wind_wave wave[SS_WIND_WAVES]; // of turbulence; ss_world_add_wind makes them
} ss_wind;

// Returns no wind of this kind, with a size, a length and a period of 1 and weights of 1.
ss_wind ss_wind_still(ss_wind_kind kind);

// A sample's place along its strand: the segment that moves with it, and s.
typedef struct ss_wind_place {
    int segment;
    double share;
} ss_wind_place;

struct ss_world;

// Adds a wind to a world whose drag is set. SS_BAD_INPUT with a sentence for sizes, times and
// weights that cannot be, and where there is no drag.
ss_status ss_world_add_wind(struct ss_world *w, const ss_wind *wind, ss_error *e);
// Finds the places of the samples of the strands from strand `first` on, as they stand now
// (internal: the world does where there are winds).
ss_status ss_wind_find_places(struct ss_world *w, int first, ss_error *e);
// Returns sum W u at a sample of the world, which is at x with this tangent (m/s); 0 without winds.
ss_vec3 ss_wind_felt(const struct ss_world *w, double time, int sample, ss_vec3 x, ss_vec3 tangent);
