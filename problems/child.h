// problems/child.h -- a process of one's own, cut off from its parent (internal).
#pragma once

#include <stdbool.h>
#include <sys/types.h>

// fork. Signals wait in the child until it lets go of the parent's handlers by
// ss_child_reset_signals. -1 with errno where there is no process.
pid_t ss_child_fork(void);

// No handler of the parent runs; nothing is blocked. Where the terminal is the parent's business,
// an interrupt that reaches both is ignored here.
void ss_child_reset_signals(bool ignores_terminal);

// Standard streams lead nowhere: libraries may print when they abort.
void ss_child_silence(void);

// Closes every file from `first` on, so that the parent's locks and channels end with the parent.
void ss_child_close_from(int first);
