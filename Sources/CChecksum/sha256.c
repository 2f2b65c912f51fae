// C, because Swift has no intrinsics for the processor's SHA-256 instructions. See Format.md, "Sealed files".

#include "sha256.h"

#include <string.h>

static const uint32_t K[64] = {
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static const uint32_t BEGIN[8] = {
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

static inline uint32_t rotated(uint32_t word, int count) { return word >> count | word << (32 - count); }

void lodestore_sha256_compress_portable(uint32_t state[8], const void *bytes, size_t count) {
  const unsigned char *p = bytes;
  for (; count > 0; count--, p += 64) {
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; i++)
      w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 | (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
    for (int i = 16; i < 64; i++) {
      uint32_t s0 = rotated(w[i - 15], 7) ^ rotated(w[i - 15], 18) ^ w[i - 15] >> 3;
      uint32_t s1 = rotated(w[i - 2], 17) ^ rotated(w[i - 2], 19) ^ w[i - 2] >> 10;
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    memcpy(v, state, sizeof v);
    // Word j of FIPS 180-4's a to h is v[(j - i) & 7] in round i, so that no word moves.
#define V(j) v[((j) - i) & 7]
#pragma GCC unroll 8
    for (int i = 0; i < 64; i++) {
      uint32_t s1 = rotated(V(4), 6) ^ rotated(V(4), 11) ^ rotated(V(4), 25);
      uint32_t t1 = V(7) + s1 + ((V(4) & V(5)) ^ (~V(4) & V(6))) + K[i] + w[i];
      uint32_t s0 = rotated(V(0), 2) ^ rotated(V(0), 13) ^ rotated(V(0), 22);
      V(3) += t1;
      V(7) = t1 + s0 + ((V(0) & V(1)) ^ (V(0) & V(2)) ^ (V(1) & V(2)));
    }
#undef V
    for (int i = 0; i < 8; i++) state[i] += v[i];
  }
}

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

static int has_instructions;

__attribute__((constructor)) static void look_for_instructions(void) {
  unsigned a, b, c, d;
  has_instructions = __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("ssse3")
    && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 29 & 1);
}

__attribute__((target("sha,sse4.1,ssse3")))
static void compress_hardware(uint32_t state[8], const unsigned char *p, size_t count) {
  const __m128i bigEndian = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
  // The instructions keep the eight words as ABEF and CDGH.
  __m128i low = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xB1);
  __m128i cdgh = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1B);
  __m128i abef = _mm_alignr_epi8(low, cdgh, 8);
  cdgh = _mm_blend_epi16(cdgh, low, 0xF0);
  for (; count > 0; count--, p += 64) {
    __m128i abefBefore = abef, cdghBefore = cdgh, w[4];
    for (int i = 0; i < 4; i++)
      w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(p + 16 * i)), bigEndian);
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++) {
      if (i >= 4) {
        __m128i sum = _mm_sha256msg1_epu32(w[i & 3], w[(i + 1) & 3]);
        sum = _mm_add_epi32(sum, _mm_alignr_epi8(w[(i + 3) & 3], w[(i + 2) & 3], 4));
        w[i & 3] = _mm_sha256msg2_epu32(sum, w[(i + 3) & 3]);
      }
      __m128i words = _mm_add_epi32(w[i & 3], _mm_loadu_si128((const __m128i *)(K + 4 * i)));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, words);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(words, 0x0E));
    }
    abef = _mm_add_epi32(abef, abefBefore);
    cdgh = _mm_add_epi32(cdgh, cdghBefore);
  }
  low = _mm_shuffle_epi32(abef, 0x1B);
  cdgh = _mm_shuffle_epi32(cdgh, 0xB1);
  _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(low, cdgh, 0xF0));
  _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(cdgh, low, 8));
}

void lodestore_sha256_compress(uint32_t state[8], const void *bytes, size_t count) {
  if (has_instructions) compress_hardware(state, bytes, count);
  else lodestore_sha256_compress_portable(state, bytes, count);
}

#elif defined(__aarch64__) && (defined(__ARM_FEATURE_SHA2) || defined(__ARM_FEATURE_CRYPTO))

#include <arm_neon.h>

void lodestore_sha256_compress(uint32_t state[8], const void *bytes, size_t count) {
  const unsigned char *p = bytes;
  uint32x4_t abcd = vld1q_u32(state), efgh = vld1q_u32(state + 4);
  for (; count > 0; count--, p += 64) {
    uint32x4_t abcdBefore = abcd, efghBefore = efgh, w[4];
    for (int i = 0; i < 4; i++) w[i] = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(p + 16 * i)));
    for (int i = 0; i < 16; i++) {
      if (i >= 4)
        w[i & 3] = vsha256su1q_u32(
          vsha256su0q_u32(w[i & 3], w[(i + 1) & 3]), w[(i + 2) & 3], w[(i + 3) & 3]);
      uint32x4_t words = vaddq_u32(w[i & 3], vld1q_u32(K + 4 * i)), before = abcd;
      abcd = vsha256hq_u32(abcd, efgh, words);
      efgh = vsha256h2q_u32(efgh, before, words);
    }
    abcd = vaddq_u32(abcd, abcdBefore);
    efgh = vaddq_u32(efgh, efghBefore);
  }
  vst1q_u32(state, abcd);
  vst1q_u32(state + 4, efgh);
}

#else

void lodestore_sha256_compress(uint32_t state[8], const void *bytes, size_t count) {
  lodestore_sha256_compress_portable(state, bytes, count);
}

#endif

void lodestore_sha256_begin(lodestore_sha256 *hash) {
  memcpy(hash->state, BEGIN, sizeof BEGIN);
  hash->count = 0;
}

void lodestore_sha256_add(lodestore_sha256 *hash, const void *bytes, size_t count) {
  const unsigned char *p = bytes;
  size_t held = hash->count % 64;
  if (count == 0) return;
  hash->count += count;
  if (held > 0) {
    size_t taken = count < 64 - held ? count : 64 - held;
    memcpy(hash->rest + held, p, taken);
    if (held + taken < 64) return;
    lodestore_sha256_compress(hash->state, hash->rest, 1);
    p += taken;
    count -= taken;
  }
  lodestore_sha256_compress(hash->state, p, count / 64);
  memcpy(hash->rest, p + count / 64 * 64, count % 64);
}

void lodestore_sha256_end(lodestore_sha256 *hash, uint8_t *digest) {
  uint64_t bits = hash->count * 8;
  size_t held = hash->count % 64;
  hash->rest[held++] = 0x80;
  if (held > 56) {
    memset(hash->rest + held, 0, 64 - held);
    lodestore_sha256_compress(hash->state, hash->rest, 1);
    held = 0;
  }
  memset(hash->rest + held, 0, 56 - held);
  for (int i = 0; i < 8; i++) hash->rest[56 + i] = (uint8_t)(bits >> (56 - 8 * i));
  lodestore_sha256_compress(hash->state, hash->rest, 1);
  for (int i = 0; i < 32; i++) digest[i] = (uint8_t)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}

void lodestore_sha256_of_blocks(const void *bytes, size_t size, size_t count, uint8_t *digests) {
  const unsigned char *p = bytes;
  for (; count > 0; count--, p += size, digests += 32) {
    lodestore_sha256 hash;
    lodestore_sha256_begin(&hash);
    lodestore_sha256_add(&hash, p, size);
    lodestore_sha256_end(&hash, digests);
  }
}
