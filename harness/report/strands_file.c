// harness/report/strands_file.c -- a strands file read and checked, in a child.
#include "harness/report/strands_reading.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "harness/report/strands.h"

#define MOST_VERTICES 2000000
#define MOST_FRAMES   10000000

bool ss_page_refuse(ss_page_reading *r, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->why, sizeof r->why, format, arguments);
    va_end(arguments);
    return false;
}

static const struct {
    const char *path;
    int rank;
    ss_array_kind kind;
} SETS[SS_PAGE_SETS] = {
    [SS_PAGE_X] = {"/strands/x", 3, SS_ARRAY_REALS},
    [SS_PAGE_TIME] = {"/strands/time", 1, SS_ARRAY_REALS},
    [SS_PAGE_LENGTH] = {"/strands/length", 1, SS_ARRAY_INTEGERS},
    [SS_PAGE_STRAND] = {"/strands/strand", 1, SS_ARRAY_INTEGERS},
    [SS_PAGE_KIND] = {"/obstacles/kind", 1, SS_ARRAY_INTEGERS},
    [SS_PAGE_SIZE] = {"/obstacles/size", 2, SS_ARRAY_REALS},
    [SS_PAGE_POSES] = {"/obstacles/pose", 3, SS_ARRAY_REALS},
    [SS_PAGE_START] = {"/contacts/start", 1, SS_ARRAY_INTEGERS},
    [SS_PAGE_CONTACT_X] = {"/contacts/x", 2, SS_ARRAY_REALS},
    [SS_PAGE_STATUS] = {"/contacts/status", 1, SS_ARRAY_INTEGERS},
    [SS_PAGE_IMPULSE] = {"/contacts/impulse", 2, SS_ARRAY_REALS},
    [SS_PAGE_PAIR] = {"/contacts/strand", 2, SS_ARRAY_INTEGERS},
};

static bool fail_set(ss_page_reading *r, ss_page_set set)
{
    return ss_page_refuse(r, "%s cannot be read: %s", SETS[set].path, r->sets[set].reason);
}

static bool open_sets(ss_page_reading *r, ss_page_set first, ss_page_set last)
{
    for (ss_page_set k = first; k <= last; k++) {
        r->sets[k] =
            (ss_value){.kind = SETS[k].kind, .rank = SETS[k].rank, .allowance = &r->allowance};
        if (!ss_value_open_rows(&r->sets[k], r->file, SETS[k].path)) {
            return fail_set(r, k);
        }
    }
    return true;
}

bool ss_page_read_rows(ss_page_reading *r, ss_page_set set, hid_t type, size_t from, size_t count,
                       void *values)
{
    return ss_value_read_rows(&r->sets[set], type, from, count, values) || fail_set(r, set);
}

void *ss_page_room(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    if (memory == NULL) {
        static const char WORD[] = "Enot enough memory for its frames";
        (void)!write(SS_CHILD_FILE, WORD, sizeof WORD - 1);
        _exit(0);
    }
    return memory;
}

static bool read_shapes(ss_page_reading *r)
{
    const size_t *x = r->sets[SS_PAGE_X].shape, *times = r->sets[SS_PAGE_TIME].shape;
    if (!open_sets(r, SS_PAGE_X, SS_PAGE_STRAND)) {
        return false;
    }
    if (x[0] < 1 || x[0] > MOST_FRAMES || x[1] < 1 || x[1] > MOST_VERTICES || x[2] != 3) {
        return ss_page_refuse(r,
                              "/strands/x has the shape %zu x %zu x %zu: it must hold frames x "
                              "vertices x 3, up to %d vertices",
                              x[0], x[1], x[2], MOST_VERTICES);
    }
    r->frames = x[0];
    r->vertices = x[1];
    if (times[0] != r->frames) {
        return ss_page_refuse(r, "/strands/time has %zu entries for %zu frames", times[0],
                              r->frames);
    }
    r->lines = r->sets[SS_PAGE_LENGTH].shape[0];
    if (r->lines < 1 || r->lines > r->vertices) {
        return ss_page_refuse(r, "/strands/length has %zu polylines of %zu vertices", r->lines,
                              r->vertices);
    }
    return true;
}

// Lengths, and strands in order, so that the vertices of a strand follow each other.
static bool read_lines(ss_page_reading *r)
{
    r->length = ss_page_room(r->lines, sizeof *r->length);
    r->strand = ss_page_room(r->lines, sizeof *r->strand);
    if (!ss_page_read_rows(r, SS_PAGE_LENGTH, H5T_NATIVE_INT, 0, r->lines, r->length) ||
        !ss_page_read_rows(r, SS_PAGE_STRAND, H5T_NATIVE_INT, 0, r->lines, r->strand)) {
        return false;
    }
    r->ends = ss_page_room(r->vertices, sizeof *r->ends);
    r->begin = ss_page_room(r->lines, sizeof *r->begin);
    size_t vertex = 0;
    for (size_t k = 0; k < r->lines; k++) {
        const int before = k > 0 ? r->strand[k - 1] : -1;
        if (r->length[k] < 1 || (size_t)r->length[k] > r->vertices - vertex ||
            (r->strand[k] != before && r->strand[k] != before + 1) || r->strand[k] < 0) {
            return ss_page_refuse(r, "polyline %zu has %d vertices and belongs to strand %d", k,
                                  r->length[k], r->strand[k]);
        }
        if (r->strand[k] != before) {
            r->begin[r->strands++] = vertex;
        }
        vertex += (size_t)r->length[k];
        r->ends[vertex - 1] = true;
    }
    r->begin[r->strands] = vertex;
    return vertex == r->vertices ||
           ss_page_refuse(r, "/strands/length adds up to %zu of %zu vertices", vertex, r->vertices);
}

static bool read_times(ss_page_reading *r)
{
    r->time = ss_page_room(r->frames, sizeof *r->time);
    if (!ss_page_read_rows(r, SS_PAGE_TIME, H5T_NATIVE_DOUBLE, 0, r->frames, r->time)) {
        return false;
    }
    for (size_t k = 0; k < r->frames; k++) {
        if (!isfinite(r->time[k]) || (k > 0 && !(r->time[k] > r->time[k - 1]))) {
            return ss_page_refuse(r, "frame %zu is at %g s, not after the one before", k,
                                  r->time[k]);
        }
    }
    return true;
}

static bool read_obstacles(ss_page_reading *r)
{
    const size_t *kinds = r->sets[SS_PAGE_KIND].shape, *sizes = r->sets[SS_PAGE_SIZE].shape,
                 *poses = r->sets[SS_PAGE_POSES].shape;
    if (ss_h5_find_link(r->file, "obstacles") == SS_LINK_NONE) {
        return true;
    }
    if (!open_sets(r, SS_PAGE_KIND, SS_PAGE_POSES)) {
        return false;
    }
    r->obstacles = kinds[0];
    if (kinds[0] > 1000 || sizes[0] != kinds[0] || sizes[1] != 3 || poses[0] != r->frames ||
        poses[1] != kinds[0] || poses[2] != SS_PAGE_POSE) {
        return ss_page_refuse(r, "the datasets of /obstacles do not fit each other");
    }
    r->kind = ss_page_room(r->obstacles, sizeof *r->kind);
    r->size = ss_page_room(3 * r->obstacles, sizeof *r->size);
    return ss_page_read_rows(r, SS_PAGE_KIND, H5T_NATIVE_INT, 0, r->obstacles, r->kind) &&
           ss_page_read_rows(r, SS_PAGE_SIZE, H5T_NATIVE_DOUBLE, 0, r->obstacles, r->size);
}

static bool read_starts(ss_page_reading *r)
{
    const size_t *starts = r->sets[SS_PAGE_START].shape, *x = r->sets[SS_PAGE_CONTACT_X].shape,
                 *status = r->sets[SS_PAGE_STATUS].shape, *impulse = r->sets[SS_PAGE_IMPULSE].shape,
                 *pair = r->sets[SS_PAGE_PAIR].shape;
    r->start = ss_page_room(r->frames + 1, sizeof *r->start);
    if (ss_h5_find_link(r->file, "contacts") == SS_LINK_NONE) {
        return true;
    }
    if (!open_sets(r, SS_PAGE_START, SS_PAGE_PAIR)) {
        return false;
    }
    if (starts[0] != r->frames + 1 || x[1] != 3 || status[0] != x[0] || impulse[0] != x[0] ||
        impulse[1] != 3 || pair[0] != x[0] || pair[1] != 2) {
        return ss_page_refuse(r, "the datasets of /contacts do not fit each other");
    }
    r->contacts = x[0];
    if (!ss_page_read_rows(r, SS_PAGE_START, H5T_NATIVE_INT64, 0, r->frames + 1, r->start)) {
        return false;
    }
    for (size_t k = 0; k < r->frames; k++) {
        if (r->start[k] < 0 || r->start[k + 1] < r->start[k] ||
            (uint64_t)r->start[k + 1] > r->contacts) {
            return ss_page_refuse(r, "/contacts/start is no list of places at frame %zu", k);
        }
    }
    return true;
}

static void choose_frames(ss_page_reading *r)
{
    const double frame =
        6.0 * (double)r->vertices + (double)r->strands + 4.0 * SS_PAGE_POSE * (double)r->obstacles;
    const double all = frame * (double)r->frames + SS_PAGE_CONTACT * (double)r->contacts;
    r->every = (size_t)fmax(1.0, ceil(all / SS_PAGE_MOST_BYTES));
    r->kept = (r->frames + r->every - 1) / r->every;
}

// Where everything is: the box, and the step of 16 bits.
static bool read_box(ss_page_reading *r)
{
    double high[3] = {-INFINITY, -INFINITY, -INFINITY}, size = 0.0;
    for (int k = 0; k < 3; k++) {
        r->low[k] = INFINITY;
    }
    r->row = ss_page_room(3 * r->vertices, sizeof *r->row);
    for (size_t f = 0; f < r->frames; f += r->every) {
        if (!ss_page_read_rows(r, SS_PAGE_X, H5T_NATIVE_DOUBLE, f, 1, r->row)) {
            return false;
        }
        for (size_t i = 0; i < 3 * r->vertices; i++) {
            if (!(fabs(r->row[i]) <= 1e6)) {
                return ss_page_refuse(r, "vertex %zu of frame %zu is at %g m", i / 3, f, r->row[i]);
            }
            r->low[i % 3] = fmin(r->low[i % 3], r->row[i]);
            high[i % 3] = fmax(high[i % 3], r->row[i]);
        }
    }
    for (int k = 0; k < 3; k++) {
        size = fmax(size, high[k] - r->low[k]);
    }
    r->step = size > 0.0 ? size / 65535.0 : 1e-6;
    return true;
}

bool ss_page_read_file(ss_page_reading *r, int file)
{
    struct stat status;
    r->allowance = ss_allowance_of_file(fstat(file, &status) == 0 ? (uint64_t)status.st_size : 0);
    r->file = ss_h5_open(file);
    if (r->file < 0) {
        return ss_page_refuse(r, "damaged file: libhdf5 cannot open it");
    }
    if (ss_h5_find_link(r->file, "strands") == SS_LINK_NONE) {
        return ss_page_refuse(r, "it contains no /strands; simulate --strands makes such files");
    }
    if (!read_shapes(r) || !read_lines(r) || !read_times(r) || !read_obstacles(r) ||
        !read_starts(r)) {
        return false;
    }
    choose_frames(r);
    return read_box(r);
}
