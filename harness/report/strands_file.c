// harness/report/strands_file.c -- a strands file read and checked, in a child.
#include "harness/report/strands_reading.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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

// The shape of a dataset of that rank. shape[rank] and further are left as they are.
static bool shape_of(ss_page_reading *r, const char *name, int rank, hsize_t shape[3])
{
    const hid_t set = H5Dopen2(r->file, name, H5P_DEFAULT);
    const hid_t space = set >= 0 ? H5Dget_space(set) : -1;
    const bool ok = space >= 0 && H5Sget_simple_extent_ndims(space) == rank &&
                    H5Sget_simple_extent_dims(space, shape, NULL) == rank;
    H5Sclose(space);
    H5Dclose(set);
    return ok || ss_page_refuse(r, "the dataset %s is missing or has another shape", name);
}

bool ss_page_read_rows(ss_page_reading *r, const char *name, hid_t type, size_t from, size_t count,
                       void *values)
{
    const hid_t set = H5Dopen2(r->file, name, H5P_DEFAULT);
    const hid_t all = set >= 0 ? H5Dget_space(set) : -1;
    hsize_t size[3] = {0}, begin[3] = {from, 0, 0};
    const int rank = all >= 0 ? H5Sget_simple_extent_dims(all, size, NULL) : -1;
    bool ok = rank > 0 && from + count <= size[0];
    size[0] = count;
    const hid_t part = ok ? H5Screate_simple(rank, size, NULL) : -1;
    ok = ok &&
         (count == 0 || (H5Sselect_hyperslab(all, H5S_SELECT_SET, begin, NULL, size, NULL) >= 0 &&
                         H5Dread(set, type, part, all, H5P_DEFAULT, values) >= 0));
    H5Sclose(part);
    H5Sclose(all);
    H5Dclose(set);
    return ok || ss_page_refuse(r, "damaged file: %s cannot be read", name);
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
    hsize_t x[3] = {0}, one[3] = {0};
    if (!shape_of(r, "/strands/x", 3, x)) {
        return false;
    }
    if (x[0] < 1 || x[0] > MOST_FRAMES || x[1] < 1 || x[1] > MOST_VERTICES || x[2] != 3) {
        return ss_page_refuse(r,
                              "/strands/x has the shape %llu x %llu x %llu: it must hold frames x "
                              "vertices x 3, up to %d vertices",
                              (unsigned long long)x[0], (unsigned long long)x[1],
                              (unsigned long long)x[2], MOST_VERTICES);
    }
    r->frames = x[0];
    r->vertices = x[1];
    if (!shape_of(r, "/strands/time", 1, one)) {
        return false;
    }
    if (one[0] != r->frames) {
        return ss_page_refuse(r, "/strands/time has %llu entries for %zu frames",
                              (unsigned long long)one[0], r->frames);
    }
    if (!shape_of(r, "/strands/length", 1, one)) {
        return false;
    }
    r->lines = one[0];
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
    if (!ss_page_read_rows(r, "/strands/length", H5T_NATIVE_INT, 0, r->lines, r->length) ||
        !ss_page_read_rows(r, "/strands/strand", H5T_NATIVE_INT, 0, r->lines, r->strand)) {
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
    if (!ss_page_read_rows(r, "/strands/time", H5T_NATIVE_DOUBLE, 0, r->frames, r->time)) {
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
    hsize_t kinds[3] = {0}, sizes[3] = {0}, poses[3] = {0};
    if (H5Lexists(r->file, "/obstacles", H5P_DEFAULT) <= 0) {
        return true;
    }
    if (!shape_of(r, "/obstacles/kind", 1, kinds) || !shape_of(r, "/obstacles/size", 2, sizes) ||
        !shape_of(r, "/obstacles/pose", 3, poses)) {
        return false;
    }
    r->obstacles = kinds[0];
    if (kinds[0] > 1000 || sizes[0] != kinds[0] || sizes[1] != 3 || poses[0] != r->frames ||
        poses[1] != kinds[0] || poses[2] != SS_PAGE_POSE) {
        return ss_page_refuse(r, "the datasets of /obstacles do not fit each other");
    }
    r->kind = ss_page_room(r->obstacles, sizeof *r->kind);
    r->size = ss_page_room(3 * r->obstacles, sizeof *r->size);
    return ss_page_read_rows(r, "/obstacles/kind", H5T_NATIVE_INT, 0, r->obstacles, r->kind) &&
           ss_page_read_rows(r, "/obstacles/size", H5T_NATIVE_DOUBLE, 0, r->obstacles, r->size);
}

static bool read_starts(ss_page_reading *r)
{
    hsize_t starts[3] = {0}, x[3] = {0}, status[3] = {0}, impulse[3] = {0}, strand[3] = {0};
    r->start = ss_page_room(r->frames + 1, sizeof *r->start);
    if (H5Lexists(r->file, "/contacts", H5P_DEFAULT) <= 0) {
        return true;
    }
    if (!shape_of(r, "/contacts/start", 1, starts) || !shape_of(r, "/contacts/x", 2, x) ||
        !shape_of(r, "/contacts/status", 1, status) ||
        !shape_of(r, "/contacts/impulse", 2, impulse) ||
        !shape_of(r, "/contacts/strand", 2, strand)) {
        return false;
    }
    if (starts[0] != r->frames + 1 || x[1] != 3 || status[0] != x[0] || impulse[0] != x[0] ||
        impulse[1] != 3 || strand[0] != x[0] || strand[1] != 2) {
        return ss_page_refuse(r, "the datasets of /contacts do not fit each other");
    }
    r->contacts = x[0];
    if (!ss_page_read_rows(r, "/contacts/start", H5T_NATIVE_INT64, 0, r->frames + 1, r->start)) {
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
        if (!ss_page_read_rows(r, "/strands/x", H5T_NATIVE_DOUBLE, f, 1, r->row)) {
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

bool ss_page_read_file(ss_page_reading *r)
{
    H5open();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5PLset_loading_state(0);
    H5Lunregister(H5L_TYPE_EXTERNAL);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_file_locking(access, false, true);
    r->file = H5Fopen(r->path, H5F_ACC_RDONLY, access);
    if (r->file < 0) {
        return ss_page_refuse(r, "damaged file: libhdf5 cannot open it");
    }
    if (H5Lexists(r->file, "/strands", H5P_DEFAULT) <= 0) {
        return ss_page_refuse(r, "it contains no /strands; simulate --strands makes such files");
    }
    if (!read_shapes(r) || !read_lines(r) || !read_times(r) || !read_obstacles(r) ||
        !read_starts(r)) {
        return false;
    }
    choose_frames(r);
    return read_box(r);
}
