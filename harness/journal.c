#include "harness/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "problems/sha256.h"

// "LENGTH CHECKSUM ": twenty digits, sixteen digits, two spaces and a final zero.
#define HEAD_BYTES      39
#define CHECKSUM_DIGITS 16
// Between open and lock another may remove the file; ten times in a row is not chance.
#define OPEN_TRIES 10

static ss_status fail_to(const char *verb, const char *path, int error, ss_error *e)
{
    return ss_fail(e, SS_SYSTEM, "cannot %s %s: %s", verb, path, strerror(error));
}

static ss_status fail_busy(const char *guards, ss_error *e)
{
    return ss_fail(e, SS_SYSTEM, "%s is being written by another program", guards);
}

static uint64_t checksum(const char *text, size_t length)
{
    ss_sha256 hash;
    uint8_t digest[SS_SHA256_BYTES];
    ss_sha256_init(&hash);
    ss_sha256_update(&hash, text, length);
    ss_sha256_final(&hash, digest);
    uint64_t head = 0;
    for (int k = 0; k < CHECKSUM_DIGITS / 2; k++) {
        head = head << 8 | digest[k];
    }
    return head;
}

// ---- Opening.

// Whether the path still leads to the open file.
static bool is_at(int fd, const char *path)
{
    struct stat open_file, named;
    return fstat(fd, &open_file) == 0 && stat(path, &named) == 0 &&
           open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
}

// A new name is durable once its folder is. A folder that cannot be flushed is no failure.
static void flush_folder(char *path)
{
    char *slash = strrchr(path, '/');
    const char first = (char)(slash != NULL ? slash[1] : '\0');
    if (slash != NULL) {
        slash[1] = '\0';
    }
    const int fd = open(slash != NULL ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (slash != NULL) {
        slash[1] = first;
    }
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}

// fd is -1 where the file was removed meanwhile, and on failure.
static ss_status open_and_lock(const char *path, const char *guards, int *fd, ss_error *e)
{
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
    if (*fd < 0) {
        return fail_to("write", path, errno, e);
    }
    ss_status status = SS_OK;
    if (flock(*fd, LOCK_EX | LOCK_NB) != 0) {
        status = errno == EWOULDBLOCK ? fail_busy(guards, e) : fail_to("lock", path, errno, e);
    }
    if (status != SS_OK || !is_at(*fd, path)) {
        close(*fd);
        *fd = -1;
    }
    return status;
}

static ss_status open_regular(const char *path, const char *guards, int *fd, off_t *size,
                              ss_error *e)
{
    ss_status status = SS_OK;
    *fd = -1;
    for (int k = 0; k < OPEN_TRIES && status == SS_OK && *fd < 0; k++) {
        status = open_and_lock(path, guards, fd, e);
    }
    if (status != SS_OK || *fd < 0) {
        return status != SS_OK ? status : fail_busy(guards, e);
    }
    struct stat file;
    if (fstat(*fd, &file) != 0 || !S_ISREG(file.st_mode)) {
        close(*fd);
        return ss_fail(e, SS_SYSTEM, "cannot write %s: it is not a regular file", path);
    }
    *size = file.st_size;
    return SS_OK;
}

ss_status ss_journal_open(const char *path, const char *guards, ss_journal *journal, ss_error *e)
{
    *journal = (ss_journal){.path = strdup(path), .fd = -1};
    if (journal->path == NULL) {
        return ss_fail_memory(e, path);
    }
    const ss_status status = open_regular(path, guards, &journal->fd, &journal->size, e);
    if (status != SS_OK) {
        free(journal->path);
        *journal = (ss_journal){.fd = -1};
        return status;
    }
    flush_folder(journal->path);
    return SS_OK;
}

void ss_journal_close(ss_journal *journal)
{
    // Removed under the lock, so that nobody has it; who waits at open looks again (is_at).
    if (journal->size == 0) {
        unlink(journal->path);
    }
    close(journal->fd);
    free(journal->path);
    *journal = (ss_journal){.fd = -1};
}

// ---- Writing.

static int write_at(int fd, const char *bytes, size_t count, off_t at)
{
    while (count > 0) {
        const ssize_t written = pwrite(fd, bytes, count, at);
        if (written == 0 || (written < 0 && errno != EINTR)) {
            return written == 0 ? EIO : errno;
        }
        if (written > 0) {
            bytes += written;
            at += written;
            count -= (size_t)written;
        }
    }
    return fdatasync(fd) == 0 ? 0 : errno;
}

ss_status ss_journal_append(ss_journal *journal, const char *text, size_t length, ss_error *e)
{
    char *line = malloc(HEAD_BYTES + length + 1);
    if (line == NULL) {
        return ss_fail_memory(e, "a line of the journal");
    }
    const int head =
        snprintf(line, HEAD_BYTES, "%zu %016" PRIx64 " ", length, checksum(text, length));
    memcpy(line + head, text, length);
    line[(size_t)head + length] = '\n';
    const size_t count = (size_t)head + length + 1;
    const int failure = write_at(journal->fd, line, count, journal->size);
    free(line);
    if (failure != 0) {
        // Where this fails too, the rest of the line is dropped when it is read.
        (void)!ftruncate(journal->fd, journal->size);
        return fail_to("write", journal->path, failure, e);
    }
    journal->size += (off_t)count;
    return SS_OK;
}

void ss_journal_clear(ss_journal *journal)
{
    if (ftruncate(journal->fd, 0) == 0) {
        journal->size = 0;
    }
}

// ---- Reading.

// All of a file and a final zero; its size may change meanwhile.
static ss_status read_all(int fd, const char *path, char **bytes, size_t *count, ss_error *e)
{
    size_t capacity = 1 << 16, length = 0;
    char *buffer = malloc(capacity);
    ssize_t got = 1;
    while (buffer != NULL && got > 0) {
        if (length + 1 == capacity) {
            capacity *= 2;
            char *larger = realloc(buffer, capacity);
            if (larger == NULL) {
                free(buffer);
            }
            buffer = larger;
            continue;
        }
        got = pread(fd, buffer + length, capacity - 1 - length, (off_t)length);
        length += got > 0 ? (size_t)got : 0;
    }
    if (buffer == NULL) {
        return ss_fail_memory(e, path);
    }
    if (got < 0) {
        const int error = errno;
        free(buffer);
        return fail_to("read", path, error, e);
    }
    buffer[length] = '\0';
    *bytes = buffer;
    *count = length;
    return SS_OK;
}

// The text of the line that starts here, where it is sound; NULL otherwise. Its length decides, not
// the next line break, which may be the byte that has changed.
static char *find_text(char *line, const char *stop, size_t *length)
{
    char *at, expected[CHECKSUM_DIGITS + 1];
    if (!(*line >= '0' && *line <= '9')) {
        return NULL;
    }
    const unsigned long long claimed = strtoull(line, &at, 10);
    if (stop - at < CHECKSUM_DIGITS + 2 || *at != ' ' || at[CHECKSUM_DIGITS + 1] != ' ') {
        return NULL;
    }
    char *text = at + CHECKSUM_DIGITS + 2;
    if (claimed >= (unsigned long long)(stop - text)) { // the line break is missing too
        return NULL;
    }
    *length = (size_t)claimed;
    snprintf(expected, sizeof expected, "%016" PRIx64, checksum(text, *length));
    return memcmp(expected, at + 1, CHECKSUM_DIGITS) == 0 ? text : NULL;
}

// Who is told of the lines, and what is found out on the way.
typedef struct reading {
    ss_journal_listener *listener;
    void *context;
    ss_journal_damage damage;
    int lines;    // so far
    size_t whole; // bytes up to the end of the last line
} reading;

static void note_damage(reading *a)
{
    if (a->damage.lines++ == 0) {
        a->damage.first = a->lines;
    }
}

static ss_status tell_lines(reading *a, char *bytes, size_t count, ss_error *e)
{
    ss_status status = SS_OK;
    char *line = bytes, *const stop = bytes + count;
    while (status == SS_OK && line < stop) {
        size_t length = 0;
        char *text = find_text(line, stop, &length);
        char *end = text != NULL ? text + length : memchr(line, '\n', (size_t)(stop - line));
        if (end == NULL) {
            break;
        }
        a->lines++;
        if (text != NULL) {
            *end = '\0';
            status = a->listener(a->context, text, e);
        } else {
            note_damage(a);
        }
        line = end + 1;
    }
    a->whole = (size_t)(line - bytes);
    return status;
}

static ss_status read_lines(reading *a, int fd, const char *path, ss_error *e)
{
    char *bytes = NULL;
    size_t count = 0;
    ss_status status = read_all(fd, path, &bytes, &count, e);
    if (status == SS_OK) {
        status = tell_lines(a, bytes, count, e);
    }
    free(bytes);
    return status;
}

ss_status ss_journal_replay(ss_journal *journal, ss_journal_listener *listener, void *context,
                            ss_journal_damage *damage, ss_error *e)
{
    reading a = {.listener = listener, .context = context};
    const ss_status status = read_lines(&a, journal->fd, journal->path, e);
    if (status == SS_OK && (off_t)a.whole < journal->size) {
        a.lines++;
        note_damage(&a);
        journal->size = (off_t)a.whole;
        (void)!ftruncate(journal->fd, journal->size);
    }
    *damage = a.damage;
    return status;
}

ss_status ss_journal_read(const char *path, ss_journal_listener *listener, void *context,
                          ss_journal_damage *damage, ss_error *e)
{
    *damage = (ss_journal_damage){0};
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) {
        const bool absent = errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG;
        return absent ? SS_OK : fail_to("read", path, errno, e);
    }
    reading a = {.listener = listener, .context = context};
    const ss_status status = read_lines(&a, fd, path, e);
    *damage = a.damage;
    close(fd);
    return status;
}
