#ifndef STORE_H
#define STORE_H

#include "engine.h"

#include <lmdb.h>

/// An environment and its trees. A reader shares the environment of its store.
struct raw_store {
  MDB_env *env;
  MDB_dbi records, unique, dates, items, item_dates;
  /// The read transaction, which is reset and renewed between reads; null before the first read.
  MDB_txn *reader;
  int is_reader;
};

/// A record of `records`: downloads, date, deprecated, the ends of the texts, the texts.
enum { PLACE_DATE = 8, PLACE_DEPRECATED = 16, PLACE_ENDS = 17, PLACE_TEXTS = 27 };

/// An index key of a date: its ordered bytes, the id big-endian.
typedef struct {
  unsigned char bytes[16];
} date_key;

// Opening and transactions.
int store_open(const char *path, size_t map_size, raw_store **store);
int store_open_reader(raw_store *store, raw_store **reader);
void store_close(raw_store *store);
int store_begin_read(raw_store *store, MDB_txn **txn);
void store_end_read(MDB_txn *txn);
/// The highest id of a tree of records, 0 for none.
int store_last_id(MDB_txn *txn, MDB_dbi tree, uint64_t *id);

// Keys and records.
uint64_t ordered_date(double date);
double record_date(const unsigned char *record);
date_key key_of_date(uint64_t ordered, uint64_t id);
uint64_t id_of_date_key(const void *key);
uint32_t unique_key(const raw_pod *pod, unsigned char *out);
/// The unique key of a stored record.
uint32_t record_unique_key(const unsigned char *record, unsigned char *out);
size_t record_size(const raw_pod *pod);
void encode_record(const raw_pod *pod, unsigned char *out);
void decode_record(const unsigned char *record, owned_pod *pod);

/// Moves `cursor` to the record `id`: by one step if it is the next record, otherwise by a search.
int seek_id(MDB_cursor *cursor, uint64_t id, MDB_val *value, int *is_placed);

// The operations, by file.
int insert_pods(raw_store *, const raw_pod *, size_t, raw_answer *);
int insert_pods_naive(raw_store *, const raw_pod *, size_t, raw_answer *);
int insert_pod(raw_store *, const raw_pod *);
int upsert_pods(raw_store *, const raw_pod *, size_t, raw_answer *);
int update_deprecated(raw_store *, raw_answer *);
int delete_dates(raw_store *, double from, double to, raw_answer *);
int delete_names(raw_store *, const raw_pod *, const uint32_t *, size_t, raw_answer *);
int get_unique(raw_store *, const raw_pod *, const uint32_t *, size_t, raw_answer *);
int get_ids(raw_store *, const uint32_t *, size_t, raw_answer *);
int multi_get(raw_store *, const raw_pod *, const uint32_t *, size_t, raw_answer *);
int fetch_all(raw_store *, raw_answer *);
int fetch_two(raw_store *, raw_answer *);
int fetch_ranges(raw_store *, const double *, const double *, size_t, raw_answer *);
int count_numbers(raw_store *, int64_t, double, raw_answer *);
int count_license(raw_store *, raw_text, raw_answer *);
int count_dates(raw_store *, double, double, raw_answer *);
int ids_of_names(raw_store *, const raw_pod *, const uint32_t *, size_t, raw_answer *);
int fetch_names(raw_store *, const raw_pod *, const uint32_t *, size_t, raw_answer *);
int top_downloads(raw_store *, size_t, raw_answer *);
int newest(raw_store *, size_t, raw_answer *);
int insert_items(raw_store *, const raw_item *, size_t, raw_answer *);
int insert_items_naive(raw_store *, const raw_item *, size_t, raw_answer *);
int items_by_date(raw_store *, raw_answer *);
int items_by_date_walked(raw_store *, raw_answer *);

#endif
