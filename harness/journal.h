// harness/journal.h -- a file of checksummed lines that is whole up to its last finished line.
//
// A line is LENGTH CHECKSUM TEXT and a line break: the bytes of TEXT in decimal, and the first
// sixteen hexadecimal digits of its SHA-256. It is on the disk when its append returns. A line
// that is cut short, or whose bytes have changed, is dropped by the reader, and it alone; the
// reader says how many were.
#pragma once

#include <sys/types.h>
#include "problems/status.h"

typedef struct ss_journal {
    char *path; // owned
    int fd;     // holds the lock
    off_t size; // up to the end of the last whole line
} ss_journal;

typedef struct ss_journal_damage {
    int lines; // that were dropped
    int first; // number of the first of them, from 1; 0 where there is none
} ss_journal_damage;

// Told of each line in turn; what it returns, unless SS_OK, ends the reading.
typedef ss_status ss_journal_listener(void *context, const char *text, ss_error *e);

// Made where there is none, and locked: SS_SYSTEM where another has it open. `guards` is the file
// that the sentence names. Does not outlive an exec.
ss_status ss_journal_open(const char *path, const char *guards, ss_journal *journal, ss_error *e);
// The lines of an open journal. What is cut short at its end is damage, and removed.
ss_status ss_journal_replay(ss_journal *journal, ss_journal_listener *listener, void *context,
                            ss_journal_damage *damage, ss_error *e);
// text has no line break. On failure the journal is as it was.
ss_status ss_journal_append(ss_journal *journal, const char *text, size_t length, ss_error *e);
void ss_journal_clear(ss_journal *journal); // what cannot be cleared stays
// Removes an empty journal.
void ss_journal_close(ss_journal *journal);

// The lines of a journal that another may be writing, so that the last may be half there: that is
// no damage. None where there is no file.
ss_status ss_journal_read(const char *path, ss_journal_listener *listener, void *context,
                          ss_journal_damage *damage, ss_error *e);
