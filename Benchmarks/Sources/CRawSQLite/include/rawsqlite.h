#ifndef RAWSQLITE_H
#define RAWSQLITE_H

#include "engine.h"

/// SQLite through its C interface, with every statement prepared once.
extern const raw_engine raw_sqlite;

/// SQLite with indexes made after the rows are inserted, so that SQLite sorts them; for inserts
/// only.
extern const raw_engine raw_sqlite_late;

#endif
