#include "solvers/sweep/coupling.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problems/matrix/sparse_ends.h"
#include "solvers/contact.h"
#include "solvers/small.h"

// Four numbers at once. Sums run in a fixed tree, so the bits do not depend on the CPU's vectors.
#define FOUR 4
typedef double four __attribute__((vector_size(8 * FOUR), aligned(8)));

static inline four coupling_load(const double *x)
{
    return *(const four *)x;
}

static inline double total(four x)
{
    return (x[0] + x[2]) + (x[1] + x[3]);
}

void ss_coupling_free(ss_coupling *c)
{
    if (c == NULL) {
        return;
    }
    free(c->contact);
    free(c->r);
    free(c->b);
    free(c->compliance);
    ss_blocks_free(&c->W);
    ss_whitened_free(c->white);
    ss_resting_free(c->resting);
    free(c->z);
    free(c->u);
    free(c->packed);
    free(c->mu);
    free(c->memo);
    free(c);
}

// ---- Velocities

// What an impulse at an end does to z.
static inline const double *response_of(const ss_whitened *white, int s)
{
    return white->sparse != NULL ? ss_sparse_ends_response(white, s) : white->G + white->end_G[s];
}

// Rows of three numbers are read as four: the fourth belongs to what follows and meets the zero
// behind r_j. W has room behind its last block.
static void explicit_velocity_3(const ss_coupling *c, int i, const double *r_all, double u[3])
{
    four u0 = {0}, u1 = {0}, u2 = {0};
    const double *block = c->W.x + 9 * c->W.start[i];
    for (size_t k = c->W.start[i]; k < c->W.start[i + 1]; k++, block += 9) {
        const four r = coupling_load(r_all + 4 * (size_t)c->W.col[k]);
        u0 += coupling_load(block) * r;
        u1 += coupling_load(block + 3) * r;
        u2 += coupling_load(block + 6) * r;
    }
    const double *b = c->b + 3 * (size_t)i;
    u[0] = b[0] + total(u0);
    u[1] = b[1] + total(u1);
    u[2] = b[2] + total(u2);
}

static void explicit_velocity_2(const ss_coupling *c, int i, const double *r_all, double u[3])
{
    const double *b = c->b + 2 * (size_t)i;
    u[0] = b[0];
    u[1] = b[1];
    u[2] = 0.0;
    const double *block = c->W.x + 4 * c->W.start[i];
    for (size_t k = c->W.start[i]; k < c->W.start[i + 1]; k++, block += 4) {
        const double *r = r_all + 4 * (size_t)c->W.col[k];
        u[0] += block[0] * r[0] + block[1] * r[1];
        u[1] += block[2] * r[0] + block[3] * r[1];
    }
}

static void matrix_free_velocity(const ss_coupling *c, int i, const double *z_all, double u[3])
{
    const ss_whitened *white = c->white;
    const double *w = white->w + (size_t)c->dim * (size_t)i;
    if (white->sparse != NULL) {
        double all[4] = {w[0], w[1], c->dim == 3 ? w[2] : 0.0, 0.0};
        ss_sparse_ends_see(white, i, z_all, all);
        memcpy(u, all, 3 * sizeof *u);
        return;
    }
    four sum[3] = {{0}, {0}, {0}};
    for (int s = white->end_start[i]; s < white->end_start[i + 1]; s++) {
        const int room = ss_whitened_room(white, white->end_body[s]);
        const double *z = z_all + white->body_start[white->end_body[s]];
        const double *G = white->G + white->end_G[s];
        for (int j = 0; j < room; j += FOUR) {
            const four zj = coupling_load(z + j);
            sum[0] += coupling_load(G + j) * zj;
            sum[1] += coupling_load(G + room + j) * zj;
            if (c->dim == 3) {
                sum[2] += coupling_load(G + 2 * room + j) * zj;
            }
        }
    }
    u[0] = w[0] + total(sum[0]);
    u[1] = w[1] + total(sum[1]);
    u[2] = c->dim == 3 ? w[2] + total(sum[2]) : 0.0;
}

void ss_coupling_velocity(const ss_coupling *c, int i, double u[3])
{
    if (!c->is_explicit) {
        matrix_free_velocity(c, i, c->z, u);
    } else {
        ss_coupling_row(c, i, c->r, u);
    }
}

void ss_coupling_row(const ss_coupling *c, int i, const double *r, double u[3])
{
    if (c->dim == 3) {
        explicit_velocity_3(c, i, r, u);
    } else {
        explicit_velocity_2(c, i, r, u);
    }
}

void ss_coupling_see(const ss_coupling *c, int i, const double *z, double u[3])
{
    matrix_free_velocity(c, i, z, u);
}

// z of the end's body += G' dr.
static void push_end(const ss_coupling *c, int s, const double dr[3], double *z_all)
{
    const ss_whitened *white = c->white;
    const int room = ss_whitened_room(white, white->end_body[s]);
    double *z = z_all + white->body_start[white->end_body[s]];
    const double *G = response_of(white, s);
    for (int j = 0; j < room; j += FOUR) {
        four zj = coupling_load(z + j) + coupling_load(G + j) * dr[0] +
                  coupling_load(G + room + j) * dr[1];
        if (c->dim == 3) {
            zj += coupling_load(G + 2 * room + j) * dr[2];
        }
        *(four *)(z + j) = zj;
    }
}

void ss_coupling_push(const ss_coupling *c, int i, const double dr[3], double *z_all)
{
    for (int s = c->white->end_start[i]; s < c->white->end_start[i + 1]; s++) {
        push_end(c, s, dr, z_all);
    }
}

void ss_coupling_gather(const ss_coupling *c, int body, const double *r, double *z_all)
{
    const ss_whitened *white = c->white;
    const size_t from = (size_t)white->body_start[body];
    memcpy(z_all + from, white->z0 + from, (size_t)ss_whitened_room(white, body) * sizeof *z_all);
    for (int k = white->body_end_start[body]; k < white->body_end_start[body + 1]; k++) {
        push_end(c, white->body_end[k], r + 4 * (size_t)white->body_end_contact[k], z_all);
    }
}

void ss_coupling_move(ss_coupling *c, int i, const double r[3])
{
    double *old = c->r + 4 * (size_t)i;
    const double dr[3] = {r[0] - old[0], r[1] - old[1], r[2] - old[2]};
    if (!c->is_explicit && (dr[0] != 0.0 || dr[1] != 0.0 || dr[2] != 0.0)) {
        ss_coupling_push(c, i, dr, c->z);
    }
    if (c->resting != NULL) {
        ss_resting_move(c->resting, i, sqrt(ss_dot3(dr, dr)));
    }
    old[0] = r[0];
    old[1] = r[1];
    old[2] = r[2];
}

// ---- The whole state

void ss_coupling_leapt(ss_coupling *c, const double *r, const double *z)
{
    if (c->resting == NULL) {
        return;
    }
    if (r == NULL || z == NULL || c->is_explicit || c->white->sparse != NULL) {
        ss_resting_forget(c->resting);
    } else {
        ss_resting_leap(c->resting, c->white->body_start, z, c->z, r, c->r);
    }
}

void ss_coupling_refresh(ss_coupling *c)
{
    ss_coupling_leapt(c, NULL, NULL);
    if (c->is_explicit) {
        return;
    }
    if (c->white->sparse != NULL) {
        ss_sparse_ends_motion(c->white, c->r, 4, c->z);
        return;
    }
    memcpy(c->z, c->white->z0, (size_t)c->white->body_start[c->white->nbodies] * sizeof *c->z);
    for (int i = 0; i < c->n; i++) {
        const double *r = c->r + 4 * (size_t)i;
        if (r[0] != 0.0 || r[1] != 0.0 || r[2] != 0.0) {
            ss_coupling_push(c, i, r, c->z);
        }
    }
}

void ss_coupling_put(ss_coupling *c, const double *r)
{
    for (int i = 0; i < c->n; i++) {
        for (int k = 0; k < c->dim; k++) {
            c->r[4 * (size_t)i + (size_t)k] = r[(size_t)c->dim * (size_t)i + (size_t)k];
        }
    }
}

// Those that have an impulse or approach will push.
static void want_responses(ss_coupling *c)
{
    const ss_whitened *white = c->white;
    for (int i = 0; i < c->n; i++) {
        const double *r = c->r + 4 * (size_t)i;
        double u[3];
        matrix_free_velocity(c, i, c->z, u);
        const bool wanted = r[0] != 0.0 || r[1] != 0.0 || r[2] != 0.0 || u[0] < 0.0;
        for (int s = white->end_start[i]; s < white->end_start[i + 1]; s++) {
            white->sparse->wanted[s] = wanted;
        }
    }
}

void ss_coupling_set(ss_coupling *c, const double *r)
{
    ss_coupling_put(c, r);
    ss_coupling_refresh(c);
    if (!c->is_explicit && c->white->sparse != NULL) {
        want_responses(c);
    }
}

void ss_coupling_get(const ss_coupling *c, double *r)
{
    for (int i = 0; i < c->n; i++) {
        for (int k = 0; k < c->dim; k++) {
            r[(size_t)c->dim * (size_t)i + (size_t)k] = c->r[4 * (size_t)i + (size_t)k];
        }
    }
}

ss_measures ss_coupling_measure(ss_coupling *c)
{
    ss_coupling_refresh(c);
    for (int i = 0; i < c->n; i++) {
        double u[3];
        ss_coupling_velocity(c, i, u);
        memcpy(c->u + (size_t)c->dim * (size_t)i, u, (size_t)c->dim * sizeof *u);
    }
    ss_coupling_get(c, c->packed);
    return ss_measure(c->dim, c->n, c->compliance, c->b, c->mu, c->packed, c->u);
}

// ---- Rounding

static void add_sizes(int dim, int room, const double *G, const double *x, double *t)
{
    for (int k = 0; k < dim; k++) {
        for (int j = 0; j < room; j++) {
            t[k] += fabs(G[k * room + j]) * x[j];
        }
    }
}

// The same of an end that is sparse, x being the sizes of z of its body.
static void add_entry_sizes(const ss_coupling *c, int body, int s, const double *x, double *t)
{
    const ss_sparse_ends *ends = c->white->sparse;
    if (ends->own[s] >= 0) {
        for (int k = 0; k < c->dim; k++) {
            t[k] += x[ends->own[s] - c->white->body_start[body] + k] +
                    ends->still[(size_t)(c->dim * s + k)];
        }
        return;
    }
    for (int k = ends->start[s]; k < ends->start[s + 1]; k++) {
        for (int l = 0; l < c->dim; l++) {
            t[l] += fabs(ends->entry[k].H[l]) * x[ends->entry[k].dof];
        }
    }
}

static void add_response_sizes(const ss_coupling *c, int s, int room, const double *r)
{
    const ss_whitened *white = c->white;
    if (white->sparse != NULL && !ss_end_pushed(white->sparse, s)) {
        return; // r is 0 there
    }
    const double *G = response_of(white, s);
    for (int k = 0; k < c->dim; k++) {
        for (int j = 0; j < room; j++) {
            c->sizes[j] += fabs(G[k * room + j] * r[k]);
        }
    }
}

// t [dim n] from the ends of one body: |z0| + sum |G_j|' |r_j|, and |G_i| times that; the same with what is
// pushed and seen where ends are sparse.
static void add_body_sizes(const ss_coupling *c, int body, double *t)
{
    const ss_whitened *white = c->white;
    const int room = ss_whitened_room(white, body), d = c->dim;
    for (int j = 0; j < room; j++) {
        c->sizes[j] = fabs(white->z0[white->body_start[body] + j]);
    }
    for (int s = white->body_end_start[body]; s < white->body_end_start[body + 1]; s++) {
        add_response_sizes(c, white->body_end[s], room,
                           c->r + 4 * (size_t)white->body_end_contact[s]);
    }
    for (int s = white->body_end_start[body]; s < white->body_end_start[body + 1]; s++) {
        double *at = t + d * white->body_end_contact[s];
        if (white->sparse != NULL) {
            add_entry_sizes(c, body, white->body_end[s], c->sizes, at);
        } else {
            add_sizes(d, room, white->G + white->end_G[white->body_end[s]], c->sizes, at);
        }
    }
}

static void find_explicit_sizes(const ss_coupling *c, double *t)
{
    const int d = c->dim;
    for (int i = 0; i < c->n; i++) {
        for (size_t e = c->W.start[i]; e < c->W.start[i + 1]; e++) {
            const double *r = c->r + 4 * (size_t)c->W.col[e];
            const double sizes[3] = {fabs(r[0]), fabs(r[1]), fabs(r[2])};
            add_sizes(d, d, c->W.x + e * (size_t)(d * d), sizes, t + d * i);
        }
    }
}

double ss_coupling_rounding(const ss_coupling *c)
{
    const double *b = c->is_explicit ? c->b : c->white->w;
    double *t = c->packed, most = 0.0, largest = 0.0;
    for (int k = 0; k < c->dim * c->n; k++) {
        t[k] = fabs(b[k]);
    }
    if (c->is_explicit) {
        find_explicit_sizes(c, t);
    }
    for (int body = 0; !c->is_explicit && body < c->white->nbodies; body++) {
        add_body_sizes(c, body, t);
    }
    for (int k = 0; k < c->dim * c->n; k++) {
        most = fmax(most, t[k]);
        largest = fmax(largest, fabs(c->r[4 * (k / c->dim) + k % c->dim]));
    }
    return DBL_EPSILON * (c->s * largest + most);
}

// ---- Making one

// The bytes that a visit reads decide: a row of blocks against the ends' G, read once for the
// velocity and once for the push.
static bool explicit_is_cheaper(const ss_whitened *white)
{
    double row_reads = 0.0, end_reads = 0.0;
    for (int s = 0; s < white->nends; s++) {
        const int body = white->end_body[s];
        row_reads += white->dim * white->dim *
                     (white->body_end_start[body + 1] - white->body_end_start[body]);
        end_reads += 2.0 * white->dim * ss_whitened_room(white, body);
    }
    return row_reads <= end_reads;
}

static ss_status couple_global(ss_coupling *c, const ss_problem *p, ss_mass **room,
                               ss_coupling_form form, bool resting, const ss_stop *stop,
                               ss_error *e)
{
    ss_status status = form == SS_FORM_SWEEPS
                           ? ss_whitened_sparse_until(stop, p, room, &c->white, e)
                           : ss_whitened_until(stop, p, room, &c->white, e);
    if (status != SS_OK || c->white == NULL) {
        return status;
    }
    memcpy(c->b, c->white->b, (size_t)(c->dim * c->n) * sizeof *c->b);
    c->is_explicit = form == SS_FORM_EXPLICIT || form == SS_FORM_NAIVE ||
                     ((form == SS_FORM_AUTO || form == SS_FORM_SWEEPS) &&
                      c->white->sparse == NULL && explicit_is_cheaper(c->white));
    status = resting ? ss_resting_new(c->white, p->mu, &c->resting, e) : SS_OK;
    if (status != SS_OK) {
        return status;
    }
    if (c->is_explicit) {
        status = form == SS_FORM_NAIVE ? ss_blocks_assemble_naive(stop, p, c->white, &c->W, e)
                                       : ss_blocks_assemble_until(stop, c->white, NULL, &c->W, e);
        ss_whitened_free(c->white);
        c->white = NULL;
        return status;
    }
    const size_t numbers = (size_t)c->white->body_start[c->white->nbodies] + 1;
    c->z = malloc(2 * numbers * sizeof *c->z);
    c->sizes = c->z + numbers;
    return c->z != NULL ? SS_OK : ss_fail_memory(e, "the matrix-free form");
}

static ss_status couple_local(ss_coupling *c, const ss_problem *p, ss_coupling_form form,
                              const ss_stop *stop, ss_error *e)
{
    if (form == SS_FORM_MATRIX_FREE) {
        return ss_fail(e, SS_BAD_INPUT,
                       "form=matrix-free needs a problem in global form: this one has no M and H");
    }
    c->is_explicit = true;
    memcpy(c->b, p->b, (size_t)(c->dim * c->n) * sizeof *c->b);
    return ss_blocks_from_sparse_until(stop, &p->W, p->dim, &c->W, e);
}

// G G' of one end: its lower triangle is its upper one.
static void add_own_block(const double *G, int dim, int room, double W[9])
{
    for (int r = 0; r < dim; r++) {
        for (int k = r; k < dim; k++) {
            double sum = W[3 * r + k];
            for (int j = 0; j < room; j++) {
                sum += G[r * room + j] * G[k * room + j];
            }
            W[3 * r + k] = W[3 * k + r] = sum;
        }
    }
}

// W_ii of each contact.
static void find_own_block(const ss_coupling *c, int i, double W[9])
{
    if (!c->is_explicit) {
        const ss_whitened *white = c->white;
        for (int s = white->end_start[i]; s < white->end_start[i + 1]; s++) {
            if (white->sparse != NULL) {
                for (int k = 0; k < 9; k++) {
                    W[k] += white->sparse->W[9 * (size_t)s + (size_t)k];
                }
                continue;
            }
            add_own_block(white->G + white->end_G[s], c->dim,
                          ss_whitened_room(white, white->end_body[s]), W);
        }
        return;
    }
    size_t k = c->W.start[i];
    while (c->W.col[k] != i) {
        k++;
    }
    const double *block = c->W.x + k * (size_t)(c->dim * c->dim);
    for (int r = 0; r < c->dim; r++) {
        memcpy(W + 3 * r, block + r * c->dim, (size_t)c->dim * sizeof *W);
    }
}

static void coupling_fill_contacts(ss_coupling *c, const ss_problem *p)
{
    for (int i = 0; i < c->n; i++) {
        ss_local *contact = &c->contact[i];
        contact->dim = c->dim;
        contact->mu = c->mu[i] = p->mu[i];
        find_own_block(c, i, contact->W);
        c->compliance[i] = (contact->W[0] + contact->W[4] + contact->W[8]) / c->dim;
        ss_local_embed(contact);
    }
    const ss_scales scales = ss_scales_find(c->dim, c->n, c->compliance, c->b);
    c->s = scales.compliance;
    c->V = scales.velocity;
}

static bool coupling_allocate(ss_coupling *c)
{
    const size_t n = (size_t)c->n, components = (size_t)c->dim * n;
    c->contact = calloc(n, sizeof *c->contact);
    c->r = calloc(4 * n, sizeof *c->r);
    c->b = malloc(components * sizeof *c->b);
    c->u = malloc(components * sizeof *c->u);
    c->packed = malloc(components * sizeof *c->packed);
    c->compliance = malloc(n * sizeof *c->compliance);
    c->mu = malloc(n * sizeof *c->mu);
    c->memo = calloc(n, sizeof *c->memo);
    return c->contact != NULL && c->r != NULL && c->b != NULL && c->u != NULL &&
           c->packed != NULL && c->compliance != NULL && c->mu != NULL && c->memo != NULL;
}

ss_status ss_coupling_new(const ss_problem *p, ss_coupling_form form, bool resting,
                          const ss_stop *stop, ss_coupling **coupling, ss_error *e)
{
    return ss_coupling_with(p, NULL, form, resting, stop, coupling, e);
}

ss_status ss_coupling_with(const ss_problem *p, ss_mass **room, ss_coupling_form form, bool resting,
                           const ss_stop *stop, ss_coupling **coupling, ss_error *e)
{
    *coupling = NULL;
    ss_coupling *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return ss_fail_memory(e, "the coupling of the contacts");
    }
    c->dim = p->dim;
    c->n = p->ncontacts;
    ss_status status =
        coupling_allocate(c) ? SS_OK : ss_fail_memory(e, "the coupling of the contacts");
    if (status == SS_OK) {
        status = p->form == SS_GLOBAL ? couple_global(c, p, room, form, resting, stop, e)
                                      : couple_local(c, p, form, stop, e);
    }
    if (status != SS_OK || ss_stop_asked(stop)) {
        ss_coupling_free(c);
        return status;
    }
    coupling_fill_contacts(c, p);
    if (!c->is_explicit) { // r is 0
        memcpy(c->z, c->white->z0, (size_t)c->white->body_start[c->white->nbodies] * sizeof *c->z);
    }
    *coupling = c;
    return SS_OK;
}
