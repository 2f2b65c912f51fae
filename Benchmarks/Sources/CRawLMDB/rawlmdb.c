// Raw LMDB written by hand for one schema: the limit that the store is measured against.

#include "rawlmdb.h"

#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call) do { int code = (call); if (code != 0) return code; } while (0)

typedef struct {
  unsigned char *key;
  uint32_t length;
  uint64_t id;
} entry;

static uint64_t ordered(double value) {
  uint64_t bits;
  memcpy(&bits, &value, 8);
  bits = bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
  return __builtin_bswap64(bits);
}

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

static uint32_t unique_key(const raw_pod *p, unsigned char *out) {
  memcpy(out, p->name, p->name_length);
  out[p->name_length] = 0;
  memcpy(out + p->name_length + 1, p->version, p->version_length);
  return p->name_length + 1 + p->version_length;
}

static int by_key(const void *a, const void *b) {
  const entry *x = a, *y = b;
  uint32_t shorter = x->length < y->length ? x->length : y->length;
  int order = memcmp(x->key, y->key, shorter);
  return order != 0 ? order : (x->length > y->length) - (x->length < y->length);
}

static int open_environment(const char *path, unsigned flags, MDB_env **env) {
  CHECK(mdb_env_create(env));
  CHECK(mdb_env_set_mapsize(*env, (size_t)64 << 30));
  CHECK(mdb_env_set_maxdbs(*env, 8));
  return mdb_env_open(*env, path, MDB_NOSUBDIR | MDB_NOTLS | flags, 0600);
}

int raw_insert(const char *path, const raw_pod *pods, size_t count, int sorted) {
  MDB_env *env;
  MDB_txn *txn;
  MDB_dbi records, unique, dates;
  CHECK(open_environment(path, 0, &env));
  CHECK(mdb_txn_begin(env, NULL, 0, &txn));
  CHECK(mdb_dbi_open(txn, "records", MDB_CREATE | MDB_INTEGERKEY, &records));
  CHECK(mdb_dbi_open(txn, "unique", MDB_CREATE, &unique));
  CHECK(mdb_dbi_open(txn, "dates", MDB_CREATE, &dates));
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
    CHECK(mdb_put(txn, records, &k, &v, MDB_APPEND));
    uint64_t date = ordered(pods[i].updated_at), big_id = __builtin_bswap64(id);
    if (sorted) {
      uint32_t length = unique_key(&pods[i], next);
      uniques[i] = (entry){next, length, id};
      next += length;
      memcpy(next, &date, 8);
      memcpy(next + 8, &big_id, 8);
      times[i] = (entry){next, 16, id};
      next += 16;
    } else {
      MDB_val uk = {unique_key(&pods[i], key), key}, uv = {8, &id};
      CHECK(mdb_put(txn, unique, &uk, &uv, MDB_NOOVERWRITE));
      unsigned char dated[16];
      memcpy(dated, &date, 8);
      memcpy(dated + 8, &big_id, 8);
      MDB_val dk = {16, dated}, dv = {0, NULL};
      CHECK(mdb_put(txn, dates, &dk, &dv, 0));
    }
  }
  if (sorted) {
    qsort(uniques, count, sizeof(entry), by_key);
    for (size_t i = 0; i < count; i++) {
      MDB_val k = {uniques[i].length, uniques[i].key}, v = {8, &uniques[i].id};
      CHECK(mdb_put(txn, unique, &k, &v, MDB_APPEND));
    }
    qsort(times, count, sizeof(entry), by_key);
    for (size_t i = 0; i < count; i++) {
      MDB_val k = {16, times[i].key}, v = {0, NULL};
      CHECK(mdb_put(txn, dates, &k, &v, MDB_APPEND));
    }
    free(uniques);
    free(times);
    free(block);
  }
  CHECK(mdb_txn_commit(txn));
  mdb_env_close(env);
  return 0;
}

uint64_t raw_get(const char *path, const raw_pod *pods, const uint32_t *order, size_t count) {
  MDB_env *env;
  MDB_txn *txn;
  MDB_dbi records, unique;
  if (open_environment(path, MDB_RDONLY, &env) != 0) return 0;
  if (mdb_txn_begin(env, NULL, MDB_RDONLY, &txn) != 0) return 0;
  if (mdb_dbi_open(txn, "records", MDB_INTEGERKEY, &records) != 0) return 0;
  if (mdb_dbi_open(txn, "unique", 0, &unique) != 0) return 0;
  uint64_t sum = 0;
  unsigned char key[600], copy[4096];
  for (size_t i = 0; i < count; i++) {
    const raw_pod *p = &pods[order[i]];
    MDB_val k = {unique_key(p, key), key}, id, v;
    if (mdb_get(txn, unique, &k, &id) != 0) return 0;
    if (mdb_get(txn, records, &id, &v) != 0) return 0;
    // Stands for building the five strings of the record.
    memcpy(copy, v.mv_data, v.mv_size);
    sum += v.mv_size + copy[v.mv_size - 1];
  }
  mdb_txn_abort(txn);
  mdb_env_close(env);
  return sum;
}
