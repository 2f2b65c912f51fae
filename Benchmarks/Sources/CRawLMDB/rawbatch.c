// Batch changes of the store that `raw_insert` made: index entries sorted, one durable transaction.

#include "rawlmdb.h"

#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call) do { int code = (call); if (code != 0) return code; } while (0)

typedef struct {
  uint32_t length;
  unsigned char key[44];
} entry;

typedef struct {
  MDB_env *env;
  MDB_txn *txn;
  MDB_dbi records, unique, dates;
} store;

static int open_store(const char *path, store *s) {
  CHECK(mdb_env_create(&s->env));
  CHECK(mdb_env_set_mapsize(s->env, (size_t)64 << 30));
  CHECK(mdb_env_set_maxdbs(s->env, 8));
  CHECK(mdb_env_open(s->env, path, MDB_NOSUBDIR | MDB_NOTLS, 0600));
  CHECK(mdb_txn_begin(s->env, NULL, 0, &s->txn));
  CHECK(mdb_dbi_open(s->txn, "records", MDB_INTEGERKEY, &s->records));
  CHECK(mdb_dbi_open(s->txn, "unique", 0, &s->unique));
  return mdb_dbi_open(s->txn, "dates", 0, &s->dates);
}

static int finish(store *s) {
  CHECK(mdb_txn_commit(s->txn));
  mdb_env_close(s->env);
  return 0;
}

static uint64_t ordered(double value) {
  uint64_t bits;
  memcpy(&bits, &value, 8);
  bits = bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
  return __builtin_bswap64(bits);
}

static int by_id(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static int by_key(const void *a, const void *b) {
  const entry *x = a, *y = b;
  uint32_t shorter = x->length < y->length ? x->length : y->length;
  int order = memcmp(x->key, y->key, shorter);
  return order != 0 ? order : (x->length > y->length) - (x->length < y->length);
}

static int delete_entries(store *s, MDB_dbi index, entry *entries, size_t count) {
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

static int delete_records(store *s, uint64_t *ids, size_t count) {
  qsort(ids, count, 8, by_id);
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
    uint64_t date = ordered(updated), id = __builtin_bswap64(ids[i]);
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
  store s;
  CHECK(open_store(path, &s));
  MDB_cursor *cursor;
  CHECK(mdb_cursor_open(s.txn, s.dates, &cursor));
  uint64_t low = ordered(from), high = ordered(to);
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
  CHECK(delete_records(&s, ids, count));
  free(ids);
  *deleted = count;
  return finish(&s);
}

static int by_name(const void *a, const void *b) {
  const raw_pod *x = *(const raw_pod *const *)a, *y = *(const raw_pod *const *)b;
  uint32_t shorter = x->name_length < y->name_length ? x->name_length : y->name_length;
  int order = memcmp(x->name, y->name, shorter);
  return order != 0 ? order : (x->name_length > y->name_length) - (x->name_length < y->name_length);
}

int raw_delete_names(
  const char *path, const raw_pod *pods, const uint32_t *order, size_t count, size_t *deleted
) {
  store s;
  CHECK(open_store(path, &s));
  const raw_pod **wanted = malloc(count * sizeof(*wanted));
  for (size_t i = 0; i < count; i++) wanted[i] = &pods[order[i]];
  qsort(wanted, count, sizeof(*wanted), by_name);
  MDB_cursor *cursor;
  CHECK(mdb_cursor_open(s.txn, s.unique, &cursor));
  uint64_t *ids = malloc(count * 2 * 8);
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
  CHECK(delete_records(&s, ids, found));
  free(ids);
  free(wanted);
  *deleted = found;
  return finish(&s);
}

int raw_set_deprecated(const char *path, size_t *updated) {
  store s;
  CHECK(open_store(path, &s));
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
  return finish(&s);
}
