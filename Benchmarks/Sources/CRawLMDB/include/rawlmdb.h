#ifndef RAWLMDB_H
#define RAWLMDB_H

#include "rawpod.h"

#include <stddef.h>
#include <stdint.h>

// Every function returns 0 or an LMDB code, and sets how many records it found or changed.

/// Puts all pods by id, by (name, version) and by (date, id) in one transaction, durable.
/// `sorted` collects the index entries and writes them in key order; otherwise they are put as they
/// come.
int raw_insert(
  const char *path, const raw_pod *pods, size_t count, int sorted, size_t *inserted);

/// Looks up `count` pods by (name, version) and then by id, copying every byte of the record.
int raw_get(
  const char *path, const raw_pod *pods, const uint32_t *order, size_t count, size_t *found);

/// A store that `raw_insert` made, with one read transaction.
typedef struct raw_session raw_session;

/// Opens a session; NULL when that fails.
raw_session *raw_open(const char *path);
void raw_close(raw_session *session);

/// How many records the store holds.
int raw_count(raw_session *session, size_t *found);

/// How many records have more downloads and another date: a scan that reads two fields.
int raw_scan_fixed(raw_session *session, int64_t downloads, double date, size_t *found);

/// How many records have this license: a scan that compares one text.
int raw_scan_text(raw_session *session, const char *license, uint32_t length, size_t *found);

/// Finds the records whose name is one of `count`: keys sorted and merged with the index, and with
/// `reads_records` the records read in the order of their ids, every byte copied.
int raw_names_in(
  raw_session *session, const raw_pod *pods, const uint32_t *order, size_t count,
  int reads_records, size_t *found);

/// Reads the `count` newest records by the index of dates.
int raw_newest(raw_session *session, size_t count, size_t *found);

/// Deletes the records whose dates are at or after `from` and before `to`, found by the index.
int raw_delete_dates(const char *path, double from, double to, size_t *deleted);

/// Deletes the records whose name is one of `count`.
int raw_delete_names(
  const char *path, const raw_pod *pods, const uint32_t *order, size_t count, size_t *deleted);

/// Sets one byte in every record that does not have it.
int raw_set_deprecated(const char *path, size_t *updated);

#endif
