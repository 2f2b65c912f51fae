#ifndef RAWLMDB_H
#define RAWLMDB_H

#include "engine.h"

/// LMDB by hand for this one schema, with index entries sorted before they are put, and records
/// read in the order of their ids. The time of this engine is the base of the ratios.
extern const raw_engine raw_lmdb;

/// LMDB with simply written operations: entries are put as the records come.
extern const raw_engine raw_lmdb_naive;

#endif
