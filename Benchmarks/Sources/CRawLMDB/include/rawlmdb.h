#ifndef RAWLMDB_H
#define RAWLMDB_H

#include "engine.h"

/// LMDB by hand for the one schema, with index entries sorted before they are put and records read
/// in the order of their ids: the limit that the store is measured against.
extern const raw_engine raw_lmdb;

/// The same where an operation can be written simply: entries are put as the records come.
extern const raw_engine raw_lmdb_naive;

#endif
