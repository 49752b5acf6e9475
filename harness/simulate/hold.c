#include "harness/simulate/hold.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

ss_status ss_hold(int fd, const char *path, ss_error *e)
{
    struct stat about;
    const bool regular = fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
    if (regular && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        return ss_fail(e, SS_SYSTEM, "%s: another simulation is writing it; name another file",
                       path);
    }
    return SS_OK;
}

static ss_status fail_writing(const char *path, ss_error *e)
{
    return ss_fail(e, SS_SYSTEM, "%s: cannot be written: %s", path, strerror(errno));
}

ss_status ss_hold_open(const char *path, FILE **file, ss_error *e)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) {
        return fail_writing(path, e);
    }
    ss_status status = ss_hold(fd, path, e);
    if (status == SS_OK) {
        *file = fdopen(fd, "w");
        status = *file != NULL ? SS_OK : ss_fail_memory(e, path);
    }
    if (status != SS_OK) {
        close(fd);
    }
    return status;
}

ss_status ss_hold_empty(FILE *file, const char *path, ss_error *e)
{
    const bool emptied = ftruncate(fileno(file), 0) == 0 || errno == EINVAL; // a pipe or a device
    return emptied ? SS_OK : fail_writing(path, e);
}
