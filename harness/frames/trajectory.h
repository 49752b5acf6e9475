// harness/frames/trajectory.h -- the strands file of a simulation: where everything was, in numbers.
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
// there; the first frame, the start, has none. Attributes of the file: format, scene, model, scheme,
// solver, units, seed, radius, description (the command that repeats the run), producer.
//
// The file is made in memory and replaced whole at the end.
#pragma once

#include "harness/frames/strands.h"
#include "strands/step/step.h"

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
