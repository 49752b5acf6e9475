// The set of touches in random scenes: the broad phase against comparing all with all. Some scenes have points,
// coincident vertices and very long segments.
#include "strands/contact/collide.h"

#include <stdlib.h>

#include "tests/support/brute_contacts.h"
#include "tests/support/one_collider.h"
#include "tests/support/random_points.h"

typedef struct scene {
    int nstrands, nsegments;
    double room, length, wave; // half side of the box of roots; of a segment; of its turns
    double radius, margin, speed;
    int nobstacles;
} scene;

static const scene scenes[] = {
    {40, 6, 0.05, 0.02, 0.5, 3e-3, 0.0, 0.0, 0},    {60, 12, 0.02, 0.02, 0.1, 5e-4, 2e-4, 0.0, 4},
    {150, 4, 1.0, 0.1, 2.0, 2e-2, 1e-2, 0.0, 4},    {20, 30, 1e-3, 1e-3, 3.0, 5e-5, 1e-5, 0.0, 0},
    {300, 2, 0.3, 0.3, 0.0, 1e-3, 5e-3, 0.0, 0},    {80, 5, 5.0, 0.02, 1.0, 0.3, 0.3, 0.0, 0},
    {40, 6, 0.05, 0.02, 0.5, 1e-3, 0.0, 0.02, 4},   {60, 12, 0.02, 0.02, 0.1, 5e-4, 2e-4, 1e-3, 4},
    {150, 4, 1.0, 0.1, 2.0, 2e-2, 1e-2, 0.5, 0},    {100, 3, 3.0, 1.0, 1.0, 0.0, 0.1, 0.0, 0},
    {2000, 2, 1000.0, 0.02, 1.0, 0.5, 0.0, 0.0, 4},
};
enum { NSCENES = sizeof scenes / sizeof scenes[0] };

typedef struct hair {
    int *first, *holder;
    ss_vec3 *x, *moved;
    ss_polylines lines;
} hair;

static hair hair_new(const scene *s)
{
    const size_t n = (size_t)s->nstrands, npoints = n * (size_t)(s->nsegments + 1);
    hair h = {.first = calloc(n + 1, sizeof *h.first),
              .holder = calloc(npoints, sizeof *h.holder),
              .x = calloc(npoints, sizeof *h.x),
              .moved = calloc(npoints, sizeof *h.moved)};
    for (int k = 0; k < s->nstrands; k++) {
        h.first[k + 1] = h.first[k] + s->nsegments + 1;
        ss_vec3 p = random_point(&generator, s->room), heading = ss_vec(1, 0, 0);
        for (int i = h.first[k]; i < h.first[k + 1]; i++) {
            h.x[i] = p;
            h.holder[i] = i == h.first[k] ? k % 3 : -1;
            h.moved[i] = ss_plus(p, random_point(&generator, s->speed));
            heading = ss_unit(ss_plus(heading, random_point(&generator, s->wave + 1e-3)));
            const int odd = ss_random_below(&generator, 200);
            p = ss_along(p, odd == 0 ? 0.0 : odd == 1 ? 9.0 * s->length : s->length, heading);
        }
        if (k > 0 && k % 10 == 0) {
            h.x[h.first[k] + 1] = h.x[h.first[k - 1] + 1];
        }
    }
    h.lines = (ss_polylines){.nstrands = s->nstrands,
                             .first = h.first,
                             .x = h.x,
                             .moved = s->speed > 0.0 ? h.moved : NULL,
                             .radius = s->radius,
                             .holder = h.holder};
    return h;
}

static void hair_free(hair *h)
{
    free(h->first);
    free(h->holder);
    free(h->x);
    free(h->moved);
}

static void obstacles_of(const scene *s, ss_obstacle obstacles[4], ss_pose poses[4])
{
    const ss_obstacle_kind kinds[4] = {SS_OBSTACLE_ELLIPSOID, SS_OBSTACLE_PLANE,
                                       SS_OBSTACLE_CYLINDER, SS_OBSTACLE_CAPSULE};
    for (int o = 0; o < 4; o++) {
        const double r = s->room;
        obstacles[o] =
            (ss_obstacle){.kind = kinds[o], .size = {0.3 * r, 0.5 * r, 0.4 * r}, .body = o};
        poses[o] =
            (ss_pose){ss_rotation(random_point(&generator, 3)), random_point(&generator, 0.7 * r)};
    }
}

// A scene with its hair and obstacles where they are.
typedef struct setting {
    const scene *of;
    hair h;
    ss_obstacle obstacles[4];
    ss_pose poses[4];
} setting;

static setting setting_of(const scene *s)
{
    setting at = {.of = s};
    obstacles_of(s, at.obstacles, at.poses);
    at.h = hair_new(s);
    return at;
}

static void check_sorted(void)
{
    for (int i = 1; i < count; i++) {
        const ss_touch *p = &touches[i - 1], *q = &touches[i];
        const int key_p[] = {p->strand_a, p->segment_a, p->strand_b, p->segment_b};
        const int key_q[] = {q->strand_a, q->segment_a, q->strand_b, q->segment_b};
        int k = 0;
        while (k < 4 && key_p[k] == key_q[k]) {
            k++;
        }
        CHECK(k < 4 ? key_p[k] < key_q[k] : p->a < q->a); // a last segment on a plane
    }
}

static void check_touch(const ss_touch *t, const scene *s)
{
    CHECK_NEAR(ss_length(t->n), 1.0, 1e-14);
    CHECK(t->a >= 0.0 && t->a <= 1.0 && t->b >= 0.0 && t->b <= 1.0);
    CHECK(t->strand_b == -1 || t->strand_a < t->strand_b ||
          (t->strand_a == t->strand_b && t->segment_a + 1 < t->segment_b));
    CHECK(s->speed > 0.0 || t->gap < s->margin);
}

static void the_set_is_that_of_comparing_all_with_all(void)
{
    int all = 0;
    for (int k = 0; k < NSCENES; k++) {
        setting at = setting_of(&scenes[k]);
        const scene *s = at.of;
        ss_touch *brute;
        const int n =
            brute_contacts(&at.h.lines, at.obstacles, at.poses, s->nobstacles, s->margin, &brute);
        CHECK_OK(collide(&at.h.lines, at.obstacles, at.poses, s->nobstacles, s->margin));
        CHECK(n > 20);
        CHECK(same_contacts(touches, count, brute, n));
        check_sorted();
        for (int i = 0; i < count; i++) {
            check_touch(&touches[i], s);
        }
        all += count;
        free(brute);
        hair_free(&at.h);
    }
    CHECK(all > 4000);
}

static ss_touch *copy_touches(void)
{
    ss_touch *copy = calloc((size_t)count + 1, sizeof *copy);
    for (int i = 0; i < count; i++) {
        copy[i] = touches[i];
    }
    return copy;
}

// The cells are as large as the longest segment: one that stands far away changes them all.
static void cells_do_not_change_the_set(void)
{
    hair h = hair_new(&scenes[1]);
    const int last = h.lines.nstrands - 1;
    ss_vec3 *tip = &h.x[h.first[last + 1] - 1];
    for (int i = h.first[last]; i < h.first[last + 1]; i++) {
        h.x[i] = ss_vec(-50.0 - 0.01 * i, 0.0, 0.0);
    }
    const int expected = count_touches(&h.lines, 1e-3);
    ss_touch *before = copy_touches();
    CHECK(expected > 100);
    for (double length = 0.01; length < 100.0; length *= 1.9) {
        *tip = ss_plus(tip[-1], ss_vec(-length, 0.4 * length, 0.3 * length));
        CHECK_OK(collide(&h.lines, NULL, NULL, 0, 1e-3));
        CHECK(same_contacts(touches, count, before, expected));
    }
    free(before);
    hair_free(&h);
}

static void a_used_collider_finds_what_a_new_one_finds(void)
{
    for (int k = 0; k < NSCENES; k++) {
        hair h = hair_new(&scenes[k]);
        CHECK_OK(collide(&h.lines, NULL, NULL, 0, scenes[k].margin));
        ss_collider *fresh = ss_collider_new(NULL);
        const ss_touch *others;
        int n;
        CHECK_OK(ss_collide(fresh, &h.lines, NULL, NULL, 0, scenes[k].margin, &others, &n, &error));
        CHECK(same_contacts(touches, count, others, n));
        ss_collider_free(fresh);
        hair_free(&h);
    }
}

// Whatever touches, and however.
static void the_depth_is_that_of_looking_at_everything(void)
{
    int deep = 0;
    for (int k = 0; k < NSCENES; k++) {
        setting at = setting_of(&scenes[k]);
        const scene *s = at.of;
        CHECK_OK(collide(&at.h.lines, at.obstacles, at.poses, s->nobstacles, s->margin));
        CHECK(isnan(ss_collider_depth(collider)) == (s->speed > 0.0));
        at.h.lines.moved = NULL;
        for (int rules = 0; rules < 4; rules++) {
            at.h.lines.vertices = rules % 2 == 1;
            at.h.lines.exact = rules / 2 == 1;
            CHECK_OK(collide(&at.h.lines, at.obstacles, at.poses, s->nobstacles, s->margin));
            const double d = brute_depth(&at.h.lines, at.obstacles, at.poses, s->nobstacles);
            CHECK_NEAR(ss_collider_depth(collider), d, 1e-12 * s->radius);
            deep += d > 0.0;
        }
        hair_free(&at.h);
    }
    CHECK(deep > 30);
}

// Threads that share a search. The same touches in the same order, bit by bit.
static void threads_find_the_same_touches(void)
{
    ss_team *team = ss_team_new(4);
    ss_collider *shared = ss_collider_new(team);
    int large = 0;
    for (int k = 0; k < NSCENES; k++) {
        setting at = setting_of(&scenes[k]);
        const scene *s = at.of;
        const ss_touch *others;
        int n;
        for (int vertices = 0; vertices < 2; vertices++) {
            at.h.lines.vertices = vertices == 1;
            CHECK_OK(collide(&at.h.lines, at.obstacles, at.poses, s->nobstacles, s->margin));
            CHECK_OK(ss_collide(shared, &at.h.lines, at.obstacles, at.poses, s->nobstacles,
                                s->margin, &others, &n, &error));
            TEST_ASSERT_EQUAL_INT(count, n);
            TEST_ASSERT_EQUAL_MEMORY(touches, others, (size_t)n * sizeof *others);
            CHECK(s->speed > 0.0 || ss_collider_depth(collider) == ss_collider_depth(shared));
        }
        large += at.h.lines.nstrands * s->nsegments >= 600;
        hair_free(&at.h);
    }
    CHECK(large >= 4); // enough segments that the search is shared
    ss_collider_free(shared);
    ss_team_free(team);
}

static void run_tests(void)
{
    RUN_TEST(the_set_is_that_of_comparing_all_with_all);
    RUN_TEST(cells_do_not_change_the_set);
    RUN_TEST(a_used_collider_finds_what_a_new_one_finds);
    RUN_TEST(the_depth_is_that_of_looking_at_everything);
    RUN_TEST(threads_find_the_same_touches);
}

const test_group collide_sets_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
