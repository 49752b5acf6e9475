#include "problems/tangle/tangle_tower.h"

#include <math.h>
#include <stdlib.h>

#include "base/random.h"

#define TIME_STEP   1e-3 // s
#define GRAVITY     9.81
#define MASS        1e-3 // kg, of the lowest box
#define HALF_HEIGHT 5e-3 // m
#define HALF_LOW    5e-3 // m, of the sides
#define HALF_HIGH   15e-3

// A plank: 15 : 3 : 1, and narrower where a layer has many.
#define HALF_LENGTH    60e-3
#define HALF_WIDTH     12e-3
#define HALF_THICKNESS 4e-3
#define WIDEST         0.8 // of what all of a layer leave each
#define CORNER         0.2 // a contact lies within this share of the face from its corner

// Gaps over one step, m/s; the push to the side, as a share of what friction could hold.
#define SPEED_LOW  1e-6
#define SPEED_HIGH 1e-4
#define PUSH       0.5

typedef struct box {
    double half[3];   // m; the last is upright
    double centre[2]; // m; from above
    double mass;
} box;

// Two boxes that touch, or a box and the ground.
typedef struct face {
    int above, below;          // below: -1 for the ground
    double centre[2], half[2]; // m; of what they share, from above
} face;

// Space: x, y, z and the turns about them, z upright. Plane: x, z and the turn about y.
typedef struct axes {
    int dofs;      // 6 or 3
    int axis[6];   // 0 .. 2 velocities, 3 .. 5 turns
    int normal[3]; // which axes the contact's components are along
} axes;

static const axes SPACE = {6, {0, 1, 2, 3, 4, 5}, {2, 0, 1}};
static const axes PLANE = {3, {0, 2, 4}, {2, 0, 1}};

static int boxes_of_a_layer(const ss_tangle_settings *s)
{
    return s->planks > 1 ? s->planks : 1;
}

int ss_tower_layers(const ss_tangle_settings *s)
{
    const int layers = (int)(2.0 * s->ncontacts / s->ends_per_rod) / boxes_of_a_layer(s);
    return layers > 1 ? layers : 1;
}

int ss_tower_boxes(const ss_tangle_settings *s)
{
    return boxes_of_a_layer(s) * ss_tower_layers(s);
}

static void draw_box(ss_random *g, box *b)
{
    b->half[0] = ss_random_between(g, HALF_LOW, HALF_HIGH);
    b->half[1] = ss_random_between(g, HALF_LOW, HALF_HIGH);
    b->half[2] = HALF_HEIGHT;
    b->centre[0] = b->centre[1] = 0.0;
}

// Plank k of a layer: along x in even layers, along y in odd ones, the outer two flush with the ends of
// those below.
static void place_plank(const ss_tangle_settings *s, int layer, int k, box *b)
{
    const int along = layer % 2;
    const double width = fmin(HALF_WIDTH, WIDEST * HALF_LENGTH / s->planks);
    b->half[along] = HALF_LENGTH;
    b->half[1 - along] = width;
    b->half[2] = HALF_THICKNESS;
    b->centre[along] = 0.0;
    b->centre[1 - along] = (HALF_LENGTH - width) * (2.0 * k / (s->planks - 1) - 1.0);
}

static void draw_boxes(ss_random *g, const ss_tangle_settings *s, const double *mass, box *boxes)
{
    const int wide = boxes_of_a_layer(s);
    double own = MASS;
    for (int layer = 0; layer < ss_tower_layers(s); layer++, own *= s->tower) {
        for (int k = 0; k < wide; k++) {
            box *b = &boxes[wide * layer + k];
            if (s->planks > 1) {
                place_plank(s, layer, k, b);
            } else {
                draw_box(g, b);
            }
            b->mass = own * mass[wide * layer + k];
        }
    }
}

double ss_tower_faces(const ss_tangle_settings *s)
{
    const double wide = boxes_of_a_layer(s);
    return wide + (ss_tower_layers(s) - 1.0) * wide * wide;
}

// Of the lower side of a layer.
static int faces_of_a_layer(const ss_tangle_settings *s, int layer)
{
    const int wide = boxes_of_a_layer(s);
    return layer == 0 ? wide : wide * wide;
}

// Each box of a layer stands on all of the one below; face f, from the ground up.
static face find_face(const ss_tangle_settings *s, const box *boxes, int f)
{
    const int wide = boxes_of_a_layer(s), pair = f - wide, first = wide * (pair / (wide * wide));
    face made = {.above = f, .below = -1};
    if (pair >= 0) {
        made.above = first + wide + pair % (wide * wide) / wide;
        made.below = first + pair % wide;
    }
    const box *a = &boxes[made.above], *b = made.below >= 0 ? &boxes[made.below] : a;
    for (int c = 0; c < 2; c++) {
        const double low = fmax(a->centre[c] - a->half[c], b->centre[c] - b->half[c]);
        const double high = fmin(a->centre[c] + a->half[c], b->centre[c] + b->half[c]);
        made.centre[c] = 0.5 * (low + high);
        made.half[c] = 0.5 * (high - low);
    }
    return made;
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

// Contact i at a place of a face: sign 1 on the box above, -1 on the one below.
static void add_contact(const axes *ways, const box *boxes, const ss_problem *p, int i,
                        const face *f, const double place[2], triplets *t)
{
    for (int below = 0; below < 2; below++) {
        const int k = below ? f->below : f->above;
        if (k < 0) {
            continue;
        }
        const box *b = &boxes[k];
        const double r[3] = {place[0] - b->centre[0], place[1] - b->centre[1],
                             below ? b->half[2] : -b->half[2]};
        for (int c = 0; c < p->dim; c++) {
            for (int j = 0; j < ways->dofs; j++) {
                const double x = moves(ways->axis[j], ways->normal[c], r);
                tower_add(t, ways->dofs * k + j, p->dim * i + c, below ? -x : x);
            }
        }
    }
}

// Of the k-th contact of a face: anywhere, or between planks near corner after corner.
static void draw_place(ss_random *g, const ss_tangle_settings *s, const face *f, int k,
                       double place[2])
{
    for (int c = 0; c < 2; c++) {
        double share = 0.0;
        if (s->planks > 1) {
            const double corner = (k >> c) % 2 == 0 ? -1.0 : 1.0;
            share = corner * (1.0 - CORNER * ss_random_uniform(g));
        } else if (c < s->dim - 1) {
            share = ss_random_between(g, -1.0, 1.0);
        }
        place[c] = f->centre[c] + f->half[c] * share;
    }
}

// The faces of a layer share the weight of what is above.
static void draw_contacts(ss_random *g, const ss_tangle_settings *s, const axes *ways,
                          const box *boxes, const ss_problem *p, triplets *t, double *r0)
{
    const int faces = (int)ss_tower_faces(s), wide = boxes_of_a_layer(s);
    int layer = ss_tower_layers(s);
    double above = 0.0;
    for (int k = faces - 1; k >= 0; k--) {
        const face f = find_face(s, boxes, k);
        const int first = (int)((long)p->ncontacts * k / faces);
        const int next = (int)((long)p->ncontacts * (k + 1) / faces);
        for (int b = 0; f.above / wide < layer && b < wide; b++) {
            above += boxes[f.above / wide * wide + b].mass * GRAVITY * TIME_STEP;
        }
        layer = f.above / wide;
        for (int i = first; i < next; i++) {
            double place[2];
            draw_place(g, s, &f, i - first, place);
            add_contact(ways, boxes, p, i, &f, place, t);
            if (s->planks < 2) { // planks lie flat
                p->w[p->dim * i] = ss_random_log_between(g, SPEED_LOW, SPEED_HIGH);
            }
            r0[p->dim * i] = above / faces_of_a_layer(s, layer) / (next - first);
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
        draw_boxes(&g, s, mass, boxes);
        for (size_t i = 0; i < contacts; i++) {
            p->mu[i] = s->mu;
        }
        draw_contacts(&g, s, ways, boxes, p, &t, *r0);
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
