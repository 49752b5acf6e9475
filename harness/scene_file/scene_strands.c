// Strands of a scene file (scene_parts.h).

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/scene_file/scene_file.h"
#include "harness/scene_file/scene_parts.h"
#include "strands/world.h"
#include "strands/shape.h"

// ---- Materials

typedef struct material {
    double E, nu, rho, a, a1, a2, viscosity, stretch;
    double ellipticity, relaxation; // in place of a1, a2 and of the viscosity; NaN: absent
} material;

static const ss_json_field MATERIAL[] = {
    NEEDED(material, "E", E, POSITIVE),
    NEEDED(material, "nu", nu, REAL),
    NEEDED(material, "rho", rho, POSITIVE),
    FIELD(material, "a", a, POSITIVE),
    FIELD(material, "a1", a1, POSITIVE),
    FIELD(material, "a2", a2, POSITIVE),
    FIELD(material, "ellipticity", ellipticity, POSITIVE),
    FIELD(material, "viscosity", viscosity, NOT_NEGATIVE),
    FIELD(material, "relaxation", relaxation, NOT_NEGATIVE),
    FIELD(material, "stretch", stretch, POSITIVE),
    {.key = NULL},
};

// Radius sqrt(a1 a2) and a1 / a2.
static ss_status read_section(const ss_json *at, const material *m, ss_material *to, ss_error *e)
{
    const bool round = !isnan(m->a), both = !isnan(m->a1) && !isnan(m->a2);
    const bool any = !isnan(m->a1) || !isnan(m->a2);
    if (round == any || (any && !both)) {
        return ss_json_fail(at, e, "the section is 'a', or 'a1' and 'a2': give one of these");
    }
    if (both && !isnan(m->ellipticity)) {
        return ss_json_fail(at, e, "'ellipticity' goes with 'a' alone: leave it out");
    }
    to->radius = round ? m->a : sqrt(m->a1 * m->a2);
    to->ellipticity = both ? m->a1 / m->a2 : isnan(m->ellipticity) ? 1.0 : m->ellipticity;
    return SS_OK;
}

static ss_status read_material(const ss_json *at, ss_material *to, ss_error *e)
{
    material m = {.a = NAN,
                  .a1 = NAN,
                  .a2 = NAN,
                  .ellipticity = NAN,
                  .viscosity = NAN,
                  .relaxation = NAN,
                  .stretch = 1.0};
    const ss_json nu = ss_json_member(at, "nu");
    ss_status status = ss_json_object(at, MATERIAL, &m, e);
    if (status != SS_OK) {
        return status;
    }
    if (!(m.nu > -1.0 && m.nu <= 0.5)) {
        return ss_json_fail(&nu, e, "must be above -1 and at most 0.5, not %.10g", m.nu);
    }
    if (!isnan(m.viscosity) && !isnan(m.relaxation)) {
        return ss_json_fail(at, e, "'relaxation' is viscosity / E: leave one of them out");
    }
    *to = (ss_material){.density = m.rho,
                        .young = m.E,
                        .poisson = m.nu,
                        .relaxation = !isnan(m.relaxation)  ? m.relaxation
                                      : !isnan(m.viscosity) ? m.viscosity / m.E
                                                            : 0.0,
                        .stretch = m.stretch};
    return read_section(at, &m, to, e);
}

// All of a file, in the order of their names there.
typedef struct materials {
    size_t count;
    const char **name;
    ss_material *all;
} materials;

static void materials_free(materials *m)
{
    free(m->name);
    free(m->all);
}

static ss_status materials_read(const ss_json *root, materials *m, ss_error *e)
{
    const ss_json list = ss_json_member(root, "materials");
    const size_t n = json_object_size(list.value);
    const char *key;
    json_t *value;
    *m = (materials){.name = calloc(n + 1, sizeof *m->name), .all = calloc(n + 1, sizeof *m->all)};
    if (m->name == NULL || m->all == NULL) {
        return ss_fail_memory(e, "the materials of a scene");
    }
    if (list.value != NULL && !json_is_object(list.value)) {
        return ss_json_fail(&list, e, "must be an object: a material per name");
    }
    ss_status status = SS_OK;
    json_object_foreach(list.value, key, value)
    {
        const ss_json at = {root->file, &list, key, 0, value};
        status = status == SS_OK ? read_material(&at, &m->all[m->count], e) : status;
        m->name[m->count++] = key;
    }
    return status;
}

static ss_status find_material(const ss_json *at, const materials *m, const char *name,
                               ss_material *to, ss_error *e)
{
    for (size_t k = 0; k < m->count; k++) {
        if (strcmp(m->name[k], name) == 0) {
            *to = m->all[k];
            return SS_OK;
        }
    }
    const ss_json member = ss_json_member(at, "material");
    return ss_json_fail(&member, e, "there is no '%.60s' among 'materials'", name);
}

// ---- Strands

typedef struct strand {
    const char *material, *clamp, *body, *tip_body;
    json_t *vertices, *rest, *theta, *rest_theta, *velocity; // borrowed, as all
    ss_vec3 director, pull_root, pull_tip;
    json_t *curvatures, *unrest, *root;
    json_t *parent, *parts, *pose;
    const char *reference;
    double time_scale, local;
    double length;
    int segments;
} strand;

static const ss_json_field STRAND[] = {
    NEEDED(strand, "material", material, TEXT),
    FIELD(strand, "vertices", vertices, VALUE),
    FIELD(strand, "rest", rest, VALUE),
    FIELD(strand, "theta", theta, VALUE),
    FIELD(strand, "rest_theta", rest_theta, VALUE),
    FIELD(strand, "director", director, VECTOR),
    FIELD(strand, "velocity", velocity, VALUE),
    FIELD(strand, "clamp", clamp, TEXT),
    FIELD(strand, "body", body, TEXT),
    FIELD(strand, "tip_body", tip_body, TEXT),
    FIELD(strand, "pull_root", pull_root, VECTOR),
    FIELD(strand, "pull_tip", pull_tip, VECTOR),
    FIELD(strand, "length", length, POSITIVE),
    FIELD(strand, "segments", segments, COUNT),
    FIELD(strand, "curvatures", curvatures, VALUE),
    FIELD(strand, "unrest", unrest, VALUE),
    FIELD(strand, "root", root, VALUE),
    FIELD(strand, "parent", parent, VALUE),
    FIELD(strand, "parts", parts, VALUE),
    FIELD(strand, "pose", pose, VALUE),
    FIELD(strand, "time_scale", time_scale, REAL),
    FIELD(strand, "local", local, REAL),
    FIELD(strand, "reference", reference, TEXT),
    {.key = NULL},
};

static const ss_json_field ROOT[] = {
    FIELD(ss_scene_pose, "position", position, VECTOR),
    FIELD(ss_scene_pose, "rotation", rotation, QUATERNION),
    FIELD(ss_scene_pose, "turn", turn, MATRIX),
    {.key = NULL},
};

// The arrays of a design, to be freed.
typedef struct arrays {
    double *vertices, *rest, *theta, *rest_theta, *velocity, *curvatures, *unrest, *parts;
    int *parent;
} arrays;

static void arrays_free(arrays *a)
{
    free(a->vertices);
    free(a->rest);
    free(a->theta);
    free(a->rest_theta);
    free(a->velocity);
    free(a->curvatures);
    free(a->unrest);
    free(a->parts);
    free(a->parent);
}

// Rows of a key that may be absent: as many as `count`, of what `of` calls them.
static ss_status read_rows(const ss_json *at, const char *key, size_t width, size_t count,
                           const char *of, double **rows, ss_error *e)
{
    const ss_json member = ss_json_member(at, key);
    size_t found = count;
    if (member.value == NULL) {
        return SS_OK;
    }
    const ss_status status = ss_json_rows(&member, width, rows, &found, e);
    if (status == SS_OK && found != count) {
        return ss_json_fail(&member, e, "has %zu %s instead of %zu, %s", found,
                            width > 1 ? "rows" : "numbers", count, of);
    }
    return status;
}

static const ss_vec3 *points(const double *numbers)
{
    return (const ss_vec3 *)numbers;
}

// The vertex that each of n hangs from.
static ss_status read_parents(const ss_json *at, size_t n, arrays *a, ss_strand_design *d,
                              ss_error *e)
{
    const ss_json member = ss_json_member(at, "parent");
    double *numbers = NULL;
    ss_status status = read_rows(at, "parent", 1, n, "as 'vertices'", &numbers, e);
    if (status == SS_OK && numbers != NULL) {
        d->parent = a->parent = malloc(n * sizeof *a->parent);
        status = a->parent != NULL ? SS_OK : ss_fail_memory(e, "the parents of a strand");
    }
    for (size_t i = 0; status == SS_OK && numbers != NULL && i < n; i++) {
        if (!(fabs(numbers[i]) <= 1e9 && numbers[i] == floor(numbers[i]))) {
            status = ss_json_fail(&member, e, "%.10g is not the number of a vertex", numbers[i]);
        } else {
            a->parent[i] = (int)numbers[i];
        }
    }
    free(numbers);
    return status;
}

// Factors of what the material gives equal parts of the strand.
static ss_status read_parts(const ss_json *at, arrays *a, ss_strand_design *d, ss_error *e)
{
    const ss_json member = ss_json_member(at, "parts");
    size_t n = 0;
    if (member.value == NULL) {
        return SS_OK;
    }
    const ss_status status =
        ss_json_rows(&member, sizeof(ss_strand_part) / sizeof(double), &a->parts, &n, e);
    if (status == SS_OK && n > (size_t)INT_MAX) {
        return ss_json_fail(&member, e, "has too many rows");
    }
    d->nparts = (int)n;
    d->parts = n > 0 ? (const ss_strand_part *)a->parts : NULL;
    return status;
}

static ss_status read_vertices(const ss_json *at, arrays *a, ss_strand_design *d, ss_error *e)
{
    const ss_json vertices = ss_json_member(at, "vertices");
    size_t n = 0;
    ss_status status = ss_json_rows(&vertices, 3, &a->vertices, &n, e);
    if (status == SS_OK && n < 3) {
        return ss_json_fail(&vertices, e, "a strand has at least 3 vertices, not %zu", n);
    }
    const char *as_vertices = "as 'vertices'", *as_edges = "one per edge";
    status = status == SS_OK ? read_rows(at, "rest", 3, n, as_vertices, &a->rest, e) : status;
    status =
        status == SS_OK ? read_rows(at, "velocity", 3, n, as_vertices, &a->velocity, e) : status;
    status = status == SS_OK ? read_rows(at, "theta", 1, n - 1, as_edges, &a->theta, e) : status;
    status = status == SS_OK ? read_rows(at, "rest_theta", 1, n - 1, as_edges, &a->rest_theta, e)
                             : status;
    status = status == SS_OK ? read_parents(at, n, a, d, e) : status;
    d->nvertices = (int)n;
    d->vertices = points(a->vertices);
    d->rest = points(a->rest);
    d->velocity = points(a->velocity);
    d->theta = a->theta;
    d->rest_theta = a->rest_theta;
    return status;
}

static ss_status read_root(const ss_json *at, ss_pose *root, ss_error *e)
{
    const ss_json member = ss_json_member(at, "root");
    ss_scene_pose pose = SS_SCENE_POSE_NONE;
    const ss_status status = member.value != NULL ? ss_json_object(&member, ROOT, &pose, e) : SS_OK;
    return status == SS_OK && member.value != NULL ? ss_scene_pose_of(&member, &pose, root, e)
                                                   : status;
}

// Vertices beside curvatures are theirs, for readers that know vertices alone.
#define SAME_SHAPE 1e-6 // of the length

static ss_status check_vertices(const ss_json *at, const ss_strand_design *d, const ss_pose *root,
                                ss_error *e)
{
    const ss_json member = ss_json_member(at, "vertices");
    const size_t n = (size_t)d->nsegments + 1;
    double *given = NULL, far = 0.0;
    if (member.value == NULL) {
        return SS_OK;
    }
    ss_status status = read_rows(at, "vertices", 3, n, "one more than 'segments'", &given, e);
    ss_vec3 *x = malloc(n * sizeof *x);
    if (status == SS_OK && x == NULL) {
        status = ss_fail_memory(e, "the vertices of a strand");
    } else if (status == SS_OK) {
        ss_shape_vertices(d, SS_SHAPE_START, (int)n, x);
        for (size_t i = 0; i < n; i++) {
            far = fmax(far, ss_length(ss_minus(ss_pose_point(root, x[i]), points(given)[i])));
        }
        if (!(far <= SAME_SHAPE * d->length)) {
            status = ss_json_fail(&member, e,
                                  "are not those of 'curvatures', which rule: leave out either");
        }
    }
    free(given);
    free(x);
    return status;
}

// By curvatures of equal pieces of a length.
static ss_status read_curvatures(const ss_json *at, const strand *s, arrays *a, ss_strand_design *d,
                                 ss_pose *root, ss_error *e)
{
    static const char *const OTHERS[] = {"rest",     "theta",    "rest_theta",
                                         "director", "velocity", "parent"};
    const ss_json curvatures = ss_json_member(at, "curvatures");
    for (size_t k = 0; k < sizeof OTHERS / sizeof OTHERS[0]; k++) {
        const ss_json other = ss_json_member(at, OTHERS[k]);
        if (other.value != NULL) {
            return ss_json_fail(&other, e, "does not go with 'curvatures': leave out either");
        }
    }
    if (isnan(s->length) || s->segments == 0) {
        return ss_json_fail(at, e, "'curvatures' need 'length' and 'segments'");
    }
    size_t n = 0;
    ss_status status = ss_json_rows(&curvatures, 3, &a->curvatures, &n, e);
    status =
        status == SS_OK ? read_rows(at, "unrest", 3, n, "as 'curvatures'", &a->unrest, e) : status;
    d->length = s->length;
    d->npieces = (int)n;
    d->style = n > 0 ? (const double(*)[3])a->curvatures : NULL;
    d->unrest = n > 0 ? (const double(*)[3])a->unrest : NULL;
    status = status == SS_OK ? read_root(at, root, e) : status;
    return status == SS_OK ? ss_json_prefix(at, ss_strand_design_check_varied(d, e), e) : status;
}

static ss_status read_shape(const ss_json *at, const strand *s, arrays *a, ss_strand_design *d,
                            ss_pose *root, ss_error *e)
{
    ss_status status = read_parts(at, a, d, e);
    if (status != SS_OK) {
        return status;
    }
    if (s->curvatures != NULL) {
        status = read_curvatures(at, s, a, d, root, e);
        return status == SS_OK ? check_vertices(at, d, root, e) : status;
    }
    if (s->vertices == NULL) {
        return ss_json_fail(at, e, "'vertices' is missing");
    }
    static const char *const OTHERS[] = {"length", "unrest", "root"};
    for (size_t k = 0; k < sizeof OTHERS / sizeof OTHERS[0]; k++) {
        const ss_json other = ss_json_member(at, OTHERS[k]);
        if (other.value != NULL) {
            return ss_json_fail(&other, e, "goes with 'curvatures' alone: leave it out");
        }
    }
    return read_vertices(at, a, d, e);
}

// ---- What animators ask

static const ss_json_field POSE[] = {
    NEEDED(ss_posing_key, "time", time, REAL),
    NEEDED(ss_posing_key, "strength", strength, NOT_NEGATIVE),
    FIELD(ss_posing_key, "damping", damping, NOT_NEGATIVE),
    FIELD(ss_posing_key, "vertices", place, VALUE),
    {.key = NULL},
};

// Places of a key, in *places; those of the polyline.
static ss_status read_pose_key(const ss_json *at, int npoints, ss_posing_key *key, double **places,
                               ss_error *e)
{
    const ss_json vertices = ss_json_member(at, "vertices");
    ss_status status = ss_json_object(at, POSE, key, e);
    key->place = NULL;
    if (status == SS_OK && vertices.value != NULL) {
        status = read_rows(at, "vertices", 3, (size_t)npoints, "a place per point of its polylines",
                           places, e);
        key->place = points(*places);
    }
    return status;
}

static ss_status read_pose(const ss_json *at, ss_world *w, int number, ss_error *e)
{
    const ss_json list = ss_json_member(at, "pose");
    const size_t n = json_array_size(list.value);
    if (list.value == NULL) {
        return SS_OK;
    }
    if (n == 0 || n > INT_MAX) {
        return ss_json_fail(&list, e, "must be an array of keys");
    }
    ss_posing_key *keys = calloc(n, sizeof *keys);
    double **places = calloc(n, sizeof *places);
    ss_status status =
        keys != NULL && places != NULL ? SS_OK : ss_fail_memory(e, "the pose of a strand");
    for (size_t k = 0; status == SS_OK && k < n; k++) {
        const ss_json item = ss_json_item(&list, k);
        status = read_pose_key(&item, w->strands[number].size.npoints, &keys[k], &places[k], e);
    }
    if (status == SS_OK) {
        status = ss_json_prefix(at, ss_world_pose_strand(w, number, (int)n, keys, e), e);
    }
    for (size_t k = 0; places != NULL && k < n; k++) {
        free(places[k]);
    }
    free(places);
    free(keys);
    return status;
}

static ss_status read_wishes(const ss_json *at, const strand *s, ss_world *w, int number,
                             ss_error *e)
{
    int reference;
    ss_status status = ss_scene_body(at, "reference", s->reference, &reference, e);
    if (status == SS_OK) {
        status = ss_json_prefix(
            at, ss_world_scale_motion(w, number, s->time_scale, s->local, reference, e), e);
    }
    return status == SS_OK ? read_pose(at, w, number, e) : status;
}

static ss_status add_strand(const ss_json *at, const strand *s, const ss_strand_design *d,
                            const ss_pose *root, const ss_model_choice *model, ss_world *w,
                            ss_error *e)
{
    int body, tip, number;
    ss_status status = ss_scene_body(at, "body", s->body, &body, e);
    status = status == SS_OK ? ss_scene_body(at, "tip_body", s->tip_body, &tip, e) : status;
    if (status == SS_OK) {
        status = ss_json_prefix(at, ss_world_add_strand(w, model, d, body, root, &number, e), e);
    }
    if (status != SS_OK) {
        return status;
    }
    w->strands[number].pull_root = s->pull_root;
    w->strands[number].pull_tip = s->pull_tip;
    status = read_wishes(at, s, w, number, e);
    return status == SS_OK && s->tip_body != NULL ? ss_world_tie_tip(w, number, tip, e) : status;
}

static ss_status read_strand(const ss_json *at, const materials *m, const ss_model_choice *model,
                             ss_world *w, ss_error *e)
{
    strand s = {.clamp = ss_scene_clamps[SS_CLAMP_ROOT], .length = NAN, .time_scale = 1.0};
    arrays a = {0};
    ss_strand_design d = {0};
    ss_pose root = ss_pose_identity();
    int clamp = SS_CLAMP_ROOT;
    ss_status status = ss_json_object(at, STRAND, &s, e);
    status = status == SS_OK ? find_material(at, m, s.material, &d.material, e) : status;
    if (status == SS_OK && !ss_scene_word(at, "clamp", ss_scene_clamps, s.clamp, &clamp, e)) {
        status = SS_BAD_INPUT;
    }
    d.clamp = (ss_clamp)clamp;
    d.director = s.director;
    d.nsegments = s.segments;
    status = status == SS_OK ? read_shape(at, &s, &a, &d, &root, e) : status;
    status = status == SS_OK ? add_strand(at, &s, &d, &root, model, w, e) : status;
    arrays_free(&a);
    return status;
}

ss_status ss_scene_add_strands(const ss_json *root, const ss_model_choice *model, ss_world *w,
                               ss_error *e)
{
    const ss_json list = ss_json_member(root, "strands");
    materials m;
    ss_status status = materials_read(root, &m, e);
    for (size_t k = 0; k < json_array_size(list.value) && status == SS_OK; k++) {
        const ss_json item = ss_json_item(&list, k);
        status = read_strand(&item, &m, model, w, e);
    }
    materials_free(&m);
    return status;
}
