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

__attribute__((target("sse4.2")))
static uint32_t crc32c_hardware(uint32_t crc, const void *bytes, size_t count) {
  const unsigned char *p = bytes;
  uint64_t value = ~crc;
  for (; count >= 8; p += 8, count -= 8) {
    uint64_t word;
    memcpy(&word, p, 8);
    value = __builtin_ia32_crc32di(value, word);
  }
  uint32_t narrow = (uint32_t)value;
  if (count & 4) {
    uint32_t word;
    memcpy(&word, p, 4);
    narrow = __builtin_ia32_crc32si(narrow, word);
    p += 4;
  }
  for (count &= 3; count > 0; p++, count--) narrow = __builtin_ia32_crc32qi(narrow, *p);
  return ~narrow;
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
