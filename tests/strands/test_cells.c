// The broad phase: every pair of boxes that overlap, each once, and no others but by rounding.
#include "strands/contact/cells.h"

#include "tests/support/random_points.h"
#include "tests/support/support.h"

enum { BOXES_MAX = 400 };
static ss_random g;
static ss_error error;
static ss_cells cells;
static ss_buffer list;
static ss_box boxes[BOXES_MAX];
static int times[BOXES_MAX][BOXES_MAX]; // that a pair was reported

static void set_up(void)
{
    g = ss_random_seeded(2);
    cells = (ss_cells){0};
    list = (ss_buffer){0};
}

static void tear_down(void)
{
    ss_cells_free(&cells);
    ss_buffer_free(&list);
}

static void make_boxes(int n, ss_vec3 room, double size, double longest)
{
    for (int i = 0; i < n; i++) {
        const ss_vec3 p = random_point(&g, 1.0);
        const double place[3] = {p.x * room.x, p.y * room.y, p.z * room.z};
        for (int k = 0; k < 3; k++) {
            boxes[i].lo[k] = place[k];
            boxes[i].hi[k] = place[k] + size * ss_random_uniform(&g) + (i == 0 ? longest : 0.0);
        }
    }
}

// How far apart two boxes are along the axis that parts them most; negative where they overlap.
static double apart(const ss_box *a, const ss_box *b)
{
    double most = -INFINITY;
    for (int k = 0; k < 3; k++) {
        most = fmax(most, fmax(a->lo[k] - b->hi[k], b->lo[k] - a->hi[k]));
    }
    return most;
}

// times of the n boxes; the pairs come in one part or, for many boxes, in several.
static void count_times(int n)
{
    const int nparts = 1 + n / 100;
    CHECK_OK(ss_cells_fill(&cells, boxes, n, &error));
    for (int i = 0; i < n * BOXES_MAX; i++) {
        times[i / BOXES_MAX][i % BOXES_MAX] = 0;
    }
    for (int part = 0; part < nparts; part++) {
        size_t npairs;
        CHECK(ss_cells_pairs(&cells, part, nparts, &list, &npairs));
        const ss_pair *pairs = list.data;
        for (size_t k = 0; k < npairs; k++) {
            CHECK(0 <= pairs[k].a && pairs[k].a < pairs[k].b && pairs[k].b < n);
            times[pairs[k].a][pairs[k].b]++;
        }
    }
}

static int check_pairs(int n, double extent)
{
    count_times(n);
    int overlapping = 0;
    for (int i = 0; i < n; i++) {
        for (int j = i + 1; j < n; j++) {
            const double between = apart(&boxes[i], &boxes[j]);
            CHECK(times[i][j] == 1 || (times[i][j] == 0 && between > 0.0));
            CHECK(times[i][j] == 0 || between <= 2e-9 * extent);
            overlapping += between <= 0.0;
        }
    }
    return overlapping;
}

static void each_overlapping_pair_is_reported_once(void)
{
    CHECK(0 == check_pairs(0, 1.0));
    CHECK(0 == check_pairs(1, 1.0));
    int overlapping = 0;
    for (int k = 0; k < 60; k++) {
        const int n = 20 + 19 * (k % 20);
        const double size = 0.02 + 0.15 * (k % 3);
        make_boxes(n, ss_vec(1.0, k % 2 == 0 ? 1.0 : 0.1, k % 5 == 0 ? 1e-3 : 1.0), size,
                   k % 4 == 0 ? 0.8 : 0.0);
        overlapping += check_pairs(n, 3.0);
    }
    CHECK(overlapping > 10000);
}

// Few buckets and many cells: boxes whose own cells share a bucket.
static void cells_in_one_bucket_are_told_apart(void)
{
    int overlapping = 0;
    for (int k = 0; k < 2000; k++) {
        make_boxes(8, ss_vec(0.1, 0.1, 0.1), 0.1, 0.0);
        boxes[7] = (ss_box){{50.0, 50.0, 50.0}, {50.1, 50.1, 50.1}};
        overlapping += check_pairs(8, 51.0);
    }
    CHECK(overlapping > 2000);
}

static void boxes_without_size_may_coincide(void)
{
    for (int i = 0; i < 5; i++) {
        boxes[i] = (ss_box){{3.0, -1.0, 2.0}, {3.0, -1.0, 2.0}};
    }
    TEST_ASSERT_EQUAL_INT(10, check_pairs(5, 1.0));
    boxes[4] = (ss_box){{1e99, -1e99, 0.0}, {1e99, -1e99, 0.0}};
    TEST_ASSERT_EQUAL_INT(6, check_pairs(5, 1e99));
}

static void run_tests(void)
{
    RUN_TEST(each_overlapping_pair_is_reported_once);
    RUN_TEST(cells_in_one_bucket_are_told_apart);
    RUN_TEST(boxes_without_size_may_coincide);
}

const test_group cells_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
