// Inserts of pods: records appended in place, index entries sorted first.

#include "lookup.h"

#include <stdlib.h>
#include <string.h>

static int append_records(
  MDB_txn *txn, raw_store *store, const raw_pod *pods, size_t count, uint64_t first
) {
  MDB_cursor *cursor;
  CHECK(mdb_cursor_open(txn, store->records, &cursor));
  for (size_t i = 0; i < count; i++) {
    uint64_t id = first + i;
    MDB_val k = {8, &id}, v = {record_size(&pods[i]), NULL};
    CHECK(mdb_cursor_put(cursor, &k, &v, MDB_APPEND | MDB_RESERVE));
    encode_record(&pods[i], v.mv_data);
  }
  mdb_cursor_close(cursor);
  return 0;
}

static int write_unique(
  MDB_txn *txn, raw_store *store, const raw_pod *pods, size_t count, uint64_t first
) {
  entry *entries = malloc(count * sizeof(entry));
  unsigned char *block = sorted_keys(pods, NULL, count, entries);
  MDB_cursor *cursor;
  CHECK(mdb_cursor_open(txn, store->unique, &cursor));
  unsigned flags = first == 1 ? MDB_APPEND : MDB_NOOVERWRITE;
  for (size_t i = 0; i < count; i++) {
    uint64_t id = first + place_of_key(block, &entries[i]);
    MDB_val k = {entries[i].length, block + entries[i].place}, v = {8, &id};
    CHECK(mdb_cursor_put(cursor, &k, &v, flags));
  }
  mdb_cursor_close(cursor);
  free(entries);
  free(block);
  return 0;
}

static int write_dates(
  MDB_txn *txn, raw_store *store, const raw_pod *pods, size_t count, uint64_t first
) {
  entry *entries = malloc(count * sizeof(entry));
  for (size_t i = 0; i < count; i++) {
    entries[i] = (entry){ordered_date(pods[i].updated_at), (uint32_t)i, 0};
  }
  sort_by_window(entries, count);
  MDB_cursor *cursor;
  CHECK(mdb_cursor_open(txn, store->dates, &cursor));
  for (size_t i = 0; i < count; i++) {
    date_key key = key_of_date(entries[i].window, first + entries[i].place);
    MDB_val k = {16, key.bytes}, v = {0, NULL};
    CHECK(mdb_cursor_put(cursor, &k, &v, first == 1 ? MDB_APPEND : 0));
  }
  mdb_cursor_close(cursor);
  free(entries);
  return 0;
}

int insert_pods(raw_store *store, const raw_pod *pods, size_t count, raw_answer *answer) {
  MDB_txn *txn;
  uint64_t last;
  CHECK(mdb_txn_begin(store->env, NULL, 0, &txn));
  CHECK(store_last_id(txn, store->records, &last));
  CHECK(append_records(txn, store, pods, count, last + 1));
  CHECK(write_unique(txn, store, pods, count, last + 1));
  CHECK(write_dates(txn, store, pods, count, last + 1));
  answer->count = count;
  return mdb_txn_commit(txn);
}

int put_pod(MDB_txn *txn, raw_store *store, const raw_pod *pod, uint64_t id) {
  MDB_val k = {8, &id}, v = {record_size(pod), NULL};
  CHECK(mdb_put(txn, store->records, &k, &v, MDB_APPEND | MDB_RESERVE));
  encode_record(pod, v.mv_data);
  unsigned char bytes[600];
  k = (MDB_val){unique_key(pod, bytes), bytes};
  v = (MDB_val){8, &id};
  CHECK(mdb_put(txn, store->unique, &k, &v, MDB_NOOVERWRITE));
  date_key date = key_of_date(ordered_date(pod->updated_at), id);
  k = (MDB_val){16, date.bytes};
  v = (MDB_val){0, NULL};
  return mdb_put(txn, store->dates, &k, &v, 0);
}

int insert_pods_naive(raw_store *store, const raw_pod *pods, size_t count, raw_answer *answer) {
  MDB_txn *txn;
  uint64_t last;
  CHECK(mdb_txn_begin(store->env, NULL, 0, &txn));
  CHECK(store_last_id(txn, store->records, &last));
  for (size_t i = 0; i < count; i++) CHECK(put_pod(txn, store, &pods[i], last + 1 + i));
  answer->count = count;
  return mdb_txn_commit(txn);
}

int insert_pod(raw_store *store, const raw_pod *pod) {
  MDB_txn *txn;
  uint64_t last;
  CHECK(mdb_txn_begin(store->env, NULL, 0, &txn));
  CHECK(store_last_id(txn, store->records, &last));
  int code = put_pod(txn, store, pod, last + 1);
  if (code != 0) {
    mdb_txn_abort(txn);
    return code;
  }
  return mdb_txn_commit(txn);
}
