// harness/frames/frames.h -- a simulation in pictures: for every frame an OBJ file of polylines and
// a PNG.
//
// frame_00000.obj holds the vertices of all strands in the world, in m, and a line element per
// strand, in their order. The PNG beside it shows them from the front and the side, by parallel
// rays: the obstacles as shaded surfaces, the strands as smooth curves through their vertices, as
// thick as they are, shaded as hair is (brightest across the light), those in front drawn last. The
// window is that of the first frame, somewhat enlarged. frame.gp is the gnuplot script of the last
// picture.
#pragma once

#include "harness/frames/trajectory.h"

#include <stdio.h>

// The eye stands at `azimuth` degrees from +z towards +x and `elevation` degrees above the horizon,
// `zoom` times closer to the middle of the strands than where all of them are seen.
typedef struct ss_camera {
    double azimuth, elevation, zoom;
} ss_camera;

static const ss_camera SS_CAMERA = {39.0, 9.0, 1.0}; // the one of --frames

// "AZIMUTH,ELEVATION[,ZOOM]".
ss_status ss_camera_parse(const char *text, ss_camera *camera, ss_error *e);

typedef struct ss_frames ss_frames;

// Makes the folder if there is none. every: s of simulated time between frames. title: of the
// pictures. The strands, which are where the first frame has them, must outlive the frames.
ss_status ss_frames_open(const char *folder, double every, const char *title,
                         const ss_strands *strands, const ss_camera *camera, ss_frames **frames,
                         ss_error *e);
// Whether a frame is to be drawn at this time.
bool ss_frames_due(const ss_frames *frames, double time);
// Draws the next frame: the strands as they were looked at last.
ss_status ss_frames_draw(ss_frames *frames, ss_error *e);
void ss_frames_free(ss_frames *frames);

// ---- The view (internal, and for tests)

// How space is seen: a point x is at (right . x, up . x) of the picture, and `towards` leads from
// it to the eye. Window: low and high of both, m.
typedef struct ss_view {
    ss_vec3 right, up, towards; // unit, orthogonal
    double low[2], high[2];
    double size; // m, the larger side of the window
} ss_view;

static inline double ss_view_x(const ss_view *view, ss_vec3 x)
{
    return ss_dot(view->right, x);
}

static inline double ss_view_y(const ss_view *view, ss_vec3 x)
{
    return ss_dot(view->up, x);
}

// ---- For tests

int ss_frames_count(const ss_frames *frames);

// Around all strands and obstacles as they are now, and where strands may come to lie on a plane.
ss_view ss_view_around(const ss_strands *strands, const ss_camera *camera);

// Whether an obstacle is between x and the eye.
bool ss_view_hides(const ss_view *view, const ss_strands *strands, ss_vec3 x);
