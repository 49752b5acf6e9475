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

// H5Lexists wants every parent to exist, so each prefix of the path is looked at in turn.
ss_link_kind ss_source_find_link(hid_t group, const char *path)
{
    char prefix[SS_SOURCE_NAME + 64];
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

bool ss_source_leads_on(const ss_source *s, hid_t group, const char *object, const char *path)
{
    switch (ss_source_find_link(group, object)) {
    case SS_LINK_OBJECT:
        return true;
    case SS_LINK_EXTERNAL:
        ss_source_send_reason(s, path, "it is an external link");
        return false;
    case SS_LINK_BROKEN:
        ss_source_send_reason(s, path, "libhdf5 cannot follow its link");
        return false;
    case SS_LINK_NONE:
        return false;
    }
    return false;
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
    switch (ss_source_find_link(s->file, path)) {
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
    char path[SS_SOURCE_NAME + 32] = "/", reason[SS_SOURCE_NAME + 80];
    if (name[0] == '\0') {
        return H5Gopen2(s->file, path, H5P_DEFAULT);
    }
    snprintf(path, sizeof path, "/problems/%s", name);
    const bool plain = ss_source_find_link(s->file, path + 1) == SS_LINK_OBJECT;
    const hid_t group = plain ? H5Gopen2(s->file, path, H5P_DEFAULT) : -1;
    if (group < 0) {
        snprintf(reason, sizeof reason, "%s %s", path, why_no_group(s, path + 1));
        ss_source_send_reason(s, "", reason);
    }
    return group;
}
