// Batch changes of the store that `raw_insert` made: index entries sorted, one durable transaction.

#include "rawstore.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  uint32_t length;
  unsigned char key[44];
} entry;

static int by_key(const void *a, const void *b) {
  const entry *x = a, *y = b;
  uint32_t shorter = x->length < y->length ? x->length : y->length;
  int order = memcmp(x->key, y->key, shorter);
  return order != 0 ? order : (x->length > y->length) - (x->length < y->length);
}

static int delete_entries(raw_session *s, MDB_dbi index, entry *entries, size_t count) {
  qsort(entries, count, sizeof(entry), by_key);
  MDB_cursor *cursor;
  CHECK(mdb_cursor_open(s->txn, index, &cursor));
  for (size_t i = 0; i < count; i++) {
    MDB_val k = {entries[i].length, entries[i].key}, v;
    CHECK(mdb_cursor_get(cursor, &k, &v, MDB_SET));
    CHECK(mdb_cursor_del(cursor, 0));
  }
  mdb_cursor_close(cursor);
  return 0;
}

/// Deletes the records with `ids`, which ascend, and their index entries.
static int delete_records(raw_session *s, uint64_t *ids, size_t count) {
  entry *uniques = malloc(count * sizeof(entry)), *dates = malloc(count * sizeof(entry));
  MDB_cursor *cursor;
  CHECK(mdb_cursor_open(s->txn, s->records, &cursor));
  for (size_t i = 0; i < count; i++) {
    MDB_val k = {8, &ids[i]}, v;
    CHECK(mdb_cursor_get(cursor, &k, &v, MDB_SET_KEY));
    const unsigned char *p = v.mv_data;
    uint16_t ends[5];
    memcpy(ends, p + 17, 10);
    entry *u = &uniques[i], *d = &dates[i];
    memcpy(u->key, p + 27, ends[0]);
    u->key[ends[0]] = 0;
    memcpy(u->key + ends[0] + 1, p + 27 + ends[0], ends[1] - ends[0]);
    u->length = ends[1] + 1;
    double updated;
    memcpy(&updated, p + 8, 8);
    uint64_t date = raw_ordered(updated), id = __builtin_bswap64(ids[i]);
    memcpy(d->key, &date, 8);
    memcpy(d->key + 8, &id, 8);
    d->length = 16;
    CHECK(mdb_cursor_del(cursor, 0));
  }
  mdb_cursor_close(cursor);
  CHECK(delete_entries(s, s->unique, uniques, count));
  CHECK(delete_entries(s, s->dates, dates, count));
  free(uniques);
  free(dates);
  return 0;
}

int raw_delete_dates(const char *path, double from, double to, size_t *deleted) {
  raw_session s;
  CHECK(raw_begin(path, 0, 0, &s));
  MDB_cursor *cursor;
  CHECK(mdb_cursor_open(s.txn, s.dates, &cursor));
  uint64_t low = raw_ordered(from), high = raw_ordered(to);
  size_t count = 0, room = 1 << 16;
  uint64_t *ids = malloc(room * 8);
  MDB_val k = {8, &low}, v;
  int code = mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE);
  while (code == 0 && memcmp(k.mv_data, &high, 8) < 0) {
    if (count == room) ids = realloc(ids, (room *= 2) * 8);
    uint64_t id;
    memcpy(&id, (const char *)k.mv_data + 8, 8);
    ids[count++] = __builtin_bswap64(id);
    code = mdb_cursor_get(cursor, &k, &v, MDB_NEXT);
  }
  mdb_cursor_close(cursor);
  raw_sort_ids(ids, count);
  CHECK(delete_records(&s, ids, count));
  free(ids);
  *deleted = count;
  return raw_commit(&s);
}

int raw_delete_names(
  const char *path, const raw_pod *pods, const uint32_t *order, size_t count, size_t *deleted
) {
  raw_session s;
  CHECK(raw_begin(path, 0, 0, &s));
  uint64_t *ids = malloc(count * 2 * sizeof(uint64_t));
  size_t found = 0;
  CHECK(raw_ids_of_names(&s, pods, order, count, ids, &found));
  CHECK(delete_records(&s, ids, found));
  free(ids);
  *deleted = found;
  return raw_commit(&s);
}

int raw_set_deprecated(const char *path, size_t *updated) {
  raw_session s;
  CHECK(raw_begin(path, 0, 0, &s));
  MDB_cursor *cursor;
  CHECK(mdb_cursor_open(s.txn, s.records, &cursor));
  MDB_val k, v;
  unsigned char record[4096];
  size_t count = 0;
  int code = mdb_cursor_get(cursor, &k, &v, MDB_FIRST);
  while (code == 0) {
    const unsigned char *p = v.mv_data;
    if (!p[16]) {
      memcpy(record, p, v.mv_size);
      record[16] = 1;
      uint64_t id;
      memcpy(&id, k.mv_data, 8);
      MDB_val same = {8, &id}, changed = {v.mv_size, record};
      CHECK(mdb_cursor_put(cursor, &same, &changed, MDB_CURRENT));
      count++;
    }
    code = mdb_cursor_get(cursor, &k, &v, MDB_NEXT);
  }
  mdb_cursor_close(cursor);
  *updated = count;
  return raw_commit(&s);
}
