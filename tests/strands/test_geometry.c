// tests/strands/test_geometry.c -- unit quaternions against rotation matrices.
#include "strands/geometry.h"

#include "base/random.h"
#include "tests/support/support.h"

static ss_random g;

static void set_up(void)
{
    g = ss_random_seeded(5);
}

static ss_vec3 random_vector(double size)
{
    double x[3];
    ss_random_direction(&g, 3, x);
    return ss_scaled(size, ss_vec(x[0], x[1], x[2]));
}

static double distance(const ss_mat3 *A, const ss_mat3 *B)
{
    double most = 0.0;
    for (int k = 0; k < 3; k++) {
        most = fmax(most, ss_length(ss_minus(A->c[k], B->c[k])));
    }
    return most;
}

static void exp_is_the_rotation_of_the_vector(void)
{
    for (double angle = 1e-9; angle < 6.0; angle *= 3.0) {
        const ss_vec3 turn = random_vector(angle);
        const ss_mat3 R = ss_rotation(turn), Q = ss_quat_matrix(ss_quat_exp(turn));
        CHECK_LE(distance(&R, &Q), 1e-15);
    }
}

static void log_is_the_inverse_of_exp(void)
{
    for (double angle = 1e-9; angle < 3.1; angle *= 1.5) {
        const ss_vec3 turn = random_vector(angle);
        CHECK_LE(ss_length(ss_minus(ss_quat_log(ss_quat_exp(turn)), turn)), 1e-15 * (1.0 + angle));
    }
    const ss_vec3 none = ss_quat_log(ss_quat_exp(ss_vec(0.0, 0.0, 0.0)));
    CHECK(ss_length(none) == 0.0);
}

static void both_signs_are_one_rotation(void)
{
    const ss_vec3 turn = random_vector(2.0);
    const ss_quat p = ss_quat_exp(turn), n = {-p.w, -p.x, -p.y, -p.z};
    CHECK_LE(ss_length(ss_minus(ss_quat_log(n), turn)), 1e-15);
}

static void products_are_those_of_matrices(void)
{
    for (int k = 0; k < 20; k++) {
        const ss_vec3 a = random_vector(2.0), b = random_vector(3.0);
        const ss_mat3 A = ss_rotation(a), B = ss_rotation(b), AB = ss_mat3_product(&A, &B);
        const ss_quat pq = ss_quat_product(ss_quat_exp(a), ss_quat_exp(b));
        const ss_mat3 Q = ss_quat_matrix(pq);
        CHECK_LE(distance(&AB, &Q), 1e-15);
        const ss_quat one = ss_quat_product(pq, ss_quat_conjugate(pq));
        CHECK_NEAR(one.w, 1.0, 1e-15);
        CHECK_LE(ss_length(ss_quat_vector(one)), 1e-15);
    }
}

// Half turns about the axes and nearly so, where three of the four branches are taken.
static void matrices_give_their_vector_back(void)
{
    for (int k = 0; k < 100; k++) {
        const ss_vec3 turn = random_vector(k % 2 == 0 ? 3.14159 : 0.03 * k);
        const ss_mat3 R = ss_rotation(turn);
        const ss_mat3 back = ss_rotation(ss_rotation_vector(&R));
        CHECK_LE(distance(&R, &back), 1e-14);
    }
}

static void run_tests(void)
{
    RUN_TEST(exp_is_the_rotation_of_the_vector);
    RUN_TEST(log_is_the_inverse_of_exp);
    RUN_TEST(both_signs_are_one_rotation);
    RUN_TEST(products_are_those_of_matrices);
    RUN_TEST(matrices_give_their_vector_back);
}

const test_group geometry_tests = {.run = run_tests, .set_up = set_up};
