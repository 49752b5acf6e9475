#include "problems/tangle/tangle_tower.h"

#include <math.h>
#include <stdlib.h>

#include "problems/tangle/random.h"

#define TIME_STEP   1e-3 // s
#define GRAVITY     9.81
#define MASS        1e-3 // kg, of the lowest box
#define HALF_HEIGHT 5e-3 // m
#define HALF_LOW    5e-3 // m, of the sides
#define HALF_HIGH   15e-3

// Gaps over one step, m/s; the push to the side, as a share of what friction could hold.
#define SPEED_LOW  1e-6
#define SPEED_HIGH 1e-4
#define PUSH       0.5

typedef struct box {
    double half[3]; // m; the last is upright
    double mass;
} box;

// Space: x, y, z and the turns about them, z upright. Plane: x, z and the turn about y.
typedef struct axes {
    int dofs;      // 6 or 3
    int axis[6];   // 0 .. 2 velocities, 3 .. 5 turns
    int normal[3]; // which axes the contact's components are along
} axes;

static const axes SPACE = {6, {0, 1, 2, 3, 4, 5}, {2, 0, 1}};
static const axes PLANE = {3, {0, 2, 4}, {2, 0, 1}};

int ss_tower_boxes(const ss_tangle_settings *s)
{
    const int boxes = (int)(2.0 * s->ncontacts / s->ends_per_rod);
    return boxes > 1 ? boxes : 1;
}

static void draw_boxes(ss_random *g, const ss_tangle_settings *s, const double *mass, int n,
                       box *boxes)
{
    double own = MASS;
    for (int k = 0; k < n; k++, own *= s->tower) {
        boxes[k].half[0] = ss_random_between(g, HALF_LOW, HALF_HIGH);
        boxes[k].half[1] = ss_random_between(g, HALF_LOW, HALF_HIGH);
        boxes[k].half[2] = HALF_HEIGHT;
        boxes[k].mass = own * mass[k];
    }
}

// Of a box about axis a.
static double inertia(const box *b, int a)
{
    const double p = b->half[(a + 1) % 3], q = b->half[(a + 2) % 3];
    return b->mass * (p * p + q * q) / 3.0;
}

// What dof `axis` moves along `direction` at the place r from the centre.
static double moves(int axis, int direction, const double r[3])
{
    if (axis < 3) {
        return axis == direction ? 1.0 : 0.0;
    }
    const int a = axis - 3; // (e_a x r) . e_direction
    if (direction == (a + 1) % 3) {
        return -r[(a + 2) % 3];
    }
    return direction == (a + 2) % 3 ? r[(a + 1) % 3] : 0.0;
}

typedef struct triplets {
    int count;
    int *row, *col;
    double *x;
} triplets;

static void tower_add(triplets *t, int row, int col, double x)
{
    t->row[t->count] = row;
    t->col[t->count] = col;
    t->x[t->count++] = x;
}

static void add_masses(const axes *ways, const box *boxes, int n, triplets *t)
{
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < ways->dofs; i++) {
            for (int j = 0; j < ways->dofs; j++) {
                const int axis = ways->axis[i];
                const double own = axis < 3 ? boxes[k].mass : inertia(&boxes[k], axis - 3);
                tower_add(t, ways->dofs * k + i, ways->dofs * k + j, i == j ? own : 0.0);
            }
        }
    }
}

// Contact i at a place of the lower face of box k: sign 1 on this box, -1 on the one below.
static void add_contact(const axes *ways, const ss_problem *p, int i, int k, const double place[2],
                        triplets *t)
{
    for (int below = 0; below < 2 && below <= k; below++) {
        const double r[3] = {place[0], place[1], below ? HALF_HEIGHT : -HALF_HEIGHT};
        for (int c = 0; c < p->dim; c++) {
            for (int j = 0; j < ways->dofs; j++) {
                const double x = moves(ways->axis[j], ways->normal[c], r);
                tower_add(t, ways->dofs * (k - below) + j, p->dim * i + c, below ? -x : x);
            }
        }
    }
}

static void draw_contacts(ss_random *g, const axes *ways, const box *boxes, int n,
                          const ss_problem *p, triplets *t, double *r0)
{
    double above = 0.0;
    for (int k = n - 1; k >= 0; k--) {
        const int first = (int)((long)p->ncontacts * k / n);
        const int next = (int)((long)p->ncontacts * (k + 1) / n);
        const double *below = boxes[k > 0 ? k - 1 : 0].half;
        above += boxes[k].mass * GRAVITY * TIME_STEP;
        for (int i = first; i < next; i++) {
            double place[2];
            for (int c = 0; c < 2; c++) {
                const double half = fmin(boxes[k].half[c], below[c]);
                place[c] = c < p->dim - 1 ? half * ss_random_between(g, -1.0, 1.0) : 0.0;
            }
            add_contact(ways, p, i, k, place, t);
            p->w[p->dim * i] = ss_random_log_between(g, SPEED_LOW, SPEED_HIGH);
            r0[p->dim * i] = above / (next - first);
        }
    }
}

static void draw_loads(ss_random *g, const ss_tangle_settings *s, const axes *ways,
                       const box *boxes, int n, ss_problem *p)
{
    for (int k = 0; k < n; k++) {
        double push[3] = {0.0, 0.0, 0.0};
        ss_random_direction(g, s->dim - 1, push);
        push[0] *= PUSH * s->mu * GRAVITY;
        push[1] *= s->dim == 3 ? PUSH * s->mu * GRAVITY : 0.0;
        push[2] = -GRAVITY;
        for (int j = 0; j < ways->dofs; j++) {
            p->f[ways->dofs * k + j] =
                ways->axis[j] < 3 ? boxes[k].mass * TIME_STEP * push[ways->axis[j]] : 0.0;
        }
    }
}

ss_status ss_tower_fill(const ss_tangle_settings *s, const double *mass, ss_problem *p, double **r0,
                        ss_error *e)
{
    const axes *ways = s->dim == 3 ? &SPACE : &PLANE;
    const int n = ss_tower_boxes(s), m = ways->dofs;
    const size_t contacts = (size_t)s->ncontacts, size = contacts * (size_t)s->dim;
    const size_t room = 2 * size * (size_t)m + (size_t)(n * m * m);
    p->ndofs = n * m;
    triplets t = {.row = malloc(room * sizeof(int)),
                  .col = malloc(room * sizeof(int)),
                  .x = malloc(room * sizeof(double))};
    box *boxes = malloc((size_t)n * sizeof *boxes);
    p->mu = malloc(contacts * sizeof *p->mu);
    p->f = calloc((size_t)p->ndofs, sizeof *p->f);
    p->w = calloc(size, sizeof *p->w);
    *r0 = calloc(size, sizeof **r0);
    ss_status status = SS_OK;
    if (t.row == NULL || t.col == NULL || t.x == NULL || boxes == NULL || p->mu == NULL ||
        p->f == NULL || p->w == NULL || *r0 == NULL) {
        status = ss_fail_memory(e, "a tower");
    }
    if (status == SS_OK) {
        ss_random g = ss_random_seeded(s->seed);
        draw_boxes(&g, s, mass, n, boxes);
        for (size_t i = 0; i < contacts; i++) {
            p->mu[i] = s->mu;
        }
        draw_contacts(&g, ways, boxes, n, p, &t, *r0);
        draw_loads(&g, s, ways, boxes, n, p);
        status = ss_sparse_from_triplets(&p->H, p->ndofs, (int)size, t.count, t.row, t.col, t.x, e);
    }
    if (status == SS_OK) {
        t.count = 0;
        add_masses(ways, boxes, n, &t);
        status = ss_sparse_from_triplets(&p->M, p->ndofs, p->ndofs, t.count, t.row, t.col, t.x, e);
    }
    free(t.row);
    free(t.col);
    free(t.x);
    free(boxes);
    return status;
}
