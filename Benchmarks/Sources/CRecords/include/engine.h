#ifndef ENGINE_H
#define ENGINE_H

#include "records.h"

/// An open store of an engine.
typedef struct raw_store raw_store;

/// The operations of the workload in an engine; null for an operation that the engine does not
/// have.
///
/// Each operation returns 0 or a code of the engine. All changes of a call are one durable
/// transaction. `wanted` holds indexes of `pods`. Found records come in the order of ids, or of the
/// dates if a function says so.
typedef struct {
  const char *(*error_text)(int code);

  /// Opens the file, and makes it with its trees or tables if it does not exist.
  int (*open)(const char *path, size_t map_size, raw_store **store);
  /// Opens a second reader of an open store, which one thread uses.
  int (*open_reader)(raw_store *store, raw_store **reader);
  void (*close)(raw_store *store);

  // Changes of the pods.
  int (*insert_pods)(raw_store *, const raw_pod *pods, size_t count, raw_answer *);
  int (*insert_pod)(raw_store *, const raw_pod *pod);
  int (*upsert_pods)(raw_store *, const raw_pod *pods, size_t count, raw_answer *);
  int (*update_deprecated)(raw_store *, raw_answer *);
  int (*delete_dates)(raw_store *, double from, double to, raw_answer *);
  int (*delete_names)(
    raw_store *, const raw_pod *pods, const uint32_t *wanted, size_t count, raw_answer *);

  // Reads of the pods, in one transaction each.
  int (*get_unique)(
    raw_store *, const raw_pod *pods, const uint32_t *wanted, size_t count, raw_answer *);
  int (*get_ids)(raw_store *, const uint32_t *wanted, size_t count, raw_answer *);
  /// The records of `count` keys, in the order of the keys.
  int (*multi_get)(
    raw_store *, const raw_pod *pods, const uint32_t *wanted, size_t count, raw_answer *);
  int (*fetch_all)(raw_store *, raw_answer *);
  /// Copies the name and reads the downloads of every record, and sums up the downloads.
  int (*fetch_two)(raw_store *, raw_answer *);
  /// Reads the records of each range of dates, one range after the other.
  int (*fetch_ranges)(
    raw_store *, const double *from, const double *to, size_t count, raw_answer *);
  int (*count_numbers)(raw_store *, int64_t downloads, double date, raw_answer *);
  int (*count_license)(raw_store *, raw_text license, raw_answer *);
  int (*count_dates)(raw_store *, double from, double to, raw_answer *);
  int (*ids_of_names)(
    raw_store *, const raw_pod *pods, const uint32_t *wanted, size_t count, raw_answer *);
  int (*fetch_names)(
    raw_store *, const raw_pod *pods, const uint32_t *wanted, size_t count, raw_answer *);
  /// Returns the `count` records with the most downloads, the most first; of equal records the one
  /// with the higher id first.
  int (*top_downloads)(raw_store *, size_t count, raw_answer *);
  /// Returns the `count` newest records by the index of dates, the newest first; of equal records
  /// the one with the higher id first.
  int (*newest)(raw_store *, size_t count, raw_answer *);

  // To-do items.
  int (*insert_items)(raw_store *, const raw_item *items, size_t count, raw_answer *);
  /// All items by their indexed date.
  int (*items_by_date)(raw_store *, raw_answer *);
} raw_engine;

/// Gets pods by their unique keys, decoded, in a transaction each; -1 for a pod that is older than
/// the generated one.
int raw_get_each(
  const raw_engine *engine, raw_store *reader, const raw_pod *pods, const uint32_t *wanted,
  size_t count);

#define CHECK(call) do { int code_ = (call); if (code_ != 0) return code_; } while (0)

#endif
