// harness/record.h -- results of many runs in one HDF5 file that survives being killed.
//
// A row is one (problem, solver, tolerance, start, build). HDF5 has no journal: a finished row goes
// first to RESULTS.h5.journal, one checksummed line, flushed to the disk; when the record is
// closed, or the journal grows long, all rows are written to a new file that is renamed over the
// old one, and the journal is emptied, or removed when the record is closed. Readers take both. A
// line that a kill cut short fails its checksum and is dropped, which can be asked for: its run is
// made again. One writer at a time, by a lock on the journal.
//
// In the file: /rows/<column>, one dataset a column, all of one length; /history/{start, iteration,
// seconds, local_solves, fb}, where row k owns entries start[k] .. start[k + 1] - 1.
#pragma once

#include "harness/record_row.h"

typedef struct ss_record ss_record;

// For writing: made where there is none. Another writer: SS_SYSTEM with a sentence. Rows that the
// journal of a killed run holds are there.
ss_status ss_record_open(const char *path, ss_record **record, ss_error *e);
// For reading: file and journal; SS_BAD_INPUT where there is neither or the file is no record.
ss_status ss_record_read(const char *path, ss_record **record, ss_error *e);

// What was dropped of the journal when the record was opened or read: false where nothing was, and
// a sentence in text [room] otherwise.
bool ss_record_damage(const ss_record *record, char *text, size_t room);

// A row that was found stays where it is until one is added, or the record is closed.
size_t ss_record_count(const ss_record *record);
const ss_record_row *ss_record_row_at(const ss_record *record, size_t k); // in the order of adding
const ss_record_row *ss_record_find(const ss_record *record,
                                    const ss_record_row *key); // NULL: none

// Journalled and on the disk when it returns; takes over row->history, which is empty then. A row
// with the same key is replaced; one that stood in for the problem while it could not be read goes.
// On failure the record and the row are as they were.
ss_status ss_record_add(ss_record *record, ss_record_row *row, ss_error *e);
// Folds the journal in; where that fails, its rows stay in the journal. The record, which may be
// NULL, is freed in every case.
ss_status ss_record_close(ss_record *record, ss_error *e);
