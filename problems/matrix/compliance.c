#include "problems/matrix/compliance.h"

#include <stdlib.h>
#include <string.h>

#include "problems/matrix/bodies.h"

// Ends that are whitened together, a multiple of SS_DENSE_LANES; and entries of an end have four numbers each,
// of which the fourth is 0.
#define BATCH 16
typedef double four __attribute__((vector_size(32), aligned(8)));

// For threads: what an entry of H takes in all, ns; ranges of bodies and of contacts.
#define WHITEN_NS   6.0
#define MOST_RANGES 64

// What a thread needs for itself.
typedef struct scratch {
    int *seen;   // [bodies] the last contact or column that met it
    double *X;   // [largest body + 1][dim BATCH], and room for four entries of an end
    int *place;  // [largest body] of an end's entries
    ss_banded Z; // of the last body that was a band
    bool ok;     // false: without memory
} scratch;

// An end is one contact on one body; it has (1) of each of its columns. Ends are numbered body by body.
typedef struct traces {
    const ss_problem *p;
    const ss_mass *mass;
    const ss_bodies *layout;
    int nends;
    int *start;    // [bodies + 1] of the ends of a body
    int *contact;  // [nends] ascending on a body
    double *share; // [dim nends] (1)
    int *first;    // [contacts + 1] of what each contact has in the next two
    int *body;     // [nends] bodies, in the order in which its entries come to them
    int *end;      // [nends] its ends on these
    int nthreads, nranges;
    scratch *scratch;   // [nthreads]
    double *compliance; // [contacts] the answer; of the caller
} traces;

static void traces_free(traces *t)
{
    free(t->start);
    free(t->contact);
    free(t->share);
    free(t->first);
    free(t->body);
    free(t->end);
    for (int k = 0; t->scratch != NULL && k < t->nthreads; k++) {
        free(t->scratch[k].seen);
        free(t->scratch[k].X);
        free(t->scratch[k].place);
        ss_banded_free(&t->scratch[k].Z);
    }
    free(t->scratch);
}

// ---- Ends

static void forget(const traces *t, scratch *k)
{
    memset(k->seen, -1, (size_t)t->layout->nbodies * sizeof *k->seen);
}

// The bodies of each contact, and the number of ends of each body, two places on.
static void list_bodies(traces *t)
{
    const ss_sparse *H = &t->p->H;
    const int dim = t->p->dim;
    int n = 0, *seen = t->scratch[0].seen;
    forget(t, t->scratch);
    for (int i = 0; i < t->p->ncontacts; i++) {
        const int columns = ss_alike_columns(H, dim * i, dim) ? 1 : dim;
        t->first[i] = n;
        for (int k = H->start[dim * i]; k < H->start[dim * i + columns]; k++) {
            const int body = t->layout->body_of[H->row[k]];
            if (seen[body] != i) {
                seen[body] = i;
                t->body[n++] = body;
                t->start[body + 2]++;
            }
        }
    }
    t->first[t->p->ncontacts] = t->nends = n;
}

static void number_ends(traces *t)
{
    for (int k = 2; k < t->layout->nbodies + 2; k++) {
        t->start[k] += t->start[k - 1];
    }
    for (int i = 0; i < t->p->ncontacts; i++) {
        for (int k = t->first[i]; k < t->first[i + 1]; k++) {
            t->end[k] = t->start[t->body[k] + 1]++;
            t->contact[t->end[k]] = i;
        }
    }
}

static bool make_scratch(traces *t)
{
    const size_t nbodies = (size_t)t->layout->nbodies, dim = (size_t)t->p->dim;
    size_t largest = 0;
    bool ok = true;
    for (int k = 0; k < t->layout->nbodies; k++) {
        const size_t m = (size_t)ss_mass_size(t->mass, k);
        largest = m > largest ? m : largest;
    }
    t->scratch = calloc((size_t)t->nthreads, sizeof *t->scratch);
    for (int k = 0; t->scratch != NULL && k < t->nthreads; k++) {
        scratch *d = &t->scratch[k];
        d->seen = malloc((nbodies + 1) * sizeof *d->seen);
        d->X = malloc(((largest + 1) * dim * BATCH + 4) * sizeof *d->X);
        d->place = malloc((largest + 1) * sizeof *d->place);
        d->ok = d->seen != NULL && d->X != NULL && d->place != NULL;
        ok = ok && d->ok;
    }
    return ok && t->scratch != NULL;
}

static bool find_ends(traces *t)
{
    const size_t nbodies = (size_t)t->layout->nbodies, dim = (size_t)t->p->dim;
    t->start = calloc(nbodies + 2, sizeof *t->start);
    t->first = malloc(((size_t)t->p->ncontacts + 1) * sizeof *t->first);
    t->body = malloc(((size_t)ss_sparse_count(&t->p->H) + 1) * sizeof *t->body);
    if (!make_scratch(t) || t->start == NULL || t->first == NULL || t->body == NULL) {
        return false;
    }
    list_bodies(t);
    const size_t n = (size_t)t->nends;
    t->end = malloc((n + 1) * sizeof *t->end);
    t->contact = malloc((n + 1) * sizeof *t->contact);
    t->share = malloc((dim * n + 1) * sizeof *t->share);
    if (t->end == NULL || t->contact == NULL || t->share == NULL) {
        return false;
    }
    number_ends(t);
    return true;
}

// ---- Shares of a body that is no band

// The columns of a contact lie in the order of the contacts, and are asked for body by body: so many ends ahead.
#define AHEAD 4
static inline void ask_for_contact(const traces *t, int e)
{
    const ss_sparse *H = &t->p->H;
    if (e + AHEAD < t->nends) {
        const int *column = H->start + t->p->dim * t->contact[e + AHEAD];
        for (int k = column[0]; k < column[t->p->dim]; k += 8) {
            __builtin_prefetch(H->x + k);
            __builtin_prefetch(H->row + k);
        }
    }
}

// The ends first .. end - 1 side by side, a dof a row.
static void whiten_batch(const traces *t, scratch *at, int body, int first, int end)
{
    const ss_sparse *H = &t->p->H;
    const int dim = t->p->dim, used = dim * (end - first), m = ss_mass_size(t->mass, body);
    const int width = ss_mass_columns(t->mass, body, used);
    const int dof = ss_bodies_first(t->layout, body);
    double *share = t->share + (size_t)dim * (size_t)first;
    memset(at->X, 0, (size_t)m * (size_t)width * sizeof *at->X);
    for (int e = first; e < end; e++) {
        ask_for_contact(t, e);
        ss_bodies_spread(t->layout, body, dof, H, dim, t->contact[e], at->X + dim * (e - first),
                         width);
    }
    ss_mass_whiten(t->mass, body, at->X, width);
    memset(share, 0, (size_t)used * sizeof *share);
    for (int j = 0; j < m; j++) {
        const double *row = at->X + (size_t)j * (size_t)width;
        for (int c = 0; c < used; c++) {
            share[c] += row[c] * row[c];
        }
    }
}

// ---- Shares of a band

// The entries of end e: place ascending, and four numbers each in X. How many.
static int gather_entries(const traces *t, scratch *d, int body, int e)
{
    const ss_sparse *H = &t->p->H;
    const int dim = t->p->dim;
    int count = 0;
    for (int c = 0; c < dim; c++) {
        const int column = dim * t->contact[e] + c;
        int at = 0;
        for (int k = H->start[column]; k < H->start[column + 1]; k++) {
            if (t->layout->body_of[H->row[k]] != body) {
                continue;
            }
            const int place = t->layout->place[H->row[k]];
            while (at < count && d->place[at] < place) {
                at++;
            }
            if (at == count || d->place[at] != place) {
                memmove(d->place + at + 1, d->place + at, (size_t)(count - at) * sizeof *d->place);
                memmove(d->X + 4 * (at + 1), d->X + 4 * at,
                        4 * (size_t)(count - at) * sizeof *d->X);
                memset(d->X + 4 * at, 0, 4 * sizeof *d->X);
                d->place[at] = place;
                count++;
            }
            d->X[4 * at + c] = H->x[k];
        }
    }
    return count;
}

// H' Z H of the entries that were gathered, the last ones first.
static void add_products(const scratch *d, int dim, int count, double *share)
{
    four sum = {0.0};
    for (int k = count - 1; k >= 0; k--) {
        const four Hk = *(const four *)(d->X + 4 * k);
        const int row = d->place[k];
        for (int l = count - 1; l >= 0; l--) {
            const int other = d->place[l];
            const double z =
                row > other ? *ss_banded_at(&d->Z, row, other) : *ss_banded_at(&d->Z, other, row);
            sum += Hk * z * *(const four *)(d->X + 4 * l);
        }
    }
    for (int c = 0; c < dim; c++) {
        share[c] = sum[c];
    }
}

// False without memory.
static bool invert(scratch *d, const ss_banded *L)
{
    if (d->Z.n != L->n || d->Z.half != L->half) {
        ss_banded_free(&d->Z);
        if (!ss_banded_init(&d->Z, L->n, L->half)) {
            return false;
        }
    }
    ss_banded_inverse(L, &d->Z);
    return true;
}

static bool band_shares(const traces *t, scratch *d, int body, const ss_banded *L)
{
    const int begin = t->start[body], end = t->start[body + 1];
    if (begin < end && !invert(d, L)) {
        return false;
    }
    for (int e = begin; e < end; e++) {
        const int count = gather_entries(t, d, body, e);
        if (d->place[count - 1] - d->place[0] <= L->half) {
            add_products(d, t->p->dim, count, t->share + (size_t)t->p->dim * (size_t)e);
        } else {
            whiten_batch(t, d, body, e, e + 1);
        }
    }
    return true;
}

// ---- All

static void share_bodies(void *of, int range, int thread)
{
    const traces *t = of;
    scratch *d = &t->scratch[thread];
    const int last = ss_team_cut(t->layout->nbodies, range + 1, t->nranges);
    for (int body = ss_team_cut(t->layout->nbodies, range, t->nranges); d->ok && body < last;
         body++) {
        const ss_banded *L = ss_mass_band(t->mass, body);
        if (L != NULL) {
            d->ok = band_shares(t, d, body, L);
            continue;
        }
        for (int e = t->start[body]; e < t->start[body + 1]; e += BATCH) {
            const int rest = t->start[body + 1] - e;
            whiten_batch(t, d, body, e, e + (rest < BATCH ? rest : BATCH));
        }
    }
}

// The end of contact i on one of its bodies.
static int end_of(const traces *t, int body, int i)
{
    int k = t->first[i];
    while (t->body[k] != body) {
        k++;
    }
    return t->end[k];
}

// The shares of column c of contact i, in the order in which its entries come to bodies.
static double column_square(const traces *t, scratch *d, int i, int c)
{
    const ss_sparse *H = &t->p->H;
    const int column = t->p->dim * i + c;
    double sum = 0.0;
    int last = -1;
    for (int k = H->start[column]; k < H->start[column + 1]; k++) {
        const int body = t->layout->body_of[H->row[k]];
        if (body != last && d->seen[body] != column) {
            d->seen[body] = column;
            sum += t->share[t->p->dim * end_of(t, body, i) + c];
        }
        last = body;
    }
    return sum;
}

// The same of a contact whose columns are alike.
static double alike_square(const traces *t, int i, int c)
{
    double sum = 0.0;
    for (int k = t->first[i]; k < t->first[i + 1]; k++) {
        sum += t->share[t->p->dim * t->end[k] + c];
    }
    return sum;
}

// Those of a range of contacts.
static void add_shares(void *of, int range, int thread)
{
    const traces *t = of;
    scratch *d = &t->scratch[thread];
    const int dim = t->p->dim, end = ss_team_cut(t->p->ncontacts, range + 1, t->nranges);
    for (int i = ss_team_cut(t->p->ncontacts, range, t->nranges); i < end; i++) {
        const bool alike = ss_alike_columns(&t->p->H, dim * i, dim);
        double sum = 0.0;
        for (int c = 0; c < dim; c++) {
            sum += (alike ? alike_square(t, i, c) : column_square(t, d, i, c)) / dim;
        }
        t->compliance[i] = sum;
    }
}

bool ss_compliance_find(const ss_problem *p, const ss_mass *mass, ss_team *team, double *compliance)
{
    const double whole = WHITEN_NS * ss_sparse_count(&p->H);
    const bool shared = ss_team_pays(team, whole);
    traces t = {.p = p,
                .mass = mass,
                .layout = ss_mass_layout(mass),
                .nthreads = shared ? ss_team_size(team) : 1,
                .nranges = shared ? MOST_RANGES : 1,
                .compliance = compliance};
    bool ok = find_ends(&t);
    if (ok) {
        ss_team_run(team, t.nranges, share_bodies, &t);
    }
    for (int k = 0; ok && k < t.nthreads; k++) {
        ok = t.scratch[k].ok;
        forget(&t, &t.scratch[k]);
    }
    if (ok) {
        ss_team_run(team, t.nranges, add_shares, &t);
    }
    traces_free(&t);
    return ok;
}
