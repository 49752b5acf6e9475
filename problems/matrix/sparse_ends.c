#include "problems/matrix/sparse_ends.h"

#include <math.h>
#include <stdlib.h>

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
        free(ends->own);
        free(ends->W);
        free(ends->still);
        free(ends->place);
        free(ends->wanted);
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
                entry_of(ends, s, &count, layout->place[dof])->H[c] = p->H.x[k];
            }
        }
    }
    ends->start[s + 1] = ends->start[s] + count;
}

// The same for all ends of a contact whose columns have equal rows, where those of an end follow each other and
// ends come in their order; else false.
static bool take_equal_rows(const ss_problem *p, const ss_whitened *white, int i)
{
    const ss_bodies *layout = ss_mass_layout(white->mass);
    const int *start = p->H.start + p->dim * i;
    ss_sparse_ends *ends = white->sparse;
    int s = white->end_start[i], at = ends->start[s];
    if (s == white->end_start[i + 1]) {
        return true; // it touches nothing
    }
    if (!ss_alike_columns(&p->H, p->dim * i, p->dim)) {
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
        ends->entry[at] = (ss_end_entry){.dof = layout->place[dof]};
        for (int c = 0; c < p->dim; c++) {
            ends->entry[at].H[c] = p->H.x[start[c] + k - start[0]];
        }
    }
    ends->start[s + 1] = at;
    return true;
}

// ---- Motion

void ss_sparse_ends_take(const ss_whitened *white, int s, const double *v, double *y)
{
    const ss_sparse_ends *ends = white->sparse;
    for (int k = ends->start[s]; k < ends->start[s + 1]; k++) {
        for (int c = 0; c < white->dim; c++) {
            y[c] += ends->entry[k].H[c] * v[ends->entry[k].dof];
        }
    }
}

// H r on a body as a load in v, which is zero. False where there is none: most impulses are zero.
static bool add_impulses(const ss_whitened *white, int body, const double *r, int stride, double *v)
{
    const ss_sparse_ends *ends = white->sparse;
    bool loaded = false;
    for (int e = white->body_end_start[body]; e < white->body_end_start[body + 1]; e++) {
        const double *own = r + (size_t)stride * (size_t)white->body_end_contact[e];
        const double r2 = white->dim == 3 ? own[2] : 0.0;
        if (own[0] == 0.0 && own[1] == 0.0 && r2 == 0.0) {
            continue;
        }
        loaded = true;
        const int s = white->body_end[e];
        for (int k = ends->start[s]; k < ends->start[s + 1]; k++) {
            const ss_end_entry *at = &ends->entry[k];
            v[at->dof] += at->H[0] * own[0] + at->H[1] * own[1] + at->H[2] * r2;
        }
    }
    return loaded;
}

// Loads of bodies of one shape, which are solved together.
typedef struct moving {
    int count, body[SS_BANDED_SEVERAL];
    const ss_banded *L[SS_BANDED_SEVERAL];
    double *v[SS_BANDED_SEVERAL];
    double room[SS_BANDED_SEVERAL][SS_SHORT_BODY]; // v of those whose z is another
} moving;

static void give_motion(const ss_whitened *white, int body, const double *v, double *z)
{
    double *own = z + white->body_start[body];
    if (!ss_ends_own_places(white, body)) {
        return; // v stands there
    }
    for (int e = white->body_end_start[body]; e < white->body_end_start[body + 1]; e++) {
        ss_sparse_ends_take(white, white->body_end[e], v, own);
        own += white->dim;
    }
}

static void finish_motion(const ss_whitened *white, moving *m, double *z)
{
    ss_banded_solve_several(m->count, m->L, m->v);
    for (int b = 0; b < m->count; b++) {
        give_motion(white, m->body[b], m->v[b], z);
    }
    m->count = 0;
}

static void add_motion(const ss_whitened *white, int body, const double *r, int stride, moving *m,
                       double *z)
{
    const ss_banded *L = ss_mass_band(white->mass, body);
    if (m->count == SS_BANDED_SEVERAL ||
        (m->count > 0 && (L->n != m->L[0]->n || L->half != m->L[0]->half))) {
        finish_motion(white, m, z);
    }
    double *v = z + white->body_start[body];
    if (ss_ends_own_places(white, body)) {
        v = m->room[m->count];
        memset(v, 0, (size_t)L->n * sizeof *v);
    }
    if (add_impulses(white, body, r, stride, v)) {
        m->body[m->count] = body;
        m->L[m->count] = L;
        m->v[m->count++] = v;
    }
}

void ss_sparse_ends_motion(const ss_whitened *white, const double *r, int stride, double *z)
{
    moving m = {.count = 0};
    memset(z, 0, (size_t)white->body_start[white->nbodies] * sizeof *z);
    for (int body = 0; body < white->nbodies; body++) {
        if (white->body_end_start[body + 1] > white->body_end_start[body]) {
            add_motion(white, body, r, stride, &m, z);
        }
    }
    finish_motion(white, &m, z);
    for (int j = 0; j < white->body_start[white->nbodies]; j++) {
        z[j] += white->z0[j];
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

// Y [dim][n] is room for M^-1 H of the end.
static void own_block(const ss_whitened *white, int s, const ss_banded *Z, double *Y, double W[9])
{
    const ss_sparse_ends *ends = white->sparse;
    const bool within = is_within(ends, s, Z->half);
    if (!within) {
        ss_sparse_ends_column(white, s, (size_t)Z->n, Y);
    }
    for (int a = ends->start[s]; a < ends->start[s + 1]; a++) {
        const ss_end_entry *one = &ends->entry[a];
        const int i = one->dof;
        double t[4] = {0.0};
        for (int b = ends->start[s]; b < ends->start[s + 1] && within; b++) {
            const ss_end_entry *other = &ends->entry[b];
            const int j = other->dof;
            const double z = i >= j ? *ss_banded_at(Z, i, j) : *ss_banded_at(Z, j, i);
            for (int c = 0; c < 4; c++) {
                t[c] += z * other->H[c];
            }
        }
        for (int c = 0; c < white->dim && !within; c++) {
            t[c] = Y[c * Z->n + i];
        }
        add_outer(one->H, t, W);
    }
    for (int c = 0; c < 3; c++) {
        for (int d = 0; d < c; d++) {
            W[3 * c + d] = W[3 * d + c];
        }
    }
}

// For bodies of one shape.
typedef struct own_room {
    ss_banded Z;
    double *Y;
} own_room;

static void own_room_free(own_room *room)
{
    ss_banded_free(&room->Z);
    free(room->Y);
    *room = (own_room){0};
}

static bool own_room_fit(own_room *room, int dim, const ss_banded *L)
{
    if (room->Z.n == L->n && room->Z.half == L->half) {
        return true;
    }
    own_room_free(room);
    room->Y = malloc((size_t)dim * (size_t)L->n * sizeof *room->Y);
    return ss_banded_init(&room->Z, L->n, L->half) && room->Y != NULL;
}

static bool find_own_blocks(const ss_stop *stop, const ss_whitened *white)
{
    own_room room = {0};
    bool ok = true;
    for (int body = 0; body < white->nbodies && ok && !ss_stop_asked_at(stop, body); body++) {
        const int begin = white->body_end_start[body], end = white->body_end_start[body + 1];
        if (begin == end) {
            continue;
        }
        const ss_banded *L = ss_mass_band(white->mass, body);
        ok = own_room_fit(&room, white->dim, L);
        if (ok) {
            ss_banded_inverse(L, &room.Z);
        }
        for (int e = begin; e < end && ok; e++) {
            const int s = white->body_end[e];
            own_block(white, s, &room.Z, room.Y, white->sparse->W + 9 * (size_t)s);
        }
    }
    own_room_free(&room);
    return ok;
}

// ---- Making them

// Pushes take so many numbers at once.
#define LANES 8

static int padded(int count)
{
    return (count + LANES - 1) / LANES * LANES;
}

// y of the ends where they are fewer numbers than v.
static void place_ends(ss_whitened *white)
{
    ss_sparse_ends *ends = white->sparse;
    for (int body = 0; body < white->nbodies; body++) {
        const int begin = white->body_end_start[body], end = white->body_end_start[body + 1];
        const int size = ss_mass_size(white->mass, body), count = white->dim * (end - begin);
        const bool own = count == 0 || (count <= size && size <= SS_SHORT_BODY);
        const int room = padded(own ? count : size);
        white->body_start[body + 1] = white->body_start[body] + room;
        for (int e = begin; e < end; e++) {
            ends->own[white->body_end[e]] =
                own ? white->body_start[body] + white->dim * (e - begin) : -1;
        }
    }
}

static bool allocate_ends(const ss_problem *p, ss_sparse_ends *ends, size_t nends)
{
    const size_t entries = (size_t)ss_sparse_count(&p->H);
    ends->start = malloc((nends + 1) * sizeof *ends->start);
    ends->entry = malloc((entries + 1) * sizeof *ends->entry);
    ends->own = malloc((nends + 1) * sizeof *ends->own);
    ends->W = calloc(9 * nends + 1, sizeof *ends->W);
    ends->still = calloc((size_t)p->dim * nends + 1, sizeof *ends->still);
    ends->place = malloc((nends + 1) * sizeof *ends->place);
    ends->wanted = calloc(nends + 1, sizeof *ends->wanted);
    return ends->start != NULL && ends->entry != NULL && ends->own != NULL && ends->W != NULL &&
           ends->still != NULL && ends->place != NULL && ends->wanted != NULL;
}

static bool allocate(const ss_problem *p, ss_whitened *white)
{
    const size_t components = (size_t)p->dim * (size_t)p->ncontacts;
    ss_sparse_ends *ends = white->sparse = calloc(1, sizeof *ends);
    if (ends == NULL || !allocate_ends(p, ends, (size_t)white->nends)) {
        return false;
    }
    place_ends(white);
    size_t numbers = 0;
    for (int s = 0; s < white->nends; s++) {
        numbers += (size_t)p->dim * (size_t)ss_whitened_room(white, white->end_body[s]);
    }
    white->z0 = calloc((size_t)white->body_start[white->nbodies] + 1, sizeof *white->z0);
    white->b = malloc((components + 1) * sizeof *white->b);
    ends->room = malloc((numbers + 1) * sizeof(double)); // pages come when written
    return white->z0 != NULL && white->b != NULL && ends->room != NULL;
}

static void take_still_motion(ss_whitened *white, int body, const double *v)
{
    ss_sparse_ends *ends = white->sparse;
    double *z0 = white->z0 + white->body_start[body];
    if (!ss_ends_own_places(white, body)) {
        memcpy(z0, v, (size_t)ss_whitened_room(white, body) * sizeof *z0);
        return;
    }
    for (int e = white->body_end_start[body]; e < white->body_end_start[body + 1]; e++) {
        const int s = white->body_end[e];
        ss_sparse_ends_take(white, s, v, z0);
        z0 += white->dim;
        for (int k = ends->start[s]; k < ends->start[s + 1]; k++) {
            for (int c = 0; c < white->dim; c++) {
                ends->still[white->dim * s + c] +=
                    fabs(ends->entry[k].H[c] * v[ends->entry[k].dof]);
            }
        }
    }
}

static bool find_still_motion(const ss_problem *p, ss_whitened *white)
{
    int *start = malloc(((size_t)white->nbodies + 1) * sizeof *start);
    double *v = calloc((size_t)p->ndofs + LANES * (size_t)white->nbodies + 1, sizeof *v);
    const bool ok = start != NULL && v != NULL;
    for (int body = 0, at = 0; ok && body < white->nbodies; body++) {
        const int *dofs = ss_mass_dofs(white->mass, body), size = ss_mass_size(white->mass, body);
        start[body] = at;
        for (int j = 0; j < size; j++) {
            v[at + j] = p->f[dofs[j]];
        }
        start[body + 1] = at += padded(size);
    }
    if (ok) {
        ss_mass_solve_bodies(white->mass, 0, white->nbodies, start, v);
    }
    for (int body = 0; ok && body < white->nbodies; body++) {
        take_still_motion(white, body, v + start[body]);
    }
    free(start);
    free(v);
    return ok;
}

static void find_still_velocities(const ss_problem *p, ss_whitened *white)
{
    for (int i = 0; i < p->ncontacts; i++) {
        double u[4] = {0.0};
        ss_sparse_ends_see(white, i, white->z0, u);
        for (int c = 0; c < p->dim; c++) {
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
    if (!find_still_motion(p, white) || !find_own_blocks(stop, white)) {
        return ss_fail_memory(e, "the ends of the contacts");
    }
    find_still_velocities(p, white);
    return SS_OK;
}
