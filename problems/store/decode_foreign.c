// H5Oget_info2 as libhdf5 1.10 has them; later versions keep them under this name.
#define H5_USE_110_API

// What a writer would not write again.
#include <stdio.h>
#include <string.h>

#include "problems/store/decode.h"
#include "problems/store/decode_source.h"
#include "problems/store/layout.h"

typedef struct search {
    const ss_source *source;
    const char *problem; // "/problems/NAME/", or "/"
    int found;
} search;

static void send_foreign(search *found, const char *path)
{
    char whole[2 * SS_H5_NAME];
    if (found->found++ < SS_DECODE_FOREIGN_MAX) {
        snprintf(whole, sizeof whole, "%s%s", found->problem, path);
        ss_source_send(found->source, whole, SS_ARRAY_GROUP, 0, NULL);
    }
}

static void search_attributes(search *found, hid_t object, const char *path)
{
    H5O_info_t info;
    const hsize_t count = H5Oget_info2(object, &info, H5O_INFO_NUM_ATTRS) >= 0 ? info.num_attrs : 0;
    for (hsize_t k = 0; k < count && found->found < SS_DECODE_FOREIGN_MAX; k++) {
        char name[SS_H5_NAME], whole[2 * SS_H5_NAME];
        if (H5Aget_name_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, k, name, sizeof name,
                               H5P_DEFAULT) < 0) {
            return;
        }
        snprintf(whole, sizeof whole, "%s@%s", path, name);
        if (!ss_layout_knows(whole)) {
            send_foreign(found, whole);
        }
    }
}

// At and below an object, whose path within the problem is known: at most four groups deep.
static void search_object(search *found, hid_t object, const char *path)
{
    ss_arrays names = {0};
    search_attributes(found, object, path);
    if (H5Iget_type(object) == H5I_GROUP) {
        ss_source_list_names(found->source, object, &names);
    }
    for (size_t k = 0; k < names.count && found->found < SS_DECODE_FOREIGN_MAX; k++) {
        char whole[2 * SS_H5_NAME];
        snprintf(whole, sizeof whole, "%s%s%.*s", path, path[0] != '\0' ? "/" : "", SS_H5_NAME,
                 names.list[k].path);
        const hid_t member =
            ss_layout_knows(whole) ? H5Oopen(object, names.list[k].path, H5P_DEFAULT) : -1;
        if (member >= 0) {
            search_object(found, member, whole);
        } else {
            send_foreign(found, whole);
        }
        H5Oclose(member);
    }
    ss_arrays_free(&names);
}

static void search_around_collection(search *found)
{
    const ss_source *s = found->source;
    ss_arrays top = {0};
    search_attributes(found, s->file, "");
    ss_source_list_names(s, s->file, &top);
    for (size_t k = 0; k < top.count; k++) {
        if (strcmp(top.list[k].path, "problems") != 0) {
            send_foreign(found, top.list[k].path);
        }
    }
    ss_arrays_free(&top);
}

void ss_source_send_foreign(const ss_source *s)
{
    search found = {.source = s, .problem = "/"};
    if (s->names.count > 0 && s->names.list[0].path[0] != '\0') {
        search_around_collection(&found);
    }
    for (size_t k = 0; k < s->names.count; k++) {
        char path[SS_H5_NAME + 32] = "/";
        const char *name = s->names.list[k].path;
        if (name[0] != '\0') {
            snprintf(path, sizeof path, "/problems/%s/", name);
        }
        found.problem = path;
        const hid_t group = ss_source_open_problem(s, name);
        if (group >= 0) {
            search_object(&found, group, "");
        }
        H5Gclose(group);
    }
}
