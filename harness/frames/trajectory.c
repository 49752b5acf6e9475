// harness/frames/trajectory.c -- see trajectory.h. A series is a dataset that grows by rows.
#include "harness/frames/trajectory.h"

#include "harness/record/machine.h"
#include "problems/store/h5_write.h"
#include "base/save.h"
#include "strands/world.h"
#include "strands/step/step.h"

#include <stdlib.h>
#include <string.h>

static int contact_status(double mu, const double r[3]);

// ---- Strands as numbers

#define MOST_TIPS 2000
#define MOST_NEAR 20000 // strands, of which the nearest tips are sought
#define LANES     8     // distances summed side by side

static int last_point(const ss_strands *s, int strand)
{
    const ss_strand *at = &s->world->strands[strand];
    return at->point + at->size.npoints - 1;
}

// How many tips stand for all, and the strand of the i-th.
static int tip_count(const ss_strands *s)
{
    return s->world->nstrands < MOST_TIPS ? s->world->nstrands : MOST_TIPS;
}

static int tip_strand(const ss_strands *s, int i)
{
    return (int)((long)i * s->world->nstrands / tip_count(s));
}

void ss_strands_look(ss_strands *s)
{
    s->time = s->world->now.time;
    ss_snapshot_script(&s->at, s->world, s->time);
    ss_snapshot_place(&s->at, s->world, &s->world->now, NULL);
}

// Computes where strand k is.
static void place(ss_strands *s, int k)
{
    const int last = last_point(s, k);
    ss_placed at = ss_snapshot_strand(&s->at, s->world, k);
    ss_strand_place(s->world, k, &s->world->now, &at);
    s->at.x[last] = s->at.all.points[last].x;
}

void ss_strands_look_at_tips(ss_strands *s, const ss_vec3 *x)
{
    s->time = s->world->now.time;
    ss_snapshot_script(&s->at, s->world, s->time);
    for (int k = 0; x != NULL && k < s->world->nstrands; k++) {
        s->at.x[last_point(s, k)] = x[last_point(s, k)];
    }
    if (x != NULL) {
        place(s, 0);
        return;
    }
    const bool all = s->world->nstrands <= MOST_NEAR;
    const int count = all ? s->world->nstrands : tip_count(s);
    for (int i = 0; i < count; i++) {
        place(s, all ? i : tip_strand(s, i));
    }
}

ss_status ss_strands_new(const ss_world *world, ss_strands **strands, ss_error *e)
{
    *strands = NULL;
    ss_strands *s = calloc(1, sizeof *s);
    const bool ok = s != NULL && ss_snapshot_init(&s->at, world);
    if (ok) {
        s->tips = malloc(((size_t)world->nstrands + 1) * sizeof *s->tips);
        s->rank = malloc(((size_t)world->nstrands + 1) * sizeof *s->rank);
    }
    if (!ok || s->tips == NULL || s->rank == NULL) {
        ss_strands_free(s);
        return ss_fail_memory(e, "the places of the strands");
    }
    s->world = world;
    ss_strands_look(s);
    s->start_length = ss_step_length(world, &s->at);
    *strands = s;
    return SS_OK;
}

void ss_strands_free(ss_strands *s)
{
    if (s != NULL) {
        ss_snapshot_free(&s->at);
        free(s->tips);
        free(s->rank);
        free(s);
    }
}

ss_vec3 ss_strands_tip(const ss_strands *s, int strand)
{
    return s->at.x[last_point(s, strand)];
}

// The carrier moves the point, and the strand moves it besides.
ss_vec3 ss_strands_tip_velocity(const ss_strands *s, int strand)
{
    const ss_strand *at = &s->world->strands[strand];
    const ss_motion_state *body = &s->at.bodies[at->carrier];
    const ss_strand_point *p = &s->at.all.points[last_point(s, strand)];
    const double *v = s->world->now.v + at->v;
    const ss_vec3 arm = ss_minus(p->x, body->pose.place);
    ss_vec3 sum = ss_plus(body->velocity, ss_cross(body->spin, arm));
    for (int j = 0; j < p->count; j++) {
        const double *J = p->J + j;
        sum = ss_along(sum, v[ss_point_dof(p, j)], ss_vec(J[0], J[p->count], J[2 * p->count]));
    }
    return sum;
}

typedef struct tip_list {
    double x[MOST_TIPS], y[MOST_TIPS], z[MOST_TIPS];
} tip_list;

static double distance(const tip_list *tips, int i, int j)
{
    return ss_length(
        ss_vec(tips->x[i] - tips->x[j], tips->y[i] - tips->y[j], tips->z[i] - tips->z[j]));
}

// The sum of the distances of tip i to those before it, LANES at a time.
static double distances(const tip_list *tips, int i)
{
    double sums[LANES] = {0.0}, sum = 0.0;
    int j = 0;
    for (; j + LANES <= i; j += LANES) {
        for (int l = 0; l < LANES; l++) {
            sums[l] += distance(tips, i, j + l);
        }
    }
    for (; j < i; j++) {
        sum += distance(tips, i, j);
    }
    for (int l = 0; l < LANES; l++) {
        sum += sums[l];
    }
    return sum;
}

double ss_strands_dispersion(const ss_strands *s)
{
    const int n = tip_count(s);
    tip_list tips;
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        const ss_vec3 tip = ss_strands_tip(s, tip_strand(s, i));
        tips.x[i] = tip.x;
        tips.y[i] = tip.y;
        tips.z[i] = tip.z;
        sum += distances(&tips, i);
    }
    const double pairs = 0.5 * n * (n - 1.0);
    return pairs > 0.0 ? sum / pairs : NAN;
}

static int compare_tips(const void *a, const void *b)
{
    const double x = ((const ss_tip *)a)->x.x, y = ((const ss_tip *)b)->x.x;
    return (x > y) - (x < y);
}

// All tips by their x; rank[k] is where that of strand k is.
static void sort_tips(const ss_strands *s)
{
    const int n = s->world->nstrands;
    for (int k = 0; k < n; k++) {
        s->tips[k] = (ss_tip){ss_strands_tip(s, k), k};
    }
    qsort(s->tips, (size_t)n, sizeof *s->tips, compare_tips);
    for (int i = 0; i < n; i++) {
        s->rank[s->tips[i].strand] = i;
    }
}

// The square of the distance from tip i to the nearest one on a side, or `least`. Those farther
// away along x than that are not looked at.
static double nearest_beside(const ss_tip *tips, int n, int i, int side, double least)
{
    for (int j = i + side; j >= 0 && j < n; j += side) {
        const ss_vec3 d = ss_minus(tips[j].x, tips[i].x);
        if (d.x * d.x >= least) {
            break;
        }
        const double square = ss_dot(d, d);
        least = square < least ? square : least;
    }
    return least;
}

double ss_strands_tip_gap(const ss_strands *s)
{
    const int n = tip_count(s), all = s->world->nstrands;
    double sum = 0.0;
    if (all < 2 || all > MOST_NEAR) {
        return NAN;
    }
    sort_tips(s);
    for (int i = 0; i < n; i++) {
        const int at = s->rank[tip_strand(s, i)];
        const double before = nearest_beside(s->tips, all, at, -1, INFINITY);
        sum += sqrt(nearest_beside(s->tips, all, at, 1, before));
    }
    return sum / n;
}

// Squares of the distances of strand k, which has `count` vertices.
static double natural_squares(const ss_strands *s, int k)
{
    const ss_world *w = s->world;
    const ss_strand *at = &w->strands[k];
    const ss_vec3 *rest = at->design->rest != NULL ? at->design->rest : at->design->vertices;
    const ss_pose root = ss_pose_product(&s->at.bodies[at->body].pose, &at->root);
    ss_placed now = ss_snapshot_strand(&s->at, w, k);
    double sum = 0.0;
    ss_strand_place(w, k, &w->now, &now);
    for (int i = 0; i < at->size.npoints; i++) {
        const ss_vec3 off = ss_minus(now.points[i].x, ss_pose_point(&root, rest[i]));
        sum += ss_dot(off, off);
    }
    return sum;
}

double ss_strands_unrest(const ss_strands *s)
{
    double sum = 0.0;
    int count = 0;
    for (int k = 0; k < s->world->nstrands; k++) {
        const ss_strand *at = &s->world->strands[k];
        if (at->design != NULL && at->design->nvertices == at->size.npoints) {
            sum += natural_squares(s, k);
            count += at->size.npoints;
        }
    }
    return count > 0 ? sqrt(sum / count) : NAN;
}

double ss_strands_stretch_percent(const ss_strands *s, double length)
{
    return 100.0 * (length / s->start_length - 1.0);
}

// ---- The strands file

#define FORMAT        1
#define DEFLATE_LEVEL 4
// Rows in a chunk of a series that has short ones.
#define CHUNK_ROWS 4096

// A contact slides if |r_T| is above this share of mu r_N: impulses are good to the tolerance of
// the solver, 1e-4 by default.
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

// -- Series

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

// -- What does not change

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

// -- Frames

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

// Returns the place of the contact on its first strand now.
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

// -- Opening and closing

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
