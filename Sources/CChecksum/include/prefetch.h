#ifndef LODESTORE_PREFETCH_H
#define LODESTORE_PREFETCH_H

/// Asks the processor to fetch the cache line of `address`; nothing happens where there is none.
static inline void lodestore_prefetch(const void *address) { __builtin_prefetch(address); }

#endif
