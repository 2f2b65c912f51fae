// To-do items: a record is the date, a byte, the title.

#include "sorting.h"
#include "store.h"

#include <stdlib.h>
#include <string.h>

static void encode_item(const raw_item *item, unsigned char *out) {
  memcpy(out, &item->created_at, 8);
  out[8] = item->is_done;
  memcpy(out + 9, item->title.bytes, item->title.length);
}

int insert_items(raw_store *store, const raw_item *items, size_t count, raw_answer *answer) {
  MDB_txn *txn;
  MDB_cursor *cursor;
  uint64_t last;
  CHECK(mdb_txn_begin(store->env, NULL, 0, &txn));
  CHECK(store_last_id(txn, store->items, &last));
  CHECK(mdb_cursor_open(txn, store->items, &cursor));
  entry *entries = malloc(count * sizeof(entry));
  for (size_t i = 0; i < count; i++) {
    uint64_t id = last + 1 + i;
    MDB_val k = {8, &id}, v = {9 + items[i].title.length, NULL};
    CHECK(mdb_cursor_put(cursor, &k, &v, MDB_APPEND | MDB_RESERVE));
    encode_item(&items[i], v.mv_data);
    entries[i] = (entry){ordered_date(items[i].created_at), (uint32_t)i, 0};
  }
  mdb_cursor_close(cursor);
  sort_by_window(entries, count);
  CHECK(mdb_cursor_open(txn, store->item_dates, &cursor));
  for (size_t i = 0; i < count; i++) {
    date_key key = key_of_date(entries[i].window, last + 1 + entries[i].place);
    MDB_val k = {16, key.bytes}, v = {0, NULL};
    CHECK(mdb_cursor_put(cursor, &k, &v, last == 0 ? MDB_APPEND : 0));
  }
  mdb_cursor_close(cursor);
  free(entries);
  answer->count = count;
  return mdb_txn_commit(txn);
}

int insert_items_naive(raw_store *store, const raw_item *items, size_t count, raw_answer *answer) {
  MDB_txn *txn;
  uint64_t last;
  CHECK(mdb_txn_begin(store->env, NULL, 0, &txn));
  CHECK(store_last_id(txn, store->items, &last));
  for (size_t i = 0; i < count; i++) {
    uint64_t id = last + 1 + i;
    MDB_val k = {8, &id}, v = {9 + items[i].title.length, NULL};
    CHECK(mdb_put(txn, store->items, &k, &v, MDB_APPEND | MDB_RESERVE));
    encode_item(&items[i], v.mv_data);
    date_key key = key_of_date(ordered_date(items[i].created_at), id);
    k = (MDB_val){16, key.bytes};
    v = (MDB_val){0, NULL};
    CHECK(mdb_put(txn, store->item_dates, &k, &v, 0));
  }
  answer->count = count;
  return mdb_txn_commit(txn);
}

static void own_item(const unsigned char *record, size_t length, owned_item *out) {
  memcpy(&out->created_at, record, 8);
  out->is_done = record[8];
  out->title = raw_own((const char *)record + 9, (uint32_t)(length - 9));
}

// Reading and sorting all items is five times faster than the walk of the index in
// `items_by_date_walked`.
int items_by_date(raw_store *store, raw_answer *answer) {
  MDB_txn *txn;
  MDB_cursor *cursor;
  MDB_stat stat;
  CHECK(store_begin_read(store, &txn));
  CHECK(mdb_stat(txn, store->items, &stat));
  size_t count = stat.ms_entries;
  entry *entries = malloc(count * sizeof(entry));
  const unsigned char **records = malloc(count * sizeof(*records));
  CHECK(mdb_cursor_open(txn, store->items, &cursor));
  MDB_val k, v;
  size_t i = 0;
  int code = mdb_cursor_get(cursor, &k, &v, MDB_FIRST);
  while (code == 0) {
    double date;
    memcpy(&date, v.mv_data, 8);
    entries[i] = (entry){ordered_date(date), (uint32_t)i, (uint32_t)v.mv_size};
    records[i++] = v.mv_data;
    code = mdb_cursor_get(cursor, &k, &v, MDB_NEXT);
  }
  mdb_cursor_close(cursor);
  if (code != MDB_NOTFOUND) return code;
  sort_by_window(entries, count);
  owned_item *out = raw_next_items(answer, count);
  for (i = 0; i < count; i++) {
    own_item(records[entries[i].place], entries[i].length, &out[i]);
  }
  answer->count = answer->item_count = count;
  free(entries);
  free(records);
  store_end_read(txn);
  return 0;
}

int items_by_date_walked(raw_store *store, raw_answer *answer) {
  MDB_txn *txn;
  MDB_cursor *cursor;
  MDB_stat stat;
  CHECK(store_begin_read(store, &txn));
  CHECK(mdb_stat(txn, store->items, &stat));
  owned_item *out = raw_next_items(answer, stat.ms_entries);
  CHECK(mdb_cursor_open(txn, store->item_dates, &cursor));
  MDB_val k, v;
  size_t count = 0;
  int code = mdb_cursor_get(cursor, &k, &v, MDB_FIRST);
  while (code == 0) {
    uint64_t id = id_of_date_key(k.mv_data);
    MDB_val record_key = {8, &id}, record;
    CHECK(mdb_get(txn, store->items, &record_key, &record));
    own_item(record.mv_data, record.mv_size, &out[count++]);
    code = mdb_cursor_get(cursor, &k, &v, MDB_NEXT);
  }
  mdb_cursor_close(cursor);
  if (code != MDB_NOTFOUND) return code;
  answer->count = answer->item_count = count;
  store_end_read(txn);
  return 0;
}
