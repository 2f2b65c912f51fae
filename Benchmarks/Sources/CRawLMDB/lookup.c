// Many keys looked up at once: sorted, then merged with the index.

#include "lookup.h"

#include <stdlib.h>
#include <string.h>

/// The number of cursor steps that are tried before a search; a step costs a tenth of a search.
enum { STEPS = 8 };

static int compare(MDB_val a, MDB_val b) {
  size_t shorter = a.mv_size < b.mv_size ? a.mv_size : b.mv_size;
  int order = memcmp(a.mv_data, b.mv_data, shorter);
  return order != 0 ? order : (a.mv_size > b.mv_size) - (a.mv_size < b.mv_size);
}

/// Moves the cursor to the first key at or after `wanted`, which must not be before the cursor's
/// position.
static int advance(MDB_cursor *cursor, MDB_val wanted, MDB_val *key, MDB_val *value, int *is_placed) {
  if (*is_placed) {
    for (int step = 0; step < STEPS; step++) {
      if (compare(*key, wanted) >= 0) return 0;
      int code = mdb_cursor_get(cursor, key, value, MDB_NEXT);
      if (code != 0) return code;
    }
    if (compare(*key, wanted) >= 0) return 0;
  }
  *is_placed = 1;
  *key = wanted;
  return mdb_cursor_get(cursor, key, value, MDB_SET_RANGE);
}

unsigned char *sorted_keys(
  const raw_pod *pods, const uint32_t *wanted, size_t count, entry *keys
) {
  size_t size = 1;
  for (size_t i = 0; i < count; i++) {
    const raw_pod *pod = &pods[wanted != NULL ? wanted[i] : i];
    size += pod->name.length + pod->version.length + 5;
  }
  unsigned char *block = malloc(size);
  block[0] = 0;
  uint32_t next = 0;
  for (size_t i = 0; i < count; i++) {
    uint32_t place = (uint32_t)i;
    memcpy(block + next, &place, 4);
    next += 4;
    uint32_t length = unique_key(&pods[wanted != NULL ? wanted[i] : i], block + next);
    keys[i] = (entry){0, next, length};
    next += length;
  }
  sort_by_key(keys, count, block);
  return block;
}

uint32_t place_of_key(const unsigned char *block, const entry *key) {
  uint32_t place;
  memcpy(&place, block + key->place - 4, 4);
  return place;
}

int holders_of_keys(
  MDB_txn *txn, raw_store *store, const raw_pod *pods, const uint32_t *wanted, size_t count,
  entry *found
) {
  entry *keys = malloc(count * sizeof(entry));
  unsigned char *block = sorted_keys(pods, wanted, count, keys);
  MDB_cursor *cursor;
  CHECK(mdb_cursor_open(txn, store->unique, &cursor));
  MDB_val k, v;
  int is_placed = 0, code = 0;
  for (size_t i = 0; i < count; i++) {
    MDB_val key = {keys[i].length, block + keys[i].place};
    uint32_t place = place_of_key(block, &keys[i]);
    found[place] = (entry){0, place, 0};
    if (code == 0) code = advance(cursor, key, &k, &v, &is_placed);
    if (code != 0 && code != MDB_NOTFOUND) return code;
    if (code == 0 && compare(k, key) == 0) memcpy(&found[place].window, v.mv_data, 8);
  }
  mdb_cursor_close(cursor);
  free(keys);
  free(block);
  return 0;
}

int visit_names(
  MDB_txn *txn, raw_store *store, const raw_pod *pods, const uint32_t *wanted, size_t count,
  name_visitor visit, void *state
) {
  size_t size = 1;
  for (size_t i = 0; i < count; i++) size += pods[wanted[i]].name.length + 1;
  unsigned char *block = malloc(size);
  block[0] = 0;
  entry *keys = malloc(count * sizeof(entry));
  uint32_t next = 0;
  for (size_t i = 0; i < count; i++) {
    raw_text name = pods[wanted[i]].name;
    memcpy(block + next, name.bytes, name.length);
    block[next + name.length] = 0;
    keys[i] = (entry){0, next, name.length + 1};
    next += name.length + 1;
  }
  sort_by_key(keys, count, block);
  MDB_cursor *cursor;
  CHECK(mdb_cursor_open(txn, store->unique, &cursor));
  for (size_t i = 0; i < count; i++) {
    MDB_val name = {keys[i].length, block + keys[i].place}, k = name, v;
    if (i > 0) {
      MDB_val before = {keys[i - 1].length, block + keys[i - 1].place};
      if (compare(before, name) == 0) continue;
    }
    int code = mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE);
    while (
      code == 0 && k.mv_size >= name.mv_size && memcmp(k.mv_data, name.mv_data, name.mv_size) == 0
    ) {
      uint64_t id;
      memcpy(&id, v.mv_data, 8);
      CHECK(visit(cursor, id, state));
      code = mdb_cursor_get(cursor, &k, &v, MDB_NEXT);
    }
    if (code != 0 && code != MDB_NOTFOUND) return code;
  }
  mdb_cursor_close(cursor);
  free(keys);
  free(block);
  return 0;
}

void add_id(id_list *list, uint64_t id) {
  if (list->count == list->room) {
    list->room = list->room == 0 ? 1024 : list->room * 2;
    list->entries = realloc(list->entries, list->room * sizeof(entry));
  }
  list->entries[list->count] = (entry){id, (uint32_t)list->count, 0};
  list->count++;
}

int ids_of_dates(MDB_txn *txn, raw_store *store, double from, double to, id_list *list) {
  MDB_cursor *cursor;
  CHECK(mdb_cursor_open(txn, store->dates, &cursor));
  date_key low = key_of_date(ordered_date(from), 0), high = key_of_date(ordered_date(to), 0);
  MDB_val k = {16, low.bytes}, v;
  int code = mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE);
  while (code == 0 && memcmp(k.mv_data, high.bytes, 16) < 0) {
    add_id(list, id_of_date_key(k.mv_data));
    code = mdb_cursor_get(cursor, &k, &v, MDB_NEXT);
  }
  mdb_cursor_close(cursor);
  return code == MDB_NOTFOUND ? 0 : code;
}
