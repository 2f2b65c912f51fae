// Queries on the store that `raw_insert` made, written by hand for its one schema.

#include "rawstore.h"

#include <stdlib.h>
#include <string.h>

raw_session *raw_open(const char *path) {
  raw_session *s = malloc(sizeof(raw_session));
  if (raw_begin(path, MDB_RDONLY, 0, s) == 0) return s;
  free(s);
  return NULL;
}

void raw_close(raw_session *s) {
  mdb_txn_abort(s->txn);
  mdb_env_close(s->env);
  free(s);
}

int raw_count(raw_session *s, size_t *found) {
  MDB_stat stat;
  CHECK(mdb_stat(s->txn, s->records, &stat));
  *found = stat.ms_entries;
  return 0;
}

int raw_scan_fixed(raw_session *s, int64_t downloads, double date, size_t *found) {
  MDB_cursor *cursor;
  CHECK(mdb_cursor_open(s->txn, s->records, &cursor));
  MDB_val k, v;
  size_t count = 0;
  int code = mdb_cursor_get(cursor, &k, &v, MDB_FIRST);
  while (code == 0) {
    const unsigned char *p = v.mv_data;
    int64_t d;
    double t;
    memcpy(&d, p, 8);
    memcpy(&t, p + 8, 8);
    count += d > downloads && t != date;
    code = mdb_cursor_get(cursor, &k, &v, MDB_NEXT);
  }
  mdb_cursor_close(cursor);
  *found = count;
  return 0;
}

int raw_scan_text(raw_session *s, const char *license, uint32_t length, size_t *found) {
  MDB_cursor *cursor;
  CHECK(mdb_cursor_open(s->txn, s->records, &cursor));
  MDB_val k, v;
  size_t count = 0;
  int code = mdb_cursor_get(cursor, &k, &v, MDB_FIRST);
  while (code == 0) {
    const unsigned char *p = v.mv_data;
    uint16_t ends[5];
    memcpy(ends, p + 17, 10);
    uint32_t size = (uint32_t)(ends[3] - ends[2]);
    count += size == length && memcmp(p + 27 + ends[2], license, length) == 0;
    code = mdb_cursor_get(cursor, &k, &v, MDB_NEXT);
  }
  mdb_cursor_close(cursor);
  *found = count;
  return 0;
}

int raw_names_in(
  raw_session *s, const raw_pod *pods, const uint32_t *order, size_t count, int reads_records,
  size_t *found
) {
  uint64_t *ids = malloc(count * 2 * sizeof(uint64_t));
  CHECK(raw_ids_of_names(s, pods, order, count, ids, found));
  if (reads_records) {
    MDB_cursor *cursor;
    CHECK(mdb_cursor_open(s->txn, s->records, &cursor));
    for (size_t i = 0; i < *found; i++) {
      MDB_val k = {8, &ids[i]}, v;
      CHECK(mdb_cursor_get(cursor, &k, &v, MDB_SET_KEY));
      raw_read(v);
    }
    mdb_cursor_close(cursor);
  }
  free(ids);
  return 0;
}

int raw_newest(raw_session *s, size_t count, size_t *found) {
  MDB_cursor *dates;
  CHECK(mdb_cursor_open(s->txn, s->dates, &dates));
  MDB_val k, v;
  size_t n = 0;
  int code = mdb_cursor_get(dates, &k, &v, MDB_LAST);
  while (n < count && code == 0) {
    uint64_t id;
    memcpy(&id, (const char *)k.mv_data + 8, 8);
    id = __builtin_bswap64(id);
    MDB_val record_key = {8, &id}, record;
    CHECK(mdb_get(s->txn, s->records, &record_key, &record));
    raw_read(record);
    n++;
    code = mdb_cursor_get(dates, &k, &v, MDB_PREV);
  }
  mdb_cursor_close(dates);
  *found = n;
  return 0;
}
