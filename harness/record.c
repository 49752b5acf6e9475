// harness/record.c -- the rows in memory, the journal and the file, kept in step.
//
// What is in memory is what the file and the journal hold together: the file first, then the
// journal line by line, a later row replacing an earlier one of its key. Folding writes the file
// and clears the journal; where it is killed between the two, the journal repeats rows of the file.
#include "harness/record.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/journal.h"
#include "harness/record_file.h"

// A journal is folded in when it is longer than this, and longer than the file: a fold writes all
// rows, so that the work of a long bench stays proportional to its rows.
#define JOURNAL_BYTES_MAX ((off_t)4 << 20)

struct ss_record {
    char *path;         // of the file
    char *journal_path; // owned, as is path
    bool writing;
    bool unfolded; // the file is not all there is
    ss_journal journal;
    ss_journal_damage damage;
    ss_record_set set;
    off_t fold_at; // length of the journal
};

static void free_record(ss_record *record)
{
    if (record != NULL) {
        ss_record_set_free(&record->set);
        free(record->path);
        free(record->journal_path);
        free(record);
    }
}

static char *join(const char *a, const char *b)
{
    char *joined = malloc(strlen(a) + strlen(b) + 1);
    return joined != NULL ? strcat(strcpy(joined, a), b) : NULL;
}

// A link is followed, so that two names of one file have one journal.
static ss_status new_record(const char *path, ss_record **record, ss_error *e)
{
    ss_record *made = calloc(1, sizeof *made);
    char *real = realpath(path, NULL);
    if (made != NULL) {
        made->path = join(real != NULL ? real : path, "");
        made->journal_path = join(real != NULL ? real : path, ".journal");
    }
    free(real);
    if (made == NULL || made->path == NULL || made->journal_path == NULL) {
        free_record(made);
        return ss_fail_memory(e, path);
    }
    *record = made;
    return SS_OK;
}

// ---- Loading.

static ss_status take_line(void *context, const char *text, ss_error *e)
{
    ss_record *record = context;
    ss_record_row row;
    ss_error reason = {0};
    ss_status status = ss_record_set_reserve(&record->set, e);
    if (status != SS_OK) {
        return status;
    }
    status = ss_record_parse(text, &row, &reason);
    if (status != SS_OK) {
        return ss_fail(e, status, "%s: %s", record->journal_path, reason.text);
    }
    status = ss_record_check(&row, &reason);
    if (status == SS_OK) {
        ss_record_set_put(&record->set, &row);
    } else {
        ss_fail(e, status, "%s: damaged journal: %s", record->journal_path, reason.text);
    }
    ss_record_row_free(&row);
    return status;
}

static ss_status load_for_writing(ss_record *record, ss_error *e)
{
    bool found = false;
    ss_status status = ss_record_file_read(record->path, &record->set, &found, e);
    record->unfolded = !found || record->journal.size > 0;
    // What a fold would refuse is refused before the work is done.
    struct stat link;
    if (status == SS_OK && found && access(record->path, W_OK) != 0) {
        status = ss_fail(e, SS_SYSTEM, "cannot write %s: %s", record->path, strerror(errno));
    } else if (status == SS_OK && !found && lstat(record->path, &link) == 0) {
        status =
            ss_fail(e, SS_SYSTEM, "cannot write %s: it is a link that leads nowhere", record->path);
    }
    if (status == SS_OK) {
        status = ss_journal_replay(&record->journal, take_line, record, &record->damage, e);
    }
    return status;
}

ss_status ss_record_open(const char *path, ss_record **record, ss_error *e)
{
    *record = NULL;
    ss_record *made = NULL;
    ss_status status = new_record(path, &made, e);
    if (status != SS_OK) {
        return status;
    }
    made->fold_at = JOURNAL_BYTES_MAX;
    made->writing = true;
    status = ss_journal_open(made->journal_path, path, &made->journal, e);
    if (status == SS_OK) {
        status = load_for_writing(made, e);
        if (status != SS_OK) {
            ss_journal_close(&made->journal);
        }
    }
    if (status != SS_OK) {
        free_record(made);
        return status;
    }
    *record = made;
    return SS_OK;
}

// The journal first: a fold in between moves its rows to the file, where they are found then. A row
// that is replaced meanwhile may be the old one.
static ss_status load_for_reading(ss_record *record, bool *found, ss_error *e)
{
    ss_record lines = {.journal_path = record->journal_path};
    ss_status status = ss_journal_read(record->journal_path, take_line, &lines, &record->damage, e);
    if (status == SS_OK) {
        status = ss_record_file_read(record->path, &record->set, found, e);
    }
    for (size_t k = 0; status == SS_OK && k < lines.set.count; k++) {
        status = ss_record_set_reserve(&record->set, e);
        if (status == SS_OK) {
            ss_record_set_put(&record->set, lines.set.rows[k]);
        }
    }
    *found = *found || lines.set.count > 0;
    ss_record_set_free(&lines.set);
    return status;
}

ss_status ss_record_read(const char *path, ss_record **record, ss_error *e)
{
    *record = NULL;
    ss_record *made = NULL;
    bool found = false;
    ss_status status = new_record(path, &made, e);
    if (status != SS_OK) {
        return status;
    }
    status = load_for_reading(made, &found, e);
    if (status == SS_OK && !found) {
        status = ss_fail(e, SS_BAD_INPUT, "%s: no such file", path);
    }
    if (status != SS_OK) {
        free_record(made);
        return status;
    }
    *record = made;
    return SS_OK;
}

bool ss_record_damage(const ss_record *record, char *text, size_t room)
{
    const ss_journal_damage *found = &record->damage;
    if (found->lines == 1) {
        snprintf(text, room, "%s: line %d is damaged and dropped; bench makes its run again",
                 record->journal_path, found->first);
    } else if (found->lines > 1) {
        snprintf(text, room,
                 "%s: %d lines are damaged and dropped, line %d the first of them; bench makes "
                 "their runs again",
                 record->journal_path, found->lines, found->first);
    }
    return found->lines > 0;
}

// ---- Rows.

size_t ss_record_count(const ss_record *record)
{
    return record->set.count;
}

const ss_record_row *ss_record_row_at(const ss_record *record, size_t k)
{
    assert(k < record->set.count);
    return record->set.rows[k];
}

const ss_record_row *ss_record_find(const ss_record *record, const ss_record_row *key)
{
    return ss_record_set_find(&record->set, key);
}

static ss_status fold(ss_record *record, ss_error *e)
{
    size_t bytes = 0;
    const ss_status status = ss_record_file_write(record->path, &record->set, &bytes, e);
    if (status == SS_OK) {
        ss_journal_clear(&record->journal);
        record->unfolded = false;
        record->fold_at = (off_t)bytes > JOURNAL_BYTES_MAX ? (off_t)bytes : JOURNAL_BYTES_MAX;
    }
    return status;
}

ss_status ss_record_add(ss_record *record, ss_record_row *row, ss_error *e)
{
    assert(record->writing);
    char *text = NULL;
    size_t length = 0;
    ss_status status = ss_record_set_reserve(&record->set, e);
    if (status == SS_OK) {
        status = ss_record_print(row, &text, &length, e);
    }
    if (status == SS_OK) {
        status = ss_journal_append(&record->journal, text, length, e);
    }
    free(text);
    if (status != SS_OK) {
        return status;
    }
    ss_record_set_put(&record->set, row);
    record->unfolded = true;
    // The row is safe: a fold that fails, on a full disk say, is tried again later.
    if (record->journal.size > record->fold_at && fold(record, NULL) != SS_OK) {
        record->fold_at = 2 * record->journal.size;
    }
    return SS_OK;
}

ss_status ss_record_close(ss_record *record, ss_error *e)
{
    ss_status status = SS_OK;
    if (record != NULL && record->writing) {
        ss_error reason = {0};
        if (record->unfolded) {
            status = fold(record, &reason);
        }
        if (status != SS_OK) {
            ss_fail(e, status, "%s (the results are safe in %s)", reason.text,
                    record->journal_path);
        }
        ss_journal_close(&record->journal);
    }
    free_record(record);
    return status;
}
