// Scenes in files that others wrote: what is read, and a sentence for every mistake.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strands/world.h"
#include "tests/support/built_scene.h"
#include "tests/support/program.h"
#include "tests/support/support.h"

#define MATERIAL                                                                                   \
    "\"hair\": {\"E\": 3.9e9, \"nu\": 0.48, \"rho\": 1320, \"a1\": 6e-5, \"a2\": 4e-5, "           \
    "\"viscosity\": 3.9e7, \"stretch\": 0.5}"
static const char *const SCENE =
    "{\"title\": \"one\", \"gravity\": [0, 0, -9.81], \"drag\": 1e-5, \"mu\": 0.2, \"radius\": "
    "1e-3,"
    " \"dt\": 0.001, \"steps\": 4, \"model\": \"der\", \"scheme\": \"newton\",\n"
    " \"materials\": {" MATERIAL "},\n"
    " \"bodies\": [{\"name\": \"hand\", \"motion\": [{\"time\": 0, \"position\": [0, 0, 0],"
    " \"rotation\": [1, 0, 0, 0]}, {\"time\": 1, \"position\": [0, 0, 1]}]}],\n"
    " \"obstacles\": [{\"kind\": \"sphere\", \"position\": [0, 0, 9], \"radius\": 0.1},"
    " {\"kind\": \"ellipsoid\", \"position\": [0, 0, 9], \"semi_axes\": [0.1, 0.2, 0.3], \"mu\": "
    "0.7},"
    " {\"kind\": \"plane\", \"position\": [0, 0, -9], \"normal\": [0, 0, 2], \"body\": \"hand\"},"
    " {\"kind\": \"cylinder\", \"position\": [0, 0, 9], \"axis\": [3, 0, 0], \"radius\": 0.1,"
    " \"length\": 0.4}, {\"kind\": \"capsule\", \"position\": [0, 0, 9], \"rotation\": [0, 1, 0, "
    "0],"
    " \"radius\": 0.1, \"length\": 0.4}],\n"
    " \"winds\": [{\"kind\": \"steady\", \"velocity\": [1, 2, 3], \"gust\": 0.5, \"start\": 0.1, "
    "\"rise\": 0.2},"
    " {\"kind\": \"wake\", \"body\": \"hand\", \"position\": [0, 0, 1], \"length\": 0.3, "
    "\"strength\": 0.7},"
    " {\"kind\": \"turbulence\", \"velocity\": [1, 1, 1], \"drift\": [0, 1, 0], \"size\": 0.2, "
    "\"period\": 0.4, \"seed\": 9, \"along\": 0.1, \"across\": 0.8, \"root\": 0.3, \"tip\": "
    "1.2}],\n"
    " \"strands\": [{\"material\": \"hair\", \"vertices\": [[0, 0, 0], [0.01, 0, 0], [0.02, 0, 0],"
    " [0.03, 0, 0]], \"rest\": [[0, 0, 0], [0.01, 0, 0], [0.02, 0.001, 0], [0.03, 0.003, 0]],"
    " \"theta\": [0, 0, 0.5], \"rest_theta\": [0, 0.1, 0], \"director\": [0, 0, 1],"
    " \"velocity\": [[0, 0, 0], [0, 0, 0], [0, 0, 1], [0, 0, 2]], \"clamp\": \"both\","
    " \"body\": \"hand\"}]}\n";

static void a_file_has_what_it_says(void)
{
    built b;
    CHECK_OK(build_file(put_scratch("one.json", SCENE), NULL, &b));
    const ss_world *w = b.world;
    const ss_strand_design *d = w->strands[0].design;
    CHECK(w->gravity.z == -9.81 && w->drag == 1e-5 && w->mu == 0.2 && w->radius == 1e-3);
    CHECK(b.options.dt == 0.001 && w->nbodies == 2 && w->nobstacles == 5 && w->nstrands == 1);
    CHECK_NEAR(d->material.radius, sqrt(24e-10), 1e-18);
    CHECK_NEAR(d->material.ellipticity, 1.5, 1e-15);
    CHECK_NEAR(d->material.relaxation, 0.01, 1e-17);
    CHECK(d->material.stretch == 0.5 && d->clamp == SS_CLAMP_BOTH && w->strands[0].body == 1);
    CHECK(d->vertices[3].x == 0.03 && d->rest[3].y == 0.003 && d->theta[2] == 0.5);
    CHECK(d->rest_theta[1] == 0.1 && d->director.z == 1.0 && d->velocity[3].z == 2.0);
    CHECK(w->obstacles[0].mu == 0.2 && w->obstacles[1].mu == 0.7 && w->obstacles[2].body == 1);
    CHECK(w->obstacles[2].pose.turn.c[2].z == 1.0 && w->obstacles[3].pose.turn.c[2].x == 1.0);
    CHECK(w->obstacles[3].size.z == 0.2 && w->obstacles[4].pose.turn.c[2].z == -1.0);
    ss_motion_state at;
    ss_motion_at(&w->bodies[1], 0.5, &at);
    CHECK_NEAR(at.pose.place.z, 0.5, 1e-15);
    CHECK_NEAR(at.velocity.z, 1.875, 1e-15); // eased
    ss_world_free(b.world);
}

static const char *changed(const char *from, const char *to);

static void what_a_key_leaves_out_is_that_of_the_key_before(void)
{
    built b;
    ss_motion_state at;
    CHECK_OK(build_file(
        put_scratch("keys.json", changed("{\"time\": 1, \"position\": [0, 0, 1]}",
                                         "{\"time\": 1, \"position\": [0, 0, 1], \"rotation\": "
                                         "[0.8, 0.6, 0, 0]}, {\"time\": 2, \"rotation\": "
                                         "[1, 0, 0, 0]}, {\"time\": 3, \"position\": [0, 1, 1]}")),
        NULL, &b));
    ss_motion_at(&b.world->bodies[1], 1.5, &at);
    CHECK_NEAR(at.pose.place.z, 1.0, 1e-15);
    ss_motion_at(&b.world->bodies[1], 3.0, &at);
    CHECK(at.pose.place.y == 1.0 && at.pose.place.z == 1.0 && at.pose.turn.c[1].y == 1.0);
    ss_world_free(b.world);
}

static void keys_of_a_file_are_read_as_they_were_written(void)
{
    built first, second;
    char path[400];
    snprintf(path, sizeof path, "%s", scratch_path("copy.json"));
    const char *text = changed("[1, 0, 0, 0]", "[0.1, 0.2, 0.3, 0.92736184954957]");
    CHECK_OK(build_file(put_scratch("one.json", text), NULL, &first));
    const ss_scene_run run = {
        .title = "one", .model = "der", .steps = 4, .options = &first.options};
    CHECK_OK(ss_scene_file_write(path, first.world, &run, &error));
    CHECK_OK(build_file(path, NULL, &second));
    check_same_world(&first, &second);
    ss_world_free(first.world);
    ss_world_free(second.world);
}

// The scene with `to` in place of `from`.
static const char *changed(const char *from, const char *to)
{
    static char text[8192];
    const char *at = strstr(SCENE, from);
    CHECK(at != NULL);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - SCENE), SCENE, to, at + strlen(from));
    return text;
}

static void a_byte_order_mark_is_passed_over(void)
{
    built a, b;
    char text[8200];
    const char *rest = "[[0, 0, 0], [0.01, 0, 0], [0.02, 0.001, 0], [0.03, 0.003, 0]]";
    put_scratch("rest.csv", "\xEF\xBB\xBF"
                            "0,0,0\n0.01,0,0\n0.02,0.001,0\n0.03,0.003,0\n");
    snprintf(text, sizeof text, "\xEF\xBB\xBF%s", changed(rest, "\"rest.csv\""));
    CHECK_OK(build_file(put_scratch("one.json", SCENE), NULL, &a));
    CHECK_OK(build_file(put_scratch("two.json", text), NULL, &b));
    check_same_world(&a, &b);
    ss_world_free(a.world);
    ss_world_free(b.world);
}

static void an_empty_file_is_told(void)
{
    built b;
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, build_file(put_scratch("none.json", ""), NULL, &b));
    HOLDS(error.text, "none.json: is an empty file");
    ss_world_free(b.world);
}

// `to` in place of `from`, and what is said of it.
static const struct {
    const char *from, *to, *sentence;
} MISTAKES[] = {
    {"\"drag\"", "\"drug\"", "one.json: there is no key 'drug'"},
    {"\"wake\"", "\"woke\"", "one.json: winds[1].kind: 'woke' is none of steady"},
    {"\"drag\": 1e-5", "\"drag\": 0", "one.json: winds[0]: wind 0 pushes nothing"},
    {"\"rise\": 0.2", "\"rise\": 0.2, \"along\": -1",
     "one.json: winds[0]: wind 0 has the weights -1 along"},
    {"\"kind\": \"wake\", \"body\": \"hand\"", "\"kind\": \"wake\"",
     "one.json: winds[1]: wind 1 is the wake of the world, which never moves"},
    {"\"rise\": 0.2", "\"rise\": -1", "one.json: winds[0].rise: must be 0 or more"},
    {"\"strength\": 0.7", "\"strength\": 0.7, \"mu\": 1", "winds[1]: there is no key 'mu'"},
    {"\"drag\": 1e-5", "\"drag\": -1", "one.json: drag: must be 0 or more, not -1"},
    {"\"mu\": 0.2", "\"mu\": \"0.2\"", "one.json: mu: must be a finite number, not \"0.2\""},
    {"\"mu\": 0.2", "\"mu\": NaN", "one.json: mu: must be a finite number, not \"NaN\""},
    {"\"dt\": 0.001", "\"dt\": 2", "one.json: dt: must be from 1e-09 to 1, not 2"},
    {"\"steps\": 4", "\"steps\": 4.5", "one.json: steps: must be a whole number"},
    {"\"model\": \"der\"", "\"model\": \"dur\"", "one.json: model: unknown strand model 'dur'"},
    {"\"newton\"", "\"newton:tol=x\"", "one.json: scheme: "},
    {"[0, 0, -9.81]", "[0, -9.81]", "one.json: gravity: must be an array of 3 numbers, not of 2"},
    {"{" MATERIAL, "{\"hair\": 7", "one.json: materials.hair: must be an object, not 7"},
    {"\"E\": 3.9e9", "\"E\": 0", "one.json: materials.hair.E: must be above 0, not 0"},
    {"\"stretch\": 0.5", "\"stretch\": -1", "one.json: materials.hair.stretch: must be above 0"},
    {"\"a1\": 6e-5, ", "\"a1\": 1e-300, ",
     "one.json: strands[0]: a strand of the radius 6.32456e-153 m has the mass per length"},
    {"\"E\": 3.9e9", "\"E\": 1e-300",
     "m has the twisting rigidity 2.82155e-318 N m^2, which must be from 1e-100 to 1e+100: check "
     "its units"},
    {"\"radius\": ", "\"radius\": 1e308, \"dt_min\": ",
     "one.json: radius: must be from -1e50 to 1e50, not 1e+308"},
    {"[0.02, 0, 0], [0.03, 0, 0]]", "[0.02, 0, 0], [1e160, 0, 0]]",
     "one.json: strands[0].vertices[3][0]: must be from -1e50 to 1e50, not 1e+160"},
    {"[0.02, 0, 0], [0.03, 0, 0]]", "[0.02, 0, 0], [1e30, 0, 0]]",
     "vertices[0] and [1] of a strand are 0.01 m apart, and its vertices 3.33333e+29 m on average"},
    {"\"nu\": 0.48", "\"nu\": 0.7", "one.json: materials.hair.nu: must be above -1"},
    {"\"rho\": 1320, ", "", "one.json: materials.hair: 'rho' is missing"},
    {"\"a1\": 6e-5, ", "", "one.json: materials.hair: the section is 'a', or 'a1' and 'a2'"},
    {"\"time\": 1", "\"time\": 0", "one.json: bodies[0].motion[1].time: must be later"},
    {"\"time\": 1", "\"time\": 0.001",
     "one.json: bodies[0]: the motion of a body jumps between its keys 0 and 1 (0 s and 0.001 "
     "s)"},
    {"\"motion\": [{\"time\": 0, \"position\": [0, 0, 0], \"rotation\": [1, 0, 0, 0]}, "
     "{\"time\": 1, \"position\": [0, 0, 1]}]",
     "\"motion\": {\"shift\": {\"kind\": \"move\", \"size\": 1, \"period\": 0.01}}",
     "one.json: bodies[0].motion: jumps: it would need 5.77e+04 m/s^2 and 0 rad/s^2"},
    {"{\"time\": 1,", "{\"time\": 1, \"rotation\": [0, 1, 0, 0],",
     "one.json: bodies[0]: the motion of a body turns by 3.14 rad between its keys 0 and 1"},
    {"[1, 0, 0, 0]", "[2, 0, 0, 0]", "one.json: bodies[0].motion[0].rotation: has the length 2"},
    {"\"sphere\"", "\"ball\"", "one.json: obstacles[0].kind: 'ball' is none of sphere, ellip"},
    {"9], \"radius\": 0.1}", "9]}", "one.json: obstacles[0]: 'radius' is missing: a sphere"},
    {"\"semi_axes\"", "\"radius\": 1, \"semi_axes\"", "obstacles[1].radius: is no key of a ell"},
    {"[0.1, 0.2, 0.3]", "[0.1, 0, 0.3]", "one.json: obstacles[1].semi_axes: must be three"},
    {"[0, 0, 2]", "[0, 0, 0]", "one.json: obstacles[2].normal: has no direction"},
    {"\"body\": \"hand\"}]", "\"body\": \"foot\"}]", "strands[0].body: there is no body 'foot'"},
    {"\"material\": \"hair\"", "\"material\": \"wool\"",
     "one.json: strands[0].material: there is no 'wool' among 'materials'"},
    {"\"both\"", "\"top\"", "one.json: strands[0].clamp: 'top' is none of root, tip, both, none"},
    {"[0.02, 0, 0], [0.03, 0, 0]]", "[0.02, 0, NaN], [0.03, 0, 0]]",
     "one.json: strands[0].vertices[2][2]: must be a finite number, not \"NaN\""},
    {"[0.02, 0, 0], [0.03, 0, 0]]", "[0.01, 0, 0], [0.03, 0, 0]]",
     "one.json: strands[0]: vertices[1] and [2] of a strand are on one place"},
    {"[0.02, 0, 0], [0.03, 0, 0]]", "[0.005, 0, 0], [0.03, 0, 0]]",
     "one.json: strands[0]: a strand folds back on itself at vertices[1]"},
    {", [0.02, 0, 0], [0.03, 0, 0]]", "]",
     "one.json: strands[0].vertices: a strand has at least 3 vertices, not 2"},
    {"[0.02, 0.001, 0], ", "", "strands[0].rest: has 3 rows instead of 4, as 'vertices'"},
    {"[0, 0, 0.5]", "[0, 0]", "one.json: strands[0].theta: has 2 numbers instead of 3, one per"},
    {"\"rest_theta\": [0, 0.1, 0]", "\"rest_theta\": \"x.csv\"",
     "one.json: strands[0].rest_theta: must be an array, not \"x.csv\""},
    {"\"velocity\": [[0, 0, 0], ", "\"velocity\": [[0, 0], ",
     "one.json: strands[0].velocity[0]: must be an array of 3 numbers, not of 2"},
    {"\"both\", \"body\": \"hand\"}]", "\"none\"}], \"settled\": true",
     "one.json: strand 0: a rod that nothing holds cannot rest"},
    {"\"clamp\"", "\"clump\"", "one.json: strands[0]: there is no key 'clump'"},
    {"\"clamp\"", "\"parent\": [-1, 0, 1], \"clamp\"",
     "one.json: strands[0].parent: has 3 numbers instead of 4, as 'vertices'"},
    {"\"clamp\"", "\"parent\": [-1, 0, 3, 2], \"clamp\"",
     "one.json: strands[0]: a strand that branches, or varies along its length, is for"},
    {"\"clamp\"", "\"parent\": [-1, 0.5, 1, 2], \"clamp\"",
     "one.json: strands[0].parent: 0.5 is not the number of a vertex"},
    {"\"clamp\"", "\"time_scale\": 0.5, \"clamp\"",
     "one.json: strands[0]: a strand of the model der moves in the world"},
    {"\"clamp\"", "\"reference\": \"foot\", \"clamp\"",
     "strands[0].reference: there is no body 'foot'"},
    {"\"clamp\"", "\"pose\": [{\"time\": 0, \"strength\": -1}], \"clamp\"",
     "one.json: strands[0].pose[0].strength: must be 0 or more, not -1"},
    {"\"clamp\"", "\"pose\": [{\"strength\": 1}], \"clamp\"",
     "one.json: strands[0].pose[0]: 'time' is missing"},
    {"\"clamp\"",
     "\"pose\": [{\"time\": 0, \"strength\": 1, \"vertices\": [[0, 0, 0]]}], \"clamp\"",
     "one.json: strands[0].pose[0].vertices: has 1 rows instead of 4, a place per point"},
    {"\"clamp\"",
     "\"pose\": [{\"time\": 0, \"strength\": 1}, {\"time\": 0, \"strength\": 1}], \"clamp\"",
     "one.json: strands[0]: key 1 of a pose is at 0 s; keys increase in time"},
    {"\"clamp\"", "\"parts\": [[1, 1]], \"clamp\"",
     "one.json: strands[0].parts[0]: must be an array of 5 numbers, not of 2"},
    {"\"director\": [0, 0, 1]", "\"director\": [2, 0, 0]",
     "one.json: strands[0]: the director of a strand has no part across its first edge"},
    {"\"clamp\"", "\"length\": 1, \"clamp\"", "strands[0].length: goes with 'curvatures' alone"},
    {"\"hand\"}]}", "\"hand\"}]", "one.json: line 7 is not JSON"},
    {"\"title\"", "\"mu\": 1, \"title\"", "one.json: line 1 is not JSON: duplicate object key"},
};

static void every_mistake_is_a_sentence_that_names_file_and_key(void)
{
    for (size_t k = 0; k < sizeof MISTAKES / sizeof MISTAKES[0]; k++) {
        built b;
        const char *path = put_scratch("one.json", changed(MISTAKES[k].from, MISTAKES[k].to));
        TEST_ASSERT_EQUAL_INT_MESSAGE(SS_BAD_INPUT, build_file(path, NULL, &b),
                                      MISTAKES[k].sentence);
        HOLDS(error.text, MISTAKES[k].sentence);
        ss_world_free(b.world);
    }
}

static void rows_may_stand_in_a_file_beside(void)
{
    built a, b;
    put_scratch("rest.csv", "x,y,z\n0,0,0\n0.01,0,0\r\n\n0.02, 0.001, 0\n0.03,0.003,0");
    CHECK_OK(build_file(put_scratch("one.json", SCENE), NULL, &a));
    const char *rest = "[[0, 0, 0], [0.01, 0, 0], [0.02, 0.001, 0], [0.03, 0.003, 0]]";
    CHECK_OK(build_file(put_scratch("two.json", changed(rest, "\"rest.csv\"")), NULL, &b));
    check_same_world(&a, &b);
    ss_world_free(a.world);
    ss_world_free(b.world);
    static const char *const BAD[][2] = {
        {"0,0,0\n0.01,0\n", "strands[0].rest: "},
        {"0,0,0\n0.01,0\n", "rest.csv: line 2 has 2 numbers instead of 3"},
        {"0,0,0\nnan,0,0\n", "rest.csv: line 2 has a word that is no number from -1e50 to 1e50"},
        {"nan,0,0\n0,0,0\n", "rest.csv: line 1 has a word that is no number from -1e50 to 1e50"},
        {"0,0,0\n0.01,0,0\n", "strands[0].rest: has 2 rows instead of 4"},
        {"", "strands[0].rest: has 0 rows instead of 4"},
    };
    for (size_t k = 0; k < sizeof BAD / sizeof BAD[0]; k++) {
        put_scratch("rest.csv", BAD[k][0]);
        CHECK(build_file(scratch_path("two.json"), NULL, &b) == SS_BAD_INPUT);
        HOLDS(error.text, BAD[k][1]);
        ss_world_free(b.world);
    }
    CHECK(build_file(put_scratch("two.json", changed(rest, "\"none.csv\"")), NULL, &b) ==
          SS_BAD_INPUT);
    HOLDS(error.text, "two.json: strands[0].rest: ");
    HOLDS(error.text, "none.csv: cannot be read");
    ss_world_free(b.world);
}

// A quarter of a circle of 0.1 m in both shapes, other radii: a super-helix has these curvatures.
static void a_super_helix_fits_its_shape_to_the_polylines(void)
{
    char text[4096];
    size_t n = (size_t)snprintf(text, sizeof text,
                                "{\"gravity\": [0, 0, 0], \"materials\": {" MATERIAL
                                "}, \"strands\": [{\"material\": \"hair\"");
    const double radius[2] = {0.1, 0.2};
    for (int which = 0; which < 2; which++) {
        n +=
            (size_t)snprintf(text + n, sizeof text - n, ", \"%s\": [", which ? "rest" : "vertices");
        for (int i = 0; i <= 20; i++) {
            const double s = 0.1 * i / 20.0 / radius[which];
            n += (size_t)snprintf(text + n, sizeof text - n, "%s[%.12g, %.12g, 0]",
                                  i > 0 ? ", " : "", radius[which] * sin(s),
                                  radius[which] * (1.0 - cos(s)));
        }
        n += (size_t)snprintf(text + n, sizeof text - n, "]");
    }
    snprintf(text + n, sizeof text - n, ", \"director\": [0, 1, 0]}]}");
    built b;
    CHECK_OK(build_file(put_scratch("arc.json", text), "super-helix:elements=3", &b));
    const ss_strand *s = &b.world->strands[0];
    for (int e = 0; e < 3; e++) {
        CHECK_NEAR(b.world->now.q[s->q + 3 * e + 2], 10.0,
                   0.01); // about n2 = z, the director's cross
        CHECK_NEAR(b.world->now.q[s->q + 3 * e + 1], 0.0, 1e-6);
    }
    // 1/2 EI2 (1/R - 1/R0)^2 L
    const ss_rigidity r = ss_material_rigidity(&s->material);
    const double length = 0.0975; // a clamp holds half an edge
    CHECK_NEAR(s->model->energy(s->self, b.world->now.q + s->q) / (0.5 * r.bend2 * 25.0 * length),
               1.0, 0.01);
    ss_world_free(b.world);
}

// ---- From outside

static void a_scene_is_written_in_place_of_a_run(void)
{
    char path[400];
    snprintf(path, sizeof path, "%s", scratch_path("orbit.json"));
    EXPECT(0, "simulate", "orbit", "--write", path, "--steps", "3", "--scheme", "newton");
    TEST_ASSERT_EQUAL_STRING("", standard_out);
    EXPECT(0, "simulate", path, "--format", "csv");
    CHECK(csv_number(standard_out, 1, "steps") == 3.0);
    EXPECT(1, "simulate", "orbit", "--write", path, "--stats", scratch_path("a.csv"));
    SAYS("simulate: --write simulates nothing: leave --stats out");
    EXPECT(1, "simulate", path, "--rods", "3");
    HOLDS(standard_error, "has strands of its own: leave --rods out");
    EXPECT(3, "simulate", scratch_path("absent.json"));
    HOLDS(standard_error, "absent.json: cannot be read");
    EXPECT(3, "simulate", put_scratch("bad.json", changed("\"clamp\"", "\"clump\"")));
    HOLDS(standard_error, "bad.json: strands[0]: there is no key 'clump'");
}

static void run_tests(void)
{
    RUN_TEST(a_file_has_what_it_says);
    RUN_TEST(what_a_key_leaves_out_is_that_of_the_key_before);
    RUN_TEST(keys_of_a_file_are_read_as_they_were_written);
    RUN_TEST(a_byte_order_mark_is_passed_over);
    RUN_TEST(an_empty_file_is_told);
    RUN_TEST(every_mistake_is_a_sentence_that_names_file_and_key);
    RUN_TEST(rows_may_stand_in_a_file_beside);
    RUN_TEST(a_super_helix_fits_its_shape_to_the_polylines);
    RUN_TEST(a_scene_is_written_in_place_of_a_run);
}

const test_group scene_file_tests = {.run = run_tests, .tear_down = remove_scratch};
