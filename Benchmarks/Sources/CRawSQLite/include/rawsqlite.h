#ifndef RAWSQLITE_H
#define RAWSQLITE_H

#include "rawpod.h"

#include <stddef.h>
#include <stdint.h>

// Every function opens the file and closes it, does its work in one durable transaction, sets how
// many rows it found or changed, and returns 0 or an SQLite code.

/// Makes the table with all pods, then its unique index of (name, version) and its index of dates.
int sqlite_insert(const char *path, const raw_pod *pods, size_t count, size_t *inserted);

/// How many rows the table has.
int sqlite_count(const char *path, size_t *found);

/// Deletes the rows whose dates are at or after `from` and before `to`.
int sqlite_delete_dates(const char *path, double from, double to, size_t *deleted);

/// Deletes the rows whose name is one of `count`.
int sqlite_delete_names(
  const char *path, const raw_pod *pods, const uint32_t *order, size_t count, size_t *deleted);

/// Sets `deprecated` in every row that does not have it.
int sqlite_set_deprecated(const char *path, size_t *updated);

#endif
