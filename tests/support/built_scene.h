// tests/support/built_scene.h -- worlds of scenes and of scene files, and whether two are the same. Included once
// by each file.
#pragma once

#include <string.h>

#include "harness/scene_file/scene_file.h"
#include "tests/support/support.h"

static ss_error error;

typedef struct built {
    ss_world *world;
    ss_step_options options;
} built;

static inline ss_status build(const ss_scene *scene, const void *settings, const char *spec,
                              int rods, built *b)
{
    ss_model_choice model;
    CHECK_OK(ss_model_parse(spec != NULL ? spec : scene->model, &model, &error));
    const ss_scene_request request = {
        .rods = rods, .mu = NAN, .seed = 3, .model = &model, .settings = settings};
    *b = (built){.world = ss_world_new(), .options = ss_step_defaults()};
    b->world->keeps_designs = true;
    b->options.dt = scene->dt;
    const ss_status status = ss_scene_build(scene, &request, b->world, &b->options, &error);
    ss_model_choice_free(&model);
    return status;
}

// The world of a file.
static inline ss_status build_file(const char *path, const char *model, built *b)
{
    ss_scene_file file;
    *b = (built){0};
    ss_status status = ss_scene_file_read(path, &file, &error);
    if (status == SS_OK) {
        status = build(&file.scene, file.choice.settings, model, 0, b);
    }
    ss_scene_file_free(&file);
    return status;
}

static inline void check_same_numbers(const double *a, const double *b, int count)
{
    for (int j = 0; j < count; j++) {
        CHECK(a[j] == b[j]);
    }
}

// Bit by bit: where they are, and what forces the strands have a little beside that.
static inline void check_same_world(const built *a, const built *b)
{
    const ss_world *x = a->world, *y = b->world;
    CHECK(x->nstrands == y->nstrands && x->nq == y->nq && x->nv == y->nv);
    CHECK(x->nbodies == y->nbodies && x->nobstacles == y->nobstacles);
    CHECK(x->nwinds == y->nwinds);
    for (int k = 0; k < x->nwinds; k++) {
        const ss_wind *u = &x->winds[k], *v = &y->winds[k];
        CHECK(u->kind == v->kind && u->body == v->body && u->seed == v->seed);
        check_same_numbers(&u->velocity.x, &v->velocity.x, 6); // and drift
        check_same_numbers(&u->gust, &v->gust, 7);             // to strength
        check_same_numbers(&u->place.x, &v->place.x, 3);
        check_same_numbers(&u->along, &v->along, 4); // to tip
        check_same_numbers(&u->wave[0].k.x, &v->wave[0].k.x, 8 * SS_WIND_WAVES);
    }
    CHECK(x->mu == y->mu && x->radius == y->radius && x->drag == y->drag);
    CHECK(memcmp(&x->gravity, &y->gravity, sizeof x->gravity) == 0);
    check_same_numbers(x->now.q, y->now.q, x->nq);
    check_same_numbers(x->now.v, y->now.v, x->nv);
    check_same_numbers(x->mass, y->mass, x->nsamples);
    for (int k = 0; k < x->nbodies; k++) {
        ss_motion_state at, there;
        ss_motion_at(&x->bodies[k], 0.123, &at);
        ss_motion_at(&y->bodies[k], 0.123, &there);
        check_same_numbers((const double *)&at, (const double *)&there,
                           (int)(sizeof at / sizeof(double)));
    }
    for (int k = 0; k < x->nobstacles; k++) {
        const ss_obstacle *o = &x->obstacles[k], *p = &y->obstacles[k];
        CHECK(o->kind == p->kind && o->mu == p->mu && o->body == p->body);
        CHECK(o->restitution == p->restitution && o->sliding_loss == p->sliding_loss);
        check_same_numbers((const double *)&o->pose, (const double *)&p->pose, 12);
    }
    for (int k = 0; k < x->nstrands; k++) {
        const ss_strand *s = &x->strands[k], *t = &y->strands[k];
        CHECK(s->model == t->model && s->body == t->body && s->tip_body == t->tip_body);
        CHECK(s->model->energy == NULL || s->model->energy(s->self, x->now.q + s->q) ==
                                              t->model->energy(t->self, y->now.q + t->q));
    }
    CHECK(a->options.dt == b->options.dt && a->options.gap == b->options.gap);
    CHECK(a->options.margin == b->options.margin && a->options.contacts == b->options.contacts);
    CHECK(a->options.dt_min == b->options.dt_min && a->options.reach == b->options.reach);
    CHECK(a->options.explosion == b->options.explosion && a->options.beta == b->options.beta);
    CHECK(a->options.continuous == b->options.continuous && a->options.looks == b->options.looks);
}
