// base/save.c -- writing a file so that nobody ever sees half of it.
//
// rename(2) is atomic: a reader opens either the old file or the new one. The new one is flushed
// to the disk before it takes the name, and the folder after, so that this also holds when the
// machine stops. Until it is whole it has no name (O_TMPFILE) where the file system knows that, so
// that nothing is left of a program that is killed; linkat(2) replaces nothing, hence a new file
// gets its name in one step and one that replaces another in two. Functions here that return an int
// return 0 or an errno.
#include "base/save.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"

// Room after a path for ".XXXXXX" and the final zero.
#define SUFFIX_BYTES 8
// Two programs that draw the same suffix at once are rare; a hundred draws in a row are not chance.
#define SUFFIX_TRIES 100

static int save_write_all(int fd, const char *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t written = write(fd, bytes, count);
        if (written > 0) {
            bytes += written;
            count -= (size_t)written;
        } else if (written == 0) {
            return EIO; // no progress and no reason: without this the loop has no end
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

// A disk may run full as late as in fsync or close.
static int write_and_close(int fd, const void *bytes, size_t count)
{
    int failure = save_write_all(fd, bytes, count);
    if (close(fd) != 0 && failure == 0) {
        failure = errno;
    }
    return failure;
}

// Puts a new suffix after the name of `target`, which is shortened if it would be too long.
static void draw_name(const char *target, char *temporary, int k)
{
    const char *slash = strrchr(target, '/');
    const size_t folder = slash != NULL ? (size_t)(slash + 1 - target) : 0;
    const size_t name = strlen(target + folder), longest = NAME_MAX - (SUFFIX_BYTES - 1);
    const size_t length = folder + (name < longest ? name : longest);
    uint32_t bits = 0;
    if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) < 0) {
        bits = (uint32_t)getpid() + (uint32_t)k;
    }
    memcpy(temporary, target, length);
    snprintf(temporary + length, SUFFIX_BYTES, ".%06x", bits & 0xffffff);
}

// Cuts a path to its folder, in place; returns "." if the path names none.
static const char *cut_to_folder(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash == NULL) {
        return ".";
    }
    slash[1] = '\0';
    return path;
}

// Opens a new file in the folder of `target`. It has no name yet where the system can give it one
// later (`named` is false); else a name beside the target. mkstemp(3) would give mode 0600 in place
// of the one the umask asks for.
static int open_new(const char *target, char *temporary, bool *named, int *fd)
{
    memcpy(temporary, target, strlen(target) + 1);
    *named = access("/proc/self/fd", X_OK) != 0;
    *fd = *named ? -1 : open(cut_to_folder(temporary), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (*fd >= 0) {
        return 0;
    }
    *named = true;
    for (int k = 0; k < SUFFIX_TRIES; k++) {
        draw_name(target, temporary, k);
        *fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (*fd >= 0 || errno != EEXIST) {
            return *fd >= 0 ? 0 : errno;
        }
    }
    return EEXIST;
}

// Links a file without a name: as the target, if nothing stands there, or else beside it, under a
// name in `temporary`; *named says which.
static int give_name(int fd, const char *target, bool replaces, char *temporary, bool *named)
{
    char self[40];
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    if (!replaces && linkat(AT_FDCWD, self, AT_FDCWD, target, AT_SYMLINK_FOLLOW) == 0) {
        return 0;
    }
    for (int k = 0; k < SUFFIX_TRIES; k++) {
        draw_name(target, temporary, k);
        *named = linkat(AT_FDCWD, self, AT_FDCWD, temporary, AT_SYMLINK_FOLLOW) == 0;
        if (*named || errno != EEXIST) {
            return *named ? 0 : errno;
        }
    }
    return EEXIST;
}

// The new file is in place whatever happens here, so a folder that cannot be flushed is no failure.
static void flush_folder(char *path)
{
    const int fd = open(cut_to_folder(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}

// `old` is the file that stands at the target, NULL if nothing does.
static int replace(const char *target, char *temporary, const struct stat *old, const void *bytes,
                   size_t count)
{
    int fd = -1;
    bool named = false; // the file lies beside the target, as `temporary`
    int failure = open_new(target, temporary, &named, &fd);
    if (failure != 0) {
        return failure;
    }
    if (old != NULL && fchmod(fd, old->st_mode & 07777) != 0) {
        failure = errno;
    }
    if (failure == 0) {
        failure = save_write_all(fd, bytes, count);
    }
    if (failure == 0 && fsync(fd) != 0) {
        failure = errno;
    }
    if (failure == 0 && !named) {
        failure = give_name(fd, target, old != NULL, temporary, &named);
    }
    if (close(fd) != 0 && failure == 0) {
        failure = errno;
    }
    if (failure == 0 && named && rename(temporary, target) != 0) {
        failure = errno;
    }
    if (failure != 0 && named) {
        unlink(temporary);
    }
    if (failure == 0) {
        memcpy(temporary, target, strlen(target) + 1);
        flush_folder(temporary);
    }
    return failure;
}

// A signal that ends the program waits until the temporary file is gone or has its name.
static int replace_undisturbed(const char *target, const struct stat *old, const void *bytes,
                               size_t count)
{
    char *temporary = malloc(strlen(target) + SUFFIX_BYTES);
    if (temporary == NULL) {
        return ENOMEM;
    }
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    const int failure = replace(target, temporary, old, bytes, count);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    free(temporary);
    return failure;
}

static int replace_existing(const char *path, const struct stat *old, const void *bytes,
                            size_t count)
{
    // rename(2) asks only the folder: a file its owner has protected would be lost.
    if (access(path, W_OK) != 0) {
        return errno;
    }
    char *target = realpath(path, NULL);
    if (target == NULL) {
        return errno;
    }
    const int failure = replace_undisturbed(target, old, bytes, count);
    free(target);
    return failure;
}

static int write_into(const char *path, const void *bytes, size_t count)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd < 0 ? errno : write_and_close(fd, bytes, count);
}

ss_status ss_save(const char *path, const void *bytes, size_t count, ss_error *e)
{
    ss_assert(bytes != NULL || count == 0);
    struct stat old, link;
    int failure;
    if (stat(path, &old) != 0) {
        failure = errno;
        if (failure == ENOENT && lstat(path, &link) == 0) { // a rename would replace the link
            return ss_fail(e, SS_SYSTEM, "cannot write %s: it is a dangling link", path);
        }
        if (failure == ENOENT) {
            failure = replace_undisturbed(path, NULL, bytes, count);
        }
    } else if (S_ISREG(old.st_mode)) {
        failure = replace_existing(path, &old, bytes, count);
    } else {
        failure = write_into(path, bytes, count); // a folder refuses to be opened for writing
    }
    if (failure != 0) {
        return ss_fail(e, SS_SYSTEM, "cannot write %s: %s", path[0] != '\0' ? path : "''",
                       strerror(failure));
    }
    return SS_OK;
}

ss_status ss_save_printed(const char *path, ss_save_printer *print, const void *what, ss_error *e)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL) {
        return ss_fail_memory(e, path);
    }
    print(out, what);
    const bool whole = ferror(out) == 0;
    const ss_status status =
        fclose(out) == 0 && whole ? ss_save(path, text, length, e) : ss_fail_memory(e, path);
    free(text);
    return status;
}

ss_status ss_save_try(const char *path, ss_error *e)
{
    struct stat status;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        return ss_fail(e, SS_SYSTEM, "cannot write %s: %s", path, strerror(EISDIR));
    }
    char *folder = strdup(path);
    if (folder == NULL) {
        return ss_fail_memory(e, path);
    }
    char *slash = strrchr(folder, '/');
    if (slash != NULL) {
        slash[slash == folder] = '\0';
    }
    const char *within = slash != NULL ? folder : ".";
    int error = access(within, W_OK | X_OK) == 0 ? 0 : errno;
    if (error == EACCES && stat(within, &status) == 0 && !S_ISDIR(status.st_mode)) {
        error = ENOTDIR; // a file in the place of a folder cannot be searched
    }
    free(folder);
    return error == 0 ? SS_OK : ss_fail(e, SS_SYSTEM, "cannot write %s: %s", path, strerror(error));
}

ss_status ss_save_folder(const char *path, ss_error *e)
{
    struct stat there;
    if (mkdir(path, 0777) == 0) {
        return SS_OK;
    }
    const int why = errno;
    if (why == EEXIST && stat(path, &there) == 0 && S_ISDIR(there.st_mode)) {
        return SS_OK;
    }
    return why == EEXIST
               ? ss_fail(e, SS_SYSTEM, "%s: is a file, not a folder", path)
               : ss_fail(e, SS_SYSTEM, "%s: the folder cannot be made: %s", path, strerror(why));
}
