#ifndef LODESTORE_CLMDB_SHIM_H
#define LODESTORE_CLMDB_SHIM_H

#if !__has_include(<lmdb.h>)
#error "LMDB headers not found: install liblmdb-dev (apt-get install liblmdb-dev) or lmdb (brew install lmdb)"
#else
#include <lmdb.h>
#ifdef __linux__
// The file-system check needs statfs, which Swift's Glibc module leaves out.
#include <sys/vfs.h>
#endif
#endif

/// Asks the processor to fetch the cache line of `address`; nothing happens where there is none.
static inline void lodestore_prefetch(const void *address) { __builtin_prefetch(address); }

#endif
