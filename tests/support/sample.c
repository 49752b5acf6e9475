// tests/support/sample.c -- see sample.h.
#include "tests/support/sample.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/support.h"

// In (-1/2, 1/2), spread over the mantissa; the multiplier is Knuth's.
static double value(int k)
{
    return (double)((uint32_t)k * 2654435761u) / 4294967296.0 - 0.5;
}

static double *values(int count, int from)
{
    double *x = malloc((size_t)count * sizeof *x);
    TEST_ASSERT_NOT_NULL(x);
    for (int k = 0; k < count; k++) {
        x[k] = value(from + k);
    }
    return x;
}

static char *text(const char *words)
{
    char *copy = strdup(words);
    TEST_ASSERT_NOT_NULL(copy);
    return copy;
}

typedef struct triplets {
    int count;
    int *row, *col;
    double *x;
} triplets;

static triplets new_triplets(int room)
{
    triplets t = {0};
    t.row = malloc((size_t)room * sizeof *t.row);
    t.col = malloc((size_t)room * sizeof *t.col);
    t.x = malloc((size_t)room * sizeof *t.x);
    TEST_ASSERT_TRUE(t.row != NULL && t.col != NULL && t.x != NULL);
    return t;
}

static void add(triplets *t, int row, int col, double x)
{
    t->row[t->count] = row;
    t->col[t->count] = col;
    t->x[t->count++] = x;
}

static void compress(triplets *t, int nrows, int ncols, ss_sparse *A)
{
    ss_error error = {0};
    CHECK_OK(ss_sparse_from_triplets(A, nrows, ncols, t->count, t->row, t->col, t->x, &error));
    free(t->row);
    free(t->col);
    free(t->x);
}

static int body_size(int body, int nbodies)
{
    return body + 2 < nbodies ? 4 : 6;
}

static void fill_mass(ss_problem *p, int nbodies)
{
    triplets t = new_triplets(36 * nbodies);
    int first = 0;
    for (int body = 0; body < nbodies; body++) {
        const int size = body_size(body, nbodies);
        for (int i = 0; i < size; i++) {
            for (int j = 0; j < size; j++) {
                const int low = i < j ? i : j, high = i < j ? j : i;
                add(&t, first + i, first + j, value(first * 7 + low * 31 + high) + 8.0 * (i == j));
            }
        }
        first += size;
    }
    p->ndofs = first;
    compress(&t, first, first, &p->M);
}

// Body k < nbodies - 1 starts at dof 4 k; the ends of a contact are the first dofs of its bodies.
static void fill_contacts(ss_problem *p)
{
    const int ncols = p->dim * p->ncontacts;
    triplets t = new_triplets(4 * ncols);
    for (int j = 0; j < ncols - 1; j++) {
        const int contact = j / p->dim, component = j % p->dim;
        add(&t, 4 * contact + component, j, value(5000 + j));
        add(&t, 4 * contact + component + 1, j, 0.0);
        add(&t, 4 * contact + 4 + component, j, value(6000 + j));
    }
    compress(&t, p->ndofs, ncols, &p->H);
}

static void fill_global(ss_problem *p)
{
    const int m = p->dim * p->ncontacts;
    fill_mass(p, p->ncontacts + 1);
    fill_contacts(p);
    p->f = values(p->ndofs, 100);
    p->f[0] = -0.0;
    p->f[1] = 5e-324; // the smallest number above 0
    p->w = values(m, 200);
}

static void fill_local(ss_problem *p)
{
    const int m = p->dim * p->ncontacts;
    triplets t = new_triplets(m * m);
    for (int j = 0; j < m; j++) {
        for (int i = 0; i < m; i++) {
            add(&t, i, j, value(i * 1009 + j) + m * (i == j));
        }
    }
    compress(&t, m, m, &p->W);
    p->b = values(m, 300);
    p->b[0] = 1e308;
}

static void fill_state(const ss_problem *p, ss_state *s, int from)
{
    s->r = values(p->dim * p->ncontacts, from);
    s->u = values(p->dim * p->ncontacts, from + 1000);
    s->v = p->form == SS_GLOBAL ? values(p->ndofs, from + 2000) : NULL;
}

static ss_claim sample_claim(void)
{
    return (ss_claim){
        .solver = "gs/mfb+enum:freeze=off",
        .tolerance = 1e-6,
        .measures = {.fb = 1.0 / 3,
                     .fb_contact = 2e-7,
                     .fb_abs = 3e-7,
                     .natural = 4e-7,
                     .normal = 5e-7,
                     .penetration = 6e-7,
                     .cone_excess = 7e-7,
                     .slip_angle = 8e-7,
                     .power = 9e-7,
                     .velocity_scale = 10,
                     .compliance_scale = 11,
                     .worst_contact = 1},
        .date = "2024-02-29T12:00:00Z",
        .host = "somewhere",
    };
}

static ss_provenance sample_provenance(void)
{
    return (ss_provenance){.scene = "pony",
                           .has_seed = true,
                           .seed = UINT64_MAX,
                           .step = 17,
                           .time = 0.1,
                           .dt = 1.0 / 3,
                           .units = "kg m s",
                           .frame = "n t1 t2",
                           .producer = "another program 2",
                           .commit = "abcdef"};
}

ss_problem *sample_problem(ss_form form, int dim, int ncontacts)
{
    ss_problem *p = ss_problem_new();
    TEST_ASSERT_NOT_NULL(p);
    p->form = form;
    p->dim = dim;
    p->ncontacts = ncontacts;
    p->mu = values(ncontacts, 400);
    for (int i = 0; i < ncontacts; i++) {
        p->mu[i] += 0.5;
    }
    if (form == SS_GLOBAL) {
        fill_global(p);
    } else {
        fill_local(p);
    }
    p->nguesses = 2;
    p->guesses = calloc(2, sizeof *p->guesses);
    TEST_ASSERT_NOT_NULL(p->guesses);
    fill_state(p, &p->guesses[0], 10000);
    fill_state(p, &p->guesses[1], 20000);
    p->has_solution = true;
    fill_state(p, &p->solution, 30000);
    p->claim = sample_claim();
    p->provenance = sample_provenance();
    p->title = text("a sample");
    p->description = text("made by hand");
    p->math_info = text("M is diagonally dominant");
    return p;
}

static void check_same_bytes(const void *a, const void *b, size_t bytes, const char *what)
{
    TEST_ASSERT_TRUE_MESSAGE((a == NULL) == (b == NULL), what);
    if (a != NULL && bytes > 0) {
        TEST_ASSERT_TRUE_MESSAGE(memcmp(a, b, bytes) == 0, what);
    }
}

static void check_same_matrix(const ss_sparse *a, const ss_sparse *b, const char *what)
{
    TEST_ASSERT_EQUAL_INT_MESSAGE(a->nrows, b->nrows, what);
    TEST_ASSERT_EQUAL_INT_MESSAGE(a->ncols, b->ncols, what);
    const size_t count = (size_t)ss_sparse_count(a);
    check_same_bytes(a->start, b->start, ((size_t)a->ncols + 1) * sizeof(int), what);
    TEST_ASSERT_EQUAL_INT_MESSAGE((int)count, ss_sparse_count(b), what);
    if (count > 0) {
        check_same_bytes(a->row, b->row, count * sizeof(int), what);
        check_same_bytes(a->x, b->x, count * sizeof(double), what);
    }
}

static void check_same_state(const ss_problem *p, const ss_state *a, const ss_state *b)
{
    const size_t m = (size_t)(p->dim * p->ncontacts) * sizeof(double);
    check_same_bytes(a->r, b->r, m, "r");
    check_same_bytes(a->u, b->u, m, "u");
    check_same_bytes(a->v, b->v, (size_t)p->ndofs * sizeof(double), "v");
}

void check_same_problem(const ss_problem *a, const ss_problem *b)
{
    TEST_ASSERT_EQUAL_INT(a->form, b->form);
    TEST_ASSERT_EQUAL_INT(a->dim, b->dim);
    TEST_ASSERT_EQUAL_INT(a->ncontacts, b->ncontacts);
    TEST_ASSERT_EQUAL_INT(a->ndofs, b->ndofs);
    const size_t n = (size_t)a->ncontacts * sizeof(double), m = n * (size_t)a->dim;
    check_same_bytes(a->mu, b->mu, n, "mu");
    check_same_matrix(&a->W, &b->W, "W");
    check_same_bytes(a->b, b->b, m, "b");
    check_same_matrix(&a->M, &b->M, "M");
    check_same_matrix(&a->H, &b->H, "H");
    check_same_bytes(a->f, b->f, (size_t)a->ndofs * sizeof(double), "f");
    check_same_bytes(a->w, b->w, m, "w");
    TEST_ASSERT_EQUAL_INT(a->nguesses, b->nguesses);
    for (int k = 0; k < a->nguesses; k++) {
        check_same_state(a, &a->guesses[k], &b->guesses[k]);
    }
    TEST_ASSERT_EQUAL_INT(a->has_solution, b->has_solution);
    check_same_state(a, &a->solution, &b->solution);
    TEST_ASSERT_EQUAL_STRING(a->title, b->title);
    TEST_ASSERT_EQUAL_STRING(a->description, b->description);
    TEST_ASSERT_EQUAL_STRING(a->math_info, b->math_info);
}

static void check_same_number(double a, double b, const char *what)
{
    TEST_ASSERT_TRUE_MESSAGE(a == b || (isnan(a) && isnan(b)), what);
}

void check_same_provenance(const ss_provenance *a, const ss_provenance *b)
{
    TEST_ASSERT_EQUAL_STRING(a->scene, b->scene);
    TEST_ASSERT_EQUAL_INT(a->has_seed, b->has_seed);
    TEST_ASSERT_TRUE(a->seed == b->seed);
    TEST_ASSERT_EQUAL_INT(a->step, b->step);
    check_same_number(a->time, b->time, "time");
    check_same_number(a->dt, b->dt, "dt");
    TEST_ASSERT_EQUAL_STRING(a->units, b->units);
    TEST_ASSERT_EQUAL_STRING(a->frame, b->frame);
    TEST_ASSERT_EQUAL_STRING(a->producer, b->producer);
    TEST_ASSERT_EQUAL_STRING(a->commit, b->commit);
}

void check_same_claim(const ss_claim *a, const ss_claim *b)
{
    const ss_measures *x = &a->measures, *y = &b->measures;
    TEST_ASSERT_EQUAL_STRING(a->solver, b->solver);
    check_same_number(a->tolerance, b->tolerance, "tolerance");
    check_same_number(x->fb, y->fb, "fb");
    check_same_number(x->fb_contact, y->fb_contact, "fb_contact");
    check_same_number(x->fb_abs, y->fb_abs, "fb_abs");
    check_same_number(x->natural, y->natural, "natural");
    check_same_number(x->normal, y->normal, "normal");
    check_same_number(x->penetration, y->penetration, "penetration");
    check_same_number(x->cone_excess, y->cone_excess, "cone_excess");
    check_same_number(x->slip_angle, y->slip_angle, "slip_angle");
    check_same_number(x->power, y->power, "power");
    check_same_number(x->velocity_scale, y->velocity_scale, "velocity_scale");
    check_same_number(x->compliance_scale, y->compliance_scale, "compliance_scale");
    TEST_ASSERT_EQUAL_INT(x->worst_contact, y->worst_contact);
    TEST_ASSERT_EQUAL_STRING(a->date, b->date);
    TEST_ASSERT_EQUAL_STRING(a->host, b->host);
}
