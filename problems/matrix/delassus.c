// problems/matrix/delassus.c -- both forms of W, W from and to a sparse matrix, and the traces of
// its blocks.
#include "problems/matrix/delassus.h"

#include "base/assert.h"
#include "base/lanes.h"
#include "base/memory.h"
#include "problems/matrix/sparse_ends.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define FOUR 4
typedef double four __attribute__((vector_size(8 * FOUR), aligned(8)));

#define MOST_RANGES 64 // ranges of bodies or contacts that threads share

// ---- The matrix-free form: ends

// Lists in bodies[] the bodies that contact i touches, ascending, and returns their number. seen[k]
// holds the last contact that was found on body k.
static int bodies_of_contact(const ss_problem *p, const ss_bodies *layout, int i, int *seen,
                             int *bodies)
{
    int count = 0;
    const ss_sparse *H = &p->H;
    const int columns = ss_alike_columns(H, p->dim * i, p->dim) ? 1 : p->dim;
    for (int k = H->start[p->dim * i]; k < H->start[p->dim * i + columns]; k++) {
        const int body = layout->body_of[H->row[k]];
        if (seen[body] == i) {
            continue;
        }
        seen[body] = i;
        int place = count++;
        while (place > 0 && bodies[place - 1] > body) {
            bodies[place] = bodies[place - 1];
            place--;
        }
        bodies[place] = body;
    }
    return count;
}

// Finds the ends of all contacts: one where a contact and a body meet. Each has an entry of H at
// least, which bounds their number.
static bool find_ends(const ss_problem *p, ss_whitened *white)
{
    const int most = ss_sparse_count(&p->H);
    const ss_bodies *layout = ss_mass_layout(white->mass);
    int *seen = malloc(((size_t)white->nbodies + 1) * sizeof *seen);
    white->end_start = malloc(((size_t)p->ncontacts + 1) * sizeof *white->end_start);
    white->end_body = malloc(((size_t)most + 1) * sizeof *white->end_body);
    const bool ok = seen != NULL && white->end_start != NULL && white->end_body != NULL;
    if (ok) {
        for (int k = 0; k < white->nbodies; k++) {
            seen[k] = -1;
        }
        white->end_start[0] = 0;
        for (int i = 0; i < p->ncontacts; i++) {
            const int begin = white->end_start[i];
            white->end_start[i + 1] =
                begin + bodies_of_contact(p, layout, i, seen, white->end_body + begin);
        }
        white->nends = white->end_start[p->ncontacts];
    }
    free(seen);
    return ok;
}

static bool list_ends_by_body(ss_whitened *white)
{
    const size_t nends = (size_t)white->nends + 1;
    white->body_end_start = calloc((size_t)white->nbodies + 2, sizeof *white->body_end_start);
    white->body_end = malloc(nends * sizeof *white->body_end);
    white->body_end_contact = malloc(nends * sizeof *white->body_end_contact);
    if (white->body_end_start == NULL || white->body_end == NULL ||
        white->body_end_contact == NULL) {
        return false;
    }
    // Ends are counted two places on, so that filling leaves every body's start in its own place.
    int *start = white->body_end_start;
    for (int s = 0; s < white->nends; s++) {
        start[white->end_body[s] + 2]++;
    }
    for (int k = 2; k <= white->nbodies; k++) {
        start[k] += start[k - 1];
    }
    for (int i = 0; i < white->ncontacts; i++) {
        for (int s = white->end_start[i]; s < white->end_start[i + 1]; s++) {
            const int place = start[white->end_body[s] + 1]++;
            white->body_end[place] = s;
            white->body_end_contact[place] = i;
        }
    }
    return true;
}

// Gives each body its room in z: its size rounded up to a multiple of SS_ROOM.
static bool place_bodies(ss_whitened *white)
{
    white->body_start = malloc(((size_t)white->nbodies + 1) * sizeof *white->body_start);
    if (white->body_start == NULL) {
        return false;
    }
    white->body_start[0] = 0;
    for (int k = 0; k < white->nbodies; k++) {
        const int room = (ss_mass_size(white->mass, k) + SS_ROOM - 1) / SS_ROOM * SS_ROOM;
        white->body_start[k + 1] = white->body_start[k] + room;
    }
    return true;
}

static bool place_vectors(const ss_problem *p, ss_whitened *white)
{
    const size_t components = (size_t)p->dim * (size_t)p->ncontacts;
    size_t entries = 0;
    white->end_G = malloc(((size_t)white->nends + 1) * sizeof *white->end_G);
    if (white->end_G == NULL) {
        return false;
    }
    for (int s = 0; s < white->nends; s++) {
        white->end_G[s] = entries;
        entries += (size_t)p->dim * (size_t)ss_whitened_room(white, white->end_body[s]);
    }
    white->z0 = calloc((size_t)white->body_start[white->nbodies] + 1, sizeof *white->z0);
    white->b = malloc(components * sizeof *white->b);
    white->G = ss_large_malloc((entries + 1) * sizeof *white->G);
    return white->z0 != NULL && white->b != NULL && white->G != NULL;
}

static int columns_of(const ss_whitened *white, int body)
{
    const int ends = white->body_end_start[body + 1] - white->body_end_start[body];
    return ss_mass_columns(white->mass, body, white->dim * ends);
}

// H and G lie contact by contact, and are read body by body: they are prefetched so many ends
// ahead.
#define AHEAD 4
static inline void ask_for_end(const ss_problem *p, const ss_whitened *white, int s)
{
    if (s + AHEAD < white->nends) {
        const int end = white->body_end[s + AHEAD];
        const int *column = p->H.start + white->dim * white->body_end_contact[s + AHEAD];
        const char *G = (const char *)(white->G + white->end_G[end]);
        const size_t count = (size_t)(white->dim * ss_whitened_room(white, white->end_body[end]));
        for (int k = column[0]; k < column[white->dim]; k += 8) {
            __builtin_prefetch(p->H.x + k);
        }
        for (int k = column[0]; k < column[white->dim]; k += 16) {
            __builtin_prefetch(p->H.row + k);
        }
        for (size_t k = 0; k < count * sizeof *white->G; k += 64) {
            __builtin_prefetch(G + k, 1);
        }
    }
}

// Gathers H' of the ends on a body side by side, a dof a row: X [m][columns_of], and one row more
// as in ss_bodies_spread.
static void gather_ends(const ss_problem *p, const ss_whitened *white, int body, double *X)
{
    const ss_bodies *layout = ss_mass_layout(white->mass);
    const int begin = white->body_end_start[body], end = white->body_end_start[body + 1];
    const int m = ss_mass_size(white->mass, body), width = columns_of(white, body);
    const int first = ss_bodies_first(layout, body);
    memset(X, 0, (size_t)m * (size_t)width * sizeof *X);
    for (int s = begin; s < end; s++) {
        ask_for_end(p, white, s);
        ss_bodies_spread(layout, body, first, &p->H, white->dim, white->body_end_contact[s],
                         X + white->dim * (s - begin), width);
    }
}

// Writes the rows of G, and zeros up to their room.
static void scatter_ends(const ss_whitened *white, int body, const double *X)
{
    const int begin = white->body_end_start[body], end = white->body_end_start[body + 1];
    const int m = ss_mass_size(white->mass, body), room = ss_whitened_room(white, body);
    const size_t width = (size_t)columns_of(white, body);
    for (int s = begin; s < end; s++) {
        double *G = white->G + white->end_G[white->body_end[s]];
        for (int c = 0; c < white->dim; c++, G += room) {
            const double *column = X + white->dim * (s - begin) + c;
            for (int j = 0; j < m; j++) {
                G[j] = column[(size_t)j * width];
            }
            for (int j = m; j < room; j++) {
                G[j] = 0.0;
            }
        }
    }
}

// Computes z0 = L^-1 f of a body.
static void whiten_load(const ss_problem *p, ss_whitened *white, int body)
{
    const int *dofs = ss_mass_dofs(white->mass, body);
    double *z0 = white->z0 + white->body_start[body];
    for (int j = 0; j < ss_mass_size(white->mass, body); j++) {
        z0[j] = p->f[dofs[j]];
    }
    ss_mass_whiten(white->mass, body, z0, 1);
}

#define WHITEN_NS 4.0 // time of an entry of H

// Threads make G and z0 of ranges of bodies, each thread with scratch of its own.
typedef struct whitening {
    const ss_problem *p;
    ss_whitened *white;
    const ss_stop *stop;
    double *rooms; // [threads][room] for H' of the ends on a body, and a row for sums
    size_t room;
    double *loads; // [dim nends] G z0 of an end
    int nranges;
} whitening;

// Computes G z0 of the ends on a body while its G are side by side in X; sums [columns_of] is
// scratch.
static void take_loads(const whitening *all, int body, const double *X, double *sums)
{
    const ss_whitened *white = all->white;
    const int begin = white->body_end_start[body], end = white->body_end_start[body + 1];
    const int width = columns_of(white, body), dim = white->dim;
    const double *z0 = white->z0 + white->body_start[body];
    memset(sums, 0, (size_t)width * sizeof *sums);
    for (int j = 0; j < ss_mass_size(white->mass, body); j++) {
        const double *row = X + (size_t)j * (size_t)width;
        for (int c = 0; c < width; c++) {
            sums[c] += row[c] * z0[j];
        }
    }
    for (int s = begin; s < end; s++) {
        memcpy(all->loads + (size_t)dim * (size_t)white->body_end[s], sums + dim * (s - begin),
               (size_t)dim * sizeof *sums);
    }
}

// Computes b = w + G z0: a contact sums over its bodies in their order.
static void sum_loads(const whitening *all)
{
    const ss_whitened *white = all->white;
    const int dim = white->dim;
    for (int i = 0; i < white->ncontacts; i++) {
        double *b = white->b + (size_t)dim * (size_t)i;
        memcpy(b, white->w + (size_t)dim * (size_t)i, (size_t)dim * sizeof *b);
        for (int s = white->end_start[i]; s < white->end_start[i + 1]; s++) {
            for (int c = 0; c < dim; c++) {
                b[c] += all->loads[(size_t)dim * (size_t)s + (size_t)c];
            }
        }
    }
}

// Makes G and z0 of a range of bodies.
static void whiten_range(void *of, int range, int thread)
{
    const whitening *all = of;
    const ss_problem *p = all->p;
    ss_whitened *white = all->white;
    double *X = all->rooms + (size_t)thread * all->room;
    const int end = ss_team_cut(white->nbodies, range + 1, all->nranges);
    for (int k = ss_team_cut(white->nbodies, range, all->nranges);
         k < end && !ss_stop_asked(all->stop); k++) {
        whiten_load(p, white, k);
        if (white->body_end_start[k + 1] > white->body_end_start[k]) {
            const size_t m = (size_t)ss_mass_size(white->mass, k);
            gather_ends(p, white, k, X);
            ss_mass_whiten(white->mass, k, X, columns_of(white, k));
            take_loads(all, k, X, X + m * (size_t)columns_of(white, k));
            scatter_ends(white, k, X);
        }
        if (all->nranges == 1) { // then body follows body
            ss_mass_forget(white->mass, k + 1);
        }
    }
}

// Makes G, z0, and b = G z0 + w.
static bool whiten_bodies(const ss_stop *stop, const ss_problem *p, ss_team *team,
                          ss_whitened *white)
{
    const bool shared = ss_team_pays(team, WHITEN_NS * ss_sparse_count(&p->H));
    whitening all = {
        .p = p, .white = white, .stop = stop, .room = 1, .nranges = shared ? MOST_RANGES : 1};
    for (int k = 0; k < white->nbodies; k++) {
        const size_t rows = (size_t)ss_mass_size(white->mass, k) + 1;
        const size_t size = rows * (size_t)columns_of(white, k);
        all.room = size > all.room ? size : all.room;
    }
    const size_t threads = shared ? (size_t)ss_team_size(team) : 1;
    const size_t components = (size_t)p->dim * (size_t)white->nends;
    all.rooms = malloc(threads * all.room * sizeof *all.rooms);
    all.loads = calloc(components + 1, sizeof *all.loads); // zeros, as it may be stopped
    const bool ok = all.rooms != NULL && all.loads != NULL;
    if (ok) {
        ss_team_run(team, all.nranges, whiten_range, &all);
        sum_loads(&all);
    }
    free(all.rooms);
    free(all.loads);
    return ok;
}

static bool list_ends(const ss_problem *p, ss_whitened *white)
{
    return find_ends(p, white) && list_ends_by_body(white) && place_bodies(white);
}

static ss_status make_G(const ss_stop *stop, const ss_problem *p, ss_team *team, ss_whitened *white,
                        ss_error *e)
{
    return place_vectors(p, white) && whiten_bodies(stop, p, team, white)
               ? SS_OK
               : ss_fail_memory(e, "the matrix-free form");
}

static ss_status whitened_make(const ss_stop *stop, const ss_problem *p, bool sparse,
                               ss_mass **room, ss_team *team, ss_whitened **white, ss_error *e)
{
    *white = NULL;
    ss_assert(p->form == SS_GLOBAL);
    ss_whitened *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return ss_fail_memory(e, "the matrix-free form");
    }
    ss_status status = ss_mass_find(p, room, &made->mass, e);
    if (status == SS_OK) {
        made->dim = p->dim;
        made->w = p->w;
        made->ncontacts = p->ncontacts;
        made->nbodies = ss_mass_bodies(made->mass);
        status = list_ends(p, made) ? SS_OK : ss_fail_memory(e, "the matrix-free form");
    }
    if (status == SS_OK) {
        status = sparse && ss_sparse_ends_possible(made) ? ss_sparse_ends_make(stop, p, made, e)
                                                         : make_G(stop, p, team, made, e);
    }
    if (status != SS_OK || ss_stop_asked(stop)) {
        ss_whitened_free(made);
        return status;
    }
    *white = made;
    return SS_OK;
}

ss_status ss_whitened_until(const ss_stop *stop, const ss_problem *p, ss_mass **room, ss_team *team,
                            ss_whitened **white, ss_error *e)
{
    return whitened_make(stop, p, false, room, team, white, e);
}

ss_status ss_whitened_sparse_until(const ss_stop *stop, const ss_problem *p, ss_mass **room,
                                   ss_team *team, ss_whitened **white, ss_error *e)
{
    return whitened_make(stop, p, true, room, team, white, e);
}

ss_status ss_whitened_new(const ss_problem *p, ss_whitened **white, ss_error *e)
{
    return whitened_make(NULL, p, false, NULL, NULL, white, e);
}

void ss_whitened_free(ss_whitened *white)
{
    if (white == NULL) {
        return;
    }
    ss_mass_free(white->mass);
    free(white->body_start);
    free(white->end_start);
    free(white->end_body);
    free(white->end_G);
    free(white->body_end_start);
    free(white->body_end);
    free(white->body_end_contact);
    free(white->G);
    ss_sparse_ends_free(white->sparse);
    free(white->z0);
    free(white->b);
    free(white);
}

// ---- The explicit form: blocks

// Writes the union of two ascending lists without repetitions, ascending, into out (which is
// neither of them and has room for both), and returns its length.
static size_t merge_ascending(const int *a, size_t na, const int *b, size_t nb, int *out)
{
    size_t i = 0, j = 0, n = 0;
    while (i < na && j < nb) {
        const int next = a[i] < b[j] ? a[i] : b[j];
        i += a[i] == next;
        j += b[j] == next;
        out[n++] = next;
    }
    memcpy(out + n, a + i, (na - i) * sizeof *out);
    n += na - i;
    memcpy(out + n, b + j, (nb - j) * sizeof *out);
    return n + (nb - j);
}

// Merges the contacts on the bodies of contact i into out; spare has the same room.
static size_t neighbours(const ss_whitened *white, int i, int *out, int *spare)
{
    size_t count = 0;
    for (int s = white->end_start[i]; s < white->end_start[i + 1]; s++) {
        const int begin = white->body_end_start[white->end_body[s]];
        const int end = white->body_end_start[white->end_body[s] + 1];
        count = merge_ascending(out, count, white->body_end_contact + begin, (size_t)(end - begin),
                                spare);
        memcpy(out, spare, count * sizeof *out);
    }
    return count;
}

// Finds the contacts that share a body, row by row. Where it is stopped, later rows are missing. A
// contact on no body gets its diagonal block, so that every row has one.
static bool find_pattern(const ss_stop *stop, const ss_whitened *white, ss_blocks *W)
{
    const size_t n = (size_t)white->ncontacts;
    size_t most = n;
    for (int s = 0; s < white->nends; s++) {
        const int body = white->end_body[s];
        most += (size_t)(white->body_end_start[body + 1] - white->body_end_start[body]);
    }
    int *spare = malloc(n * sizeof *spare);
    W->start = malloc((n + 1) * sizeof *W->start);
    W->col = ss_large_malloc((most + n) * sizeof *W->col); // the last rows are merged in place
    const bool ok = spare != NULL && W->start != NULL && W->col != NULL;
    if (ok) {
        W->start[0] = 0;
        for (int i = 0; i < white->ncontacts && !ss_stop_asked_at(stop, i); i++) {
            int *row = W->col + W->start[i];
            size_t count = neighbours(white, i, row, spare);
            if (count == 0) {
                row[count++] = i;
            }
            W->start[i + 1] = W->start[i] + count;
        }
    }
    free(spare);
    return ok;
}

ss_status ss_blocks_count(const ss_whitened *white, size_t *count, ss_error *e)
{
    const size_t n = (size_t)white->ncontacts;
    int *row = malloc(2 * n * sizeof *row);
    if (row == NULL) {
        return ss_fail_memory(e, "the blocks of W");
    }
    *count = 0;
    for (int i = 0; i < white->ncontacts; i++) {
        const int first = white->end_start[i], ends = white->end_start[i + 1] - first;
        if (ends == 1) { // there are no lists to merge
            const int *start = white->body_end_start + white->end_body[first];
            *count += (size_t)(start[1] - start[0]);
        } else {
            *count += ends > 1 ? neighbours(white, i, row, row + n) : 1;
        }
    }
    free(row);
    return SS_OK;
}

// Two vectors of the CPU are columns that are made at once. Every sum runs over the dofs in
// ascending order whatever the width, so the bits do not depend on the CPU.
#define WIDTH (2 * SS_LANES)

enum { STRIP_ROWS = 3 }; // rows of a strip, of which dim are used

// G of the ends on a body side by side and transposed: rows are dofs, columns are the components of
// the contacts, padded to WIDTH.

typedef struct panels {
    size_t *start; // [nbodies] start of a body's panel in x
    double *x;
    size_t widest; // most columns of a panel
} panels;

static size_t panel_width(const ss_whitened *white, int body)
{
    const int ends = white->body_end_start[body + 1] - white->body_end_start[body];
    return ((size_t)white->dim * (size_t)ends + WIDTH - 1) / WIDTH * WIDTH;
}

static void fill_panel(const ss_whitened *white, int body, double *panel)
{
    const int dim = white->dim, m = ss_whitened_room(white, body);
    const int begin = white->body_end_start[body], end = white->body_end_start[body + 1];
    const size_t width = panel_width(white, body);
    memset(panel, 0, (size_t)m * width * sizeof *panel);
    for (int s = begin; s < end; s++) {
        const double *G = white->G + white->end_G[white->body_end[s]];
        double *column = panel + dim * (s - begin);
        for (int c = 0; c < dim; c++) {
            for (int j = 0; j < m; j++) {
                column[(size_t)j * width + (size_t)c] = G[c * m + j];
            }
        }
    }
}

static void free_panels(panels *p)
{
    free(p->start);
    free(p->x);
}

static bool make_panels(const ss_whitened *white, panels *p)
{
    size_t entries = 0;
    *p = (panels){.start = malloc(((size_t)white->nbodies + 1) * sizeof *p->start)};
    for (int k = 0; p->start != NULL && k < white->nbodies; k++) {
        const size_t width = panel_width(white, k);
        p->start[k] = entries;
        p->widest = width > p->widest ? width : p->widest;
        entries += (size_t)ss_whitened_room(white, k) * width;
    }
    p->x = ss_large_malloc((entries + 1) * sizeof *p->x);
    for (int k = 0; p->start != NULL && p->x != NULL && k < white->nbodies; k++) {
        fill_panel(white, k, p->x + p->start[k]);
    }
    return p->start != NULL && p->x != NULL;
}

static inline void store_pair(double *to, ss_lanes x0, ss_lanes x1)
{
    *(ss_lanes *)to = x0;
    *(ss_lanes *)(to + SS_LANES) = x1;
}

// Writes strip = left panel: all blocks that one contact makes through one body, dim rows of
// `width`.
static inline void multiply_strip(int dim, const double *left, const double *panel, int m,
                                  size_t width, double *strip)
{
    for (size_t c = 0; c < width; c += WIDTH) {
        // Six sums that do not wait for each other hide the latency of an addition.
        ss_lanes a0 = {0}, a1 = {0}, b0 = {0}, b1 = {0}, c0 = {0}, c1 = {0};
        for (int j = 0; j < m; j++) {
            const double *g = panel + (size_t)j * width + c;
            const ss_lanes g0 = *(const ss_lanes *)g, g1 = *(const ss_lanes *)(g + SS_LANES);
            a0 += left[j] * g0;
            a1 += left[j] * g1;
            b0 += left[m + j] * g0;
            b1 += left[m + j] * g1;
            if (dim == 3) {
                c0 += left[2 * m + j] * g0;
                c1 += left[2 * m + j] * g1;
            }
        }
        store_pair(strip + c, a0, a1);
        store_pair(strip + width + c, b0, b1);
        if (dim == 3) {
            store_pair(strip + 2 * width + c, c0, c1);
        }
    }
}

// An end of the contact whose row is made: its strip, and the contacts on its body still to come.
typedef struct walk {
    const int *contact; // next contact
    const int *last;    // end of the contacts
    const double *at;   // block of the next contact in the strip
    size_t width;       // length of a row of the strip
} walk;

// Makes the strips of contact i, one after the other in `strips`; returns their number.
static inline int make_strips(const ss_whitened *white, int dim, const double *left,
                              const panels *p, int i, double *strips, walk *walks)
{
    const int count = white->end_start[i + 1] - white->end_start[i];
    for (int k = 0; k < count; k++) {
        const int s = white->end_start[i] + k, body = white->end_body[s];
        const int begin = white->body_end_start[body], end = white->body_end_start[body + 1];
        const size_t width = panel_width(white, body);
        multiply_strip(dim, left + white->end_G[s], p->x + p->start[body],
                       ss_whitened_room(white, body), width, strips);
        walks[k] =
            (walk){white->body_end_contact + begin, white->body_end_contact + end, strips, width};
        strips += STRIP_ROWS * width;
    }
    return count;
}

// A row of a block is moved as FOUR numbers: the last of them is overwritten by the next store, or
// by the next block. Strips and W have room behind their ends.

static inline void fill_row(int dim, walk *walks, int nwalks, const int *cols, size_t ncols,
                            double *row)
{
    for (size_t k = 0; k < ncols; k++) {
        four sum[3] = {{0}, {0}, {0}};
        for (int s = 0; s < nwalks; s++) {
            walk *end = &walks[s];
            if (end->contact < end->last && *end->contact == cols[k]) {
                for (int r = 0; r < dim; r++) {
                    sum[r] += *(const four *)(end->at + (size_t)r * end->width);
                }
                end->contact++;
                end->at += dim;
            }
        }
        for (int r = 0; r < dim; r++) {
            *(four *)(row + r * dim) = sum[r];
        }
        row += dim * dim;
    }
}

static int most_ends(const ss_whitened *white)
{
    int most = 0;
    for (int i = 0; i < white->ncontacts; i++) {
        const int count = white->end_start[i + 1] - white->end_start[i];
        most = count > most ? count : most;
    }
    return most;
}

// Scratch of one row.
typedef struct workspace {
    double *strips; // [most ends][STRIP_ROWS][widest]
    walk *walks;    // [most ends]
} workspace;

static bool make_workspace(const ss_whitened *white, const panels *p, workspace *b)
{
    const size_t most = (size_t)most_ends(white) + 1;
    b->strips = calloc(most * STRIP_ROWS * (p->widest + 1) + FOUR, sizeof *b->strips);
    b->walks = malloc(most * sizeof *b->walks);
    return b->strips != NULL && b->walks != NULL;
}

static inline void fill_rows(const ss_stop *stop, const ss_whitened *white, int dim,
                             const double *left, const panels *p, const workspace *b, ss_blocks *W)
{
    for (int i = 0; i < W->n && !ss_stop_asked_at(stop, i); i++) {
        const int nwalks = make_strips(white, dim, left, p, i, b->strips, b->walks);
        fill_row(dim, b->walks, nwalks, W->col + W->start[i], W->start[i + 1] - W->start[i],
                 W->x + W->start[i] * (size_t)(dim * dim));
    }
}

// Goes row by row: a product for each end of the contact, then each block once, in order. Both
// triangles are computed, as the second costs less than scattering its blocks over rows that have
// left the cache. W is symmetric to the bit.
ss_status ss_blocks_assemble_until(const ss_stop *stop, const ss_whitened *white,
                                   const double *left, ss_blocks *W, ss_error *e)
{
    ss_assert(white->G != NULL);
    *W = (ss_blocks){.dim = white->dim, .n = white->ncontacts};
    panels p = {0};
    workspace b = {0};
    bool ok =
        make_panels(white, &p) && make_workspace(white, &p, &b) && find_pattern(stop, white, W);
    bool stopped = ss_stop_asked(stop);
    if (ok && !stopped) {
        W->x = ss_large_malloc((W->start[W->n] * (size_t)(W->dim * W->dim) + SS_BLOCK_ROOM) *
                               sizeof *W->x);
        ok = W->x != NULL;
    }
    const double *first = left != NULL ? left : white->G;
    if (ok && !stopped && W->dim == 3) { // constants, so that the loops over components unroll
        fill_rows(stop, white, 3, first, &p, &b, W);
    } else if (ok && !stopped) {
        fill_rows(stop, white, 2, first, &p, &b, W);
    }
    stopped = stopped || ss_stop_asked(stop);
    free_panels(&p);
    free(b.strips);
    free(b.walks);
    if (!ok || stopped) {
        ss_blocks_free(W);
    }
    return ok ? SS_OK : ss_fail_memory(e, "the blocks of W");
}

ss_status ss_blocks_assemble(const ss_whitened *white, const double *left, ss_blocks *W,
                             ss_error *e)
{
    return ss_blocks_assemble_until(NULL, white, left, W, e);
}

void ss_blocks_free(ss_blocks *W)
{
    free(W->start);
    free(W->col);
    free(W->x);
    *W = (ss_blocks){0};
}

// ---- Blocks naively, by products over all dofs

// Computes column c of W, H' M^-1 H_c.
static void naive_column(const ss_problem *p, const ss_mass *mass, int c, double *x,
                         double *scratch, double *column)
{
    memset(x, 0, (size_t)p->ndofs * sizeof *x);
    for (int k = p->H.start[c]; k < p->H.start[c + 1]; k++) {
        x[p->H.row[k]] = p->H.x[k];
    }
    ss_mass_solve(mass, x, scratch);
    memset(column, 0, (size_t)p->H.ncols * sizeof *column);
    ss_sparse_add_transposed_product(&p->H, x, column);
}

// Hands every column of W to `keep`, one after the other.
typedef void (*column_keeper)(void *kept, int c, const double *column);

static ss_status each_naive_column(const ss_stop *stop, const ss_problem *p, const ss_mass *mass,
                                   column_keeper keep, void *kept, ss_error *e)
{
    double *x = malloc((size_t)p->ndofs * sizeof *x);
    double *scratch = malloc((size_t)p->ndofs * sizeof *scratch);
    double *column = malloc((size_t)p->H.ncols * sizeof *column);
    const bool ok = x != NULL && scratch != NULL && column != NULL;
    for (int c = 0; ok && c < p->H.ncols && !ss_stop_asked(stop); c++) {
        naive_column(p, mass, c, x, scratch, column);
        keep(kept, c, column);
    }
    free(x);
    free(scratch);
    free(column);
    return ok ? SS_OK : ss_fail_memory(e, "the naive W");
}

typedef struct dense {
    size_t size;
    double *W; // [size][size]
} dense;

static void keep_dense(void *kept, int c, const double *column)
{
    const dense *to = kept;
    for (size_t r = 0; r < to->size; r++) {
        to->W[r * to->size + (size_t)c] = column[r];
    }
}

ss_status ss_delassus_naive(const ss_problem *p, double *W, ss_error *e)
{
    dense to = {(size_t)p->H.ncols, W};
    ss_mass *mass = NULL;
    ss_status status = ss_mass_new(p, &mass, e);
    if (status == SS_OK) {
        status = each_naive_column(NULL, p, mass, keep_dense, &to, e);
    }
    ss_mass_free(mass);
    return status;
}

// Keeps column c as row c, as W is symmetric: the blocks of a row lie side by side.
static void keep_blocks(void *kept, int c, const double *column)
{
    const ss_blocks *W = kept;
    const int dim = W->dim, i = c / dim;
    for (size_t k = W->start[i]; k < W->start[i + 1]; k++) {
        memcpy(W->x + k * (size_t)(dim * dim) + (c % dim) * dim, column + dim * W->col[k],
               (size_t)dim * sizeof *column);
    }
}

ss_status ss_blocks_assemble_naive(const ss_stop *stop, const ss_problem *p,
                                   const ss_whitened *white, ss_blocks *W, ss_error *e)
{
    *W = (ss_blocks){.dim = white->dim, .n = white->ncontacts};
    bool ok = find_pattern(stop, white, W), stopped = ss_stop_asked(stop);
    if (ok && !stopped) {
        W->x = ss_large_malloc((W->start[W->n] * (size_t)(W->dim * W->dim) + SS_BLOCK_ROOM) *
                               sizeof *W->x);
        ok = W->x != NULL;
    }
    ss_mass *mass = NULL; // a new one, as that of `white` may have forgotten its factors
    ss_status status = ok ? ss_mass_new(p, &mass, e) : ss_fail_memory(e, "the blocks of W");
    if (status == SS_OK && !stopped) {
        status = each_naive_column(stop, p, mass, keep_blocks, W, e);
        stopped = ss_stop_asked(stop);
    }
    ss_mass_free(mass);
    if (status != SS_OK || stopped) {
        ss_blocks_free(W);
    }
    return status;
}

// ---- Blocks from a sparse matrix
//
// A is stored by columns and W by rows of blocks. The block columns of A are taken in order, so
// each row of W gets its blocks in the order of their columns. W has all blocks of its diagonal,
// which A may lack.

typedef struct filling {
    const ss_sparse *A;
    ss_blocks *W;
    int *row;     // [rows of A] block row
    int *last;    // [n] block column of the last block of a block row, or -1
    size_t *next; // [n] place after the last block of a block row; in the first pass, their count
} filling;

static bool filling_new(filling *f, const ss_sparse *A, ss_blocks *W)
{
    const size_t n = (size_t)W->n;
    *f = (filling){A, W, malloc((size_t)A->nrows * sizeof(int) + 1), malloc((n + 1) * sizeof(int)),
                   calloc(n + 1, sizeof(size_t))};
    if (f->row == NULL || f->last == NULL || f->next == NULL) {
        return false;
    }
    for (int r = 0; r < A->nrows; r++) {
        f->row[r] = r / W->dim;
    }
    return true;
}

static void filling_free(filling *f)
{
    free(f->row);
    free(f->last);
    free(f->next);
}

// Returns the place of block (i, j), which is added to row i if it is new. While W->col is NULL it
// is only counted.
static size_t find_block(const filling *f, int i, int j)
{
    if (f->last[i] != j) {
        f->last[i] = j;
        if (f->W->col != NULL) {
            f->W->col[f->next[i]] = j;
        }
        f->next[i]++;
    }
    return f->next[i] - 1;
}

// Goes through the columns. The first pass counts blocks; the second, with W->col, writes them. A
// pass that is stopped leaves them incomplete.
static void pass_columns(const ss_stop *stop, const filling *f)
{
    const ss_sparse *A = f->A;
    const int dim = f->W->dim;
    for (int i = 0; i < f->W->n; i++) {
        f->last[i] = -1;
    }
    for (int j = 0; j < f->W->n && !ss_stop_asked_at(stop, j); j++) {
        find_block(f, j, j);
        for (int c = 0; c < dim; c++) {
            for (int k = A->start[dim * j + c]; k < A->start[dim * j + c + 1]; k++) {
                const int i = f->row[A->row[k]], place = (A->row[k] - dim * i) * dim + c;
                const size_t block = find_block(f, i, j);
                if (f->W->col != NULL) {
                    f->W->x[block * (size_t)(dim * dim) + (size_t)place] = A->x[k];
                }
            }
        }
    }
}

// Turns the counts of blocks in `next` into the starts of the rows.
static void place_rows(const filling *f)
{
    size_t begin = 0;
    for (int i = 0; i < f->W->n; i++) {
        f->W->start[i] = begin;
        begin += f->next[i];
        f->next[i] = f->W->start[i];
    }
    f->W->start[f->W->n] = begin;
}

// Makes W. Returns false without memory.
static bool blocks_fill(const ss_stop *stop, const filling *f)
{
    ss_blocks *W = f->W;
    pass_columns(stop, f);
    W->start = malloc(((size_t)W->n + 1) * sizeof *W->start);
    if (W->start == NULL || ss_stop_asked(stop)) {
        return W->start != NULL;
    }
    place_rows(f);
    const size_t count = W->start[W->n];
    W->x = calloc(count * (size_t)(W->dim * W->dim) + SS_BLOCK_ROOM, sizeof *W->x);
    W->col = malloc((count + 1) * sizeof *W->col);
    if (W->x == NULL || W->col == NULL) {
        return false;
    }
    pass_columns(stop, f);
    return true;
}

ss_status ss_blocks_from_sparse_until(const ss_stop *stop, const ss_sparse *A, int dim,
                                      ss_blocks *W, ss_error *e)
{
    ss_assert(dim >= 1 && A->nrows == A->ncols && A->nrows % dim == 0);
    *W = (ss_blocks){.dim = dim, .n = A->nrows / dim};
    filling f;
    const bool filled = filling_new(&f, A, W) && blocks_fill(stop, &f);
    filling_free(&f);
    if (!filled || ss_stop_asked(stop)) {
        ss_blocks_free(W);
    }
    return filled ? SS_OK : ss_fail_memory(e, "the blocks of W");
}

ss_status ss_blocks_from_sparse(const ss_sparse *A, int dim, ss_blocks *W, ss_error *e)
{
    return ss_blocks_from_sparse_until(NULL, A, dim, W, e);
}

// ---- Blocks to a sparse matrix

// Writes W by rows, which is W' by columns.
static bool rows_of_blocks(const ss_blocks *W, ss_sparse *rows)
{
    const int dim = W->dim;
    const size_t count = W->start[W->n] * (size_t)(dim * dim);
    *rows = (ss_sparse){
        dim * W->n, dim * W->n, malloc(((size_t)(dim * W->n) + 1) * sizeof *rows->start),
        malloc((count + 1) * sizeof *rows->row), malloc((count + 1) * sizeof *rows->x)};
    if (rows->start == NULL || rows->row == NULL || rows->x == NULL) {
        ss_sparse_free(rows);
        return false;
    }
    int filled = 0;
    for (int r = 0; r < rows->ncols; r++) {
        rows->start[r] = filled;
        for (size_t k = W->start[r / dim]; k < W->start[r / dim + 1]; k++) {
            for (int c = 0; c < dim; c++) {
                rows->row[filled] = dim * W->col[k] + c;
                rows->x[filled++] = W->x[k * (size_t)(dim * dim) + (size_t)((r % dim) * dim + c)];
            }
        }
    }
    rows->start[rows->ncols] = filled;
    return true;
}

ss_status ss_blocks_to_sparse(const ss_blocks *W, ss_sparse *A, ss_error *e)
{
    *A = (ss_sparse){0};
    if (W->start[W->n] > (size_t)(INT_MAX / (W->dim * W->dim))) {
        return ss_fail(e, SS_BAD_INPUT, "W has %zu blocks, more than 32-bit indices can count",
                       W->start[W->n]);
    }
    ss_sparse rows = {0};
    if (!rows_of_blocks(W, &rows)) {
        return ss_fail_memory(e, "W");
    }
    const ss_status status = ss_sparse_transpose(&rows, A, e);
    ss_sparse_free(&rows);
    return status;
}

// ---- tr(W_ii)/d, straight from M and H
//
//     W_cc = sum over bodies of |L_k^-1 H_kc|^2,     or of H_kc' Z_k H_kc                      (3)
//
// The second is used for a body that is a band, with Z_k = M_k^-1 within it, where the dofs of the
// contact lie within the band.

#define BATCH    16  // ends that are whitened together, a multiple of SS_DENSE_LANES
#define TRACE_NS 6.0 // time of an entry of H

// Scratch of one thread.
typedef struct scratch {
    int *seen;   // [bodies] last contact or column that met a body
    double *X;   // [largest body + 1][dim BATCH], and four numbers more for the entries of an end
    int *place;  // [largest body] places of the entries of an end
    ss_banded Z; // inverse of the last body that was a band
    bool ok;     // false without memory
} scratch;

// An end is one contact on one body; it has shares (3) of each of its columns. Ends are numbered
// body by body.
typedef struct traces {
    const ss_problem *p;
    const ss_mass *mass;
    const ss_bodies *layout;
    int nends;
    int *start;    // [bodies + 1] first end of a body
    int *contact;  // [nends] ascending on a body
    double *share; // [dim nends] shares (3)
    int *first;    // [contacts + 1] first index of a contact in the next two
    int *body;     // [nends] bodies, in the order in which the contact's entries come to them
    int *end;      // [nends] ends of the contact on these
    int nthreads, nranges;
    scratch *scratch;   // [nthreads]
    double *compliance; // [contacts] result, in the caller's memory
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

static void forget(const traces *t, scratch *k)
{
    memset(k->seen, -1, (size_t)t->layout->nbodies * sizeof *k->seen);
}

// Lists the bodies of each contact, and counts the ends of each body, two places on.
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

static bool list_traced_ends(traces *t)
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

// The columns of H lie contact by contact, and are read body by body: they are prefetched AHEAD
// ends before.
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

// Finds the shares of ends first .. end - 1, which are whitened side by side, a dof a row.
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

// Gathers the entries of end e, places ascending, and four numbers each in X, of which the fourth
// is 0. Returns their number.
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

// Computes H' Z H of the entries that were gathered, the last ones first.
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

// Makes Z. Returns false without memory.
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

// Returns the end of contact i on one of its bodies.
static int end_of(const traces *t, int body, int i)
{
    int k = t->first[i];
    while (t->body[k] != body) {
        k++;
    }
    return t->end[k];
}

// Sums the shares of column c of contact i, in the order in which its entries come to bodies.
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

// Does so for a contact whose columns are alike.
static double alike_square(const traces *t, int i, int c)
{
    double sum = 0.0;
    for (int k = t->first[i]; k < t->first[i + 1]; k++) {
        sum += t->share[t->p->dim * t->end[k] + c];
    }
    return sum;
}

// Adds the shares of a range of contacts.
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
    ss_assert(p->form == SS_GLOBAL);
    const double whole = TRACE_NS * ss_sparse_count(&p->H);
    const bool shared = ss_team_pays(team, whole);
    traces t = {.p = p,
                .mass = mass,
                .layout = ss_mass_layout(mass),
                .nthreads = shared ? ss_team_size(team) : 1,
                .nranges = shared ? MOST_RANGES : 1,
                .compliance = compliance};
    bool ok = list_traced_ends(&t);
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
