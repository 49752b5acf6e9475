// harness/frames/strands.h -- the strands of a running world as they are seen from outside: where
// they are, and what is measured of that.
#pragma once

#include "strands/world.h"

typedef struct ss_tip {
    ss_vec3 x;
    int strand;
} ss_tip;

typedef struct ss_strands {
    const ss_world *world; // borrowed
    double time;           // s
    ss_snapshot at;        // everything at that time
    double start_length;   // m, of all polylines at the first look
    ss_tip *tips;          // [nstrands] scratch: all tips, sorted
    int *rank;             // [nstrands] scratch: the places of the strands among them
} ss_strands;

// Looks at the world as it is. It must not get strands or obstacles afterwards.
ss_status ss_strands_new(const ss_world *world, ss_strands **strands, ss_error *e);
void ss_strands_free(ss_strands *s);
void ss_strands_look(ss_strands *s);
// The same for what is asked of tips alone, below: of many strands most are left where they were.
// Where x, the points of the world as it is now, are known, tips are taken from them, and of velocities there is
// that of strand 0 alone; else NULL.
void ss_strands_look_at_tips(ss_strands *s, const ss_vec3 *x);

ss_vec3 ss_strands_tip(const ss_strands *s, int strand);          // m
ss_vec3 ss_strands_tip_velocity(const ss_strands *s, int strand); // m/s, in the world
// m, mean distance between the tips of two strands; NaN for one strand. Of more than 2000 strands
// 2000 stand for all, evenly spaced in their list: n^2 distances would cost as much as a step.
double ss_strands_dispersion(const ss_strands *s);
// m, rms distance of the vertices to their places in the natural shape, where the roots are now: of strands
// that the world keeps designs by vertices of, and whose models have these vertices. NaN without one.
double ss_strands_unrest(const ss_strands *s);
// m, mean distance of the tip of a strand to the nearest other one, of 2000 strands, evenly spaced in their
// list, to all. NaN for one strand, and for more than 20 000, of which no tip is looked at but those 2000.
double ss_strands_tip_gap(const ss_strands *s);
// Of polylines that are `length` m in all now, against the first look.
double ss_strands_stretch_percent(const ss_strands *s, double length);
