// H5Literate and H5Lget_info as libhdf5 1.10 has them; later versions keep them under this name.
#define H5_USE_110_API

#include "problems/store/decode_source.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

// ---- Sending

void ss_source_send(const ss_source *s, const char *path, ss_array_kind kind, size_t count,
                    const void *data)
{
    if (ss_channel_send(s->fd, path, kind, count, data) != 0) {
        _exit(0);
    }
}

void ss_source_send_reason(const ss_source *s, const char *path, const char *reason)
{
    ss_source_send(s, path, SS_ARRAY_UNREADABLE, strlen(reason), reason);
}

_Noreturn void ss_source_leave_without_memory(const ss_source *s)
{
    ss_channel_send_no_memory(s->fd);
    _exit(0);
}

// ---- Links

bool ss_source_leads_on(const ss_source *s, hid_t group, const char *object, const char *path)
{
    const ss_link_kind kind = ss_h5_find_link(group, object);
    if (kind == SS_LINK_EXTERNAL || kind == SS_LINK_BROKEN) {
        ss_source_send_reason(s, path, ss_h5_why_no_object(kind));
    }
    return kind == SS_LINK_OBJECT;
}

typedef struct listing {
    ss_arrays names;
    bool no_memory;
} listing;

static herr_t collect_name(hid_t group, const char *name, const H5L_info_t *info, void *wanted)
{
    (void)group;
    (void)info;
    listing *l = wanted;
    l->no_memory = ss_arrays_add(&l->names, name, SS_ARRAY_GROUP, 0, NULL) != 0;
    return l->no_memory ? -1 : 0;
}

bool ss_source_list_names(const ss_source *s, hid_t group, ss_arrays *names)
{
    listing l = {0};
    const herr_t listed = H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, collect_name, &l);
    if (l.no_memory) {
        ss_source_leave_without_memory(s);
    }
    ss_arrays_sort(&l.names);
    *names = l.names;
    return listed >= 0;
}

// Why what lies at `path` is no group.
static const char *why_no_group(const ss_source *s, const char *path)
{
    switch (ss_h5_find_link(s->file, path)) {
    case SS_LINK_EXTERNAL:
        return "is an external link";
    case SS_LINK_BROKEN:
        return "is a link that libhdf5 cannot follow";
    case SS_LINK_NONE:
    case SS_LINK_OBJECT:
        break;
    }
    const bool leads = H5Oexists_by_name(s->file, path, H5P_DEFAULT) > 0;
    return leads ? "is not a group" : "is a dangling link";
}

hid_t ss_source_open_problem(const ss_source *s, const char *name)
{
    char path[SS_H5_NAME + 32] = "/", reason[SS_H5_NAME + 80];
    if (name[0] == '\0') {
        return H5Gopen2(s->file, path, H5P_DEFAULT);
    }
    snprintf(path, sizeof path, "/problems/%s", name);
    const bool plain = ss_h5_find_link(s->file, path + 1) == SS_LINK_OBJECT;
    const hid_t group = plain ? H5Gopen2(s->file, path, H5P_DEFAULT) : -1;
    if (group < 0) {
        snprintf(reason, sizeof reason, "%s %s", path, why_no_group(s, path + 1));
        ss_source_send_reason(s, "", reason);
    }
    return group;
}
