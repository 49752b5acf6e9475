// strands/models/chain_batch.c -- many equal chains on one body, LANES side by side, by the kernels
// of chain_kernel.h.
//
// All is said in the frames of the roots. With T the turn and r the place of a root in its body's
// frame, d = q + T' r leads from the body's place to a vertex, and g, V, A, w, w' are gravity and
// the body's velocity, acceleration, spin and its rate, turned into the frame of the root. A step
//
//     v* = (v + h [g - A - w' x d - w x (w x d + 2 v) - k (V + w x d)]) / (1 + h k)
//     p = q + h v*;  p by the method of chain.h;  v = (p - q) / h;  q += h v
//
// with k = drag / line density is that of system.h for vertices, whose M is diagonal. Lengths,
// speeds and energies are the same in any frame.
#include "strands/models/chain.h"

#include "base/assert.h"
#include "base/team.h"

#include <stdlib.h>

// GCC 12 splits vectors that are wider than a register: with AVX (256 bits) 8 numbers cost four
// times their work, with SSE2 they are the fastest. Their number changes no bits.
#if defined __AVX__ && !defined __AVX512F__
#define LANES 4
#else
#define LANES 8
#endif
#include "strands/models/chain_kernel.h"

// A thread works through this many strands at a time, whose sums are added up in their order, so
// that neither threads nor lanes have a say in the bits.
#define BLOCK 512

// The places of the roots of a group in the frame of the body.
typedef struct stand {
    lane3 turn[3]; // columns of T
    lane3 arm;     // T' r
} stand;

// The memory of a thread, for a group of chains.
typedef struct bench {
    void *memory;     // owned; all of it is in there
    lane3 *x, *v, *p; // [n]
    lane_room room;
} bench;

// Bytes: a vector that crosses a line of the cache costs a fifth of the speed.
#define CACHE_LINE 64

typedef struct batch {
    const ss_chain *chain; // one of them
    int count, nbenches, nblocks;
    ss_team *team;
    stand *stands; // [groups]
    bench *benches;
    ss_batch_report *parts; // [nblocks]
} batch;

static int groups_of(int count)
{
    return (count + LANES - 1) / LANES;
}

// ---- Making one

static bool alike(const void *strand, const void *other)
{
    const ss_chain *a = strand, *b = other;
    const ss_chain_method *m = &a->method, *k = &b->method;
    const bool methods = m->kind == k->kind && m->iterations == k->iterations &&
                         m->bending == k->bending && m->sweeps == k->sweeps &&
                         m->damping == k->damping;
    const bool at_root = ss_length(a->style[0]) == 0.0 && ss_length(b->style[0]) == 0.0;
    return methods && at_root && a->shape.n == b->shape.n && a->first == b->first &&
           a->sampled == b->sampled &&
           memcmp(a->w, b->w, SS_CHAIN_NUMBERS * (size_t)a->shape.n * sizeof *a->w) == 0;
}

static bool bench_init(bench *b, int n)
{
    const size_t count = (size_t)n;
    b->memory = calloc(1, count * (4 * sizeof *b->x + 2 * sizeof *b->room.y) + CACHE_LINE);
    if (b->memory == NULL) {
        return false;
    }
    void *first = (char *)b->memory + CACHE_LINE - (uintptr_t)b->memory % CACHE_LINE;
    b->x = first;
    b->v = b->x + count;
    b->p = b->v + count;
    b->room.edge = b->p + count;
    b->room.y = (lanes *)(b->room.edge + count);
    b->room.share = b->room.y + count;
    return true;
}

static void free_batch(void *batch_)
{
    batch *f = batch_;
    if (f == NULL) {
        return;
    }
    ss_team_free(f->team);
    for (int k = 0; k < f->nbenches && f->benches != NULL; k++) {
        free(f->benches[k].memory);
    }
    free(f->benches);
    free(f->stands);
    free(f->parts);
    free(f);
}

static bool allocate(batch *f, int threads)
{
    f->team = ss_team_new(threads < f->nblocks ? threads : f->nblocks);
    if (f->team == NULL) {
        return false;
    }
    f->nbenches = ss_team_size(f->team);
    f->stands = malloc((size_t)groups_of(f->count) * sizeof *f->stands);
    f->benches = calloc((size_t)f->nbenches, sizeof *f->benches);
    f->parts = calloc((size_t)f->nblocks, sizeof *f->parts);
    bool ok = f->stands != NULL && f->benches != NULL && f->parts != NULL;
    for (int k = 0; ok && k < f->nbenches; k++) {
        ok = bench_init(&f->benches[k], f->chain->shape.n);
    }
    return ok;
}

static void put(lane3 *to, int lane, ss_vec3 a)
{
    to->x[lane] = a.x;
    to->y[lane] = a.y;
    to->z[lane] = a.z;
}

// Returns the chain of a lane; lanes after the last chain do as it does.
static int strand_of(const batch *f, int group, int lane)
{
    const int k = group * LANES + lane;
    return k < f->count ? k : f->count - 1;
}

static void stand_roots(batch *f, const ss_world *w)
{
    for (int g = 0; g < groups_of(f->count); g++) {
        for (int l = 0; l < LANES; l++) {
            const ss_pose *root = &w->strands[strand_of(f, g, l)].root;
            for (int k = 0; k < 3; k++) {
                put(&f->stands[g].turn[k], l, root->turn.c[k]);
            }
            put(&f->stands[g].arm, l, ss_turned_back(&root->turn, root->place));
        }
    }
}

static ss_status make(const ss_world *w, int threads, void **made, ss_error *e)
{
    ss_assert(threads >= 1 && w->nstrands > 0);
    *made = NULL;
    batch *f = calloc(1, sizeof *f);
    if (f == NULL) {
        return ss_fail_memory(e, "the chains");
    }
    f->chain = w->strands[0].self;
    f->count = w->nstrands;
    f->nblocks = (f->count + BLOCK - 1) / BLOCK;
    if (!allocate(f, threads)) {
        free_batch(f);
        return ss_fail_memory(e, "the chains");
    }
    stand_roots(f, w);
    *made = f;
    return SS_OK;
}

// ---- The body

// The body at one end of a step, in its own frame.
typedef struct carrier {
    ss_vec3 gravity, velocity, spin, spin_rate;
    ss_vec3 fall;  // gravity against the body's acceleration
    double height; // gravity x the body's place, m^2/s^2
} carrier;

// The same in the frames of a group's roots.
typedef struct ground {
    lane3 gravity, velocity, spin, spin_rate, fall;
    double height;
} ground;

static carrier carrier_at(const ss_motion_state *body, ss_vec3 gravity)
{
    const ss_mat3 *turn = &body->pose.turn;
    return (carrier){.gravity = ss_turned_back(turn, gravity),
                     .velocity = ss_turned_back(turn, body->velocity),
                     .spin = ss_turned_back(turn, body->spin),
                     .spin_rate = ss_turned_back(turn, body->spin_rate),
                     .fall = ss_turned_back(turn, ss_minus(gravity, body->acceleration)),
                     .height = ss_dot(gravity, body->pose.place)};
}

static inline lane3 to_root(const stand *s, ss_vec3 a)
{
    const lane3 *c = s->turn;
    return (lane3){c[0].x * a.x + c[0].y * a.y + c[0].z * a.z,
                   c[1].x * a.x + c[1].y * a.y + c[1].z * a.z,
                   c[2].x * a.x + c[2].y * a.y + c[2].z * a.z};
}

static inline ground ground_of(const stand *s, const carrier *c)
{
    return (ground){.gravity = to_root(s, c->gravity),
                    .velocity = to_root(s, c->velocity),
                    .spin = to_root(s, c->spin),
                    .spin_rate = to_root(s, c->spin_rate),
                    .fall = to_root(s, c->fall),
                    .height = c->height};
}

// ---- Sums

typedef struct tally {
    lanes kinetic, potential, root_square;
} tally;

static inline tally measure(const ss_chain *c, const ground *at, const stand *s, const lane3 *x,
                            const lane3 *v)
{
    const lane3 root = lane3_plus(at->velocity, lane3_cross(at->spin, lane3_plus(s->arm, x[0])));
    tally sum = {lanes_all(0.0), lanes_all(0.0), lane3_dot(root, root)};
    for (int i = c->sampled; i < c->shape.n; i++) {
        const lane3 d = lane3_plus(s->arm, x[i]);
        const lane3 carried = lane3_plus(at->velocity, lane3_cross(at->spin, d));
        const lane3 velocity = lane3_plus(carried, v[i]);
        sum.kinetic += 0.5 * c->mass[i] * lane3_dot(velocity, velocity);
        sum.potential -= c->mass[i] * (at->height + lane3_dot(at->gravity, d));
    }
    return sum;
}

static void add_tally(const tally *t, int used, ss_batch_end *end)
{
    const lanes speed = lanes_root(t->root_square);
    for (int l = 0; l < used; l++) {
        end->energy.kinetic += t->kinetic[l];
        end->energy.potential += t->potential[l];
        end->root_speed += speed[l];
        end->root_square += t->root_square[l];
    }
}

static void add_end(const ss_batch_end *part, ss_batch_end *sum)
{
    sum->energy.kinetic += part->energy.kinetic;
    sum->energy.potential += part->energy.potential;
    sum->root_speed += part->root_speed;
    sum->root_square += part->root_square;
}

static void add_part(const ss_batch_report *part, ss_batch_report *sum)
{
    add_end(&part->from, &sum->from);
    add_end(&part->to, &sum->to);
    sum->length += part->length;
    sum->speed = fmax(sum->speed, part->speed);
    sum->moved = fmax(sum->moved, part->moved);
}

// ---- A step of a group

static inline lanes larger(lanes a, lanes b)
{
    for (int l = 0; l < LANES; l++) {
        a[l] = b[l] > a[l] ? b[l] : a[l];
    }
    return a;
}

// Loads the numbers of vertices that move, strand after strand, into lanes; an attached root is at
// 0.
static void load(const batch *f, int group, const double *from, lane3 *to)
{
    const int nv = 3 * (f->chain->shape.n - f->chain->first);
    double *numbers = (double *)(to + f->chain->first);
    to[0] = (lane3){lanes_all(0.0), lanes_all(0.0), lanes_all(0.0)};
    for (int l = 0; l < LANES; l++) {
        const double *x = from + (size_t)nv * (size_t)strand_of(f, group, l);
        for (int j = 0; j < nv; j++) {
            numbers[j * LANES + l] = x[j];
        }
    }
}

static void store(const batch *f, int group, int used, const lane3 *from, double *to)
{
    const int nv = 3 * (f->chain->shape.n - f->chain->first);
    const double *numbers = (const double *)(from + f->chain->first);
    double *x = to + (size_t)nv * (size_t)group * LANES;
    for (int l = 0; l < used; l++, x += nv) {
        for (int j = 0; j < nv; j++) {
            x[j] = numbers[j * LANES + l];
        }
    }
}

// Finds p, where the vertices would go.
static void predict(const ss_chain *c, const ground *at, const stand *s, double drag, double h,
                    const bench *b)
{
    const double k = drag * c->arc[c->shape.n - 1] / c->mass[c->shape.n - 1];
    b->p[0] = b->x[0];
    for (int i = c->first; i < c->shape.n; i++) {
        const lane3 d = lane3_plus(s->arm, b->x[i]), v = b->v[i];
        const lane3 turned = lane3_cross(at->spin, d);
        const lane3 twice = lane3_along(turned, lanes_all(2.0), v);
        lane3 a = lane3_minus(at->fall, lane3_cross(at->spin_rate, d));
        a = lane3_minus(a, lane3_cross(at->spin, twice));
        a = lane3_along(a, lanes_all(-k), lane3_plus(at->velocity, turned));
        const lane3 end =
            lane3_scaled(lanes_all(1.0 / (1.0 + h * k)), lane3_along(v, lanes_all(h), a));
        b->p[i] = lane3_along(b->x[i], lanes_all(h), end);
    }
}

// Finds x and v at the end of the step, the largest |v|^2 and the largest square of a way.
static void arrive(const ss_chain *c, double h, const bench *b, lanes *speed, lanes *moved)
{
    *speed = *moved = lanes_all(0.0);
    for (int i = c->first; i < c->shape.n; i++) {
        const lane3 x = b->x[i];
        lane3 v = lane3_scaled(lanes_all(1.0 / h), lane3_minus(b->p[i], x));
        b->x[i] = lane3_along(x, lanes_all(h), v);
        lane_damp(&c->method, &c->shape, &b->room, h, i, &v);
        b->v[i] = v;
        const lane3 way = lane3_minus(b->x[i], x);
        *speed = larger(*speed, lane3_dot(v, v));
        *moved = larger(*moved, lane3_dot(way, way));
    }
}

static inline lanes length_of(const ss_chain *c, const lane3 *x)
{
    lanes sum = lanes_all(0.0);
    for (int i = 0; i + 1 < c->shape.n; i++) {
        const lane3 e = lane3_minus(x[i + 1], x[i]);
        sum += lanes_root(lane3_dot(e, e));
    }
    return sum;
}

// A step, as all groups share it.
typedef struct stride {
    const ss_world *world;
    carrier from, to;
    double h;
    const ss_world_state *end;
} stride;

static void step_group(const batch *f, const stride *t, int group, const bench *b,
                       ss_batch_report *part)
{
    const ss_chain *c = f->chain;
    const stand *s = &f->stands[group];
    const int left = f->count - group * LANES;
    const int used = left < LANES ? left : LANES;
    const ground from = ground_of(s, &t->from), to = ground_of(s, &t->to);
    load(f, group, t->world->now.q, b->x);
    load(f, group, t->world->now.v, b->v);
    const tally before = measure(c, &from, s, b->x, b->v);
    predict(c, &from, s, t->world->drag, t->h, b);
    lane_constrain(&c->method, &c->shape, &b->room, b->p);
    lanes speed, moved;
    arrive(c, t->h, b, &speed, &moved);
    const tally after = measure(c, &to, s, b->x, b->v);
    const lanes length = length_of(c, b->x);
    store(f, group, used, b->x, t->end->q);
    store(f, group, used, b->v, t->end->v);
    add_tally(&before, used, &part->from);
    add_tally(&after, used, &part->to);
    for (int l = 0; l < used; l++) {
        part->length += length[l];
        part->speed = fmax(part->speed, speed[l]);
        part->moved = fmax(part->moved, moved[l]);
    }
}

// ---- A step

typedef struct stepping {
    const batch *batch;
    const stride *stride;
} stepping;

static void step_block(void *context, int block, int thread)
{
    const stepping *now = context;
    const batch *f = now->batch;
    const int each = BLOCK / LANES, groups = groups_of(f->count);
    const int end = (block + 1) * each < groups ? (block + 1) * each : groups;
    f->parts[block] = (ss_batch_report){.length = 0.0};
    for (int g = block * each; g < end; g++) {
        step_group(f, now->stride, g, &f->benches[thread], &f->parts[block]);
    }
}

static void step(void *batch_, const ss_world *w, const ss_motion_state *from,
                 const ss_motion_state *to, double h, const ss_world_state *end,
                 ss_batch_report *report)
{
    const batch *f = batch_;
    ss_assert(h > 0.0 && w->nstrands == f->count);
    const stride t = {.world = w,
                      .from = carrier_at(from, w->gravity),
                      .to = carrier_at(to, w->gravity),
                      .h = h,
                      .end = end};
    stepping now = {f, &t};
    ss_team_run(f->team, f->nblocks, step_block, &now);
    *report = (ss_batch_report){.length = 0.0};
    for (int block = 0; block < f->nblocks; block++) {
        add_part(&f->parts[block], report);
    }
    report->speed = sqrt(report->speed);
    report->moved = sqrt(report->moved);
}

const ss_batch_model ss_chain_batch = {
    .alike = alike, .make = make, .free = free_batch, .step = step};
