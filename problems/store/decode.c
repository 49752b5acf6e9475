// problems/store/decode.c -- see decode.h. Layout, child and parent, in this order.

// H5Literate, H5Lget_info and H5Oget_info2 as libhdf5 1.10 has them; later versions keep them under
// this name.
#define H5_USE_110_API

#include "problems/store/decode.h"

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "problems/problem.h"
#include "problems/store/h5_read.h"

// ---- Layout: the names of the datasets and attributes of a problem in a file
//
// The names are FCLIB's, and ours in /stickslip and in the attributes of /solution;
// doc/internals.md, "The store", shows them as a tree. Paths begin at the group of the problem;
// "object@name" is an attribute.

typedef struct layout_entry {
    const char *path;   // NULL ends the table
    ss_array_kind kind; // of a dataset; a SS_ARRAY_MATRIX is mostly a group, of the next entries
} layout_entry;

// Everything that is read, except for guesses/N/{r,u,v} and the attributes of solution
// (ss_claim_fields).
static const layout_entry LAYOUT[] = {
    {"fclib_local/spacedim", SS_ARRAY_INTEGERS},
    {"fclib_local/W", SS_ARRAY_MATRIX},
    {"fclib_local/W/m", SS_ARRAY_INTEGERS},
    {"fclib_local/W/n", SS_ARRAY_INTEGERS},
    {"fclib_local/W/nz", SS_ARRAY_INTEGERS},
    {"fclib_local/W/nzmax", SS_ARRAY_INTEGERS},
    {"fclib_local/W/p", SS_ARRAY_INTEGERS},
    {"fclib_local/W/i", SS_ARRAY_INTEGERS},
    {"fclib_local/W/x", SS_ARRAY_REALS},
    {"fclib_local/vectors/mu", SS_ARRAY_REALS},
    {"fclib_local/vectors/q", SS_ARRAY_REALS},
    {"fclib_local/info/title", SS_ARRAY_TEXT},
    {"fclib_local/info/description", SS_ARRAY_TEXT},
    {"fclib_local/info/math_info", SS_ARRAY_TEXT},
    {"fclib_global/spacedim", SS_ARRAY_INTEGERS},
    {"fclib_global/M", SS_ARRAY_MATRIX},
    {"fclib_global/M/m", SS_ARRAY_INTEGERS},
    {"fclib_global/M/n", SS_ARRAY_INTEGERS},
    {"fclib_global/M/nz", SS_ARRAY_INTEGERS},
    {"fclib_global/M/nzmax", SS_ARRAY_INTEGERS},
    {"fclib_global/M/p", SS_ARRAY_INTEGERS},
    {"fclib_global/M/i", SS_ARRAY_INTEGERS},
    {"fclib_global/M/x", SS_ARRAY_REALS},
    {"fclib_global/H", SS_ARRAY_MATRIX},
    {"fclib_global/H/m", SS_ARRAY_INTEGERS},
    {"fclib_global/H/n", SS_ARRAY_INTEGERS},
    {"fclib_global/H/nz", SS_ARRAY_INTEGERS},
    {"fclib_global/H/nzmax", SS_ARRAY_INTEGERS},
    {"fclib_global/H/p", SS_ARRAY_INTEGERS},
    {"fclib_global/H/i", SS_ARRAY_INTEGERS},
    {"fclib_global/H/x", SS_ARRAY_REALS},
    {"fclib_global/vectors/mu", SS_ARRAY_REALS},
    {"fclib_global/vectors/f", SS_ARRAY_REALS},
    {"fclib_global/vectors/w", SS_ARRAY_REALS},
    {"fclib_global/info/title", SS_ARRAY_TEXT},
    {"fclib_global/info/description", SS_ARRAY_TEXT},
    {"fclib_global/info/math_info", SS_ARRAY_TEXT},
    {"guesses/number_of_guesses", SS_ARRAY_INTEGERS},
    {"solution/r", SS_ARRAY_REALS},
    {"solution/u", SS_ARRAY_REALS},
    {"solution/v", SS_ARRAY_REALS},
    {"stickslip@scene", SS_ARRAY_TEXT},
    {"stickslip@seed", SS_ARRAY_INTEGERS},
    {"stickslip@step", SS_ARRAY_INTEGERS},
    {"stickslip@time", SS_ARRAY_REALS},
    {"stickslip@dt", SS_ARRAY_REALS},
    {"stickslip@units", SS_ARRAY_TEXT},
    {"stickslip@frame", SS_ARRAY_TEXT},
    {"stickslip@producer", SS_ARRAY_TEXT},
    {"stickslip@commit", SS_ARRAY_TEXT},
    {.path = NULL},
};

// These are written and never read.
static const char *const WRITTEN[] = {"stickslip@format_version", "stickslip@body_sizes"};

// True of guesses/N, guesses/N/r and so on.
static bool is_guess(const char *path)
{
    int length = 0;
    (void)sscanf(path, "guesses/%*[0-9]%n", &length);
    const char *end = path + length;
    return length > 0 && (*end == '\0' || strcmp(end, "/r") == 0 || strcmp(end, "/u") == 0 ||
                          strcmp(end, "/v") == 0);
}

static bool is_claim(const char *path)
{
    static const char SOLUTION[] = "solution@";
    ss_field field;
    if (strncmp(path, SOLUTION, strlen(SOLUTION)) != 0) {
        return false;
    }
    for (ss_fields walk = ss_fields_of(ss_claim_fields); ss_fields_next(&walk, &field);) {
        if (strcmp(path + strlen(SOLUTION), field.name) == 0) {
            return true;
        }
    }
    return false;
}

// True if ss_writer_add would write it again: a dataset, an attribute, or a group of such.
static bool layout_knows(const char *path)
{
    const size_t length = strlen(path);
    for (const layout_entry *entry = LAYOUT; entry->path != NULL; entry++) {
        const char *rest = strncmp(entry->path, path, length) == 0 ? entry->path + length : "?";
        if (*rest == '\0' || *rest == '/' || *rest == '@') {
            return true;
        }
    }
    for (size_t k = 0; k < sizeof WRITTEN / sizeof WRITTEN[0]; k++) {
        if (strcmp(path, WRITTEN[k]) == 0) {
            return true;
        }
    }
    return is_guess(path) || is_claim(path);
}

// ---- Child: sending, and finding the way in a file

typedef struct source {
    int fd;                 // the channel to the parent
    hid_t file;             // < 0 where libhdf5 could not open it
    uint64_t file_bytes;    // size on disk
    ss_allowance allowance; // bytes that the present request may still unfold to
    ss_arrays names;        // the problems, sorted
} source;

// The child has no use without a listener.
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

// Says so to the parent, and ends the child.
static _Noreturn void leave_without_memory(const source *s)
{
    ss_channel_send_no_memory(s->fd);
    _exit(0);
}

// True where there is an object; if there is something else, that is reported under `path`.
static bool leads_on(const source *s, hid_t group, const char *object, const char *path)
{
    const ss_link_kind kind = ss_h5_find_link(group, object);
    if (kind == SS_LINK_EXTERNAL || kind == SS_LINK_BROKEN) {
        send_reason(s, path, ss_h5_why_no_object(kind));
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

// Lists the names of all links of a group, as far as libhdf5 can list them; false where it fails.
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

// Says why the object at `path` is no group.
static const char *why_no_group(const source *s, const char *path)
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

// Returns the group of a problem, or < 0 after a reason has been sent. The name "" means that the
// file is one problem.
static hid_t open_problem(const source *s, const char *name)
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
        send_reason(s, "", reason);
    }
    return group;
}

// ---- Child: objects and attributes that a writer would not write again

typedef struct search {
    const source *source;
    const char *problem; // "/problems/NAME/", or "/"
    int found;
} search;

static void send_foreign(search *found, const char *path)
{
    char whole[2 * SS_H5_NAME];
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
        char name[SS_H5_NAME], whole[2 * SS_H5_NAME];
        if (H5Aget_name_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, k, name, sizeof name,
                               H5P_DEFAULT) < 0) {
            return;
        }
        snprintf(whole, sizeof whole, "%s@%s", path, name);
        if (!layout_knows(whole)) {
            send_foreign(found, whole);
        }
    }
}

// Searches at and below an object whose path within the problem is known: at most four groups deep.
static void search_object(search *found, hid_t object, const char *path)
{
    ss_arrays names = {0};
    search_attributes(found, object, path);
    if (H5Iget_type(object) == H5I_GROUP) {
        list_names(found->source, object, &names);
    }
    for (size_t k = 0; k < names.count && found->found < SS_DECODE_FOREIGN_MAX; k++) {
        char whole[2 * SS_H5_NAME];
        snprintf(whole, sizeof whole, "%s%s%.*s", path, path[0] != '\0' ? "/" : "", SS_H5_NAME,
                 names.list[k].path);
        const hid_t member =
            layout_knows(whole) ? H5Oopen(object, names.list[k].path, H5P_DEFAULT) : -1;
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

// Answers SS_DECODE_FOREIGN.
static void send_foreign_objects(const source *s)
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
        const hid_t group = open_problem(s, name);
        if (group >= 0) {
            search_object(&found, group, "");
        }
        H5Gclose(group);
    }
}

// ---- Child: one problem

// The presence of these groups matters: the two forms, the blocks of equality constraints, the
// optional ones.
static const char *const GROUPS[] = {"fclib_local",   "fclib_global",   "fclib_local/V",
                                     "fclib_local/R", "fclib_global/G", "guesses",
                                     "solution"};
#define NGROUPS (sizeof GROUPS / sizeof GROUPS[0])

static void send_value(source *s, ss_value *v, const char *path)
{
    if (v->object < 0) {
        send_reason(s, path, "libhdf5 cannot open it");
    } else if (ss_value_read(v)) {
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
    if (leads_on(s, group, path, path)) {
        ss_value v = {
            .object = H5Dopen2(group, path, H5P_DEFAULT), .kind = kind, .allowance = &s->allowance};
        send_value(s, &v, path);
        H5Dclose(v.object);
    }
}

static void send_attribute(source *s, hid_t group, const char *path, ss_array_kind kind)
{
    char object[64];
    const char *name = strchr(path, '@') + 1;
    ss_assert(name - path <= (ptrdiff_t)sizeof object);
    snprintf(object, sizeof object, "%.*s", (int)(name - path - 1), path);
    if (leads_on(s, group, object, path) &&
        H5Aexists_by_name(group, object, name, H5P_DEFAULT) != 0) {
        const hid_t attribute = H5Aopen_by_name(group, object, name, H5P_DEFAULT, H5P_DEFAULT);
        ss_value v = {
            .object = attribute, .is_attribute = true, .kind = kind, .allowance = &s->allowance};
        send_value(s, &v, path);
        H5Aclose(attribute);
    }
}

static bool is_rolling(const char *name)
{
    return strncmp(name, "fclib_", 6) == 0 && strstr(name, "rolling") != NULL;
}

static void send_group(const source *s, hid_t where, const char *path)
{
    if (leads_on(s, where, path, path)) {
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
        if (!leads_on(s, group, path, path)) {
            return;
        }
        send_array(s, path, SS_ARRAY_GROUP, 0, NULL);
        for (const char *name = "ruv"; *name != '\0'; name++) {
            snprintf(path, sizeof path, "guesses/%d/%c", k, *name);
            send_dataset(s, group, path, SS_ARRAY_REALS);
        }
    }
}

// Sends the attributes of /solution.
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
        ss_h5_find_link(group, path) == SS_LINK_OBJECT ? H5Oopen(group, path, H5P_DEFAULT) : -1;
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
    for (const layout_entry *entry = LAYOUT; entry->path != NULL; entry++) {
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

// ---- Child: the file

static bool name_is_printable(const char *name)
{
    for (const char *c = name; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ' || *c == 127) {
            return false;
        }
    }
    return strlen(name) < SS_H5_NAME;
}

static const char *list_collection(source *s)
{
    if (ss_h5_find_link(s->file, "problems") != SS_LINK_OBJECT) {
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

// Puts the list of problems into s->names, or returns the reason why there is none.
static const char *list_problems(source *s)
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

// CPU time of one request in seconds, behind the wall limit of the parent: a decoder that spins
// dies even when its parent is stopped.
#define REQUEST_CPU 60

static void allow_cpu_time(void)
{
    struct rusage used;
    struct rlimit limit;
    if (getrusage(RUSAGE_SELF, &used) == 0 && getrlimit(RLIMIT_CPU, &limit) == 0) {
        const rlim_t wanted =
            (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1 + REQUEST_CPU);
        // An inherited limit kills the child by SIGKILL, which says nothing about the file.
        limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
        setrlimit(RLIMIT_CPU, &limit);
    }
}

static void send_end(const source *s)
{
    if (ss_channel_send_end(s->fd) != 0) {
        _exit(0);
    }
}

static void send_list(source *s, int file)
{
    struct stat status;
    s->file_bytes = fstat(file, &status) == 0 ? (uint64_t)status.st_size : 0;
    s->file = ss_h5_open(file);
    const char *reason = s->file < 0 ? "damaged file: libhdf5 cannot open it" : list_problems(s);
    if (reason != NULL) {
        send_reason(s, "", reason);
    }
    for (size_t k = 0; reason == NULL && k < s->names.count; k++) {
        send_array(s, s->names.list[k].path, SS_ARRAY_GROUP, 0, NULL);
    }
    send_end(s);
}

// Serves requests until the parent closes the channel. `file` is open for reading. A path would be
// looked up again, which fails for /dev/stdin here, and may lead to another file than the one that
// was looked at.
static void serve(int file, int fd)
{
    source s = {.fd = fd};
    allow_cpu_time();
    send_list(&s, file);
    int32_t k;
    while (recv(fd, &k, sizeof k, MSG_WAITALL) == (ssize_t)sizeof k) {
        allow_cpu_time();
        if (k == SS_DECODE_FOREIGN) {
            send_foreign_objects(&s);
        } else if (k >= 0 && (size_t)k < s.names.count) {
            send_problem(&s, s.names.list[k].path);
        }
        send_end(&s);
    }
    _exit(0);
}

// ---- Parent: a first look at the file, without libhdf5

static ss_status explain_errno(int error, ss_error *e)
{
    switch (error) {
    case ENOENT:
        return ss_fail(e, SS_BAD_INPUT, "no such file");
    case EACCES:
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG:
    case ENXIO:
    case EPERM:
        return ss_fail(e, SS_BAD_INPUT, "cannot be read: %s", strerror(error));
    default:
        return ss_fail(e, SS_SYSTEM, "cannot be read: %s", strerror(error));
    }
}

// The signature stands at 0, 512, 1024, 2048 ... : a user block may come before it.
static ss_status look_for_signature(int fd, off_t size, ss_error *e)
{
    static const char SIGNATURE[8] = "\211HDF\r\n\032\n";
    for (off_t at = 0; at < size; at = at == 0 ? 512 : 2 * at) {
        char bytes[sizeof SIGNATURE] = {0};
        if (pread(fd, bytes, sizeof bytes, at) < 0) {
            return explain_errno(errno, e);
        }
        if (memcmp(bytes, SIGNATURE, sizeof bytes) == 0) {
            return SS_OK;
        }
    }
    return ss_fail(e, SS_BAD_INPUT, "is not an HDF5 file");
}

static ss_status look_at(int fd, ss_error *e)
{
    struct stat status;
    if (fstat(fd, &status) != 0) {
        return explain_errno(errno, e);
    }
    if (S_ISDIR(status.st_mode)) {
        return ss_fail(e, SS_BAD_INPUT, "is a directory");
    }
    if (!S_ISREG(status.st_mode)) {
        return ss_fail(e, SS_BAD_INPUT, "is not a regular file");
    }
    if (status.st_size == 0) {
        return ss_fail(e, SS_BAD_INPUT, "is an empty file");
    }
    return look_for_signature(fd, status.st_size, e);
}

ss_status ss_decoder_open_file(const char *path, int *file, ss_error *e)
{
    // Without O_NONBLOCK a named pipe would wait for its writer.
    *file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (*file < 0) {
        return explain_errno(errno, e);
    }
    const ss_status status = look_at(*file, e);
    if (status != SS_OK) {
        close(*file);
    }
    return status;
}

// ---- Parent: the child

// A decoder that has sent nothing for so long, in seconds, will never send. One dataset is read in
// one piece, so this also bounds the time of the largest one: some 5 GB of deflated data.
#define SILENCE_LIMIT 30

// A decoder that computed for less than this share of that time was not given the processor, or
// waited for the disk.
#define BUSY_SHARE 0.5

// A process may take this long to die, in s, before it is killed.
#define DEATH_LIMIT 5.0

// Numbers of the channel and of the file in the child.
enum { CHANNEL = SS_CHILD_FILE, INPUT };

// Runs in the child. Its memory is limited, as damaged metadata make libhdf5 ask for any amount.
static void decode(void *unused)
{
    struct stat file;
    (void)unused;
    if (fstat(INPUT, &file) == 0) {
        ss_child_limit_memory(ss_h5_memory((uint64_t)file.st_size));
    }
    serve(INPUT, CHANNEL);
}

static ss_status spawn(ss_decoder *decoder, int file, ss_error *e)
{
    int ends[2];
    if (access("/proc/self/fd", X_OK) != 0) { // where the child finds the file
        return ss_fail(e, SS_SYSTEM, "files cannot be read without /proc");
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return ss_fail(e, SS_SYSTEM, "no channel to a decoder: %s", strerror(errno));
    }
    const ss_child_setup setup = {
        .work = decode, .files = {ends[1], file}, .nfiles = 2, .outlives_thread = true};
    const ss_status status = ss_child_start(&decoder->child, &setup, e);
    close(ends[1]);
    if (status != SS_OK) {
        close(ends[0]);
        return status;
    }
    decoder->fd = ends[0];
    return SS_OK;
}

void ss_decoder_stop(ss_decoder *decoder)
{
    if (decoder->child.pid > 0) {
        close(decoder->fd);
    }
    ss_child_clear(&decoder->child);
}

// Explains the end of a child that has closed the channel, hence is dying. It is not killed at
// once: Linux would report that signal instead of the cause.
static ss_status explain_death(ss_decoder *decoder, ss_error *e)
{
    ss_child *child = &decoder->child;
    int ended;
    const ss_status status = ss_child_wait(child, 1, DEATH_LIMIT, NULL, &ended, e);
    if (status != SS_OK) {
        return status;
    }
    ss_child_end(child);
    if (child->ending == SS_ENDED_BY_CODE && child->number == SS_CHILD_NOT_STARTED) {
        return ss_fail(e, SS_SYSTEM, "the decoder could not be set up: no file could be opened");
    }
    if (child->ending == SS_ENDED_UNKNOWN) {
        return ss_fail(e, SS_SYSTEM,
                       "the decoder ended, and why is not known: this program ignores SIGCHLD or "
                       "waits for all children");
    }
    if (child->ending != SS_ENDED_BY_SIGNAL) {
        return ss_fail(e, SS_BAD_INPUT,
                       "damaged file: libhdf5 gave up (status %d) while reading it", child->number);
    }
    if (child->number == SIGKILL || child->number == SIGTERM) {
        return ss_fail(e, SS_SYSTEM, "the decoder was killed by signal %d (%s)", child->number,
                       strsignal(child->number));
    }
    return ss_fail(e, SS_BAD_INPUT, "damaged file: libhdf5 died by signal %d (%s) while reading it",
                   child->number, strsignal(child->number));
}

static ss_status explain_silence(double computed, ss_error *e)
{
    if (computed < BUSY_SHARE * SILENCE_LIMIT) {
        return ss_fail(e, SS_SYSTEM, "the decoder was given no time to work for %d s",
                       SILENCE_LIMIT);
    }
    return ss_fail(e, SS_BAD_INPUT, "damaged file: the decoder made no progress for %d s",
                   SILENCE_LIMIT);
}

static ss_status explain(ss_decoder *decoder, ss_heard heard, double computed, ss_error *e)
{
    switch (heard) {
    case SS_HEARD_CLOSE:
        return explain_death(decoder, e);
    case SS_HEARD_NONSENSE:
        return ss_fail(e, SS_BAD_INPUT, "damaged file: the decoder returned inconsistent data");
    case SS_HEARD_SILENCE:
        return explain_silence(computed, e);
    case SS_HEARD_END:
    case SS_HEARD_NO_MEMORY:
        break;
    }
    return ss_fail_memory(e, "the arrays of the file");
}

static void silence_began(void *context)
{
    ss_decoder *decoder = context;
    decoder->cpu_before_silence = ss_child_cpu_seconds(&decoder->child);
}

static ss_status hear(ss_decoder *decoder, ss_arrays *arrays, ss_error *e)
{
    const ss_silence silence = {SILENCE_LIMIT, silence_began, decoder};
    const ss_heard heard = ss_channel_receive(decoder->fd, &silence, arrays);
    if (heard == SS_HEARD_END) {
        return SS_OK;
    }
    const double computed = ss_child_cpu_seconds(&decoder->child) - decoder->cpu_before_silence;
    const ss_status status = explain(decoder, heard, computed, e);
    close(decoder->fd);
    ss_child_clear(&decoder->child);
    return status;
}

ss_status ss_decoder_start(ss_decoder *decoder, int file, ss_arrays *list, ss_error *e)
{
    ss_assert(decoder->child.pid == 0 && list->count == 0);
    const ss_status status = spawn(decoder, file, e);
    return status == SS_OK ? hear(decoder, list, e) : status;
}

ss_status ss_decoder_request(ss_decoder *decoder, int32_t k, ss_arrays *arrays, ss_error *e)
{
    ss_assert(decoder->child.pid > 0 && k >= SS_DECODE_FOREIGN);
    // A child that is gone is noticed when its answer is awaited.
    (void)send(decoder->fd, &k, sizeof k, MSG_NOSIGNAL);
    return hear(decoder, arrays, e);
}
