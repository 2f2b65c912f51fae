#ifndef DATABASE_H
#define DATABASE_H

#include "engine.h"

#include <sqlite3.h>

/// The maximum number of prepared statements, each of which is prepared at its first use and kept.
enum { STATEMENT_COUNT = 32 };

/// One connection.
struct raw_store {
  sqlite3 *db;
  char *path;
  sqlite3_stmt *statements[STATEMENT_COUNT];
  const char *texts[STATEMENT_COUNT];
};

int db_open(const char *path, size_t map_size, raw_store **store);
int db_open_reader(raw_store *store, raw_store **reader);
void db_close(raw_store *store);
int db_run(raw_store *store, const char *sql);

/// The statement for this text, which must be a constant.
int db_statement(raw_store *store, const char *sql, sqlite3_stmt **statement);

/// Runs a statement without results, ready for other values.
int db_step(sqlite3_stmt *statement);
int db_bind(sqlite3_stmt *statement, int place, raw_text text);

extern const char *const db_pod_indexes;
extern const char *const db_item_indexes;

// The operations, by file.
int db_insert_pods(raw_store *, const raw_pod *, size_t, raw_answer *);
int db_insert_pods_late(raw_store *, const raw_pod *, size_t, raw_answer *);
int db_insert_pod(raw_store *, const raw_pod *);
int db_upsert_pods(raw_store *, const raw_pod *, size_t, raw_answer *);
int db_update_deprecated(raw_store *, raw_answer *);
int db_delete_dates(raw_store *, double, double, raw_answer *);
int db_delete_names(raw_store *, const raw_pod *, const uint32_t *, size_t, raw_answer *);
int db_get_unique(raw_store *, const raw_pod *, const uint32_t *, size_t, raw_answer *);
int db_get_ids(raw_store *, const uint32_t *, size_t, raw_answer *);
int db_fetch_all(raw_store *, raw_answer *);
int db_fetch_two(raw_store *, raw_answer *);
int db_fetch_ranges(raw_store *, const double *, const double *, size_t, raw_answer *);
int db_count_numbers(raw_store *, int64_t, double, raw_answer *);
int db_count_license(raw_store *, raw_text, raw_answer *);
int db_count_dates(raw_store *, double, double, raw_answer *);
int db_ids_of_names(raw_store *, const raw_pod *, const uint32_t *, size_t, raw_answer *);
int db_fetch_names(raw_store *, const raw_pod *, const uint32_t *, size_t, raw_answer *);
int db_top_downloads(raw_store *, size_t, raw_answer *);
int db_newest(raw_store *, size_t, raw_answer *);
int db_insert_items(raw_store *, const raw_item *, size_t, raw_answer *);
int db_insert_items_late(raw_store *, const raw_item *, size_t, raw_answer *);
int db_items_by_date(raw_store *, raw_answer *);

#endif
