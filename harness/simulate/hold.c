#include "harness/simulate/hold.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/stat.h>

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
