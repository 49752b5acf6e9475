// strands/step/contact_dofs.c -- see contact_dofs.h.
#include "strands/step/contact_dofs.h"

#include <string.h>

// Room of one entry of a part.
#define PART_ENTRY (sizeof(double[3]) + sizeof(int))

size_t ss_contact_room(int widest)
{
    return 2 * (size_t)(widest + 1) * PART_ENTRY;
}

ss_contact_dofs ss_contact_dofs_in(void *room, int widest)
{
    const int n = widest + 1;
    double *J = room;
    int *dof = (int *)(J + 6 * n);
    return (ss_contact_dofs){.of = {{.dof = dof, .J = {J, J + n, J + 2 * n}},
                                    {.dof = dof + n, .J = {J + 3 * n, J + 4 * n, J + 5 * n}}}};
}

// ---- Dofs in ranges

// The free place of the first dof of a point, or -1 where its dofs are not some free ones that follow each other.
static int first_place(const int *place, const ss_strand_point *p)
{
    if (p->dofs != NULL || p->count == 0) {
        return -1;
    }
    const int first = place[p->first], last = place[p->first + p->count - 1];
    return first >= 0 && last - first == p->count - 1 ? first : -1;
}

// Most strands have such points: then what follows is needed for no other.
static bool find_ranges(const ss_step_parts *in, const ss_strand_point *end, ss_contact_part *p)
{
    const int *place = in->systems->place + in->world->strands[p->strand].v;
    const int first = first_place(place, &end[0]), second = first_place(place, &end[1]);
    p->ranges = first >= 0 && second >= first;
    if (!p->ranges) {
        return false;
    }
    p->second = second <= first + end[0].count ? second - first : end[0].count;
    const int last = p->second + end[1].count;
    p->count = last > end[0].count ? last : end[0].count;
    for (int j = 0; j < end[0].count; j++) {
        p->dof[j] = first + j;
    }
    for (int j = 0; j < end[1].count; j++) {
        p->dof[p->second + j] = second + j;
    }
    return true;
}

static void add_range(double weight, const ss_strand_point *point, int from, ss_contact_part *p)
{
    for (int c = 0; c < 3; c++) {
        const double *restrict x = point->J + c * point->count;
        double *restrict J = p->J[c] + from;
        for (int j = 0; j < point->count; j++) {
            J[j] += weight * x[j];
        }
    }
}

// ---- Any dofs

// The free dofs of a point are merged into the part's.
static void add_dofs(const ss_step_parts *in, const ss_strand_point *point, ss_contact_part *p)
{
    const int *place = in->systems->place + in->world->strands[p->strand].v;
    int at = 0;
    for (int j = 0; j < point->count; j++) {
        const int dof = place[ss_point_dof(point, j)];
        while (at < p->count && p->dof[at] < dof) {
            at++;
        }
        if (dof < 0 || (at < p->count && p->dof[at] == dof)) {
            continue; // held: its part of u is in w
        }
        memmove(p->dof + at + 1, p->dof + at, (size_t)(p->count - at) * sizeof *p->dof);
        p->dof[at] = dof;
        p->count++;
    }
}

// J += weight x that of the point, whose dofs are among the part's.
static void add_point(const ss_step_parts *in, double weight, const ss_strand_point *point,
                      ss_contact_part *p)
{
    const int *place = in->systems->place + in->world->strands[p->strand].v;
    const double *x = point->J, *y = x + point->count, *z = y + point->count;
    int at = 0;
    for (int j = 0; j < point->count; j++) {
        const int dof = place[ss_point_dof(point, j)];
        if (dof < 0) {
            continue;
        }
        while (p->dof[at] < dof) {
            at++;
        }
        p->J[0][at] += weight * x[j];
        p->J[1][at] += weight * y[j];
        p->J[2][at] += weight * z[j];
    }
}

// ---- A contact

static void add_segment(const ss_step_parts *in, const ss_strand_point *end, ss_contact_part *p)
{
    if (p->count == 0 && find_ranges(in, end, p)) {
        return;
    }
    p->ranges = false; // of two segments of one strand no range is known
    add_dofs(in, &end[0], p);
    add_dofs(in, &end[1], p);
}

void ss_contact_find(const ss_step_parts *in, const ss_touch *t, ss_contact_dofs *d)
{
    d->of[0].strand = t->strand_a;
    d->of[0].count = d->of[1].count = 0;
    d->count = t->strand_b < 0 || t->strand_b == t->strand_a ? 1 : 2;
    add_segment(in, ss_segment_ends(in, t->strand_a, t->segment_a), &d->of[0]);
    if (t->strand_b >= 0) {
        ss_contact_part *other = &d->of[d->count - 1];
        other->strand = t->strand_b;
        add_segment(in, ss_segment_ends(in, t->strand_b, t->segment_b), other);
    }
}

// J += that of the points of a segment.
static void add_ends(const ss_step_parts *in, const ss_strand_point *end, double first,
                     double second, ss_contact_part *p)
{
    if (p->ranges) {
        add_range(first, &end[0], 0, p);
        add_range(second, &end[1], p->second, p);
    } else {
        add_point(in, first, &end[0], p);
        add_point(in, second, &end[1], p);
    }
}

void ss_contact_fill(const ss_step_parts *in, const ss_touch *t, ss_contact_dofs *d)
{
    ss_contact_find(in, t, d);
    for (int k = 0; k < d->count; k++) {
        for (int c = 0; c < 3; c++) {
            memset(d->of[k].J[c], 0, (size_t)d->of[k].count * sizeof *d->of[k].J[c]);
        }
    }
    add_ends(in, ss_segment_ends(in, t->strand_a, t->segment_a), 1.0 - t->a, t->a, &d->of[0]);
    if (t->strand_b >= 0) {
        add_ends(in, ss_segment_ends(in, t->strand_b, t->segment_b), t->b - 1.0, -t->b,
                 &d->of[d->count - 1]);
    }
}

#define AHEAD_POINTS 8 // contacts
#define AHEAD_J      4

void ss_contact_ask(const ss_step_parts *in, int i)
{
    const ss_touch *t = in->touches;
    if (i + AHEAD_POINTS < in->count && t[i + AHEAD_POINTS].strand_b >= 0) {
        const ss_touch *far = &t[i + AHEAD_POINTS];
        const ss_strand_point *end = ss_segment_ends(in, far->strand_b, far->segment_b);
        __builtin_prefetch(&end[0]);
        __builtin_prefetch(&end[1].J);
    }
    if (i + AHEAD_J < in->count && t[i + AHEAD_J].strand_b >= 0) {
        const ss_touch *near = &t[i + AHEAD_J];
        const ss_strand_point *end = ss_segment_ends(in, near->strand_b, near->segment_b);
        for (int k = 0; k < 2; k++) {
            for (int j = 0; j < 3 * end[k].count; j += 8) {
                __builtin_prefetch(end[k].J + j);
            }
        }
    }
}
