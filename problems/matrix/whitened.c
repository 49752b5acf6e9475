// The matrix-free form of delassus.h, equation (1): bodies' factors and the contacts' ends in them.
#include "problems/matrix/delassus.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "problems/matrix/bodies.h"
#include "problems/matrix/sparse_ends.h"

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

// Lists in bodies[] the bodies that contact i touches, ascending; returns how many. seen[k] holds
// the last contact that was found on body k.
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

// The ends of all contacts: one where a contact and a body meet. An end takes at most one entry of
// H, which bounds their number.
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
    // Counted two places on, so that filling leaves every body's start in its own place.
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

// A body's room in z: its size rounded up to a multiple of SS_ROOM.
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

// H and G lie contact by contact, and ends are asked for body by body: so many ends before they are needed.
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

// H' of the ends on a body side by side, a dof a row: X [m][columns_of], and one row more (bodies.h).
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

// Rows of G, and zeros up to their room.
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

// z0 = L^-1 f of a body.
static void whiten_load(const ss_problem *p, ss_whitened *white, int body)
{
    const int *dofs = ss_mass_dofs(white->mass, body);
    double *z0 = white->z0 + white->body_start[body];
    for (int j = 0; j < ss_mass_size(white->mass, body); j++) {
        z0[j] = p->f[dofs[j]];
    }
    ss_mass_whiten(white->mass, body, z0, 1);
}

// What threads make G of: bodies in ranges, each with some room of a thread's own.
#define WHITEN_NS   4.0 // an entry of H
#define MOST_RANGES 64

typedef struct whitening {
    const ss_problem *p;
    ss_whitened *white;
    const ss_stop *stop;
    double *rooms; // [threads][room] for H' of the ends on a body, and a row for sums
    size_t room;
    double *loads; // [dim nends] G z0 of an end
    int nranges;
} whitening;

// G z0 of the ends on a body, as long as its G are side by side in X; sums [columns_of].
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

// b = w + G z0: a contact sums over its bodies in their order.
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

// G and z0 of a range of bodies.
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
        if (all->nranges == 1) { // as body follows body
            ss_mass_forget(white->mass, k + 1);
        }
    }
}

// G, z0, and b = G z0 + w.
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
    all.loads = calloc(components + 1, sizeof *all.loads); // it may be stopped
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

ss_status ss_whitened_new(const ss_problem *p, ss_whitened **white, ss_error *e)
{
    return whitened_make(NULL, p, false, NULL, NULL, white, e);
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
