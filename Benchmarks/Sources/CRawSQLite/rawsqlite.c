// SQLite through its C interface: prepared statements, and the settings that were the fastest of
// those that are as durable as LMDB's default.

#ifdef WITH_SQLITE

#include "rawsqlite.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call) do { int code = (call); if (code != SQLITE_OK) return code; } while (0)

static int run(sqlite3 *db, const char *sql) { return sqlite3_exec(db, sql, NULL, NULL, NULL); }

/// Opens the file and begins a transaction.
///
/// A rollback journal is faster here than a log (WAL): 8 % of the insert, a fifth of the update, the
/// deletes alike. TRUNCATE ends it with a sync, as DELETE does not. The cache holds the whole file.
/// Some builds zero what they delete unless told not to.
static int begin(const char *path, sqlite3 **db) {
  CHECK(sqlite3_open(path, db));
  CHECK(run(*db, "PRAGMA journal_mode = TRUNCATE"));
  CHECK(run(*db, "PRAGMA synchronous = FULL"));
  CHECK(run(*db, "PRAGMA cache_size = -524288"));
  CHECK(run(*db, "PRAGMA secure_delete = OFF"));
  CHECK(run(*db, "PRAGMA temp_store = MEMORY"));
  return run(*db, "BEGIN IMMEDIATE");
}

/// Commits, durable, and closes.
static int commit(sqlite3 *db) {
  CHECK(run(db, "COMMIT"));
  return sqlite3_close(db);
}

/// Runs one statement without results to its end, for the next set of parameters.
static int step(sqlite3_stmt *statement) {
  int code = sqlite3_step(statement);
  return code == SQLITE_DONE ? sqlite3_reset(statement) : code;
}

static int bind(sqlite3_stmt *statement, int place, const char *text, uint32_t length) {
  return sqlite3_bind_text(statement, place, text, (int)length, SQLITE_STATIC);
}

int sqlite_insert(const char *path, const raw_pod *pods, size_t count, size_t *inserted) {
  sqlite3 *db;
  sqlite3_stmt *insert;
  CHECK(begin(path, &db));
  CHECK(run(
    db,
    "CREATE TABLE pod (id INTEGER PRIMARY KEY, downloads INTEGER NOT NULL,"
    " updated_at REAL NOT NULL, deprecated INTEGER NOT NULL, name TEXT NOT NULL,"
    " version TEXT NOT NULL, homepage TEXT, license TEXT NOT NULL, summary TEXT NOT NULL)"));
  CHECK(sqlite3_prepare_v2(
    db, "INSERT INTO pod VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)", -1, &insert, NULL));
  for (size_t i = 0; i < count; i++) {
    const raw_pod *p = &pods[i];
    CHECK(sqlite3_bind_int64(insert, 1, (sqlite3_int64)i + 1));
    CHECK(sqlite3_bind_int64(insert, 2, p->downloads));
    CHECK(sqlite3_bind_double(insert, 3, p->updated_at));
    CHECK(sqlite3_bind_int(insert, 4, p->deprecated));
    CHECK(bind(insert, 5, p->name, p->name_length));
    CHECK(bind(insert, 6, p->version, p->version_length));
    CHECK(
      p->homepage_length > 0 ? bind(insert, 7, p->homepage, p->homepage_length)
                             : sqlite3_bind_null(insert, 7));
    CHECK(bind(insert, 8, p->license, p->license_length));
    CHECK(bind(insert, 9, p->summary, p->summary_length));
    CHECK(step(insert));
  }
  CHECK(sqlite3_finalize(insert));
  *inserted = (size_t)sqlite3_total_changes(db);
  // Sorted by SQLite, which is faster than an entry at a time.
  CHECK(run(db, "CREATE UNIQUE INDEX pod_name_version ON pod (name, version)"));
  CHECK(run(db, "CREATE INDEX pod_updated_at ON pod (updated_at)"));
  return commit(db);
}

int sqlite_count(const char *path, size_t *found) {
  sqlite3 *db;
  sqlite3_stmt *count;
  CHECK(begin(path, &db));
  CHECK(sqlite3_prepare_v2(db, "SELECT count(*) FROM pod", -1, &count, NULL));
  int code = sqlite3_step(count);
  if (code != SQLITE_ROW) return code;
  *found = (size_t)sqlite3_column_int64(count, 0);
  CHECK(sqlite3_finalize(count));
  return commit(db);
}

int sqlite_delete_dates(const char *path, double from, double to, size_t *deleted) {
  sqlite3 *db;
  sqlite3_stmt *delete;
  CHECK(begin(path, &db));
  CHECK(sqlite3_prepare_v2(
    db, "DELETE FROM pod WHERE updated_at >= ?1 AND updated_at < ?2", -1, &delete, NULL));
  CHECK(sqlite3_bind_double(delete, 1, from));
  CHECK(sqlite3_bind_double(delete, 2, to));
  CHECK(step(delete));
  *deleted = (size_t)sqlite3_changes(db);
  CHECK(sqlite3_finalize(delete));
  return commit(db);
}

static int by_name(const void *a, const void *b) {
  const raw_pod *x = *(const raw_pod *const *)a, *y = *(const raw_pod *const *)b;
  uint32_t shorter = x->name_length < y->name_length ? x->name_length : y->name_length;
  int order = memcmp(x->name, y->name, shorter);
  return order != 0 ? order : (x->name_length > y->name_length) - (x->name_length < y->name_length);
}

// Names in order, a statement each: IN with a temporary table of them, and their ids found first and
// deleted in order, both cost as much or up to a tenth more.
int sqlite_delete_names(
  const char *path, const raw_pod *pods, const uint32_t *order, size_t count, size_t *deleted
) {
  sqlite3 *db;
  sqlite3_stmt *delete;
  CHECK(begin(path, &db));
  const raw_pod **wanted = malloc(count * sizeof(*wanted));
  for (size_t i = 0; i < count; i++) wanted[i] = &pods[order[i]];
  qsort(wanted, count, sizeof(*wanted), by_name);
  CHECK(sqlite3_prepare_v2(db, "DELETE FROM pod WHERE name = ?1", -1, &delete, NULL));
  for (size_t i = 0; i < count; i++) {
    CHECK(bind(delete, 1, wanted[i]->name, wanted[i]->name_length));
    CHECK(step(delete));
  }
  CHECK(sqlite3_finalize(delete));
  *deleted = (size_t)sqlite3_total_changes(db);
  free(wanted);
  return commit(db);
}

int sqlite_set_deprecated(const char *path, size_t *updated) {
  sqlite3 *db;
  CHECK(begin(path, &db));
  CHECK(run(db, "UPDATE pod SET deprecated = 1 WHERE deprecated = 0"));
  *updated = (size_t)sqlite3_changes(db);
  return commit(db);
}

#endif
