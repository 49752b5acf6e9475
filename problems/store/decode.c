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
#include "problems/store/decode_source.h"
#include "problems/store/layout.h"

// CPU time of one request in seconds, behind the wall limit of the parent: a decoder that spins
// dies even when its parent is stopped.
#define REQUEST_CPU 60

// Groups whose presence matters: the two forms, the blocks of equality constraints, the optional.
static const char *const GROUPS[] = {"fclib_local",   "fclib_global",   "fclib_local/V",
                                     "fclib_local/R", "fclib_global/G", "guesses",
                                     "solution"};
#define NGROUPS (sizeof GROUPS / sizeof GROUPS[0])

// ---- Values

static void send_value(ss_source *s, ss_value *v, const char *path)
{
    if (v->object < 0) {
        ss_source_send_reason(s, path, "libhdf5 cannot open it");
    } else if (ss_value_read(v)) {
        ss_source_send(s, path, v->kind, v->count, v->data);
    } else if (v->no_memory) {
        ss_source_leave_without_memory(s);
    } else {
        ss_source_send_reason(s, path, v->reason);
    }
    free(v->data);
}

static void send_dataset(ss_source *s, hid_t group, const char *path, ss_array_kind kind)
{
    if (ss_source_leads_on(s, group, path, path)) {
        ss_value v = {
            .object = H5Dopen2(group, path, H5P_DEFAULT), .kind = kind, .allowance = &s->allowance};
        send_value(s, &v, path);
        H5Dclose(v.object);
    }
}

static void send_attribute(ss_source *s, hid_t group, const char *path, ss_array_kind kind)
{
    char object[64];
    const char *name = strchr(path, '@') + 1;
    snprintf(object, sizeof object, "%.*s", (int)(name - path - 1), path);
    if (ss_source_leads_on(s, group, object, path) &&
        H5Aexists_by_name(group, object, name, H5P_DEFAULT) != 0) {
        const hid_t attribute = H5Aopen_by_name(group, object, name, H5P_DEFAULT, H5P_DEFAULT);
        ss_value v = {
            .object = attribute, .is_attribute = true, .kind = kind, .allowance = &s->allowance};
        send_value(s, &v, path);
        H5Aclose(attribute);
    }
}

// ---- One problem

static bool is_rolling(const char *name)
{
    return strncmp(name, "fclib_", 6) == 0 && strstr(name, "rolling") != NULL;
}

static void send_group(const ss_source *s, hid_t where, const char *path)
{
    if (ss_source_leads_on(s, where, path, path)) {
        const hid_t group = H5Gopen2(where, path, H5P_DEFAULT);
        if (group < 0) {
            ss_source_send_reason(s, path, "it is not a group");
        } else {
            ss_source_send(s, path, SS_ARRAY_GROUP, 0, NULL);
        }
        H5Gclose(group);
    }
}

static void send_groups(ss_source *s, hid_t group)
{
    for (size_t k = 0; k < NGROUPS; k++) {
        send_group(s, group, GROUPS[k]);
    }
    ss_arrays names = {0};
    ss_source_list_names(s, group, &names);
    for (size_t k = 0; k < names.count; k++) {
        if (is_rolling(names.list[k].path)) {
            ss_source_send(s, names.list[k].path, SS_ARRAY_GROUP, 0, NULL);
        }
    }
    ss_arrays_free(&names);
}

static void send_guesses(ss_source *s, hid_t group)
{
    for (int k = 1; k < INT32_MAX; k++) {
        char path[48];
        snprintf(path, sizeof path, "guesses/%d", k);
        if (!ss_source_leads_on(s, group, path, path)) {
            return;
        }
        ss_source_send(s, path, SS_ARRAY_GROUP, 0, NULL);
        for (const char *name = "ruv"; *name != '\0'; name++) {
            snprintf(path, sizeof path, "guesses/%d/%c", k, *name);
            send_dataset(s, group, path, SS_ARRAY_REALS);
        }
    }
}

// The attributes of /solution.
static void send_claim(ss_source *s, hid_t group)
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
        ss_h5_find_link(group, path) == SS_LINK_OBJECT ? H5Oopen(group, path, H5P_DEFAULT) : -1;
    const bool dataset = object >= 0 && H5Iget_type(object) == H5I_DATASET;
    H5Oclose(object);
    return dataset;
}

static void send_problem(ss_source *s, const char *name)
{
    const hid_t group = ss_source_open_problem(s, name);
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

// ---- The file

static bool name_is_printable(const char *name)
{
    for (const char *c = name; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ' || *c == 127) {
            return false;
        }
    }
    return strlen(name) < SS_H5_NAME;
}

static const char *list_collection(ss_source *s)
{
    if (ss_h5_find_link(s->file, "problems") != SS_LINK_OBJECT) {
        return "/problems is a link that cannot be followed";
    }
    const hid_t group = H5Gopen2(s->file, "problems", H5P_DEFAULT);
    const bool listed = group >= 0 && ss_source_list_names(s, group, &s->names);
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
static const char *decode_list_problems(ss_source *s)
{
    ss_arrays top = {0};
    const bool listed = ss_source_list_names(s, s->file, &top);
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
        ss_source_leave_without_memory(s);
    }
    return NULL;
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

static void send_end(const ss_source *s)
{
    if (ss_channel_send_end(s->fd) != 0) {
        _exit(0);
    }
}

static void send_list(ss_source *s, int file)
{
    struct stat status;
    s->file_bytes = fstat(file, &status) == 0 ? (uint64_t)status.st_size : 0;
    s->file = ss_h5_open(file);
    const char *reason =
        s->file < 0 ? "damaged file: libhdf5 cannot open it" : decode_list_problems(s);
    if (reason != NULL) {
        ss_source_send_reason(s, "", reason);
    }
    for (size_t k = 0; reason == NULL && k < s->names.count; k++) {
        ss_source_send(s, s->names.list[k].path, SS_ARRAY_GROUP, 0, NULL);
    }
    send_end(s);
}

void ss_decode_serve(int file, int fd)
{
    ss_source s = {.fd = fd};
    allow_cpu_time();
    send_list(&s, file);
    int32_t k;
    while (recv(fd, &k, sizeof k, MSG_WAITALL) == (ssize_t)sizeof k) {
        allow_cpu_time();
        if (k == SS_DECODE_FOREIGN) {
            ss_source_send_foreign(&s);
        } else if (k >= 0 && (size_t)k < s.names.count) {
            send_problem(&s, s.names.list[k].path);
        }
        send_end(&s);
    }
    _exit(0);
}
