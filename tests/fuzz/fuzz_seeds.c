// tests/fuzz/fuzz_seeds.c -- writes the seeds of a fuzz target into a folder: small valid files for
// fuzz_file, streams of choices that spoil nothing for fuzz_decoded.
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "problems/store/store.h"
#include "tests/support/hdf5_files.h"
#include "tests/support/sample.h"
#include "tests/support/support.h"

static const char *folder;

static const char *in_folder(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void one_problem_a_file(void)
{
    static const char *const NAMES[2][2] = {{"local2.h5", "local3.h5"},
                                            {"global2.h5", "global3.h5"}};
    ss_error error = {0};
    for (int form = SS_LOCAL; form <= SS_GLOBAL; form++) {
        for (int dim = 2; dim <= 3; dim++) {
            ss_problem *sample = sample_problem((ss_form)form, dim, 2);
            CHECK_OK(ss_store_write(in_folder(NAMES[form][dim - 2]), sample, &error));
            ss_problem_free(sample);
        }
    }
}

static void a_collection(void)
{
    ss_error error = {0};
    ss_writer *writer = NULL;
    CHECK_OK(ss_writer_open(in_folder("collection.h5"), &writer, &error));
    for (int k = 0; k < 3; k++) {
        const char name[2] = {(char)('a' + k), '\0'};
        ss_problem *sample = sample_problem(k == 1 ? SS_GLOBAL : SS_LOCAL, 2, 1 + k);
        CHECK_OK(ss_writer_add(writer, name, sample, &error));
        ss_problem_free(sample);
    }
    CHECK_OK(ss_writer_commit(writer, &error));
    ss_writer_close(writer);
}

// As other programs write them: contiguous datasets, a text, data that were never written.
static void plain_files(void)
{
    hid_t file = small_local(in_folder("plain_local.h5"));
    put_text(file, "fclib_local/info/title", "plain");
    put_reals(file, "solution/r", 6, NULL);
    close_file(file);
    file = small_global(in_folder("plain_global.h5"));
    put_int(file, "guesses/number_of_guesses", 1);
    put_state(file, "guesses/1", 6, 0.5);
    close_file(file);
}

// Bytes below 248 spoil nothing in fuzz_decoded.
static void streams(void)
{
    ss_random random = ss_random_seeded(1);
    for (int k = 0; k < 16; k++) {
        char name[32];
        snprintf(name, sizeof name, "stream%d", k);
        FILE *file = fopen(in_folder(name), "wb");
        TEST_ASSERT_NOT_NULL(file);
        for (int i = 0; i < 600; i++) {
            fputc(ss_random_below(&random, 248), file);
        }
        CHECK(fclose(file) == 0);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: fuzz_seeds fuzz_file|fuzz_decoded FOLDER\n");
        return 1;
    }
    folder = argv[2];
    UNITY_BEGIN();
    if (strcmp(argv[1], "fuzz_file") == 0) {
        RUN_TEST(one_problem_a_file);
        RUN_TEST(a_collection);
        RUN_TEST(plain_files);
    } else {
        RUN_TEST(streams);
    }
    return UNITY_END();
}
