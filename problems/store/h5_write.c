#include "problems/store/h5_write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

// zlib's level: 4 is near the size of 9 on such arrays at a fraction of its time.
#define DEFLATE_LEVEL 4
// A chunk has so many entries: 512 KiB of doubles, of which two fit HDF5's cache.
#define CHUNK_ENTRIES 65536
// Up to this many bytes an array lives in its object header; a filter would not make it smaller.
#define COMPACT_BYTES 512
// A file in memory grows by this many bytes at a time.
#define CORE_INCREMENT ((size_t)1 << 20)

ss_h5_quiet ss_h5_begin_quiet(void)
{
    ss_h5_quiet before = {0};
    before.saved = H5Eget_auto2(H5E_DEFAULT, &before.report, &before.data) >= 0;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return before;
}

void ss_h5_end_quiet(ss_h5_quiet before)
{
    if (before.saved) {
        H5Eset_auto2(H5E_DEFAULT, before.report, before.data);
    }
}

hid_t ss_h5_create_in_memory(const char *name)
{
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    const hid_t creation = H5Pcreate(H5P_FILE_CREATE);
    hid_t file = -1;
    if (access >= 0 && creation >= 0 && H5Pset_fapl_core(access, CORE_INCREMENT, false) >= 0 &&
        H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0 &&
        H5Pset_obj_track_times(creation, false) >= 0) {
        file = H5Fcreate(name, H5F_ACC_TRUNC, creation, access);
    }
    H5Pclose(creation);
    H5Pclose(access);
    return file;
}

void *ss_h5_take_image(hid_t file, size_t *count)
{
    *count = 0;
    const ssize_t size =
        H5Fflush(file, H5F_SCOPE_LOCAL) >= 0 ? H5Fget_file_image(file, NULL, 0) : -1;
    void *image = size > 0 ? malloc((size_t)size) : NULL;
    if (image != NULL && H5Fget_file_image(file, image, (size_t)size) != size) {
        free(image);
        return NULL;
    }
    *count = image != NULL ? (size_t)size : 0;
    return image;
}

hid_t ss_h5_create_group(hid_t where, const char *name)
{
    const hid_t list = H5Pcreate(H5P_GROUP_CREATE);
    hid_t group = -1;
    if (list >= 0 && H5Pset_obj_track_times(list, false) >= 0) {
        group = H5Gcreate2(where, name, H5P_DEFAULT, list, H5P_DEFAULT);
    }
    H5Pclose(list);
    return group;
}

bool ss_h5_close_group(hid_t group, bool ok)
{
    return group >= 0 && H5Gclose(group) >= 0 && ok;
}

static bool set_layout(hid_t list, int rank, hsize_t count, size_t bytes)
{
    if (H5Pset_obj_track_times(list, false) < 0) {
        return false;
    }
    if (bytes <= COMPACT_BYTES) {
        return H5Pset_layout(list, H5D_COMPACT) >= 0;
    }
    if (rank == 0) {
        return true; // HDF5 has no chunks of a scalar, here a long text
    }
    const hsize_t chunk = count < CHUNK_ENTRIES ? count : CHUNK_ENTRIES;
    return H5Pset_chunk(list, 1, &chunk) >= 0 && H5Pset_shuffle(list) >= 0 &&
           H5Pset_deflate(list, DEFLATE_LEVEL) >= 0;
}

// space and type stay the caller's. No values are written if there are none.
static bool write_dataset(hid_t where, const char *name, hid_t type, hid_t space, hid_t memory_type,
                          const void *values)
{
    const hsize_t count = (hsize_t)H5Sget_simple_extent_npoints(space);
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    hid_t dataset = -1;
    if (list >= 0 &&
        set_layout(list, H5Sget_simple_extent_ndims(space), count, count * H5Tget_size(type))) {
        dataset = H5Dcreate2(where, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    }
    const bool ok = dataset >= 0 && (count == 0 || H5Dwrite(dataset, memory_type, H5S_ALL, H5S_ALL,
                                                            H5P_DEFAULT, values) >= 0);
    H5Pclose(list);
    return H5Dclose(dataset) >= 0 && ok;
}

static bool write_array(hid_t where, const char *name, hid_t type, hid_t memory_type, size_t count,
                        const void *values)
{
    const hsize_t size = count;
    const hid_t space = H5Screate_simple(1, &size, NULL);
    const bool ok = space >= 0 && write_dataset(where, name, type, space, memory_type, values);
    H5Sclose(space);
    return ok;
}

bool ss_h5_write_doubles(hid_t where, const char *name, size_t count, const double *values)
{
    ss_assert(values != NULL || count == 0);
    return write_array(where, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, count, values);
}

bool ss_h5_write_ints(hid_t where, const char *name, size_t count, const int *values)
{
    ss_assert(values != NULL || count == 0);
    return write_array(where, name, H5T_STD_I32LE, H5T_NATIVE_INT, count, values);
}

bool ss_h5_write_int(hid_t where, const char *name, int value)
{
    return ss_h5_write_ints(where, name, 1, &value);
}

// Returns a type of fixed length, the final zero of the text included; -1 on failure.
static hid_t string_type(const char *text)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    if (H5Tset_size(type, strlen(text) + 1) < 0) {
        H5Tclose(type);
        return -1;
    }
    return type;
}

bool ss_h5_write_text(hid_t where, const char *name, const char *text)
{
    const char *known = text != NULL ? text : "";
    const hid_t type = string_type(known);
    const hid_t space = H5Screate(H5S_SCALAR);
    const bool ok = type >= 0 && space >= 0 && write_dataset(where, name, type, space, type, known);
    H5Sclose(space);
    H5Tclose(type);
    return ok;
}

static bool write_attribute(hid_t group, const char *name, hid_t type, hid_t space,
                            hid_t memory_type, const void *value)
{
    const hid_t attribute = H5Acreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool ok = attribute >= 0 && H5Awrite(attribute, memory_type, value) >= 0;
    return H5Aclose(attribute) >= 0 && ok;
}

static bool put_scalar(hid_t group, const char *name, hid_t type, hid_t memory_type,
                       const void *value)
{
    const hid_t space = H5Screate(H5S_SCALAR);
    const bool ok = space >= 0 && write_attribute(group, name, type, space, memory_type, value);
    H5Sclose(space);
    return ok;
}

bool ss_h5_put_int(hid_t group, const char *name, int value)
{
    return put_scalar(group, name, H5T_STD_I32LE, H5T_NATIVE_INT, &value);
}

bool ss_h5_put_seed(hid_t group, const char *name, uint64_t value)
{
    return put_scalar(group, name, H5T_STD_U64LE, H5T_NATIVE_UINT64, &value);
}

bool ss_h5_put_double(hid_t group, const char *name, double value)
{
    return isnan(value) || put_scalar(group, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}

bool ss_h5_put_text(hid_t group, const char *name, const char *text)
{
    ss_assert(text != NULL);
    if (text[0] == '\0') {
        return true;
    }
    const hid_t type = string_type(text);
    const bool ok = type >= 0 && put_scalar(group, name, type, type, text);
    H5Tclose(type);
    return ok;
}

bool ss_h5_put_pairs(hid_t group, const char *name, int count, const int *pairs)
{
    if (count == 0) {
        return true;
    }
    const hsize_t size[2] = {(hsize_t)count, 2};
    const hid_t space = H5Screate_simple(2, size, NULL);
    const bool ok =
        space >= 0 && write_attribute(group, name, H5T_STD_I32LE, space, H5T_NATIVE_INT, pairs);
    H5Sclose(space);
    return ok;
}
