// tests/strands/test_track.c -- which contact of the step before is recalled by which, and how.
#include "strands/contact/track.h"

#include "base/random.h"
#include "tests/support/support.h"

static ss_error error;
static ss_track *track;

static void set_up(void)
{
    error = (ss_error){0};
    track = ss_track_new(NULL);
    CHECK(track != NULL);
}

static void tear_down(void)
{
    ss_track_free(track);
}

static ss_touch pair(int strand_a, int segment_a, double a, int strand_b, int segment_b, double b)
{
    return (ss_touch){.strand_a = strand_a,
                      .segment_a = segment_a,
                      .a = a,
                      .strand_b = strand_b,
                      .segment_b = segment_b,
                      .b = b,
                      .n = {0.0, 0.0, 1.0}};
}

// The contacts of a step with r = 1, 2, 3 .. over 2 ms.
static void remember(const ss_touch *touches, int count)
{
    ss_mat3 E[8];
    double r[24];
    ss_track_recall(track, touches, count, 2e-3, E, r);
    for (int j = 0; j < 3 * count; j++) {
        r[j] = j + 1.0;
    }
    CHECK_OK(ss_track_keep(track, touches, count, E, r, 2e-3, &error));
}

// The first component of what one contact recalls over 2 ms; 0 for a new one.
static double recalled(ss_touch touch)
{
    ss_mat3 E;
    double r[3];
    const int hits = ss_track_recall(track, &touch, 1, 2e-3, &E, r);
    CHECK(hits == (r[0] != 0.0));
    return r[0];
}

static void check_frame(const ss_mat3 *E, ss_vec3 n)
{
    CHECK_LE(ss_length(ss_minus(E->c[0], n)), 1e-15);
    CHECK_NEAR(ss_dot(E->c[0], E->c[1]), 0.0, 1e-15);
    CHECK_NEAR(ss_dot(E->c[1], E->c[1]), 1.0, 1e-15);
    CHECK_LE(ss_length(ss_minus(ss_cross(E->c[0], E->c[1]), E->c[2])), 1e-15);
}

static void a_new_contact_starts_from_zero_in_a_right_handed_frame(void)
{
    ss_random g = ss_random_seeded(3);
    for (int k = 0; k < 50; k++) {
        ss_touch t = pair(0, 1, 0.5, 1, 1, 0.5);
        double n[3], r[3] = {7.0, 7.0, 7.0};
        ss_random_direction(&g, 3, n);
        t.n = k < 3 ? ss_vec(k == 0, k == 1, k == 2) : ss_vec(n[0], n[1], n[2]);
        ss_mat3 E;
        CHECK(ss_track_recall(track, &t, 1, 1e-3, &E, r) == 0);
        CHECK(r[0] == 0.0 && r[1] == 0.0 && r[2] == 0.0);
        check_frame(&E, t.n);
    }
}

static void the_same_pair_recalls_its_force(void)
{
    const ss_touch t[] = {pair(0, 3, 0.5, 1, 4, 0.5), pair(0, 3, 0.5, 2, 4, 0.5)};
    remember(t, 2);
    ss_mat3 E[2];
    double r[6];
    CHECK(ss_track_recall(track, t, 2, 1e-3, E, r) == 2); // half the step, half the impulse
    for (int j = 0; j < 6; j++) {
        CHECK_NEAR(r[j], 0.5 * (j + 1.0), 1e-15);
    }
}

static void a_contact_that_slid_over_a_vertex_is_known(void)
{
    const ss_touch t[] = {pair(0, 3, 0.9, 1, 4, 0.1)};
    remember(t, 1);
    CHECK(recalled(pair(0, 4, 0.1, 1, 4, 0.1)) == 1.0);
    CHECK(recalled(pair(0, 4, 0.1, 1, 3, 0.9)) == 1.0);
    CHECK(recalled(pair(0, 3, 0.1, 1, 3, 0.9)) == 1.0);
}

static void what_is_a_segment_away_is_new(void)
{
    const ss_touch t[] = {pair(0, 3, 0.1, 1, 4, 0.1)};
    remember(t, 1);
    CHECK(recalled(pair(0, 4, 0.9, 1, 4, 0.1)) == 0.0); // 1.8 segments along a
    CHECK(recalled(pair(0, 5, 0.0, 1, 4, 0.1)) == 0.0);
    CHECK(recalled(pair(0, 3, 0.1, 2, 4, 0.1)) == 0.0);
    CHECK(recalled(pair(1, 3, 0.1, 1, 4, 0.1)) == 0.0);
}

static void obstacles_have_no_neighbours(void)
{
    const ss_touch t[] = {pair(0, 3, 0.9, -1, 2, 0.0)};
    remember(t, 1);
    CHECK(recalled(pair(0, 4, 0.1, -1, 2, 0.0)) == 1.0);
    CHECK(recalled(pair(0, 3, 0.9, -1, 1, 0.0)) == 0.0);
}

static void the_nearest_neighbour_is_taken(void)
{
    const ss_touch t[] = {pair(0, 3, 0.9, 1, 3, 0.2), pair(0, 3, 0.95, 1, 4, 0.2)};
    remember(t, 2);
    CHECK(recalled(pair(0, 4, 0.05, 1, 4, 0.2)) == 4.0);
}

static void one_contact_is_recalled_once(void)
{
    const ss_touch before[] = {pair(0, 3, 0.9, 1, 4, 0.5)};
    remember(before, 1);
    // The first could take it as a neighbour, but the pair itself is there.
    const ss_touch now[] = {pair(0, 2, 0.99, 1, 4, 0.5), pair(0, 3, 0.1, 1, 4, 0.5)};
    ss_mat3 E[2];
    double r[6];
    CHECK(ss_track_recall(track, now, 2, 2e-3, E, r) == 1);
    CHECK(r[0] == 0.0 && r[3] == 1.0);
    // Two neighbours: only one has it.
    const ss_touch both[] = {pair(0, 2, 0.99, 1, 4, 0.5), pair(0, 4, 0.01, 1, 4, 0.5)};
    CHECK(ss_track_recall(track, both, 2, 2e-3, E, r) == 1);
    CHECK((r[0] == 1.0) + (r[3] == 1.0) == 1);
}

// The two vertices of the last edge on one obstacle, and of two contacts of one pair of edges.
static void several_contacts_of_a_pair_are_known_by_their_places(void)
{
    const ss_touch ends[] = {pair(0, 3, 0.0, -1, 0, 0.0), pair(0, 3, 1.0, -1, 0, 0.0)};
    for (int k = 0; k < 2; k++) { // one of both is left
        remember(ends, 2);
        CHECK(recalled(ends[k]) == 3.0 * k + 1.0);
    }
    remember(ends + 1, 1); // one of both is new
    ss_mat3 E[2];
    double r[6];
    CHECK(ss_track_recall(track, ends, 2, 2e-3, E, r) == 1);
    CHECK(r[0] == 0.0 && r[3] == 1.0);
    const ss_touch before[] = {pair(0, 3, 0.1, 1, 4, 0.1), pair(0, 3, 0.5, 1, 4, 0.5),
                               pair(0, 3, 0.9, 1, 4, 0.9)};
    const ss_touch now[] = {pair(0, 3, 0.52, 1, 4, 0.5), pair(0, 3, 0.45, 1, 4, 0.5)};
    remember(before, 3);
    CHECK(ss_track_recall(track, now, 2, 2e-3, E, r) == 2);
    CHECK(r[0] == 4.0 && r[3] == 1.0); // the nearest pair of both lists, then what is left
}

// The force in space turns with the normal.
static void frames_are_carried_without_spin(void)
{
    ss_touch t = pair(0, 3, 0.5, 1, 4, 0.5);
    remember(&t, 1);
    ss_mat3 old, E;
    double r[3];
    ss_track_recall(track, &t, 1, 2e-3, &old, r);
    const ss_vec3 axis = {0.36, 0.48, 0.0}; // a rotation about an axis orthogonal to n: smallest
    const ss_mat3 R = ss_rotation(axis);
    t.n = ss_turned(&R, t.n);
    CHECK(ss_track_recall(track, &t, 1, 2e-3, &E, r) == 1);
    check_frame(&E, t.n);
    for (int c = 0; c < 3; c++) {
        CHECK_LE(ss_length(ss_minus(E.c[c], ss_turned(&R, old.c[c]))), 1e-15);
    }
}

static void frames_stay_orthonormal_over_many_steps(void)
{
    ss_touch t = pair(0, 3, 0.5, 1, 4, 0.5);
    ss_mat3 E;
    double r[3];
    for (int k = 0; k < 1000; k++) {
        t.n = ss_unit(ss_vec(sin(0.1 * k), cos(0.07 * k), 0.3));
        ss_track_recall(track, &t, 1, 2e-3, &E, r);
        CHECK_OK(ss_track_keep(track, &t, 1, &E, r, 2e-3, &error));
    }
    check_frame(&E, t.n);
}

static void what_is_kept_replaces_what_was(void)
{
    const ss_touch first[] = {pair(0, 3, 0.5, 1, 4, 0.5)}, second[] = {pair(2, 3, 0.5, 5, 4, 0.5)};
    remember(first, 1);
    remember(second, 1);
    CHECK(recalled(first[0]) == 0.0);
    CHECK(recalled(second[0]) == 1.0);
    CHECK_OK(ss_track_keep(track, NULL, 0, NULL, NULL, 1e-3, &error));
    CHECK(recalled(second[0]) == 0.0);
    ss_track_free(NULL);
}

static void run_tests(void)
{
    RUN_TEST(a_new_contact_starts_from_zero_in_a_right_handed_frame);
    RUN_TEST(the_same_pair_recalls_its_force);
    RUN_TEST(a_contact_that_slid_over_a_vertex_is_known);
    RUN_TEST(what_is_a_segment_away_is_new);
    RUN_TEST(obstacles_have_no_neighbours);
    RUN_TEST(the_nearest_neighbour_is_taken);
    RUN_TEST(one_contact_is_recalled_once);
    RUN_TEST(several_contacts_of_a_pair_are_known_by_their_places);
    RUN_TEST(frames_are_carried_without_spin);
    RUN_TEST(frames_stay_orthonormal_over_many_steps);
    RUN_TEST(what_is_kept_replaces_what_was);
}

const test_group track_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
