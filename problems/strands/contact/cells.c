// The broad phase: see cells.h. All of it works on a lattice of 2^31 points along the largest
// extent, onto which boxes are rounded so that those that overlap still do: comparisons are then
// exact, and a cell is a shift.
#include "problems/strands/contact/cells.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/team.h"
#include "problems/strands/contact/proximity.h"

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

static uint32_t later(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

// Whether the two overlap across the axis of the sort, and the lower corner of their intersection
// lies in the cell of both. Without branches, for their outcome is not to be foreseen.
static bool meet_here(const entry *p, const entry *q, int shift)
{
    const slot *a = &p->slot, *b = &q->slot;
    const uint32_t lo1 = later(a->lo[1], b->lo[1]), lo2 = later(a->lo[2], b->lo[2]);
    const uint64_t home = cell_key(b->lo[0] >> shift, lo1 >> shift, lo2 >> shift);
    return (lo1 <= a->hi[1]) & (lo1 <= b->hi[1]) & (lo2 <= a->hi[2]) & (lo2 <= b->hi[2]) &
           (p->cell == q->cell) & (p->cell == home);
}

// The pairs of one bucket, appended to those before. Later entries have higher lower ends. False
// without memory.
static bool sweep_bucket(ss_buffer *pairs, size_t *npairs, const entry *entries, uint32_t count,
                         int shift)
{
    size_t n = *npairs;
    for (uint32_t i = 0; i + 1 < count; i++) {
        ss_pair *list = ss_buffer_room(pairs, (n + count - i) * sizeof *list);
        if (list == NULL) {
            return false;
        }
        const entry *a = &entries[i];
        for (uint32_t j = i + 1; j < count && entries[j].slot.lo[0] <= a->slot.hi[0]; j++) {
            const int one = a->slot.box, other = entries[j].slot.box;
            list[n] = one < other ? (ss_pair){one, other} : (ss_pair){other, one};
            n += meet_here(a, &entries[j], shift);
        }
    }
    *npairs = n;
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
    // One place further on, for the second visit moves each beginning to the next one.
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
    bool ok = true;
    *npairs = 0;
    for (int k = ss_team_cut(c->nbuckets, part, nparts); k < end && ok; k++) {
        ok = sweep_bucket(pairs, npairs, entries + first[k], first[k + 1] - first[k], c->shift);
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
