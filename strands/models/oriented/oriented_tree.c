// What makes a tree of links: its checks, its memory, and the paths from its base (oriented.h).
#include "strands/models/oriented/oriented.h"

#include <stdlib.h>
#include <string.h>

#define UNIT_ROUNDING 1e-9

static bool positive(double x)
{
    return isfinite(x) && x > 0.0;
}

static bool none_negative(ss_vec3 x)
{
    return isfinite(ss_length(x)) && x.x >= 0.0 && x.y >= 0.0 && x.z >= 0.0;
}

static double norm_of(ss_quat q)
{
    return sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
}

static ss_status check_link(const ss_oriented_link *l, int j, ss_error *e)
{
    if (!positive(l->length) || !positive(l->mass)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "link %d has the length %g m and the mass %g kg; both must be above 0", j,
                       l->length, l->mass);
    }
    if (!positive(l->across) || !positive(l->spin) || !isfinite(ss_length(l->joint))) {
        return ss_fail(
            e, SS_BAD_INPUT,
            "link %d has the moments of inertia %g and %g kg m^2, which must be above 0, "
            "or no finite joint",
            j, l->across, l->spin);
    }
    if (!none_negative(l->spring) || !none_negative(l->damping)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "the joint of link %d has a stiffness or damping that is no number >= 0", j);
    }
    if (!(fabs(norm_of(l->rest) - 1.0) <= UNIT_ROUNDING)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "the rest quaternion of link %d has the length %g; give it the length 1", j,
                       norm_of(l->rest));
    }
    return SS_OK;
}

static ss_status check(int n, const ss_oriented_link *links, bool floats, ss_error *e)
{
    ss_status status =
        n > 0 ? SS_OK : ss_fail(e, SS_BAD_INPUT, "a tree has at least 1 link, not %d", n);
    int roots = 0;
    for (int j = 0; status == SS_OK && j < n; j++) {
        status = check_link(&links[j], j, e);
        roots += links[j].parent == SS_ORIENTED_BASE;
    }
    if (status == SS_OK && floats && roots != 1) {
        return ss_fail(e, SS_BAD_INPUT, "a tree that floats has one link at its base, not %d",
                       roots);
    }
    return status;
}

static ss_status check_parents(int n, const ss_oriented_link *links, ss_error *e)
{
    int *parent = malloc((size_t)n * sizeof *parent);
    if (parent == NULL) {
        return ss_fail_memory(e, "a tree of links");
    }
    for (int j = 0; j < n; j++) {
        parent[j] = links[j].parent;
    }
    const ss_status status = ss_check_parents(n, parent, "link", e);
    free(parent);
    return status;
}

// How many numbers the paths take.
static size_t count_paths(int n, const ss_oriented_link *links)
{
    size_t count = 0;
    for (int j = 0; j < n; j++) {
        for (int i = j; i != SS_ORIENTED_BASE; i = links[i].parent) {
            count++;
        }
    }
    return count;
}

// Arrays one after another in one piece of memory: those of numbers first, which want the stricter place.
static bool allocate(ss_oriented *s, size_t n, size_t paths)
{
    const size_t numbers = n * (sizeof *s->link + sizeof *s->load) +
                           (n + 1) * (sizeof *s->motion + sizeof *s->sum + ss_oriented_body_size());
    s->memory = calloc(1, numbers + (2 * n + paths) * sizeof(int));
    if (s->memory == NULL) {
        return false;
    }
    s->motion = (ss_oriented_motion *)s->memory + 1;
    s->sum = (ss_oriented_sum *)(s->motion + n) + 1;
    s->link = (ss_oriented_link *)(s->sum + n);
    s->load = (ss_oriented_load *)(s->link + n);
    char *const bodies = (char *)(s->load + n);
    void *const first = bodies + ss_oriented_body_size();
    void *const counts = bodies + (n + 1) * ss_oriented_body_size();
    s->body = first;
    s->depth = counts;
    s->begin = s->depth + n;
    s->path = s->begin + n;
    return true;
}

static void fill_paths(ss_oriented *s)
{
    int at = 0;
    for (int j = 0; j < s->n; j++) {
        const int parent = s->link[j].parent;
        const int above = parent == SS_ORIENTED_BASE ? 0 : s->depth[parent];
        s->begin[j] = at;
        s->depth[j] = above + 1;
        if (above > 0) {
            memcpy(s->path + at, s->path + s->begin[parent], (size_t)above * sizeof *s->path);
        }
        s->path[at + above] = j;
        at += above + 1;
    }
}

ss_status ss_oriented_new(int n, const ss_oriented_link *links, bool floats, ss_oriented **tree,
                          ss_error *e)
{
    *tree = NULL;
    ss_status status = check(n, links, floats, e);
    status = status == SS_OK ? check_parents(n, links, e) : status;
    if (status != SS_OK) {
        return status;
    }
    ss_oriented *s = calloc(1, sizeof *s);
    if (s == NULL || !allocate(s, (size_t)n, count_paths(n, links))) {
        free(s);
        return ss_fail_memory(e, "a tree of links");
    }
    s->n = n;
    s->floats = floats;
    memcpy(s->link, links, (size_t)n * sizeof *links);
    fill_paths(s);
    *tree = s;
    return SS_OK;
}

void ss_oriented_free(ss_oriented *s)
{
    if (s != NULL) {
        free(s->memory);
        free(s);
    }
}
