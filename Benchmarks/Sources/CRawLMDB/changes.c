// Batch changes of stored pods, in the order of ids and of index keys.

#include "lookup.h"

#include <stdlib.h>
#include <string.h>

// LMDB copies a page when the first of its records changes; the byte of each record is then set in
// place.
int update_deprecated(raw_store *store, raw_answer *answer) {
  MDB_txn *txn;
  MDB_cursor *cursor;
  CHECK(mdb_txn_begin(store->env, NULL, 0, &txn));
  CHECK(mdb_cursor_open(txn, store->records, &cursor));
  MDB_val k, v;
  int code = mdb_cursor_get(cursor, &k, &v, MDB_FIRST);
  while (code == 0) {
    if (!((unsigned char *)v.mv_data)[PLACE_DEPRECATED]) {
      MDB_val same = {v.mv_size, NULL};
      CHECK(mdb_cursor_put(cursor, &k, &same, MDB_CURRENT | MDB_RESERVE));
      ((unsigned char *)same.mv_data)[PLACE_DEPRECATED] = 1;
      answer->count++;
    }
    code = mdb_cursor_get(cursor, &k, &v, MDB_NEXT);
  }
  mdb_cursor_close(cursor);
  if (code != MDB_NOTFOUND) return code;
  return mdb_txn_commit(txn);
}

/// Deletes the records of `list`, whose windows are ids that ascend, and calls `visit` with each
/// before it goes.
static int delete_records(
  MDB_txn *txn, raw_store *store, const id_list *list,
  void (*visit)(const unsigned char *record, uint64_t id, void *state), void *state
) {
  MDB_cursor *cursor;
  CHECK(mdb_cursor_open(txn, store->records, &cursor));
  for (size_t i = 0; i < list->count; i++) {
    uint64_t id = list->entries[i].window;
    MDB_val k = {8, &id}, v;
    CHECK(mdb_cursor_get(cursor, &k, &v, MDB_SET_KEY));
    visit(v.mv_data, id, state);
    CHECK(mdb_cursor_del(cursor, 0));
  }
  mdb_cursor_close(cursor);
  return 0;
}

// MARK: By date

typedef struct {
  unsigned char *block;
  entry *keys;
  size_t count;
  uint32_t next, room;
} key_list;

static void keep_unique_key(const unsigned char *record, uint64_t id, void *state) {
  (void)id;
  key_list *list = state;
  if (list->room - list->next < 1024) list->block = realloc(list->block, list->room += 1 << 22);
  uint32_t length = record_unique_key(record, list->block + list->next);
  list->keys[list->count++] = (entry){0, list->next, length};
  list->next += length;
}

/// Deletes the run of entries of the dates index.
static int delete_date_run(MDB_txn *txn, raw_store *store, double from, size_t count) {
  MDB_cursor *cursor;
  CHECK(mdb_cursor_open(txn, store->dates, &cursor));
  date_key low = key_of_date(ordered_date(from), 0);
  MDB_val k = {16, low.bytes}, v;
  for (size_t i = 0; i < count; i++) {
    // After a deletion the cursor is at the next pair, which MDB_NEXT then returns.
    CHECK(mdb_cursor_get(cursor, &k, &v, i == 0 ? MDB_SET_RANGE : MDB_NEXT));
    CHECK(mdb_cursor_del(cursor, 0));
  }
  mdb_cursor_close(cursor);
  return 0;
}

int delete_dates(raw_store *store, double from, double to, raw_answer *answer) {
  MDB_txn *txn;
  CHECK(mdb_txn_begin(store->env, NULL, 0, &txn));
  id_list ids = {0};
  CHECK(ids_of_dates(txn, store, from, to, &ids));
  CHECK(delete_date_run(txn, store, from, ids.count));
  sort_by_window(ids.entries, ids.count);
  key_list keys = {NULL, malloc((ids.count + 1) * sizeof(entry)), 0, 0, 0};
  CHECK(delete_records(txn, store, &ids, keep_unique_key, &keys));
  sort_by_key(keys.keys, keys.count, keys.block);
  MDB_cursor *cursor;
  CHECK(mdb_cursor_open(txn, store->unique, &cursor));
  for (size_t i = 0; i < keys.count; i++) {
    MDB_val k = {keys.keys[i].length, keys.block + keys.keys[i].place}, v;
    CHECK(mdb_cursor_get(cursor, &k, &v, MDB_SET));
    CHECK(mdb_cursor_del(cursor, 0));
  }
  mdb_cursor_close(cursor);
  answer->count = ids.count;
  free(ids.entries);
  free(keys.keys);
  free(keys.block);
  return mdb_txn_commit(txn);
}

// MARK: By name

static void keep_date(const unsigned char *record, uint64_t id, void *state) {
  id_list *dates = state;
  add_id(dates, ordered_date(record_date(record)));
  dates->entries[dates->count - 1].place = (uint32_t)id;
}

static int delete_entry(MDB_cursor *cursor, uint64_t id, void *state) {
  add_id(state, id);
  return mdb_cursor_del(cursor, 0);
}

int delete_names(
  raw_store *store, const raw_pod *pods, const uint32_t *wanted, size_t count, raw_answer *answer
) {
  MDB_txn *txn;
  CHECK(mdb_txn_begin(store->env, NULL, 0, &txn));
  id_list ids = {0}, dates = {0};
  CHECK(visit_names(txn, store, pods, wanted, count, delete_entry, &ids));
  sort_by_window(ids.entries, ids.count);
  CHECK(delete_records(txn, store, &ids, keep_date, &dates));
  sort_by_window(dates.entries, dates.count);
  MDB_cursor *cursor;
  CHECK(mdb_cursor_open(txn, store->dates, &cursor));
  for (size_t i = 0; i < dates.count; i++) {
    date_key key = key_of_date(dates.entries[i].window, dates.entries[i].place);
    MDB_val k = {16, key.bytes}, v;
    CHECK(mdb_cursor_get(cursor, &k, &v, MDB_SET));
    CHECK(mdb_cursor_del(cursor, 0));
  }
  mdb_cursor_close(cursor);
  answer->count = ids.count;
  free(ids.entries);
  free(dates.entries);
  return mdb_txn_commit(txn);
}
