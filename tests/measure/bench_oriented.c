// What the recursive residual of a strand of links costs, and articulated bodies beside it, by the number of
// links: processor time, the best of many; a line fits time = a + b links to the residual's rows. Then the
// collision response of 25 links over the number of contact points: K by test forces, and 50 sweeps.
#include <math.h>
#include <string.h>

#include "tests/support/articulated.h"
#include "tests/support/oriented_rows.h"
#include "tests/measure/bench.h"

#define SECONDS 0.2 // for a row
#define MOST    10000

static ss_oriented *new_chain(int n)
{
    ss_oriented_link *link = calloc((size_t)n, sizeof *link);
    ss_oriented *tree;
    ss_error error;
    if (link == NULL) {
        exit(4);
    }
    for (int j = 0; j < n; j++) {
        link[j] = (ss_oriented_link){.parent = j - 1,
                                     .joint = ss_vec(0.0, j > 0 ? 0.005 : 0.0, 0.0),
                                     .length = 0.005,
                                     .mass = 5e-8,
                                     .across = 5e-8 * 0.005 * 0.005 / 12.0,
                                     .spin = 5e-8 * 5e-5 * 5e-5 / 2.0,
                                     .spring = {8e-6, 5e-6, 8e-6},
                                     .damping = {4e-8, 2.5e-8, 4e-8},
                                     .rest = {1.0, 0.0, 0.0, 0.0}};
    }
    bench_check(ss_oriented_new(n, link, false, &tree, &error), &error);
    free(link);
    return tree;
}

// Seconds of the residual and of articulated bodies.
static void measure(int n, double best[2])
{
    ss_oriented *tree = new_chain(n);
    const ss_oriented_base base = {.pose = ss_pose_identity(),
                                   .acceleration = ss_vec(0.0, 9.81, 0.0)};
    double *q = calloc((size_t)n * 13, sizeof *q), *w = q + 4 * n, *wdot = w + 3 * n;
    double *rs = wdot + 3 * n;
    const double end = ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID) + SECONDS;
    for (int j = 0; j < n; j++) {
        ss_quat_write(ss_quat_exp(ss_vec(0.01, 0.02, 0.005)), q + 4 * j);
        w[3 * j] = 0.1;
        wdot[3 * j + 2] = 1.0;
    }
    best[0] = best[1] = INFINITY;
    const int repeats = 1 + 2000 / n;
    while (ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID) < end) {
        double at[3];
        at[0] = ss_clock_now();
        for (int k = 0; k < repeats; k++) {
            ss_oriented_residual(tree, &base, q, w, wdot, NULL, rs);
        }
        at[1] = ss_clock_now();
        for (int k = 0; k < repeats; k++) {
            articulated_motion(tree, &base, q, w, NULL, rs);
        }
        at[2] = ss_clock_now();
        for (int k = 0; k < 2; k++) {
            best[k] = fmin(best[k], (at[k + 1] - at[k]) / repeats);
        }
    }
    ss_oriented_free(tree);
    free(q);
}

#define RESPONDING  25  // links
#define MOST_POINTS 320 // a normal and a tangent each
#define SWEEPS      50

// Points spread along the links, each with a plane of its own.
static int put_contacts(const ss_oriented_state *s, int points, ss_oriented_row *rows)
{
    int m = 0;
    for (int i = 0; i < points; i++) {
        const double along = (i + 0.5) * RESPONDING / points;
        const ss_vec3 at = ss_vec(0.0, 0.005 * (along - floor(along)), 0.0);
        const ss_vec3 n = ss_vec(0.0, 0.0, 1.0), t = ss_vec(1.0, 0.0, 0.0);
        m += ss_oriented_contact(s, (int)along, at, n, 1e-5, 0.2, 0.3, 1e-3, t, m, rows + m);
    }
    return m;
}

static void measure_response(int points)
{
    static ss_oriented_row rows[2 * MOST_POINTS];
    static double K[4 * MOST_POINTS * MOST_POINTS], a0[2 * MOST_POINTS], f[2 * MOST_POINTS];
    static double q[4 * RESPONDING], w[3 * RESPONDING], wdot[3 * RESPONDING];
    static ss_oriented_load load[RESPONDING];
    ss_oriented *tree = new_chain(RESPONDING);
    const ss_oriented_state s = {.tree = tree,
                                 .base = {.pose = ss_pose_identity()},
                                 .gravity = ss_vec(0.0, 0.0, -9.81),
                                 .q = q,
                                 .w = w};
    for (int j = 0; j < RESPONDING; j++) {
        ss_quat_write(ss_quat_exp(ss_vec(0.1, 0.0, 0.05)), q + 4 * j);
    }
    double best[2] = {INFINITY, INFINITY};
    const double end = ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID) + SECONDS;
    while (ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID) < end) {
        double at[3];
        articulated_motion(tree, &s.base, q, w, NULL, wdot);
        const int m = put_contacts(&s, points, rows);
        memset(f, 0, sizeof f);
        at[0] = ss_clock_now();
        ss_oriented_rows_measure(&s, m, rows, wdot, load, a0, K);
        at[1] = ss_clock_now();
        ss_oriented_rows_solve(m, rows, a0, K, SWEEPS, 1.0, 1e-6, f);
        at[2] = ss_clock_now();
        best[0] = fmin(best[0], at[1] - at[0]);
        best[1] = fmin(best[1], at[2] - at[1]);
    }
    printf("%8d %14.1f %14.1f %14.4f\n", points, 1e6 * best[0], 1e6 * best[1],
           1e6 * (best[0] + best[1]) / points / points);
    ss_oriented_free(tree);
}

int main(void)
{
    static const int LINKS[] = {10, 20, 50, 100, 200, 500, 1000, 2000, 5000, MOST};
    double count = 0.0, n1 = 0.0, n2 = 0.0, t1 = 0.0, t2 = 0.0, nt = 0.0;
    printf("%8s %14s %12s %14s\n", "links", "residual, us", "us a link", "forward, us");
    for (size_t i = 0; i < sizeof LINKS / sizeof LINKS[0]; i++) {
        const double n = LINKS[i];
        double best[2];
        measure(LINKS[i], best);
        printf("%8d %14.3f %12.4f %14.3f\n", LINKS[i], 1e6 * best[0], 1e6 * best[0] / n,
               1e6 * best[1]);
        count += 1.0;
        n1 += n;
        n2 += n * n;
        t1 += best[0];
        t2 += best[0] * best[0];
        nt += n * best[0];
    }
    const double covariance = nt - n1 * t1 / count, slope = covariance / (n2 - n1 * n1 / count);
    printf("residual: %.4f us a link, r^2 = %.6f\n", 1e6 * slope,
           covariance * covariance / ((n2 - n1 * n1 / count) * (t2 - t1 * t1 / count)));
    printf("%8s %14s %14s %14s\n", "contacts", "matrix, us", "sweeps, us", "us a contact^2");
    for (int points = 5; points <= MOST_POINTS; points *= 2) {
        measure_response(points);
    }
    return 0;
}
