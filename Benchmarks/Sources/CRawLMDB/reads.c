// Reads of pods: by keys, by scans, by the index of dates.

#include "lookup.h"

#include <stdlib.h>
#include <string.h>

// MARK: By keys

int get_unique(
  raw_store *store, const raw_pod *pods, const uint32_t *wanted, size_t count, raw_answer *answer
) {
  MDB_txn *txn;
  CHECK(store_begin_read(store, &txn));
  unsigned char key[600];
  owned_pod *out = raw_next_pods(answer, count);
  for (size_t i = 0; i < count; i++) {
    MDB_val k = {unique_key(&pods[wanted[i]], key), key}, id, v;
    CHECK(mdb_get(txn, store->unique, &k, &id));
    CHECK(mdb_get(txn, store->records, &id, &v));
    decode_record(v.mv_data, &out[i]);
  }
  answer->count = answer->pod_count += count;
  store_end_read(txn);
  return 0;
}

int get_ids(raw_store *store, const uint32_t *wanted, size_t count, raw_answer *answer) {
  MDB_txn *txn;
  CHECK(store_begin_read(store, &txn));
  owned_pod *out = raw_next_pods(answer, count);
  for (size_t i = 0; i < count; i++) {
    uint64_t id = (uint64_t)wanted[i] + 1;
    MDB_val k = {8, &id}, v;
    CHECK(mdb_get(txn, store->records, &k, &v));
    decode_record(v.mv_data, &out[i]);
  }
  answer->count = answer->pod_count += count;
  store_end_read(txn);
  return 0;
}

/// Reads the records of `list`, whose windows are ids, in the order of ids. Answers the records in
/// the order of the entries' places.
static int fetch_placed(MDB_txn *txn, raw_store *store, entry *list, size_t count, raw_answer *answer) {
  sort_by_window(list, count);
  MDB_cursor *cursor;
  CHECK(mdb_cursor_open(txn, store->records, &cursor));
  owned_pod *out = raw_next_pods(answer, count);
  for (size_t i = 0; i < count; i++) {
    uint64_t id = list[i].window;
    MDB_val k = {8, &id}, v;
    CHECK(mdb_cursor_get(cursor, &k, &v, MDB_SET_KEY));
    decode_record(v.mv_data, &out[list[i].place]);
  }
  mdb_cursor_close(cursor);
  answer->count = answer->pod_count += count;
  return 0;
}

int multi_get(
  raw_store *store, const raw_pod *pods, const uint32_t *wanted, size_t count, raw_answer *answer
) {
  MDB_txn *txn;
  CHECK(store_begin_read(store, &txn));
  entry *found = malloc(count * sizeof(entry));
  CHECK(holders_of_keys(txn, store, pods, wanted, count, found));
  CHECK(fetch_placed(txn, store, found, count, answer));
  free(found);
  store_end_read(txn);
  return 0;
}

static int keep_id(MDB_cursor *cursor, uint64_t id, void *state) {
  (void)cursor;
  add_id(state, id);
  return 0;
}

int ids_of_names(
  raw_store *store, const raw_pod *pods, const uint32_t *wanted, size_t count, raw_answer *answer
) {
  MDB_txn *txn;
  CHECK(store_begin_read(store, &txn));
  id_list ids = {0};
  CHECK(visit_names(txn, store, pods, wanted, count, keep_id, &ids));
  sort_by_window(ids.entries, ids.count);
  answer->count = ids.count;
  free(ids.entries);
  store_end_read(txn);
  return 0;
}

int fetch_names(
  raw_store *store, const raw_pod *pods, const uint32_t *wanted, size_t count, raw_answer *answer
) {
  MDB_txn *txn;
  CHECK(store_begin_read(store, &txn));
  id_list ids = {0};
  CHECK(visit_names(txn, store, pods, wanted, count, keep_id, &ids));
  sort_by_window(ids.entries, ids.count);
  for (size_t i = 0; i < ids.count; i++) ids.entries[i].place = (uint32_t)i;
  CHECK(fetch_placed(txn, store, ids.entries, ids.count, answer));
  free(ids.entries);
  store_end_read(txn);
  return 0;
}

// MARK: By scans

/// The position of a scan, in pages with LMDB's layout. The scan prefetches, because a processor
/// predicts neither the falling addresses of a page's records nor the next page.
typedef struct {
  uintptr_t page_size;
  uint64_t last_page;
  const unsigned char *page;
  unsigned place, count;
} scan_place;

enum { PAGE_HEADER = 16, PAGE_LOWER = 12, RECORDS_AHEAD = 14 };

static scan_place begin_scan(const raw_store *store) {
  MDB_envinfo info;
  MDB_stat stat;
  mdb_env_info(store->env, &info);
  mdb_env_stat(store->env, &stat);
  return (scan_place){stat.ms_psize, info.me_last_pgno, NULL, 0, 0};
}

/// Prefetches the record that is some records after the one at `record`. Beyond the page's end it
/// is in the next page of the file, which mostly is the next leaf.
static void ask_ahead(scan_place *scan, const unsigned char *record, size_t size) {
  const unsigned char *page = record - (uintptr_t)record % scan->page_size;
  if (page != scan->page) {
    uint16_t lower;
    memcpy(&lower, page + PAGE_LOWER, 2);
    scan->page = page;
    scan->place = 0;
    scan->count = (lower - PAGE_HEADER) / 2u;
    __builtin_prefetch(page + 2 * scan->page_size);
  }
  unsigned place = scan->place++ + RECORDS_AHEAD;
  if (place >= scan->count) {
    uint64_t number;
    memcpy(&number, page, 8);
    if (number >= scan->last_page) return;
    place -= scan->count;
    page += scan->page_size;
  }
  uint16_t node;
  memcpy(&node, page + PAGE_HEADER + 2 * place, 2);
  for (size_t offset = 0; offset < size; offset += 64) __builtin_prefetch(page + node + offset);
}

/// The bytes of a record of which only the beginning is read.
enum { BEGINNING = 128 };

/// Runs the given statement for every record in the order of ids. The statement sees the record as
/// `record` and reads `size` bytes of it.
#define SCAN(store, size, ...)                                                                     \
  MDB_txn *txn;                                                                                    \
  MDB_cursor *cursor;                                                                              \
  scan_place place = begin_scan(store);                                                            \
  CHECK(store_begin_read(store, &txn));                                                            \
  CHECK(mdb_cursor_open(txn, (store)->records, &cursor));                                          \
  MDB_val k, v;                                                                                    \
  int code = mdb_cursor_get(cursor, &k, &v, MDB_FIRST);                                            \
  while (code == 0) {                                                                              \
    const unsigned char *record = v.mv_data;                                                       \
    ask_ahead(&place, record, size);                                                               \
    __VA_ARGS__;                                                                                   \
    code = mdb_cursor_get(cursor, &k, &v, MDB_NEXT);                                               \
  }                                                                                                \
  mdb_cursor_close(cursor);                                                                        \
  if (code != MDB_NOTFOUND) return code;                                                           \
  store_end_read(txn);

static int64_t downloads_of(const unsigned char *record) {
  int64_t downloads;
  memcpy(&downloads, record, 8);
  return downloads;
}

int fetch_all(raw_store *store, raw_answer *answer) {
  MDB_stat stat = {0};
  MDB_txn *counting;
  CHECK(store_begin_read(store, &counting));
  CHECK(mdb_stat(counting, store->records, &stat));
  store_end_read(counting);
  owned_pod *out = raw_next_pods(answer, stat.ms_entries);
  SCAN(store, v.mv_size, decode_record(record, out++));
  answer->count = answer->pod_count = stat.ms_entries;
  return 0;
}

int fetch_two(raw_store *store, raw_answer *answer) {
  size_t count = 0;
  uint64_t sum = 0;
  SCAN(store, BEGINNING, {
    uint16_t end;
    memcpy(&end, record + PLACE_ENDS, 2);
    sum += (uint64_t)downloads_of(record) + end + record[PLACE_TEXTS];
    count++;
  });
  answer->count = count;
  answer->sum = sum;
  return 0;
}

int count_numbers(raw_store *store, int64_t downloads, double date, raw_answer *answer) {
  size_t count = 0;
  SCAN(store, BEGINNING, count += downloads_of(record) > downloads && record_date(record) != date);
  answer->count = count;
  return 0;
}

int count_license(raw_store *store, raw_text license, raw_answer *answer) {
  size_t count = 0;
  SCAN(store, BEGINNING, {
    uint16_t ends[2];
    memcpy(ends, record + PLACE_ENDS + 4, 4);
    uint32_t length = (uint32_t)(ends[1] - ends[0]);
    count += length == license.length &&
             memcmp(record + PLACE_TEXTS + ends[0], license.bytes, length) == 0;
  });
  answer->count = count;
  return 0;
}

/// One of the records with the most downloads so far.
typedef struct {
  int64_t downloads;
  uint64_t id;
  const unsigned char *record;
} candidate;

static int is_worse(candidate a, candidate b) {
  return a.downloads != b.downloads ? a.downloads < b.downloads : a.id < b.id;
}

/// Replaces the worst candidate, which is first in the heap, by `new`, and moves the next worst to
/// the front.
static void replace_worst(candidate *heap, size_t count, candidate new) {
  size_t i = 0;
  for (;;) {
    size_t child = 2 * i + 1;
    if (child >= count) break;
    if (child + 1 < count && is_worse(heap[child + 1], heap[child])) child++;
    if (!is_worse(heap[child], new)) break;
    heap[i] = heap[child];
    i = child;
  }
  heap[i] = new;
}

static int best_first(const void *a, const void *b) {
  const candidate *x = a, *y = b;
  return is_worse(*x, *y) - is_worse(*y, *x);
}

int top_downloads(raw_store *store, size_t limit, raw_answer *answer) {
  candidate *heap = malloc(limit * sizeof(candidate));
  for (size_t i = 0; i < limit; i++) heap[i] = (candidate){INT64_MIN, 0, NULL};
  SCAN(store, BEGINNING, {
    int64_t downloads = downloads_of(record);
    if (downloads >= heap[0].downloads) {
      uint64_t id;
      memcpy(&id, k.mv_data, 8);
      candidate new = {downloads, id, record};
      if (is_worse(heap[0], new)) replace_worst(heap, limit, new);
    }
  });
  // Pointers to records stay valid, because the map does not move and nobody writes meanwhile.
  qsort(heap, limit, sizeof(candidate), best_first);
  owned_pod *out = raw_next_pods(answer, limit);
  for (size_t i = 0; i < limit && heap[i].record != NULL; i++) {
    decode_record(heap[i].record, &out[i]);
    answer->count = ++answer->pod_count;
  }
  free(heap);
  return 0;
}

// MARK: By date

int fetch_ranges(
  raw_store *store, const double *from, const double *to, size_t count, raw_answer *answer
) {
  MDB_txn *txn;
  CHECK(store_begin_read(store, &txn));
  id_list ids = {0};
  for (size_t i = 0; i < count; i++) {
    ids.count = 0;
    CHECK(ids_of_dates(txn, store, from[i], to[i], &ids));
    CHECK(fetch_placed(txn, store, ids.entries, ids.count, answer));
  }
  free(ids.entries);
  store_end_read(txn);
  return 0;
}

int count_dates(raw_store *store, double from, double to, raw_answer *answer) {
  MDB_txn *txn;
  MDB_cursor *cursor;
  CHECK(store_begin_read(store, &txn));
  CHECK(mdb_cursor_open(txn, store->dates, &cursor));
  date_key low = key_of_date(ordered_date(from), 0), high = key_of_date(ordered_date(to), 0);
  MDB_val k = {16, low.bytes}, v;
  size_t count = 0;
  int code = mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE);
  while (code == 0 && memcmp(k.mv_data, high.bytes, 16) < 0) {
    count++;
    code = mdb_cursor_get(cursor, &k, &v, MDB_NEXT);
  }
  mdb_cursor_close(cursor);
  if (code != 0 && code != MDB_NOTFOUND) return code;
  answer->count = count;
  store_end_read(txn);
  return 0;
}

int newest(raw_store *store, size_t limit, raw_answer *answer) {
  MDB_txn *txn;
  MDB_cursor *cursor;
  CHECK(store_begin_read(store, &txn));
  CHECK(mdb_cursor_open(txn, store->dates, &cursor));
  owned_pod *out = raw_next_pods(answer, limit);
  MDB_val k, v;
  size_t count = 0;
  int code = mdb_cursor_get(cursor, &k, &v, MDB_LAST);
  while (count < limit && code == 0) {
    uint64_t id = id_of_date_key(k.mv_data);
    MDB_val record_key = {8, &id}, record;
    CHECK(mdb_get(txn, store->records, &record_key, &record));
    decode_record(record.mv_data, &out[count++]);
    code = mdb_cursor_get(cursor, &k, &v, MDB_PREV);
  }
  mdb_cursor_close(cursor);
  if (code != 0 && code != MDB_NOTFOUND) return code;
  answer->count = answer->pod_count += count;
  store_end_read(txn);
  return 0;
}
