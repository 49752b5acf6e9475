// A world as a scene file (scene_file.h).
//
// Strands that were designed by vertices have these. The others have their curvatures, which rule
// when the file is read, and for other programs the vertices that these give. The reader gets the
// same doubles back: if a key of the format cannot give them (a1 and a2 for a radius and their
// ratio, a viscosity for a relaxation), another one that can is written instead.
#include "harness/scene_file/scene_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/save.h"
#include "harness/quote.h"
#include "harness/scene_file/json.h"
#include "strands/world.h"
#include "strands/shape.h"

// ---- The parts

// Writes nothing if it is 0.
static void put_pull(FILE *out, const char *key, ss_vec3 x)
{
    if (ss_length(x) > 0.0) {
        ss_json_put_vector(out, key, x);
    }
}

static bool same_vector(ss_vec3 a, ss_vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static void put_pose(FILE *out, const ss_pose *pose)
{
    const ss_mat3 one = ss_mat3_identity();
    bool turned = false;
    ss_json_put_vector(out, "position", pose->place);
    for (int k = 0; k < 3; k++) {
        turned = turned || !same_vector(pose->turn.c[k], one.c[k]);
    }
    if (turned) {
        fputs(", \"turn\": ", out);
        ss_json_write_vectors(out, pose->turn.c, 3);
    }
}

// Bodies other than the world have their numbers as names.
static void put_body(FILE *out, const char *key, int body)
{
    if (body > 0) {
        fprintf(out, ", \"%s\": \"body-%d\"", key, body);
    }
}

static void put_profile(FILE *out, const char *key, const ss_profile *p)
{
    if (p->kind != SS_PROFILE_STILL) {
        fprintf(out, ", \"%s\": {\"kind\": \"%s\"", key, ss_scene_profiles[p->kind]);
        ss_json_put_real(out, "size", p->size);
        ss_json_put_real(out, "period", p->period);
        ss_json_put_real(out, "start", p->start);
        fputc('}', out);
    }
}

static void put_keys(FILE *out, const ss_motion *m)
{
    fputs(", \"motion\": [", out);
    for (int k = 0; k < m->nkeys; k++) {
        const ss_quat p = m->keys[k].turn;
        const double turn[4] = {p.w, p.x, p.y, p.z};
        fputs(k > 0 ? ",\n    {\"time\": " : "\n    {\"time\": ", out);
        ss_json_write_real(out, m->keys[k].time);
        ss_json_put_vector(out, "position", m->keys[k].place);
        fputs(", \"rotation\": ", out);
        ss_json_write_numbers(out, turn, 4);
        fputc('}', out);
    }
    fputs("]}", out);
}

static void write_body(FILE *out, const ss_motion *m, int number)
{
    fprintf(out, "   {\"name\": \"body-%d\"", number);
    if (m->nkeys > 0) {
        put_keys(out, m);
        return;
    }
    fputs(", \"motion\": {\"axis\": ", out);
    ss_json_write_vector(out, m->axis);
    ss_json_put_vector(out, "centre", m->centre);
    ss_json_put_vector(out, "direction", m->direction);
    put_profile(out, "angle", &m->angle);
    put_profile(out, "shift", &m->shift);
    fputs("}}", out);
}

static void write_obstacle(FILE *out, const ss_obstacle *o)
{
    fprintf(out, "   {\"kind\": \"%s\"", ss_scene_obstacles[o->kind]);
    put_pose(out, &o->pose);
    if (o->kind == SS_OBSTACLE_ELLIPSOID) {
        ss_json_put_vector(out, "semi_axes", o->size);
    } else if (o->kind != SS_OBSTACLE_PLANE) {
        ss_json_put_real(out, "radius", o->size.x);
    }
    if (o->kind == SS_OBSTACLE_CYLINDER || o->kind == SS_OBSTACLE_CAPSULE) {
        ss_json_put_real(out, "length", 2.0 * o->size.z);
    }
    ss_json_put_real(out, "mu", o->mu);
    if (o->sliding_loss > 0.0) {
        ss_json_put_real(out, "sliding", 1.0 - o->sliding_loss);
    }
    if (o->restitution > 0.0) {
        ss_json_put_real(out, "restitution", o->restitution);
    }
    put_body(out, "body", o->body);
    fputc('}', out);
}

static void write_wind(FILE *out, const ss_wind *a)
{
    fprintf(out, "   {\"kind\": \"%s\", \"seed\": %d", ss_wind_kinds[a->kind], a->seed);
    ss_json_put_vector(out, "velocity", a->velocity);
    ss_json_put_vector(out, "drift", a->drift);
    ss_json_put_vector(out, "position", a->place);
    const struct {
        const char *key;
        double value;
    } numbers[] = {{"gust", a->gust},         {"period", a->period}, {"start", a->start},
                   {"rise", a->rise},         {"size", a->size},     {"length", a->length},
                   {"strength", a->strength}, {"along", a->along},   {"across", a->across},
                   {"root", a->root},         {"tip", a->tip}};
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
        ss_json_put_real(out, numbers[k].key, numbers[k].value);
    }
    put_body(out, "body", a->body);
    fputc('}', out);
}

static void write_material(FILE *out, const ss_material *m, int number)
{
    const double viscosity = m->relaxation * m->young;
    fprintf(out, "   \"material-%d\": {\"E\": ", number);
    ss_json_write_real(out, m->young);
    ss_json_put_real(out, "nu", m->poisson);
    ss_json_put_real(out, "rho", m->density);
    ss_json_put_real(out, "a", m->radius);
    if (m->ellipticity != 1.0) {
        ss_json_put_real(out, "ellipticity", m->ellipticity);
    }
    if (viscosity / m->young == m->relaxation) {
        ss_json_put_real(out, "viscosity", viscosity);
    } else {
        ss_json_put_real(out, "relaxation", m->relaxation);
    }
    ss_json_put_real(out, "stretch", m->stretch);
    fputc('}', out);
}

static bool same_material(const ss_material *a, const ss_material *b)
{
    return a->density == b->density && a->radius == b->radius && a->ellipticity == b->ellipticity &&
           a->young == b->young && a->poisson == b->poisson && a->relaxation == b->relaxation &&
           a->stretch == b->stretch;
}

// ---- Strands

// The vertices that curvatures give, in the frame of the body.
static ss_status put_shape(FILE *out, const ss_strand_design *d, const ss_pose *root, ss_error *e)
{
    const int n = d->nsegments + 1;
    ss_vec3 *x = malloc((size_t)n * sizeof *x);
    if (x == NULL) {
        return ss_fail_memory(e, "the vertices of a strand");
    }
    ss_shape_vertices(d, SS_SHAPE_START, n, x);
    for (int i = 0; i < n; i++) {
        x[i] = ss_pose_point(root, x[i]);
    }
    ss_json_put_vectors(out, "vertices", x, n);
    free(x);
    return SS_OK;
}

static ss_status put_curvatures(FILE *out, const ss_strand_design *d, const ss_pose *root,
                                ss_error *e)
{
    const ss_vec3 *style = (const ss_vec3 *)d->style, *unrest = (const ss_vec3 *)d->unrest;
    ss_json_put_real(out, "length", d->length);
    fprintf(out, ", \"segments\": %d", d->nsegments);
    ss_json_put_vectors(out, "curvatures", style, d->npieces);
    if (unrest != NULL && d->npieces > 0) {
        ss_json_put_vectors(out, "unrest", unrest, d->npieces);
    }
    fputs(",\n    \"root\": {\"position\": ", out);
    ss_json_write_vector(out, root->place);
    fputs(", \"turn\": ", out);
    ss_json_write_vectors(out, root->turn.c, 3);
    fputc('}', out);
    return put_shape(out, d, root, e);
}

// Writes what animators ask of a strand, without what every strand has.
static void put_wishes(FILE *out, const ss_strand *s)
{
    if (s->time_scale != 1.0 || s->local != 0.0) {
        ss_json_put_real(out, "time_scale", s->time_scale);
        ss_json_put_real(out, "local", s->local);
        put_body(out, "reference", s->reference);
    }
    for (int k = 0; s->posing != NULL && k < s->posing->nkeys; k++) {
        const ss_posing_key *key = &s->posing->keys[k];
        fputs(k > 0 ? "," : ",\n    \"pose\": [", out);
        fputs("{\"time\": ", out);
        ss_json_write_real(out, key->time);
        ss_json_put_real(out, "strength", key->strength);
        ss_json_put_real(out, "damping", key->damping);
        ss_json_put_vectors(out, "vertices", key->place, s->posing->npoints);
        fputs(k + 1 < s->posing->nkeys ? "}" : "}]", out);
    }
}

static void put_parents(FILE *out, const ss_strand_design *d)
{
    fputs(",\n    \"parent\": [", out);
    for (int i = 0; i < d->nvertices; i++) {
        fprintf(out, "%s%d", i > 0 ? ", " : "", d->parent[i]);
    }
    fputc(']', out);
}

static void put_parts(FILE *out, const ss_strand_design *d)
{
    fputs(",\n    \"parts\": [", out);
    for (int k = 0; k < d->nparts; k++) {
        const ss_strand_part *p = &d->parts[k];
        const double factors[5] = {p->mass, p->radius, p->bend, p->twist, p->relaxation};
        fputs(k > 0 ? ", " : "", out);
        ss_json_write_numbers(out, factors, 5);
    }
    fputc(']', out);
}

static void put_vertices(FILE *out, const ss_strand_design *d)
{
    const int n = d->nvertices;
    if (d->nsegments > 0) {
        fprintf(out, ", \"segments\": %d", d->nsegments);
    }
    ss_json_put_vector(out, "director", d->director);
    ss_json_put_vectors(out, "vertices", d->vertices, n);
    if (d->rest != NULL) {
        ss_json_put_vectors(out, "rest", d->rest, n);
    }
    if (d->velocity != NULL) {
        ss_json_put_vectors(out, "velocity", d->velocity, n);
    }
    if (d->theta != NULL) {
        ss_json_put_numbers(out, "theta", d->theta, n - 1);
    }
    if (d->rest_theta != NULL) {
        ss_json_put_numbers(out, "rest_theta", d->rest_theta, n - 1);
    }
    if (d->parent != NULL) {
        put_parents(out, d);
    }
}

static bool is_identity(const ss_pose *p)
{
    const ss_pose one = ss_pose_identity();
    bool same = same_vector(p->place, one.place);
    for (int k = 0; k < 3; k++) {
        same = same && same_vector(p->turn.c[k], one.turn.c[k]);
    }
    return same;
}

static ss_status write_strand(FILE *out, const ss_strand *s, int material, ss_error *e)
{
    const ss_strand_design *d = s->design;
    fprintf(out, "   {\"material\": \"material-%d\"", material);
    ss_json_put_text(out, "clamp", ss_scene_clamps[s->clamp]);
    put_body(out, "body", s->body);
    if (s->tip_body != s->body) {
        put_body(out, "tip_body", s->tip_body);
    }
    put_pull(out, "pull_root", s->pull_root);
    put_pull(out, "pull_tip", s->pull_tip);
    if (d->nparts > 0) {
        put_parts(out, d);
    }
    put_wishes(out, s);
    ss_status status = SS_OK;
    if (d->nvertices == 0) {
        status = put_curvatures(out, d, &s->root, e);
    } else if (is_identity(&s->root)) {
        put_vertices(out, d);
    } else {
        status = ss_fail(e, SS_BAD_INPUT,
                         "a strand that is given by vertices in a frame of its own cannot be "
                         "written: give them in the frame of its body");
    }
    fputc('}', out);
    return status;
}

// ---- The file

// The number of a strand's material among those of the strands before and its own.
static int material_of(const ss_world *w, int strand, int *first, int known)
{
    for (int k = 0; k < known; k++) {
        if (same_material(&w->strands[first[k]].material, &w->strands[strand].material)) {
            return k;
        }
    }
    first[known] = strand;
    return known;
}

static void write_head(FILE *out, const ss_world *w, const ss_scene_run *run)
{
    const ss_step_options *o = run->options, usual = ss_step_defaults();
    fputs("{\"title\": ", out);
    ss_quote(out, SS_JSON, run->title);
    ss_json_put_vector(out, "gravity", w->gravity);
    ss_json_put_real(out, "drag", w->drag);
    ss_json_put_real(out, "mu", w->mu);
    ss_json_put_real(out, "radius", w->radius);
    ss_json_put_real(out, "dt", o->dt);
    ss_json_put_real(out, "dt_min", o->dt_min);
    fprintf(out, ", \"steps\": %d", run->steps);
    ss_json_put_text(out, "model", run->model);
    if (run->scheme != NULL) {
        ss_json_put_text(out, "scheme", run->scheme);
    }
    ss_json_put_text(out, "gap", ss_scene_gaps[o->gap]);
    ss_json_put_real(out, "beta", o->beta);
    ss_json_put_real(out, "margin", o->margin);
    ss_json_put_real(out, "reach", o->reach);
    ss_json_put_real(out, "explosion", o->explosion);
    fprintf(out, ", \"contacts\": %s", o->contacts ? "true" : "false");
    if (o->continuous != usual.continuous || o->looks != usual.looks) {
        fprintf(out, ", \"continuous\": %s, \"looks\": %d", o->continuous ? "true" : "false",
                o->looks);
    }
    if (w->settled) {
        fputs(", \"settled\": true", out);
    }
}

static ss_status write_strands(FILE *out, const ss_world *w, int *first, ss_error *e)
{
    ss_status status = SS_OK;
    int known = 0;
    fputs(",\n \"strands\": [\n", out);
    for (int k = 0; k < w->nstrands && status == SS_OK; k++) {
        const int material = material_of(w, k, first, known);
        known = material == known ? known + 1 : known;
        status = write_strand(out, &w->strands[k], material, e);
        fputs(k + 1 < w->nstrands ? ",\n" : "\n", out);
    }
    fputs(" ],\n \"materials\": {\n", out);
    for (int k = 0; k < known; k++) {
        write_material(out, &w->strands[first[k]].material, k);
        fputs(k + 1 < known ? ",\n" : "\n", out);
    }
    fputs(" }}\n", out);
    return status;
}

static ss_status write_world(FILE *out, const ss_world *w, const ss_scene_run *run, ss_error *e)
{
    int *first = malloc((size_t)w->nstrands * sizeof *first + 1);
    if (first == NULL) {
        return ss_fail_memory(e, "the materials of a scene");
    }
    write_head(out, w, run);
    fputs(",\n \"bodies\": [\n", out);
    for (int k = 1; k < w->nbodies; k++) {
        write_body(out, &w->bodies[k], k);
        fputs(k + 1 < w->nbodies ? ",\n" : "\n", out);
    }
    fputs(" ],\n \"obstacles\": [\n", out);
    for (int k = 0; k < w->nobstacles; k++) {
        write_obstacle(out, &w->obstacles[k]);
        fputs(k + 1 < w->nobstacles ? ",\n" : "\n", out);
    }
    fputs(" ]", out);
    for (int k = 0; k < w->nwinds; k++) {
        fputs(k == 0 ? ",\n \"winds\": [\n" : "", out);
        write_wind(out, &w->winds[k]);
        fputs(k + 1 < w->nwinds ? ",\n" : "\n ]", out);
    }
    const ss_status status = write_strands(out, w, first, e);
    free(first);
    return status;
}

ss_status ss_scene_file_write(const char *path, const ss_world *w, const ss_scene_run *run,
                              ss_error *e)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL) {
        return ss_fail_memory(e, path);
    }
    ss_status status = write_world(out, w, run, e);
    if (fclose(out) != 0 && status == SS_OK) {
        status = ss_fail_memory(e, path);
    }
    status = status == SS_OK ? ss_save(path, text, length, e) : status;
    free(text);
    return status;
}
