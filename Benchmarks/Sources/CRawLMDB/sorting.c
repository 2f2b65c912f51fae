#include "sorting.h"

#include <stdlib.h>
#include <string.h>

enum { DIGITS = 8, VALUES = 256 };

// Sorts by radix from the last byte to the first. A byte that is equal in all entries is only
// counted, not sorted.
void sort_by_window(entry *entries, size_t count) {
  if (count < 2) return;
  size_t (*counts)[VALUES] = calloc(DIGITS, sizeof(*counts));
  for (size_t i = 0; i < count; i++) {
    uint64_t window = entries[i].window;
    for (int d = 0; d < DIGITS; d++) counts[d][window >> (8 * d) & 255]++;
  }
  entry *from = entries, *to = malloc(count * sizeof(entry));
  for (int d = 0; d < DIGITS; d++) {
    size_t *digit = counts[d];
    if (digit[from[0].window >> (8 * d) & 255] == count) continue;
    size_t sum = 0;
    for (int value = 0; value < VALUES; value++) {
      size_t n = digit[value];
      digit[value] = sum;
      sum += n;
    }
    for (size_t i = 0; i < count; i++) to[digit[from[i].window >> (8 * d) & 255]++] = from[i];
    entry *other = from;
    from = to;
    to = other;
  }
  if (from != entries) {
    memcpy(entries, from, count * sizeof(entry));
    to = from;
  }
  free(to);
  free(counts);
}

static uint32_t shorter(uint32_t a, uint32_t b) { return a < b ? a : b; }

static int compare(const entry *x, const entry *y, const unsigned char *block) {
  int order = memcmp(block + x->place, block + y->place, shorter(x->length, y->length));
  return order != 0 ? order : (x->length > y->length) - (x->length < y->length);
}

/// The number of bytes that all keys have in common at their beginning.
static uint32_t common_prefix(const entry *entries, size_t count, const unsigned char *block) {
  const unsigned char *first = block + entries[0].place;
  uint32_t common = entries[0].length;
  for (size_t i = 1; i < count && common > 0; i++) {
    const unsigned char *key = block + entries[i].place;
    common = shorter(common, entries[i].length);
    uint32_t n = 0;
    while (n < common && key[n] == first[n]) n++;
    common = n;
  }
  return common;
}

/// The eight bytes after `prefix`, as a number, with zeros after the end.
static uint64_t window_of(const entry *e, uint32_t prefix, const unsigned char *block) {
  unsigned char bytes[8] = {0};
  uint32_t left = e->length - prefix;
  memcpy(bytes, block + e->place + prefix, left < 8 ? left : 8);
  uint64_t window;
  memcpy(&window, bytes, 8);
  return __builtin_bswap64(window);
}

void sort_by_key(entry *entries, size_t count, const unsigned char *block) {
  if (count < 2) return;
  uint32_t prefix = common_prefix(entries, count, block);
  for (size_t i = 0; i < count; i++) {
    entries[i].window = window_of(&entries[i], prefix, block);
  }
  sort_by_window(entries, count);
  // Few entries share a window. These entries are sorted by insertion, by their whole keys.
  for (size_t i = 1; i < count; i++) {
    entry moved = entries[i];
    size_t j = i;
    while (
      j > 0 && entries[j - 1].window == moved.window && compare(&entries[j - 1], &moved, block) > 0
    ) {
      entries[j] = entries[j - 1];
      j--;
    }
    entries[j] = moved;
  }
}
