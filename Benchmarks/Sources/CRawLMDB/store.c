// Opening, transactions, and the bytes of keys and records.

#include "store.h"

#include <stdlib.h>
#include <string.h>

static int open_trees(raw_store *store) {
  MDB_txn *txn;
  CHECK(mdb_txn_begin(store->env, NULL, 0, &txn));
  CHECK(mdb_dbi_open(txn, "records", MDB_INTEGERKEY | MDB_CREATE, &store->records));
  CHECK(mdb_dbi_open(txn, "unique", MDB_CREATE, &store->unique));
  CHECK(mdb_dbi_open(txn, "dates", MDB_CREATE, &store->dates));
  CHECK(mdb_dbi_open(txn, "items", MDB_INTEGERKEY | MDB_CREATE, &store->items));
  CHECK(mdb_dbi_open(txn, "item_dates", MDB_CREATE, &store->item_dates));
  return mdb_txn_commit(txn);
}

int store_open(const char *path, size_t map_size, raw_store **result) {
  raw_store *store = calloc(1, sizeof(raw_store));
  *result = store;
  CHECK(mdb_env_create(&store->env));
  CHECK(mdb_env_set_mapsize(store->env, map_size));
  CHECK(mdb_env_set_maxdbs(store->env, 8));
  CHECK(mdb_env_open(store->env, path, MDB_NOSUBDIR | MDB_NOTLS, 0600));
  return open_trees(store);
}

int store_open_reader(raw_store *store, raw_store **result) {
  raw_store *reader = malloc(sizeof(raw_store));
  *reader = *store;
  reader->reader = NULL;
  reader->is_reader = 1;
  *result = reader;
  return 0;
}

void store_close(raw_store *store) {
  if (store->reader != NULL) mdb_txn_abort(store->reader);
  if (!store->is_reader && store->env != NULL) mdb_env_close(store->env);
  free(store);
}

int store_begin_read(raw_store *store, MDB_txn **txn) {
  if (store->reader == NULL) {
    CHECK(mdb_txn_begin(store->env, NULL, MDB_RDONLY, &store->reader));
  } else {
    CHECK(mdb_txn_renew(store->reader));
  }
  *txn = store->reader;
  return 0;
}

void store_end_read(MDB_txn *txn) { mdb_txn_reset(txn); }

int store_last_id(MDB_txn *txn, MDB_dbi tree, uint64_t *id) {
  MDB_cursor *cursor;
  CHECK(mdb_cursor_open(txn, tree, &cursor));
  MDB_val k, v;
  int code = mdb_cursor_get(cursor, &k, &v, MDB_LAST);
  *id = 0;
  if (code == 0) memcpy(id, k.mv_data, 8);
  mdb_cursor_close(cursor);
  return code == MDB_NOTFOUND ? 0 : code;
}

uint64_t ordered_date(double date) {
  uint64_t bits;
  memcpy(&bits, &date, 8);
  return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

double record_date(const unsigned char *record) {
  double date;
  memcpy(&date, record + PLACE_DATE, 8);
  return date;
}

date_key key_of_date(uint64_t ordered, uint64_t id) {
  date_key key;
  uint64_t first = __builtin_bswap64(ordered), second = __builtin_bswap64(id);
  memcpy(key.bytes, &first, 8);
  memcpy(key.bytes + 8, &second, 8);
  return key;
}

uint64_t id_of_date_key(const void *key) {
  uint64_t id;
  memcpy(&id, (const char *)key + 8, 8);
  return __builtin_bswap64(id);
}

uint32_t unique_key(const raw_pod *pod, unsigned char *out) {
  uint32_t name = pod->name.length, version = pod->version.length;
  memcpy(out, pod->name.bytes, name);
  out[name] = 0;
  memcpy(out + name + 1, pod->version.bytes, version);
  return name + 1 + version;
}

uint32_t record_unique_key(const unsigned char *record, unsigned char *out) {
  uint16_t ends[2];
  memcpy(ends, record + PLACE_ENDS, 4);
  memcpy(out, record + PLACE_TEXTS, ends[0]);
  out[ends[0]] = 0;
  memcpy(out + ends[0] + 1, record + PLACE_TEXTS + ends[0], ends[1] - ends[0]);
  return ends[1] + 1u;
}

size_t record_size(const raw_pod *p) {
  return PLACE_TEXTS + p->name.length + p->version.length + p->homepage.length +
         p->license.length + p->summary.length;
}

static unsigned char *put_text(unsigned char *next, raw_text text) {
  memcpy(next, text.bytes, text.length);
  return next + text.length;
}

void encode_record(const raw_pod *p, unsigned char *out) {
  memcpy(out, &p->downloads, 8);
  memcpy(out + PLACE_DATE, &p->updated_at, 8);
  out[PLACE_DEPRECATED] = p->deprecated;
  uint16_t ends[5], end = 0;
  ends[0] = end += p->name.length;
  ends[1] = end += p->version.length;
  ends[2] = end += p->homepage.length;
  ends[3] = end += p->license.length;
  ends[4] = end += p->summary.length;
  memcpy(out + PLACE_ENDS, ends, 10);
  unsigned char *next = put_text(out + PLACE_TEXTS, p->name);
  next = put_text(next, p->version);
  next = put_text(next, p->homepage);
  next = put_text(next, p->license);
  put_text(next, p->summary);
}

void decode_record(const unsigned char *record, owned_pod *pod) {
  uint16_t ends[5];
  memcpy(&pod->downloads, record, 8);
  memcpy(&pod->updated_at, record + PLACE_DATE, 8);
  pod->deprecated = record[PLACE_DEPRECATED];
  memcpy(ends, record + PLACE_ENDS, 10);
  const char *texts = (const char *)record + PLACE_TEXTS;
  pod->name = raw_own(texts, ends[0]);
  pod->version = raw_own(texts + ends[0], ends[1] - ends[0]);
  pod->homepage = raw_own(texts + ends[1], ends[2] - ends[1]);
  pod->license = raw_own(texts + ends[2], ends[3] - ends[2]);
  pod->summary = raw_own(texts + ends[3], ends[4] - ends[3]);
}

int seek_id(MDB_cursor *cursor, uint64_t id, MDB_val *value, int *is_placed) {
  MDB_val k;
  if (*is_placed) {
    CHECK(mdb_cursor_get(cursor, &k, value, MDB_NEXT));
    uint64_t next;
    memcpy(&next, k.mv_data, 8);
    if (next == id) return 0;
  }
  *is_placed = 1;
  k = (MDB_val){8, &id};
  return mdb_cursor_get(cursor, &k, value, MDB_SET_KEY);
}
