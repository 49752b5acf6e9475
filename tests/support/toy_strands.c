// The two models, and how a strand of them gets into a world.
#include "tests/support/toy_strands.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/support.h"

#define LINE_DENSITY 1e-5 // kg/m

double toy_stiffness = 1.0;
double toy_chain_damping = 0.0;
int toy_chain_twig = 0;

typedef struct toy {
    int n; // points
    double length, stiffness, damping;
    double rest;  // of the hinge
    double *load; // [3 n] of the chain; owned
    int branch[32];
} toy;

static ss_status make(const ss_strand_design *design, const void *settings, void **strand,
                      ss_error *e)
{
    (void)settings;
    toy *t = malloc(sizeof *t);
    double *load = calloc(3 * ((size_t)design->nsegments + 1), sizeof *load);
    if (t == NULL || load == NULL) {
        free(t);
        free(load);
        return ss_fail_memory(e, "a toy strand");
    }
    *t = (toy){
        design->nsegments + 1, design->length, toy_stiffness, toy_chain_damping, 0.0, load, {0}};
    for (int i = 0; i < 32; i++) {
        t->branch[i] = i == toy_chain_twig ? 1 : -1;
    }
    *strand = t;
    return SS_OK;
}

static void free_toy(void *strand)
{
    toy *t = strand;
    if (t != NULL) {
        free(t->load);
    }
    free(t);
}

static void lumps(const void *strand, double *mass, double *length)
{
    const toy *t = strand;
    for (int i = 0; i < t->n; i++) {
        length[i] = t->length / t->n;
        mass[i] = LINE_DENSITY * length[i];
    }
}

// ---- The chain

static ss_strand_size chain_size(const void *strand)
{
    const int n = ((const toy *)strand)->n;
    return (ss_strand_size){.nq = 3 * n,
                            .nv = 3 * n,
                            .half_bandwidth = 3 * n - 1 < 5 ? 3 * n - 1 : 5,
                            .npoints = n,
                            .nsamples = n,
                            .width = 3,
                            .branch = toy_chain_twig > 0 ? ((const toy *)strand)->branch : NULL};
}

static void chain_start(void *strand, const ss_pose *root, double *q)
{
    const toy *t = strand;
    (void)root;
    memset(q, 0, 3 * (size_t)t->n * sizeof *q);
    for (int i = 0; i < t->n; i++) {
        q[3 * i] = i * t->length / (t->n - 1);
    }
}

static void chain_advance(const void *strand, const double *q, const double *v, double h,
                          double *moved)
{
    const toy *t = strand;
    for (int j = 0; j < 3 * t->n; j++) {
        moved[j] = q[j] + h * v[j];
    }
}

static void chain_place(const void *strand, const ss_pose *root, const double *q,
                        ss_strand_point *points, ss_strand_point *samples)
{
    const toy *t = strand;
    for (int i = 0; i < 2 * t->n; i++) {
        const int k = i % t->n;
        ss_strand_point *p = i < t->n ? &points[k] : &samples[k];
        p->x = ss_pose_point(root, ss_vec(q[3 * k], q[3 * k + 1], q[3 * k + 2]));
        p->first = 3 * k;
        p->count = 3;
        for (int c = 0; c < 3; c++) {
            p->J[c] = root->turn.c[c].x;
            p->J[3 + c] = root->turn.c[c].y;
            p->J[6 + c] = root->turn.c[c].z;
        }
    }
}

static double chain_energy(const void *strand, const double *q)
{
    const toy *t = strand;
    double sum = 0.0;
    for (int j = 0; j < 3 * t->n; j++) {
        const double stretch = j >= 3 ? q[j] - q[j - 3] : 0.0;
        sum += 0.5 * t->stiffness * stretch * stretch + t->load[j] * q[j];
    }
    return sum;
}

static void chain_force(const void *strand, const double *q, const double *v, double *F)
{
    const toy *t = strand;
    (void)v;
    for (int j = 0; j < 3 * t->n; j++) {
        F[j] -= t->load[j];
        if (j >= 3) {
            const double pull = t->stiffness * (q[j] - q[j - 3]);
            F[j] -= pull;
            F[j - 3] += pull;
        }
    }
}

static bool chain_stiffness(const void *strand, const double *q, ss_stiffness kind, double scale,
                            ss_band *A)
{
    (void)q;
    const toy *t = strand;
    const double k = scale * t->stiffness;
    if (kind != SS_STIFFNESS_EXACT) {
        return false;
    }
    for (int j = 3; j < 3 * t->n; j++) {
        *ss_band_at(A, j, j) += k;
        *ss_band_at(A, j - 3, j - 3) += k;
        *ss_band_at(A, j, j - 3) -= k;
    }
    return true;
}

static void chain_damping(const void *strand, const double *q, double scale, ss_band *A)
{
    chain_stiffness(strand, q, SS_STIFFNESS_EXACT, scale * ((const toy *)strand)->damping, A);
}

// A dead load takes the place of a natural shape.
static ss_status chain_balance(void *strand, const double *q, const double *load, ss_error *e)
{
    toy *t = strand;
    double *elastic = calloc(3 * (size_t)t->n, sizeof *elastic);
    if (elastic == NULL) {
        return ss_fail_memory(e, "a toy strand");
    }
    chain_force(strand, q, q, elastic);
    for (int j = 0; j < 3 * t->n; j++) {
        t->load[j] += load[j] + elastic[j];
    }
    free(elastic);
    return SS_OK;
}

const ss_strand_model toy_chain = {
    .name = "toy-chain",
    .summary = "particles and springs",
    .reference = "",
    .make = make,
    .free = free_toy,
    .size = chain_size,
    .start = chain_start,
    .lumps = lumps,
    .advance = chain_advance,
    .place = chain_place,
    .energy = chain_energy,
    .force = chain_force,
    .stiffness = chain_stiffness,
    .damping = chain_damping,
    .balance = chain_balance,
};

// ---- The pendulum

static ss_strand_size pendulum_size(const void *strand)
{
    const int n = ((const toy *)strand)->n;
    return (ss_strand_size){.nq = 1, .nv = 1, .npoints = n, .nsamples = n, .width = 1};
}

static void pendulum_start(void *strand, const ss_pose *root, double *q)
{
    (void)strand;
    (void)root;
    q[0] = 0.0;
}

static void pendulum_advance(const void *strand, const double *q, const double *v, double h,
                             double *moved)
{
    (void)strand;
    moved[0] = q[0] + h * v[0];
}

static double place_along(const toy *t, int i)
{
    return t->length * i / (t->n - 1);
}

static void pendulum_place(const void *strand, const ss_pose *root, const double *q,
                           ss_strand_point *points, ss_strand_point *samples)
{
    const toy *t = strand;
    const ss_vec3 out = ss_turned(&root->turn, ss_vec(cos(q[0]), sin(q[0]), 0.0));
    const ss_vec3 across = ss_turned(&root->turn, ss_vec(-sin(q[0]), cos(q[0]), 0.0));
    for (int i = 0; i < 2 * t->n; i++) {
        ss_strand_point *p = i < t->n ? &points[i] : &samples[i - t->n];
        const double s = place_along(t, i % t->n);
        p->x = ss_along(root->place, s, out);
        p->first = 0;
        p->count = 1;
        p->J[0] = s * across.x;
        p->J[1] = s * across.y;
        p->J[2] = s * across.z;
    }
}

static void pendulum_convect(const void *strand, const ss_pose *root, const double *q,
                             const double *v, ss_vec3 *a)
{
    const toy *t = strand;
    const ss_vec3 out = ss_turned(&root->turn, ss_vec(cos(q[0]), sin(q[0]), 0.0));
    for (int i = 0; i < t->n; i++) {
        a[i] = ss_scaled(-v[0] * v[0] * place_along(t, i), out);
    }
}

static double pendulum_energy(const void *strand, const double *q)
{
    const toy *t = strand;
    return 0.5 * t->stiffness * (q[0] - t->rest) * (q[0] - t->rest);
}

static void pendulum_force(const void *strand, const double *q, const double *v, double *F)
{
    const toy *t = strand;
    (void)v;
    F[0] -= t->stiffness * (q[0] - t->rest);
}

static bool pendulum_stiffness(const void *strand, const double *q, ss_stiffness kind, double scale,
                               ss_band *A)
{
    (void)q;
    A->x[0] += kind == SS_STIFFNESS_EXACT ? scale * ((const toy *)strand)->stiffness : 0.0;
    return kind == SS_STIFFNESS_EXACT;
}

static void pendulum_damping(const void *strand, const double *q, double scale, ss_band *A)
{
    pendulum_stiffness(strand, q, SS_STIFFNESS_EXACT, scale * ((const toy *)strand)->damping, A);
}

static ss_status pendulum_balance(void *strand, const double *q, const double *load, ss_error *e)
{
    (void)e;
    toy *t = strand;
    t->rest = q[0] - load[0] / t->stiffness;
    return SS_OK;
}

const ss_strand_model toy_pendulum = {
    .name = "toy-pendulum",
    .summary = "a stiff rod on a hinge",
    .reference = "",
    .make = make,
    .free = free_toy,
    .size = pendulum_size,
    .start = pendulum_start,
    .lumps = lumps,
    .advance = pendulum_advance,
    .place = pendulum_place,
    .convect = pendulum_convect,
    .energy = pendulum_energy,
    .force = pendulum_force,
    .stiffness = pendulum_stiffness,
    .damping = pendulum_damping,
    .balance = pendulum_balance,
};

int toy_strand(ss_world *w, const ss_strand_model *model, double length, int nsegments, int body,
               const ss_pose *root)
{
    ss_error error = {0};
    const ss_model_choice choice = {.model = model};
    const ss_strand_design design = {.length = length, .nsegments = nsegments};
    int number = -1;
    CHECK_OK(ss_world_add_strand(w, &choice, &design, body, root, &number, &error));
    return number;
}

#define MOST_DOFS 200

void theta_system(const ss_world *w, int k, const ss_placed *at, double h, double theta,
                  ss_system_scratch *scratch, ss_band *M, double *f)
{
    const ss_strand *s = &w->strands[k];
    double known[MOST_DOFS], ahead[MOST_DOFS];
    CHECK(s->v + s->size.nv <= MOST_DOFS);
    ss_strand_forces(w, k, &w->now, at, scratch, known + s->v);
    for (int j = s->v; j < s->v + s->size.nv; j++) {
        known[j] *= 1.0 - theta;
        ahead[j] = -(1.0 - theta) * w->now.v[j];
    }
    ss_iterate it = ss_iterate_first(&w->now, h);
    it.share = it.way = theta;
    it.known = known;
    it.ahead = ahead;
    CHECK(ss_strand_system(w, k, &it, at, scratch, M, f));
}
