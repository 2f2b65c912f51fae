#include "rawlmdb.h"
#include "store.h"

static const char *error_text(int code) { return mdb_strerror(code); }

const raw_engine raw_lmdb = {
  .error_text = error_text,
  .open = store_open,
  .open_reader = store_open_reader,
  .close = store_close,
  .insert_pods = insert_pods,
  .insert_pod = insert_pod,
  .upsert_pods = upsert_pods,
  .update_deprecated = update_deprecated,
  .delete_dates = delete_dates,
  .delete_names = delete_names,
  .get_unique = get_unique,
  .get_ids = get_ids,
  .multi_get = multi_get,
  .fetch_all = fetch_all,
  .fetch_two = fetch_two,
  .fetch_ranges = fetch_ranges,
  .count_numbers = count_numbers,
  .count_license = count_license,
  .count_dates = count_dates,
  .ids_of_names = ids_of_names,
  .fetch_names = fetch_names,
  .top_downloads = top_downloads,
  .newest = newest,
  .insert_items = insert_items,
  .items_by_date = items_by_date,
};

const raw_engine raw_lmdb_naive = {
  .error_text = error_text,
  .open = store_open,
  .open_reader = store_open_reader,
  .close = store_close,
  .insert_pods = insert_pods_naive,
  .fetch_all = fetch_all,
  .insert_items = insert_items_naive,
  .items_by_date = items_by_date_walked,
};
