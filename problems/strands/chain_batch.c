// The kernels of chain_kernel.h on groups of SS_CHAIN_LANES chains.
#include "problems/strands/chain_batch.h"

#include <stdbool.h>
#include <stdlib.h>

#ifdef _OPENMP
#include <omp.h>
#endif

// Vectors are not passed to other files, and 8 bytes are all that malloc and their neighbours in a
// struct need to promise.
typedef double lanes __attribute__((vector_size(8 * SS_CHAIN_LANES), aligned(8)));

static inline lanes roots(lanes a)
{
    for (int l = 0; l < SS_CHAIN_LANES; l++) {
        a[l] = sqrt(a[l]);
    }
    return a;
}

#define LANE         lanes
#define LANE_ALL(a)  ((a) - (lanes){0.0})
#define LANE_ROOT(a) roots(a)
#include "problems/strands/chain_kernel.h"

// What a thread works with: p, and the room of the kernels.
typedef struct bench {
    lane3 *p; // [n]; owned
    lane_room room;
} bench;

struct ss_chain_batch {
    const ss_chain_shape *shape;
    int ngroups, nbenches;
    lane3 *x, *v; // [ngroups][n]
    bench *benches;
};

static bool bench_init(bench *b, int n)
{
    const size_t count = (size_t)n;
    b->p = calloc(count, 2 * (sizeof *b->p + sizeof *b->room.y));
    if (b->p == NULL) {
        return false;
    }
    b->room.edge = b->p + count;
    b->room.y = (lanes *)(b->room.edge + count);
    b->room.share = b->room.y + count;
    return true;
}

void ss_chain_batch_free(ss_chain_batch *b)
{
    if (b == NULL) {
        return;
    }
    for (int k = 0; k < b->nbenches && b->benches != NULL; k++) {
        free(b->benches[k].p);
    }
    free(b->benches);
    free(b->x);
    free(b->v);
    free(b);
}

static bool allocate(ss_chain_batch *b)
{
    const size_t count = (size_t)b->ngroups * (size_t)b->shape->n;
    b->x = calloc(count + 1, sizeof *b->x);
    b->v = calloc(count + 1, sizeof *b->v);
    b->benches = calloc((size_t)b->nbenches, sizeof *b->benches);
    bool ok = b->x != NULL && b->v != NULL && b->benches != NULL;
    for (int k = 0; ok && k < b->nbenches; k++) {
        ok = bench_init(&b->benches[k], b->shape->n);
    }
    return ok;
}

ss_status ss_chain_batch_new(const ss_chain_shape *shape, int count, int threads,
                             ss_chain_batch **batch, ss_error *e)
{
    *batch = NULL;
    ss_chain_batch *b = calloc(1, sizeof *b);
    if (b == NULL) {
        return ss_fail_memory(e, "the chains");
    }
    b->shape = shape;
    b->ngroups = (count + SS_CHAIN_LANES - 1) / SS_CHAIN_LANES;
    b->nbenches = threads > 1 ? threads : 1;
    if (!allocate(b)) {
        ss_chain_batch_free(b);
        return ss_fail_memory(e, "the chains");
    }
    // Lanes behind the last chain are stepped, too: they rest in a shape without zero lengths.
    for (int k = 0; k < b->ngroups * SS_CHAIN_LANES; k++) {
        ss_vec3 at = {0.0, 0.0, 0.0};
        for (int i = 0; i < shape->n; i++) {
            lane3 *x = &b->x[(size_t)(k / SS_CHAIN_LANES) * (size_t)shape->n + (size_t)i];
            x->x[k % SS_CHAIN_LANES] = at.x;
            at.x += i + 1 < shape->n ? shape->rest[i] : 0.0;
        }
    }
    *batch = b;
    return SS_OK;
}

static size_t group_of(const ss_chain_batch *b, int k)
{
    return (size_t)(k / SS_CHAIN_LANES) * (size_t)b->shape->n;
}

static void put(lane3 *to, int lane, ss_vec3 a)
{
    to->x[lane] = a.x;
    to->y[lane] = a.y;
    to->z[lane] = a.z;
}

static ss_vec3 get(const lane3 *from, int lane)
{
    return ss_vec(from->x[lane], from->y[lane], from->z[lane]);
}

void ss_chain_batch_put(ss_chain_batch *b, int k, const ss_vec3 *x, const ss_vec3 *v)
{
    for (int i = 0; i < b->shape->n; i++) {
        put(b->x + group_of(b, k) + i, k % SS_CHAIN_LANES, x[i]);
        put(b->v + group_of(b, k) + i, k % SS_CHAIN_LANES, v[i]);
    }
}

void ss_chain_batch_get(const ss_chain_batch *b, int k, ss_vec3 *x, ss_vec3 *v)
{
    for (int i = 0; i < b->shape->n; i++) {
        x[i] = get(b->x + group_of(b, k) + i, k % SS_CHAIN_LANES);
        v[i] = get(b->v + group_of(b, k) + i, k % SS_CHAIN_LANES);
    }
}

static void step_group(const ss_chain_method *m, const ss_chain_shape *s, const bench *b,
                       ss_vec3 gravity, double h, lane3 *x, lane3 *v)
{
    const lane3 fall = {LANE_ALL(h * gravity.x), LANE_ALL(h * gravity.y), LANE_ALL(h * gravity.z)};
    for (int i = 0; i < s->n; i++) {
        const lane3 speed = lane3_along(v[i], LANE_ALL(s->w[i] > 0.0 ? 1.0 : 0.0), fall);
        b->p[i] = lane3_along(x[i], LANE_ALL(h), speed);
    }
    lane_constrain(m, s, &b->room, b->p);
    for (int i = 0; i < s->n; i++) {
        v[i] = lane3_scaled(LANE_ALL(1.0 / h), lane3_minus(b->p[i], x[i]));
        x[i] = b->p[i];
        lane_damp(m, s, &b->room, h, i, &v[i]);
    }
}

void ss_chain_batch_step(ss_chain_batch *b, const ss_chain_method *m, ss_vec3 gravity, double h)
{
    const size_t n = (size_t)b->shape->n;
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(b->nbenches) if (b->nbenches > 1)
#endif
    for (int g = 0; g < b->ngroups; g++) {
        int thread = 0;
#ifdef _OPENMP
        thread = omp_get_thread_num();
#endif
        step_group(m, b->shape, &b->benches[thread], gravity, h, b->x + (size_t)g * n,
                   b->v + (size_t)g * n);
    }
}
