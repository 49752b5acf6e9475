// harness/isolate.h -- a program run in a process of its own, so that whatever it does is one
// ending: it crashes, hangs, eats memory or says nothing, and its parent goes on.
//
// The child is forked and executed: it inherits no threads, no locks and no open files. It says its
// piece on descriptor SS_CHILD_CHANNEL; its other streams lead nowhere. It stands in a process
// group of its own, which a Ctrl-C on the terminal does not reach, and dies with its parent.
#pragma once

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

#include "problems/status.h"

enum { SS_CHILD_CHANNEL = 3, SS_CHILD_NOT_EXECUTED = 127 };

typedef enum ss_ending {
    SS_ENDED,           // with exit code 0
    SS_ENDED_BY_CODE,   // another exit code; SS_CHILD_NOT_EXECUTED: no such program
    SS_ENDED_BY_SIGNAL, // a signal that is not ours
    SS_ENDED_LATE,      // killed at its deadline
    SS_ENDED_LOUD,      // killed: it said more than anybody wants to hear
    SS_ENDED_UNHEARD,   // killed: there was no memory for what it said
} ss_ending;

typedef struct ss_child {
    pid_t pid; // 0: there is none
    int process, channel;
    double deadline; // s, CLOCK_MONOTONIC
    char *said;      // [length] owned
    size_t length, capacity;
    ss_ending ending; // once it has ended, as is number
    int number;       // exit code or signal
} ss_child;

// The core that is the k-th of those this process may use, and their number.
int ss_core_at(int k);
int ss_core_count(void);

// words[0] is the program's name for itself; NULL ends the list. core < 0: any. limit in wall
// seconds. child is empty or cleared.
ss_status ss_child_start(ss_child *child, const char *program, char *const words[], int core,
                         double limit, ss_error *e);

// The place of a child that has ended, of the n that are there, or -1 when a signal that
// `unblocked` lets through came first. At least one child is running.
ss_status ss_child_wait(ss_child *children, int n, const sigset_t *unblocked, int *ended,
                        ss_error *e);

// Kills it, and its children, where it runs; frees what it said. Takes an empty one.
void ss_child_clear(ss_child *child);
