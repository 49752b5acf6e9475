// base/child.h -- a child process, cut off from its parent (internal).
//
// This is the only way to start a child: a fork of this process that calls a function, or becomes
// another program. It keeps no file of the parent except those that it is given, its standard
// streams lead nowhere, no signal handler or exit function of the parent runs in it, it leaves no
// core file, and it dies with the thread that started it. A Ctrl-C on the terminal does not reach
// it: a function ignores the signals that ask to end, and a program stands in a process group of
// its own, so that the processes that it starts can be ended with it. Each end is one ss_ending.
//
// A function that does a part of the parent's own work may keep the parent's files and streams.
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"

// The number, in the child, of the first file that it keeps; and the exit code of a child that
// could not be set up, or found no such program, as a shell has it.
enum { SS_CHILD_FILE = 3, SS_CHILD_NOT_STARTED = 127 };

typedef enum ss_child_speech {
    SS_CHILD_MUTE,
    SS_CHILD_ON_CHANNEL, // the parent hears what it writes to file SS_CHILD_FILE
    SS_CHILD_ON_STREAMS, // the parent hears what it writes to standard output and error
} ss_child_speech;

typedef struct ss_child_setup {
    void (*work)(void *context); // the exit code is 0 where this returns; NULL for a program
    void *context;
    char *const *words;  // command line of the program, from its name on, ended by NULL
    const char *program; // found as a shell finds it
    const char *folder;  // folder in which the program works; NULL for that of this process
    ss_child_speech speech;
    int files[2]; // kept as SS_CHILD_FILE and the next, after its channel
    int nfiles;
    bool keeps_files;     // keeps all files, streams and ignored signals of the parent
    bool outlives_thread; // does not die with the thread that started it
} ss_child_setup;

typedef enum ss_ending {
    SS_ENDED_BY_CODE,   // number is its exit code
    SS_ENDED_BY_SIGNAL, // number is the signal; SIGKILL after ss_child_end
    SS_ENDED_LOUD,      // it was killed: it wrote more than SS_CHILD_MOST_SAID
    SS_ENDED_UNHEARD,   // it was killed: there was no memory for what it wrote
    SS_ENDED_UNKNOWN,   // somebody else has taken its exit status
} ss_ending;

enum { SS_CHILD_MOST_SAID = 1 << 24 };

typedef struct ss_child {
    pid_t pid;            // 0 for none
    bool leads_group;     // true for a program, which has a process group of its own
    int process, channel; // its pidfd, and the pipe on which it speaks, -1 once that is closed
    char *said;           // [length] owned
    size_t length, capacity;

    // These are set once it has ended.
    ss_ending ending;
    int number;
    double cpu_seconds;
} ss_child; // zero-initialised for none

// Starts a child. *child is none, or was cleared. On failure it is none.
ss_status ss_child_start(ss_child *child, const ss_child_setup *setup, ss_error *e);

// Waits until one of n children has ended, and all that it said is heard: *ended is its place. It
// is -1 where `seconds` passed first, or a signal came that `unblocked` lets through; NULL lets
// none through.
ss_status ss_child_wait(ss_child *children, int n, double seconds, const sigset_t *unblocked,
                        int *ended, ss_error *e);

double ss_child_cpu_seconds(const ss_child *child); // so far, or until its end

// Writes how one has ended, to follow its name: "died by signal 11 (Segmentation fault)".
void ss_child_describe_end(const ss_child *child, char *text, size_t room);

void ss_child_end(ss_child *child);   // kills it, and its group, where it still runs
void ss_child_clear(ss_child *child); // does so, and frees what it said

// ---- Patience with one whose work has a time limit
//
// The work keeps its limit by its own clock. One that does not is not ended by the clock on the
// wall: time in which the machine is busy, or stopped, says nothing about it. With a limit L the
// patience is 2 L + 2 s of CPU time per thread, or 3 L + 2 s of sleep: of quarters of a second in
// each of which the child used less than a thousandth of a processor.

typedef struct ss_patience {
    double most_cpu, most_sleep; // s; infinite where there is no limit
    double cpu;                  // CPU time of the child at the start, s
    double looked, looked_cpu;   // when the present quarter of a second began, and CPU time then, s
    double asleep;               // s
} ss_patience;

// Begins now. A limit of 0 means no limit; 0 threads count as one.
ss_patience ss_patience_begin(const ss_child *child, double limit, int threads);
// Notes that the child was waiting for this process since the last look.
void ss_patience_resume(ss_patience *patience, const ss_child *child);
// Returns whether the patience is at its end; asked some times a second. Longer times between two
// calls count as a quarter of a second: a parent that was suspended itself must not blame its
// child.
bool ss_patience_ends(ss_patience *patience, const ss_child *child);

// ---- This process

// Limits the growth of this process' address space to so many bytes, and to half of the machine's
// memory: endless requests of memory are refused before they bring the machine down.
void ss_child_limit_memory(uint64_t bytes);
