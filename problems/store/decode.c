// H5Literate and H5Lget_info as libhdf5 1.10 has them; later versions keep them under this name.
#define H5_USE_110_API

#include "problems/store/decode.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "problems/problem.h"
#include "problems/store/decode_value.h"
#include "problems/store/layout.h"

// CPU time of one request in seconds, behind the wall limit of the parent: a decoder that spins
// dies even when its parent is stopped.
#define REQUEST_CPU 60

#define NAME_BYTES 1024 // longest name of a problem

// Groups whose presence matters: the two forms, the blocks of equality constraints, the optional.
static const char *const GROUPS[] = {"fclib_local",   "fclib_global",   "fclib_local/V",
                                     "fclib_local/R", "fclib_global/G", "guesses",
                                     "solution"};
#define NGROUPS (sizeof GROUPS / sizeof GROUPS[0])

// What is being served.
typedef struct source {
    int fd;                 // the other side
    hid_t file;             // < 0 where libhdf5 could not open it
    uint64_t file_bytes;    // size on disk
    ss_allowance allowance; // of the present request
    ss_arrays names;        // the problems, sorted
} source;

// ---- Sending. The child has no use without a listener, and says so when memory runs out.

static void send_array(const source *s, const char *path, ss_array_kind kind, size_t count,
                       const void *data)
{
    if (ss_channel_send(s->fd, path, kind, count, data) != 0) {
        _exit(0);
    }
}

static void send_reason(const source *s, const char *path, const char *reason)
{
    send_array(s, path, SS_ARRAY_UNREADABLE, strlen(reason), reason);
}

static void send_end(const source *s)
{
    if (ss_channel_send_end(s->fd) != 0) {
        _exit(0);
    }
}

static _Noreturn void leave_without_memory(const source *s)
{
    ss_channel_send_no_memory(s->fd);
    _exit(0);
}

// ---- Links.

typedef enum link_kind { LINK_NONE, LINK_OBJECT, LINK_EXTERNAL, LINK_BROKEN } link_kind;

// H5Lexists wants every parent to exist, so each prefix of the path is looked at in turn.
static link_kind find_link(hid_t group, const char *path)
{
    char prefix[NAME_BYTES + 64];
    for (const char *end = path; end != NULL && *end != '\0';) {
        end = strchr(end + 1, '/');
        const size_t length = end != NULL ? (size_t)(end - path) : strlen(path);
        if (length >= sizeof prefix) {
            return LINK_BROKEN;
        }
        memcpy(prefix, path, length);
        prefix[length] = '\0';
        const htri_t exists = H5Lexists(group, prefix, H5P_DEFAULT);
        if (exists <= 0) {
            return exists == 0 ? LINK_NONE : LINK_BROKEN;
        }
        H5L_info_t info;
        if (H5Lget_info(group, prefix, &info, H5P_DEFAULT) < 0) {
            return LINK_BROKEN;
        }
        if (info.type != H5L_TYPE_HARD && info.type != H5L_TYPE_SOFT) {
            return LINK_EXTERNAL;
        }
    }
    return LINK_OBJECT;
}

// True where there is an object; if there is something else, that is reported under `path`.
static bool link_leads_on(const source *s, hid_t group, const char *object, const char *path)
{
    switch (find_link(group, object)) {
    case LINK_OBJECT:
        return true;
    case LINK_EXTERNAL:
        send_reason(s, path, "it is an external link");
        return false;
    case LINK_BROKEN:
        send_reason(s, path, "libhdf5 cannot follow its link");
        return false;
    case LINK_NONE:
        return false;
    }
    return false;
}

// ---- Values.

static void send_value(source *s, ss_value *v, const char *path)
{
    if (v->object < 0) {
        send_reason(s, path, "libhdf5 cannot open it");
    } else if (ss_value_read(v, &s->allowance)) {
        send_array(s, path, v->kind, v->count, v->data);
    } else if (v->no_memory) {
        leave_without_memory(s);
    } else {
        send_reason(s, path, v->reason);
    }
    free(v->data);
}

static void send_dataset(source *s, hid_t group, const char *path, ss_array_kind kind)
{
    if (link_leads_on(s, group, path, path)) {
        ss_value v = {.object = H5Dopen2(group, path, H5P_DEFAULT), .kind = kind};
        send_value(s, &v, path);
        H5Dclose(v.object);
    }
}

static void send_attribute(source *s, hid_t group, const char *path, ss_array_kind kind)
{
    char object[64];
    const char *name = strchr(path, '@') + 1;
    snprintf(object, sizeof object, "%.*s", (int)(name - path - 1), path);
    if (link_leads_on(s, group, object, path) &&
        H5Aexists_by_name(group, object, name, H5P_DEFAULT) != 0) {
        const hid_t attribute = H5Aopen_by_name(group, object, name, H5P_DEFAULT, H5P_DEFAULT);
        ss_value v = {.object = attribute, .is_attribute = true, .kind = kind};
        send_value(s, &v, path);
        H5Aclose(attribute);
    }
}

// ---- One problem.

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

// Names of all links of a group, as far as libhdf5 can list them; false where it fails.
static bool list_names(const source *s, hid_t group, ss_arrays *names)
{
    listing l = {0};
    const herr_t listed = H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, collect_name, &l);
    if (l.no_memory) {
        leave_without_memory(s);
    }
    ss_arrays_sort(&l.names);
    *names = l.names;
    return listed >= 0;
}

static bool is_rolling(const char *name)
{
    return strncmp(name, "fclib_", 6) == 0 && strstr(name, "rolling") != NULL;
}

static void send_group(const source *s, hid_t where, const char *path)
{
    if (link_leads_on(s, where, path, path)) {
        const hid_t group = H5Gopen2(where, path, H5P_DEFAULT);
        if (group < 0) {
            send_reason(s, path, "it is not a group");
        } else {
            send_array(s, path, SS_ARRAY_GROUP, 0, NULL);
        }
        H5Gclose(group);
    }
}

static void send_groups(source *s, hid_t group)
{
    for (size_t k = 0; k < NGROUPS; k++) {
        send_group(s, group, GROUPS[k]);
    }
    ss_arrays names = {0};
    list_names(s, group, &names);
    for (size_t k = 0; k < names.count; k++) {
        if (is_rolling(names.list[k].path)) {
            send_array(s, names.list[k].path, SS_ARRAY_GROUP, 0, NULL);
        }
    }
    ss_arrays_free(&names);
}

static void send_guesses(source *s, hid_t group)
{
    for (int k = 1; k < INT32_MAX; k++) {
        char path[48];
        snprintf(path, sizeof path, "guesses/%d", k);
        if (!link_leads_on(s, group, path, path)) {
            return;
        }
        send_array(s, path, SS_ARRAY_GROUP, 0, NULL);
        for (const char *name = "ruv"; *name != '\0'; name++) {
            snprintf(path, sizeof path, "guesses/%d/%c", k, *name);
            send_dataset(s, group, path, SS_ARRAY_REALS);
        }
    }
}

// Why what lies at `path` is no group.
static const char *why_no_group(const source *s, const char *path)
{
    switch (find_link(s->file, path)) {
    case LINK_EXTERNAL:
        return "is an external link";
    case LINK_BROKEN:
        return "is a link that libhdf5 cannot follow";
    case LINK_NONE:
    case LINK_OBJECT:
        break;
    }
    const bool leads = H5Oexists_by_name(s->file, path, H5P_DEFAULT) > 0;
    return leads ? "is not a group" : "is a dangling link";
}

static hid_t open_problem(const source *s, const char *name)
{
    char path[NAME_BYTES + 32] = "/", reason[NAME_BYTES + 80];
    if (name[0] == '\0') {
        return H5Gopen2(s->file, path, H5P_DEFAULT);
    }
    snprintf(path, sizeof path, "/problems/%s", name);
    const bool plain = find_link(s->file, path + 1) == LINK_OBJECT;
    const hid_t group = plain ? H5Gopen2(s->file, path, H5P_DEFAULT) : -1;
    if (group < 0) {
        snprintf(reason, sizeof reason, "%s %s", path, why_no_group(s, path + 1));
        send_reason(s, "", reason);
    }
    return group;
}

// The attributes of /solution.
static void send_claim(source *s, hid_t group)
{
    static const ss_array_kind kinds[] = {[SS_FIELD_TEXT] = SS_ARRAY_TEXT,
                                          [SS_FIELD_INTEGER] = SS_ARRAY_INTEGERS,
                                          [SS_FIELD_REAL] = SS_ARRAY_REALS};
    ss_field field;
    for (ss_fields walk = ss_fields_of(ss_claim_fields); ss_fields_next(&walk, &field);) {
        char path[64];
        snprintf(path, sizeof path, "solution@%s", field.name);
        send_attribute(s, group, path, kinds[field.kind]);
    }
}

static bool is_dataset(hid_t group, const char *path)
{
    const hid_t object =
        find_link(group, path) == LINK_OBJECT ? H5Oopen(group, path, H5P_DEFAULT) : -1;
    const bool dataset = object >= 0 && H5Iget_type(object) == H5I_DATASET;
    H5Oclose(object);
    return dataset;
}

static void send_problem(source *s, const char *name)
{
    const hid_t group = open_problem(s, name);
    if (group < 0) {
        return;
    }
    s->allowance = ss_allowance_of_file(s->file_bytes);
    send_groups(s, group);
    for (const ss_layout_entry *entry = ss_layout; entry->path != NULL; entry++) {
        if (strchr(entry->path, '@') != NULL) {
            send_attribute(s, group, entry->path, entry->kind);
        } else if (entry->kind != SS_ARRAY_MATRIX || is_dataset(group, entry->path)) {
            send_dataset(s, group, entry->path, entry->kind);
        }
    }
    send_claim(s, group);
    send_guesses(s, group);
    H5Gclose(group);
}

// ---- What a writer would not write again.

typedef struct search {
    const source *source;
    const char *problem; // "/problems/NAME/", or "/"
    int found;
} search;

static void send_foreign(search *found, const char *path)
{
    char whole[2 * NAME_BYTES];
    if (found->found++ < SS_DECODE_FOREIGN_MAX) {
        snprintf(whole, sizeof whole, "%s%s", found->problem, path);
        send_array(found->source, whole, SS_ARRAY_GROUP, 0, NULL);
    }
}

static void search_attributes(search *found, hid_t object, const char *path)
{
    H5O_info_t info;
    const hsize_t count = H5Oget_info2(object, &info, H5O_INFO_NUM_ATTRS) >= 0 ? info.num_attrs : 0;
    for (hsize_t k = 0; k < count && found->found < SS_DECODE_FOREIGN_MAX; k++) {
        char name[NAME_BYTES], whole[2 * NAME_BYTES];
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
        list_names(found->source, object, &names);
    }
    for (size_t k = 0; k < names.count && found->found < SS_DECODE_FOREIGN_MAX; k++) {
        char whole[2 * NAME_BYTES];
        snprintf(whole, sizeof whole, "%s%s%.*s", path, path[0] != '\0' ? "/" : "", NAME_BYTES,
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
    const source *s = found->source;
    ss_arrays top = {0};
    search_attributes(found, s->file, "");
    list_names(s, s->file, &top);
    for (size_t k = 0; k < top.count; k++) {
        if (strcmp(top.list[k].path, "problems") != 0) {
            send_foreign(found, top.list[k].path);
        }
    }
    ss_arrays_free(&top);
}

static void send_all_foreign(const source *s)
{
    search found = {.source = s, .problem = "/"};
    if (s->names.count > 0 && s->names.list[0].path[0] != '\0') {
        search_around_collection(&found);
    }
    for (size_t k = 0; k < s->names.count; k++) {
        char path[NAME_BYTES + 32] = "/";
        const char *name = s->names.list[k].path;
        if (name[0] != '\0') {
            snprintf(path, sizeof path, "/problems/%s/", name);
        }
        found.problem = path;
        const hid_t group = open_problem(s, name);
        if (group >= 0) {
            search_object(&found, group, "");
        }
        H5Gclose(group);
    }
}

// ---- The file.

static bool name_is_printable(const char *name)
{
    for (const char *c = name; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ' || *c == 127) {
            return false;
        }
    }
    return strlen(name) < NAME_BYTES;
}

static const char *list_collection(source *s)
{
    if (find_link(s->file, "problems") != LINK_OBJECT) {
        return "/problems is a link that cannot be followed";
    }
    const hid_t group = H5Gopen2(s->file, "problems", H5P_DEFAULT);
    const bool listed = group >= 0 && list_names(s, group, &s->names);
    H5Gclose(group);
    if (!listed) {
        return "damaged file: libhdf5 cannot list /problems";
    }
    for (size_t k = 0; k < s->names.count; k++) {
        if (!name_is_printable(s->names.list[k].path)) {
            return "/problems contains a name that cannot be printed";
        }
    }
    return s->names.count > 0 ? NULL : "/problems is empty";
}

// The list of problems into s->names; or the reason why there is none.
static const char *decode_list_problems(source *s)
{
    ss_arrays top = {0};
    const bool listed = list_names(s, s->file, &top);
    const bool collection = ss_arrays_find(&top, "problems") != NULL;
    bool problem = false;
    for (size_t k = 0; k < top.count; k++) {
        problem = problem || strncmp(top.list[k].path, "fclib_", 6) == 0;
    }
    ss_arrays_free(&top);
    if (!listed) {
        return "damaged file: libhdf5 cannot list its groups";
    }
    if (problem && collection) {
        return "contains both a problem and a collection (/problems)";
    }
    if (collection) {
        return list_collection(s);
    }
    if (!problem) {
        return "contains no /fclib_local, /fclib_global or /problems group";
    }
    if (ss_arrays_add(&s->names, "", SS_ARRAY_GROUP, 0, NULL) != 0) {
        leave_without_memory(s);
    }
    return NULL;
}

static hid_t decode_open_file(int file_number)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file_number);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    // The default driver resolves links, which fails where the file has lost its name meanwhile.
    H5Pset_fapl_stdio(access);
    H5Pset_file_locking(access, false, true);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    return file;
}

// Without messages, plugins, and links into other files.
static void tame_library(void)
{
    H5open();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5PLset_loading_state(0);
    H5Lunregister(H5L_TYPE_EXTERNAL);
}

static void allow_cpu_time(void)
{
    struct rusage used;
    struct rlimit limit;
    if (getrusage(RUSAGE_SELF, &used) == 0 && getrlimit(RLIMIT_CPU, &limit) == 0) {
        const rlim_t wanted =
            (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1 + REQUEST_CPU);
        // One that is inherited kills it by SIGKILL, which says nothing about the file.
        limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
        setrlimit(RLIMIT_CPU, &limit);
    }
}

static void send_list(source *s, int file)
{
    struct stat status;
    s->file_bytes = fstat(file, &status) == 0 ? (uint64_t)status.st_size : 0;
    s->file = decode_open_file(file);
    const char *reason =
        s->file < 0 ? "damaged file: libhdf5 cannot open it" : decode_list_problems(s);
    if (reason != NULL) {
        send_reason(s, "", reason);
    }
    for (size_t k = 0; reason == NULL && k < s->names.count; k++) {
        send_array(s, s->names.list[k].path, SS_ARRAY_GROUP, 0, NULL);
    }
    send_end(s);
}

void ss_decode_serve(int file, int fd)
{
    source s = {.fd = fd};
    tame_library();
    allow_cpu_time();
    send_list(&s, file);
    int32_t k;
    while (recv(fd, &k, sizeof k, MSG_WAITALL) == (ssize_t)sizeof k) {
        allow_cpu_time();
        if (k == SS_DECODE_FOREIGN) {
            send_all_foreign(&s);
        } else if (k >= 0 && (size_t)k < s.names.count) {
            send_problem(&s, s.names.list[k].path);
        }
        send_end(&s);
    }
    _exit(0);
}
