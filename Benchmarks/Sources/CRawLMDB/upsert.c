// An upsert by the unique key. Keys are sorted and merged with the index, records are compared and
// changed in the order of their ids, and index entries of dates in the order of their keys.

#include "lookup.h"
#include "sorting.h"
#include "store.h"

#include <stdlib.h>
#include <string.h>

/// The changes of entries in the index of dates: for each record the old entry, then the new one.
typedef struct {
  entry *entries;
  uint64_t *ids;
  size_t count;
} date_moves;

enum { PUT = 0, DELETE = 1 };

static void add_move(date_moves *moves, uint64_t window, uint64_t id, uint32_t what) {
  moves->ids[moves->count] = id;
  moves->entries[moves->count] = (entry){window, (uint32_t)moves->count, what};
  moves->count++;
}

static int apply_moves(MDB_txn *txn, raw_store *store, date_moves *moves) {
  sort_by_window(moves->entries, moves->count);
  MDB_cursor *cursor;
  CHECK(mdb_cursor_open(txn, store->dates, &cursor));
  for (size_t i = 0; i < moves->count; i++) {
    const entry *e = &moves->entries[i];
    date_key key = key_of_date(e->window, moves->ids[e->place]);
    MDB_val k = {16, key.bytes}, v = {0, NULL};
    if (e->length == DELETE) {
      CHECK(mdb_cursor_get(cursor, &k, &v, MDB_SET));
      CHECK(mdb_cursor_del(cursor, 0));
    } else {
      CHECK(mdb_cursor_put(cursor, &k, &v, 0));
    }
  }
  mdb_cursor_close(cursor);
  return 0;
}

/// Whether the stored record has the values of `pod` already, without encoding it.
static int is_same(const raw_pod *pod, MDB_val stored) {
  unsigned char record[4096];
  if (stored.mv_size != record_size(pod)) return 0;
  encode_record(pod, record);
  return memcmp(stored.mv_data, record, stored.mv_size) == 0;
}

int upsert_pods(raw_store *store, const raw_pod *pods, size_t count, raw_answer *answer) {
  MDB_txn *txn;
  uint64_t last;
  CHECK(mdb_txn_begin(store->env, NULL, 0, &txn));
  CHECK(store_last_id(txn, store->records, &last));
  // Each entry has the id of the stored record as window and the pod's position as place. Entries
  // of pods without a stored record come first.
  entry *found = malloc(count * sizeof(entry));
  CHECK(holders_of_keys(txn, store, pods, NULL, count, found));
  sort_by_window(found, count);
  date_moves moves = {malloc(2 * count * sizeof(entry)), malloc(2 * count * sizeof(uint64_t)), 0};
  raw_pod *new_pods = NULL;
  size_t new_count = 0;
  MDB_cursor *cursor;
  CHECK(mdb_cursor_open(txn, store->records, &cursor));
  int is_placed = 0;
  for (size_t i = 0; i < count; i++) {
    const raw_pod *pod = &pods[found[i].place];
    uint64_t id = found[i].window;
    if (id == 0) {
      if (new_pods == NULL) new_pods = malloc(count * sizeof(raw_pod));
      new_pods[new_count++] = *pod;
      continue;
    }
    MDB_val v;
    CHECK(seek_id(cursor, id, &v, &is_placed));
    if (is_same(pod, v)) continue;
    double old = record_date(v.mv_data);
    if (old != pod->updated_at) {
      add_move(&moves, ordered_date(old), id, DELETE);
      add_move(&moves, ordered_date(pod->updated_at), id, PUT);
    }
    MDB_val k = {8, &id}, changed = {record_size(pod), NULL};
    CHECK(mdb_cursor_put(cursor, &k, &changed, MDB_CURRENT | MDB_RESERVE));
    encode_record(pod, changed.mv_data);
    answer->count++;
  }
  mdb_cursor_close(cursor);
  CHECK(apply_moves(txn, store, &moves));
  free(moves.entries);
  free(moves.ids);
  free(found);
  for (size_t i = 0; i < new_count; i++) {
    CHECK(put_pod(txn, store, &new_pods[i], last + 1 + i));
    answer->count++;
  }
  free(new_pods);
  return mdb_txn_commit(txn);
}
