// Inserts, upserts, updates and deletes, each in one durable transaction.

#ifdef WITH_SQLITE

#include "database.h"

#include <stdlib.h>
#include <string.h>

static const char *const insert_text =
  "INSERT INTO pod (downloads, updated_at, deprecated, name, version, homepage, license, summary)"
  " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

// The condition excludes rows that already have the new values, so that such rows are not written.
static const char *const upsert_text =
  "INSERT INTO pod (downloads, updated_at, deprecated, name, version, homepage, license, summary)"
  " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (name, version) DO UPDATE SET"
  " downloads = excluded.downloads, updated_at = excluded.updated_at,"
  " deprecated = excluded.deprecated, homepage = excluded.homepage, license = excluded.license,"
  " summary = excluded.summary WHERE downloads <> excluded.downloads"
  " OR updated_at <> excluded.updated_at OR deprecated <> excluded.deprecated"
  " OR homepage IS NOT excluded.homepage OR license <> excluded.license"
  " OR summary <> excluded.summary";

static const char *const item_text =
  "INSERT INTO item (created_at, is_done, title) VALUES (?1, ?2, ?3)";

static int bind_pod(sqlite3_stmt *statement, const raw_pod *p) {
  CHECK(sqlite3_bind_int64(statement, 1, p->downloads));
  CHECK(sqlite3_bind_double(statement, 2, p->updated_at));
  CHECK(sqlite3_bind_int(statement, 3, p->deprecated));
  CHECK(db_bind(statement, 4, p->name));
  CHECK(db_bind(statement, 5, p->version));
  CHECK(
    p->homepage.length > 0 ? db_bind(statement, 6, p->homepage) : sqlite3_bind_null(statement, 6));
  CHECK(db_bind(statement, 7, p->license));
  return db_bind(statement, 8, p->summary);
}

static int put_pods(
  raw_store *store, const char *sql, const raw_pod *pods, size_t count, raw_answer *answer
) {
  sqlite3_stmt *statement;
  CHECK(db_statement(store, sql, &statement));
  int before = sqlite3_total_changes(store->db);
  for (size_t i = 0; i < count; i++) {
    CHECK(bind_pod(statement, &pods[i]));
    CHECK(db_step(statement));
  }
  answer->count = (size_t)(sqlite3_total_changes(store->db) - before);
  return 0;
}

int db_insert_pods(raw_store *store, const raw_pod *pods, size_t count, raw_answer *answer) {
  CHECK(db_run(store, "BEGIN IMMEDIATE"));
  CHECK(put_pods(store, insert_text, pods, count, answer));
  return db_run(store, "COMMIT");
}

int db_insert_pods_late(raw_store *store, const raw_pod *pods, size_t count, raw_answer *answer) {
  CHECK(db_run(store, "BEGIN IMMEDIATE; DROP INDEX pod_name_version; DROP INDEX pod_updated_at"));
  CHECK(put_pods(store, insert_text, pods, count, answer));
  CHECK(db_run(store, db_pod_indexes));
  return db_run(store, "COMMIT");
}

int db_insert_pod(raw_store *store, const raw_pod *pod) {
  raw_answer answer = {0};
  return put_pods(store, insert_text, pod, 1, &answer);
}

int db_upsert_pods(raw_store *store, const raw_pod *pods, size_t count, raw_answer *answer) {
  CHECK(db_run(store, "BEGIN IMMEDIATE"));
  CHECK(put_pods(store, upsert_text, pods, count, answer));
  return db_run(store, "COMMIT");
}

int db_update_deprecated(raw_store *store, raw_answer *answer) {
  CHECK(db_run(store, "UPDATE pod SET deprecated = 1 WHERE deprecated = 0"));
  answer->count = (size_t)sqlite3_changes(store->db);
  return 0;
}

int db_delete_dates(raw_store *store, double from, double to, raw_answer *answer) {
  sqlite3_stmt *statement;
  CHECK(db_statement(
    store, "DELETE FROM pod WHERE updated_at >= ?1 AND updated_at < ?2", &statement));
  CHECK(sqlite3_bind_double(statement, 1, from));
  CHECK(sqlite3_bind_double(statement, 2, to));
  CHECK(db_step(statement));
  answer->count = (size_t)sqlite3_changes(store->db);
  return 0;
}

static int by_name(const void *a, const void *b) {
  const raw_text *x = &(*(const raw_pod *const *)a)->name, *y = &(*(const raw_pod *const *)b)->name;
  uint32_t shorter = x->length < y->length ? x->length : y->length;
  int order = memcmp(x->bytes, y->bytes, shorter);
  return order != 0 ? order : (x->length > y->length) - (x->length < y->length);
}

// Deletes names in order, with a statement for each. Two other ways cost as much or up to a tenth
// more: IN with a temporary table of names, and finding the ids first and deleting them in order.
int db_delete_names(
  raw_store *store, const raw_pod *pods, const uint32_t *wanted, size_t count, raw_answer *answer
) {
  sqlite3_stmt *statement;
  const raw_pod **sorted = malloc(count * sizeof(*sorted));
  for (size_t i = 0; i < count; i++) sorted[i] = &pods[wanted[i]];
  qsort(sorted, count, sizeof(*sorted), by_name);
  CHECK(db_run(store, "BEGIN IMMEDIATE"));
  CHECK(db_statement(store, "DELETE FROM pod WHERE name = ?1", &statement));
  int before = sqlite3_total_changes(store->db);
  for (size_t i = 0; i < count; i++) {
    CHECK(db_bind(statement, 1, sorted[i]->name));
    CHECK(db_step(statement));
  }
  answer->count = (size_t)(sqlite3_total_changes(store->db) - before);
  free(sorted);
  return db_run(store, "COMMIT");
}

// MARK: To-do items

static int put_items(raw_store *store, const raw_item *items, size_t count, raw_answer *answer) {
  sqlite3_stmt *statement;
  CHECK(db_statement(store, item_text, &statement));
  for (size_t i = 0; i < count; i++) {
    CHECK(sqlite3_bind_double(statement, 1, items[i].created_at));
    CHECK(sqlite3_bind_int(statement, 2, items[i].is_done));
    CHECK(db_bind(statement, 3, items[i].title));
    CHECK(db_step(statement));
  }
  answer->count = count;
  return 0;
}

int db_insert_items(raw_store *store, const raw_item *items, size_t count, raw_answer *answer) {
  CHECK(db_run(store, "BEGIN IMMEDIATE"));
  CHECK(put_items(store, items, count, answer));
  return db_run(store, "COMMIT");
}

int db_insert_items_late(raw_store *store, const raw_item *items, size_t count, raw_answer *answer) {
  CHECK(db_run(store, "BEGIN IMMEDIATE; DROP INDEX item_created_at"));
  CHECK(put_items(store, items, count, answer));
  CHECK(db_run(store, db_item_indexes));
  return db_run(store, "COMMIT");
}

#endif
