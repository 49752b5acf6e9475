// harness/record_write.c -- the rows of a record into an HDF5 file (record_file.h): made in memory,
// saved in one piece. Functions that write return false when HDF5 or memory refused.
#include "harness/record_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/store/h5_write.h"
#include "problems/store/save.h"
#include "version.h"

static const char *field_of(const ss_record_set *set, size_t k, const ss_field *column)
{
    return (const char *)set->rows[k] + column->offset;
}

// Bytes that every row's value fits in; of texts the longest and its final zero.
static size_t width_of(const ss_record_set *set, const ss_field *column)
{
    if (column->kind != SS_FIELD_TEXT) {
        return column->width;
    }
    size_t width = 1;
    for (size_t k = 0; k < set->count; k++) {
        const size_t length = strlen(field_of(set, k, column));
        width = length + 1 > width ? length + 1 : width;
    }
    return width;
}

static bool write_values(hid_t group, const ss_field *column, size_t count, size_t width,
                         const void *values)
{
    if (column->kind == SS_FIELD_TEXT) {
        return ss_h5_write_texts(group, column->name, count, width, values);
    }
    if (column->kind == SS_FIELD_REAL) {
        return ss_h5_write_doubles(group, column->name, count, values);
    }
    return column->width == sizeof(int) ? ss_h5_write_ints(group, column->name, count, values)
                                        : ss_h5_write_longs(group, column->name, count, values);
}

static bool write_column(hid_t group, const ss_record_set *set, const ss_field *column)
{
    const size_t width = width_of(set, column);
    char *values = calloc(set->count + 1, width);
    if (values == NULL) {
        return false;
    }
    for (size_t k = 0; k < set->count; k++) {
        const char *field = field_of(set, k, column);
        // The bytes behind a text's end may be anything; they would only spoil the compression.
        const size_t bytes = column->kind == SS_FIELD_TEXT ? strlen(field) : width;
        memcpy(values + k * width, field, bytes);
    }
    const bool ok = write_values(group, column, set->count, width, values);
    free(values);
    return ok;
}

static bool write_rows(hid_t file, const ss_record_set *set)
{
    const hid_t group = ss_h5_create_group(file, "rows");
    bool ok = group >= 0;
    ss_field field;
    for (ss_fields walk = ss_fields_of(ss_record_fields); ok && ss_fields_next(&walk, &field);) {
        ok = write_column(group, set, &field);
    }
    return ss_h5_close_group(group, ok);
}

// ---- The histories, one after another.

static bool write_starts(hid_t group, const ss_record_set *set, size_t *total)
{
    int *start = calloc(set->count + 1, sizeof *start);
    bool ok = start != NULL;
    for (size_t k = 0; ok && k < set->count; k++) {
        ok = set->rows[k]->history.count <= INT_MAX - start[k];
        start[k + 1] = ok ? start[k] + set->rows[k]->history.count : 0;
    }
    ok = ok && ss_h5_write_ints(group, "start", set->count + 1, start);
    *total = ok ? (size_t)start[set->count] : 0;
    free(start);
    return ok;
}

static bool write_iterations(hid_t group, const ss_record_set *set, size_t total)
{
    int *values = malloc((total + 1) * sizeof *values);
    if (values == NULL) {
        return false;
    }
    size_t at = 0;
    for (size_t k = 0; k < set->count; k++) {
        const ss_history *history = &set->rows[k]->history;
        for (int i = 0; i < history->count; i++) {
            values[at++] = history->iteration[i];
        }
    }
    const bool ok = ss_h5_write_ints(group, "iteration", total, values);
    free(values);
    return ok;
}

static const double *seconds_of(const ss_history *history)
{
    return history->seconds;
}

static const double *local_solves_of(const ss_history *history)
{
    return history->local_solves;
}

static const double *fb_of(const ss_history *history)
{
    return history->fb;
}

static bool write_series(hid_t group, const char *name, const ss_record_set *set, size_t total,
                         const double *(*series_of)(const ss_history *history))
{
    double *values = malloc((total + 1) * sizeof *values);
    if (values == NULL) {
        return false;
    }
    size_t at = 0;
    for (size_t k = 0; k < set->count; k++) {
        const ss_history *history = &set->rows[k]->history;
        for (int i = 0; i < history->count; i++) {
            values[at++] = series_of(history)[i];
        }
    }
    const bool ok = ss_h5_write_doubles(group, name, total, values);
    free(values);
    return ok;
}

static bool write_histories(hid_t file, const ss_record_set *set)
{
    size_t total = 0;
    const hid_t group = ss_h5_create_group(file, "history");
    const bool ok = group >= 0 && write_starts(group, set, &total) &&
                    write_iterations(group, set, total) &&
                    write_series(group, "seconds", set, total, seconds_of) &&
                    write_series(group, "local_solves", set, total, local_solves_of) &&
                    write_series(group, "fb", set, total, fb_of);
    return ss_h5_close_group(group, ok);
}

// ---- The file.

static bool put_format(hid_t file)
{
    const hid_t root = H5Gopen2(file, "/", H5P_DEFAULT);
    const bool ok = root >= 0 && ss_h5_put_text(root, "format", SS_RECORD_FORMAT) &&
                    ss_h5_put_int(root, "format_version", SS_RECORD_FORMAT_VERSION) &&
                    ss_h5_put_text(root, "producer", "stickslip " SS_VERSION " " SS_COMMIT);
    return ss_h5_close_group(root, ok);
}

// The bytes of the file, which the caller frees; NULL on failure.
static void *build(const ss_record_set *set, size_t *bytes)
{
    char name[48];
    void *image = NULL;
    snprintf(name, sizeof name, "stickslip-results-%p", (const void *)set);
    const ss_h5_quiet before = ss_h5_begin_quiet();
    const hid_t file = ss_h5_create_in_memory(name);
    if (file >= 0 && put_format(file) && write_rows(file, set) && write_histories(file, set)) {
        image = ss_h5_take_image(file, bytes);
    }
    if (file >= 0) {
        H5Fclose(file);
    }
    ss_h5_end_quiet(before);
    return image;
}

ss_status ss_record_file_write(const char *path, const ss_record_set *set, size_t *bytes,
                               ss_error *e)
{
    void *image = build(set, bytes);
    if (image == NULL) {
        return ss_fail(e, SS_SYSTEM, "cannot build %s in memory", path);
    }
    const ss_status status = ss_save(path, image, *bytes, e);
    free(image);
    return status;
}
