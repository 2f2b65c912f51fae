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

#endif
