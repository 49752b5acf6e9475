// simulate --strands: the file holds what the statistics say of the same run, and pushes point out
// of what is touched.
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness/results/stats.h"
#include "tests/support/program.h"
#include "tests/support/support.h"

static hid_t file;

// The whole dataset, which the caller frees; its shape, 1 beyond its rank.
static double *numbers(const char *name, hsize_t shape[3])
{
    const hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    CHECK(set >= 0);
    const hid_t space = H5Dget_space(set);
    shape[0] = shape[1] = shape[2] = 1;
    CHECK(H5Sget_simple_extent_ndims(space) <= 3);
    H5Sget_simple_extent_dims(space, shape, NULL);
    double *x = calloc(shape[0] * shape[1] * shape[2] + 1, sizeof *x);
    CHECK(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0);
    H5Sclose(space);
    H5Dclose(set);
    return x;
}

static double *shaped(const char *name, hsize_t rows, hsize_t columns, hsize_t depth)
{
    hsize_t shape[3];
    double *x = numbers(name, shape);
    CHECK(shape[0] == rows && shape[1] == columns && shape[2] == depth);
    return x;
}

static void tips_and_contacts_are_those_of_the_statistics(void)
{
    char strands[400], stats[400];
    snprintf(strands, sizeof strands, "%s", scratch_path("strands.h5"));
    snprintf(stats, sizeof stats, "%s", scratch_path("strands.csv"));
    enum { STEPS = 40, RODS = 6 };
    EXPECT(0, "simulate", "pony", "--rods", "6", "--steps", "40", "--strands", strands, "--stats",
           stats);
    const char *csv = file_text(stats);
    file = H5Fopen(strands, H5F_ACC_RDONLY, H5P_DEFAULT);
    double *length = shaped("/strands/length", RODS, 1, 1);
    double vertices = 0.0;
    for (int k = 0; k < RODS; k++) {
        vertices += length[k];
    }
    double *time = shaped("/strands/time", STEPS + 1, 1, 1);
    double *x = shaped("/strands/x", STEPS + 1, (hsize_t)vertices, 3);
    double *start = shaped("/contacts/start", STEPS + 2, 1, 1);
    double *status = shaped("/contacts/status", (hsize_t)start[STEPS + 1], 1, 1);
    CHECK(time[0] == 0.0 && start[1] == 0.0 && start[STEPS + 1] > 0.0);
    for (int f = 1; f <= STEPS; f++) {
        const double *tip = x + 3 * ((size_t)f * (size_t)vertices + (size_t)length[0] - 1);
        CHECK_NEAR(csv_number(csv, f, "time"), time[f], 1e-8);
        CHECK_NEAR(csv_number(csv, f, "tip_x"), tip[0], 1e-8);
        CHECK_NEAR(csv_number(csv, f, "tip_y"), tip[1], 1e-8);
        CHECK_NEAR(csv_number(csv, f, "tip_z"), tip[2], 1e-8);
        int active = 0;
        for (int i = (int)start[f]; i < (int)start[f + 1]; i++) {
            active += status[i] != 0.0;
        }
        CHECK(csv_number(csv, f, "contacts") == start[f + 1] - start[f]);
        CHECK(csv_number(csv, f, "active") == active);
    }
    H5Fclose(file);
    free(length);
    free(time);
    free(x);
    free(start);
    free(status);
}

// A rod that is swung onto a ball: the ball pushes it away, from a point on its surface.
static void an_obstacle_pushes_outward(void)
{
    char strands[400];
    snprintf(strands, sizeof strands, "%s", scratch_path("ball.h5"));
    EXPECT(0, "simulate", "orbit", "--steps", "250", "--strands", strands);
    file = H5Fopen(strands, H5F_ACC_RDONLY, H5P_DEFAULT);
    hsize_t shape[3];
    double *x = numbers("/contacts/x", shape);
    const hsize_t count = shape[0];
    CHECK(count > 0 && shape[1] == 3);
    double *impulse = shaped("/contacts/impulse", count, 3, 1);
    double *strand = shaped("/contacts/strand", count, 2, 1);
    double *start = numbers("/contacts/start", shape);
    const hsize_t frames = shape[0] - 1;
    double *kind = shaped("/obstacles/kind", 1, 1, 1), *size = shaped("/obstacles/size", 1, 3, 1);
    double *pose = shaped("/obstacles/pose", frames, 1, 12);
    CHECK(kind[0] == 0.0); // a sphere
    double outward = 0.0, in_all = 0.0;
    for (hsize_t f = 1; f < frames; f++) {
        for (int i = (int)start[f]; i < (int)start[f + 1]; i++) {
            double away = 0.0, squares = 0.0;
            for (int k = 0; k < 3; k++) {
                const double arm = x[3 * i + k] - pose[12 * f + (hsize_t)k];
                away += arm * impulse[3 * i + k];
                squares += arm * arm;
            }
            CHECK(strand[2 * i] == 0.0 && strand[2 * i + 1] == -1.0);
            CHECK_NEAR(sqrt(squares), size[0], 1e-3);
            outward += away;
            in_all += fabs(away);
        }
    }
    // Impulses are good to the tolerance: tiny ones may have any sign.
    CHECK(in_all > 0.0);
    CHECK_NEAR(outward, in_all, 1e-4 * in_all);
    H5Fclose(file);
    double *const all[] = {x, impulse, strand, start, kind, size, pose};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        free(all[k]);
    }
}

static void mistakes_leave_no_file(void)
{
    char strands[400];
    snprintf(strands, sizeof strands, "%s", scratch_path("missing/strands.h5"));
    EXPECT(4, "simulate", "pony", "--steps", "2", "--strands", strands);
    HOLDS(standard_error, "missing");
    EXPECT(1, "simulate", "pony", "--steps", "2", "--strands", "one.h5", "--dump", "one.h5");
    SAYS("simulate: --dump and --strands cannot both be one.h5");
    snprintf(strands, sizeof strands, "%s", scratch_path("unmade.h5"));
    EXPECT(4, "simulate", "pony", "--steps", "2", "--strands", strands, "--stats",
           scratch_path("missing/stats.csv"));
    CHECK(access(strands, F_OK) != 0);
}

static void run_tests(void)
{
    RUN_TEST(tips_and_contacts_are_those_of_the_statistics);
    RUN_TEST(an_obstacle_pushes_outward);
    RUN_TEST(mistakes_leave_no_file);
}

const test_group trajectory_tests = {.run = run_tests};
