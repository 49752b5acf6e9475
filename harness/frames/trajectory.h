// harness/frames/trajectory.h -- the strands file of a simulation: where everything was, in
// numbers.
//
// An HDF5 file that other programs read; all lengths in m, times in s, impulses in N s.
//     /strands/length  [lines]               vertices of each polyline; they follow each other in x
//     /strands/strand  [lines]               the strand that the polyline belongs to
//     /strands/time    [frames]
//     /strands/x       [frames][vertices][3] in the world, a chunk per frame, shuffled and deflated
//     /obstacles/kind  [obstacles]           0 sphere, 1 ellipsoid, 2 plane, 3 cylinder, 4 capsule
//     /obstacles/size  [obstacles][3]        of the shape in its own frame (contact/obstacle.h)
//     /obstacles/pose  [frames][obstacles][12]  place, then the turned axes x, y, z of that frame
//     /contacts/start  [frames + 1]          contacts of frame f are start[f] .. start[f + 1] - 1
//     /contacts/x      [contacts][3]         on the first strand, in the world
//     /contacts/status [contacts]            0 open (r_N = 0), 1 sticking, 2 sliding
//     /contacts/impulse [contacts][3]        on the first strand, in the world, over the step
//     /contacts/strand [contacts][2]         the strands; -1 for an obstacle
// /obstacles is missing if there are none. The contacts of a frame are those of the step that ended
// there; the first frame, the start, has none. Attributes of the file: format, scene, model,
// scheme, solver, units, seed, radius, description (the command that repeats the run), producer.
//
// The file is made in memory and replaced whole at the end.
#pragma once

#include "strands/world.h"
#include "strands/step/step.h"

// ---- strands

// the strands of a running world as they are seen from outside: where
// they are, and what is measured of that.

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
// Where x, the points of the world as it is now, are known, tips are taken from them, and of
// velocities there is that of strand 0 alone; else NULL.
void ss_strands_look_at_tips(ss_strands *s, const ss_vec3 *x);

ss_vec3 ss_strands_tip(const ss_strands *s, int strand);          // m
ss_vec3 ss_strands_tip_velocity(const ss_strands *s, int strand); // m/s, in the world
// Returns the mean distance between the tips of two strands in m; NaN for one strand. If there are
// more than 2000 strands, 2000 of them, evenly spaced in their list, stand for all: n^2 distances
// would cost as much as a step.
double ss_strands_dispersion(const ss_strands *s);
// m, rms distance of the vertices to their places in the natural shape, where the roots are now: of
// strands that the world keeps designs by vertices of, and whose models have these vertices. NaN
// without one.
double ss_strands_unrest(const ss_strands *s);
// m, mean distance of the tip of a strand to the nearest other one, of 2000 strands, evenly spaced
// in their list, to all. NaN for one strand, and for more than 20 000, of which no tip is looked at
// but those 2000.
double ss_strands_tip_gap(const ss_strands *s);
// Returns how much longer polylines of `length` m in all are than at the first look.
double ss_strands_stretch_percent(const ss_strands *s, double length);

typedef struct ss_trajectory ss_trajectory;

typedef struct ss_trajectory_source {
    const char *scene, *model, *scheme, *solver, *description;
    uint64_t seed;
    double every; // s of simulated time between frames
} ss_trajectory_source;

// The first frame is the strands as they are, which must outlive the trajectory.
ss_status ss_trajectory_open(const char *path, const ss_trajectory_source *source,
                             const ss_strands *strands, ss_trajectory **trajectory, ss_error *e);
// Whether a frame is to be added at this time.
bool ss_trajectory_due(const ss_trajectory *trajectory, double time);
// The strands as they were looked at last, and the contacts of the step that ended there.
ss_status ss_trajectory_add(ss_trajectory *trajectory, const ss_stepper *stepper, ss_error *e);
// Writes the file, unless no frame was added, and frees everything; takes NULL.
ss_status ss_trajectory_close(ss_trajectory *trajectory, ss_error *e);
