#ifndef RAWLMDB_H
#define RAWLMDB_H

#include <stddef.h>
#include <stdint.h>

/// One generated pod, as C sees it.
typedef struct {
  const char *name, *version, *homepage, *license, *summary;
  uint32_t name_length, version_length, homepage_length, license_length, summary_length;
  int64_t downloads;
  double updated_at;
  uint8_t deprecated;
} raw_pod;

/// Puts all pods by id, by (name, version) and by (date, id) in one transaction, durable.
/// `sorted` collects the index entries and writes them in key order; otherwise they are put as they
/// come. Returns 0 or an LMDB code.
int raw_insert(const char *path, const raw_pod *pods, size_t count, int sorted);

/// Looks up `count` pods by (name, version) and then by id, touching every byte of the record.
/// Returns the sum of what was read, so that nothing is optimised away.
uint64_t raw_get(const char *path, const raw_pod *pods, const uint32_t *order, size_t count);

/// A store that `raw_insert` made, with one read transaction.
typedef struct raw_session raw_session;
raw_session *raw_open(const char *path);
void raw_close(raw_session *session);

/// How many records have more downloads and an earlier date: a scan that reads two fields.
uint64_t raw_scan_fixed(raw_session *session, int64_t downloads, double date);

/// How many records have this license: a scan that compares one text.
uint64_t raw_scan_text(raw_session *session, const char *license, uint32_t length);

/// Finds the records whose name is one of `count`: keys sorted and merged with the index, and with
/// `reads_records` the records read in the order of their ids, every byte copied. Returns a sum that
/// depends on them.
uint64_t raw_names_in(
  raw_session *session, const raw_pod *pods, const uint32_t *order, size_t count,
  int reads_records);

/// Reads the `count` newest records by the index of dates.
uint64_t raw_newest(raw_session *session, size_t count);

/// Deletes the records whose dates are at or after `from` and before `to`, found by the index.
int raw_delete_dates(const char *path, double from, double to, size_t *deleted);

/// Deletes the records whose name is one of `count`.
int raw_delete_names(
  const char *path, const raw_pod *pods, const uint32_t *order, size_t count, size_t *deleted);

/// Sets one byte in every record that does not have it.
int raw_set_deprecated(const char *path, size_t *updated);

#endif
