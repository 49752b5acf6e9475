// problems/store/store.h -- problems in HDF5 files, in FCLIB's layout.
//
// One file is one problem (/fclib_local or /fclib_global at the root), or a collection
// (/problems/<name>/fclib_...). Reading accepts matrices by columns, by rows and as triplets;
// writing uses columns. Layout and errors: doc/internals.md, "The store".
//
// Reading never trusts a file. libhdf5 itself crashes on some damaged files, so the file is
// decoded in a child process, which sends plain arrays back; a child that dies is a damaged file.
// Writing is atomic: the file is made in memory, written beside the old one and renamed over it.
#pragma once

#include "problems/check.h"
#include "problems/problem.h"

#pragma GCC visibility push(default)

typedef struct ss_reader ss_reader;

// Checks that the file is there and is an HDF5 file, as far as can be told without reading it.
ss_status ss_reader_look(const char *path, ss_error *e);
// Starts the child and lists the problems. Errors name the file. A reader that is NULL holds none.
ss_status ss_reader_open(const char *path, ss_reader **reader, ss_error *e);
int ss_reader_count(const ss_reader *reader);
// Returns the name of problem k; "" if the file is one problem, or has no k.
const char *ss_reader_name(const ss_reader *reader, int k);
int ss_reader_find(const ss_reader *reader, const char *name); // -1 if there is none
// Reads and checks problem k. SS_BAD_INPUT with the first defect in e, all of them and the remarks
// in report (empty, may be NULL). Errors name file, problem and dataset.
ss_status ss_reader_load(ss_reader *reader, int k, ss_problem **problem, ss_report *report,
                         ss_error *e);
// Names what the file contains and a writer would not write again, at most three: "/notes,
// /fclib_local/W@unit"; "" without any.
ss_status ss_reader_foreign(ss_reader *reader, char *names, size_t room, ss_error *e);
void ss_reader_close(ss_reader *reader); // takes NULL

typedef struct ss_writer ss_writer;

// Nothing touches the disk before the commit. Errors name the file.
ss_status ss_writer_open(const char *path, ss_writer **writer, ss_error *e);
// True if a writer takes it as the name of a problem: [A-Za-z0-9._-]+, but not "." or "..".
bool ss_store_takes_name(const char *name);
// name NULL: the file is this one problem; else /problems/<name>, a name it takes, and unique.
// Every number of the problem, its guesses and its answer must be finite, and its sizes right: a
// reader would refuse the file.
ss_status ss_writer_add(ss_writer *writer, const char *name, const ss_problem *problem,
                        ss_error *e);
ss_status ss_writer_commit(ss_writer *writer, ss_error *e);
// Frees a writer, or NULL. Before a commit it is as if it had never been opened.
void ss_writer_close(ss_writer *writer);

// Read and write a file that is one problem; the name, if not NULL, chooses one of a collection.
ss_status ss_store_read(const char *path, const char *name, ss_problem **problem, ss_error *e);
ss_status ss_store_write(const char *path, const ss_problem *problem, ss_error *e);

#pragma GCC visibility pop
