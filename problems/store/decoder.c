#include "problems/store/decoder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "problems/child.h"
#include "problems/store/decode.h"

// A decoder that has sent nothing for so long, in seconds, will never send. One dataset is read in
// one piece, so this also bounds the time of the largest one: some 5 GB of deflated data.
#define SILENCE_LIMIT 30

// How long a process may take to die, in ms, before it is killed.
#define DEATH_LIMIT 5000

// Their numbers in the child.
enum { CHANNEL = 3, INPUT, NFILES };

// Keeps the channel and the file alone: libhdf5 and libc may print when they abort, and another
// reader's channel held open here would hide the end of its parent.
static void drop_files(int file, int fd)
{
    const int channel = fcntl(fd, F_DUPFD, NFILES);
    const int input = fcntl(file, F_DUPFD, NFILES);
    ss_child_silence();
    if (dup2(channel, CHANNEL) < 0 || dup2(input, INPUT) < 0) {
        _exit(1);
    }
    ss_child_close_from(NFILES);
}

// Damaged metadata make libhdf5 ask for any amount; half of the machine is never given.
static void limit_memory(int input)
{
    unsigned long long used = 0;
    struct stat status;
    FILE *statm = fopen("/proc/self/statm", "r");
    if (statm == NULL || fscanf(statm, "%llu", &used) != 1 || fstat(input, &status) != 0) {
        used = 0;
    }
    if (statm != NULL) {
        fclose(statm);
    }
    if (used > 0) {
        const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
        const uint64_t half = (uint64_t)sysconf(_SC_PHYS_PAGES) / 2 * page;
        const uint64_t wanted = ss_decode_memory((uint64_t)status.st_size);
        const rlim_t limit = used * page + (wanted < half ? wanted : half);
        setrlimit(RLIMIT_AS, &(struct rlimit){limit, limit});
    }
}

static _Noreturn void run_child(int file, int fd)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    limit_memory(file);
    drop_files(file, fd);
    ss_child_reset_signals(true);
    ss_decode_serve(INPUT, CHANNEL);
}

static ss_status spawn(ss_decoder *decoder, int file, ss_error *e)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return ss_fail(e, SS_SYSTEM, "no channel to a decoder: %s", strerror(errno));
    }
    const pid_t pid = ss_child_fork();
    if (pid == 0) {
        run_child(file, ends[1]);
    }
    const int error = errno;
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return ss_fail(e, SS_SYSTEM, "no process for a decoder: %s", strerror(error));
    }
    *decoder = (ss_decoder){.pid = pid, .fd = ends[0]};
    return SS_OK;
}

// The child's wait status; 0 where somebody else has taken it.
static int end_child(ss_decoder *decoder)
{
    int status = 0;
    close(decoder->fd);
    kill(decoder->pid, SIGKILL);
    pid_t waited;
    do {
        waited = waitpid(decoder->pid, &status, 0);
    } while (waited < 0 && errno == EINTR);
    *decoder = (ss_decoder){0};
    return waited < 0 ? 0 : status;
}

// Of a child that has closed the channel, hence is dying. It is not killed at once: Linux would
// report that signal instead of the cause.
static int await_death(ss_decoder *decoder)
{
    for (int k = 0; k < DEATH_LIMIT; k++) {
        siginfo_t info = {0};
        if (waitid(P_PID, (id_t)decoder->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
            info.si_pid != 0) {
            break;
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return end_child(decoder);
}

static ss_status explain_death(int status, ss_error *e)
{
    if (!WIFSIGNALED(status)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "damaged file: libhdf5 gave up (status %d) while reading it",
                       WEXITSTATUS(status));
    }
    const int killer = WTERMSIG(status);
    if (killer == SIGKILL || killer == SIGTERM) {
        return ss_fail(e, SS_SYSTEM, "the decoder was killed by signal %d (%s)", killer,
                       strsignal(killer));
    }
    return ss_fail(e, SS_BAD_INPUT, "damaged file: libhdf5 died by signal %d (%s) while reading it",
                   killer, strsignal(killer));
}

static ss_status hear(ss_decoder *decoder, ss_records *records, ss_error *e)
{
    const ss_heard heard = ss_channel_receive(decoder->fd, SILENCE_LIMIT, records);
    if (heard == SS_HEARD_END) {
        return SS_OK;
    }
    const int status = heard == SS_HEARD_CLOSE ? await_death(decoder) : end_child(decoder);
    switch (heard) {
    case SS_HEARD_CLOSE:
        return explain_death(status, e);
    case SS_HEARD_NONSENSE:
        return ss_fail(e, SS_BAD_INPUT, "damaged file: it confused its decoder");
    case SS_HEARD_SILENCE:
        return ss_fail(e, SS_BAD_INPUT, "damaged file: the decoder made no progress for %d s",
                       SILENCE_LIMIT);
    case SS_HEARD_END:
    case SS_HEARD_NO_MEMORY:
        break;
    }
    return ss_fail_memory(e, "the arrays of the file");
}

ss_status ss_decoder_start(ss_decoder *decoder, int file, ss_records *list, ss_error *e)
{
    const ss_status status = spawn(decoder, file, e);
    return status == SS_OK ? hear(decoder, list, e) : status;
}

ss_status ss_decoder_request(ss_decoder *decoder, int32_t k, ss_records *records, ss_error *e)
{
    // A child that is gone is noticed by the hearing.
    (void)send(decoder->fd, &k, sizeof k, MSG_NOSIGNAL);
    return hear(decoder, records, e);
}

void ss_decoder_stop(ss_decoder *decoder)
{
    if (decoder->pid > 0) {
        end_child(decoder);
    }
}
