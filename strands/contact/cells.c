// The broad phase: see cells.h. All of it works on a lattice of 2^31 points along the largest
// extent, onto which boxes are rounded so that those that overlap still do: comparisons are then
// exact, and a cell is a shift.
#include "strands/contact/cells.h"

#include "base/status.h"
#include "base/team.h"
#include "strands/buffer.h"
#include "strands/contact/collide.h"
#include "strands/contact/proximity.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- Segments of polylines

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

// ---- Boxes that overlap

#define LATTICE        2147480000.0 // points; a little below 2^31, so that rounding stays inside
#define AXIS_CELL_BITS 21           // cells along an axis: three numbers fit into a key of 64 bits

#define DIGIT_BITS 11 // of the sort
#define DIGITS     (1 << DIGIT_BITS)
#define PASSES     3

typedef struct lattice {
    double origin[3], scale;
    int shift; // a cell is 2^shift points wide
    int axis;  // along which the boxes are sorted
} lattice;

// A box on the lattice. Coordinate 0 is the one along the axis of the sort.
typedef struct slot {
    uint32_t lo[3], hi[3];
    int box;
} slot;

typedef struct ranked {
    uint32_t lo;
    int box;
} ranked;

// A box in a cell; with a copy of the slot, as a bucket is read front to back.
typedef struct entry {
    uint64_t cell;
    slot slot;
} entry;

// The boxes are separated best along the axis where they are thin compared with their spread.
static int best_axis(const ss_box *boxes, int nboxes)
{
    int best = 0;
    double best_ratio = -1.0;
    for (int k = 0; k < 3; k++) {
        double sum = 0.0, squares = 0.0, width = 0.0;
        for (int i = 0; i < nboxes; i++) {
            const double place = boxes[i].lo[k] - boxes[0].lo[k];
            sum += place;
            squares += place * place;
            width += boxes[i].hi[k] - boxes[i].lo[k];
        }
        const double ratio = (squares - sum * sum / nboxes) * nboxes / (width * width);
        if (ratio > best_ratio) {
            best = k;
            best_ratio = ratio;
        }
    }
    return best;
}

static lattice lattice_of(const ss_box *boxes, int nboxes)
{
    lattice l = {.axis = best_axis(boxes, nboxes)};
    double extent = 0.0, longest = 0.0;
    for (int k = 0; k < 3; k++) {
        double lo = boxes[0].lo[k], hi = boxes[0].hi[k];
        for (int i = 0; i < nboxes; i++) {
            lo = ss_smaller(lo, boxes[i].lo[k]);
            hi = ss_larger(hi, boxes[i].hi[k]);
            longest = ss_larger(longest, boxes[i].hi[k] - boxes[i].lo[k]);
        }
        l.origin[k] = lo;
        extent = ss_larger(extent, hi - lo);
    }
    l.scale = extent > 1e-200 ? LATTICE / extent : 0.0;
    l.shift = 31 - AXIS_CELL_BITS;
    while (l.shift < 31 && ldexp(1.0, l.shift) < longest * l.scale + 2.0) {
        l.shift++;
    }
    return l;
}

static uint32_t on_lattice(const lattice *l, double x, int axis)
{
    return (uint32_t)((x - l->origin[axis]) * l->scale);
}

// Boxes in the order of their lower ends along the axis, equal ones by number: a radix sort.
static const ranked *sort_boxes(const lattice *l, const ss_box *boxes, int nboxes, ranked *from,
                                ranked *to)
{
    int start[PASSES][DIGITS + 1] = {0};
    for (int i = 0; i < nboxes; i++) {
        from[i] = (ranked){on_lattice(l, boxes[i].lo[l->axis], l->axis), i};
        for (int pass = 0; pass < PASSES; pass++) {
            start[pass][((from[i].lo >> (pass * DIGIT_BITS)) & (DIGITS - 1)) + 1]++;
        }
    }
    for (int pass = 0; pass < PASSES; pass++) {
        for (int k = 0; k < DIGITS; k++) {
            start[pass][k + 1] += start[pass][k];
        }
        for (int i = 0; i < nboxes; i++) {
            to[start[pass][(from[i].lo >> (pass * DIGIT_BITS)) & (DIGITS - 1)]++] = from[i];
        }
        ranked *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

static void fill_slots(const lattice *l, const ss_box *boxes, const ranked *sorted, int nboxes,
                       slot *slots)
{
    for (int i = 0; i < nboxes; i++) {
        const ss_box *box = &boxes[sorted[i].box];
        slots[i].box = sorted[i].box;
        for (int k = 0; k < 3; k++) {
            const int axis = (l->axis + k) % 3;
            slots[i].lo[k] = on_lattice(l, box->lo[axis], axis);
            slots[i].hi[k] = on_lattice(l, box->hi[axis], axis);
        }
    }
}

static uint64_t cell_key(uint32_t i, uint32_t j, uint32_t k)
{
    return ((uint64_t)i << (2 * AXIS_CELL_BITS)) | ((uint64_t)j << AXIS_CELL_BITS) | k;
}

// Calls for every cell of every box, in the order of the slots: counts them by bucket where entries
// is NULL, else puts them there.
static void visit_cells(const slot *slots, int nslots, int shift, uint32_t mask, uint32_t *start,
                        entry *entries)
{
    for (int s = 0; s < nslots; s++) {
        const slot *b = &slots[s];
        for (uint32_t i = b->lo[0] >> shift; i <= b->hi[0] >> shift; i++) {
            for (uint32_t j = b->lo[1] >> shift; j <= b->hi[1] >> shift; j++) {
                for (uint32_t k = b->lo[2] >> shift; k <= b->hi[2] >> shift; k++) {
                    const uint32_t bucket =
                        ((i * 73856093u) ^ (j * 19349663u) ^ (k * 83492791u)) & mask;
                    if (entries == NULL) {
                        start[bucket + 1]++;
                    } else {
                        entries[start[bucket]++] = (entry){cell_key(i, j, k), *b};
                    }
                }
            }
        }
    }
}

// ---- Pairs
//
// Two boxes of a cell overlap where they do along each axis, and meet at home there if along each
// axis the lower end of one of the two lies in it. Entries of a bucket are laid out side by side, a
// tile at a time, and an entry is compared with many of a tile at once.
#define TILE  64
#define LANES 16 // that are compared at once

typedef struct tile {
    int count;
    // The numbers of a slot, all below 2^31; behind the last entry lo0 is above all others.
    int32_t lo0[TILE + LANES], lo1[TILE + LANES], hi1[TILE + LANES], lo2[TILE + LANES],
        hi2[TILE + LANES];
    uint32_t cell[2][TILE + LANES]; // the halves of the key
    uint32_t home[TILE + LANES];    // bit k: the lower end along axis k lies in the cell
    int box[TILE + LANES];
} tile;

#define HOME_ALONG_ALL 7u
#define HOME_ACROSS    6u // the axis of the sort

static uint32_t homes(const entry *e, int shift)
{
    const uint64_t axis_cells = (1u << AXIS_CELL_BITS) - 1;
    uint32_t home = 0;
    for (int k = 0; k < 3; k++) {
        const uint64_t cell = e->cell >> ((2 - k) * AXIS_CELL_BITS) & axis_cells;
        home |= (uint32_t)(e->slot.lo[k] >> shift == cell) << k;
    }
    return home;
}

static void fill_tile(tile *t, const entry *entries, int count, int shift)
{
    t->count = count;
    for (int i = 0; i < count; i++) {
        const slot *s = &entries[i].slot;
        t->lo0[i] = (int32_t)s->lo[0];
        t->lo1[i] = (int32_t)s->lo[1];
        t->hi1[i] = (int32_t)s->hi[1];
        t->lo2[i] = (int32_t)s->lo[2];
        t->hi2[i] = (int32_t)s->hi[2];
        t->cell[0][i] = (uint32_t)entries[i].cell;
        t->cell[1][i] = (uint32_t)(entries[i].cell >> 32);
        t->home[i] = homes(&entries[i], shift);
        t->box[i] = s->box;
    }
    for (int i = count; i < count + LANES; i++) {
        t->lo0[i] = INT32_MAX;
    }
}

// Sets 1 for each of the LANES entries of the tile from `from` on that meets a here; all of them
// are behind a in the order of the sort. True if any does.
static bool meet_here(const tile *t, int from, const entry *a, uint32_t home, int32_t meets[LANES])
{
    const int32_t hi0 = (int32_t)a->slot.hi[0], lo1 = (int32_t)a->slot.lo[1],
                  hi1 = (int32_t)a->slot.hi[1], lo2 = (int32_t)a->slot.lo[2],
                  hi2 = (int32_t)a->slot.hi[2];
    const uint32_t low = (uint32_t)a->cell, high = (uint32_t)(a->cell >> 32);
    int32_t any = 0;
    for (int l = 0; l < LANES; l++) {
        const int j = from + l;
        meets[l] = (t->lo0[j] <= hi0) & (t->lo1[j] <= hi1) & (t->hi1[j] >= lo1) &
                   (t->lo2[j] <= hi2) & (t->hi2[j] >= lo2) & (t->cell[0][j] == low) &
                   (t->cell[1][j] == high) & ((t->home[j] | home) == HOME_ALONG_ALL);
        any |= meets[l];
    }
    return any != 0;
}

// The pairs of an entry with those of a tile from `from` on, all of them behind it. How many.
static size_t list_pairs(const tile *t, int from, const entry *a, int shift, ss_pair *list)
{
    const uint32_t home = homes(a, shift) & HOME_ACROSS;
    const int one = a->slot.box, reach = (int32_t)a->slot.hi[0];
    size_t n = 0;
    for (int j = from; j < t->count && t->lo0[j] <= reach; j += LANES) {
        int32_t meets[LANES];
        if (!meet_here(t, j, a, home, meets)) {
            continue;
        }
        for (int l = 0; l < LANES; l++) {
            const int other = t->box[j + l];
            list[n] = one < other ? (ss_pair){one, other} : (ss_pair){other, one};
            n += (size_t)meets[l];
        }
    }
    return n;
}

// The pairs of one bucket, appended to those before. False without memory.
static bool sweep_bucket(ss_buffer *pairs, size_t *npairs, const entry *entries, int count,
                         int shift, tile *t)
{
    for (int begin = 0; count > 1 && begin < count; begin += TILE) {
        fill_tile(t, entries + begin, count - begin < TILE ? count - begin : TILE, shift);
        for (int i = 0; i < begin + t->count - 1; i++) {
            const int from = i < begin ? 0 : i + 1 - begin;
            ss_pair *list = ss_buffer_room(pairs, (*npairs + TILE + LANES) * sizeof *list);
            if (list == NULL) {
                return false;
            }
            *npairs += list_pairs(t, from, &entries[i], shift, list + *npairs);
        }
    }
    return true;
}

// Buckets: two for every box, a power of two.
static int count_buckets(int nboxes)
{
    int n = 64;
    while (n < (1 << 30) && n / 2 < nboxes) {
        n *= 2;
    }
    return n;
}

// Entries by bucket: those of bucket k begin at start[k]. False without memory.
static bool fill_buckets(ss_cells *c, const slot *slots, int nslots)
{
    const uint32_t mask = (uint32_t)c->nbuckets - 1;
    const size_t nbuckets = (size_t)c->nbuckets;
    uint32_t *start = ss_buffer_room(&c->start, (nbuckets + 2) * sizeof *start);
    if (start == NULL) {
        return false;
    }
    // The counts go one place further on, as the second visit moves each beginning to the next one.
    for (size_t k = 0; k < nbuckets + 2; k++) {
        start[k] = 0;
    }
    visit_cells(slots, nslots, c->shift, mask, start + 1, NULL);
    for (size_t k = 0; k <= nbuckets; k++) {
        start[k + 1] += start[k];
    }
    entry *entries = ss_buffer_room(&c->entries, start[nbuckets + 1] * sizeof *entries);
    if (entries != NULL) {
        visit_cells(slots, nslots, c->shift, mask, start + 1, entries);
    }
    return entries != NULL;
}

ss_status ss_cells_fill(ss_cells *c, const ss_box *boxes, int nboxes, ss_error *e)
{
    c->nbuckets = 0;
    if (nboxes < 2) {
        return SS_OK;
    }
    const size_t n = (size_t)nboxes;
    ranked *sorted = ss_buffer_room(&c->sorted, n * sizeof *sorted);
    ranked *swapped = ss_buffer_room(&c->swapped, n * sizeof *swapped);
    slot *slots = ss_buffer_room(&c->slots, n * sizeof *slots);
    if (sorted == NULL || swapped == NULL || slots == NULL) {
        return ss_fail_memory(e, "the boxes of the segments");
    }
    const lattice l = lattice_of(boxes, nboxes);
    fill_slots(&l, boxes, sort_boxes(&l, boxes, nboxes, sorted, swapped), nboxes, slots);
    c->shift = l.shift;
    c->nbuckets = count_buckets(nboxes);
    return fill_buckets(c, slots, nboxes) ? SS_OK
                                          : ss_fail_memory(e, "the cells of the collision hash");
}

bool ss_cells_pairs(const ss_cells *c, int part, int nparts, ss_buffer *pairs, size_t *npairs)
{
    const entry *entries = c->entries.data;
    const uint32_t *first = c->start.data;
    const int end = ss_team_cut(c->nbuckets, part + 1, nparts);
    tile t = {0}; // what is behind the last entry of a tile has numbers, too
    bool ok = true;
    *npairs = 0;
    for (int k = ss_team_cut(c->nbuckets, part, nparts); k < end && ok; k++) {
        const int count = (int)(first[k + 1] - first[k]);
        ok = sweep_bucket(pairs, npairs, entries + first[k], count, c->shift, &t);
    }
    return ok;
}

void ss_cells_free(ss_cells *c)
{
    ss_buffer_free(&c->sorted);
    ss_buffer_free(&c->swapped);
    ss_buffer_free(&c->slots);
    ss_buffer_free(&c->start);
    ss_buffer_free(&c->entries);
}
