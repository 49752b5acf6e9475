// A file is replaced whole or not at all, whatever fails.
#include "base/save.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/support.h"

// The file of most tests stands alone in a folder, so that what is left over is seen.
static char folder[512], file[600];

static void set_up(void)
{
    snprintf(folder, sizeof folder, "%s", scratch_path("folder"));
    snprintf(file, sizeof file, "%s/file", folder);
    TEST_ASSERT_EQUAL_INT(0, mkdir(folder, 0777));
}

static int count_entries(bool remove_them)
{
    DIR *entries = opendir(folder);
    TEST_ASSERT_NOT_NULL(entries);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            count++;
            if (remove_them) {
                unlinkat(dirfd(entries), entry->d_name, 0);
            }
        }
    }
    closedir(entries);
    return count;
}

static void tear_down(void)
{
    count_entries(true);
    TEST_ASSERT_EQUAL_INT(0, rmdir(folder));
}

static void check_content(const char *path, const char *expected)
{
    char content[64] = "";
    FILE *stream = fopen(path, "rb");
    TEST_ASSERT_NOT_NULL(stream);
    const size_t length = fread(content, 1, sizeof content - 1, stream);
    fclose(stream);
    TEST_ASSERT_EQUAL_INT(strlen(expected), length);
    TEST_ASSERT_EQUAL_STRING(expected, content);
}

static void save_text(const char *path, const char *text)
{
    ss_error error = {0};
    CHECK_OK(ss_save(path, text, strlen(text), &error));
}

static void check_refused(const char *path, int reason)
{
    ss_error error = {0};
    TEST_ASSERT_EQUAL_INT(SS_SYSTEM, ss_save(path, "new", 3, &error));
    TEST_ASSERT_NOT_NULL(strstr(error.text, path));
    TEST_ASSERT_NOT_NULL(strstr(error.text, strerror(reason)));
}

static void a_new_file_has_the_bytes_and_the_mode_of_the_umask(void)
{
    const mode_t before = umask(0027);
    save_text(file, "new");
    umask(before);
    struct stat status;
    TEST_ASSERT_EQUAL_INT(0, stat(file, &status));
    TEST_ASSERT_EQUAL_INT(0640, status.st_mode & 0777);
    check_content(file, "new");
    TEST_ASSERT_EQUAL_INT(1, count_entries(false));
}

static void an_old_file_is_replaced_and_keeps_its_mode(void)
{
    save_text(file, "something longer than what follows");
    TEST_ASSERT_EQUAL_INT(0, chmod(file, 0604));
    save_text(file, "new");
    struct stat status;
    TEST_ASSERT_EQUAL_INT(0, stat(file, &status));
    TEST_ASSERT_EQUAL_INT(0604, status.st_mode & 0777);
    check_content(file, "new");
    TEST_ASSERT_EQUAL_INT(1, count_entries(false));
}

// Who has the old file open goes on reading the old file.
static void a_reader_never_sees_half_a_file(void)
{
    save_text(file, "old");
    FILE *stream = fopen(file, "rb");
    TEST_ASSERT_NOT_NULL(stream);
    save_text(file, "new");
    char content[8] = "";
    TEST_ASSERT_EQUAL_INT(3, fread(content, 1, sizeof content, stream));
    fclose(stream);
    TEST_ASSERT_EQUAL_STRING("old", content);
}

static void a_symbolic_link_is_followed(void)
{
    char link[600];
    snprintf(link, sizeof link, "%s/link", folder);
    save_text(file, "old");
    TEST_ASSERT_EQUAL_INT(0, symlink("file", link));
    save_text(link, "new");
    struct stat status;
    TEST_ASSERT_EQUAL_INT(0, lstat(link, &status));
    TEST_ASSERT_TRUE(S_ISLNK(status.st_mode));
    check_content(file, "new");
    TEST_ASSERT_EQUAL_INT(2, count_entries(false));
}

static void a_link_that_leads_nowhere_is_refused_and_kept(void)
{
    struct stat status;
    ss_error error = {0};
    TEST_ASSERT_EQUAL_INT(0, symlink("nowhere", file));
    TEST_ASSERT_EQUAL_INT(SS_SYSTEM, ss_save(file, "new", 3, &error));
    CHECK(strstr(error.text, "it is a dangling link") != NULL);
    CHECK(lstat(file, &status) == 0 && S_ISLNK(status.st_mode));
    TEST_ASSERT_EQUAL_INT(1, count_entries(false));
}

static void the_longest_names_can_be_written(void)
{
    for (size_t length = 240; length <= 255; length += 5) {
        char path[900], name[256];
        memset(name, 'n', length);
        name[length] = '\0';
        snprintf(path, sizeof path, "%s/%s", folder, name);
        save_text(path, "old");
        save_text(path, "new");
        check_content(path, "new");
        TEST_ASSERT_EQUAL_INT(1, count_entries(true));
    }
}

static void a_name_without_a_folder_is_in_the_present_one(void)
{
    char present[512];
    TEST_ASSERT_NOT_NULL(getcwd(present, sizeof present));
    TEST_ASSERT_EQUAL_INT(0, chdir(folder));
    save_text("file", "new");
    TEST_ASSERT_EQUAL_INT(0, chdir(present));
    check_content(file, "new");
}

static void a_pipe_is_written_into(void)
{
    int ends[2];
    TEST_ASSERT_EQUAL_INT(0, pipe(ends));
    char path[64], content[8] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
    save_text(path, "new");
    TEST_ASSERT_EQUAL_INT(3, read(ends[0], content, sizeof content));
    TEST_ASSERT_EQUAL_STRING("new", content);
    close(ends[0]);
    close(ends[1]);
}

static void what_cannot_be_written_is_told(void)
{
    char missing[600], below_a_file[620];
    snprintf(missing, sizeof missing, "%s/missing/file", folder);
    snprintf(below_a_file, sizeof below_a_file, "%s/file", file);
    save_text(file, "old");
    check_refused(missing, ENOENT);
    check_refused(below_a_file, ENOTDIR);
    check_refused(folder, EISDIR);
    check_refused("/dev/full", ENOSPC);
    check_content(file, "old");
    TEST_ASSERT_EQUAL_INT(1, count_entries(false));
}

// In a child: no file may grow beyond a kilobyte. 0 when ss_save failed as it should.
static int save_with_a_small_limit(void)
{
    const struct rlimit limit = {1024, 1024};
    static char bytes[4096];
    ss_error error = {0};
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) {
        return 1;
    }
    const ss_status status = ss_save(file, bytes, sizeof bytes, &error);
    return status == SS_SYSTEM && strstr(error.text, strerror(EFBIG)) != NULL ? 0 : 2;
}

static void a_write_that_fails_leaves_the_old_file_alone(void)
{
    save_text(file, "old");
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        _exit(save_with_a_small_limit());
    }
    int status = -1;
    TEST_ASSERT_EQUAL_INT(child, waitpid(child, &status, 0));
    TEST_ASSERT_EQUAL_INT(0, status);
    check_content(file, "old");
    TEST_ASSERT_EQUAL_INT(1, count_entries(false));
}

typedef struct disturbance {
    int signal;
    bool anew; // the file is removed each time, and so never replaced
} disturbance;

// In a child: says that it runs, then saves for ever.
static void save_for_ever(const disturbance *d, int ready, const char *bytes, size_t count)
{
    signal(SIGTERM, SIG_DFL);
    if (write(ready, "", 1) == 1) {
        while (ss_save(file, bytes, count, NULL) == SS_OK) {
            if (d->anew) {
                unlink(file);
            }
        }
    }
    _exit(1);
}

// Most of the child's time goes by between the first byte of the new file and its name. What is left
// after the k-th of 20 children are whole files.
static void disturb(const disturbance *d, int k, const char *bytes, size_t count)
{
    int ends[2], status = 0;
    char started;
    TEST_ASSERT_EQUAL_INT(0, pipe(ends));
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        save_for_ever(d, ends[1], bytes, count);
    }
    TEST_ASSERT_EQUAL_INT(1, read(ends[0], &started, 1));
    usleep((useconds_t)(5000 + 377 * k));
    kill(child, d->signal);
    TEST_ASSERT_EQUAL_INT(child, waitpid(child, &status, 0));
    TEST_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == d->signal);
    close(ends[0]);
    close(ends[1]);
    struct stat saved;
    if (stat(file, &saved) == 0) {
        TEST_ASSERT_EQUAL_INT(count, saved.st_size);
    }
}

static void disturb_often(const disturbance *d)
{
    const size_t count = 1 << 20;
    char *bytes = calloc(count, 1);
    TEST_ASSERT_NOT_NULL(bytes);
    for (int k = 0; k < 20; k++) {
        disturb(d, k, bytes, count);
        CHECK_LE(count_entries(false), 1);
    }
    free(bytes);
}

static void a_signal_leaves_no_temporary_file(void)
{
    disturb_often(&(disturbance){SIGTERM, false});
}

static void a_new_file_that_is_killed_leaves_nothing(void)
{
    const int fd = open(folder, O_TMPFILE | O_WRONLY, 0666);
    if (fd < 0) {
        TEST_IGNORE_MESSAGE("the file system has no files without a name");
    }
    close(fd);
    disturb_often(&(disturbance){SIGKILL, true});
}

static void run_tests(void)
{
    RUN_TEST(a_new_file_has_the_bytes_and_the_mode_of_the_umask);
    RUN_TEST(an_old_file_is_replaced_and_keeps_its_mode);
    RUN_TEST(a_reader_never_sees_half_a_file);
    RUN_TEST(a_symbolic_link_is_followed);
    RUN_TEST(a_link_that_leads_nowhere_is_refused_and_kept);
    RUN_TEST(the_longest_names_can_be_written);
    RUN_TEST(a_name_without_a_folder_is_in_the_present_one);
    RUN_TEST(a_pipe_is_written_into);
    RUN_TEST(what_cannot_be_written_is_told);
    RUN_TEST(a_write_that_fails_leaves_the_old_file_alone);
    RUN_TEST(a_signal_leaves_no_temporary_file);
    RUN_TEST(a_new_file_that_is_killed_leaves_nothing);
}

const test_group save_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
