#ifndef SORTING_H
#define SORTING_H

#include <stddef.h>
#include <stdint.h>

/// A sorted entry: eight bytes of a key as a number, and the place of the rest.
typedef struct {
  uint64_t window;
  uint32_t place;
  uint32_t length;
} entry;

/// Sorts by the window; entries with equal windows keep their order.
void sort_by_window(entry *entries, size_t count);

/// Sorts by the keys, each `length` bytes at `place` of the block, and sets the windows.
void sort_by_key(entry *entries, size_t count, const unsigned char *block);

#endif
