// harness/report/strands.c -- see strands.h. Below "The file" and "The body" runs in a child.
#include "harness/report/strands.h"

#include <hdf5.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/report/page_json.h"
#include "harness/report/pack.h"
#include "problems/child.h"

// A body before it is deflated; more frames than fit are thinned. What a child says is limited to
// SS_CHILD_MOST_SAID, and deflating never adds as much as is left here.
#define MOST_BYTES    14e6
#define MOST_VERTICES 2000000
#define MOST_FRAMES   10000000
#define MEMORY        ((uint64_t)1 << 30)
#define PATIENCE      120.0 // s

enum { POSE = 12, CONTACT_BYTES = 5 }; // numbers of an obstacle's pose; bytes of a contact

// ---- The file

typedef struct reading {
    const char *path;
    bool deflate;
    hid_t file;
    char why[200]; // not read: the sentence
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
} reading;

__attribute__((format(printf, 2, 3))) static bool refuse(reading *r, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->why, sizeof r->why, format, arguments);
    va_end(arguments);
    return false;
}

// The shape of a dataset of that rank. shape[rank] and further are left as they are.
static bool shape_of(reading *r, const char *name, int rank, hsize_t shape[3])
{
    const hid_t set = H5Dopen2(r->file, name, H5P_DEFAULT);
    const hid_t space = set >= 0 ? H5Dget_space(set) : -1;
    const bool ok = space >= 0 && H5Sget_simple_extent_ndims(space) == rank &&
                    H5Sget_simple_extent_dims(space, shape, NULL) == rank;
    H5Sclose(space);
    H5Dclose(set);
    return ok || refuse(r, "the dataset %s is missing or has another shape", name);
}

// Rows from .. from + count - 1 of a dataset; `columns` numbers in each.
static bool read_rows(reading *r, const char *name, hid_t type, size_t from, size_t count,
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
    return ok || refuse(r, "damaged file: %s cannot be read", name);
}

static void *room(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    if (memory == NULL) {
        static const char WORD[] = "Enot enough memory for its frames";
        (void)!write(SS_CHILD_FILE, WORD, sizeof WORD - 1);
        _exit(0);
    }
    return memory;
}

static bool read_shapes(reading *r)
{
    hsize_t x[3] = {0}, one[3] = {0};
    if (!shape_of(r, "/strands/x", 3, x)) {
        return false;
    }
    if (x[0] < 1 || x[0] > MOST_FRAMES || x[1] < 1 || x[1] > MOST_VERTICES || x[2] != 3) {
        return refuse(r,
                      "/strands/x has the shape %llu x %llu x %llu: it must hold frames x "
                      "vertices x 3, up to %d vertices",
                      (unsigned long long)x[0], (unsigned long long)x[1], (unsigned long long)x[2],
                      MOST_VERTICES);
    }
    r->frames = x[0];
    r->vertices = x[1];
    if (!shape_of(r, "/strands/time", 1, one)) {
        return false;
    }
    if (one[0] != r->frames) {
        return refuse(r, "/strands/time has %llu entries for %zu frames",
                      (unsigned long long)one[0], r->frames);
    }
    if (!shape_of(r, "/strands/length", 1, one)) {
        return false;
    }
    r->lines = one[0];
    if (r->lines < 1 || r->lines > r->vertices) {
        return refuse(r, "/strands/length has %zu polylines of %zu vertices", r->lines,
                      r->vertices);
    }
    return true;
}

// Lengths, and strands in order, so that the vertices of a strand follow each other.
static bool read_lines(reading *r)
{
    r->length = room(r->lines, sizeof *r->length);
    r->strand = room(r->lines, sizeof *r->strand);
    if (!read_rows(r, "/strands/length", H5T_NATIVE_INT, 0, r->lines, r->length) ||
        !read_rows(r, "/strands/strand", H5T_NATIVE_INT, 0, r->lines, r->strand)) {
        return false;
    }
    r->ends = room(r->vertices, sizeof *r->ends);
    r->begin = room(r->lines, sizeof *r->begin);
    size_t vertex = 0;
    for (size_t k = 0; k < r->lines; k++) {
        const int before = k > 0 ? r->strand[k - 1] : -1;
        if (r->length[k] < 1 || (size_t)r->length[k] > r->vertices - vertex ||
            (r->strand[k] != before && r->strand[k] != before + 1) || r->strand[k] < 0) {
            return refuse(r, "polyline %zu has %d vertices and belongs to strand %d", k,
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
           refuse(r, "/strands/length adds up to %zu of %zu vertices", vertex, r->vertices);
}

static bool read_times(reading *r)
{
    r->time = room(r->frames, sizeof *r->time);
    if (!read_rows(r, "/strands/time", H5T_NATIVE_DOUBLE, 0, r->frames, r->time)) {
        return false;
    }
    for (size_t k = 0; k < r->frames; k++) {
        if (!isfinite(r->time[k]) || (k > 0 && !(r->time[k] > r->time[k - 1]))) {
            return refuse(r, "frame %zu is at %g s, not after the one before", k, r->time[k]);
        }
    }
    return true;
}

static bool read_obstacles(reading *r)
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
        poses[1] != kinds[0] || poses[2] != POSE) {
        return refuse(r, "the datasets of /obstacles do not fit each other");
    }
    r->kind = room(r->obstacles, sizeof *r->kind);
    r->size = room(3 * r->obstacles, sizeof *r->size);
    return read_rows(r, "/obstacles/kind", H5T_NATIVE_INT, 0, r->obstacles, r->kind) &&
           read_rows(r, "/obstacles/size", H5T_NATIVE_DOUBLE, 0, r->obstacles, r->size);
}

static bool read_starts(reading *r)
{
    hsize_t starts[3] = {0}, x[3] = {0}, status[3] = {0}, impulse[3] = {0}, strand[3] = {0};
    r->start = room(r->frames + 1, sizeof *r->start);
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
        return refuse(r, "the datasets of /contacts do not fit each other");
    }
    r->contacts = x[0];
    if (!read_rows(r, "/contacts/start", H5T_NATIVE_INT64, 0, r->frames + 1, r->start)) {
        return false;
    }
    for (size_t k = 0; k < r->frames; k++) {
        if (r->start[k] < 0 || r->start[k + 1] < r->start[k] ||
            (uint64_t)r->start[k + 1] > r->contacts) {
            return refuse(r, "/contacts/start is no list of places at frame %zu", k);
        }
    }
    return true;
}

static void choose_frames(reading *r)
{
    const double frame =
        6.0 * (double)r->vertices + (double)r->strands + 4.0 * POSE * (double)r->obstacles;
    const double all = frame * (double)r->frames + CONTACT_BYTES * (double)r->contacts;
    r->every = (size_t)fmax(1.0, ceil(all / MOST_BYTES));
    r->kept = (r->frames + r->every - 1) / r->every;
}

// Where everything is: the box, and the step of 16 bits.
static bool read_box(reading *r)
{
    double high[3] = {-INFINITY, -INFINITY, -INFINITY}, size = 0.0;
    for (int k = 0; k < 3; k++) {
        r->low[k] = INFINITY;
    }
    r->row = room(3 * r->vertices, sizeof *r->row);
    for (size_t f = 0; f < r->frames; f += r->every) {
        if (!read_rows(r, "/strands/x", H5T_NATIVE_DOUBLE, f, 1, r->row)) {
            return false;
        }
        for (size_t i = 0; i < 3 * r->vertices; i++) {
            if (!(fabs(r->row[i]) <= 1e6)) {
                return refuse(r, "vertex %zu of frame %zu is at %g m", i / 3, f, r->row[i]);
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

// ---- The body

// 16-bit numbers [count] as low bytes, then high bytes.
static void put_shuffled(reading *r, const uint16_t *values, size_t count)
{
    uint8_t *to = r->body + r->body_length;
    for (size_t k = 0; k < count; k++) {
        to[k] = (uint8_t)(values[k] & 0xff);
        to[count + k] = (uint8_t)(values[k] >> 8);
    }
    r->body_length += 2 * count;
}

static void put_places(reading *r, uint16_t *before, uint16_t *difference)
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

static bool read_contacts(reading *r, size_t frame, contact_list *c)
{
    const size_t from = (size_t)r->start[frame], n = (size_t)r->start[frame + 1] - from;
    *c = (contact_list){.count = n,
                        .x = room(3 * n, sizeof *c->x),
                        .impulse = room(3 * n, sizeof *c->impulse),
                        .status = room(n, sizeof *c->status),
                        .strand = room(2 * n, sizeof *c->strand)};
    if (n > 0 && (!read_rows(r, "/contacts/x", H5T_NATIVE_DOUBLE, from, n, c->x) ||
                  !read_rows(r, "/contacts/impulse", H5T_NATIVE_DOUBLE, from, n, c->impulse) ||
                  !read_rows(r, "/contacts/status", H5T_NATIVE_INT, from, n, c->status) ||
                  !read_rows(r, "/contacts/strand", H5T_NATIVE_INT, from, n, c->strand))) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const int a = c->strand[2 * i], b = c->strand[2 * i + 1];
        if (a < 0 || (size_t)a >= r->strands || b < -1 || (b >= 0 && (size_t)b >= r->strands) ||
            !isfinite(c->x[3 * i] + c->x[3 * i + 1] + c->x[3 * i + 2])) {
            return refuse(r, "contact %zu of frame %zu joins strands %d and %d", i, frame, a, b);
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
static size_t nearest_segment(const reading *r, int strand, const double x[3], double *at)
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

static void put_contacts(reading *r, const contact_list *c)
{
    const size_t n = c->count;
    uint8_t *jump = r->body + r->body_length; // three planes of bytes
    uint8_t *at = room(c->count, sizeof *at);
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
static void put_impulses(reading *r, const double *sum)
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
static bool read_impulses(reading *r, double *sum)
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

static bool put_poses(reading *r, size_t frame)
{
    double *pose = room(POSE * r->obstacles, sizeof *pose);
    const bool ok =
        r->obstacles == 0 || read_rows(r, "/obstacles/pose", H5T_NATIVE_DOUBLE, frame, 1, pose);
    for (size_t k = 0; ok && k < POSE * r->obstacles; k++) {
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

static bool put_frame(reading *r, size_t frame, uint16_t *scratch, double *sum)
{
    contact_list c = {0};
    bool ok = read_rows(r, "/strands/x", H5T_NATIVE_DOUBLE, frame, 1, r->row) &&
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

static bool make_body(reading *r)
{
    size_t contacts = 0;
    for (size_t f = 0; f < r->frames; f += r->every) {
        contacts += (size_t)(r->start[f + 1] - r->start[f]);
    }
    const size_t frame = 6 * r->vertices + r->strands + 4 * POSE * r->obstacles;
    uint16_t *scratch = room(6 * r->vertices, sizeof *scratch);
    double *sum = room(r->strands, sizeof *sum);
    r->body = room(r->kept * frame + CONTACT_BYTES * contacts, 1);
    if ((double)(r->kept * frame + CONTACT_BYTES * contacts) > 1.1 * MOST_BYTES) {
        return refuse(r, "a frame of %zu vertices is too large for a page", r->vertices);
    }
    bool ok = read_impulses(r, sum);
    for (size_t f = 0; ok && f < r->frames; f += r->every) {
        ok = put_frame(r, f, scratch, sum);
    }
    free(scratch);
    free(sum);
    return ok;
}

// ---- The head

static void put_attribute(const reading *r, ss_page_json *json, const char *name)
{
    char text[2048] = "";
    const hid_t attribute = H5Aexists(r->file, name) > 0 ? H5Aopen(r->file, name, H5P_DEFAULT) : -1;
    const hid_t type = attribute >= 0 ? H5Aget_type(attribute) : -1;
    if (type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
        H5Tget_size(type) < sizeof text) {
        H5Aread(attribute, type, text);
    } else if (type >= 0 && H5Tget_class(type) == H5T_INTEGER) {
        uint64_t number = 0;
        H5Aread(attribute, H5T_NATIVE_UINT64, &number);
        snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    } else if (type >= 0 && H5Tget_class(type) == H5T_FLOAT) {
        double number = NAN;
        H5Aread(attribute, H5T_NATIVE_DOUBLE, &number);
        snprintf(text, sizeof text, "%.9g", number);
    }
    H5Tclose(type);
    H5Aclose(attribute);
    ss_page_json_key(json, name);
    ss_page_json_text(json, text);
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

static void make_head(const reading *r, ss_page_json *json)
{
    static const char *const ATTRIBUTES[] = {"scene", "model", "scheme", "solver",
                                             "units", "seed",  "radius", "description"};
    ss_page_json_begin(json, '{');
    ss_page_json_key(json, "file");
    ss_page_json_text(json, r->path);
    for (size_t k = 0; k < sizeof ATTRIBUTES / sizeof ATTRIBUTES[0]; k++) {
        put_attribute(r, json, ATTRIBUTES[k]);
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

// ---- The child

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

static bool read_file(reading *r)
{
    H5open();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5PLset_loading_state(0);
    H5Lunregister(H5L_TYPE_EXTERNAL);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_file_locking(access, false, true);
    r->file = H5Fopen(r->path, H5F_ACC_RDONLY, access);
    if (r->file < 0) {
        return refuse(r, "damaged file: libhdf5 cannot open it");
    }
    if (H5Lexists(r->file, "/strands", H5P_DEFAULT) <= 0) {
        return refuse(r, "it contains no /strands; simulate --strands makes such files");
    }
    if (!read_shapes(r) || !read_lines(r) || !read_times(r) || !read_obstacles(r) ||
        !read_starts(r)) {
        return false;
    }
    choose_frames(r);
    return read_box(r) && make_body(r);
}

static void read_in_child(void *context)
{
    reading *r = context;
    ss_child_limit_memory(MEMORY);
    if (!read_file(r)) {
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

// ---- The parent

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

ss_status ss_page_strands_read(const char *path, bool deflate, ss_page_strands *strands,
                               ss_error *e)
{
    *strands = (ss_page_strands){0};
    reading r = {.path = path, .deflate = deflate, .file = -1};
    const ss_child_setup setup = {
        .work = read_in_child, .context = &r, .speech = SS_CHILD_ON_CHANNEL};
    ss_child child = {0};
    int ended = -1;
    ss_status status = ss_child_start(&child, &setup, e);
    if (status == SS_OK) {
        status = ss_child_wait(&child, 1, PATIENCE, NULL, &ended, e);
    }
    if (status == SS_OK && ended < 0) {
        ss_child_end(&child);
        status = ss_fail(e, SS_BAD_INPUT, "%s: damaged file: reading it took longer than %g s",
                         path, PATIENCE);
    }
    if (status == SS_OK) {
        status = take(&child, path, strands, e);
    }
    ss_child_clear(&child);
    return status;
}

void ss_page_strands_free(ss_page_strands *strands)
{
    free(strands->head);
    free(strands->body);
    *strands = (ss_page_strands){0};
}
