// harness/report/strands_body.c -- the frames of a strands file, packed for the viewer, in a child.
#include "harness/report/strands_reading.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/report/strands.h"

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
                        .x = ss_page_room(3 * n, sizeof *c->x),
                        .impulse = ss_page_room(3 * n, sizeof *c->impulse),
                        .status = ss_page_room(n, sizeof *c->status),
                        .strand = ss_page_room(2 * n, sizeof *c->strand)};
    if (n > 0 && (!ss_page_read_rows(r, SS_PAGE_CONTACT_X, H5T_NATIVE_DOUBLE, from, n, c->x) ||
                  !ss_page_read_rows(r, SS_PAGE_IMPULSE, H5T_NATIVE_DOUBLE, from, n, c->impulse) ||
                  !ss_page_read_rows(r, SS_PAGE_STATUS, H5T_NATIVE_INT, from, n, c->status) ||
                  !ss_page_read_rows(r, SS_PAGE_PAIR, H5T_NATIVE_INT, from, n, c->strand))) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const int a = c->strand[2 * i], b = c->strand[2 * i + 1];
        if (a < 0 || (size_t)a >= r->strands || b < -1 || (b >= 0 && (size_t)b >= r->strands) ||
            !isfinite(c->x[3 * i] + c->x[3 * i + 1] + c->x[3 * i + 2])) {
            return ss_page_refuse(r, "contact %zu of frame %zu joins strands %d and %d", i, frame,
                                  a, b);
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
    uint8_t *at = ss_page_room(c->count, sizeof *at);
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
    double *pose = ss_page_room(SS_PAGE_POSE * r->obstacles, sizeof *pose);
    const bool ok =
        r->obstacles == 0 || ss_page_read_rows(r, SS_PAGE_POSES, H5T_NATIVE_DOUBLE, frame, 1, pose);
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
    bool ok = ss_page_read_rows(r, SS_PAGE_X, H5T_NATIVE_DOUBLE, frame, 1, r->row) &&
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

bool ss_page_make_body(ss_page_reading *r)
{
    size_t contacts = 0;
    for (size_t f = 0; f < r->frames; f += r->every) {
        contacts += (size_t)(r->start[f + 1] - r->start[f]);
    }
    const size_t frame = 6 * r->vertices + r->strands + 4 * SS_PAGE_POSE * r->obstacles;
    uint16_t *scratch = ss_page_room(6 * r->vertices, sizeof *scratch);
    double *sum = ss_page_room(r->strands, sizeof *sum);
    r->body = ss_page_room(r->kept * frame + SS_PAGE_CONTACT * contacts, 1);
    if ((double)(r->kept * frame + SS_PAGE_CONTACT * contacts) > 1.1 * SS_PAGE_MOST_BYTES) {
        return ss_page_refuse(r, "a frame of %zu vertices is too large for a page", r->vertices);
    }
    bool ok = read_impulses(r, sum);
    for (size_t f = 0; ok && f < r->frames; f += r->every) {
        ok = put_frame(r, f, scratch, sum);
    }
    free(scratch);
    free(sum);
    return ok;
}
