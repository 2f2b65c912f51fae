// Queries on the store that `raw_insert` made, written by hand for its one schema.

#include "rawlmdb.h"

#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  MDB_env *env;
  MDB_txn *txn;
  MDB_dbi records, unique, dates;
} session;

struct raw_session {
  session s;
};

raw_session *raw_open(const char *path) {
  raw_session *r = malloc(sizeof(raw_session));
  session *s = &r->s;
  if (mdb_env_create(&s->env) != 0) return NULL;
  mdb_env_set_mapsize(s->env, (size_t)64 << 30);
  mdb_env_set_maxdbs(s->env, 8);
  if (mdb_env_open(s->env, path, MDB_NOSUBDIR | MDB_NOTLS | MDB_RDONLY, 0600) != 0) return NULL;
  if (mdb_txn_begin(s->env, NULL, MDB_RDONLY, &s->txn) != 0) return NULL;
  if (mdb_dbi_open(s->txn, "records", MDB_INTEGERKEY, &s->records) != 0) return NULL;
  if (mdb_dbi_open(s->txn, "unique", 0, &s->unique) != 0) return NULL;
  if (mdb_dbi_open(s->txn, "dates", 0, &s->dates) != 0) return NULL;
  return r;
}

void raw_close(raw_session *r) {
  mdb_txn_abort(r->s.txn);
  mdb_env_close(r->s.env);
  free(r);
}

uint64_t raw_scan_fixed(raw_session *r, int64_t downloads, double date) {
  MDB_cursor *cursor;
  if (mdb_cursor_open(r->s.txn, r->s.records, &cursor) != 0) return 0;
  MDB_val k, v;
  uint64_t count = 0;
  int code = mdb_cursor_get(cursor, &k, &v, MDB_FIRST);
  while (code == 0) {
    const unsigned char *p = v.mv_data;
    int64_t d;
    double t;
    memcpy(&d, p, 8);
    memcpy(&t, p + 8, 8);
    count += d > downloads && t < date;
    code = mdb_cursor_get(cursor, &k, &v, MDB_NEXT);
  }
  mdb_cursor_close(cursor);
  return count;
}

uint64_t raw_scan_text(raw_session *r, const char *license, uint32_t length) {
  MDB_cursor *cursor;
  if (mdb_cursor_open(r->s.txn, r->s.records, &cursor) != 0) return 0;
  MDB_val k, v;
  uint64_t count = 0;
  int code = mdb_cursor_get(cursor, &k, &v, MDB_FIRST);
  while (code == 0) {
    const unsigned char *p = v.mv_data;
    uint16_t ends[5];
    memcpy(ends, p + 17, 10);
    uint32_t found = (uint32_t)(ends[3] - ends[2]);
    count += found == length && memcmp(p + 27 + ends[2], license, length) == 0;
    code = mdb_cursor_get(cursor, &k, &v, MDB_NEXT);
  }
  mdb_cursor_close(cursor);
  return count;
}

static int by_name(const void *a, const void *b) {
  const raw_pod *x = *(const raw_pod *const *)a, *y = *(const raw_pod *const *)b;
  uint32_t shorter = x->name_length < y->name_length ? x->name_length : y->name_length;
  int order = memcmp(x->name, y->name, shorter);
  return order != 0 ? order : (x->name_length > y->name_length) - (x->name_length < y->name_length);
}

static int by_id(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

uint64_t raw_names_in(
  raw_session *r, const raw_pod *pods, const uint32_t *order, size_t count, int reads_records
) {
  const raw_pod **wanted = malloc(count * sizeof(*wanted));
  for (size_t i = 0; i < count; i++) wanted[i] = &pods[order[i]];
  qsort(wanted, count, sizeof(*wanted), by_name);
  MDB_cursor *cursor;
  if (mdb_cursor_open(r->s.txn, r->s.unique, &cursor) != 0) return 0;
  uint64_t *ids = malloc(count * 2 * sizeof(uint64_t));
  size_t found = 0;
  char key[600];
  for (size_t i = 0; i < count; i++) {
    if (i > 0 && by_name(&wanted[i - 1], &wanted[i]) == 0) continue;
    uint32_t length = wanted[i]->name_length;
    memcpy(key, wanted[i]->name, length);
    key[length++] = 0;
    MDB_val k = {length, key}, v;
    int code = mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE);
    while (code == 0 && k.mv_size >= length && memcmp(k.mv_data, key, length) == 0 && found < count * 2) {
      memcpy(&ids[found++], v.mv_data, 8);
      code = mdb_cursor_get(cursor, &k, &v, MDB_NEXT);
    }
  }
  mdb_cursor_close(cursor);
  qsort(ids, found, 8, by_id);
  if (!reads_records) {
    uint64_t last = found > 0 ? ids[found - 1] : 0;
    free(ids);
    free(wanted);
    return last + found;
  }
  uint64_t sum = 0;
  unsigned char copy[4096];
  if (mdb_cursor_open(r->s.txn, r->s.records, &cursor) != 0) return 0;
  for (size_t i = 0; i < found; i++) {
    MDB_val k = {8, &ids[i]}, v;
    if (mdb_cursor_get(cursor, &k, &v, MDB_SET_KEY) != 0) return 0;
    // Stands for building the five strings of the record.
    memcpy(copy, v.mv_data, v.mv_size);
    sum += 1 + (copy[v.mv_size - 1] == 1);
  }
  mdb_cursor_close(cursor);
  free(ids);
  free(wanted);
  return sum;
}

uint64_t raw_newest(raw_session *r, size_t count) {
  MDB_cursor *dates;
  if (mdb_cursor_open(r->s.txn, r->s.dates, &dates) != 0) return 0;
  MDB_val k, v;
  uint64_t sum = 0;
  unsigned char copy[4096];
  int code = mdb_cursor_get(dates, &k, &v, MDB_LAST);
  for (size_t i = 0; i < count && code == 0; i++) {
    uint64_t id;
    memcpy(&id, (const char *)k.mv_data + 8, 8);
    id = __builtin_bswap64(id);
    MDB_val record_key = {8, &id}, record;
    if (mdb_get(r->s.txn, r->s.records, &record_key, &record) != 0) return 0;
    memcpy(copy, record.mv_data, record.mv_size);
    sum += 1 + (copy[record.mv_size - 1] == 1);
    code = mdb_cursor_get(dates, &k, &v, MDB_PREV);
  }
  mdb_cursor_close(dates);
  return sum;
}
