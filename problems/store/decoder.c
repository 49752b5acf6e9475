#include "problems/store/decoder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "problems/store/decode.h"
#include "problems/store/h5_read.h"

// A decoder that has sent nothing for so long, in seconds, will never send. One dataset is read in
// one piece, so this also bounds the time of the largest one: some 5 GB of deflated data.
#define SILENCE_LIMIT 30

// One that computed for less than this share of that time was not given the processor, or waited for
// the disk.
#define BUSY_SHARE 0.5

// How long a process may take to die, in s, before it is killed.
#define DEATH_LIMIT 5.0

// Their numbers in the child.
enum { CHANNEL = SS_CHILD_FILE, INPUT };

// ---- A first look at the file, without libhdf5.

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

// ---- The child

// Damaged metadata make libhdf5 ask for any amount.
static void decode(void *unused)
{
    struct stat file;
    (void)unused;
    if (fstat(INPUT, &file) == 0) {
        ss_child_limit_memory(ss_h5_memory((uint64_t)file.st_size));
    }
    ss_decode_serve(INPUT, CHANNEL);
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

// Of a child that has closed the channel, hence is dying. It is not killed at once: Linux would
// report that signal instead of the cause.
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

static ss_status decoder_explain(ss_decoder *decoder, ss_heard heard, double computed, ss_error *e)
{
    switch (heard) {
    case SS_HEARD_CLOSE:
        return explain_death(decoder, e);
    case SS_HEARD_NONSENSE:
        return ss_fail(e, SS_BAD_INPUT, "damaged file: it confused its decoder");
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

static ss_status decoder_hear(ss_decoder *decoder, ss_arrays *arrays, ss_error *e)
{
    const ss_silence silence = {SILENCE_LIMIT, silence_began, decoder};
    const ss_heard heard = ss_channel_receive(decoder->fd, &silence, arrays);
    if (heard == SS_HEARD_END) {
        return SS_OK;
    }
    const double computed = ss_child_cpu_seconds(&decoder->child) - decoder->cpu_before_silence;
    const ss_status status = decoder_explain(decoder, heard, computed, e);
    close(decoder->fd);
    ss_child_clear(&decoder->child);
    return status;
}

ss_status ss_decoder_start(ss_decoder *decoder, int file, ss_arrays *list, ss_error *e)
{
    const ss_status status = spawn(decoder, file, e);
    return status == SS_OK ? decoder_hear(decoder, list, e) : status;
}

ss_status ss_decoder_request(ss_decoder *decoder, int32_t k, ss_arrays *arrays, ss_error *e)
{
    // A child that is gone is noticed by the hearing.
    (void)send(decoder->fd, &k, sizeof k, MSG_NOSIGNAL);
    return decoder_hear(decoder, arrays, e);
}
