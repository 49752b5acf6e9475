// harness/frames/trajectory.c -- see trajectory.h. A series is a dataset that grows by rows.
#include "harness/frames/trajectory.h"

#include <stdlib.h>
#include <string.h>

#include "base/save.h"
#include "harness/record/machine.h"
#include "problems/store/h5_write.h"

#define FORMAT        1
#define DEFLATE_LEVEL 4
// Rows in a chunk of a series that has short ones.
#define CHUNK_ROWS 4096

// A contact slides if |r_T| is above this share of mu r_N: impulses are good to the tolerance of the
// solver, 1e-4 by default.
#define SLIDING_SHARE 0.999

enum { OPEN, STICKING, SLIDING };

typedef struct series {
    hid_t set;
    hid_t memory; // type of the values that are added
    int rank;
    hsize_t size[3]; // rows so far, and the size of a row
} series;

struct ss_trajectory {
    const ss_strands *strands;
    char *path;
    double every;
    int frames;
    hid_t file, groups[3];
    series time, x, pose, start, contact_x, contact_status, impulse, contact_strand;
    double *row; // scratch: 3 npoints, or 12 nobstacles
};

// ---- Series

// columns[0] and columns[1] are the size of a row; a rank of 1 has none.
static bool series_open(hid_t group, const char *name, hid_t stored, hid_t memory, int rank,
                        const hsize_t columns[2], hsize_t chunk_rows, series *s)
{
    *s = (series){.set = -1, .memory = memory, .rank = rank, .size = {0, columns[0], columns[1]}};
    const hsize_t most[3] = {H5S_UNLIMITED, columns[0], columns[1]};
    const hsize_t chunk[3] = {chunk_rows, columns[0], columns[1]};
    const hid_t space = H5Screate_simple(rank, s->size, most);
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    if (space >= 0 && list >= 0 && H5Pset_obj_track_times(list, false) >= 0 &&
        H5Pset_chunk(list, rank, chunk) >= 0 && H5Pset_shuffle(list) >= 0 &&
        H5Pset_deflate(list, DEFLATE_LEVEL) >= 0) {
        s->set = H5Dcreate2(group, name, stored, space, H5P_DEFAULT, list, H5P_DEFAULT);
    }
    H5Pclose(list);
    H5Sclose(space);
    return s->set >= 0;
}

static bool series_add(series *s, hsize_t rows, const void *values)
{
    if (rows == 0) {
        return true;
    }
    const hsize_t from[3] = {s->size[0], 0, 0}, count[3] = {rows, s->size[1], s->size[2]};
    s->size[0] += rows;
    if (H5Dset_extent(s->set, s->size) < 0) {
        return false;
    }
    const hid_t all = H5Dget_space(s->set), part = H5Screate_simple(s->rank, count, NULL);
    const bool ok = all >= 0 && part >= 0 &&
                    H5Sselect_hyperslab(all, H5S_SELECT_SET, from, NULL, count, NULL) >= 0 &&
                    H5Dwrite(s->set, s->memory, part, all, H5P_DEFAULT, values) >= 0;
    H5Sclose(part);
    H5Sclose(all);
    return ok;
}

// ---- What does not change

static int count_lines(const ss_world *w)
{
    int lines = w->nstrands;
    for (int k = 0; k < w->nstrands; k++) {
        const ss_strand_size *size = &w->strands[k].size;
        for (int i = 1; i < size->npoints; i++) {
            lines += ss_is_branch(size, i);
        }
    }
    return lines;
}

static bool write_lengths(hid_t group, const ss_world *w)
{
    const int lines = count_lines(w);
    int *length = malloc(2 * (size_t)lines * sizeof *length), line = 0;
    if (length == NULL) {
        return false;
    }
    int *strand = length + lines;
    for (int k = 0; k < w->nstrands; k++) {
        const ss_strand_size *size = &w->strands[k].size;
        for (int from = 0; from < size->npoints; from += length[line++]) {
            length[line] = ss_line_end(size, from) - from;
            strand[line] = k;
        }
    }
    const bool ok = ss_h5_write_ints(group, "length", (size_t)lines, length) &&
                    ss_h5_write_ints(group, "strand", (size_t)lines, strand);
    free(length);
    return ok;
}

static bool write_obstacles(hid_t group, const ss_world *w)
{
    const size_t n = (size_t)w->nobstacles;
    int *kind = malloc(n * sizeof *kind);
    double *size = malloc(3 * n * sizeof *size);
    for (size_t k = 0; kind != NULL && size != NULL && k < n; k++) {
        const ss_vec3 s = w->obstacles[k].size;
        kind[k] = (int)w->obstacles[k].kind;
        memcpy(size + 3 * k, (double[]){s.x, s.y, s.z}, 3 * sizeof *size);
    }
    const hsize_t shape[2] = {n, 3};
    const hid_t space = H5Screate_simple(2, shape, NULL);
    const hid_t set = space >= 0 && size != NULL ? H5Dcreate2(group, "size", H5T_IEEE_F64LE, space,
                                                              H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)
                                                 : -1;
    const bool ok = kind != NULL && set >= 0 && ss_h5_write_ints(group, "kind", n, kind) &&
                    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, size) >= 0;
    H5Dclose(set);
    H5Sclose(space);
    free(kind);
    free(size);
    return ok;
}

static bool write_source(hid_t file, const ss_trajectory_source *source, const ss_world *w)
{
    char build[64];
    ss_machine_build(build, sizeof build);
    return ss_h5_put_int(file, "format", FORMAT) && ss_h5_put_text(file, "scene", source->scene) &&
           ss_h5_put_text(file, "model", source->model) &&
           ss_h5_put_text(file, "scheme", source->scheme) &&
           ss_h5_put_text(file, "solver", source->solver) &&
           ss_h5_put_text(file, "units", "m s kg") && ss_h5_put_seed(file, "seed", source->seed) &&
           ss_h5_put_double(file, "radius", w->radius) &&
           ss_h5_put_text(file, "description", source->description) &&
           ss_h5_put_text(file, "producer", build);
}

// ---- Frames

static bool open_series(ss_trajectory *t)
{
    const ss_world *w = t->strands->world;
    const hid_t real = H5T_IEEE_F64LE, to_real = H5T_NATIVE_DOUBLE;
    const hsize_t none[2] = {0, 0}, triple[2] = {3, 0}, pair[2] = {2, 0};
    const hsize_t points[2] = {(hsize_t)w->npoints, 3}, poses[2] = {(hsize_t)w->nobstacles, 12};
    const hid_t strands = t->groups[0], contacts = t->groups[1], obstacles = t->groups[2];
    return series_open(strands, "time", real, to_real, 1, none, CHUNK_ROWS, &t->time) &&
           series_open(strands, "x", real, to_real, 3, points, 1, &t->x) &&
           series_open(contacts, "start", H5T_STD_I64LE, H5T_NATIVE_LONG, 1, none, CHUNK_ROWS,
                       &t->start) &&
           series_open(contacts, "x", real, to_real, 2, triple, CHUNK_ROWS, &t->contact_x) &&
           series_open(contacts, "status", H5T_STD_I8LE, H5T_NATIVE_INT, 1, none, CHUNK_ROWS,
                       &t->contact_status) &&
           series_open(contacts, "impulse", real, to_real, 2, triple, CHUNK_ROWS, &t->impulse) &&
           series_open(contacts, "strand", H5T_STD_I32LE, H5T_NATIVE_INT, 2, pair, CHUNK_ROWS,
                       &t->contact_strand) &&
           (w->nobstacles == 0 ||
            series_open(obstacles, "pose", real, to_real, 3, poses, 1, &t->pose));
}

static void put(double *to, ss_vec3 x)
{
    to[0] = x.x;
    to[1] = x.y;
    to[2] = x.z;
}

static bool add_places(ss_trajectory *t)
{
    const ss_world *w = t->strands->world;
    const double time = t->strands->time;
    for (int i = 0; i < w->npoints; i++) {
        put(t->row + 3 * (size_t)i, t->strands->at.x[i]);
    }
    bool ok = series_add(&t->time, 1, &time) && series_add(&t->x, 1, t->row);
    for (int k = 0; k < w->nobstacles; k++) {
        const ss_pose *pose = &t->strands->at.obstacles[k];
        put(t->row + 12 * (size_t)k, pose->place);
        for (int j = 0; j < 3; j++) {
            put(t->row + 12 * (size_t)k + 3 * (size_t)(j + 1), pose->turn.c[j]);
        }
    }
    if (w->nobstacles > 0) {
        ok = ok && series_add(&t->pose, 1, t->row);
    }
    t->frames += ok;
    return ok;
}

// Where the contact is on its first strand now.
static ss_vec3 contact_place(const ss_strands *s, const ss_touch *touch)
{
    const ss_vec3 *x = s->at.x + s->world->strands[touch->strand_a].point + touch->segment_a;
    return ss_along(ss_scaled(1.0 - touch->a, x[0]), touch->a, x[1]);
}

static int contact_status(double mu, const double r[3])
{
    return !(r[0] > 0.0)                                    ? OPEN
           : hypot(r[1], r[2]) >= SLIDING_SHARE * mu * r[0] ? SLIDING
                                                            : STICKING;
}

static bool add_contacts(ss_trajectory *t, const ss_stepper *stepper, ss_error *e)
{
    const double *r, *v;
    int count;
    const ss_problem *p = ss_stepper_problem(stepper, &r, &v);
    const ss_touch *touches = ss_stepper_touches(stepper, &count);
    const ss_mat3 *E = ss_stepper_frames(stepper);
    const size_t n = p != NULL ? (size_t)count : 0;
    double *x = malloc((6 * n + 1) * sizeof *x), *impulse = x != NULL ? x + 3 * n : NULL;
    int *status = malloc((3 * n + 1) * sizeof *status),
        *strand = status != NULL ? status + n : NULL;
    if (x == NULL || status == NULL) {
        free(x);
        free(status);
        return ss_fail_memory(e, "the contacts of a frame") == SS_OK;
    }
    for (size_t i = 0; i < n; i++) {
        put(x + 3 * i, contact_place(t->strands, &touches[i]));
        put(impulse + 3 * i, ss_turned(&E[i], ss_vec(r[3 * i], r[3 * i + 1], r[3 * i + 2])));
        status[i] = contact_status(p->mu[i], r + 3 * i);
        strand[2 * i] = touches[i].strand_a;
        strand[2 * i + 1] = touches[i].strand_b;
    }
    const bool ok = series_add(&t->contact_x, n, x) && series_add(&t->impulse, n, impulse) &&
                    series_add(&t->contact_status, n, status) &&
                    series_add(&t->contact_strand, n, strand);
    const long end = (long)t->contact_x.size[0];
    free(x);
    free(status);
    return ok && series_add(&t->start, 1, &end);
}

bool ss_trajectory_due(const ss_trajectory *t, double time)
{
    // Steps do not hit the times of frames to the last bit.
    return time >= (t->frames - 1e-6) * t->every;
}

static ss_status fail_write(const ss_trajectory *t, ss_error *e)
{
    return ss_fail(e, SS_SYSTEM, "%s: a frame cannot be kept: memory is short", t->path);
}

ss_status ss_trajectory_add(ss_trajectory *t, const ss_stepper *stepper, ss_error *e)
{
    const ss_h5_quiet before = ss_h5_begin_quiet();
    const bool ok = add_places(t) && add_contacts(t, stepper, e);
    ss_h5_end_quiet(before);
    if (!ok) {
        t->frames = 0; // half a frame: nothing is written
        return fail_write(t, e);
    }
    return SS_OK;
}

// ---- Opening and closing

// The file and what does not change of it, and the first frame.
static bool begin(ss_trajectory *t, const ss_trajectory_source *source)
{
    const ss_world *w = t->strands->world;
    static const char *const NAMES[] = {"strands", "contacts", "obstacles"};
    t->file = ss_h5_create_in_memory(t->path);
    bool ok = t->file >= 0 && write_source(t->file, source, w);
    for (int k = 0; ok && k < (w->nobstacles > 0 ? 3 : 2); k++) {
        t->groups[k] = ss_h5_create_group(t->file, NAMES[k]);
        ok = t->groups[k] >= 0;
    }
    const long starts[] = {0, 0}; // the first frame has no contacts
    return ok && write_lengths(t->groups[0], w) &&
           (w->nobstacles == 0 || write_obstacles(t->groups[2], w)) && open_series(t) &&
           add_places(t) && series_add(&t->start, 2, starts);
}

static void trajectory_free(ss_trajectory *t)
{
    if (t->file >= 0) { // closes its groups and datasets too
        H5Fclose(t->file);
    }
    free(t->row);
    free(t->path);
    free(t);
}

ss_status ss_trajectory_open(const char *path, const ss_trajectory_source *source,
                             const ss_strands *strands, ss_trajectory **trajectory, ss_error *e)
{
    *trajectory = NULL;
    const ss_world *w = strands->world;
    const ss_status status = ss_save_try(path, e);
    if (status != SS_OK) {
        return status;
    }
    ss_trajectory *t = calloc(1, sizeof *t);
    if (t == NULL) {
        return ss_fail_memory(e, path);
    }
    *t = (ss_trajectory){
        .strands = strands,
        .path = strdup(path),
        .every = source->every,
        .file = -1,
        .row = malloc((3 * (size_t)w->npoints + 12 * (size_t)w->nobstacles) * sizeof *t->row)};
    const ss_h5_quiet before = ss_h5_begin_quiet();
    const bool ok = t->path != NULL && t->row != NULL && begin(t, source);
    if (!ok) {
        trajectory_free(t);
    }
    ss_h5_end_quiet(before);
    *trajectory = ok ? t : NULL;
    return ok ? SS_OK : ss_fail_memory(e, path);
}

ss_status ss_trajectory_close(ss_trajectory *t, ss_error *e)
{
    if (t == NULL) {
        return SS_OK;
    }
    const ss_h5_quiet before = ss_h5_begin_quiet();
    ss_status status = SS_OK;
    if (t->frames > 1) {
        size_t count = 0;
        void *image = ss_h5_take_image(t->file, &count);
        status = image != NULL ? ss_save(t->path, image, count, e) : ss_fail_memory(e, t->path);
        free(image);
    }
    trajectory_free(t);
    ss_h5_end_quiet(before);
    return status;
}
