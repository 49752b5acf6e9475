// tests/support/hdf5_files.c -- see hdf5_files.h.
#include "tests/support/hdf5_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/support.h"

static hid_t good(hid_t id)
{
    CHECK(id >= 0);
    return id;
}

static void check_good(herr_t result)
{
    CHECK(result >= 0);
}

hid_t small_file(const char *path)
{
    return good(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
}

void close_file(hid_t file)
{
    check_good(H5Fclose(file));
}

static bool exists(hid_t where, const char *path)
{
    char prefix[256];
    for (const char *end = path; end != NULL;) {
        end = strchr(end + 1, '/');
        snprintf(prefix, sizeof prefix, "%.*s", end != NULL ? (int)(end - path) : 255, path);
        if (H5Lexists(where, prefix, H5P_DEFAULT) <= 0) {
            return false;
        }
    }
    return true;
}

void remove_object(hid_t where, const char *path)
{
    check_good(H5Ldelete(where, path, H5P_DEFAULT));
}

static hid_t with_parents(void)
{
    const hid_t links = good(H5Pcreate(H5P_LINK_CREATE));
    check_good(H5Pset_create_intermediate_group(links, 1));
    return links;
}

void put_typed(hid_t where, const char *path, hid_t type, hid_t space, int count, hid_t creation,
               const void *values)
{
    if (exists(where, path)) {
        remove_object(where, path);
    }
    const hsize_t dims = (hsize_t)count;
    const hid_t own = space == H5S_ALL ? good(H5Screate_simple(1, &dims, NULL)) : space;
    const hid_t links = with_parents();
    const hid_t dataset = good(H5Dcreate2(where, path, type, own, links, creation, H5P_DEFAULT));
    if (values != NULL) {
        check_good(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    }
    check_good(H5Dclose(dataset));
    check_good(H5Pclose(links));
    if (space == H5S_ALL) {
        check_good(H5Sclose(own));
    }
}

void put_ints(hid_t where, const char *path, int count, const int *values)
{
    put_typed(where, path, H5T_NATIVE_INT, H5S_ALL, count, H5P_DEFAULT, values);
}

void put_int(hid_t where, const char *path, int value)
{
    put_ints(where, path, 1, &value);
}

void put_attribute(hid_t where, const char *path, const char *name)
{
    const hid_t space = good(H5Screate(H5S_SCALAR));
    const hid_t attribute = good(H5Acreate_by_name(where, path, name, H5T_NATIVE_INT, space,
                                                   H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    good(H5Awrite(attribute, H5T_NATIVE_INT, &(int){7}));
    H5Aclose(attribute);
    H5Sclose(space);
}

void put_reals(hid_t where, const char *path, int count, const double *values)
{
    put_typed(where, path, H5T_NATIVE_DOUBLE, H5S_ALL, count, H5P_DEFAULT, values);
}

void put_text(hid_t where, const char *path, const char *text)
{
    const hid_t type = good(H5Tcopy(H5T_C_S1));
    const hid_t scalar = good(H5Screate(H5S_SCALAR));
    check_good(H5Tset_size(type, strlen(text) + 1));
    put_typed(where, path, type, scalar, 1, H5P_DEFAULT, text);
    check_good(H5Sclose(scalar));
    check_good(H5Tclose(type));
}

void put_group(hid_t where, const char *path)
{
    const hid_t links = with_parents();
    check_good(H5Gclose(good(H5Gcreate2(where, path, links, H5P_DEFAULT, H5P_DEFAULT))));
    check_good(H5Pclose(links));
}

void put_diagonal(hid_t where, const char *path, int n, double x)
{
    int places[64];
    double values[64];
    for (int k = 0; k <= n; k++) {
        places[k] = k;
        values[k] = x;
    }
    const hid_t links = with_parents();
    const hid_t group = good(H5Gcreate2(where, path, links, H5P_DEFAULT, H5P_DEFAULT));
    put_int(group, "m", n);
    put_int(group, "n", n);
    put_int(group, "nz", -1);
    put_int(group, "nzmax", n);
    put_ints(group, "p", n + 1, places);
    put_ints(group, "i", n, places);
    put_reals(group, "x", n, values);
    check_good(H5Gclose(group));
    check_good(H5Pclose(links));
}

hid_t small_local(const char *path)
{
    const hid_t file = small_file(path);
    put_int(file, "fclib_local/spacedim", 3);
    put_diagonal(file, "fclib_local/W", 6, 2.0);
    put_reals(file, "fclib_local/vectors/mu", 2, (const double[]){0.3, 0.7});
    put_reals(file, "fclib_local/vectors/q", 6, (const double[]){-1, 0.5, 0, 2, 0, 1});
    return file;
}

hid_t small_global(const char *path)
{
    const hid_t file = small_file(path);
    put_int(file, "fclib_global/spacedim", 3);
    put_diagonal(file, "fclib_global/M", 6, 2.0);
    put_diagonal(file, "fclib_global/H", 6, 1.0);
    put_reals(file, "fclib_global/vectors/mu", 2, (const double[]){0.3, 0.7});
    put_reals(file, "fclib_global/vectors/f", 6, (const double[]){-1, 0.5, 0, 2, 0, 1});
    put_reals(file, "fclib_global/vectors/w", 6, (const double[]){0, 0, 0, 0, 0, 0});
    return file;
}

void put_state(hid_t where, const char *group, int count, double value)
{
    double values[64];
    char path[64];
    for (int k = 0; k < count; k++) {
        values[k] = value;
    }
    snprintf(path, sizeof path, "%s/r", group);
    put_reals(where, path, count, values);
    snprintf(path, sizeof path, "%s/u", group);
    put_reals(where, path, count, values);
}
