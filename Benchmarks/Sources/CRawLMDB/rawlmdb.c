// Raw LMDB written by hand for one schema: the limit that the store is measured against.

#include "rawstore.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  unsigned char *key;
  uint32_t length;
  uint64_t id;
} entry;

static size_t encode(const raw_pod *p, unsigned char *out) {
  unsigned char *o = out;
  memcpy(o, &p->downloads, 8); o += 8;
  memcpy(o, &p->updated_at, 8); o += 8;
  *o++ = p->deprecated;
  uint16_t ends[5];
  uint16_t end = 0;
  ends[0] = end += p->name_length;
  ends[1] = end += p->version_length;
  ends[2] = end += p->homepage_length;
  ends[3] = end += p->license_length;
  ends[4] = end += p->summary_length;
  memcpy(o, ends, 10); o += 10;
  memcpy(o, p->name, p->name_length); o += p->name_length;
  memcpy(o, p->version, p->version_length); o += p->version_length;
  memcpy(o, p->homepage, p->homepage_length); o += p->homepage_length;
  memcpy(o, p->license, p->license_length); o += p->license_length;
  memcpy(o, p->summary, p->summary_length); o += p->summary_length;
  return (size_t)(o - out);
}

static int by_key(const void *a, const void *b) {
  const entry *x = a, *y = b;
  uint32_t shorter = x->length < y->length ? x->length : y->length;
  int order = memcmp(x->key, y->key, shorter);
  return order != 0 ? order : (x->length > y->length) - (x->length < y->length);
}

int raw_insert(
  const char *path, const raw_pod *pods, size_t count, int sorted, size_t *inserted
) {
  raw_session s;
  CHECK(raw_begin(path, 0, MDB_CREATE, &s));
  unsigned char record[4096], key[600];
  entry *uniques = NULL, *times = NULL;
  unsigned char *block = NULL, *next = NULL;
  if (sorted) {
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) bytes += pods[i].name_length + 1 + pods[i].version_length + 16;
    uniques = malloc(count * sizeof(entry));
    times = malloc(count * sizeof(entry));
    next = block = malloc(bytes);
  }
  for (size_t i = 0; i < count; i++) {
    uint64_t id = i + 1;
    MDB_val k = {8, &id}, v = {encode(&pods[i], record), record};
    CHECK(mdb_put(s.txn, s.records, &k, &v, MDB_APPEND));
    uint64_t date = raw_ordered(pods[i].updated_at), big_id = __builtin_bswap64(id);
    if (sorted) {
      uint32_t length = raw_unique_key(&pods[i], next);
      uniques[i] = (entry){next, length, id};
      next += length;
      memcpy(next, &date, 8);
      memcpy(next + 8, &big_id, 8);
      times[i] = (entry){next, 16, id};
      next += 16;
    } else {
      MDB_val uk = {raw_unique_key(&pods[i], key), key}, uv = {8, &id};
      CHECK(mdb_put(s.txn, s.unique, &uk, &uv, MDB_NOOVERWRITE));
      unsigned char dated[16];
      memcpy(dated, &date, 8);
      memcpy(dated + 8, &big_id, 8);
      MDB_val dk = {16, dated}, dv = {0, NULL};
      CHECK(mdb_put(s.txn, s.dates, &dk, &dv, 0));
    }
  }
  if (sorted) {
    qsort(uniques, count, sizeof(entry), by_key);
    for (size_t i = 0; i < count; i++) {
      MDB_val k = {uniques[i].length, uniques[i].key}, v = {8, &uniques[i].id};
      CHECK(mdb_put(s.txn, s.unique, &k, &v, MDB_APPEND));
    }
    qsort(times, count, sizeof(entry), by_key);
    for (size_t i = 0; i < count; i++) {
      MDB_val k = {16, times[i].key}, v = {0, NULL};
      CHECK(mdb_put(s.txn, s.dates, &k, &v, MDB_APPEND));
    }
    free(uniques);
    free(times);
    free(block);
  }
  MDB_stat stat;
  CHECK(mdb_stat(s.txn, s.records, &stat));
  *inserted = stat.ms_entries;
  return raw_commit(&s);
}

int raw_get(
  const char *path, const raw_pod *pods, const uint32_t *order, size_t count, size_t *found
) {
  raw_session s;
  CHECK(raw_begin(path, MDB_RDONLY, 0, &s));
  unsigned char key[600];
  for (size_t i = 0; i < count; i++) {
    const raw_pod *p = &pods[order[i]];
    MDB_val k = {raw_unique_key(p, key), key}, id, v;
    CHECK(mdb_get(s.txn, s.unique, &k, &id));
    CHECK(mdb_get(s.txn, s.records, &id, &v));
    raw_read(v);
  }
  *found = count;
  return raw_commit(&s);
}
