#include "harness/progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "harness/complain.h"
#include "solvers/clock.h"

#define BAR_WIDTH     20
#define NARROW_WIDTH  40 // columns of a terminal that does not tell
#define LARGEST_WIDTH 200

// Below a minute and above: "0:07", "12:30", "3:00:00".
static void write_duration(double seconds, char *text, size_t room)
{
    const long s = seconds < 1e9 ? (long)(seconds + 0.5) : 1000000000L;
    if (s < 3600) {
        snprintf(text, room, "%ld:%02ld", s / 60, s % 60);
    } else {
        snprintf(text, room, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    }
}

void ss_progress_bar_text(const ss_progress_bar *bar, double seconds, const char *what, int width,
                          char *text, size_t room)
{
    char marks[BAR_WIDTH + 1], left[32] = "?", line[LARGEST_WIDTH + 1];
    const int filled = bar->total > 0 ? (int)((long)BAR_WIDTH * bar->done / bar->total) : BAR_WIDTH;
    for (int k = 0; k < BAR_WIDTH; k++) {
        marks[k] = k < filled ? '#' : '-';
    }
    marks[BAR_WIDTH] = '\0';
    const double rate = seconds > 0.0 ? bar->done / seconds : 0.0;
    if (rate > 0.0) {
        write_duration((bar->total - bar->done) / rate, left, sizeof left);
    }
    snprintf(line, sizeof line, "[%s] %d/%d  %.3g/s  %s left  %s", marks, bar->done, bar->total,
             rate, left, what);
    ss_make_printable(line);
    snprintf(text, room, "%.*s", width > 0 ? width : 0, line);
}

static int terminal_width(void)
{
    struct winsize size;
    const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return known ? size.ws_col - 1 : NARROW_WIDTH;
}

static void draw(const ss_progress_bar *bar, const char *what)
{
    char text[LARGEST_WIDTH + 1];
    ss_progress_bar_text(bar, ss_clock_seconds(CLOCK_MONOTONIC) - bar->start, what,
                         terminal_width(), text, sizeof text);
    fprintf(stderr, "\r\033[K%s", text);
}

ss_progress_bar ss_progress_bar_start(int total)
{
    const ss_progress_bar bar = {.total = total,
                                 .terminal = isatty(STDERR_FILENO) == 1,
                                 .start = ss_clock_seconds(CLOCK_MONOTONIC)};
    if (bar.terminal && total > 0) {
        draw(&bar, "");
    }
    return bar;
}

void ss_progress_bar_step(ss_progress_bar *bar, const char *what)
{
    bar->done++;
    if (bar->terminal) {
        draw(bar, what);
    } else {
        char line[1024];
        snprintf(line, sizeof line, "%s", what);
        ss_make_printable(line);
        fprintf(stderr, "%d/%d %s\n", bar->done, bar->total, line);
    }
}

void ss_progress_bar_clear(const ss_progress_bar *bar)
{
    if (bar->terminal) {
        fputs("\r\033[K", stderr);
    }
}
