// harness/simulate/picture.h -- strands and obstacles as a gnuplot script (internal to frames).
#pragma once

#include <stdio.h>
#include "harness/simulate/strands.h"

// How space is seen: a point x is at (right . x, up . x) of the picture, and `towards` leads from
// it to the eye. Window: low and high of both, m.
typedef struct ss_view {
    ss_vec3 right, up, towards; // unit, orthogonal
    double low[2], high[2];
    double size; // m, the larger side of the window
} ss_view;

// Around all strands and obstacles, planes aside, as they are now.
ss_view ss_view_around(const ss_strands *strands);

static inline double ss_view_x(const ss_view *view, ss_vec3 x)
{
    return ss_dot(view->right, x);
}

static inline double ss_view_y(const ss_view *view, ss_vec3 x)
{
    return ss_dot(view->up, x);
}

// Whether an obstacle stands between x and the eye.
bool ss_view_hides(const ss_view *view, const ss_strands *strands, ss_vec3 x);

// The script of one picture, which writes the PNG called `name`.
ss_status ss_picture_write(const ss_view *view, const ss_strands *strands, const char *title,
                           const char *name, FILE *out, ss_error *e);
