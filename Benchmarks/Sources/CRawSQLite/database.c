// A connection and its statements.

#ifdef WITH_SQLITE

#include "database.h"

#include <stdlib.h>
#include <string.h>

const char *const db_pod_indexes =
  "CREATE UNIQUE INDEX IF NOT EXISTS pod_name_version ON pod (name, version);"
  "CREATE INDEX IF NOT EXISTS pod_updated_at ON pod (updated_at)";

const char *const db_item_indexes =
  "CREATE INDEX IF NOT EXISTS item_created_at ON item (created_at)";

static const char *const tables =
  "CREATE TABLE IF NOT EXISTS pod (id INTEGER PRIMARY KEY, downloads INTEGER NOT NULL,"
  " updated_at REAL NOT NULL, deprecated INTEGER NOT NULL, name TEXT NOT NULL,"
  " version TEXT NOT NULL, homepage TEXT, license TEXT NOT NULL, summary TEXT NOT NULL);"
  "CREATE TABLE IF NOT EXISTS item (id INTEGER PRIMARY KEY, created_at REAL NOT NULL,"
  " is_done INTEGER NOT NULL, title TEXT NOT NULL)";

// These settings are as durable as LMDB's default. Some builds of SQLite overwrite deleted bytes
// with zeros, which a setting turns off.
static const char *const settings =
  "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -262144;"
  "PRAGMA mmap_size = 4294967296; PRAGMA secure_delete = OFF; PRAGMA temp_store = MEMORY";

int db_run(raw_store *store, const char *sql) {
  return sqlite3_exec(store->db, sql, NULL, NULL, NULL);
}

int db_open(const char *path, size_t map_size, raw_store **result) {
  (void)map_size;
  raw_store *store = calloc(1, sizeof(raw_store));
  *result = store;
  store->path = strdup(path);
  CHECK(sqlite3_open_v2(
    path, &store->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL));
  CHECK(sqlite3_busy_timeout(store->db, 10000));
  CHECK(db_run(store, settings));
  CHECK(db_run(store, tables));
  CHECK(db_run(store, db_pod_indexes));
  return db_run(store, db_item_indexes);
}

int db_open_reader(raw_store *store, raw_store **reader) {
  return db_open(store->path, 0, reader);
}

void db_close(raw_store *store) {
  for (int i = 0; i < STATEMENT_COUNT; i++) sqlite3_finalize(store->statements[i]);
  sqlite3_close(store->db);
  free(store->path);
  free(store);
}

int db_statement(raw_store *store, const char *sql, sqlite3_stmt **statement) {
  for (int i = 0; i < STATEMENT_COUNT; i++) {
    if (store->texts[i] == sql) {
      *statement = store->statements[i];
      return 0;
    }
    if (store->texts[i] == NULL) {
      CHECK(sqlite3_prepare_v3(
        store->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &store->statements[i], NULL));
      store->texts[i] = sql;
      *statement = store->statements[i];
      return 0;
    }
  }
  return SQLITE_FULL;
}

int db_step(sqlite3_stmt *statement) {
  int code = sqlite3_step(statement);
  int reset = sqlite3_reset(statement);
  return code == SQLITE_DONE ? reset : code;
}

int db_bind(sqlite3_stmt *statement, int place, raw_text text) {
  return sqlite3_bind_text(statement, place, text.bytes, (int)text.length, SQLITE_STATIC);
}

#endif
