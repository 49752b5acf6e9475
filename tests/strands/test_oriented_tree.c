// tests/strands/test_oriented_tree.c -- strands of rigid links that branch, and that vary along their length.
#include <stdlib.h>
#include <string.h>

#include "strands/models/oriented.h"
#include "tests/support/one_strand.h"
#include "tests/support/support.h"

static ss_random g;

static void set_up(void)
{
    g = ss_random_seeded(29);
}

static const ss_oriented *tree_of(const void *strand)
{
    return ((const ss_oriented_strand *)strand)->tree;
}

// A stem of 4 edges, a twig of 2 from its vertex 2, one of 1 from the same, and a second stem at the root.
#define TREE_VERTICES 9
static const int TREE_PARENT[TREE_VERTICES] = {-1, 0, 1, 2, 3, 2, 5, 2, 0};

static ss_strand_design random_tree_design(ss_vec3 *vertices, ss_strand_part *parts)
{
    vertices[0] = ss_vec(0.0, 0.0, 0.0);
    for (int i = 1; i < TREE_VERTICES; i++) {
        const ss_vec3 step = ss_vec(0.02 + 0.003 * ss_random_normal(&g),
                                    0.006 * ss_random_normal(&g), 0.006 * ss_random_normal(&g));
        vertices[i] = ss_plus(vertices[TREE_PARENT[i]], step);
        parts[i - 1] =
            (ss_strand_part){ss_random_between(&g, 0.5, 2.0), ss_random_between(&g, 0.5, 2.0),
                             ss_random_between(&g, 0.5, 2.0), ss_random_between(&g, 0.5, 2.0),
                             ss_random_between(&g, 0.0, 2.0)};
    }
    return (ss_strand_design){.material = ss_material_hair(),
                              .nvertices = TREE_VERTICES,
                              .vertices = vertices,
                              .parent = TREE_PARENT,
                              .nparts = TREE_VERTICES - 1,
                              .parts = parts};
}

static void a_tree_has_a_polyline_a_branch(void)
{
    static const int VERTEX[] = {0, 1, 2, 3, 4, 2, 5, 6, 2, 7, 0, 8};
    static const int BRANCH[] = {-1, -1, -1, -1, -1, 2, -1, -1, 2, -1, 0, -1};
    ss_vec3 vertices[TREE_VERTICES];
    ss_strand_part parts[TREE_VERTICES - 1];
    const ss_strand_design design = random_tree_design(vertices, parts);
    one_strand s = new_strand("oriented-strands", &design);
    const ss_pose root = random_pose(&g);
    place_strand(&s, &root, s.q);
    TEST_ASSERT_EQUAL_INT(12, s.size.npoints);
    for (int i = 0; i < 12; i++) {
        const ss_vec3 there = ss_pose_point(&root, vertices[VERTEX[i]]);
        TEST_ASSERT_EQUAL_INT(BRANCH[i], s.size.branch[i]);
        CHECK_LE(ss_length(ss_minus(s.points[i].x, there)), 1e-15);
    }
    TEST_ASSERT_EQUAL_INT(12, s.size.width); // a path of 4 links
    free_strand(&s);
}

// What the shared tests of models ask of strands that do not branch.
static void a_tree_moves_by_its_jacobian_and_weighs_what_its_bodies_do(void)
{
    ss_vec3 vertices[TREE_VERTICES];
    ss_strand_part parts[TREE_VERTICES - 1];
    const ss_strand_design design = random_tree_design(vertices, parts);
    one_strand s = new_strand("oriented-strands", &design);
    const int n = s.size.nv;
    double *M = calloc((size_t)(n * n), sizeof *M);
    ss_band A = new_band(&s);
    disturb(&s, &g);
    const ss_pose root = random_pose(&g);
    for (int k = 0; k < n; k++) {
        place_strand(&s, &root, s.q);
        const double size = column_size(&s, k), h = 3e-6 * dof_size(&s, k);
        CHECK_LE(column_error(&s, &root, k, h), 2e-7 * size + 1e-15 / h);
    }
    mass_matrix(&s, s.q, M);
    s.model->mass(s.self, s.q, &A);
    for (int j = 0; j < n; j++) {
        for (int i = j; i < n; i++) {
            CHECK_NEAR(*ss_band_at(&A, i, j), M[i * n + j], 1e-14 * largest_of(M, n * n));
        }
    }
    free(M);
    free(A.x);
    free_strand(&s);
}

// Mass, spin, springs and dampers of link j are those of its part and of the one before it.
static void links_are_made_of_their_parts(void)
{
    ss_vec3 vertices[TREE_VERTICES];
    ss_strand_part parts[TREE_VERTICES - 1];
    const ss_strand_design design = random_tree_design(vertices, parts);
    one_strand s = new_strand("oriented-strands", &design);
    const ss_rigidity hair = ss_material_rigidity(&design.material);
    const ss_oriented *tree = tree_of(s.self);
    for (int j = 0; j < TREE_VERTICES - 1; j++) {
        const ss_oriented_link *l = &tree->link[j];
        const ss_strand_part *p = &parts[j], *q = l->parent >= 0 ? &parts[l->parent] : NULL;
        const double r2 = p->radius * p->radius, radius = design.material.radius * p->radius;
        double yields = l->length / (2.0 * hair.bend1 * p->bend * r2 * r2);
        if (q != NULL) {
            const double q4 = q->radius * q->radius * q->radius * q->radius;
            yields += tree->link[l->parent].length / (2.0 * hair.bend1 * q->bend * q4);
        }
        CHECK_NEAR(l->mass, hair.line_density * p->mass * r2 * l->length, 1e-14 * l->mass);
        CHECK_NEAR(l->spin, 0.5 * l->mass * radius * radius, 1e-14 * l->spin);
        CHECK_NEAR(l->spring.z, 2.0 / yields, 1e-13 * l->spring.z);
        CHECK_NEAR(l->damping.z, 0.005 * p->relaxation * l->spring.z, 1e-13 * l->spring.z);
        CHECK_NEAR(s.mass[2 * j] + s.mass[2 * j + 1], l->mass, 1e-15 * l->mass);
    }
    free_strand(&s);
}

static void what_is_no_tree_of_vertices_is_refused_with_a_sentence(void)
{
    ss_vec3 vertices[TREE_VERTICES];
    ss_strand_part parts[TREE_VERTICES - 1];
    int parent[TREE_VERTICES];
    ss_strand_design design = random_tree_design(vertices, parts);
    check_refused_design("der", &design, "for the model oriented-strands alone");
    check_refused_design("oriented-strands:links=7", &design, "a link per edge, 8");
    design.parent = parent;
    const struct {
        int at, parent;
        const char *word;
    } WRONG[] = {{3, 4, "vertex 3 is part of a loop"},
                 {3, 9, "vertex 3 hangs from vertex 9, which does not exist"},
                 {3, 8, "vertex 3 comes before vertex 8, from which it hangs"},
                 {3, -1, "vertex 3 of a strand has the parent -1"}};
    for (size_t k = 0; k < sizeof WRONG / sizeof WRONG[0]; k++) {
        memcpy(parent, TREE_PARENT, sizeof parent);
        parent[WRONG[k].at] = WRONG[k].parent;
        check_refused_design("oriented-strands", &design, WRONG[k].word);
    }
    design.parent = TREE_PARENT;
    vertices[6] = vertices[5];
    check_refused_design("oriented-strands", &design, "vertices[5] and [6] of a strand are on one");
    design = random_tree_design(vertices, parts);
    parts[2].mass = 0.0;
    check_refused_design("oriented-strands", &design, "part 2 of a strand has the factors 0, ");
    parts[2].mass = 1.0;
    design.nparts = 3;
    check_refused_design("oriented-strands", &design, "has a part per edge, 8, not 3");
}

static void run_tests(void)
{
    RUN_TEST(a_tree_has_a_polyline_a_branch);
    RUN_TEST(a_tree_moves_by_its_jacobian_and_weighs_what_its_bodies_do);
    RUN_TEST(links_are_made_of_their_parts);
    RUN_TEST(what_is_no_tree_of_vertices_is_refused_with_a_sentence);
}

const test_group oriented_tree_tests = {.run = run_tests, .set_up = set_up};
