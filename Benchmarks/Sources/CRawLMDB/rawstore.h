#ifndef RAWSTORE_H
#define RAWSTORE_H

#include "rawlmdb.h"

#include <lmdb.h>

#define CHECK(call) do { int code = (call); if (code != 0) return code; } while (0)

/// One open store: a transaction and its three trees.
struct raw_session {
  MDB_env *env;
  MDB_txn *txn;
  MDB_dbi records, unique, dates;
};

/// Opens the environment and begins a transaction: to read with MDB_RDONLY in `env_flags`, which
/// creates the trees with MDB_CREATE in `dbi_flags`.
int raw_begin(const char *path, unsigned env_flags, unsigned dbi_flags, raw_session *session);

/// Commits, durable, and closes the environment.
int raw_commit(raw_session *session);

/// The date as eight bytes that sort as dates do.
uint64_t raw_ordered(double date);

/// Writes the key of the unique index, name, 0, version, to `out` and returns its length.
uint32_t raw_unique_key(const raw_pod *pod, unsigned char *out);

/// Sorts ids, ascending.
void raw_sort_ids(uint64_t *ids, size_t count);

/// The ids of the records whose name is one of `count`, ascending: names are sorted and merged with
/// the unique index. `ids` has room for `2 * count`.
int raw_ids_of_names(
  raw_session *session, const raw_pod *pods, const uint32_t *order, size_t count, uint64_t *ids,
  size_t *found);

/// Stands for building the five strings of a record: every byte is copied.
static inline void raw_read(MDB_val record) {
  unsigned char copy[4096];
  __builtin_memcpy(copy, record.mv_data, record.mv_size);
  __asm__ volatile("" : : "r"(copy) : "memory");
}

#endif
