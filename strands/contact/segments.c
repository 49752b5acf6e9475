#include "strands/contact/segments.h"

#include <math.h>

#include "strands/contact/proximity.h"

// Beyond it squares of distances no longer fit into a double, and no scene is meant.
#define COORDINATE_MAX 1e100 // m
// Share of the largest coordinate by which boxes are larger than they must be: the distance of two
// segments is rounded too.
#define ROUNDING 1e-12

// The largest coordinate of the vertices so far, or infinity for a vertex that is no place.
static double with_vertex(double largest, ss_vec3 x)
{
    const double size[3] = {fabs(x.x), fabs(x.y), fabs(x.z)};
    for (int k = 0; k < 3; k++) {
        if (!(size[k] < COORDINATE_MAX)) {
            return INFINITY;
        }
        largest = ss_larger(largest, size[k]);
    }
    return largest;
}

ss_status ss_segments_check(const ss_polylines *lines, double margin, double *largest, ss_error *e)
{
    if (!(lines->radius >= 0.0 && margin >= 0.0 && lines->radius + margin < COORDINATE_MAX)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "collision radius %g m and margin %g m must be finite and not negative",
                       lines->radius, margin);
    }
    for (int k = 0; k < lines->nstrands; k++) {
        for (int v = lines->first[k]; v < lines->first[k + 1]; v++) {
            *largest = with_vertex(*largest, lines->x[v]);
            *largest = lines->moved != NULL ? with_vertex(*largest, lines->moved[v]) : *largest;
            if (!(*largest < COORDINATE_MAX)) {
                return ss_fail(
                    e, SS_BAD_INPUT,
                    "vertex %d of strand %d is not finite: the motion has exploded, take "
                    "smaller steps",
                    v - lines->first[k], k);
            }
        }
    }
    return SS_OK;
}

size_t ss_segments_room(const ss_polylines *lines)
{
    return lines->nstrands > 0 ? (size_t)(lines->first[lines->nstrands] - lines->first[0]) : 0;
}

int ss_segments_list(const ss_polylines *lines, ss_segment *list)
{
    int count = 0;
    for (int k = 0; k < lines->nstrands; k++) {
        for (int v = lines->first[k]; v + 1 < lines->first[k + 1]; v++) {
            if (!ss_begins_branch(lines, v + 1)) {
                list[count++] = (ss_segment){k, v - lines->first[k], v};
            }
        }
    }
    return count;
}

static void widen(ss_box *box, ss_vec3 x, double by)
{
    const double place[3] = {x.x, x.y, x.z};
    for (int k = 0; k < 3; k++) {
        box->lo[k] = ss_smaller(box->lo[k], place[k] - by);
        box->hi[k] = ss_larger(box->hi[k], place[k] + by);
    }
}

void ss_segments_boxes(const ss_polylines *lines, double margin, double largest,
                       const ss_segment *segments, int n, ss_box *boxes)
{
    const double by = lines->radius + 0.5 * margin + ROUNDING * largest;
    for (int i = 0; i < n; i++) {
        boxes[i] = (ss_box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
        for (int v = segments[i].vertex; v <= segments[i].vertex + 1; v++) {
            widen(&boxes[i], lines->x[v], by);
            if (lines->moved != NULL) {
                widen(&boxes[i], lines->moved[v], by);
            }
        }
    }
}
