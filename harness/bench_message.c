// A row and its history as bytes: a head that says how long it is, the row, four arrays.
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "harness/bench.h"

// "ssro": what is not this was not meant.
#define MAGIC 0x7373726fU

typedef struct head {
    uint32_t magic;
    int32_t points;
    ss_record_row row; // its history's pointers are NULL
} head;

static ss_status send_all(int channel, const void *bytes, size_t length, ss_error *e)
{
    const char *rest = bytes;
    while (length > 0) {
        const ssize_t sent = write(channel, rest, length);
        if (sent < 0 && errno != EINTR) {
            return ss_fail(e, SS_SYSTEM, "a row cannot be sent: %s", strerror(errno));
        }
        if (sent > 0) {
            rest += sent;
            length -= (size_t)sent;
        }
    }
    return SS_OK;
}

ss_status ss_bench_send(int channel, const ss_record_row *row, ss_error *e)
{
    const ss_history *h = &row->history;
    head start;
    memset(&start, 0, sizeof start);
    start.magic = MAGIC;
    start.points = h->count;
    start.row = *row;
    start.row.history = (ss_history){0};
    ss_status status = send_all(channel, &start, sizeof start, e);
    const double *const arrays[] = {h->iteration, h->seconds, h->fb};
    for (int k = 0; status == SS_OK && k < 3 && h->count > 0; k++) {
        status = send_all(channel, arrays[k], (size_t)h->count * sizeof(double), e);
    }
    return status;
}

static bool is_text(const char *text, size_t room)
{
    return memchr(text, '\0', room) != NULL;
}

static bool is_sound(const head *start, size_t length)
{
    const ss_record_row *r = &start->row;
    const size_t point = 3 * sizeof(double);
    return start->magic == MAGIC && start->points >= 0 && start->points <= SS_HISTORY_MOST &&
           length == sizeof *start + (size_t)start->points * point &&
           is_text(r->problem_sha256, sizeof r->problem_sha256) &&
           is_text(r->status, sizeof r->status) && is_text(r->detail, sizeof r->detail);
}

ss_status ss_bench_receive(const char *bytes, size_t length, ss_record_row *row, ss_error *e)
{
    head start;
    *row = ss_record_row_blank();
    if (length >= sizeof start) {
        memcpy(&start, bytes, sizeof start);
    }
    if (length < sizeof start || !is_sound(&start, length)) {
        return ss_fail(e, SS_BAD_INPUT, "what a run said is not one whole row");
    }
    const ss_status status = ss_history_new(start.points, &start.row.history, e);
    if (status == SS_OK) {
        *row = start.row;
        if (start.points > 0) { // its three columns are one piece
            memcpy(row->history.iteration, bytes + sizeof start, length - sizeof start);
        }
    }
    return status;
}
