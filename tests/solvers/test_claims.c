// What the judge says of an answer, against velocities and residuals computed with 90 digits.
//
// The oracle solves M v = f + H r by elimination in MPFR (symmetric, positive definite: no pivots),
// has u = H' v + w, or u = W r + b, and f of these digits by its spectral values.
#include <mpfr.h>
#include <stdlib.h>

#include "problems/matrix/mass.h"
#include "problems/tangle/locals.h"
#include "base/random.h"
#include "tests/support/make_problem.h"
#include "tests/support/solving.h"
#include "tests/support/support.h"

#define BITS 300

typedef struct numbers {
    size_t count;
    mpfr_t *x;
} numbers;

static numbers numbers_new(size_t count)
{
    numbers n = {count, malloc((count + 1) * sizeof *n.x)};
    CHECK(n.x != NULL);
    for (size_t k = 0; k < count; k++) {
        mpfr_init2(n.x[k], BITS);
        mpfr_set_zero(n.x[k], 1);
    }
    return n;
}

static void numbers_free(numbers *n)
{
    for (size_t k = 0; k < n->count; k++) {
        mpfr_clear(n->x[k]);
    }
    free(n->x);
}

// y += A x for doubles x.
static void add_product(const ss_sparse *A, const double *x, numbers *y)
{
    mpfr_t t;
    mpfr_init2(t, BITS);
    for (int j = 0; j < A->ncols; j++) {
        for (int k = A->start[j]; k < A->start[j + 1]; k++) {
            mpfr_set_d(t, A->x[k], MPFR_RNDN);
            mpfr_mul_d(t, t, x[j], MPFR_RNDN);
            mpfr_add(y->x[A->row[k]], y->x[A->row[k]], t, MPFR_RNDN);
        }
    }
    mpfr_clear(t);
}

// v <- M^-1 v.
static void solve(const ss_sparse *M, numbers *v)
{
    const size_t n = (size_t)M->ncols;
    numbers A = numbers_new(n * n);
    mpfr_t factor, t;
    mpfr_inits2(BITS, factor, t, (mpfr_ptr)NULL);
    for (size_t j = 0; j < n; j++) {
        for (int k = M->start[j]; k < M->start[j + 1]; k++) {
            mpfr_set_d(A.x[(size_t)M->row[k] * n + j], M->x[k], MPFR_RNDN);
        }
    }
    for (size_t p = 0; p < n; p++) {
        for (size_t i = p + 1; i < n; i++) {
            if (mpfr_zero_p(A.x[i * n + p])) {
                continue;
            }
            mpfr_div(factor, A.x[i * n + p], A.x[p * n + p], MPFR_RNDN);
            for (size_t j = p; j < n; j++) {
                if (mpfr_zero_p(A.x[p * n + j])) {
                    continue;
                }
                mpfr_mul(t, factor, A.x[p * n + j], MPFR_RNDN);
                mpfr_sub(A.x[i * n + j], A.x[i * n + j], t, MPFR_RNDN);
            }
            mpfr_mul(t, factor, v->x[p], MPFR_RNDN);
            mpfr_sub(v->x[i], v->x[i], t, MPFR_RNDN);
        }
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t j = i + 1; j < n; j++) {
            mpfr_mul(t, A.x[i * n + j], v->x[j], MPFR_RNDN);
            mpfr_sub(v->x[i], v->x[i], t, MPFR_RNDN);
        }
        mpfr_div(v->x[i], v->x[i], A.x[i * n + i], MPFR_RNDN);
    }
    mpfr_clears(factor, t, (mpfr_ptr)NULL);
    numbers_free(&A);
}

// u of r in 90 digits.
static numbers exact_velocities(const ss_problem *p, const double *r)
{
    const bool global = p->form == SS_GLOBAL;
    const size_t n = global ? (size_t)p->ndofs : components(p);
    numbers v = numbers_new(n);
    for (size_t j = 0; j < n; j++) {
        mpfr_set_d(v.x[j], global ? p->f[j] : p->b[j], MPFR_RNDN);
    }
    add_product(global ? &p->H : &p->W, r, &v);
    if (!global) {
        return v;
    }
    solve(&p->M, &v);
    numbers u = numbers_new(components(p));
    mpfr_t t;
    mpfr_init2(t, BITS);
    for (size_t c = 0; c < components(p); c++) {
        mpfr_set_d(u.x[c], p->w[c], MPFR_RNDN);
        for (int k = p->H.start[c]; k < p->H.start[c + 1]; k++) {
            mpfr_mul_d(t, v.x[p->H.row[k]], p->H.x[k], MPFR_RNDN);
            mpfr_add(u.x[c], u.x[c], t, MPFR_RNDN);
        }
    }
    mpfr_clear(t);
    numbers_free(&v);
    return u;
}

// ---- f with 90 digits

enum { UN, U1, U2, XN, X1, X2, YN, Y1, Y2, SQUARES, A1, A2, A, T, L1, L2, NUMBERS };

static double largest_part(mpfr_t *x)
{
    const double N = fabs(mpfr_get_d(x[0], MPFR_RNDN)), T1 = fabs(mpfr_get_d(x[1], MPFR_RNDN));
    return fmax(fmax(N, T1), fabs(mpfr_get_d(x[2], MPFR_RNDN)));
}

// |FB(s r_N, u_N)|
static double exact_normal(mpfr_t *k, double s, const double r[3])
{
    mpfr_set_d(k[A], s, MPFR_RNDN);
    mpfr_mul_d(k[A], k[A], r[0], MPFR_RNDN);
    mpfr_hypot(k[T], k[A], k[UN], MPFR_RNDN);
    mpfr_add(k[A], k[A], k[UN], MPFR_RNDN);
    mpfr_sub(k[A], k[A], k[T], MPFR_RNDN);
    return fabs(mpfr_get_d(k[A], MPFR_RNDN));
}

// z = x o x + y o y by its spectral values, f = x + y - z^(1/2); into x.
static void subtract_root(mpfr_t *k)
{
    mpfr_set_zero(k[SQUARES], 1);
    for (int c = 0; c < 6; c++) {
        mpfr_fma(k[SQUARES], k[XN + c], k[XN + c], k[SQUARES], MPFR_RNDN);
    }
    for (int c = 0; c < 2; c++) {
        mpfr_mul(k[A1 + c], k[XN], k[X1 + c], MPFR_RNDN);
        mpfr_fma(k[A1 + c], k[YN], k[Y1 + c], k[A1 + c], MPFR_RNDN);
    }
    mpfr_hypot(k[A], k[A1], k[A2], MPFR_RNDN);
    mpfr_mul_2ui(k[T], k[A], 1, MPFR_RNDN);
    mpfr_sub(k[L1], k[SQUARES], k[T], MPFR_RNDN);
    mpfr_add(k[L2], k[SQUARES], k[T], MPFR_RNDN);
    mpfr_sqrt(k[L1], k[L1], MPFR_RNDN);
    mpfr_sqrt(k[L2], k[L2], MPFR_RNDN);
    mpfr_add(k[T], k[L1], k[L2], MPFR_RNDN); // 2 q_N
    for (int c = 0; c < 3; c++) {
        mpfr_add(k[XN + c], k[XN + c], k[YN + c], MPFR_RNDN);
    }
    for (int c = 0; c < 2 && !mpfr_zero_p(k[A]); c++) {
        mpfr_sub(k[SQUARES], k[L2], k[L1], MPFR_RNDN);
        mpfr_mul(k[A1 + c], k[A1 + c], k[SQUARES], MPFR_RNDN);
        mpfr_div(k[A1 + c], k[A1 + c], k[A], MPFR_RNDN);
        mpfr_div_2ui(k[A1 + c], k[A1 + c], 1, MPFR_RNDN);
        mpfr_sub(k[X1 + c], k[X1 + c], k[A1 + c], MPFR_RNDN);
    }
    mpfr_div_2ui(k[T], k[T], 1, MPFR_RNDN);
    mpfr_sub(k[XN], k[XN], k[T], MPFR_RNDN);
}

// |f(r^, u^)|_inf, u in k.
static double exact_residual(mpfr_t *k, double mu, double s, const double r[3])
{
    if (mu == 0.0) {
        return fmax(exact_normal(k, s, r), s * hypot(r[1], r[2]));
    }
    for (int c = 0; c < 3; c++) {
        mpfr_set_d(k[XN + c], s, MPFR_RNDN);
        mpfr_mul_d(k[XN + c], k[XN + c], r[c], MPFR_RNDN);
        mpfr_mul_d(k[YN + c], k[UN + c], mu, MPFR_RNDN);
    }
    mpfr_mul_d(k[XN], k[XN], mu, MPFR_RNDN);
    mpfr_hypot(k[YN], k[Y1], k[Y2], MPFR_RNDN);
    mpfr_add(k[YN], k[YN], k[UN], MPFR_RNDN);
    subtract_root(k);
    return largest_part(&k[XN]);
}

// fb and normal of r; the scale s is the judge's.
static ss_measures exact_measures(const ss_problem *p, double s, const double *r)
{
    double *zero = calloc(components(p), sizeof *zero);
    CHECK(zero != NULL);
    numbers u = exact_velocities(p, r), b = exact_velocities(p, zero), k = numbers_new(NUMBERS);
    double V = 0.0;
    ss_measures m = {0};
    for (int i = 0; i < p->ncontacts; i++) {
        double square = 0.0, ri[3] = {0.0};
        mpfr_set_zero(k.x[U2], 1);
        for (int c = 0; c < p->dim; c++) {
            const double bc = mpfr_get_d(b.x[p->dim * i + c], MPFR_RNDN);
            square += bc * bc;
            ri[c] = r[p->dim * i + c];
            mpfr_set(k.x[UN + c], u.x[p->dim * i + c], MPFR_RNDN);
        }
        V = fmax(V, sqrt(square));
        m.fb = fmax(m.fb, exact_residual(k.x, p->mu[i], s, ri));
        m.normal = fmax(m.normal, exact_normal(k.x, s, ri));
    }
    m.velocity_scale = V > 0.0 ? V : 1.0;
    m.fb /= m.velocity_scale;
    m.normal /= m.velocity_scale;
    numbers_free(&u);
    numbers_free(&b);
    numbers_free(&k);
    free(zero);
    return m;
}

// ---- Claims

static void a_claim_that_the_factor_of_M_hid_is_refused(void)
{
    ss_tangle_settings settings = ss_tangle_defaults();
    settings.ncontacts = 2;
    settings.mu = 1000.0;
    settings.seed = 940876491;
    settings.condition = 1e8;
    settings.ground_share = 0.5;
    settings.light[0] = 1.0;
    settings.light[1] = 10.0;
    ss_problem *p = tangle_of(&settings);
    solved answer = run(p, "ppa:sweeps=0", 1e-8, 10000);
    CHECK_LE(answer.result.own_error, 1e-8); // the solver believes it
    CHECK_NEAR(answer.facts.fb, 1.39e-7, 1e-9);
    CHECK_NEAR(answer.facts.fb, exact_measures(p, answer.facts.compliance_scale, answer.r).fb,
               1e-3 * answer.facts.fb);
    free_solved(&answer);
    ss_problem_free(p);
}

// ---- Problems of every generator

static double any_friction(ss_random *rng)
{
    return ss_random_uniform(rng) < 0.1 ? 0.0 : ss_random_log_between(rng, 1e-9, 1e4);
}

// M of one body becomes softer in its softest direction v, by the factor: M - c v v' has the
// inverse M^-1 + (factor - 1) / (v'M^-1 v) (M^-1 v)(M^-1 v)' for c = (1 - 1/factor) / (v'M^-1 v).
static void soften(ss_problem *p, int body, double factor)
{
    ss_error error;
    ss_mass *mass;
    CHECK_OK(ss_mass_new(p, &mass, &error));
    const size_t n = (size_t)p->ndofs;
    double *v = calloc(n, sizeof *v), *x = malloc(n * sizeof *x), *scratch = malloc(n * sizeof *x);
    for (int k = 0; k < ss_mass_size(mass, body); k++) {
        v[ss_mass_dofs(mass, body)[k]] = 1.0 / (k + 1);
    }
    double product = 0.0;
    for (int pass = 0; pass < 20; pass++) {
        memcpy(x, v, n * sizeof *x);
        ss_mass_solve(mass, x, scratch);
        double square = 0.0;
        product = 0.0;
        for (size_t j = 0; j < n; j++) {
            square += x[j] * x[j];
            product += x[j] * v[j];
        }
        for (size_t j = 0; j < n && pass < 19; j++) {
            v[j] = x[j] / sqrt(square);
        }
    }
    for (int j = 0; j < p->M.ncols; j++) {
        for (int k = p->M.start[j]; k < p->M.start[j + 1]; k++) {
            p->M.x[k] -= (1.0 - 1.0 / factor) / product * (v[j] * v[p->M.row[k]]);
        }
    }
    ss_mass_free(mass);
    free(v);
    free(x);
    free(scratch);
}

static ss_problem *any_tangle(ss_random *rng)
{
    ss_tangle_settings settings = ss_tangle_defaults();
    settings.dim = ss_random_uniform(rng) < 0.2 ? 2 : 3;
    settings.ncontacts = 2 + ss_random_below(rng, 12);
    settings.ends_per_rod = ss_random_uniform(rng) < 0.5 ? 25 : 4;
    settings.mu = any_friction(rng);
    settings.condition = ss_random_log_between(rng, 1e2, 1e8);
    settings.ground_share = ss_random_uniform(rng) < 0.5 ? 0.0 : 0.5;
    settings.hyperstatic = ss_random_uniform(rng) < 0.2;
    settings.light[0] = ss_random_uniform(rng) < 0.3 ? 0.5 : 0.0;
    settings.light[1] = settings.light[0] > 0.0 ? 1e3 : 1.0;
    settings.unsymmetry = ss_random_uniform(rng) < 0.2 ? 0.1 : 0.0;
    settings.seed = (uint64_t)(ss_random_uniform(rng) * 1e9);
    ss_problem *p = tangle_of(&settings);
    if (p->form == SS_GLOBAL && ss_random_uniform(rng) < 0.4) {
        soften(p, 0, (ss_random_uniform(rng) < 0.5 ? 1e10 : 1e12) / settings.condition);
    }
    return p;
}

static ss_problem *any_tower(ss_random *rng)
{
    ss_tangle_settings settings = ss_tangle_defaults();
    settings.dim = ss_random_uniform(rng) < 0.2 ? 2 : 3;
    settings.ncontacts = 4 + ss_random_below(rng, 12);
    settings.ends_per_rod = 8;
    settings.mu = any_friction(rng);
    settings.tower = ss_random_log_between(rng, 1.0, 1e4);
    settings.seed = (uint64_t)(ss_random_uniform(rng) * 1e9);
    return tangle_of(&settings);
}

static ss_problem *any_contact(ss_random *rng)
{
    const ss_local_kind kind = (ss_local_kind)ss_random_below(rng, SS_LOCAL_KINDS);
    const int dim = ss_random_uniform(rng) < 0.2 ? 2 : 3;
    const double condition = ss_random_log_between(rng, 10.0, 1e10);
    ss_local_answer ignored;
    const ss_local p = ss_local_draw(rng, kind, dim, condition, 1e-9, 1e4, &ignored);
    double W[9];
    for (int k = 0; k < dim * dim; k++) {
        W[k] = p.W[3 * (k / dim) + k % dim];
    }
    return one_contact(dim, W, p.b, p.mu);
}

static ss_problem *any_bodies(ss_random *rng)
{
    const uint64_t seed = (uint64_t)(ss_random_uniform(rng) * 1e9);
    ss_problem *p = random_problem(seed, 2 + ss_random_below(rng, 2), 2 + ss_random_below(rng, 8),
                                   1 + ss_random_below(rng, 6), 8);
    for (int i = 0; i < p->ncontacts; i++) {
        p->mu[i] = any_friction(rng);
    }
    return p;
}

// Impulses of up to 1e14 times |b| open the contacts of such a problem.
static ss_problem *any_squeeze(ss_random *rng)
{
    const double any = ss_random_log_between(rng, 1e-14, 1e-2);
    const double gap = ss_random_uniform(rng) < 0.5 ? ldexp(1.0, (int)log2(any)) : any;
    const double b0 = ss_random_uniform(rng) < 0.5 ? -1.0 : -ss_random_between(rng, 0.5, 2.0);
    const int dim = 2 + ss_random_below(rng, 2);
    ss_problem *p = squeeze(dim, gap, b0, -1.0);
    for (int i = 0; i < 2; i++) {
        p->b[dim * i + 1] = ss_random_uniform(rng) < 0.5 ? 0.0 : ss_random_normal(rng);
        p->mu[i] = any_friction(rng);
    }
    return p;
}

static ss_problem *any_problem(ss_random *rng)
{
    const double x = ss_random_uniform(rng);
    return x < 0.1   ? any_squeeze(rng)
           : x < 0.5 ? any_tangle(rng)
           : x < 0.7 ? any_tower(rng)
           : x < 0.8 ? any_bodies(rng)
                     : any_contact(rng);
}

static long asked_for(const char *variable, long otherwise)
{
    const char *asked = getenv(variable);
    return asked != NULL ? atol(asked) : otherwise;
}

// The judge finds the residuals of 90 digits to a thousandth of the error for rods with cond(M) =
// 1e10: long double alone was wrong by some percent in one of some hundred answers.
static void rods_of_condition_1e10_are_judged_with_all_digits(void)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        ss_tangle_settings settings = ss_tangle_defaults();
        settings.ncontacts = 6;
        settings.ends_per_rod = 4;
        settings.mu = 1e3;
        settings.condition = 1e8;
        settings.ground_share = 0.5;
        settings.light[0] = 0.5;
        settings.light[1] = 1e3;
        settings.seed = seed;
        ss_problem *p = tangle_of(&settings);
        soften(p, 0, 100.0);
        solved answer = run(p, "ppa", 1e-10, 300);
        const ss_measures exact = exact_measures(p, answer.facts.compliance_scale, answer.r);
        const double slack = 1e-3 * ss_measures_error(&exact);
        CHECK_NEAR(answer.facts.fb, exact.fb, slack);
        CHECK_NEAR(answer.facts.normal, exact.normal, slack);
        free_solved(&answer);
        ss_problem_free(p);
    }
}

static void print_wrong(const ss_problem *p, const char *spec, double tolerance,
                        const ss_measures *judged, const ss_measures *exact)
{
    printf("%s: %s to %g: fb %.6g and normal %.6g, with 90 digits %.6g and %.6g\n",
           p->title != NULL ? p->title : "a problem of bodies or one contact", spec, tolerance,
           judged->fb, judged->normal, exact->fb, exact->normal);
}

// Returns max |r| over V/s.
static double largest_impulse(const ss_problem *p, const solved *a)
{
    double largest = 0.0;
    for (size_t c = 0; c < components(p); c++) {
        largest = fmax(largest, fabs(a->r[c]));
    }
    return largest * a->facts.compliance_scale / a->facts.velocity_scale;
}

// True if the judge finds the measures of 90 digits to a thousandth of the error. It may find more
// by what is unknown of u times the friction, and where impulses are too large for any answer.
static bool agree(const ss_problem *p, const solved *a, const ss_measures *exact)
{
    const double slack = 1e-3 * ss_measures_error(exact) + 1e-30;
    double friction = 1.0;
    for (int i = 0; i < p->ncontacts; i++) {
        friction = fmax(friction, p->mu[i]);
    }
    const double above =
        largest_impulse(p, a) > SS_IMPULSE_MOST ? INFINITY : slack + 1e-17 * friction;
    const double fb = a->facts.fb - exact->fb, normal = a->facts.normal - exact->normal;
    return fb >= -slack && normal >= -slack && fb <= above && normal <= above;
}

// No claim is wrong and none is missed: the judge finds what 90 digits find. STICKSLIP_CLAIMS=N
// asks for more problems, STICKSLIP_CLAIMS_SEED=S for others (scripts/attack).
static void the_judge_agrees_with_90_digits(void)
{
    static const char *const specs[] = {"ppa:sweeps=0", "ppa", "mfb+enum", "secular", "apgd", NULL};
    static const double tolerances[] = {1e-4, 1e-6, 1e-8, 1e-10, 1e-12};
    const int asked = (int)asked_for("STICKSLIP_CLAIMS", 60);
    int claims = 0, wrong = 0, apart = 0;
    ss_random rng = ss_random_seeded((uint64_t)asked_for("STICKSLIP_CLAIMS_SEED", 14));
    for (int k = 0; k < asked; k++) {
        ss_problem *p = any_problem(&rng);
        for (int s = 0; specs[s] != NULL; s++) {
            const double tolerance = tolerances[(k + s) % 5];
            solved answer = run(p, specs[s], tolerance, 300);
            const ss_measures exact = exact_measures(p, answer.facts.compliance_scale, answer.r);
            const bool claimed = ss_measures_pass(&answer.facts, tolerance);
            const bool lies = claimed && !ss_measures_pass(&exact, 1.001 * tolerance);
            const bool differs = !agree(p, &answer, &exact);
            claims += claimed;
            wrong += lies;
            apart += differs;
            if (lies || differs) {
                print_wrong(p, specs[s], tolerance, &answer.facts, &exact);
            }
            free_solved(&answer);
        }
        ss_problem_free(p);
    }
    printf("%d claims of %d problems, %d wrong, %d measures apart\n", claims, asked, wrong, apart);
    CHECK(claims > asked);
    TEST_ASSERT_EQUAL_INT(0, wrong);
    TEST_ASSERT_EQUAL_INT(0, apart);
}

static void run_tests(void)
{
    RUN_TEST(a_claim_that_the_factor_of_M_hid_is_refused);
    RUN_TEST(rods_of_condition_1e10_are_judged_with_all_digits);
    RUN_TEST(the_judge_agrees_with_90_digits);
}

const test_group claims_tests = {.run = run_tests};
