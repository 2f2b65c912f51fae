#ifndef RAWSQLITE_H
#define RAWSQLITE_H

#include "engine.h"

/// SQLite through its C interface, with every statement prepared once.
extern const raw_engine raw_sqlite;

/// The same with indexes made after the rows are in, which SQLite sorts then; inserts only.
extern const raw_engine raw_sqlite_late;

#endif
