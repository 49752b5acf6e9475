#include "problems/store/decode_value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/store/decode.h"

#define TEXT_BYTES ((size_t)1 << 16) // longest text that is read, with its NUL

// Deflate shrinks at most 1032-fold; a dataset that claims more has invented its size.
#define MOST_SHRUNK 1100
#define SMALL_BYTES 4096 // what is never called too large

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

uint64_t ss_decode_memory(uint64_t file_bytes)
{
    return MEMORY_BASE + MEMORY_PER_BYTE * believable(file_bytes);
}

ss_allowance ss_allowance_of_file(uint64_t file_bytes)
{
    const uint64_t bytes = believable(file_bytes);
    return (ss_allowance){.file_bytes = bytes,
                          .budget = MOST_SHRUNK * bytes + UNWRITTEN_BYTES,
                          .largest = ss_decode_memory(bytes) - MEMORY_BASE / 2};
}

// Each check below answers false with a reason.
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

// Data that lie inside this file, in a way that this program understands.
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

// Elements of one chunk, or of the whole where that is more; UINT64_MAX when it is no number.
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

// Elements of the chunks that were never written, which libhdf5 fills in; the whole if it cannot
// tell.
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
static bool size_is_plausible(ss_value *v, hid_t creation, size_t element, uint64_t file_bytes)
{
    const uint64_t stored = H5Dget_storage_size(v->object);
    H5D_fill_value_t fill = H5D_FILL_VALUE_UNDEFINED;
    H5Pfill_value_defined(creation, &fill);
    if (stored == 0 && v->count > 0 && fill == H5D_FILL_VALUE_UNDEFINED) {
        return refuse(v, "it was never written");
    }
    const uint64_t real = stored < file_bytes ? stored : file_bytes;
    const uint64_t most = stored == 0 ? UNWRITTEN_BYTES : MOST_SHRUNK * real + SMALL_BYTES;
    const uint64_t piece = stored == 0 ? v->count : largest_piece(v->count, creation);
    const uint64_t unwritten = stored == 0 ? 0 : unwritten_elements(v, creation);
    if (piece > most / element || unwritten > UNWRITTEN_BYTES / element) {
        snprintf(v->reason, sizeof v->reason, "it declares %llu elements and stores %llu bytes",
                 (unsigned long long)v->count, (unsigned long long)stored);
        return false;
    }
    return true;
}

static bool dataset_is_sound(ss_value *v, size_t element, uint64_t file_bytes)
{
    const hid_t creation = H5Dget_create_plist(v->object);
    if (creation < 0) {
        return refuse(v, "libhdf5 cannot determine its layout");
    }
    const bool sound =
        storage_is_plain(v, creation) && size_is_plausible(v, creation, element, file_bytes);
    H5Pclose(creation);
    return sound;
}

static bool read_into(ss_value *v, hid_t memory_type, void *buffer)
{
    const herr_t got = v->is_attribute
                           ? H5Aread(v->object, memory_type, buffer)
                           : H5Dread(v->object, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer);
    return got >= 0 || refuse(v, "libhdf5 cannot decode it");
}

static bool read_numbers(ss_value *v, hid_t type, ss_allowance *allowance)
{
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

bool ss_value_read(ss_value *v, ss_allowance *allowance)
{
    const hid_t space = v->is_attribute ? H5Aget_space(v->object) : H5Dget_space(v->object);
    const hid_t type = v->is_attribute ? H5Aget_type(v->object) : H5Dget_type(v->object);
    bool good = space >= 0 && type >= 0 ? count_elements(v, space) && class_fits(v, type)
                                        : refuse(v, "libhdf5 cannot decode its type");
    if (good && !v->is_attribute) {
        good = dataset_is_sound(v, H5Tget_size(type), allowance->file_bytes);
    }
    if (good) {
        good =
            v->kind == SS_ARRAY_TEXT ? value_read_text(v, type) : read_numbers(v, type, allowance);
    }
    H5Tclose(type);
    H5Sclose(space);
    return good;
}
