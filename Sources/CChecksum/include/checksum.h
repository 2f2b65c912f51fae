#ifndef LODESTORE_CHECKSUM_H
#define LODESTORE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/// CRC-32C over `count` bytes, continuing from `crc`, the value of an earlier call (0 to begin).
///
/// Uses the processor's instruction where there is one (SSE 4.2, ARMv8 CRC), else a table.
uint32_t lodestore_crc32c(uint32_t crc, const void *bytes, size_t count);

/// CRC-32C over the eight little-endian bytes of `id`, then `count` bytes.
uint32_t lodestore_crc32c_record(uint64_t id, const void *bytes, size_t count);

/// What has to be added (XOR) to the CRC-32C of bytes, when `difference` is added to `count` of them
/// that have `behind` others behind them.
uint32_t lodestore_crc32c_difference(const void *difference, size_t count, size_t behind);

/// The first by table alone, so that tests can compare the two on any machine.
uint32_t lodestore_crc32c_portable(uint32_t crc, const void *bytes, size_t count);

#endif
