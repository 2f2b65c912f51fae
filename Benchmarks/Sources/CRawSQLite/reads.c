// Reads, each in one transaction.

#ifdef WITH_SQLITE

#include "database.h"

#include <string.h>

#define POD "SELECT downloads, updated_at, deprecated, name, version, homepage, license, summary FROM pod "

static owned_text text_of(sqlite3_stmt *row, int column) {
  const char *bytes = (const char *)sqlite3_column_text(row, column);
  return raw_own(bytes, (uint32_t)sqlite3_column_bytes(row, column));
}

static void decode_pod(sqlite3_stmt *row, owned_pod *pod) {
  pod->downloads = sqlite3_column_int64(row, 0);
  pod->updated_at = sqlite3_column_double(row, 1);
  pod->deprecated = (uint8_t)sqlite3_column_int(row, 2);
  pod->name = text_of(row, 3);
  pod->version = text_of(row, 4);
  pod->homepage = text_of(row, 5);
  pod->license = text_of(row, 6);
  pod->summary = text_of(row, 7);
}

/// Adds all rows of a statement that is bound.
static int add_rows(sqlite3_stmt *statement, raw_answer *answer) {
  int code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    decode_pod(statement, raw_next_pods(answer, 1));
    answer->pod_count++;
  }
  answer->count = answer->pod_count;
  CHECK(sqlite3_reset(statement));
  return code == SQLITE_DONE ? 0 : code;
}

/// The number in the only row of a statement that is bound.
static int one_number(sqlite3_stmt *statement, raw_answer *answer) {
  int code = sqlite3_step(statement);
  if (code != SQLITE_ROW) return code;
  answer->count = (size_t)sqlite3_column_int64(statement, 0);
  return sqlite3_reset(statement);
}

// MARK: By keys

// A single look-up is its own transaction; several look-ups share one.
static int begin(raw_store *store, size_t count) { return count > 1 ? db_run(store, "BEGIN") : 0; }
static int end(raw_store *store, size_t count) { return count > 1 ? db_run(store, "COMMIT") : 0; }

int db_get_unique(
  raw_store *store, const raw_pod *pods, const uint32_t *wanted, size_t count, raw_answer *answer
) {
  sqlite3_stmt *statement;
  CHECK(db_statement(store, POD "WHERE name = ?1 AND version = ?2", &statement));
  CHECK(begin(store, count));
  for (size_t i = 0; i < count; i++) {
    CHECK(db_bind(statement, 1, pods[wanted[i]].name));
    CHECK(db_bind(statement, 2, pods[wanted[i]].version));
    CHECK(add_rows(statement, answer));
  }
  return end(store, count);
}

int db_get_ids(raw_store *store, const uint32_t *wanted, size_t count, raw_answer *answer) {
  sqlite3_stmt *statement;
  CHECK(db_statement(store, POD "WHERE id = ?1", &statement));
  CHECK(begin(store, count));
  for (size_t i = 0; i < count; i++) {
    CHECK(sqlite3_bind_int64(statement, 1, (sqlite3_int64)wanted[i] + 1));
    CHECK(add_rows(statement, answer));
  }
  return end(store, count);
}

/// Puts the names in a temporary table.
static int keep_names(
  raw_store *store, const raw_pod *pods, const uint32_t *wanted, size_t count
) {
  sqlite3_stmt *statement;
  CHECK(db_run(
    store, "CREATE TEMP TABLE IF NOT EXISTS wanted (name TEXT PRIMARY KEY) WITHOUT ROWID;"
           "BEGIN; DELETE FROM wanted"));
  CHECK(db_statement(store, "INSERT OR IGNORE INTO wanted VALUES (?1)", &statement));
  for (size_t i = 0; i < count; i++) {
    CHECK(db_bind(statement, 1, pods[wanted[i]].name));
    CHECK(db_step(statement));
  }
  return 0;
}

int db_ids_of_names(
  raw_store *store, const raw_pod *pods, const uint32_t *wanted, size_t count, raw_answer *answer
) {
  sqlite3_stmt *statement;
  CHECK(keep_names(store, pods, wanted, count));
  CHECK(db_statement(
    store, "SELECT id FROM pod WHERE name IN (SELECT name FROM wanted) ORDER BY id", &statement));
  int code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) answer->count++;
  CHECK(sqlite3_reset(statement));
  if (code != SQLITE_DONE) return code;
  return db_run(store, "COMMIT");
}

int db_fetch_names(
  raw_store *store, const raw_pod *pods, const uint32_t *wanted, size_t count, raw_answer *answer
) {
  sqlite3_stmt *statement;
  CHECK(keep_names(store, pods, wanted, count));
  CHECK(db_statement(
    store, POD "WHERE name IN (SELECT name FROM wanted) ORDER BY id", &statement));
  CHECK(add_rows(statement, answer));
  return db_run(store, "COMMIT");
}

// MARK: By scans

int db_fetch_all(raw_store *store, raw_answer *answer) {
  sqlite3_stmt *statement;
  CHECK(db_statement(store, POD "ORDER BY id", &statement));
  return add_rows(statement, answer);
}

int db_fetch_two(raw_store *store, raw_answer *answer) {
  sqlite3_stmt *statement;
  CHECK(db_statement(store, "SELECT name, downloads FROM pod", &statement));
  int code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    const unsigned char *name = sqlite3_column_text(statement, 0);
    answer->sum += (uint64_t)sqlite3_column_bytes(statement, 0) + name[0]
                 + (uint64_t)sqlite3_column_int64(statement, 1);
    answer->count++;
  }
  CHECK(sqlite3_reset(statement));
  return code == SQLITE_DONE ? 0 : code;
}

int db_count_numbers(raw_store *store, int64_t downloads, double date, raw_answer *answer) {
  sqlite3_stmt *statement;
  CHECK(db_statement(
    store, "SELECT count(*) FROM pod WHERE downloads > ?1 AND updated_at <> ?2", &statement));
  CHECK(sqlite3_bind_int64(statement, 1, downloads));
  CHECK(sqlite3_bind_double(statement, 2, date));
  return one_number(statement, answer);
}

int db_count_license(raw_store *store, raw_text license, raw_answer *answer) {
  sqlite3_stmt *statement;
  CHECK(db_statement(store, "SELECT count(*) FROM pod WHERE license = ?1", &statement));
  CHECK(db_bind(statement, 1, license));
  return one_number(statement, answer);
}

int db_top_downloads(raw_store *store, size_t count, raw_answer *answer) {
  sqlite3_stmt *statement;
  CHECK(db_statement(store, POD "ORDER BY downloads DESC, id DESC LIMIT ?1", &statement));
  CHECK(sqlite3_bind_int64(statement, 1, (sqlite3_int64)count));
  return add_rows(statement, answer);
}

// MARK: By date

int db_fetch_ranges(
  raw_store *store, const double *from, const double *to, size_t count, raw_answer *answer
) {
  sqlite3_stmt *statement;
  CHECK(db_statement(
    store, POD "WHERE updated_at >= ?1 AND updated_at < ?2 ORDER BY updated_at", &statement));
  CHECK(begin(store, count));
  for (size_t i = 0; i < count; i++) {
    CHECK(sqlite3_bind_double(statement, 1, from[i]));
    CHECK(sqlite3_bind_double(statement, 2, to[i]));
    CHECK(add_rows(statement, answer));
  }
  return end(store, count);
}

int db_count_dates(raw_store *store, double from, double to, raw_answer *answer) {
  sqlite3_stmt *statement;
  CHECK(db_statement(
    store, "SELECT count(*) FROM pod WHERE updated_at >= ?1 AND updated_at < ?2", &statement));
  CHECK(sqlite3_bind_double(statement, 1, from));
  CHECK(sqlite3_bind_double(statement, 2, to));
  return one_number(statement, answer);
}

int db_newest(raw_store *store, size_t count, raw_answer *answer) {
  sqlite3_stmt *statement;
  CHECK(db_statement(store, POD "ORDER BY updated_at DESC, id DESC LIMIT ?1", &statement));
  CHECK(sqlite3_bind_int64(statement, 1, (sqlite3_int64)count));
  return add_rows(statement, answer);
}

int db_items_by_date(raw_store *store, raw_answer *answer) {
  sqlite3_stmt *statement;
  CHECK(db_statement(
    store, "SELECT created_at, is_done, title FROM item ORDER BY created_at", &statement));
  int code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    owned_item *item = raw_next_items(answer, 1);
    item->created_at = sqlite3_column_double(statement, 0);
    item->is_done = (uint8_t)sqlite3_column_int(statement, 1);
    item->title = text_of(statement, 2);
    answer->item_count++;
  }
  answer->count = answer->item_count;
  CHECK(sqlite3_reset(statement));
  return code == SQLITE_DONE ? 0 : code;
}

#endif
