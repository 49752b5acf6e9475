// H5Lget_info as libhdf5 1.10 has it; later versions keep it under this name.
#define H5_USE_110_API

#include "problems/store/h5_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

#define TEXT_BYTES ((size_t)1 << 16) // longest text that is read, with its NUL

// Deflate shrinks at most 1032-fold; a dataset that claims more has invented its size.
#define MOST_SHRUNK 1100
#define SMALL_BYTES 4096 // never called too large

// Datasets that were declared and never written are zeros; public files hold such answers. They
// cost the file nothing, so their size has a limit of its own.
#define UNWRITTEN_BYTES ((uint64_t)64 << 20)

// Address space for a file: a base, and a multiple of its size, as deflated indices unfold 10- to
// 50-fold and are held twice while they are converted. Half of the base is for libhdf5 itself.
#define MEMORY_BASE     ((uint64_t)1 << 30)
#define MEMORY_PER_BYTE 128

static uint64_t believable(uint64_t file_bytes)
{
    const uint64_t most = UINT64_MAX / MOST_SHRUNK - MEMORY_BASE; // so that no product overflows
    return file_bytes < most ? file_bytes : most;
}

uint64_t ss_h5_memory(uint64_t file_bytes)
{
    return MEMORY_BASE + MEMORY_PER_BYTE * believable(file_bytes);
}

ss_allowance ss_allowance_of_file(uint64_t file_bytes)
{
    const uint64_t bytes = believable(file_bytes);
    return (ss_allowance){.file_bytes = bytes,
                          .budget = MOST_SHRUNK * bytes + UNWRITTEN_BYTES,
                          .largest = ss_h5_memory(bytes) - MEMORY_BASE / 2};
}

// ---- The file and its links

hid_t ss_h5_open(int file)
{
    ss_assert(file >= 0);
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    H5open();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5PLset_loading_state(0);
    H5Lunregister(H5L_TYPE_EXTERNAL);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    // The default driver resolves links, which fails where the file has lost its name meanwhile.
    H5Pset_fapl_stdio(access);
    H5Pset_file_locking(access, false, true);
    const hid_t opened = H5Fopen(path, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    return opened;
}

// H5Lexists wants every parent to exist, so each prefix of the path is looked at in turn.
ss_link_kind ss_h5_find_link(hid_t group, const char *path)
{
    char prefix[SS_H5_NAME + 64];
    for (const char *end = path; end != NULL && *end != '\0';) {
        end = strchr(end + 1, '/');
        const size_t length = end != NULL ? (size_t)(end - path) : strlen(path);
        if (length >= sizeof prefix) {
            return SS_LINK_BROKEN;
        }
        memcpy(prefix, path, length);
        prefix[length] = '\0';
        const htri_t exists = H5Lexists(group, prefix, H5P_DEFAULT);
        if (exists <= 0) {
            return exists == 0 ? SS_LINK_NONE : SS_LINK_BROKEN;
        }
        H5L_info_t info;
        if (H5Lget_info(group, prefix, &info, H5P_DEFAULT) < 0) {
            return SS_LINK_BROKEN;
        }
        if (info.type != H5L_TYPE_HARD && info.type != H5L_TYPE_SOFT) {
            return SS_LINK_EXTERNAL;
        }
    }
    return SS_LINK_OBJECT;
}

const char *ss_h5_why_no_object(ss_link_kind kind)
{
    switch (kind) {
    case SS_LINK_NONE:
        return "it is missing";
    case SS_LINK_EXTERNAL:
        return "it is an external link";
    case SS_LINK_BROKEN:
        return "libhdf5 cannot follow its link";
    case SS_LINK_OBJECT:
        break;
    }
    return "libhdf5 cannot open it";
}

// ---- Sizes and types

// Each check below returns false with a reason.
static bool refuse(ss_value *v, const char *reason)
{
    snprintf(v->reason, sizeof v->reason, "%s", reason);
    return false;
}

static bool out_of_memory(ss_value *v)
{
    v->no_memory = true;
    return false;
}

static bool count_matrix(ss_value *v, int rank, const hsize_t *dims)
{
    if (rank != 2) {
        return refuse(v, "it is neither a group nor an array with two dimensions");
    }
    if (dims[0] == 0 || dims[1] > SIZE_MAX / 16 / dims[0]) {
        return refuse(v, "it is too large, or empty");
    }
    v->shape[0] = dims[0];
    v->shape[1] = dims[1];
    v->count = dims[0] * dims[1];
    return true;
}

static bool count_rows(ss_value *v, int rank, const hsize_t *dims)
{
    if (rank != v->rank) {
        snprintf(v->reason, sizeof v->reason, "it has %d dimensions, it needs %d", rank, v->rank);
        return false;
    }
    v->count = 1;
    for (int k = 0; k < rank; k++) {
        if (dims[k] > SIZE_MAX / 16 / (v->count + 1)) {
            return refuse(v, "it is too large");
        }
        v->shape[k] = dims[k];
        v->count *= dims[k];
    }
    return true;
}

static bool count_elements(ss_value *v, hid_t space)
{
    hsize_t dims[H5S_MAX_RANK];
    const int rank = H5Sget_simple_extent_dims(space, dims, NULL);
    if (rank < 0) {
        return refuse(v, "libhdf5 cannot determine its size");
    }
    if (v->kind == SS_ARRAY_MATRIX) {
        return count_matrix(v, rank, dims);
    }
    if (v->rank > 0) {
        return count_rows(v, rank, dims);
    }
    v->count = H5Sget_simple_extent_type(space) == H5S_NULL ? 0 : 1;
    int long_dims = 0;
    for (int k = 0; k < rank; k++) {
        if (dims[k] != 1) {
            v->count = dims[k];
            long_dims++;
        }
    }
    if (long_dims > 1) {
        return refuse(v, "it has more than one dimension");
    }
    return !v->is_attribute || v->count == 1 || refuse(v, "it is not a single value");
}

static bool class_fits(ss_value *v, hid_t type)
{
    const H5T_class_t class = H5Tget_class(type);
    if (H5Tget_size(type) == 0) {
        return refuse(v, "libhdf5 cannot decode its type");
    }
    if (v->kind == SS_ARRAY_INTEGERS) {
        return class == H5T_INTEGER || refuse(v, "it does not contain integers");
    }
    if (v->kind == SS_ARRAY_REALS || v->kind == SS_ARRAY_MATRIX) {
        return class == H5T_FLOAT || class == H5T_INTEGER ||
               refuse(v, "it does not contain numbers");
    }
    return class == H5T_STRING || refuse(v, "it does not contain text");
}

// True if the data lie inside this file, in a way that this program understands.
static bool storage_is_plain(ss_value *v, hid_t creation)
{
    const H5D_layout_t layout = H5Pget_layout(creation);
    if (layout == H5D_VIRTUAL) {
        return refuse(v, "it is a virtual dataset");
    }
    if (layout != H5D_COMPACT && layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED) {
        return refuse(v, "libhdf5 cannot determine its layout");
    }
    return H5Pget_external_count(creation) == 0 || refuse(v, "its data are stored in another file");
}

// Returns the elements of one chunk, or of the whole where that is more; UINT64_MAX when it is no
// number.
static uint64_t largest_piece(uint64_t count, hid_t creation)
{
    if (H5Pget_layout(creation) != H5D_CHUNKED) {
        return count;
    }
    hsize_t dims[H5S_MAX_RANK];
    const int rank = H5Pget_chunk(creation, H5S_MAX_RANK, dims);
    uint64_t elements = rank < 1 ? UINT64_MAX : 1;
    for (int k = 0; k < rank; k++) {
        if (dims[k] == 0 || elements > UINT64_MAX / dims[k]) {
            return UINT64_MAX;
        }
        elements *= dims[k];
    }
    return elements > count ? elements : count;
}

// Returns the elements of the chunks that were never written, which libhdf5 fills in; the whole if
// it cannot tell.
static uint64_t unwritten_elements(const ss_value *v, hid_t creation)
{
    hsize_t dims[H5S_MAX_RANK], written = 0;
    if (H5Pget_layout(creation) != H5D_CHUNKED) {
        return 0;
    }
    const int rank = H5Pget_chunk(creation, H5S_MAX_RANK, dims);
    const hid_t space = H5Dget_space(v->object);
    const bool told = rank > 0 && H5Dget_num_chunks(v->object, space, &written) >= 0;
    H5Sclose(space);
    if (!told) {
        return v->count;
    }
    uint64_t elements = written;
    for (int k = 0; k < rank && elements > 0; k++) {
        elements = dims[k] > UINT64_MAX / elements ? UINT64_MAX : elements * dims[k];
    }
    return elements < v->count ? v->count - elements : 0;
}

// A few stored bytes must not unfold to memory without end.
static bool size_is_plausible(ss_value *v, hid_t creation)
{
    const uint64_t stored = H5Dget_storage_size(v->object);
    H5D_fill_value_t fill = H5D_FILL_VALUE_UNDEFINED;
    H5Pfill_value_defined(creation, &fill);
    if (stored == 0 && v->count > 0 && fill == H5D_FILL_VALUE_UNDEFINED) {
        return refuse(v, "it was never written");
    }
    const uint64_t real = stored < v->allowance->file_bytes ? stored : v->allowance->file_bytes;
    const uint64_t most = stored == 0 ? UNWRITTEN_BYTES : MOST_SHRUNK * real + SMALL_BYTES;
    const uint64_t piece = stored == 0 ? v->count : largest_piece(v->count, creation);
    const uint64_t unwritten = stored == 0 ? 0 : unwritten_elements(v, creation);
    if (piece > most / v->element || unwritten > UNWRITTEN_BYTES / v->element) {
        snprintf(v->reason, sizeof v->reason, "it declares %llu elements and stores %llu bytes",
                 (unsigned long long)v->count, (unsigned long long)stored);
        return false;
    }
    return true;
}

static bool storage_of(ss_value *v, bool (*is_right)(ss_value *v, hid_t creation))
{
    const hid_t creation = H5Dget_create_plist(v->object);
    const bool right =
        creation >= 0 ? is_right(v, creation) : refuse(v, "libhdf5 cannot determine its layout");
    H5Pclose(creation);
    return right;
}

// Checks everything that is known before any element is read. A virtual dataset has its size from
// others, which libhdf5 would open.
static bool is_sound(ss_value *v)
{
    if (!v->is_attribute && !storage_of(v, storage_is_plain)) {
        return false;
    }
    const hid_t space = v->is_attribute ? H5Aget_space(v->object) : H5Dget_space(v->object);
    const hid_t type = v->is_attribute ? H5Aget_type(v->object) : H5Dget_type(v->object);
    v->element = H5Tget_size(type);
    const bool sound = space >= 0 && type >= 0 ? count_elements(v, space) && class_fits(v, type)
                                               : refuse(v, "libhdf5 cannot decode its type");
    H5Tclose(type);
    H5Sclose(space);
    return sound && (v->is_attribute || storage_of(v, size_is_plausible));
}

// ---- Reading

static bool read_into(ss_value *v, hid_t memory_type, void *buffer)
{
    const herr_t got = v->is_attribute
                           ? H5Aread(v->object, memory_type, buffer)
                           : H5Dread(v->object, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer);
    return got >= 0 || refuse(v, "libhdf5 cannot decode it");
}

static bool read_numbers(ss_value *v, hid_t type)
{
    ss_allowance *allowance = v->allowance;
    // An unsigned 64-bit seed keeps its bits; an unsigned index above INT64_MAX becomes negative,
    // which no check lets through.
    const bool wide = H5Tget_sign(type) == H5T_SGN_NONE && H5Tget_size(type) == 8;
    const hid_t memory_type = v->kind != SS_ARRAY_INTEGERS ? H5T_NATIVE_DOUBLE
                              : wide                       ? H5T_NATIVE_UINT64
                                                           : H5T_NATIVE_INT64;
    if (v->count > allowance->budget / 8) {
        return refuse(v, "the file declares more data than its size allows");
    }
    if (v->count > allowance->largest / 8) {
        snprintf(v->reason, sizeof v->reason,
                 "its %llu elements need more memory than a file of %llu bytes may use",
                 (unsigned long long)v->count, (unsigned long long)allowance->file_bytes);
        return false;
    }
    allowance->budget -= 8 * v->count;
    const size_t head = v->kind == SS_ARRAY_MATRIX ? 2 : 0;
    double *data = v->data = calloc(head + v->count + 1, 8);
    if (data == NULL) {
        return out_of_memory(v);
    }
    for (size_t k = 0; k < head; k++) {
        data[k] = (double)v->shape[k];
    }
    v->count += head;
    return v->count == 0 || read_into(v, memory_type, data + head);
}

// Both kinds of text end as bytes and a NUL in data, which has TEXT_BYTES bytes.
static bool read_text_as(ss_value *v, hid_t type, hid_t memory_type, bool variable)
{
    char *text = NULL;
    if (H5Tset_size(memory_type, variable ? H5T_VARIABLE : H5Tget_size(type) + 1) < 0 ||
        H5Tset_cset(memory_type, H5Tget_cset(type)) < 0) {
        return refuse(v, "libhdf5 cannot decode its type");
    }
    if (!read_into(v, memory_type, variable ? (void *)&text : v->data)) {
        return false;
    }
    if (text != NULL) {
        const size_t length = strnlen(text, TEXT_BYTES - 1);
        memcpy(v->data, text, length);
        H5free_memory(text);
    }
    v->count = strlen(v->data);
    return true;
}

static bool value_read_text(ss_value *v, hid_t type)
{
    const bool variable = H5Tis_variable_str(type) > 0;
    if (v->count != 1 || (!variable && H5Tget_size(type) >= TEXT_BYTES)) {
        return refuse(v, "it is not one text of at most 65535 bytes");
    }
    v->data = calloc(TEXT_BYTES, 1);
    if (v->data == NULL) {
        return out_of_memory(v);
    }
    const hid_t memory_type = H5Tcopy(H5T_C_S1);
    const bool got = read_text_as(v, type, memory_type, variable);
    H5Tclose(memory_type);
    return got;
}

bool ss_value_read(ss_value *v)
{
    ss_assert(v->object >= 0 && v->allowance != NULL && v->data == NULL && v->rank == 0);
    if (!is_sound(v)) {
        return false;
    }
    const hid_t type = v->is_attribute ? H5Aget_type(v->object) : H5Dget_type(v->object);
    const bool got = v->kind == SS_ARRAY_TEXT ? value_read_text(v, type) : read_numbers(v, type);
    H5Tclose(type);
    return got;
}

bool ss_value_open_rows(ss_value *v, hid_t file, const char *path)
{
    ss_assert(v->rank >= 1 && v->rank <= 3 && v->allowance != NULL);
    const ss_link_kind kind = ss_h5_find_link(file, path);
    v->object = kind == SS_LINK_OBJECT ? H5Dopen2(file, path, H5P_DEFAULT) : -1;
    return v->object >= 0 ? is_sound(v) : refuse(v, ss_h5_why_no_object(kind));
}

bool ss_value_read_rows(ss_value *v, hid_t memory_type, size_t from, size_t count, void *values)
{
    const hsize_t begin[3] = {from, 0, 0}, size[3] = {count, v->shape[1], v->shape[2]};
    if (from > v->shape[0] || count > v->shape[0] - from) {
        return refuse(v, "it has fewer rows");
    }
    const hid_t all = H5Dget_space(v->object), part = H5Screate_simple(v->rank, size, NULL);
    const bool got =
        count == 0 || (H5Sselect_hyperslab(all, H5S_SELECT_SET, begin, NULL, size, NULL) >= 0 &&
                       H5Dread(v->object, memory_type, part, all, H5P_DEFAULT, values) >= 0);
    H5Sclose(part);
    H5Sclose(all);
    return got || refuse(v, "libhdf5 cannot decode it");
}
