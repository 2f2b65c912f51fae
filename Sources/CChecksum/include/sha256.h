#ifndef LODESTORE_SHA256_H
#define LODESTORE_SHA256_H

#include <stddef.h>
#include <stdint.h>

/// SHA-256 (FIPS 180-4) of bytes that come in pieces.
typedef struct {
  uint32_t state[8];
  /// How many bytes were added so far.
  uint64_t count;
  /// The last `count % 64` of these bytes.
  uint8_t rest[64];
} lodestore_sha256;

void lodestore_sha256_begin(lodestore_sha256 *hash);
void lodestore_sha256_add(lodestore_sha256 *hash, const void *bytes, size_t count);
/// Writes the 32 bytes of the digest; `hash` must not be used afterwards.
void lodestore_sha256_end(lodestore_sha256 *hash, uint8_t *digest);

/// Writes the digests of `count` blocks of `size` bytes each, which follow each other, 32 bytes each.
///
/// Uses the processor's instructions where there are any (SHA-NI, ARMv8 SHA2).
void lodestore_sha256_of_blocks(const void *bytes, size_t size, size_t count, uint8_t *digests);

/// Hashes `count` blocks of 64 bytes without the processor's instructions, so that tests can compare
/// the two ways on any machine.
void lodestore_sha256_compress_portable(uint32_t state[8], const void *bytes, size_t count);
/// Hashes `count` blocks of 64 bytes in the fastest way that this machine has.
void lodestore_sha256_compress(uint32_t state[8], const void *bytes, size_t count);

#endif
