#include "tests/support/one_strand.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/support.h"
#include "tests/support/twisting_chain.h"

#define MOST_PIECES 16
#define SEGMENTS    11

ss_strand_design random_design(ss_random *g, int npieces, double curvature)
{
    static double style[MOST_PIECES][3];
    for (int k = 0; k < npieces; k++) {
        for (int i = 0; i < 3; i++) {
            style[k][i] = ss_random_between(g, -curvature, curvature);
        }
    }
    return (ss_strand_design){.length = 0.25,
                              .material = ss_material_hair(),
                              .npieces = npieces,
                              .style = (const double(*)[3])style,
                              .nsegments = SEGMENTS};
}

static ss_strand_point *new_points(int count, double **numbers, int width)
{
    ss_strand_point *points = calloc((size_t)count, sizeof *points);
    for (int k = 0; k < count; k++) {
        points[k].J = *numbers;
        *numbers += 3 * width;
    }
    return points;
}

one_strand new_strand(const char *spec, const ss_strand_design *design)
{
    ss_error error = {0};
    one_strand s = {0};
    if (strcmp(spec, twisting_chain.name) == 0) {
        s.choice = (ss_model_choice){.model = &twisting_chain};
        strcpy(s.choice.spec, spec);
    } else {
        CHECK_OK(ss_model_parse(spec, &s.choice, &error));
    }
    s.model = s.choice.model;
    CHECK_OK(s.model->make(design, s.choice.settings, &s.self, &error));
    s.size = s.model->size(s.self);
    const int nplaces = s.size.npoints + s.size.nsamples;
    const int total = s.size.nq + 2 * s.size.nv + 3 * s.size.width * nplaces + 2 * s.size.nsamples;
    double *numbers = s.numbers = calloc((size_t)total, sizeof *numbers);
    s.points = new_points(s.size.npoints, &numbers, s.size.width);
    s.samples = new_points(s.size.nsamples, &numbers, s.size.width);
    s.q = numbers;
    s.v = s.q + s.size.nq;
    s.rest = s.v + s.size.nv;
    s.mass = s.rest + s.size.nv;
    s.length = s.mass + s.size.nsamples;
    const ss_pose home = ss_pose_identity();
    s.model->start(s.self, &home, s.q);
    s.model->lumps(s.self, s.mass, s.length);
    return s;
}

void check_refused_design(const char *spec, const ss_strand_design *design, const char *word)
{
    ss_error error = {0};
    ss_model_choice choice;
    void *self = NULL;
    CHECK_OK(ss_model_parse(spec, &choice, &error));
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, choice.model->make(design, choice.settings, &self, &error));
    TEST_ASSERT_NULL(self);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, word), error.text);
    ss_model_choice_free(&choice);
}

void free_strand(one_strand *s)
{
    if (s->model != NULL) {
        s->model->free(s->self);
    }
    ss_model_choice_free(&s->choice);
    free(s->points);
    free(s->samples);
    free(s->numbers);
    *s = (one_strand){0};
}

void place_strand(one_strand *s, const ss_pose *root, const double *q)
{
    const ss_pose world = ss_pose_identity();
    s->model->place(s->self, s->model->frame == SS_FRAME_WORLD ? &world : root, q, s->points,
                    s->samples);
}

bool is_held(const one_strand *s, int dof)
{
    bool held = false;
    for (int i = 0; i < s->size.nheld; i++) {
        held = held || s->size.held[i] == dof;
    }
    return held;
}

ss_vec3 column(const ss_strand_point *p, int k)
{
    const int n = p->count;
    ss_vec3 x = {0.0, 0.0, 0.0};
    for (int j = 0; j < n; j++) {
        x = ss_point_dof(p, j) == k ? ss_vec(p->J[j], p->J[n + j], p->J[2 * n + j]) : x;
    }
    return x;
}

ss_vec3 velocity(const ss_strand_point *p, const double *v)
{
    ss_vec3 sum = {0.0, 0.0, 0.0};
    for (int j = 0; j < p->count; j++) {
        sum = ss_along(sum, v[ss_point_dof(p, j)], column(p, ss_point_dof(p, j)));
    }
    return sum;
}

void add_load(const ss_strand_point *p, ss_vec3 force, double *F)
{
    for (int j = 0; j < p->count; j++) {
        F[ss_point_dof(p, j)] += ss_dot(force, column(p, ss_point_dof(p, j)));
    }
}

double column_size(const one_strand *s, int k)
{
    double most = 0.0;
    for (int p = 0; p < s->size.nsamples; p++) {
        most = fmax(most, ss_length(column(&s->samples[p], k)));
    }
    return most;
}

double strand_length(const one_strand *s)
{
    double sum = 0.0;
    for (int p = 0; p < s->size.nsamples; p++) {
        sum += s->length[p];
    }
    return sum;
}

double dof_size(const one_strand *s, int k)
{
    const double size = column_size(s, k);
    return size > 0.0 ? strand_length(s) / size : 1.0;
}

void random_velocity(const one_strand *s, ss_random *g, double *v)
{
    for (int k = 0; k < s->size.nv; k++) {
        v[k] = ss_random_normal(g) * dof_size(s, k);
    }
}

void mass_matrix(const one_strand *s, const double *q, double *M)
{
    const int n = s->size.nv, half = s->size.half_bandwidth;
    double *band = calloc((size_t)((half + 1) * n), sizeof *band);
    ss_band A = {n, half, band};
    if (s->model->inertia != NULL) {
        s->model->inertia(s->self, q, &A);
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = i - j <= half ? *ss_band_at(&A, i, j) : 0.0;
            for (int p = 0; p < s->size.nsamples; p++) {
                const ss_strand_point *at = &s->samples[p];
                sum += s->mass[p] * ss_dot(column(at, i), column(at, j));
            }
            M[i * n + j] = M[j * n + i] = sum;
        }
    }
    free(band);
}

ss_pose random_pose(ss_random *g)
{
    double axis[3], place[3];
    ss_random_direction(g, 3, axis);
    ss_random_direction(g, 3, place);
    const ss_vec3 turn = ss_vec(axis[0], axis[1], axis[2]);
    return (ss_pose){ss_rotation(ss_scaled(ss_random_between(g, 0.0, 3.0), turn)),
                     ss_vec(place[0], place[1], place[2])};
}

ss_band new_band(const one_strand *s)
{
    const int n = s->size.nv, half = s->size.half_bandwidth;
    return (ss_band){n, half, calloc((size_t)((half + 1) * n), sizeof(double))};
}

void advance_dof(const one_strand *s, int k, double h, double *moved)
{
    double *unit = calloc((size_t)s->size.nv, sizeof *unit);
    unit[k] = 1.0;
    s->model->advance(s->self, s->q, unit, h, moved);
    free(unit);
}

void disturb(one_strand *s, ss_random *g)
{
    const ss_pose root = random_pose(g);
    place_strand(s, &root, s->q);
    random_velocity(s, g, s->v);
    s->model->advance(s->self, s->q, s->v, 0.05, s->q);
    place_strand(s, &root, s->q);
}

const ss_strand_point *place_number(const one_strand *s, int p)
{
    return p < s->size.npoints ? &s->points[p] : &s->samples[p - s->size.npoints];
}

int places(const one_strand *s)
{
    return s->size.npoints + s->size.nsamples;
}

// x += scale * (place of all points at q (+) h e_k)
static void add_places(one_strand *s, const ss_pose *root, int k, double h, double scale,
                       ss_vec3 *x)
{
    double *moved = calloc((size_t)s->size.nq, sizeof *moved);
    advance_dof(s, k, h, moved);
    place_strand(s, root, moved);
    for (int p = 0; p < places(s); p++) {
        x[p] = ss_along(x[p], scale, place_number(s, p)->x);
    }
    free(moved);
}

double column_error(one_strand *s, const ss_pose *root, int k, double h)
{
    ss_vec3 *difference = calloc((size_t)places(s), sizeof *difference);
    double most = 0.0;
    add_places(s, root, k, h, 0.5 / h, difference);
    add_places(s, root, k, -h, -0.5 / h, difference);
    place_strand(s, root, s->q);
    for (int p = 0; p < places(s); p++) {
        const double wrong = ss_length(ss_minus(difference[p], column(place_number(s, p), k)));
        most = wrong > most || isnan(wrong) ? wrong : most;
    }
    free(difference);
    return most;
}

// ---- Every model

#define PIECES    7
#define CURVATURE 30.0 // 1/m: a few turns

static void check_spec(ss_random *g, const char *spec, property *holds)
{
    const ss_strand_design design = random_design(g, PIECES, CURVATURE);
    one_strand s = new_strand(spec, &design);
    const ss_pose root = random_pose(g);
    place_strand(&s, &root, s.q);
    checks_are_about(spec);
    holds(&s);
    checks_are_about("");
    free_strand(&s);
}

static void check_option(ss_random *g, const ss_strand_model *m, const ss_key *key, property *holds)
{
    char spec[160];
    if (key->kind == SS_KEY_CHOICE) {
        for (int k = 0; key->choices[k] != NULL; k++) {
            snprintf(spec, sizeof spec, "%s:%s=%s", m->name, key->name, key->choices[k]);
            check_spec(g, spec, holds);
        }
        return;
    }
    for (int k = 0; k < 2; k++) {
        const double value = key->low + (k > 0 ? fmin(8.0, key->high - key->low) : 0.0);
        snprintf(spec, sizeof spec, "%s:%s=%.17g", m->name, key->name, value);
        check_spec(g, spec, holds);
    }
}

void on_every_model(ss_random *g, property *holds)
{
    check_spec(g, twisting_chain.name, holds);
    for (int k = 0; ss_strand_models[k] != NULL; k++) {
        check_spec(g, ss_strand_models[k]->name, holds);
        const ss_key *key = ss_strand_models[k]->keys;
        for (; key != NULL && key->name != NULL; key++) {
            check_option(g, ss_strand_models[k], key, holds);
        }
    }
}
