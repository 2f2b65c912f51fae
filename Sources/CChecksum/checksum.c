// C, because Swift has no intrinsic for the processor's CRC instruction. See Format.md, "Checksums".

#include "checksum.h"

#include <string.h>

#define POLYNOMIAL 0x82F63B78u

static uint32_t table[8][256];

__attribute__((constructor)) static void fill_table(void) {
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ ((crc & 1) ? POLYNOMIAL : 0);
    table[0][i] = crc;
  }
  for (int k = 1; k < 8; k++)
    for (uint32_t i = 0; i < 256; i++)
      table[k][i] = (table[k - 1][i] >> 8) ^ table[0][table[k - 1][i] & 0xff];
}

uint32_t lodestore_crc32c_portable(uint32_t crc, const void *bytes, size_t count) {
  const unsigned char *p = bytes;
  crc = ~crc;
  for (; count >= 8; p += 8, count -= 8) {
    uint64_t word = 0;
    for (int i = 0; i < 8; i++) word |= (uint64_t)p[i] << (8 * i);
    word ^= crc;
    crc = 0;
    for (int i = 0; i < 8; i++) crc ^= table[7 - i][(word >> (8 * i)) & 0xff];
  }
  for (; count > 0; p++, count--) crc = (crc >> 8) ^ table[0][(crc ^ *p) & 0xff];
  return ~crc;
}

#if defined(__x86_64__)

// The instruction takes three cycles and can begin anew in each, so three parts of a long text are
// read side by side; a part's checksum goes behind LANE more bytes by what LANE zeros make of it.
#define LANE 256

static uint32_t behind_lane[4][256];

__attribute__((constructor)) static void fill_behind_lane(void) {
  uint32_t bits[32];
  static const unsigned char zeros[LANE];
  fill_table();
  for (int bit = 0; bit < 32; bit++)
    bits[bit] = ~lodestore_crc32c_portable(~(1u << bit), zeros, LANE);
  for (int k = 0; k < 4; k++)
    for (int byte = 0; byte < 256; byte++)
      for (int bit = 0; bit < 8; bit++)
        if (byte >> bit & 1) behind_lane[k][byte] ^= bits[8 * k + bit];
}

static uint32_t put_behind_lane(uint32_t crc) {
  return behind_lane[0][crc & 0xff] ^ behind_lane[1][crc >> 8 & 0xff]
       ^ behind_lane[2][crc >> 16 & 0xff] ^ behind_lane[3][crc >> 24];
}

__attribute__((target("sse4.2")))
static uint32_t go_on_bytewise(uint32_t value, const unsigned char *bytes, size_t count) {
  for (; count > 0; bytes++, count--) value = __builtin_ia32_crc32qi(value, *bytes);
  return value;
}

/// Goes on from `value`, without the inversions before and after.
__attribute__((target("sse4.2"), always_inline))
static inline uint32_t go_on(uint64_t value, const void *bytes, size_t count) {
  const unsigned char *p = bytes;
  for (; count >= 3 * LANE; p += 3 * LANE, count -= 3 * LANE) {
    uint64_t second = 0, third = 0;
    for (int i = 0; i < LANE; i += 8) {
      uint64_t words[3];
      memcpy(&words[0], p + i, 8);
      memcpy(&words[1], p + LANE + i, 8);
      memcpy(&words[2], p + 2 * LANE + i, 8);
      value = __builtin_ia32_crc32di(value, words[0]);
      second = __builtin_ia32_crc32di(second, words[1]);
      third = __builtin_ia32_crc32di(third, words[2]);
    }
    value = put_behind_lane((uint32_t)value) ^ second;
    value = put_behind_lane((uint32_t)value) ^ third;
  }
  if (count < 8) return go_on_bytewise((uint32_t)value, p, count);
  for (; count >= 16; p += 8, count -= 8) {
    uint64_t word;
    memcpy(&word, p, 8);
    value = __builtin_ia32_crc32di(value, word);
  }
  // The rest without a branch on how many bytes it has, which would be foreseen in one of two records:
  // a value is added to the first four bytes that are read, and zeros before the first byte of all
  // change nothing, so fewer than eight bytes are the upper ones of a word.
  uint64_t word;
  memcpy(&word, p, 8);
  value = __builtin_ia32_crc32di(value, word);
  unsigned rest = 8 * (unsigned)(count - 8), gap = 56 - rest;
  memcpy(&word, p + count - 8, 8);
  uint64_t last = (word >> gap >> 8) ^ value;
  return (uint32_t)(__builtin_ia32_crc32di(0, last << gap << 8) ^ value >> rest);
}

__attribute__((target("sse4.2")))
static uint32_t crc32c_hardware(uint32_t crc, const void *bytes, size_t count) {
  return ~go_on((uint32_t)~crc, bytes, count);
}

__attribute__((target("sse4.2")))
static uint32_t record_hardware(uint64_t id, const void *bytes, size_t count) {
  return ~go_on(__builtin_ia32_crc32di(0xFFFFFFFFu, id), bytes, count);
}

uint32_t lodestore_crc32c(uint32_t crc, const void *bytes, size_t count) {
  return __builtin_cpu_supports("sse4.2") ? crc32c_hardware(crc, bytes, count)
                                          : lodestore_crc32c_portable(crc, bytes, count);
}

#elif defined(__aarch64__) && (defined(__ARM_FEATURE_CRC32) || defined(__APPLE__))

#include <arm_acle.h>

__attribute__((target("crc")))
uint32_t lodestore_crc32c(uint32_t crc, const void *bytes, size_t count) {
  const unsigned char *p = bytes;
  crc = ~crc;
  for (; count >= 8; p += 8, count -= 8) {
    uint64_t word;
    memcpy(&word, p, 8);
    crc = __crc32cd(crc, word);
  }
  for (; count > 0; p++, count--) crc = __crc32cb(crc, *p);
  return ~crc;
}

#else

uint32_t lodestore_crc32c(uint32_t crc, const void *bytes, size_t count) {
  return lodestore_crc32c_portable(crc, bytes, count);
}

#endif

uint32_t lodestore_crc32c_record(uint64_t id, const void *bytes, size_t count) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) return record_hardware(id, bytes, count);
#endif
  unsigned char little[8];
  for (int i = 0; i < 8; i++) little[i] = (unsigned char)(id >> (8 * i));
  return lodestore_crc32c(lodestore_crc32c(0, little, 8), bytes, count);
}

uint32_t lodestore_crc32c_difference(const void *difference, size_t count, size_t behind) {
  static const unsigned char zeros[1024];
  // Without the two inversions, the checksum of a sum is the sum of the checksums.
  uint32_t crc = lodestore_crc32c(0xFFFFFFFFu, difference, count);
  while (behind > 0) {
    size_t next = behind < sizeof zeros ? behind : sizeof zeros;
    crc = lodestore_crc32c(crc, zeros, next);
    behind -= next;
  }
  return ~crc;
}
