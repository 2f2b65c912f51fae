// What the insert, the queries and the changes share.

#include "rawstore.h"

#include <stdlib.h>
#include <string.h>

int raw_begin(const char *path, unsigned env_flags, unsigned dbi_flags, raw_session *s) {
  CHECK(mdb_env_create(&s->env));
  CHECK(mdb_env_set_mapsize(s->env, (size_t)64 << 30));
  CHECK(mdb_env_set_maxdbs(s->env, 8));
  CHECK(mdb_env_open(s->env, path, MDB_NOSUBDIR | MDB_NOTLS | env_flags, 0600));
  CHECK(mdb_txn_begin(s->env, NULL, env_flags & MDB_RDONLY, &s->txn));
  CHECK(mdb_dbi_open(s->txn, "records", MDB_INTEGERKEY | dbi_flags, &s->records));
  CHECK(mdb_dbi_open(s->txn, "unique", dbi_flags, &s->unique));
  return mdb_dbi_open(s->txn, "dates", dbi_flags, &s->dates);
}

int raw_commit(raw_session *s) {
  CHECK(mdb_txn_commit(s->txn));
  mdb_env_close(s->env);
  return 0;
}

uint64_t raw_ordered(double date) {
  uint64_t bits;
  memcpy(&bits, &date, 8);
  bits = bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
  return __builtin_bswap64(bits);
}

uint32_t raw_unique_key(const raw_pod *p, unsigned char *out) {
  memcpy(out, p->name, p->name_length);
  out[p->name_length] = 0;
  memcpy(out + p->name_length + 1, p->version, p->version_length);
  return p->name_length + 1 + p->version_length;
}

static int by_id(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

void raw_sort_ids(uint64_t *ids, size_t count) { qsort(ids, count, 8, by_id); }

static int by_name(const void *a, const void *b) {
  const raw_pod *x = *(const raw_pod *const *)a, *y = *(const raw_pod *const *)b;
  uint32_t shorter = x->name_length < y->name_length ? x->name_length : y->name_length;
  int order = memcmp(x->name, y->name, shorter);
  return order != 0 ? order : (x->name_length > y->name_length) - (x->name_length < y->name_length);
}

int raw_ids_of_names(
  raw_session *s, const raw_pod *pods, const uint32_t *order, size_t count, uint64_t *ids,
  size_t *found
) {
  const raw_pod **wanted = malloc(count * sizeof(*wanted));
  for (size_t i = 0; i < count; i++) wanted[i] = &pods[order[i]];
  qsort(wanted, count, sizeof(*wanted), by_name);
  MDB_cursor *cursor;
  CHECK(mdb_cursor_open(s->txn, s->unique, &cursor));
  size_t n = 0;
  char key[600];
  for (size_t i = 0; i < count; i++) {
    if (i > 0 && by_name(&wanted[i - 1], &wanted[i]) == 0) continue;
    uint32_t length = wanted[i]->name_length;
    memcpy(key, wanted[i]->name, length);
    key[length++] = 0;
    MDB_val k = {length, key}, v;
    int code = mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE);
    while (
      code == 0 && k.mv_size >= length && memcmp(k.mv_data, key, length) == 0 && n < count * 2
    ) {
      memcpy(&ids[n++], v.mv_data, 8);
      code = mdb_cursor_get(cursor, &k, &v, MDB_NEXT);
    }
  }
  mdb_cursor_close(cursor);
  free(wanted);
  raw_sort_ids(ids, n);
  *found = n;
  return 0;
}
