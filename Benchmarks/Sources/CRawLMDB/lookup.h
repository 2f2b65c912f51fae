#ifndef LOOKUP_H
#define LOOKUP_H

#include "sorting.h"
#include "store.h"

/// The unique keys of `count` pods, `pods[wanted[i]]` or, without `wanted`, `pods[i]`, in a block
/// that the caller frees, and entries for them, sorted by key.
unsigned char *sorted_keys(
  const raw_pod *pods, const uint32_t *wanted, size_t count, entry *keys);

/// The `i` of such an entry.
uint32_t place_of_key(const unsigned char *block, const entry *key);

/// Finds the records that hold the keys of `sorted_keys`. In `found[i]` the window is the record's
/// id, 0 for none, and the place is `i`.
int holders_of_keys(
  MDB_txn *txn, raw_store *store, const raw_pod *pods, const uint32_t *wanted, size_t count,
  entry *found);

/// The function that `visit_names` calls with each record's id while the cursor is at its entry.
typedef int (*name_visitor)(MDB_cursor *cursor, uint64_t id, void *state);

/// Visits, in the order of their keys, the unique entries whose name is among the wanted names.
int visit_names(
  MDB_txn *txn, raw_store *store, const raw_pod *pods, const uint32_t *wanted, size_t count,
  name_visitor visit, void *state);

/// A growing list of record ids.
typedef struct {
  entry *entries;
  size_t count, room;
} id_list;

void add_id(id_list *list, uint64_t id);

/// Appends the ids of the records whose date is at or after `from` and before `to`, in the order of
/// the dates. The place of an entry is its position in the list.
int ids_of_dates(MDB_txn *txn, raw_store *store, double from, double to, id_list *list);

int put_pod(MDB_txn *txn, raw_store *store, const raw_pod *pod, uint64_t id);

#endif
