#include "solvers/linear/implicit.h"

#include "base/assert.h"
#include "base/lanes.h"
#include "problems/matrix/mass.h"
#include "solvers/small.h"
#include "solvers/vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REFINING    0.25 // a step of refinement that leaves a larger share is the last
#define SHORT_SHARE 1e-3 // floats are not good enough if they leave more of the residual
#define SHORT_WORK  3e6  // multiplications below which floats gain no time
#define LONG_RUN    4    // factorisations in doubles after floats were not good enough

#define END_NS   35.0 // time of adding an end to J
#define BLOCK_NS 5.0  // time of adding a block of W to J

// ---- The matrix

static void add_identity(ss_implicit *p, int node, int room)
{
    double *block = ss_block_lu_values(p->lu) + ss_block_lu_place(p->lu, node, node);
    for (int j = 0; j < room; j++) {
        block[j * room + j] += 1.0;
    }
}

// Most bodies have this room. Their rows are vectors of the CPU, two at a time in registers.
#define ROOM_OF_RODS 16

#define COLUMNS 64 // columns of D G that are made at once

static void add_outer_of_rods(int dim, int room_a, const double *Ga, const double *B, double *block)
{
    for (int from = 0; from < ROOM_OF_RODS; from += 2 * SS_LANES) {
        ss_lanes b[3][2] = {0};
        for (int k = 0; k < dim; k++) {
            b[k][0] = *(const ss_lanes *)(B + k * COLUMNS + from);
            b[k][1] = *(const ss_lanes *)(B + k * COLUMNS + from + SS_LANES);
        }
        for (int j = 0; j < room_a; j++) {
            const double g0 = Ga[j], g1 = Ga[room_a + j], g2 = dim == 3 ? Ga[2 * room_a + j] : 0.0;
            double *row = block + j * ROOM_OF_RODS + from;
            *(ss_lanes *)row += g0 * b[0][0] + g1 * b[1][0] + g2 * b[2][0];
            *(ss_lanes *)(row + SS_LANES) += g0 * b[0][1] + g1 * b[1][1] + g2 * b[2][1];
        }
    }
}

// Adds Ga' B to columns of a block whose rows are room_b apart; Ga and B have `dim` rows.
static void add_outer(int dim, int room_a, int room_b, int columns, const double *Ga,
                      const double *B, double *block)
{
    if (room_b == ROOM_OF_RODS) {
        add_outer_of_rods(dim, room_a, Ga, B, block);
        return;
    }
    for (int j = 0; j < room_a; j++) {
        double *row = block + j * room_b;
        const double g0 = Ga[j], g1 = Ga[room_a + j], g2 = dim == 3 ? Ga[2 * room_a + j] : 0.0;
        const double *b2 = dim == 3 ? B + 2 * COLUMNS : B;
        for (int k = 0; k < columns; k++) {
            row[k] += g0 * B[k] + g1 * B[COLUMNS + k] + g2 * b2[k];
        }
    }
}

// Adds G_s' D G_t to the blocks of one end's body with the bodies of its contact.
static void add_end(const ss_implicit *p, int contact, int t, const size_t *place)
{
    const ss_coupling *c = p->c;
    const ss_whitened *white = c->white;
    const double *D = p->D + 9 * (size_t)contact, *G = white->G + white->end_G[t];
    const int room = ss_whitened_room(white, white->end_body[t]);
    double *J = ss_block_lu_values(p->lu), DG[3 * COLUMNS];
    for (int from = 0; from < room; from += COLUMNS) {
        const int columns = room - from < COLUMNS ? room - from : COLUMNS;
        for (int l = 0; l < c->dim; l++) {
            const double *g = G + from;
            for (int j = 0; j < columns; j++) {
                const double last = c->dim == 3 ? D[3 * l + 2] * g[2 * room + j] : 0.0;
                DG[l * COLUMNS + j] = D[3 * l] * g[j] + D[3 * l + 1] * g[room + j] + last;
            }
        }
        const int begin = white->end_start[contact], end = white->end_start[contact + 1];
        for (int s = begin; s < end; s++) {
            add_outer(c->dim, ss_whitened_room(white, white->end_body[s]), room, columns,
                      white->G + white->end_G[s], DG, J + place[s - begin] + from);
        }
    }
}

// Assembles the columns of J of each body; no other body adds to them.
static void assemble_bodies(void *of, int first, int end)
{
    ss_implicit *p = of;
    const ss_whitened *white = p->c->white;
    const size_t *place = p->place + p->first_place[first];
    for (int k = first; k < end; k++) {
        add_identity(p, k, ss_whitened_room(white, k));
    }
    for (int k = white->body_end_start[first]; k < white->body_end_start[end]; k++) {
        const int i = p->contact[k];
        if (ss_stop_asked_at(p->stop, k)) {
            atomic_store(&p->stopped, true);
            return;
        }
        if (p->D[9 * (size_t)i] != 0.0) { // else an open contact: D = 0
            add_end(p, i, p->end[k], place);
        }
        place += white->end_start[i + 1] - white->end_start[i];
    }
}

typedef double four __attribute__((vector_size(32), aligned(8)));

// Adds W D, three rows and columns, to a block, SS_ROOM wide. Numbers that are read behind the
// third column of D are multiplied by 0.
static void add_product_3(const double *W, const double *D, double *block)
{
    const four three = {1.0, 1.0, 1.0, 0.0};
    const four d0 = three * *(const four *)D, d1 = three * *(const four *)(D + 3);
    const four d2 = {D[6], D[7], D[8], 0.0};
    for (int row = 0; row < 3; row++, W += 3) {
        *(four *)(block + row * SS_ROOM) += W[0] * d0 + W[1] * d1 + W[2] * d2;
    }
}

static void add_product_2(const double *W, const double *D, double *block)
{
    for (int row = 0; row < 2; row++) {
        for (int col = 0; col < 2; col++) {
            block[row * SS_ROOM + col] += W[2 * row] * D[col] + W[2 * row + 1] * D[3 + col];
        }
    }
}

// Assembles the rows of J of contacts.
static void assemble_contacts(void *of, int first, int end)
{
    ss_implicit *p = of;
    const ss_coupling *c = p->c;
    double *J = ss_block_lu_values(p->lu);
    const int d = c->dim;
    for (int i = first; i < end; i++) {
        if (ss_stop_asked_at(p->stop, i)) {
            atomic_store(&p->stopped, true);
            return;
        }
        add_identity(p, i, SS_ROOM);
        for (size_t k = c->W.start[i]; k < c->W.start[i + 1]; k++) {
            const double *W = c->W.x + k * (size_t)(d * d), *D = p->D + 9 * (size_t)c->W.col[k];
            if (D[0] == 0.0) { // an open contact: D = 0
                continue;
            }
            if (d == 3) {
                add_product_3(W, D, J + p->place[k]);
            } else {
                add_product_2(W, D, J + p->place[k]);
            }
        }
    }
}

bool ss_implicit_assemble(ss_implicit *p)
{
    const ss_coupling *c = p->c;
    if (!ss_block_lu_clear(p->lu)) {
        return false;
    }
    atomic_store(&p->stopped, false);
    if (c->is_explicit) {
        const double blocks = (double)c->W.start[c->n] / c->n;
        ss_team_divide(c->team, c->n, BLOCK_NS * blocks, assemble_contacts, p);
    } else {
        const int bodies = c->white->nbodies;
        ss_team_divide(c->team, bodies, END_NS * c->white->nends / bodies, assemble_bodies, p);
    }
    return !atomic_load(&p->stopped);
}

bool ss_implicit_factor(ss_implicit *p)
{
    return ss_implicit_assemble(p) && ss_block_lu_factor(p->lu);
}

bool ss_implicit_factor_short(ss_implicit *p)
{
    return ss_implicit_assemble(p) && ss_block_lu_factor_short(p->lu);
}

// ---- One solution

// Writes x = J^-1 rhs with the present factor, refined while the residual is more than its share
// and falls. Returns the share that is left, or NaN where numbers have overflowed.
static double refine(ss_implicit *p, const double *rhs, double share, double *x)
{
    const double whole = sqrt(ss_vector_dot(p->size, rhs, rhs));
    double old = INFINITY;
    memcpy(x, rhs, p->size * sizeof *x);
    ss_block_lu_solve(p->lu, x);
    for (;;) {
        ss_block_lu_multiply(p->lu, x, p->rest);
        for (size_t k = 0; k < p->size; k++) {
            p->rest[k] = rhs[k] - p->rest[k];
        }
        const double left = sqrt(ss_vector_dot(p->size, p->rest, p->rest)) / whole;
        if (!(left > share && left < REFINING * old)) {
            return left;
        }
        old = left;
        ss_block_lu_solve(p->lu, p->rest);
        ss_vector_add(p->size, 1.0, p->rest, x);
    }
}

bool ss_implicit_solve(ss_implicit *p, const double *rhs, double share, double *x)
{
    ss_assert(x != rhs && share > 0.0);
    if (!ss_implicit_assemble(p)) {
        return false;
    }
    if (p->long_left > 0) {
        p->long_left--;
    } else if (ss_block_lu_work(p->lu) > SHORT_WORK) {
        if (ss_block_lu_factor_short(p->lu) && refine(p, rhs, share, x) <= SHORT_SHARE) {
            return true;
        }
        p->long_left = LONG_RUN;
    }
    if (!ss_block_lu_factor(p->lu)) {
        return false;
    }
    refine(p, rhs, share, x);
    return true;
}

// ---- Making one

// Returns the last body of contact i in the first pass, its first one in the second, or 0 where it
// has none.
static int body_of(const ss_whitened *white, int i, int pass)
{
    const int begin = white->end_start[i], end = white->end_start[i + 1];
    return begin == end ? 0 : white->end_body[pass == 0 ? end - 1 : begin];
}

// Sorts contacts by their first body, then by their last. Returns false without memory.
static bool sort_by_bodies(const ss_implicit *p, int *turn)
{
    const ss_whitened *white = p->c->white;
    const int n = p->c->n;
    const size_t buckets = (size_t)white->nbodies + 2;
    int *begin = malloc(buckets * sizeof *begin), *half = malloc((size_t)n * sizeof *half);
    const bool ok = begin != NULL && half != NULL;
    for (int pass = 0; pass < 2 && ok; pass++) {
        memset(begin, 0, buckets * sizeof *begin);
        const int *from = half;
        int *to = pass == 0 ? half : turn;
        for (int i = 0; i < n; i++) {
            begin[body_of(white, i, pass) + 2]++;
        }
        for (size_t k = 2; k < buckets; k++) {
            begin[k] += begin[k - 1];
        }
        for (int k = 0; k < n; k++) {
            const int i = pass == 0 ? k : from[k];
            to[begin[body_of(white, i, pass) + 1]++] = i;
        }
    }
    free(begin);
    free(half);
    return ok;
}

// Lists the ends of each body in that order of their contacts: ends that add to the same blocks of
// J are neighbours, and the blocks stay in the cache. Returns false without memory.
static bool list_ends(ss_implicit *p)
{
    const ss_whitened *white = p->c->white;
    const size_t nends = (size_t)white->nends + 1, nbodies = (size_t)white->nbodies + 1;
    int *turn = malloc(((size_t)p->c->n + 1) * sizeof *turn),
        *next = malloc(nbodies * sizeof *next);
    p->end = malloc(nends * sizeof *p->end);
    p->contact = malloc(nends * sizeof *p->contact);
    p->first_place = calloc(nbodies, sizeof *p->first_place);
    const bool ok = turn != NULL && next != NULL && p->end != NULL && p->contact != NULL &&
                    p->first_place != NULL && sort_by_bodies(p, turn);
    if (ok) {
        memcpy(next, white->body_end_start, nbodies * sizeof *next);
    }
    for (int k = 0; ok && k < p->c->n; k++) {
        const int i = turn[k], begin = white->end_start[i], end = white->end_start[i + 1];
        for (int t = begin; t < end; t++) {
            const int body = white->end_body[t];
            p->end[next[body]] = t;
            p->contact[next[body]++] = i;
            p->first_place[body + 1] += (size_t)(end - begin);
        }
    }
    for (int k = 0; ok && k < white->nbodies; k++) {
        p->first_place[k + 1] += p->first_place[k];
    }
    free(turn);
    free(next);
    return ok;
}

// The nodes of J and its pairs of nodes.
typedef struct pattern {
    int nodes, count;
    int *room;      // [nodes]
    int (*pair)[2]; // [count]
} pattern;

// Makes room for a pattern, and for the places of its blocks. Returns false without memory.
static bool make_pattern(ss_implicit *p, int nodes, size_t count, pattern *made)
{
    *made = (pattern){.nodes = nodes, .count = (int)count};
    made->room = malloc(((size_t)nodes + 1) * sizeof *made->room);
    made->pair = malloc((count + 1) * sizeof *made->pair);
    p->place = malloc((count + 1) * sizeof *p->place);
    return made->room != NULL && made->pair != NULL && p->place != NULL;
}

static bool list_bodies(ss_implicit *p, pattern *made)
{
    const ss_whitened *white = p->c->white;
    if (!list_ends(p) || !make_pattern(p, white->nbodies, p->first_place[white->nbodies], made)) {
        return false;
    }
    int n = 0;
    for (int k = 0; k < white->nends; k++) {
        const int i = p->contact[k];
        for (int s = white->end_start[i]; s < white->end_start[i + 1]; s++, n++) {
            made->pair[n][0] = white->end_body[s];
            made->pair[n][1] = white->end_body[p->end[k]];
        }
    }
    for (int k = 0; k < white->nbodies; k++) {
        made->room[k] = ss_whitened_room(white, k);
    }
    return true;
}

static bool list_contacts(ss_implicit *p, pattern *made)
{
    const ss_coupling *c = p->c;
    if (!make_pattern(p, c->n, c->W.start[c->n], made)) {
        return false;
    }
    for (int i = 0; i < c->n; i++) {
        made->room[i] = SS_ROOM;
        for (size_t k = c->W.start[i]; k < c->W.start[i + 1]; k++) {
            made->pair[k][0] = i;
            made->pair[k][1] = c->W.col[k];
        }
    }
    return true;
}

// Makes the factorisation and finds the places of its blocks.
static ss_status implicit_place_blocks(ss_implicit *p, ss_error *e)
{
    pattern made = {0};
    const bool listed = p->c->is_explicit ? list_contacts(p, &made) : list_bodies(p, &made);
    const int(*pair)[2] = (const int(*)[2])made.pair;
    const ss_status status =
        listed ? ss_block_lu_new(made.nodes, made.room, made.count, pair, p->stop, &p->lu, e)
               : ss_fail_memory(e, "the pattern of a linear system");
    for (int k = 0; p->lu != NULL && k < made.count && !ss_stop_asked_at(p->stop, k); k++) {
        p->place[k] = ss_block_lu_place(p->lu, pair[k][0], pair[k][1]);
    }
    free(made.room);
    free(made.pair);
    return status;
}

// Refuses a factor that is too large, or makes room for the numbers.
static ss_status implicit_reserve(ss_implicit *p, double memory, ss_implicit **system, ss_error *e)
{
    const double needed = ss_block_lu_bytes(p->lu) / 1e9;
    if (!(needed <= memory)) {
        ss_implicit_free(p);
        return ss_fail(e, SS_OK,
                       "its factor needs %.2g GB, more than the %.2g GB of its option memory",
                       needed, memory);
    }
    if (!ss_block_lu_reserve(p->lu, p->c->team)) {
        ss_implicit_free(p);
        return ss_fail_memory(e, "a factorisation");
    }
    *system = p;
    return SS_OK;
}

ss_status ss_implicit_new(ss_coupling *c, double memory, const ss_limits *limits,
                          ss_implicit **system, ss_error *e)
{
    *system = NULL;
    ss_implicit *p = calloc(1, sizeof *p);
    ss_assert(!(memory < 0.0));
    if (p == NULL) {
        return ss_fail_memory(e, "a linear system");
    }
    p->c = c;
    p->watched = limits != NULL ? ss_limits_stopper(limits) : (ss_stop){0};
    p->stop = limits != NULL ? &p->watched : NULL;
    p->size = c->is_explicit ? 4 * (size_t)c->n : (size_t)c->white->body_start[c->white->nbodies];
    const size_t n = (size_t)c->n;
    p->D = calloc(9 * n, sizeof *p->D);
    p->rest = calloc(p->size + 1, sizeof *p->rest);
    ss_status status =
        p->D != NULL && p->rest != NULL ? SS_OK : ss_fail_memory(e, "a linear system");
    if (status == SS_OK) {
        status = implicit_place_blocks(p, e);
    }
    if (status != SS_OK || ss_stop_asked(p->stop)) {
        ss_implicit_free(p);
        return status;
    }
    return implicit_reserve(p, memory, system, e);
}

void ss_implicit_free(ss_implicit *p)
{
    if (p != NULL) {
        free(p->D);
        free(p->place);
        free(p->end);
        free(p->contact);
        free(p->first_place);
        free(p->rest);
        ss_block_lu_free(p->lu);
        free(p);
    }
}

// ---- Which form, and how much work

bool ss_implicit_prefers_bodies(const ss_whitened *white)
{
    int dofs = 0;
    for (int k = 0; k < white->nbodies; k++) {
        const int room = ss_whitened_room(white, k);
        if (room > SS_IMPLICIT_ROOM) {
            return false;
        }
        dofs += white->body_end_start[k + 1] > white->body_end_start[k] ? room : 0;
    }
    return dofs <= SS_ROOM * white->ncontacts;
}

static bool guess_bodies(const ss_problem *p, double *nodes, double *room)
{
    ss_bodies bodies;
    ss_error ignored;
    if (p->form != SS_GLOBAL || p->ndofs > SS_ROOM * p->ncontacts ||
        ss_bodies_find(p, &bodies, &ignored) != SS_OK) {
        return false;
    }
    *nodes = bodies.nbodies;
    *room = p->ndofs / *nodes;
    ss_bodies_free(&bodies);
    return *room <= SS_IMPLICIT_ROOM;
}

// N nodes that touch their neighbours in space, m rows each, have a factor of some m^3 N^2
// multiplications: 0.4 to 1.2 times that for hair of 70 to 750 rods and for 3000 contacts. Where W
// is stored, each of its rows is known to be coupled to `row` contacts, which takes m^3 N row^2 at
// least, or a third of it where all are coupled.
double ss_implicit_guess(const ss_problem *p)
{
    double nodes, room;
    if (!guess_bodies(p, &nodes, &room)) {
        nodes = p->ncontacts;
        room = SS_ROOM;
    }
    double row = 0.0;
    if (p->form == SS_LOCAL) {
        row = (double)ss_sparse_count(&p->W) / (p->dim * p->dim) / nodes;
    }
    const double known = row * row / (1.0 + 2.0 * row / nodes);
    return room * room * room * nodes * fmax(0.6 * nodes, known);
}
