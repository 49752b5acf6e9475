// harness/progress.h -- how far a long series has come, on stderr: a bar that rewrites itself on a
// terminal, a plain line a step elsewhere.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct ss_progress_bar {
    int done, total; // done: those of this series, not of an earlier one
    bool terminal;
    double start; // s, CLOCK_MONOTONIC
} ss_progress_bar;

ss_progress_bar ss_progress_bar_start(int total);

// One more is done; what tells which, a sentence without newline.
void ss_progress_bar_step(ss_progress_bar *bar, const char *what);
// Takes the bar off the terminal.
void ss_progress_bar_clear(const ss_progress_bar *bar);

// The bar as text after `seconds`: "[####----]  4/8  2.0/s  0:02 left  WHAT", cut to `width`
// characters. Control characters of WHAT come out as '?'.
void ss_progress_bar_text(const ss_progress_bar *bar, double seconds, const char *what, int width,
                          char *text, size_t room);
