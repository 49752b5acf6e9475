// Every allocation of the record's paths fails once, those of SQLite too: the k-th, for all k. What
// comes back is SS_SYSTEM with a sentence, or all went well without that memory; no row that was
// there is lost.
#include <sqlite3.h>

#include "tests/support/record_rows.h"

// The row that is added; no allocation of its own is to fail.
static ss_record_row given;

static sqlite3_mem_methods memory; // SQLite's own

// A word of ours for each of SQLite's, so that its failures are counted with ours. Volatile: clang
// leaves out a malloc whose memory nobody looks at.
static bool fails(void)
{
    char *volatile word = malloc(1);
    const bool failed = word == NULL;
    free(word);
    return failed;
}

static void *counted_malloc(int size)
{
    return fails() ? NULL : memory.xMalloc(size);
}

static void *counted_realloc(void *old, int size)
{
    return fails() ? NULL : memory.xRealloc(old, size);
}

// ---- Files that are never flushed: there are thousands of them.

static sqlite3_vfs *disk, unflushed;
// Of each kind of file: those that are locked and others have methods of their own.
static struct {
    const sqlite3_io_methods *from;
    sqlite3_io_methods to;
} kinds[4];

static int flush_nothing(sqlite3_file *at, int flags)
{
    (void)at;
    (void)flags;
    return SQLITE_OK;
}

static int open_unflushed(sqlite3_vfs *vfs, const char *name, sqlite3_file *at, int flags, int *out)
{
    (void)vfs;
    const int code = disk->xOpen(disk, name, at, flags, out);
    for (int k = 0; k < 4 && at->pMethods != NULL; k++) {
        if (kinds[k].from == NULL || kinds[k].from == at->pMethods) {
            kinds[k].from = at->pMethods;
            kinds[k].to = *at->pMethods;
            kinds[k].to.xSync = flush_nothing;
            at->pMethods = &kinds[k].to;
            break;
        }
    }
    return code;
}

static int delete_unflushed(sqlite3_vfs *vfs, const char *name, int flush)
{
    (void)vfs;
    (void)flush;
    return disk->xDelete(disk, name, 0);
}

static void flush_no_file(void)
{
    disk = sqlite3_vfs_find(NULL);
    unflushed = *disk;
    unflushed.zName = "unflushed";
    unflushed.xOpen = open_unflushed;
    unflushed.xDelete = delete_unflushed;
    sqlite3_vfs_register(&unflushed, 1);
}

static void count_allocations_of_sqlite(void)
{
    sqlite3_shutdown();
    CHECK(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory) == SQLITE_OK);
    sqlite3_mem_methods counted = memory;
    counted.xMalloc = counted_malloc;
    counted.xRealloc = counted_realloc;
    CHECK(sqlite3_config(SQLITE_CONFIG_MALLOC, &counted) == SQLITE_OK);
    CHECK(sqlite3_initialize() == SQLITE_OK);
    flush_no_file();
}

static void tear_down(void)
{
    sqlite3_vfs_unregister(&unflushed);
    sqlite3_shutdown();
    sqlite3_config(SQLITE_CONFIG_MALLOC, &memory);
    ss_record_row_free(&given);
}

static void check_rows(size_t least, size_t most)
{
    ss_record_rows results = read_results();
    CHECK(results.count >= least && results.count <= most);
    for (size_t k = 0; k < results.count; k++) {
        CHECK(holds_row(&results, (int)k, 2));
    }
    ss_record_rows_free(&results);
}

static ss_status read_two(void)
{
    ss_record_rows results;
    const ss_status status = ss_record_rows_read(file, &results, &error);
    CHECK(results.count == (status == SS_OK ? 2 : 0));
    ss_record_rows_free(&results);
    return status;
}

static ss_status add_third(void)
{
    ss_record *record = NULL;
    ss_status status = ss_record_open(file, SS_RECORD_WRITE, &record, &error);
    CHECK((record == NULL) == (status != SS_OK));
    status = status == SS_OK ? ss_record_add(record, &given, &error) : status;
    ss_record_close(record);
    return status;
}

static ss_status find_first(void)
{
    ss_record *record = NULL;
    ss_record_row row;
    bool found = false;
    ss_status status = ss_record_open(file, SS_RECORD_READ, &record, &error);
    status = status == SS_OK ? ss_record_find(record, &given, &found, &row, &error) : status;
    CHECK(found == (status == SS_OK));
    ss_record_close(record);
    return status;
}

static ss_status make_record(void)
{
    ss_record *record = NULL;
    const ss_status status = ss_record_open(file, SS_RECORD_WRITE, &record, &error);
    ss_record_close(record);
    return status;
}

// rows: that were there, and stay.
static void survives(ss_status (*operation)(void), void (*prepare)(void), size_t rows, size_t new)
{
    long k = 0, all = 0;
    do {
        prepare();
        error = (ss_error){0};
        fail_allocation(++k);
        const ss_status status = operation();
        all = allocations_since();
        fail_allocation(0);
        CHECK(status == SS_OK || (status == SS_SYSTEM && error.text[0] != '\0'));
        check_rows(status == SS_OK ? rows + new : rows, rows + new);
    } while (all >= k);
    CHECK(k > 100);
}

static void prepare_none(void)
{
    write_bytes(file, "", 0);
}

static void prepare_two(void)
{
    unlink(file);
    write_record(2, 2);
}

static void keep_two(void)
{
}

static void making_survives_every_failing_allocation(void)
{
    count_allocations_of_sqlite();
    survives(make_record, prepare_none, 0, 0);
}

static void adding_survives_every_failing_allocation(void)
{
    given = make_row(2, 2);
    count_allocations_of_sqlite();
    survives(add_third, prepare_two, 2, 1);
}

static void reading_survives_every_failing_allocation(void)
{
    prepare_two();
    count_allocations_of_sqlite();
    survives(read_two, keep_two, 2, 0);
}

static void finding_survives_every_failing_allocation(void)
{
    given = make_row(0, 0);
    prepare_two();
    count_allocations_of_sqlite();
    survives(find_first, keep_two, 2, 0);
}

static void run_tests(void)
{
    RUN_TEST(making_survives_every_failing_allocation);
    RUN_TEST(adding_survives_every_failing_allocation);
    RUN_TEST(reading_survives_every_failing_allocation);
    RUN_TEST(finding_survives_every_failing_allocation);
}

const test_group record_allocation_tests = {
    .run = run_tests, .set_up = set_up, .tear_down = tear_down};
