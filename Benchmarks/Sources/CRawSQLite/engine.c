#ifdef WITH_SQLITE

#include "database.h"
#include "rawsqlite.h"

static const char *error_text(int code) { return sqlite3_errstr(code); }

const raw_engine raw_sqlite = {
  .error_text = error_text,
  .open = db_open,
  .open_reader = db_open_reader,
  .close = db_close,
  .insert_pods = db_insert_pods,
  .insert_pod = db_insert_pod,
  .upsert_pods = db_upsert_pods,
  .update_deprecated = db_update_deprecated,
  .delete_dates = db_delete_dates,
  .delete_names = db_delete_names,
  .get_unique = db_get_unique,
  .get_ids = db_get_ids,
  // SQLite has no look-up of several pairs of keys, so each pair is a look-up.
  .multi_get = db_get_unique,
  .fetch_all = db_fetch_all,
  .fetch_two = db_fetch_two,
  .fetch_ranges = db_fetch_ranges,
  .count_numbers = db_count_numbers,
  .count_license = db_count_license,
  .count_dates = db_count_dates,
  .ids_of_names = db_ids_of_names,
  .fetch_names = db_fetch_names,
  .top_downloads = db_top_downloads,
  .newest = db_newest,
  .insert_items = db_insert_items,
  .items_by_date = db_items_by_date,
};

const raw_engine raw_sqlite_late = {
  .error_text = error_text,
  .open = db_open,
  .open_reader = db_open_reader,
  .close = db_close,
  .insert_pods = db_insert_pods_late,
  .fetch_all = db_fetch_all,
  .insert_items = db_insert_items_late,
  .items_by_date = db_items_by_date,
};

#endif
