// tests/strands/test_thesis.c -- the scheme thesis: where its iterates end, with contacts and without.
#include <stdlib.h>
#include <string.h>

#include "problems/response.h"
#include "problems/strands/band.h"
#include "problems/strands/models/der.h"
#include "tests/support/one_stepper.h"

static double dt; // s, of all steps

static void begin_again(void)
{
    begin_world();
    world->radius = 5e-4;
    options.explosion = options.reach = 0.0;
    options.dt = options.dt_min = dt;
}

static void set_up(void)
{
    dt = 1e-3;
    begin_again();
}

static void again(void)
{
    tear_down();
    begin_again();
}

static void begin_with(const char *spec)
{
    ss_scheme_choice scheme;
    CHECK_OK(ss_scheme_parse(spec, &scheme, &error));
    options.scheme = &scheme;
    ss_stepper_free(stepper);
    stepper = ss_stepper_new(world, &options,
                             (ss_step_solver){.solve = solve_step, .context = &secular}, &error);
    ss_scheme_choice_free(&scheme);
    TEST_ASSERT_NOT_NULL_MESSAGE(stepper, error.text);
}

// A straight rod of 0.1 m that begins at `place` and points to `turn` from x, with lengths a hundred
// times softer than those of hair, as in the scenes of [J20].
static int rod(const char *model, ss_vec3 place, ss_vec3 turn, ss_clamp clamp)
{
    ss_strand_design design = {
        .length = 0.1, .material = ss_material_hair(), .nsegments = 9, .clamp = clamp};
    design.material.stretch = 0.01;
    design.material.relaxation = 0.0;
    const ss_pose root = pose_at(place, turn);
    ss_model_choice choice;
    int number = -1;
    CHECK_OK(ss_model_parse(model, &choice, &error));
    CHECK_OK(ss_world_add_strand(world, &choice, &design, 0, &root, &number, &error));
    ss_model_choice_free(&choice);
    return number;
}

// Every vertex of strand k gets this velocity.
static void throw(int k, ss_vec3 v)
{
    const ss_strand *s = &world->strands[k];
    for (int i = 0; i < s->size.npoints; i++) {
        double *at = world->now.v + s->v + SS_DER_STRIDE * i;
        at[0] = v.x;
        at[1] = v.y;
        at[2] = v.z;
    }
}

// Three rods along x that are clamped at both ends, and five across them that fall on them and are held at
// one end; 1 mm between the axes, which is where they touch.
static void lattice(const char *model, double relaxation)
{
    const ss_vec3 along = {0.0, 0.0, 0.0}, across = {0.0, 0.5 * M_PI, 0.0};
    for (int k = 0; k < 3; k++) {
        rod(model, ss_vec(0.0, 0.0, -0.03 - 0.01 * k), along, SS_CLAMP_BOTH);
    }
    for (int k = 0; k < 5; k++) {
        rod(model, ss_vec(0.03 + 0.011 * k, 1.2e-3 + 1e-5 * k, -0.002 * k), across, SS_CLAMP_ROOT);
    }
    for (int k = 0; k < world->nstrands; k++) {
        ((ss_der *)world->strands[k].self)->relaxation = relaxation;
    }
}

static double judged(double *normal)
{
    const double *r, *v;
    const ss_problem *p = ss_stepper_problem(stepper, &r, &v);
    ss_response *response;
    double *u = malloc(3 * (size_t)p->ncontacts * sizeof *u);
    CHECK_OK(ss_response_new(p, &response, &error));
    const ss_measures m = ss_response_judge(response, r, u);
    ss_response_free(response);
    free(u);
    if (normal != NULL) {
        *normal = m.normal;
    }
    return m.fb;
}

// ---- Without contacts

static void without_contacts_the_end_is_that_of_newton(void)
{
    const char *const specs[] = {"newton:tol=1e-13", "thesis:newton=full,tol=1e-14",
                                 "thesis:newton=quasi,tol=1e-14"};
    double *end[3];
    int nv = 0;
    for (int k = 0; k < 3; k++) {
        again();
        options.contacts = false;
        lattice("der", 0.0);
        begin_with(specs[k]);
        steps(20);
        nv = world->nv;
        end[k] = malloc((size_t)nv * sizeof *end[k]);
        memcpy(end[k], world->now.v, (size_t)nv * sizeof *end[k]);
    }
    const double size = largest_of(end[0], nv);
    for (int k = 1; k < 3; k++) {
        for (int j = 0; j < nv; j++) {
            CHECK_NEAR(end[k][j], end[0][j], 1e-9 * size);
        }
    }
    for (int k = 0; k < 3; k++) {
        free(end[k]);
    }
}

// ---- With contacts

// The velocities and impulses after `count` steps of the lattice, after which there are contacts.
static double *after(const char *spec, double relaxation, int count, int *n)
{
    again();
    lattice("der:bending=two-frame", relaxation);
    begin_with(spec);
    steps(count);
    CHECK(report.active > 5);
    CHECK(secular.calls == 0);
    *n = world->nv;
    double *v = malloc((size_t)*n * sizeof *v);
    memcpy(v, world->now.v, (size_t)*n * sizeof *v);
    return v;
}

static void quasi_newton_ends_where_newton_ends(void)
{
    const char *const laws[] = {"printed", "repaired", "rigid"};
    for (int k = 0; k < 6; k++) {
        char spec[2][80];
        int n;
        const double relaxation = k < 3 ? 0.0 : 1e-3;
        for (int i = 0; i < 2; i++) {
            snprintf(spec[i], sizeof spec[i], "thesis:law=%s,newton=%s,iterations=3000,tol=1e-12",
                     laws[k % 3], i == 0 ? "full" : "quasi");
        }
        double *full = after(spec[0], relaxation, 30, &n);
        double *quasi = after(spec[1], relaxation, 30, &n);
        const double size = largest_of(full, n);
        // The printed laws stop at an answer that depends on the way there.
        const double near = k % 3 == 1 ? 1e-6 : 1e-2;
        for (int j = 0; j < n; j++) {
            CHECK_NEAR(full[j], quasi[j], near * size);
        }
        free(full);
        free(quasi);
    }
}

static void the_repaired_law_ends_at_coulomb_and_the_printed_ones_do_not(void)
{
    int n;
    double normal;
    free(after("thesis:law=repaired,iterations=5000,tol=1e-12", 0.0, 30, &n));
    CHECK(report.iterates < 5000);
    CHECK_LE(judged(&normal), 1e-6);
    CHECK_LE(normal, 1e-6);
    free(after("thesis:law=printed,iterations=5000,tol=1e-12", 0.0, 30, &n));
    CHECK(report.iterates < 5000);
    CHECK(judged(NULL) > 1e-4);
    free(after("thesis:law=rigid,iterations=5000,tol=1e-12", 0.0, 30, &n));
    CHECK(judged(NULL) > 1e-4);
}

// Shorter steps on the way change nothing of the end, with damping and without.
static void a_search_ends_where_whole_steps_end(void)
{
    for (int k = 0; k < 2; k++) {
        int n;
        const double relaxation = k == 0 ? 0.0 : 1e-3;
        double *whole = after("thesis:law=repaired,iterations=3000,tol=1e-12", relaxation, 30, &n);
        double *searched =
            after("thesis:law=repaired,iterations=3000,tol=1e-12,search=on", relaxation, 30, &n);
        const double size = largest_of(whole, n);
        CHECK(report.iterates < 3000);
        for (int j = 0; j < n; j++) {
            CHECK_NEAR(searched[j], whole[j], 1e-6 * size);
        }
        free(whole);
        free(searched);
    }
}

// g of an iterate is the slope of the objective, by central differences.
static void the_objective_has_the_residual_as_its_slope(void)
{
    const int k = rod("der", ss_vec(0.0, 0.0, 0.0), ss_vec(0.0, 0.0, 0.0), SS_CLAMP_NONE);
    const ss_strand *s = &world->strands[k];
    const int nv = s->size.nv;
    const double h = 1e-3, eps = 1e-5;
    double *q = calloc((size_t)world->nq, sizeof *q), *v = calloc(4 * (size_t)nv, sizeof *v);
    double *g = v + nv, *impulses = g + nv, *past = impulses + nv, size;
    stir(world, 0.05);
    memcpy(v, world->now.v, (size_t)nv * sizeof *v);
    for (int j = 0; j < nv; j++) {
        impulses[j] = 1e-9 * (j % 7 - 3);
        past[j] = 0.5 * v[j];
    }
    ss_placed at;
    CHECK(ss_placed_init(&at, &s->size));
    ss_system_scratch *scratch = ss_system_scratch_new(world);
    const ss_world_state there = {.q = q, .v = v};
    ss_iterate it = ss_iterate_first(&there, h);
    it.past = past;
    s->model->advance(s->self, world->now.q, v, h, q);
    ss_strand_place(world, k, &there, &at);
    ss_strand_residual(world, k, &it, &at, scratch, g);
    const double largest = largest_of(g, nv);
    for (int j = 0; j < nv; j++) {
        double objective[2];
        const double before = v[j];
        for (int side = 0; side < 2; side++) {
            v[j] = before + (side == 0 ? -eps : eps);
            s->model->advance(s->self, world->now.q, v, h, q);
            ss_strand_place(world, k, &there, &at);
            objective[side] =
                ss_strand_objective(world, k, &it, &at, impulses, scratch, &size) / (2.0 * eps);
        }
        v[j] = before;
        CHECK_NEAR(objective[1] - objective[0], g[j] - impulses[j], 1e-5 * largest);
    }
    ss_system_scratch_free(scratch);
    ss_placed_free(&at);
    free(q);
    free(v);
}

// The judge's error, whose scale of compliance the scheme takes of the first iterate.
static void iterates_end_at_the_error_that_is_asked_for(void)
{
    const double asked[] = {1e-2, 1e-4, 1e-7};
    int iterates[3];
    for (int k = 0; k < 3; k++) {
        char spec[80];
        int n;
        double normal;
        snprintf(spec, sizeof spec, "thesis:law=repaired,iterations=5000,fb=%g", asked[k]);
        free(after(spec, 0.0, 30, &n));
        CHECK_LE(judged(&normal), 1.1 * asked[k]);
        CHECK_LE(normal, 2.2 * asked[k]);
        iterates[k] = report.iterates;
    }
    CHECK(iterates[0] < iterates[1] && iterates[1] < iterates[2] && iterates[2] < 5000);
}

static void the_repaired_law_ends_where_newton_and_a_solver_end(void)
{
    int n;
    double *local = after("thesis:law=repaired,iterations=5000,tol=1e-13", 0.0, 30, &n);
    // Detection of the thesis, the iterates of newton: from the same start, one step on.
    ss_world_state start;
    CHECK(ss_world_state_init(&start, world));
    memcpy(start.q, world->now.q, (size_t)world->nq * sizeof *start.q);
    memcpy(start.v, world->now.v, (size_t)world->nv * sizeof *start.v);
    step();
    memcpy(local, world->now.v, (size_t)n * sizeof *local);
    const int contacts = report.contacts;
    memcpy(world->now.q, start.q, (size_t)world->nq * sizeof *start.q);
    memcpy(world->now.v, start.v, (size_t)world->nv * sizeof *start.v);
    options.continuous = true;
    begin_with("newton:tol=1e-12");
    step();
    CHECK(report.contacts == contacts);
    const double size = largest_of(local, n);
    for (int j = 0; j < n; j++) {
        if (j % 39 % SS_DER_STRIDE < 3) { // of a place
            CHECK_NEAR(world->now.v[j], local[j], 1e-6 * size);
        }
    }
    ss_world_state_free(&start);
    free(local);
}

static void check_stored(const ss_problem *p, const double *r, const double *v, const char *spec)
{
    const size_t n = 3 * (size_t)p->ncontacts;
    double *u = malloc(n * sizeof *u);
    memcpy(u, p->w, n * sizeof *u);
    ss_sparse_add_transposed_product(&p->H, v, u);
    CHECK(p->has_solution);
    CHECK(memcmp(p->solution.r, r, n * sizeof *r) == 0);
    CHECK(memcmp(p->solution.v, v, (size_t)p->ndofs * sizeof *v) == 0);
    CHECK(memcmp(p->solution.u, u, n * sizeof *u) == 0);
    TEST_ASSERT_EQUAL_STRING(spec, p->claim.solver);
    CHECK(isnan(p->claim.tolerance));
    free(u);
}

// The problem that a step leaves behind holds of its impulses and velocities.
static void the_step_leaves_its_last_problem_behind(void)
{
    const char *const specs[] = {
        "thesis",           "thesis:newton=full",  "thesis:law=repaired,relax=0.9",
        "thesis:law=rigid", "thesis:iterations=1", "thesis:iterations=2"};
    for (int k = 0; k < 6; k++) {
        again();
        lattice("der", 1e-3);
        begin_with(specs[k]);
        for (int i = 0; i < 25; i++) {
            const double *r, *v;
            step();
            const ss_problem *p = ss_stepper_problem(stepper, &r, &v);
            if (p != NULL) {
                CHECK_LE(replay_error(p, r, v), 1e-14);
                check_stored(p, r, v, specs[k]);
            }
        }
        CHECK(report.contacts > 5);
    }
}

// ---- What a collision keeps

// Two free rods, of which one is thrown at the middle of the other.
static void free_pair(double mu)
{
    world->gravity = ss_vec(0.0, 0.0, 0.0);
    world->mu = mu;
    const ss_vec3 across = {0.0, 0.5 * M_PI, 0.0};
    rod("der", ss_vec(0.0, 0.0, -0.043), ss_vec(0.0, 0.0, 0.0), SS_CLAMP_NONE);
    const int other = rod("der", ss_vec(0.061, 2.4e-3, 0.0), across, SS_CLAMP_NONE);
    throw(other, ss_vec(0.2, -0.4, 0.1));
}

static ss_vec3 momentum(void)
{
    ss_vec3 sum = {0.0, 0.0, 0.0};
    for (int k = 0; k < world->nstrands; k++) {
        const ss_strand *s = &world->strands[k];
        for (int i = 0; i < s->size.nsamples; i++) {
            const double *v = world->now.v + s->v + SS_DER_STRIDE * i;
            sum = ss_along(sum, world->mass[s->sample + i], ss_vec(v[0], v[1], v[2]));
        }
    }
    return sum;
}

static void a_free_pair_keeps_its_momentum(void)
{
    const char *const specs[] = {"thesis:newton=full", "thesis", "thesis:law=rigid",
                                 "thesis:law=repaired"};
    for (int k = 0; k < 4; k++) {
        again();
        free_pair(0.4);
        begin_with(specs[k]);
        const ss_vec3 before = momentum();
        int active = 0;
        for (int i = 0; i < 20; i++) {
            step();
            active += report.active;
        }
        CHECK(active > 0);
        CHECK_LE(ss_length(ss_minus(momentum(), before)), 1e-12 * ss_length(before));
    }
}

// H r as forces on the vertices: their sum is 0, and their moment that of r at the two points, which is 0
// where r is along the line between them, without friction.
static void impulses_have_no_sum_and_no_moment(void)
{
    free_pair(0.0);
    begin_with("thesis:law=repaired,iterations=500");
    int found = 0;
    for (int i = 0; i < 20; i++) {
        double x[2][30], *Hr;
        for (int k = 0; k < 2; k++) {
            for (int j = 0; j < 30; j++) {
                x[k][j] = world->now.q[world->strands[k].q + SS_DER_STRIDE * (j / 3) + j % 3];
            }
        }
        step();
        const double *r, *v;
        int count;
        const ss_problem *p = ss_stepper_problem(stepper, &r, &v);
        const ss_touch *touches = ss_stepper_touches(stepper, &count);
        if (p == NULL || !(r[0] > 0.0)) {
            continue;
        }
        found++;
        CHECK(touches[0].strand_b == 1 && (count == 1 || r[3] == 0.0));
        CHECK_NEAR(hypot(r[1], r[2]), 0.0, 0.0);
        Hr = calloc((size_t)p->ndofs, sizeof *Hr);
        ss_sparse_add_product(&p->H, r, Hr);
        ss_vec3 sum = {0.0, 0.0, 0.0}, moment = {0.0, 0.0, 0.0};
        for (int k = 0; k < 2; k++) {
            for (int j = 0; j < 10; j++) {
                const double *I = Hr + 39 * k + SS_DER_STRIDE * j, *at = x[k] + 3 * j;
                const ss_vec3 force = ss_vec(I[0], I[1], I[2]);
                sum = ss_plus(sum, force);
                moment = ss_plus(moment, ss_cross(ss_vec(at[0], at[1], at[2]), force));
            }
        }
        CHECK_LE(ss_length(sum), 1e-12 * r[0]);
        // n is that of the time of contact for pairs that only the sweep finds.
        const ss_touch *t = &touches[0];
        const double *a = x[0] + 3 * t->segment_a;
        const ss_vec3 point = ss_along(ss_scaled(1.0 - t->a, ss_vec(a[0], a[1], a[2])), t->a,
                                       ss_vec(a[3], a[4], a[5]));
        const ss_vec3 arm = ss_minus(point, t->y);
        CHECK_LE(ss_length(ss_minus(moment, ss_cross(arm, ss_scaled(r[0], t->n)))),
                 1e-12 * 0.1 * r[0]);
        if (t->gap < 0.2 * world->radius) {
            CHECK_LE(ss_length(moment), 1e-12 * 0.1 * r[0]);
        }
        free(Hr);
    }
    CHECK(found > 0);
}

// ---- What iterates do

static void the_measures_of_one_contact_fall(void)
{
    double change[12], impulse[12];
    for (int k = 0; k < 12; k++) {
        char spec[80];
        again();
        rod("der", ss_vec(0.0, 0.0, -0.043), ss_vec(0.0, 0.0, 0.0), SS_CLAMP_BOTH);
        rod("der", ss_vec(0.061, 1.02e-3, 0.0), ss_vec(0.0, 0.5 * M_PI, 0.0), SS_CLAMP_ROOT);
        begin_with("thesis:law=repaired");
        steps(20);
        CHECK(report.contacts == 1 && report.active == 1);
        snprintf(spec, sizeof spec, "thesis:law=repaired,tol=0,iterations=%d", k + 3);
        begin_with(spec);
        step();
        change[k] = report.change;
        impulse[k] = report.impulse_change;
    }
    for (int k = 1; k < 12; k++) {
        CHECK(change[k] < change[k - 1]);
        CHECK(impulse[k] < impulse[k - 1]);
    }
}

static void obstacles_are_touched_at_vertices(void)
{
    const ss_obstacle floor = {.kind = SS_OBSTACLE_PLANE,
                               .pose =
                                   pose_at(ss_vec(0.0, -1e-3, 0.0), ss_vec(-0.5 * M_PI, 0.0, 0.0)),
                               .mu = 0.5};
    CHECK_OK(ss_world_add_obstacle(world, &floor, &error));
    rod("der", ss_vec(0.0, 0.0, 0.0), ss_vec(0.0, 0.0, 0.0), SS_CLAMP_NONE);
    begin_with("thesis:law=repaired,tol=1e-12,iterations=1000");
    steps(40);
    int count;
    const ss_touch *touches = ss_stepper_touches(stepper, &count);
    TEST_ASSERT_EQUAL_INT(10, count);
    double weight = 0.0;
    const double *r, *v;
    ss_stepper_problem(stepper, &r, &v);
    for (int i = 0; i < count; i++) {
        CHECK(touches[i].a == (i == 9 ? 1.0 : 0.0));
        CHECK(touches[i].segment_a == (i == 9 ? 8 : i));
        weight += r[3 * i];
    }
    // It lies there: the floor gives back what gravity takes.
    const double load = ss_length(world->gravity) * options.dt *
                        ss_material_rigidity(&world->strands[0].material).line_density * 0.1;
    CHECK_NEAR(weight, load, 1e-6 * load);
    CHECK_LE(report.max_speed, 1e-6);
}

// The tip falls at 20 m/s on a rod, and moves 20 times its thickness in a step.
static void a_fast_rod_does_not_pass_through(void)
{
    rod("der", ss_vec(0.0, 0.0, -0.043), ss_vec(0.0, 0.0, 0.0), SS_CLAMP_BOTH);
    const int other =
        rod("der", ss_vec(0.061, 8e-3, 0.0), ss_vec(0.0, 0.5 * M_PI, 0.0), SS_CLAMP_NONE);
    throw(other, ss_vec(0.0, -20.0, 0.0));
    begin_with("thesis:law=repaired,iterations=2000");
    step();
    CHECK(report.active > 0);
    const ss_touch *t;
    int count;
    t = ss_stepper_touches(stepper, &count);
    CHECK(count > 0 && t[0].strand_b >= 0);
    const double *below = world->now.q + world->strands[0].q + SS_DER_STRIDE * 5;
    const double *above = world->now.q + world->strands[1].q + SS_DER_STRIDE * 4;
    CHECK(above[1] > below[1]);
}

static void lengths_are_what_the_stiffness_of_lengths_adds(void)
{
    for (int kind = 0; kind < SS_STIFFNESS_KINDS; kind++) {
        double *x[3];
        int count = 0;
        for (int k = 0; k < 3; k++) {
            again();
            rod("der", ss_vec(0.0, 0.0, 0.0), ss_vec(0.0, 0.0, 0.0), SS_CLAMP_NONE);
            stir(world, 0.3);
            const ss_strand *s = &world->strands[0];
            ss_der *d = s->self;
            s->model->advance(d, world->now.q, world->now.v, 1e-2, world->now.q);
            ss_band A = {s->size.nv, s->size.half_bandwidth, NULL};
            count = A.n * (A.half + 1);
            A.x = x[k] = calloc((size_t)count, sizeof *A.x);
            d->rigidity.stretch *= k == 1 ? 2.0 : 1.0;
            if (k < 2 && kind != SS_STIFFNESS_FILTERED) {
                CHECK(s->model->stiffness(d, world->now.q, (ss_stiffness)kind, 1.0, &A));
            } else {
                s->model->lengths(d, world->now.q, (ss_stiffness)kind, 1.0, &A);
            }
        }
        const double size = largest_of(x[2], count);
        for (int i = 0; i < count; i++) {
            CHECK_NEAR(x[1][i] - x[0][i], x[2][i], 1e-12 * size);
        }
        for (int k = 0; k < 3; k++) {
            free(x[k]);
        }
    }
}

static void models_without_vertices_of_their_own_are_refused(void)
{
    const char *const models[] = {"super-helix", "lifted-curls"};
    const char *const words[] = {"super-helix have no vertices", "thesis:newton=full"};
    for (int k = 0; k < 2; k++) {
        again();
        ss_scheme_choice scheme;
        rod(models[k], ss_vec(0.0, 0.0, 0.0), ss_vec(0.0, 0.0, 0.0), SS_CLAMP_ROOT);
        CHECK_OK(ss_scheme_parse("thesis", &scheme, &error));
        options.scheme = &scheme;
        CHECK(ss_stepper_new(world, &options, (ss_step_solver){.solve = solve_step}, &error) ==
              NULL);
        TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, error.status);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, words[k]), error.text);
        ss_scheme_choice_free(&scheme);
    }
}

// ---- Side by side

// Curls of two sizes and bendings, clamped at no end, one or both, in the air; some touch. Without internal
// damping alike ones go side by side, with the least of it each goes alone.
static void mixed_strands(bool alone, double stretch)
{
    const ss_clamp clamps[] = {SS_CLAMP_ROOT, SS_CLAMP_NONE, SS_CLAMP_BOTH};
    for (int k = 0; k < 36; k++) {
        const double style[3][3] = {{3.0, 20.0 + k, -9.0}, {-2.0, 5.0, 15.0}, {1.0, -4.0, 6.0}};
        ss_strand_design design = {.length = 0.1,
                                   .material = ss_material_hair(),
                                   .npieces = 3,
                                   .style = style,
                                   .nsegments = k < 24 ? 9 : 6,
                                   .clamp = clamps[k / 12]};
        design.material.stretch = stretch;
        design.material.relaxation = alone ? 1e-30 : 0.0;
        const ss_pose root =
            pose_at(ss_vec(0.0, 1.01e-3 * (k % 12), 0.01 * (k % 5)), ss_vec(0.0, 0.3 * k, 0.0));
        ss_model_choice choice;
        int number = -1;
        CHECK_OK(ss_model_parse(k % 12 < 6 ? "der" : "der:bending=two-frame", &choice, &error));
        CHECK_OK(ss_world_add_strand(world, &choice, &design, 0, &root, &number, &error));
        ss_model_choice_free(&choice);
    }
    world->drag = 1e-4;
}

// v after `count` steps; *active counts contacts, *kind is the last kind of K that a strand took.
static double *mixed_run(bool alone, double stretch, double speed, const char *spec, int count,
                         int *active, ss_stiffness *kind)
{
    again();
    mixed_strands(alone, stretch);
    stir(world, speed);
    begin_with(spec);
    *active = 0;
    *kind = SS_STIFFNESS_EXACT;
    for (int i = 0; i < count; i++) {
        const double *r, *v;
        step();
        *active += report.active;
        *kind = report.stiffness > *kind ? report.stiffness : *kind;
        const ss_problem *p = ss_stepper_problem(stepper, &r, &v);
        if (p != NULL) {
            CHECK_LE(replay_error(p, r, v), 1e-14);
        }
    }
    double *end = malloc((size_t)world->nv * sizeof *end);
    memcpy(end, world->now.v, (size_t)world->nv * sizeof *end);
    return end;
}

static void compare_runs(double stretch, double speed, const char *spec, int count, double near,
                         ss_stiffness least)
{
    int active[2];
    ss_stiffness kind[2];
    double *together = mixed_run(false, stretch, speed, spec, count, &active[0], &kind[0]);
    double *alone = mixed_run(true, stretch, speed, spec, count, &active[1], &kind[1]);
    CHECK(active[0] == active[1] && active[0] > 10);
    CHECK(kind[0] == kind[1] && kind[0] >= least);
    const double size = largest_of(alone, world->nv);
    for (int j = 0; j < world->nv; j++) {
        CHECK_NEAR(together[j], alone[j], near * size);
    }
    free(together);
    free(alone);
}

static void strands_side_by_side_go_where_each_goes_alone(void)
{
    compare_runs(0.01, 0.1, "thesis:law=repaired,iterations=100", 10, 1e-9, SS_STIFFNESS_EXACT);
}

// Edges that are pressed together by half in a short step: M of iterates has no factor, and those strands
// leave their group.
static void a_strand_without_a_factor_leaves_its_group(void)
{
    dt = 1e-4;
    compare_runs(0.01, 200.0, "thesis:law=printed,iterations=4", 1, 1e-7, SS_STIFFNESS_FILTERED);
}

static void run_tests(void)
{
    RUN_TEST(without_contacts_the_end_is_that_of_newton);
    RUN_TEST(quasi_newton_ends_where_newton_ends);
    RUN_TEST(the_repaired_law_ends_at_coulomb_and_the_printed_ones_do_not);
    RUN_TEST(a_search_ends_where_whole_steps_end);
    RUN_TEST(the_objective_has_the_residual_as_its_slope);
    RUN_TEST(iterates_end_at_the_error_that_is_asked_for);
    RUN_TEST(the_repaired_law_ends_where_newton_and_a_solver_end);
    RUN_TEST(the_step_leaves_its_last_problem_behind);
    RUN_TEST(a_free_pair_keeps_its_momentum);
    RUN_TEST(impulses_have_no_sum_and_no_moment);
    RUN_TEST(the_measures_of_one_contact_fall);
    RUN_TEST(obstacles_are_touched_at_vertices);
    RUN_TEST(a_fast_rod_does_not_pass_through);
    RUN_TEST(strands_side_by_side_go_where_each_goes_alone);
    RUN_TEST(a_strand_without_a_factor_leaves_its_group);
    RUN_TEST(lengths_are_what_the_stiffness_of_lengths_adds);
    RUN_TEST(models_without_vertices_of_their_own_are_refused);
}

const test_group thesis_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
