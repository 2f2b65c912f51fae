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

#ifdef __linux__
#include <sys/syscall.h>
// Declared here, as Swift's Glibc module leaves it out, and loses what its headers declare when they are
// included here. Not in glibc before 2.28, and not in musl.
extern int renameat2(int, const char *, int, const char *, unsigned int) __attribute__((weak));
extern long syscall(long, ...);
#else
#include <stdio.h>
#endif

/// Renames a file unless something has the new name: EEXIST then. -1 and `errno` when that fails.
static inline int lodestore_rename_to_new(const char *path, const char *target) {
#ifdef __linux__
  const int current_directory = -100;  // AT_FDCWD
  const unsigned int no_replace = 1;   // RENAME_NOREPLACE
  if (renameat2) return renameat2(current_directory, path, current_directory, target, no_replace);
  return (int)syscall(SYS_renameat2, current_directory, path, current_directory, target, no_replace);
#else
  return renamex_np(path, target, RENAME_EXCL);
#endif
}

#endif
