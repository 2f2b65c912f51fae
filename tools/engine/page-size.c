// A library that, preloaded into a process, imitates a system with larger pages.
// LODESTORE_PAGE_SIZE is the size in bytes, a multiple of the real page size. The library changes
// the answer of sysconf and the addresses at which shared maps of files begin. LMDB then makes
// files with pages of that size, as on such a system.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static long (*system_value)(int);

static long real_page_size(void) {
  if (system_value == NULL) system_value = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
  return system_value(_SC_PAGESIZE);
}

static long page_size(void) {
  static long size;
  if (size == 0) {
    const char *text = getenv("LODESTORE_PAGE_SIZE");
    size = text == NULL ? real_page_size() : atol(text);
  }
  return size;
}

long sysconf(int name) {
  if (name == _SC_PAGESIZE) return page_size();
  real_page_size();
  return system_value(name);
}

int getpagesize(void) { return (int)page_size(); }

typedef void *map_function(void *, size_t, int, int, int, off_t);

static void *map_aligned(map_function *map, void *address, size_t length, int protection, int flags,
                         int file, off_t offset) {
  if (file < 0 || !(flags & MAP_SHARED) || address != NULL)
    return map(address, length, protection, flags, file, offset);
  uintptr_t size = (uintptr_t)page_size(), real = (uintptr_t)real_page_size();
  uintptr_t wanted = (length + real - 1) / real * real;
  char *room =
      map(NULL, wanted + size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return room;
  char *start = (char *)(((uintptr_t)room + size - 1) / size * size);
  if (start > room) munmap(room, start - room);
  munmap(start + wanted, room + size - start);
  return map(start, length, protection, flags | MAP_FIXED, file, offset);
}

void *mmap(void *address, size_t length, int protection, int flags, int file, off_t offset) {
  static map_function *map;
  if (map == NULL) map = (map_function *)dlsym(RTLD_NEXT, "mmap");
  return map_aligned(map, address, length, protection, flags, file, offset);
}

void *mmap64(void *address, size_t length, int protection, int flags, int file, off_t offset) {
  static map_function *map;
  if (map == NULL) map = (map_function *)dlsym(RTLD_NEXT, "mmap64");
  return map_aligned(map, address, length, protection, flags, file, offset);
}
