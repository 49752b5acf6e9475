// harness/record_file.c -- the rows of a record from an HDF5 file (record_file.h).
#include "harness/record_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/probe.h"
#include "problems/store/h5_write.h"

// deflate makes at most this many bytes of one; an array that claims more is not there.
#define DEFLATE_RATIO_MAX 1032
// No expected number of values.
#define ANY_COUNT SIZE_MAX

// A file that is being read; every function here that fails writes its sentence.
typedef struct input {
    const char *path;
    hid_t file;
    ss_error *e;
} input;

static ss_status refuse(const input *in, const char *name, const char *what)
{
    return ss_fail(in->e, SS_BAD_INPUT, "%s: damaged results file: %s %s", in->path, name, what);
}

// ---- One array.

// How its values stand in memory, -1 where they are of another kind. Texts are cut to fit.
static hid_t memory_type(hid_t dataset, ss_field_kind kind, size_t width)
{
    static const H5T_class_t CLASSES[] = {[SS_FIELD_TEXT] = H5T_STRING,
                                          [SS_FIELD_INTEGER] = H5T_INTEGER,
                                          [SS_FIELD_REAL] = H5T_FLOAT};
    const hid_t stored = H5Dget_type(dataset);
    hid_t type = -1;
    if (stored >= 0 && H5Tget_class(stored) == CLASSES[kind] && H5Tis_variable_str(stored) <= 0) {
        type = H5Tcopy(kind == SS_FIELD_INTEGER
                           ? (width == sizeof(int) ? H5T_NATIVE_INT : H5T_NATIVE_LONG)
                       : kind == SS_FIELD_REAL ? H5T_NATIVE_DOUBLE
                                               : stored);
    }
    if (type >= 0 && kind == SS_FIELD_TEXT &&
        (H5Tset_size(type, width) < 0 || H5Tset_strpad(type, H5T_STR_NULLTERM) < 0)) {
        H5Tclose(type);
        type = -1;
    }
    H5Tclose(stored);
    return type;
}

// The number of values; ANY_COUNT where it is no list, or claims more than it stores.
static size_t count_values(hid_t dataset)
{
    const hid_t space = H5Dget_space(dataset);
    const hid_t type = H5Dget_type(dataset);
    hsize_t size = 0;
    size_t count = ANY_COUNT;
    if (H5Sget_simple_extent_ndims(space) == 1 &&
        H5Sget_simple_extent_dims(space, &size, NULL) == 1) {
        const double claimed = (double)size * (double)H5Tget_size(type);
        const double stored = (double)H5Dget_storage_size(dataset);
        count = claimed <= DEFLATE_RATIO_MAX * stored ? (size_t)size : ANY_COUNT;
    }
    H5Tclose(type);
    H5Sclose(space);
    return count;
}

static ss_status read_values(const input *in, hid_t dataset, hid_t type, const char *name,
                             size_t count, void **values)
{
    *values = calloc(count + 1, H5Tget_size(type));
    if (*values == NULL) {
        return ss_fail_memory(in->e, in->path);
    }
    if (count > 0 && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *values) < 0) {
        free(*values);
        *values = NULL;
        return refuse(in, name, "cannot be read");
    }
    return SS_OK;
}

// values: *count of them, which the caller frees. *count is what there must be, or ANY_COUNT.
static ss_status read_array(const input *in, const char *name, ss_field_kind kind, size_t width,
                            size_t *count, void **values)
{
    *values = NULL;
    const hid_t dataset = H5Dopen2(in->file, name, H5P_DEFAULT);
    if (dataset < 0) {
        return refuse(in, name, "is missing");
    }
    ss_status status = SS_OK;
    const hid_t type = memory_type(dataset, kind, width);
    const size_t found = count_values(dataset);
    if (type < 0) {
        status = refuse(in, name, "is of another type");
    } else if (found == ANY_COUNT || (*count != ANY_COUNT && *count != found)) {
        status = refuse(in, name, "has a wrong length");
    } else {
        *count = found;
        status = read_values(in, dataset, type, name, found, values);
    }
    H5Tclose(type);
    H5Dclose(dataset);
    return status;
}

// ---- The rows.

static ss_status read_column(const input *in, const ss_field *column, size_t nrows,
                             ss_record_row *rows)
{
    char name[64];
    void *values = NULL;
    snprintf(name, sizeof name, "rows/%s", column->name);
    const ss_status status = read_array(in, name, column->kind, column->width, &nrows, &values);
    for (size_t k = 0; status == SS_OK && k < nrows; k++) {
        memcpy((char *)&rows[k] + column->offset, (char *)values + k * column->width,
               column->width);
    }
    free(values);
    return status;
}

static ss_status count_rows(const input *in, size_t *nrows)
{
    void *values = NULL;
    *nrows = ANY_COUNT;
    const ss_status status = read_array(in, "rows/problem_sha256", SS_FIELD_TEXT,
                                        sizeof((ss_record_row *)0)->problem_sha256, nrows, &values);
    free(values);
    return status;
}

// ---- The histories.

typedef struct series {
    size_t total;
    int *start, *iteration;
    double *seconds, *local_solves, *fb;
} series;

static ss_status read_list(const input *in, const char *name, ss_field_kind kind, size_t count,
                           void **values)
{
    return read_array(in, name, kind, kind == SS_FIELD_INTEGER ? sizeof(int) : sizeof(double),
                      &count, values);
}

static ss_status read_starts(const input *in, size_t nrows, series *all)
{
    void *values = NULL;
    ss_status status = read_list(in, "history/start", SS_FIELD_INTEGER, nrows + 1, &values);
    all->start = values;
    if (status != SS_OK) {
        return status;
    }
    bool ordered = all->start[0] == 0;
    for (size_t k = 0; k < nrows; k++) {
        ordered = ordered && all->start[k] <= all->start[k + 1];
    }
    all->total = ordered ? (size_t)all->start[nrows] : 0;
    return ordered ? SS_OK : refuse(in, "history/start", "does not ascend");
}

static ss_status read_series(const input *in, size_t nrows, series *all)
{
    void *iteration = NULL, *seconds = NULL, *local_solves = NULL, *fb = NULL;
    ss_status status = read_starts(in, nrows, all);
    if (status == SS_OK) {
        status = read_list(in, "history/iteration", SS_FIELD_INTEGER, all->total, &iteration);
    }
    if (status == SS_OK) {
        status = read_list(in, "history/seconds", SS_FIELD_REAL, all->total, &seconds);
    }
    if (status == SS_OK) {
        status = read_list(in, "history/local_solves", SS_FIELD_REAL, all->total, &local_solves);
    }
    if (status == SS_OK) {
        status = read_list(in, "history/fb", SS_FIELD_REAL, all->total, &fb);
    }
    all->iteration = iteration;
    all->seconds = seconds;
    all->local_solves = local_solves;
    all->fb = fb;
    return status;
}

static void free_series(series *all)
{
    free(all->start);
    free(all->iteration);
    free(all->seconds);
    free(all->local_solves);
    free(all->fb);
}

static ss_status cut_history(const series *all, size_t k, ss_history *history, ss_error *e)
{
    const size_t at = (size_t)all->start[k], count = (size_t)all->start[k + 1] - at;
    const ss_status status = ss_history_new((int)count, history, e);
    if (status == SS_OK && count > 0) {
        memcpy(history->iteration, all->iteration + at, count * sizeof(int));
        memcpy(history->seconds, all->seconds + at, count * sizeof(double));
        memcpy(history->local_solves, all->local_solves + at, count * sizeof(double));
        memcpy(history->fb, all->fb + at, count * sizeof(double));
    }
    return status;
}

static ss_status read_histories(const input *in, size_t nrows, ss_record_row *rows)
{
    series all = {0};
    ss_status status = read_series(in, nrows, &all);
    for (size_t k = 0; status == SS_OK && k < nrows; k++) {
        status = cut_history(&all, k, &rows[k].history, in->e);
    }
    free_series(&all);
    return status;
}

// ---- All of it.

static ss_status check_row(const input *in, const ss_record_row *row)
{
    ss_error reason;
    const ss_status status = ss_record_check(row, &reason);
    return status == SS_OK
               ? SS_OK
               : ss_fail(in->e, status, "%s: damaged results file: %s", in->path, reason.text);
}

static ss_status read_rows(const input *in, size_t nrows, ss_record_row *rows, ss_record_set *set)
{
    ss_status status = SS_OK;
    ss_field field;
    for (size_t k = 0; k < nrows; k++) {
        rows[k] = ss_record_row_blank();
    }
    for (ss_fields walk = ss_fields_of(ss_record_fields);
         status == SS_OK && ss_fields_next(&walk, &field);) {
        status = read_column(in, &field, nrows, rows);
    }
    if (status == SS_OK) {
        status = read_histories(in, nrows, rows);
    }
    for (size_t k = 0; status == SS_OK && k < nrows; k++) {
        status = check_row(in, &rows[k]);
    }
    for (size_t k = 0; status == SS_OK && k < nrows; k++) {
        status = ss_record_set_reserve(set, in->e);
        if (status == SS_OK) {
            ss_record_set_put(set, &rows[k]);
        }
    }
    return status;
}

static ss_status read_all_rows(const input *in, ss_record_set *set)
{
    size_t nrows;
    ss_status status = count_rows(in, &nrows);
    if (status != SS_OK) {
        return status;
    }
    ss_record_row *rows = calloc(nrows + 1, sizeof *rows);
    if (rows == NULL) {
        return ss_fail_memory(in->e, in->path);
    }
    status = read_rows(in, nrows, rows, set);
    for (size_t k = 0; k < nrows; k++) {
        ss_record_row_free(&rows[k]);
    }
    free(rows);
    return status;
}

// The attribute of the root, of `capacity` bytes at most; empty where there is none such.
static void read_text_attribute(hid_t file, const char *name, char *text, size_t capacity)
{
    memset(text, 0, capacity);
    const hid_t attribute = H5Aopen_by_name(file, "/", name, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute < 0) {
        return;
    }
    const hid_t type = H5Aget_type(attribute);
    if (H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
        H5Aget_storage_size(attribute) < capacity) {
        H5Aread(attribute, type, text);
    }
    H5Tclose(type);
    H5Aclose(attribute);
}

static int read_int_attribute(hid_t file, const char *name)
{
    int value = -1;
    const hid_t attribute = H5Aopen_by_name(file, "/", name, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute >= 0) {
        const hid_t space = H5Aget_space(attribute);
        if (H5Sget_simple_extent_npoints(space) == 1) {
            H5Aread(attribute, H5T_NATIVE_INT, &value);
        }
        H5Sclose(space);
        H5Aclose(attribute);
    }
    return value;
}

static ss_status check_format(const input *in)
{
    char format[64];
    read_text_attribute(in->file, "format", format, sizeof format);
    if (strcmp(format, SS_RECORD_FORMAT) != 0) {
        return ss_fail(in->e, SS_BAD_INPUT,
                       "%s: is an HDF5 file, but not one of results, as bench --out makes them",
                       in->path);
    }
    if (read_int_attribute(in->file, "format_version") != SS_RECORD_FORMAT_VERSION) {
        return ss_fail(in->e, SS_BAD_INPUT,
                       "%s: holds results of another version of stickslip; name another file",
                       in->path);
    }
    return SS_OK;
}

// The file as it was read. HDF5 copies the bytes and does not change them.
typedef struct image {
    const char *path;
    void *bytes;
    size_t count;
} image;

static hid_t open_image(const image *from)
{
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t file = -1;
    if (access >= 0 && H5Pset_fapl_core(access, 1 << 16, false) >= 0 &&
        H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0 &&
        H5Pset_file_image(access, from->bytes, from->count) >= 0) {
        file = H5Fopen("stickslip-results", H5F_ACC_RDONLY, access);
    }
    H5Pclose(access);
    return file;
}

static ss_status parse(const image *from, ss_record_set *set, ss_error *e)
{
    const ss_h5_quiet before = ss_h5_begin_quiet();
    const input in = {.path = from->path, .file = open_image(from), .e = e};
    ss_status status = in.file < 0 ? refuse(&in, "it", "cannot be opened") : check_format(&in);
    if (status == SS_OK) {
        status = read_all_rows(&in, set);
    }
    if (in.file >= 0) {
        H5Fclose(in.file);
    }
    ss_h5_end_quiet(before);
    return status;
}

static void parse_in_vain(void *from)
{
    ss_record_set set = {0};
    parse(from, &set, NULL);
}

static ss_status fail_to_read(const char *path, int error, ss_error *e)
{
    return ss_fail(e, SS_SYSTEM, "%s: cannot be read: %s", path, strerror(error));
}

static ss_status fail_to_open(const char *path, int error, ss_error *e)
{
    const bool machine = error == EMFILE || error == ENFILE || error == ENOMEM || error == EIO;
    return ss_fail(e, machine ? SS_SYSTEM : SS_BAD_INPUT, "%s: cannot be read: %s", path,
                   strerror(error));
}

static ss_status fill(int fd, image *to, ss_error *e)
{
    for (size_t at = 0; at < to->count;) {
        const ssize_t got = pread(fd, (char *)to->bytes + at, to->count - at, (off_t)at);
        if (got == 0) {
            return ss_fail(e, SS_BAD_INPUT, "%s: was cut short while it was read", to->path);
        }
        if (got < 0 && errno != EINTR) {
            return fail_to_read(to->path, errno, e);
        }
        at += got > 0 ? (size_t)got : 0;
    }
    return SS_OK;
}

static ss_status take(int fd, image *to, ss_error *e)
{
    static const char SIGNATURE[8] = "\211HDF\r\n\032\n";
    struct stat file;
    if (fstat(fd, &file) != 0) {
        return fail_to_read(to->path, errno, e);
    }
    if (!S_ISREG(file.st_mode)) {
        return ss_fail(e, SS_BAD_INPUT, "%s: is not a regular file", to->path);
    }
    to->count = (size_t)file.st_size;
    to->bytes = malloc(to->count + sizeof SIGNATURE);
    if (to->bytes == NULL) {
        return ss_fail_memory(e, to->path);
    }
    const ss_status status = fill(fd, to, e);
    if (status == SS_OK &&
        (to->count < sizeof SIGNATURE || memcmp(to->bytes, SIGNATURE, sizeof SIGNATURE) != 0)) {
        return ss_fail(e, SS_BAD_INPUT,
                       to->count == 0 ? "%s: is an empty file" : "%s: is not an HDF5 file",
                       to->path);
    }
    return status;
}

ss_status ss_record_file_read(const char *path, ss_record_set *set, bool *found, ss_error *e)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    *found = fd >= 0;
    if (fd < 0) {
        return errno == ENOENT ? SS_OK : fail_to_open(path, errno, e);
    }
    image from = {.path = path};
    ss_status status = take(fd, &from, e);
    close(fd);
    if (status == SS_OK) {
        status = ss_probe(parse_in_vain, &from, path, e);
    }
    if (status == SS_OK) {
        status = parse(&from, set, e);
    }
    free(from.bytes);
    return status;
}
