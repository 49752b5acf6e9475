// tests/problems/test_tangle_plan.c -- who touches whom where in a tangle.
#include "problems/tangle/tangle.h"

#include <stdlib.h>

#include "tests/support/support.h"

static ss_error error;
static ss_tangle_settings settings;
static ss_tangle_plan *plan;

static void set_up(void)
{
    settings = ss_tangle_defaults();
    plan = NULL;
}

static void tear_down(void)
{
    ss_tangle_plan_free(plan);
}

static void make(void)
{
    ss_tangle_plan_free(plan);
    CHECK_OK(ss_tangle_plan_new(&settings, &plan, &error));
}

static void check_bounds_of_ends(int per_rod)
{
    int *ends = calloc((size_t)plan->nrods, sizeof *ends);
    for (int i = 0; i < plan->ncontacts; i++) {
        for (int end = 0; end < 2; end++) {
            const int rod = plan->touches[i].rod[end];
            CHECK(rod < plan->nrods && (rod >= 0 || (end == 1 && rod == SS_GROUND)));
            ends[rod >= 0 ? rod : 0] += rod >= 0;
        }
    }
    for (int rod = 0; rod < plan->nrods; rod++) {
        CHECK_LE(abs(ends[rod] - per_rod), 2);
    }
    free(ends);
}

static void every_rod_has_its_number_of_ends_within_two(void)
{
    const int per_rod[] = {2, 5, 25, 59, 100};
    for (int k = 0; k < 5; k++) {
        for (int rods = 1; rods <= 40; rods++) {
            settings.dim = 2 + rods % 2;
            settings.ends_per_rod = per_rod[k];
            settings.ncontacts = per_rod[k] * rods / 2;
            make();
            CHECK_LE(abs(plan->nrods - rods), 1);
            if (plan->nrods * per_rod[k] == 2 * settings.ncontacts) {
                check_bounds_of_ends(per_rod[k]);
            }
        }
    }
}

static void rods_touch_their_lattice_neighbours(void)
{
    settings.ncontacts = 1250; // 100 rods: neighbours are 1 and 10 away
    make();
    bool seen[100][4] = {{false}};
    for (int i = 0; i < plan->ncontacts; i++) {
        const int a = plan->touches[i].rod[0], b = plan->touches[i].rod[1];
        const int apart = (b - a + 100) % 100;
        CHECK(apart == 1 || apart == 10);
        seen[a][apart == 10] = true;
        seen[b][2 + (apart == 10)] = true;
    }
    for (int rod = 0; rod < 100; rod++) {
        CHECK(seen[rod][0] && seen[rod][1] && seen[rod][2] && seen[rod][3]);
    }
}

static void frames_are_right_handed_and_places_on_the_rods(void)
{
    settings.ground_share = 0.3;
    for (int k = 0; k < 4; k++) {
        settings.dim = 2 + k % 2;
        settings.hyperstatic = k / 2 == 1;
        make();
        for (int i = 0; i < plan->ncontacts; i++) {
            const ss_tangle_touch *t = &plan->touches[i];
            const double(*F)[3] = t->frame;
            for (int a = 0; a < 3; a++) {
                const int b = (a + 1) % 3, c = (a + 2) % 3;
                CHECK_NEAR(F[a][0] * F[a][0] + F[a][1] * F[a][1] + F[a][2] * F[a][2], 1.0, 1e-14);
                for (int m = 0; m < 3; m++) {
                    const int n = (m + 1) % 3, o = (m + 2) % 3;
                    CHECK_NEAR(F[b][n] * F[c][o] - F[b][o] * F[c][n], F[a][m], 1e-14);
                }
            }
            CHECK(settings.dim == 3 || (F[0][2] == 0.0 && F[1][2] == 0.0));
            const bool ground = t->rod[1] == SS_GROUND;
            for (int end = 0; end < 2 - ground; end++) {
                CHECK_LE(0.02, t->arclength[end]);
                CHECK_LE(t->arclength[end], 0.25);
            }
            CHECK_LE(ground ? 0.0 : fabs(t->arclength[0] - t->arclength[1]), 0.01);
        }
    }
}

static void bunches_are_tight(void)
{
    settings.hyperstatic = true;
    settings.ncontacts = 1024;
    settings.ends_per_rod = 64; // 32 rods, 64 pairs of neighbours with 16 contacts: two bunches
    make();
    for (int i = 0; i < 1024; i++) {
        const ss_tangle_touch *t = &plan->touches[i], *first = &plan->touches[i - i % 8];
        double cosine = 0.0;
        for (int k = 0; k < 3; k++) {
            cosine += t->frame[0][k] * first->frame[0][k];
        }
        CHECK(t->rod[0] == first->rod[0] && t->rod[1] == first->rod[1]);
        CHECK_LE(fabs(t->arclength[0] - first->arclength[0]), 0.01 * 0.25);
        CHECK_LE(cos(0.035), cosine); // two degrees between two that stray by one
    }
}

static void a_rod_alone_touches_itself_at_two_places_well_apart(void)
{
    settings.ncontacts = 12;
    make();
    CHECK(plan->nrods == 1);
    for (int i = 0; i < 12; i++) {
        const ss_tangle_touch *t = &plan->touches[i];
        CHECK(t->rod[0] == 0 && t->rod[1] == 0);
        CHECK_LE(0.04, fabs(t->arclength[0] - t->arclength[1]));
    }
}

static void run_tests(void)
{
    RUN_TEST(every_rod_has_its_number_of_ends_within_two);
    RUN_TEST(rods_touch_their_lattice_neighbours);
    RUN_TEST(frames_are_right_handed_and_places_on_the_rods);
    RUN_TEST(bunches_are_tight);
    RUN_TEST(a_rod_alone_touches_itself_at_two_places_well_apart);
}

const test_group tangle_plan_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
