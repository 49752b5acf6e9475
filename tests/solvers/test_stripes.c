// Stripes: who may be visited at the same time, and that the number of threads changes no bit.
#include "problems/matrix/mass.h"
#include "solvers/sweep/order.h"
#include "tests/support/make_problem.h"
#include "tests/support/solving.h"

static ss_error error;

static void set_up(void)
{
    error = (ss_error){0};
}

// Meetings of contacts and places, by brute force: meets[i nplaces + k] where contact i touches
// body k, or, in local form, where W_ik or W_ki has an entry.
static bool *find_meetings(const ss_problem *p, int *nplaces)
{
    ss_bodies bodies = {0};
    const bool global = p->form == SS_GLOBAL;
    const ss_sparse *A = global ? &p->H : &p->W;
    if (global) {
        CHECK_OK(ss_bodies_find(p, &bodies, &error));
    }
    const int places = *nplaces = global ? bodies.nbodies : p->ncontacts;
    bool *meets = calloc((size_t)p->ncontacts * (size_t)places, sizeof *meets);
    for (int c = 0; c < A->ncols; c++) {
        for (int k = A->start[c]; k < A->start[c + 1]; k++) {
            const int i = c / p->dim;
            const int place = global ? bodies.body_of[A->row[k]] : A->row[k] / p->dim;
            meets[i * places + place] = true;
            if (!global) {
                meets[place * places + i] = true;
                meets[i * places + i] = meets[place * places + place] = true;
            }
        }
    }
    ss_bodies_free(&bodies);
    return meets;
}

// In global form two contacts may not touch the same body; in local form they may not be coupled.
static bool clash(const ss_problem *p, const bool *meets, int nplaces, int i, int j)
{
    if (p->form == SS_LOCAL) {
        return meets[i * nplaces + j];
    }
    for (int k = 0; k < nplaces; k++) {
        if (meets[i * nplaces + k] && meets[j * nplaces + k]) {
            return true;
        }
    }
    return false;
}

static void check_every_contact_once(const ss_problem *p, const ss_ordered *o)
{
    const ss_stripes *s = &o->stripes;
    int *seen = calloc((size_t)p->ncontacts, sizeof *seen);
    CHECK(s->count >= 1 && s->start[0] == 0 && s->start[s->count] == p->ncontacts);
    CHECK(s->neven == (s->count + 1) / 2);
    for (int g = 0; g < s->count; g++) {
        CHECK(s->start[g] < s->start[g + 1]);
    }
    for (int k = 0; k < p->ncontacts; k++) {
        seen[o->order[k]]++;
    }
    for (int i = 0; i < p->ncontacts; i++) {
        CHECK(seen[i] == 1);
    }
    free(seen);
}

// Returns the number of stripes.
static int check_stripes(const ss_problem *p)
{
    ss_ordered o;
    CHECK_OK(ss_ordered_new(p, SS_STRIPED, 0, &o, &error));
    check_every_contact_once(p, &o);
    const ss_stripes s = o.stripes;
    int nplaces;
    bool *meets = find_meetings(p, &nplaces);
    for (int g = 0; g < s.count; g++) {
        const int last = g < s.neven ? s.neven : s.count;
        for (int h = g + 1; h < last; h++) {
            for (int k = s.start[g]; k < s.start[g + 1]; k++) {
                for (int l = s.start[h]; l < s.start[h + 1]; l++) {
                    CHECK(!clash(p, meets, nplaces, o.order[k], o.order[l]));
                }
            }
        }
    }
    free(meets);
    const int count = s.count;
    ss_ordered_free(&o);
    return count;
}

static void stripes_of_a_phase_share_no_body(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        ss_problem *p = tangle(dim, 600, 2), *local;
        CHECK(check_stripes(p) > 4);
        CHECK_OK(ss_problem_to_local(p, &local, &error));
        CHECK(check_stripes(local) >= 2);
        ss_problem_free(local);
        ss_problem_free(p);
        for (uint64_t seed = 1; seed <= 12; seed++) { // few bodies, which nearly all meet
            p = random_problem(seed, dim, 40, 3 + 3 * (int)seed, 4);
            check_stripes(p);
            CHECK_OK(ss_problem_to_local(p, &local, &error));
            check_stripes(local);
            ss_problem_free(local);
            ss_problem_free(p);
        }
    }
}

// n contacts, each coupled to nobody, or chained to the next by an entry on one side only.
static ss_problem *chain(int n, int step)
{
    ss_problem *p = ss_problem_new();
    int *row = malloc((size_t)(4 * n) * sizeof *row), *col = malloc((size_t)(4 * n) * sizeof *col);
    double *x = malloc((size_t)(4 * n) * sizeof *x);
    int count = 0;
    p->form = SS_LOCAL;
    p->dim = 2;
    p->ncontacts = n;
    p->mu = calloc((size_t)n, sizeof *p->mu);
    p->b = calloc((size_t)(2 * n), sizeof *p->b);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 2; k++) {
            row[count] = col[count] = 2 * i + k;
            x[count++] = 1.0;
        }
        if (step > 0 && i % step != step - 1 && i + 1 < n) {
            row[count] = 2 * i;
            col[count] = 2 * i + 3;
            x[count++] = 0.25;
        }
    }
    CHECK_OK(ss_sparse_from_triplets(&p->W, 2 * n, 2 * n, count, row, col, x, &error));
    free(row);
    free(col);
    free(x);
    return p;
}

static void parts_that_do_not_touch_are_spread_over_the_stripes(void)
{
    const int steps[] = {0, 2, 7, 1000000};
    for (int k = 0; k < 4; k++) {
        ss_problem *p = chain(200, steps[k]);
        CHECK(check_stripes(p) > 20);
        ss_problem_free(p);
    }
}

static void one_contact_is_one_stripe(void)
{
    ss_problem *p = chain(1, 0);
    CHECK(check_stripes(p) == 1);
    ss_problem_free(p);
}

// All contacts on one body: one stripe, so that the threads wait rather than clash.
static void contacts_of_one_body_share_a_stripe(void)
{
    ss_problem *p = random_problem(3, 3, 30, 1, 6);
    CHECK(check_stripes(p) <= 2);
    ss_problem_free(p);
}

// Sweep by sweep: the answer after `sweeps` of them.
static solved threaded(const ss_problem *p, const char *spec, int threads, int sweeps)
{
    const ss_task task = {.problem = p,
                          .tolerance = 1e-12,
                          .max_iterations = sweeps,
                          .clock = SS_CLOCK_WALL,
                          .threads = threads};
    return run_task(spec, task, NULL);
}

static void check_same_run(const ss_problem *p, const solved *a, const solved *b)
{
    CHECK(memcmp(a->r, b->r, components(p) * sizeof *a->r) == 0);
    CHECK(a->result.local_solves == b->result.local_solves);
    CHECK(a->result.frozen == b->result.frozen);
    CHECK(a->result.failsafe_calls == b->result.failsafe_calls);
    CHECK(a->result.failures == b->result.failures);
    CHECK(a->result.own_error == b->result.own_error);
}

static void check_threads(const ss_problem *p, const char *spec)
{
    solved one = threaded(p, spec, 1, 25);
    for (int threads = 2; threads <= 5; threads++) {
        solved more = threaded(p, spec, threads, 25);
        check_same_run(p, &one, &more);
        free_solved(&more);
    }
    free_solved(&one);
}

static void the_number_of_threads_changes_no_bit(void)
{
    static const char *const specs[] = {"mfb+enum",
                                        "mfb+enum:form=explicit",
                                        "secular:form=matrix-free,freeze=on",
                                        "secular:form=explicit,freeze=on,wake=neighbour",
                                        "secular:form=matrix-free,freeze=on,wake=neighbour",
                                        "4sides:step=1e-6"};
    ss_problem *p = tangle(3, 3000, 1), *plane = tangle(2, 1000, 2), *local;
    for (size_t k = 0; k < sizeof specs / sizeof specs[0]; k++) {
        check_threads(p, specs[k]);
        check_threads(plane, specs[k]);
    }
    CHECK_OK(ss_problem_to_local(plane, &local, &error));
    check_threads(local, "secular:freeze=on,wake=neighbour");
    ss_problem_free(local);
    ss_problem_free(plane);
    ss_problem_free(p);
}

// order=stripes without threads is the same visits; a given order is kept with threads.
static void threads_take_the_order_of_stripes_where_none_is_asked_for(void)
{
    ss_problem *p = tangle(3, 500, 1);
    solved a = threaded(p, "secular:order=stripes", 0, 10), b = threaded(p, "secular", 2, 10);
    check_same_run(p, &a, &b);
    solved c = threaded(p, "secular", 0, 10);
    CHECK(memcmp(a.r, c.r, components(p) * sizeof *a.r) != 0);
    solved d = threaded(p, "secular:order=reverse", 2, 10);
    solved e = threaded(p, "secular:order=reverse", 0, 10);
    check_same_run(p, &d, &e);
    free_solved(&a);
    free_solved(&b);
    free_solved(&c);
    free_solved(&d);
    free_solved(&e);
    ss_problem_free(p);
}

// Whoever sweeps in stripes gives the answer as the problem numbers its contacts.
static void answers_come_in_the_order_of_the_problem(void)
{
    static const char *const specs[] = {"mfb+enum",     "ppa",          "ppa:sweeps=0", "prox/mfb",
                                        "anderson/mfb", "nncg/secular", "auto"};
    ss_problem *p = tangle(3, 100, 5);
    for (size_t k = 0; k < sizeof specs / sizeof specs[0]; k++) {
        solved one = threaded(p, specs[k], 1, 40), two = threaded(p, specs[k], 2, 40);
        CHECK_NEAR(one.result.own_error, ss_measures_error(&one.facts), 1e-9);
        check_same_run(p, &one, &two);
        free_solved(&one);
        free_solved(&two);
    }
    ss_problem_free(p);
}

static void run_tests(void)
{
    RUN_TEST(stripes_of_a_phase_share_no_body);
    RUN_TEST(parts_that_do_not_touch_are_spread_over_the_stripes);
    RUN_TEST(one_contact_is_one_stripe);
    RUN_TEST(contacts_of_one_body_share_a_stripe);
    RUN_TEST(the_number_of_threads_changes_no_bit);
    RUN_TEST(threads_take_the_order_of_stripes_where_none_is_asked_for);
    RUN_TEST(answers_come_in_the_order_of_the_problem);
}

const test_group stripes_tests = {.run = run_tests, .set_up = set_up};
