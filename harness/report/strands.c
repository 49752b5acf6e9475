// harness/report/strands.c -- see strands.h: the head, and the child that reads a file.
#include "harness/report/strands.h"

#include "base/child.h"
#include "base/status.h"
#include "harness/report/page.h"
#include "problems/store/decode.h"
#include "problems/store/h5_read.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- The file
//
// a strands file read and checked, in a child.

// Numbers of an obstacle's pose; bytes of a contact in the body.
enum { SS_PAGE_POSE = 12, SS_PAGE_CONTACT = 5 };

// The datasets of a file. Those of obstacles and of contacts follow each other.
typedef enum ss_page_set {
    SS_PAGE_X,
    SS_PAGE_TIME,
    SS_PAGE_LENGTH,
    SS_PAGE_STRAND,
    SS_PAGE_KIND,
    SS_PAGE_SIZE,
    SS_PAGE_POSES,
    SS_PAGE_START,
    SS_PAGE_CONTACT_X,
    SS_PAGE_STATUS,
    SS_PAGE_IMPULSE,
    SS_PAGE_PAIR,
    SS_PAGE_SETS
} ss_page_set;

typedef struct ss_page_reading {
    const char *path;
    bool deflate;
    hid_t file;
    ss_allowance allowance;
    ss_value sets[SS_PAGE_SETS]; // as far as they are there
    char why[240];               // not read: the sentence
    size_t frames, vertices, lines, strands, obstacles, contacts, every, kept;
    int *length, *strand, *kind; // of lines, lines, obstacles
    double *size, *time;
    int64_t *start; // [frames + 1] of contacts
    size_t *begin;  // [strands + 1] first vertex of each strand
    bool *ends;     // [vertices] the last of its polyline
    double *row;    // [3 vertices] a frame
    double low[3], step;
    double impulse[2];
    uint8_t *body;
    size_t body_length;
} ss_page_reading;

// Bytes of a body before it is deflated; more frames than fit are thinned. What a child says is
// limited to SS_CHILD_MOST_SAID (base/child.h), and deflating never adds as much as is left here.
#define SS_PAGE_MOST_BYTES 14e6

#define MOST_VERTICES 2000000
#define MOST_FRAMES   10000000

// False, with the sentence in `why`.
__attribute__((format(printf, 2, 3))) static bool page_refuse(ss_page_reading *r,
                                                              const char *format, ...)
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
    return page_refuse(r, "%s cannot be read: %s", SETS[set].path, r->sets[set].reason);
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

// Rows from .. from + count - 1 of a dataset.
static bool page_read_rows(ss_page_reading *r, ss_page_set set, hid_t type, size_t from,
                           size_t count, void *values)
{
    return ss_value_read_rows(&r->sets[set], type, from, count, values) || fail_set(r, set);
}

// Zeros; never NULL.
static void *page_room(size_t count, size_t size)
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
        return page_refuse(r,
                           "/strands/x has the shape %zu x %zu x %zu: it must hold frames x "
                           "vertices x 3, up to %d vertices",
                           x[0], x[1], x[2], MOST_VERTICES);
    }
    r->frames = x[0];
    r->vertices = x[1];
    if (times[0] != r->frames) {
        return page_refuse(r, "/strands/time has %zu entries for %zu frames", times[0], r->frames);
    }
    r->lines = r->sets[SS_PAGE_LENGTH].shape[0];
    if (r->lines < 1 || r->lines > r->vertices) {
        return page_refuse(r, "/strands/length has %zu polylines of %zu vertices", r->lines,
                           r->vertices);
    }
    return true;
}

// Lengths, and strands in order, so that the vertices of a strand follow each other.
static bool read_lines(ss_page_reading *r)
{
    r->length = page_room(r->lines, sizeof *r->length);
    r->strand = page_room(r->lines, sizeof *r->strand);
    if (!page_read_rows(r, SS_PAGE_LENGTH, H5T_NATIVE_INT, 0, r->lines, r->length) ||
        !page_read_rows(r, SS_PAGE_STRAND, H5T_NATIVE_INT, 0, r->lines, r->strand)) {
        return false;
    }
    r->ends = page_room(r->vertices, sizeof *r->ends);
    r->begin = page_room(r->lines, sizeof *r->begin);
    size_t vertex = 0;
    for (size_t k = 0; k < r->lines; k++) {
        const int before = k > 0 ? r->strand[k - 1] : -1;
        if (r->length[k] < 1 || (size_t)r->length[k] > r->vertices - vertex ||
            (r->strand[k] != before && r->strand[k] != before + 1) || r->strand[k] < 0) {
            return page_refuse(r, "polyline %zu has %d vertices and belongs to strand %d", k,
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
           page_refuse(r, "/strands/length adds up to %zu of %zu vertices", vertex, r->vertices);
}

static bool read_times(ss_page_reading *r)
{
    r->time = page_room(r->frames, sizeof *r->time);
    if (!page_read_rows(r, SS_PAGE_TIME, H5T_NATIVE_DOUBLE, 0, r->frames, r->time)) {
        return false;
    }
    for (size_t k = 0; k < r->frames; k++) {
        if (!isfinite(r->time[k]) || (k > 0 && !(r->time[k] > r->time[k - 1]))) {
            return page_refuse(r, "frame %zu is at %g s, not after the one before", k, r->time[k]);
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
        return page_refuse(r, "the datasets of /obstacles do not fit each other");
    }
    r->kind = page_room(r->obstacles, sizeof *r->kind);
    r->size = page_room(3 * r->obstacles, sizeof *r->size);
    return page_read_rows(r, SS_PAGE_KIND, H5T_NATIVE_INT, 0, r->obstacles, r->kind) &&
           page_read_rows(r, SS_PAGE_SIZE, H5T_NATIVE_DOUBLE, 0, r->obstacles, r->size);
}

static bool read_starts(ss_page_reading *r)
{
    const size_t *starts = r->sets[SS_PAGE_START].shape, *x = r->sets[SS_PAGE_CONTACT_X].shape,
                 *status = r->sets[SS_PAGE_STATUS].shape, *impulse = r->sets[SS_PAGE_IMPULSE].shape,
                 *pair = r->sets[SS_PAGE_PAIR].shape;
    r->start = page_room(r->frames + 1, sizeof *r->start);
    if (ss_h5_find_link(r->file, "contacts") == SS_LINK_NONE) {
        return true;
    }
    if (!open_sets(r, SS_PAGE_START, SS_PAGE_PAIR)) {
        return false;
    }
    if (starts[0] != r->frames + 1 || x[1] != 3 || status[0] != x[0] || impulse[0] != x[0] ||
        impulse[1] != 3 || pair[0] != x[0] || pair[1] != 2) {
        return page_refuse(r, "the datasets of /contacts do not fit each other");
    }
    r->contacts = x[0];
    if (!page_read_rows(r, SS_PAGE_START, H5T_NATIVE_INT64, 0, r->frames + 1, r->start)) {
        return false;
    }
    for (size_t k = 0; k < r->frames; k++) {
        if (r->start[k] < 0 || r->start[k + 1] < r->start[k] ||
            (uint64_t)r->start[k + 1] > r->contacts) {
            return page_refuse(r, "/contacts/start is no list of places at frame %zu", k);
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

// Reads the box that holds everything, and the step of 16 bits in it.
static bool read_box(ss_page_reading *r)
{
    double high[3] = {-INFINITY, -INFINITY, -INFINITY}, size = 0.0;
    for (int k = 0; k < 3; k++) {
        r->low[k] = INFINITY;
    }
    r->row = page_room(3 * r->vertices, sizeof *r->row);
    for (size_t f = 0; f < r->frames; f += r->every) {
        if (!page_read_rows(r, SS_PAGE_X, H5T_NATIVE_DOUBLE, f, 1, r->row)) {
            return false;
        }
        for (size_t i = 0; i < 3 * r->vertices; i++) {
            if (!(fabs(r->row[i]) <= 1e6)) {
                return page_refuse(r, "vertex %zu of frame %zu is at %g m", i / 3, f, r->row[i]);
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

// All that is small of an open file: shapes, lines, times, obstacles, where contacts begin;
// checked. And which frames are kept, and the box of these.
static bool page_read_file(ss_page_reading *r, int file)
{
    struct stat status;
    r->allowance = ss_allowance_of_file(fstat(file, &status) == 0 ? (uint64_t)status.st_size : 0);
    r->file = ss_h5_open(file);
    if (r->file < 0) {
        return page_refuse(r, "damaged file: libhdf5 cannot open it");
    }
    if (ss_h5_find_link(r->file, "strands") == SS_LINK_NONE) {
        return page_refuse(r, "it contains no /strands; simulate --strands makes such files");
    }
    if (!read_shapes(r) || !read_lines(r) || !read_times(r) || !read_obstacles(r) ||
        !read_starts(r)) {
        return false;
    }
    choose_frames(r);
    return read_box(r);
}

// ---- Frames
//
// the frames of a strands file, packed for the viewer, in a child.

// 16-bit numbers [count] as low bytes, then high bytes.
static void put_shuffled(ss_page_reading *r, const uint16_t *values, size_t count)
{
    uint8_t *to = r->body + r->body_length;
    for (size_t k = 0; k < count; k++) {
        to[k] = (uint8_t)(values[k] & 0xff);
        to[count + k] = (uint8_t)(values[k] >> 8);
    }
    r->body_length += 2 * count;
}

static void put_places(ss_page_reading *r, uint16_t *before, uint16_t *difference)
{
    for (size_t i = 0; i < 3 * r->vertices; i++) {
        const uint16_t now = (uint16_t)lround((r->row[i] - r->low[i % 3]) / r->step);
        difference[i] = (uint16_t)(now - before[i]);
        before[i] = now;
    }
    put_shuffled(r, difference, 3 * r->vertices);
}

// The contacts of a frame.
typedef struct contact_list {
    size_t count;
    double *x, *impulse;
    int *status, *strand;
} contact_list;

static bool read_contacts(ss_page_reading *r, size_t frame, contact_list *c)
{
    const size_t from = (size_t)r->start[frame], n = (size_t)r->start[frame + 1] - from;
    *c = (contact_list){.count = n,
                        .x = page_room(3 * n, sizeof *c->x),
                        .impulse = page_room(3 * n, sizeof *c->impulse),
                        .status = page_room(n, sizeof *c->status),
                        .strand = page_room(2 * n, sizeof *c->strand)};
    if (n > 0 && (!page_read_rows(r, SS_PAGE_CONTACT_X, H5T_NATIVE_DOUBLE, from, n, c->x) ||
                  !page_read_rows(r, SS_PAGE_IMPULSE, H5T_NATIVE_DOUBLE, from, n, c->impulse) ||
                  !page_read_rows(r, SS_PAGE_STATUS, H5T_NATIVE_INT, from, n, c->status) ||
                  !page_read_rows(r, SS_PAGE_PAIR, H5T_NATIVE_INT, from, n, c->strand))) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const int a = c->strand[2 * i], b = c->strand[2 * i + 1];
        if (a < 0 || (size_t)a >= r->strands || b < -1 || (b >= 0 && (size_t)b >= r->strands) ||
            !isfinite(c->x[3 * i] + c->x[3 * i + 1] + c->x[3 * i + 2])) {
            return page_refuse(r, "contact %zu of frame %zu joins strands %d and %d", i, frame, a,
                               b);
        }
    }
    return true;
}

static void free_contacts(contact_list *c)
{
    free(c->x);
    free(c->impulse);
    free(c->status);
    free(c->strand);
}

static double length_of(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

// The square of the distance of x to the segment at p; *a: where on it, 0 to 1.
static double distance(const double *p, const double x[3], double *a)
{
    double along = 0.0, square = 0.0, sum = 0.0;
    for (int k = 0; k < 3; k++) {
        const double d = p[3 + k] - p[k];
        along += d * (x[k] - p[k]);
        square += d * d;
    }
    *a = square > 0.0 ? fmin(1.0, fmax(0.0, along / square)) : 0.0;
    for (int k = 0; k < 3; k++) {
        const double d = p[k] + *a * (p[3 + k] - p[k]) - x[k];
        sum += d * d;
    }
    return sum;
}

// The nearest segment of a strand: its first vertex.
static size_t nearest_segment(const ss_page_reading *r, int strand, const double x[3], double *at)
{
    size_t best = r->begin[strand];
    double least = INFINITY, a = 0.0;
    *at = 0.0;
    for (size_t v = r->begin[strand]; v + 1 < r->begin[strand + 1]; v++) {
        const double d = r->ends[v] ? INFINITY : distance(r->row + 3 * v, x, &a);
        if (d < least) {
            least = d;
            best = v;
            *at = a;
        }
    }
    return best;
}

static void put_contacts(ss_page_reading *r, const contact_list *c)
{
    const size_t n = c->count;
    uint8_t *jump = r->body + r->body_length; // three planes of bytes
    uint8_t *at = page_room(c->count, sizeof *at);
    size_t before = 0;
    for (size_t i = 0; i < c->count; i++) {
        double a = 0.0;
        const size_t v = nearest_segment(r, c->strand[2 * i], c->x + 3 * i, &a);
        for (size_t byte = 0; byte < 3; byte++) {
            jump[byte * n + i] = (uint8_t)((v - before) >> 8 * byte & 0xff);
        }
        at[i] = (uint8_t)lround(255.0 * a);
        before = v;
    }
    r->body_length += 3 * n;
    memcpy(r->body + r->body_length, at, c->count);
    r->body_length += c->count;
    for (size_t i = 0; i < c->count; i++) {
        r->body[r->body_length++] =
            (uint8_t)(c->status[i] >= 0 && c->status[i] < 3 ? c->status[i] : 0);
    }
    free(at);
}

// A byte for the impulse of each strand, by the logarithm between the bounds of the head.
static void put_impulses(ss_page_reading *r, const double *sum)
{
    const double low = log(r->impulse[0]), high = log(r->impulse[1]);
    for (size_t k = 0; k < r->strands; k++) {
        const double share = sum[k] > 0.0 ? (log(sum[k]) - low) / (high - low) : -1.0;
        r->body[r->body_length++] =
            share < 0.0 ? (uint8_t)(sum[k] > 0.0) : (uint8_t)lround(1.0 + 254.0 * fmin(1.0, share));
    }
}

static void add_impulses(const contact_list *c, size_t strands, double *sum)
{
    memset(sum, 0, strands * sizeof *sum);
    for (size_t i = 0; i < c->count; i++) {
        const double size = length_of(c->impulse + 3 * i);
        sum[c->strand[2 * i]] += isfinite(size) ? size : 0.0;
        if (c->strand[2 * i + 1] >= 0) {
            sum[c->strand[2 * i + 1]] += isfinite(size) ? size : 0.0;
        }
    }
}

// Four decades below the largest of all frames.
static bool read_impulses(ss_page_reading *r, double *sum)
{
    double most = 0.0;
    for (size_t f = 0; f < r->frames; f += r->every) {
        contact_list c;
        const bool ok = read_contacts(r, f, &c);
        if (ok) {
            add_impulses(&c, r->strands, sum);
        }
        free_contacts(&c);
        if (!ok) {
            return false;
        }
        for (size_t k = 0; k < r->strands; k++) {
            most = fmax(most, sum[k]);
        }
    }
    r->impulse[1] = most > 0.0 ? most : 1.0;
    r->impulse[0] = 1e-4 * r->impulse[1];
    return true;
}

static bool put_poses(ss_page_reading *r, size_t frame)
{
    double *pose = page_room(SS_PAGE_POSE * r->obstacles, sizeof *pose);
    const bool ok =
        r->obstacles == 0 || page_read_rows(r, SS_PAGE_POSES, H5T_NATIVE_DOUBLE, frame, 1, pose);
    for (size_t k = 0; ok && k < SS_PAGE_POSE * r->obstacles; k++) {
        const float number = (float)(isfinite(pose[k]) ? pose[k] : 0.0);
        uint32_t bits;
        memcpy(&bits, &number, sizeof bits);
        for (int byte = 0; byte < 4; byte++) {
            r->body[r->body_length++] = (uint8_t)(bits >> 8 * byte & 0xff);
        }
    }
    free(pose);
    return ok;
}

static bool put_frame(ss_page_reading *r, size_t frame, uint16_t *scratch, double *sum)
{
    contact_list c = {0};
    bool ok = page_read_rows(r, SS_PAGE_X, H5T_NATIVE_DOUBLE, frame, 1, r->row) &&
              read_contacts(r, frame, &c);
    if (ok) {
        put_places(r, scratch, scratch + 3 * r->vertices);
        add_impulses(&c, r->strands, sum);
        put_impulses(r, sum);
        put_contacts(r, &c);
        ok = put_poses(r, frame);
    }
    free_contacts(&c);
    return ok;
}

// The frames that are kept, packed as strands.h says.
static bool page_make_body(ss_page_reading *r)
{
    size_t contacts = 0;
    for (size_t f = 0; f < r->frames; f += r->every) {
        contacts += (size_t)(r->start[f + 1] - r->start[f]);
    }
    const size_t frame = 6 * r->vertices + r->strands + 4 * SS_PAGE_POSE * r->obstacles;
    uint16_t *scratch = page_room(6 * r->vertices, sizeof *scratch);
    double *sum = page_room(r->strands, sizeof *sum);
    r->body = page_room(r->kept * frame + SS_PAGE_CONTACT * contacts, 1);
    if ((double)(r->kept * frame + SS_PAGE_CONTACT * contacts) > 1.1 * SS_PAGE_MOST_BYTES) {
        return page_refuse(r, "a frame of %zu vertices is too large for a page", r->vertices);
    }
    bool ok = read_impulses(r, sum);
    for (size_t f = 0; ok && f < r->frames; f += r->every) {
        ok = put_frame(r, f, scratch, sum);
    }
    free(scratch);
    free(sum);
    return ok;
}

// ---- Strands of a page

#define MEMORY   ((uint64_t)1 << 30)
#define PATIENCE 120.0 // s

// -- The head

// Empty where it is absent, or not of this kind.
static void put_attribute(ss_page_reading *r, ss_page_json *json, const char *name,
                          ss_array_kind kind)
{
    char number[32] = "";
    const bool there = H5Aexists(r->file, name) > 0;
    ss_value v = {.object = there ? H5Aopen(r->file, name, H5P_DEFAULT) : -1,
                  .is_attribute = true,
                  .kind = kind,
                  .allowance = &r->allowance};
    const bool read = v.object >= 0 && ss_value_read(&v);
    if (read && kind == SS_ARRAY_INTEGERS) {
        snprintf(number, sizeof number, "%llu", *(unsigned long long *)v.data);
    } else if (read && kind == SS_ARRAY_REALS) {
        snprintf(number, sizeof number, "%.9g", *(double *)v.data);
    }
    ss_page_json_key(json, name);
    ss_page_json_text(json, read && kind == SS_ARRAY_TEXT ? v.data : number);
    free(v.data);
    H5Aclose(v.object);
}

static void put_ints(ss_page_json *json, const char *key, const int *values, size_t count)
{
    ss_page_json_key(json, key);
    ss_page_json_begin(json, '[');
    for (size_t k = 0; k < count; k++) {
        ss_page_json_integer(json, values[k]);
    }
    ss_page_json_end(json, ']');
}

static void put_reals(ss_page_json *json, const char *key, const double *values, size_t count,
                      size_t every)
{
    ss_page_json_key(json, key);
    ss_page_json_begin(json, '[');
    for (size_t k = 0; k < count; k += every) {
        ss_page_json_real(json, values[k], 9);
    }
    ss_page_json_end(json, ']');
}

static void put_count(ss_page_json *json, const char *key, size_t count)
{
    ss_page_json_key(json, key);
    ss_page_json_integer(json, (long long)count);
}

static void make_head(ss_page_reading *r, ss_page_json *json)
{
    static const struct {
        const char *name;
        ss_array_kind kind;
    } ATTRIBUTES[] = {{"scene", SS_ARRAY_TEXT},   {"model", SS_ARRAY_TEXT},
                      {"scheme", SS_ARRAY_TEXT},  {"solver", SS_ARRAY_TEXT},
                      {"units", SS_ARRAY_TEXT},   {"seed", SS_ARRAY_INTEGERS},
                      {"radius", SS_ARRAY_REALS}, {"description", SS_ARRAY_TEXT}};
    ss_page_json_begin(json, '{');
    ss_page_json_key(json, "file");
    ss_page_json_text(json, r->path);
    for (size_t k = 0; k < sizeof ATTRIBUTES / sizeof ATTRIBUTES[0]; k++) {
        put_attribute(r, json, ATTRIBUTES[k].name, ATTRIBUTES[k].kind);
    }
    put_count(json, "frames", r->frames);
    put_count(json, "every", r->every);
    put_count(json, "vertices", r->vertices);
    put_count(json, "strands", r->strands);
    put_ints(json, "length", r->length, r->lines);
    put_ints(json, "strand", r->strand, r->lines);
    put_reals(json, "low", r->low, 3, 1);
    ss_page_json_key(json, "step");
    ss_page_json_real(json, r->step, 17);
    put_reals(json, "time", r->time, r->frames, r->every);
    ss_page_json_key(json, "contacts");
    ss_page_json_begin(json, '[');
    for (size_t f = 0; f < r->frames; f += r->every) {
        ss_page_json_integer(json, r->start[f + 1] - r->start[f]);
    }
    ss_page_json_end(json, ']');
    put_reals(json, "impulse", r->impulse, 2, 1);
    put_ints(json, "kind", r->kind, r->obstacles);
    put_reals(json, "size", r->size, 3 * r->obstacles, 1);
    ss_page_json_end(json, '}');
}

// -- The child

static void say(const void *bytes, size_t count)
{
    for (const char *at = bytes; count > 0;) {
        const ssize_t written = write(SS_CHILD_FILE, at, count);
        if (written <= 0) {
            _exit(1);
        }
        at += written;
        count -= (size_t)written;
    }
}

static void read_in_child(void *context)
{
    ss_page_reading *r = context;
    ss_child_limit_memory(MEMORY);
    if (!page_read_file(r, SS_CHILD_FILE + 1) || !page_make_body(r)) {
        say("E", 1);
        say(r->why, strlen(r->why));
        return;
    }
    ss_page_json head = {0};
    make_head(r, &head);
    void *body = r->body;
    size_t length = r->body_length;
    ss_error e;
    if (head.failed ||
        (r->deflate && ss_pack_deflate(r->body, r->body_length, &body, &length, &e) != SS_OK)) {
        say("Enot enough memory", 18);
        return;
    }
    const uint64_t sizes[] = {head.length, length};
    say("O", 1);
    say(sizes, sizeof sizes);
    say(head.text, head.length);
    say(body, length);
}

// -- The parent

static ss_status take(const ss_child *child, const char *path, ss_page_strands *strands,
                      ss_error *e)
{
    uint64_t sizes[2] = {0};
    const size_t begin = 1 + sizeof sizes;
    if (child->ending == SS_ENDED_BY_CODE && child->length > 0 && child->said[0] == 'E') {
        return ss_fail(e, SS_BAD_INPUT, "%s: %.*s", path, (int)child->length - 1, child->said + 1);
    }
    if (child->length > begin) {
        memcpy(sizes, child->said + 1, sizeof sizes);
    }
    if (child->ending != SS_ENDED_BY_CODE || child->number != 0 ||
        child->length != begin + sizes[0] + sizes[1] || sizes[0] == 0) {
        return ss_fail(e, SS_BAD_INPUT, "%s: damaged file: reading it ended by %s %d", path,
                       child->ending == SS_ENDED_BY_SIGNAL ? "signal" : "code", child->number);
    }
    strands->head = malloc(sizes[0]);
    strands->body = malloc(sizes[1] + 1);
    if (strands->head == NULL || strands->body == NULL) {
        ss_page_strands_free(strands);
        return ss_fail_memory(e, path);
    }
    strands->head_length = sizes[0];
    strands->body_length = sizes[1];
    memcpy(strands->head, child->said + begin, sizes[0]);
    memcpy(strands->body, child->said + begin + sizes[0], sizes[1]);
    return SS_OK;
}

static ss_status read_open_file(ss_page_reading *r, int file, ss_page_strands *strands, ss_error *e)
{
    const ss_child_setup setup = {.work = read_in_child,
                                  .context = r,
                                  .speech = SS_CHILD_ON_CHANNEL,
                                  .files = {file},
                                  .nfiles = 1};
    ss_child child = {0};
    int ended = -1;
    ss_status status = ss_child_start(&child, &setup, e);
    if (status == SS_OK) {
        status = ss_child_wait(&child, 1, PATIENCE, NULL, &ended, e);
    }
    if (status == SS_OK && ended < 0) {
        ss_child_end(&child);
        status = ss_fail(e, SS_BAD_INPUT, "%s: damaged file: reading it took longer than %g s",
                         r->path, PATIENCE);
    }
    if (status == SS_OK) {
        status = take(&child, r->path, strands, e);
    }
    ss_child_clear(&child);
    return status;
}

ss_status ss_page_strands_read(const char *path, bool deflate, ss_page_strands *strands,
                               ss_error *e)
{
    *strands = (ss_page_strands){0};
    ss_page_reading r = {.path = path, .deflate = deflate, .file = -1};
    ss_error why;
    int file;
    ss_status status = ss_decoder_open_file(path, &file, &why);
    if (status != SS_OK) {
        return ss_fail(e, status, "%s: %s", path, why.text);
    }
    status = read_open_file(&r, file, strands, e);
    close(file);
    return status;
}

void ss_page_strands_free(ss_page_strands *strands)
{
    free(strands->head);
    free(strands->body);
    *strands = (ss_page_strands){0};
}
