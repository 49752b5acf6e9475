// tests/strands/test_lifted_curls.c -- energy, gradient and Hessian of lifted curls against derivatives by
// complex step (tests/support/curl_oracle.h), and what holds for whole curls.
#include "strands/models/lifted_curls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strands/band.h"
#include "tests/support/curl_oracle.h"
#include "tests/support/support.h"

static ss_random g;

static void set_up(void)
{
    g = ss_random_seeded(5);
}

static void check_derivatives(curl *r, double share)
{
    double F[DOFS] = {0.0}, minus[DOFS], A[DOFS * DOFS], K[DOFS * DOFS];
    vector x[4], slope[4];
    vertices_at(r->s.q, -1, x);
    const double E = creal(energy_at(r, x, slope));
    CHECK_NEAR(r->s.model->energy(r->s.self, r->s.q), E, 1e-13 * E);
    for (int k = 0; k < DOFS; k++) {
        vector ignored[4];
        vertices_at(r->s.q, k, x);
        minus[k] = -cimag(energy_at(r, x, ignored)) / TINY;
    }
    r->s.model->force(r->s.self, r->s.q, r->s.rest, F);
    check_near(F, minus, DOFS, share);
    for (int k = 0; k < DOFS; k++) { // the oracle's own gradient
        minus[k] = -creal(slope[k / 3].x[k % 3]);
    }
    check_near(F, minus, DOFS, share);
    exact_at(r, K);
    stiffness_at(r, SS_STIFFNESS_EXACT, A);
    check_near(A, K, DOFS * DOFS, share);
}

static void force_and_stiffness_are_derivatives_by_complex_step(void)
{
    for (int trial = 0; trial < 200; trial++) {
        ss_vec3 start[4], rest[4];
        random_vertices(&g, start);
        random_vertices(&g, rest);
        curl r = curl_between("lifted-curls", start, rest);
        check_derivatives(&r, 1e-11);
        free_strand(&r.s);
    }
}

// What is lost is the rounding of a strain over its sine.
static void they_are_where_edges_are_in_line_or_folded_or_turned_round(void)
{
    for (int which = 0; which < BAD_STARTS; which++) {
        for (double off = 0.1; off > 1e-6; off *= 0.1) {
            for (int sign = -1; sign <= 1; sign += 2) {
                ss_vec3 start[4], rest[4];
                bad_vertices(which, sign * off, start, rest);
                curl r = curl_between("lifted-curls", start, rest);
                check_derivatives(&r, which == 2 ? 1e-11 : 1e-11 + 1e-14 / off);
                free_strand(&r.s);
            }
        }
    }
}

// ---- Straight and folded joints

static void a_straight_curl_has_the_stiffness_of_a_straight_rod(void)
{
    const ss_vec3 rest[4] = {
        {0.0, 0.0, 0.0}, {0.01, 0.0, 0.0}, {0.022, 0.0, 0.0}, {0.031, 0.0, 0.0}};
    curl r = curl_between("lifted-curls", rest, rest);
    double K[DOFS * DOFS], want[DOFS * DOFS] = {0.0}, F[DOFS] = {0.0};
    for (int kind = 0; kind < SS_STIFFNESS_KINDS; kind++) {
        memset(want, 0, sizeof want);
        for (int j = 0; j < 3; j++) {
            double row[DOFS] = {0.0};
            row[3 * j] = -1.0;
            row[3 * j + 3] = 1.0;
            add_product(r.EA / r.l[j], row, row, DOFS, want);
        }
        for (int j = 0; j < 2; j++) {
            for (int axis = 1; axis < 3; axis++) {
                double row[DOFS] = {0.0};
                row[3 * j + axis] = 1.0 / r.l[j];
                row[3 * j + 6 + axis] = 1.0 / r.l[j + 1];
                row[3 * j + 3 + axis] = -1.0 / r.l[j] - 1.0 / r.l[j + 1];
                add_product(r.mu_b[j], row, row, DOFS, want);
            }
        }
        stiffness_at(&r, (ss_stiffness)kind, K);
        check_near(K, want, DOFS * DOFS, 1e-13);
    }
    r.s.model->force(r.s.self, r.s.q, r.s.rest, F);
    for (int k = 0; k < DOFS; k++) {
        CHECK_NEAR(F[k], 0.0, 1e-13 * r.EA);
    }
    free_strand(&r.s);
}

// Edges in line, drawn out or compressed: rods and curls are one, and so are their filters.
static void edges_in_line_have_the_stiffness_of_a_rod_with_every_kind(void)
{
    const ss_vec3 rest[4] = {
        {0.0, 0.0, 0.0}, {0.01, 0.0, 0.0}, {0.021, 0.0, 0.0}, {0.03, 0.0, 0.0}};
    const ss_vec3 start[4] = {
        {0.0, 0.0, 0.0}, {0.007, 0.0, 0.0}, {0.021, 0.0, 0.0}, {0.03, 0.0, 0.0}};
    const ss_strand_design design = {.material = ss_material_hair(),
                                     .nvertices = 4,
                                     .vertices = start,
                                     .rest = rest,
                                     .clamp = SS_CLAMP_NONE};
    for (int kind = 0; kind < SS_STIFFNESS_KINDS; kind++) {
        one_strand both[2] = {new_strand("lifted-curls", &design),
                              new_strand("der:stretch=gauss-newton", &design)};
        ss_band K[2] = {new_band(&both[0]), new_band(&both[1])};
        for (int k = 0; k < 2; k++) {
            CHECK(
                both[k].model->stiffness(both[k].self, both[k].q, (ss_stiffness)kind, 1.0, &K[k]));
        }
        if (kind == SS_STIFFNESS_EXACT) { // across the compressed edge
            CHECK(*ss_band_at(&K[0], 1, 1) < 0.0);
        }
        for (int j = 0; j < DOFS; j++) {
            for (int i = j; i < DOFS && i + i / 3 <= j + j / 3 + K[1].half; i++) {
                const double rod = *ss_band_at(&K[1], i + i / 3, j + j / 3);
                CHECK_NEAR(*ss_band_at(&K[0], i, j), rod, 1e-9 * fabs(rod) + 1e-12 * K[1].x[0]);
            }
        }
        for (int k = 0; k < 2; k++) {
            free(K[k].x);
            free_strand(&both[k]);
        }
    }
}

// A bent curl that is drawn out straight, or folded flat, has forces along its edges alone.
static void joints_in_line_have_no_plane_to_bend_in(void)
{
    const ss_vec3 rest[4] = {
        {0.0, 0.0, 0.0}, {0.01, 0.0, 0.0}, {0.014, 0.009, 0.0}, {0.013, 0.012, 0.0095}};
    const ss_vec3 start[2][4] = {
        {{0.0, 0.0, 0.0}, {0.011, 0.0, 0.0}, {0.021, 0.0, 0.0}, {0.03, 0.0, 0.0}},
        {{0.0, 0.0, 0.0}, {0.012, 0.0, 0.0}, {0.021, 0.0, 0.0}, {0.03, 0.0, 0.0}}};
    for (int k = 0; k < 2; k++) {
        curl r = curl_between("lifted-curls", start[k], rest);
        double K[DOFS * DOFS], F[DOFS] = {0.0};
        if (k == 1) {
            r.s.q[9] = 0.002; // the last edge lies on the others
        }
        r.s.model->force(r.s.self, r.s.q, r.s.rest, F);
        stiffness_at(&r, SS_STIFFNESS_FILTERED, K);
        for (int i = 0; i < DOFS; i++) {
            CHECK(isfinite(F[i]) && (i % 3 == 0 || F[i] == 0.0));
        }
        for (int i = 0; i < DOFS * DOFS; i++) {
            CHECK(isfinite(K[i]));
        }
        CHECK(isfinite(r.s.model->energy(r.s.self, r.s.q)));
        free_strand(&r.s);
    }
}

// ---- The whole curl

static void forces_of_a_curl_balance(void)
{
    const ss_strand_design design = random_design(&g, 7, 30.0);
    one_strand s = new_strand("lifted-curls:vertices=30", &design);
    disturb(&s, &g);
    double *F = calloc((size_t)s.size.nv, sizeof *F), size = 0.0;
    ss_vec3 force = {0.0, 0.0, 0.0}, torque = {0.0, 0.0, 0.0};
    s.model->force(s.self, s.q, s.rest, F);
    for (int i = 0; i < s.size.npoints; i++) {
        const ss_vec3 f = ss_curl_vertex(F, i);
        force = ss_plus(force, f);
        torque = ss_plus(torque, ss_cross(ss_curl_vertex(s.q, i), f));
        size += ss_length(f);
    }
    CHECK_LE(ss_length(force), 1e-12 * size);
    CHECK_LE(ss_length(torque), 1e-12 * size);
    const ss_pose by = random_pose(&g);
    const double E = s.model->energy(s.self, s.q);
    for (int i = 0; i < s.size.npoints; i++) {
        const ss_vec3 x = ss_pose_point(&by, ss_curl_vertex(s.q, i));
        memcpy(s.q + 3 * i, &x, sizeof x);
    }
    CHECK_NEAR(s.model->energy(s.self, s.q), E, 1e-12 * E);
    free(F);
    free_strand(&s);
}

// ---- Tapered curls

#define SHRUNK 0.2 // radius of the tip over that of the root

// What a unit force along `axis` (0 or 1) at the tip of a straight tapered curl of n edges does to the tip.
static double tip_compliance(int n, int axis)
{
    char spec[60];
    const ss_strand_design design = {
        .length = 0.1, .material = ss_material_hair(), .nsegments = n, .clamp = SS_CLAMP_ROOT};
    snprintf(spec, sizeof spec, "lifted-curls:taper=%g", SHRUNK);
    one_strand s = new_strand(spec, &design);
    ss_band K = new_band(&s);
    CHECK(s.model->stiffness(s.self, s.q, SS_STIFFNESS_EXACT, 1.0, &K));
    const int held = s.size.nheld, free_dofs = s.size.nv - held;
    ss_band L = {free_dofs, K.half, K.x + (K.half + 1) * held};
    double *x = calloc(2 * (size_t)free_dofs, sizeof *x), *D = x + free_dofs;
    const ss_vec3 t = ss_minus(ss_curl_vertex(s.q, n), ss_curl_vertex(s.q, 0));
    // The curl is along an axis of the world: find it, and one across.
    const int along = fabs(t.x) > 0.05 ? 0 : fabs(t.y) > 0.05 ? 1 : 2;
    const int dof = free_dofs - 3 + (along + axis) % 3;
    x[dof] = 1.0;
    CHECK(ss_band_factor(&L, D));
    ss_band_solve(&L, D, x);
    const double moved = x[dof];
    free(x);
    free(K.x);
    free_strand(&s);
    return moved;
}

// A cone of radius a at the clamp and b at the tip yields by P L^3/(3 EI_a) a/b across and by P L/(EA_a) a/b
// along. L begins at the third vertex, as the radius there does.
static void a_tapered_curl_bends_and_stretches_like_a_cone(void)
{
    const ss_material m = ss_material_hair();
    const ss_rigidity mean = ss_material_rigidity(&m);
    const double root = 3.0 / (1.0 + SHRUNK + SHRUNK * SHRUNK); // its section over the mean
    double before[2] = {0.0, 0.0};
    for (int n = 50; n <= 200; n *= 2) {
        const double a = 1.0 - (1.0 - SHRUNK) * 2.0 / n, L = 0.1 * (n - 2) / n;
        const double EI = mean.bend1 * pow(root * a * a, 2.0), EA = mean.stretch * root * a * a;
        const double want[2] = {L / EA * a / SHRUNK, L * L * L / (3.0 * EI) * a / SHRUNK};
        for (int axis = 0; axis < 2; axis++) {
            const double wrong = fabs(tip_compliance(n, axis) / want[axis] - 1.0);
            CHECK(n == 50 || wrong < 0.3 * before[axis]); // of the second order
            CHECK(n < 200 || wrong < 1e-3);
            before[axis] = wrong;
        }
    }
}

static void a_tapered_curl_weighs_as_much_as_one_of_its_mean_section(void)
{
    const ss_strand_design design = {
        .length = 0.1, .material = ss_material_hair(), .nsegments = 39};
    one_strand even = new_strand("lifted-curls:vertices=40", &design);
    one_strand cone = new_strand("lifted-curls:vertices=40,taper=0.2", &design);
    double sum[2] = {0.0, 0.0}, moment = 0.0;
    even.model->lumps(even.self, even.mass, even.length);
    cone.model->lumps(cone.self, cone.mass, cone.length);
    for (int i = 0; i < 40; i++) {
        sum[0] += even.mass[i];
        sum[1] += cone.mass[i];
        moment += cone.mass[i] * i / 39.0;
        CHECK(cone.length[i] == even.length[i]);
    }
    CHECK_NEAR(sum[1], sum[0], 1e-14 * sum[0]);
    CHECK(moment < 0.4 * sum[0]);
    // The mean sections of the first edge and the last.
    const double a = 1.0 - 0.8 / 39.0, b = 1.0 - 0.8 * 38.0 / 39.0;
    CHECK_NEAR(cone.mass[0] / cone.mass[39], (1.0 + a + a * a) / (b * b + b * 0.2 + 0.04), 1e-10);
    free_strand(&even);
    free_strand(&cone);
}

static void what_no_curl_can_be_is_refused(void)
{
    ss_strand_design design = {.length = 0.1, .material = ss_material_hair(), .nsegments = 2};
    check_refused_design("lifted-curls", &design, "at least 4 vertices, not 3");
    design.nsegments = 5;
    design.clamp = SS_CLAMP_BOTH;
    check_refused_design("lifted-curls", &design, "at least 7 vertices, not 6");
    design.nsegments = 6;
    design.material.ellipticity = 1.2;
    check_refused_design("lifted-curls", &design, "round section");
    const double circle[1][3] = {{0.0, 0.0, 2.0 * M_PI}};
    const ss_strand_design closed = {.length = 3.0,
                                     .material = ss_material_hair(),
                                     .npieces = 1,
                                     .style = circle,
                                     .nsegments = 3};
    check_refused_design("lifted-curls", &closed, "take more vertices");
}

static void run_tests(void)
{
    RUN_TEST(force_and_stiffness_are_derivatives_by_complex_step);
    RUN_TEST(they_are_where_edges_are_in_line_or_folded_or_turned_round);
    RUN_TEST(a_straight_curl_has_the_stiffness_of_a_straight_rod);
    RUN_TEST(edges_in_line_have_the_stiffness_of_a_rod_with_every_kind);
    RUN_TEST(joints_in_line_have_no_plane_to_bend_in);
    RUN_TEST(forces_of_a_curl_balance);
    RUN_TEST(a_tapered_curl_bends_and_stretches_like_a_cone);
    RUN_TEST(a_tapered_curl_weighs_as_much_as_one_of_its_mean_section);
    RUN_TEST(what_no_curl_can_be_is_refused);
}

const test_group lifted_curls_tests = {.run = run_tests, .set_up = set_up};
