#include "problems/matrix/sparse_ends.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problems/matrix/bodies.h"

bool ss_sparse_ends_possible(const ss_whitened *white)
{
    for (int k = 0; k < white->nbodies; k++) {
        const bool touched = white->body_end_start[k + 1] > white->body_end_start[k];
        if (touched && ss_mass_band(white->mass, k) == NULL) {
            return false;
        }
    }
    return true;
}

void ss_sparse_ends_free(ss_sparse_ends *ends)
{
    if (ends != NULL) {
        free(ends->start);
        free(ends->entry);
        free(ends->W);
        free(ends->place);
        free(ends->loaded);
        free(ends->room);
        free(ends);
    }
}

// ---- Entries

static ss_end_entry *entry_of(ss_sparse_ends *ends, int s, int *count, int dof)
{
    ss_end_entry *first = ends->entry + ends->start[s];
    for (int k = 0; k < *count; k++) {
        if (first[k].dof == dof) {
            return &first[k];
        }
    }
    first[*count] = (ss_end_entry){.dof = dof};
    return &first[(*count)++];
}

static void take_entries(const ss_problem *p, const ss_whitened *white, int i, int s)
{
    const ss_bodies *layout = ss_mass_layout(white->mass);
    ss_sparse_ends *ends = white->sparse;
    const int body = white->end_body[s];
    int count = 0;
    for (int c = 0; c < p->dim; c++) {
        const int column = p->dim * i + c;
        for (int k = p->H.start[column]; k < p->H.start[column + 1]; k++) {
            const int dof = p->H.row[k];
            if (layout->body_of[dof] == body) {
                const int place = white->body_start[body] + layout->place[dof];
                entry_of(ends, s, &count, place)->H[c] = p->H.x[k];
            }
        }
    }
    ends->start[s + 1] = ends->start[s] + count;
}

// Whether all columns of contact i have the same rows.
static bool has_equal_rows(const ss_problem *p, int i)
{
    const int *start = p->H.start + p->dim * i, *row = p->H.row;
    bool equal = true;
    for (int c = 1; equal && c < p->dim; c++) {
        equal = start[c + 1] - start[c] == start[1] - start[0] &&
                memcmp(row + start[0], row + start[c],
                       (size_t)(start[1] - start[0]) * sizeof *row) == 0;
    }
    return equal;
}

// The same for all ends of a contact whose columns have equal rows, where those of an end follow each other and
// ends come in their order; else false.
static bool take_equal_rows(const ss_problem *p, const ss_whitened *white, int i)
{
    const ss_bodies *layout = ss_mass_layout(white->mass);
    const int *start = p->H.start + p->dim * i;
    ss_sparse_ends *ends = white->sparse;
    int s = white->end_start[i], at = ends->start[s];
    if (!has_equal_rows(p, i)) {
        return false;
    }
    for (int k = start[0]; k < start[1]; k++, at++) {
        const int dof = p->H.row[k], body = layout->body_of[dof];
        if (body != white->end_body[s]) {
            ends->start[++s] = at;
            if (s == white->end_start[i + 1] || body != white->end_body[s]) {
                return false;
            }
        }
        ends->entry[at] = (ss_end_entry){.dof = white->body_start[body] + layout->place[dof]};
        for (int c = 0; c < p->dim; c++) {
            ends->entry[at].H[c] = p->H.x[start[c] + k - start[0]];
        }
    }
    ends->start[s + 1] = at;
    return true;
}

// ---- Responses

const double *ss_sparse_ends_response(const ss_whitened *white, int s)
{
    ss_sparse_ends *ends = white->sparse;
    if (ss_end_pushed(ends, s)) {
        return ends->room + ends->place[s];
    }
    const int body = white->end_body[s], begin = white->body_start[body];
    const size_t room = (size_t)ss_whitened_room(white, body);
    const size_t size = (size_t)white->dim * room;
    const size_t at = __atomic_fetch_add(&ends->used, size, __ATOMIC_RELAXED);
    double *Y = ends->room + at;
    int first = (int)room;
    memset(Y, 0, size * sizeof *Y);
    for (int k = ends->start[s]; k < ends->start[s + 1]; k++) {
        const ss_end_entry *entry = &ends->entry[k];
        const int j = entry->dof - begin;
        first = j < first ? j : first;
        for (int c = 0; c < white->dim; c++) {
            Y[(size_t)c * room + (size_t)j] = entry->H[c];
        }
    }
    ss_banded_solve_rows(ss_mass_band(white->mass, body), first, white->dim, room, Y);
    ends->place[s] = (ptrdiff_t)at;
    return Y;
}

// H r as a load in v, and which bodies have one. Most impulses are zero.
static void add_impulses(const ss_whitened *white, const double *r, int stride, double *v)
{
    const ss_sparse_ends *ends = white->sparse;
    for (int i = 0; i < white->ncontacts; i++, r += stride) {
        const double r2 = white->dim == 3 ? r[2] : 0.0;
        if (r[0] == 0.0 && r[1] == 0.0 && r2 == 0.0) {
            continue;
        }
        for (int s = white->end_start[i]; s < white->end_start[i + 1]; s++) {
            ends->loaded[white->end_body[s]] = true;
            for (int k = ends->start[s]; k < ends->start[s + 1]; k++) {
                const ss_end_entry *at = &ends->entry[k];
                v[at->dof] += at->H[0] * r[0] + at->H[1] * r[1] + at->H[2] * r2;
            }
        }
    }
}

void ss_sparse_ends_motion(const ss_whitened *white, const double *r, int stride, double *v)
{
    const ss_sparse_ends *ends = white->sparse;
    memset(v, 0, (size_t)white->body_start[white->nbodies] * sizeof *v);
    memset(ends->loaded, 0, (size_t)white->nbodies * sizeof *ends->loaded);
    add_impulses(white, r, stride, v);
    for (int body = 0; body < white->nbodies; body++) {
        const int begin = white->body_start[body], end = white->body_start[body + 1];
        if (ends->loaded[body]) {
            ss_banded_solve_rows(ss_mass_band(white->mass, body), 0, 1, (size_t)(end - begin),
                                 v + begin);
        }
        for (int j = begin; j < end; j++) {
            v[j] += white->z0[j];
        }
    }
}

// ---- W_ii

// Whether all pairs of dofs of the end are within the band.
static bool is_within(const ss_sparse_ends *ends, int s, int half)
{
    int low = ends->entry[ends->start[s]].dof, high = low;
    for (int k = ends->start[s]; k < ends->start[s + 1]; k++) {
        const int dof = ends->entry[k].dof;
        low = dof < low ? dof : low;
        high = dof > high ? dof : high;
    }
    return high - low <= half;
}

// W += H_a' t
static void add_outer(const double H[4], const double t[4], double W[9])
{
    for (int c = 0; c < 3; c++) {
        for (int d = 0; d < 3; d++) {
            W[3 * c + d] += H[c] * t[d];
        }
    }
}

static void own_block(const ss_whitened *white, int s, const ss_banded *Z, double W[9])
{
    const ss_sparse_ends *ends = white->sparse;
    const int begin = white->body_start[white->end_body[s]];
    const int room = ss_whitened_room(white, white->end_body[s]);
    const bool within = is_within(ends, s, Z->half);
    const double *Y = within ? NULL : ss_sparse_ends_response(white, s);
    for (int a = ends->start[s]; a < ends->start[s + 1]; a++) {
        const ss_end_entry *one = &ends->entry[a];
        const int i = one->dof - begin;
        double t[4] = {0.0};
        for (int b = ends->start[s]; b < ends->start[s + 1] && within; b++) {
            const ss_end_entry *other = &ends->entry[b];
            const int j = other->dof - begin;
            const double z = i >= j ? *ss_banded_at(Z, i, j) : *ss_banded_at(Z, j, i);
            for (int c = 0; c < 4; c++) {
                t[c] += z * other->H[c];
            }
        }
        for (int c = 0; c < white->dim && !within; c++) {
            t[c] = Y[c * room + i];
        }
        add_outer(one->H, t, W);
    }
    for (int c = 0; c < 3; c++) {
        for (int d = 0; d < c; d++) {
            W[3 * c + d] = W[3 * d + c];
        }
    }
}

static bool find_own_blocks(const ss_stop *stop, const ss_whitened *white)
{
    ss_banded Z = {0};
    bool ok = true;
    for (int body = 0; body < white->nbodies && ok && !ss_stop_asked_at(stop, body); body++) {
        const int begin = white->body_end_start[body], end = white->body_end_start[body + 1];
        const ss_banded *L = ss_mass_band(white->mass, body);
        if (begin == end) {
            continue;
        }
        if (Z.n != L->n || Z.half != L->half) {
            ss_banded_free(&Z);
            ok = ss_banded_init(&Z, L->n, L->half);
        }
        if (ok) {
            ss_banded_inverse(L, &Z);
        }
        for (int e = begin; e < end && ok; e++) {
            const int s = white->body_end[e];
            own_block(white, s, &Z, white->sparse->W + 9 * (size_t)s);
        }
    }
    ss_banded_free(&Z);
    return ok;
}

// ---- Making them

static bool allocate(const ss_problem *p, ss_whitened *white)
{
    const size_t nends = (size_t)white->nends, entries = (size_t)ss_sparse_count(&p->H);
    const size_t components = (size_t)p->dim * (size_t)p->ncontacts;
    const size_t places = (size_t)white->body_start[white->nbodies];
    size_t numbers = 0;
    for (int s = 0; s < white->nends; s++) {
        numbers += (size_t)p->dim * (size_t)ss_whitened_room(white, white->end_body[s]);
    }
    ss_sparse_ends *ends = white->sparse = calloc(1, sizeof *ends);
    white->z0 = calloc(places + 1, sizeof *white->z0);
    white->w = malloc((components + 1) * sizeof *white->w);
    white->b = malloc((components + 1) * sizeof *white->b);
    if (ends == NULL || white->z0 == NULL || white->w == NULL || white->b == NULL) {
        return false;
    }
    ends->start = malloc((nends + 1) * sizeof *ends->start);
    ends->entry = malloc((entries + 1) * sizeof *ends->entry);
    ends->W = calloc(9 * nends + 1, sizeof *ends->W);
    ends->place = malloc((nends + 1) * sizeof *ends->place);
    ends->loaded = malloc(((size_t)white->nbodies + 1) * sizeof *ends->loaded);
    ends->room = malloc((numbers + 1) * sizeof *ends->room); // pages come when they are written
    return ends->start != NULL && ends->entry != NULL && ends->W != NULL && ends->place != NULL &&
           ends->loaded != NULL && ends->room != NULL;
}

static void find_still_motion(const ss_problem *p, ss_whitened *white)
{
    for (int body = 0; body < white->nbodies; body++) {
        const int *dofs = ss_mass_dofs(white->mass, body);
        double *v = white->z0 + white->body_start[body];
        for (int j = 0; j < ss_mass_size(white->mass, body); j++) {
            v[j] = p->f[dofs[j]];
        }
    }
    ss_mass_solve_bodies(white->mass, white->body_start, white->z0);
    for (int i = 0; i < p->ncontacts; i++) {
        double u[4] = {0.0};
        ss_sparse_ends_see(white, i, white->z0, u);
        for (int c = 0; c < p->dim; c++) {
            white->w[p->dim * i + c] = p->w[p->dim * i + c];
            white->b[p->dim * i + c] = p->w[p->dim * i + c] + u[c];
        }
    }
}

ss_status ss_sparse_ends_make(const ss_stop *stop, const ss_problem *p, ss_whitened *white,
                              ss_error *e)
{
    if (!allocate(p, white)) {
        return ss_fail_memory(e, "the ends of the contacts");
    }
    white->sparse->start[0] = 0;
    for (int i = 0; i < p->ncontacts; i++) {
        const bool taken = take_equal_rows(p, white, i);
        for (int s = white->end_start[i]; s < white->end_start[i + 1]; s++) {
            if (!taken) {
                take_entries(p, white, i, s);
            }
            white->sparse->place[s] = -1;
        }
    }
    find_still_motion(p, white);
    return find_own_blocks(stop, white) ? SS_OK : ss_fail_memory(e, "the ends of the contacts");
}
