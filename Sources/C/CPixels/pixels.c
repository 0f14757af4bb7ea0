#include "pixels.h"
#include <string.h>

static inline uint8_t rounded(int32_t sum) {
    int32_t value = (sum + 8192) >> 14;
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static void mix_rows_portable(const uint8_t *const *rows, const int16_t *weights, int taps, uint8_t *out, size_t bytes) {
    for (size_t x = 0; x < bytes; x += 64) {
        int32_t sums[64] = { 0 };
        for (int k = 0; k < taps; k++)
            for (int i = 0; i < 64; i++) sums[i] += rows[k][x + i] * weights[k];
        for (int i = 0; i < 64; i++) out[x + i] = rounded(sums[i]);
    }
}

static void mix_pixels_portable(const uint8_t *const *rows, const int32_t *first, const int16_t *weights, int taps,
    int count, uint8_t *const *out, ptrdiff_t step) {
    for (int row = 0; row < 4; row++)
        for (int i = 0; i < count; i++) {
            const uint8_t *in = rows[row] + (ptrdiff_t)first[i] * 3;
            const int16_t *own = weights + (ptrdiff_t)i * taps * 4;
            int32_t sums[3] = { 0 };
            for (int k = 0; k < taps; k++) {
                int32_t weight = own[k / 4 * 16 + k % 4 / 2 * 8 + k % 2];
                for (int c = 0; c < 3; c++) sums[c] += in[k * 3 + c] * weight;
            }
            for (int c = 0; c < 3; c++) out[row][i * step + c] = rounded(sums[c]);
        }
}

#if defined(__x86_64__)
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2")))

AVX2 static void mix_rows_avx2(const uint8_t *const *rows, const int16_t *weights, int taps, uint8_t *out, size_t bytes) {
    const __m256i zero = _mm256_setzero_si256();
    for (size_t x = 0; x < bytes; x += 64) {
        __m256i sums[8];
        for (int i = 0; i < 8; i++) sums[i] = _mm256_set1_epi32(8192);
        for (int k = 0; k < taps; k += 2) {
            int32_t pair;
            memcpy(&pair, weights + k, 4);
            const __m256i both = _mm256_set1_epi32(pair);
            for (int half = 0; half < 2; half++) {
                __m256i a = _mm256_loadu_si256((const __m256i *)(rows[k] + x + half * 32));
                __m256i b = _mm256_loadu_si256((const __m256i *)(rows[k + 1] + x + half * 32));
                __m256i low = _mm256_unpacklo_epi8(a, b), high = _mm256_unpackhi_epi8(a, b);
                __m256i *s = sums + half * 4;
                s[0] = _mm256_add_epi32(s[0], _mm256_madd_epi16(_mm256_unpacklo_epi8(low, zero), both));
                s[1] = _mm256_add_epi32(s[1], _mm256_madd_epi16(_mm256_unpackhi_epi8(low, zero), both));
                s[2] = _mm256_add_epi32(s[2], _mm256_madd_epi16(_mm256_unpacklo_epi8(high, zero), both));
                s[3] = _mm256_add_epi32(s[3], _mm256_madd_epi16(_mm256_unpackhi_epi8(high, zero), both));
            }
        }
        for (int half = 0; half < 2; half++) {
            __m256i *s = sums + half * 4;
            for (int i = 0; i < 4; i++) s[i] = _mm256_srai_epi32(s[i], 14);
            __m256i bytes32 = _mm256_packus_epi16(_mm256_packs_epi32(s[0], s[1]), _mm256_packs_epi32(s[2], s[3]));
            _mm256_storeu_si256((__m256i *)(out + x + half * 32), bytes32);
        }
    }
}

static inline void store(uint8_t *out, uint32_t pixel) {
    memcpy(out, &pixel, 2);
    out[2] = (uint8_t)(pixel >> 16);
}

AVX2 static void mix_pixels_avx2(const uint8_t *const *rows, const int32_t *first, const int16_t *weights, int taps,
    int count, uint8_t *const *out, ptrdiff_t step) {
    // Two pixels' reds side by side, then greens, then blues: in the lower half of the first two, then of the others.
    const __m256i spread = _mm256_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1,
        6, -1, 9, -1, 7, -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1);
    const __m256i half = _mm256_set1_epi32(8192);
    for (int i = 0; i < count; i++) {
        __m256i s0 = _mm256_setzero_si256(), s1 = s0, s2 = s0, s3 = s0;
        ptrdiff_t at = (ptrdiff_t)first[i] * 3;
        for (int k = 0; k < taps; k += 4, at += 12, weights += 16) {
            const __m256i w = _mm256_loadu_si256((const __m256i *)weights);
#define MIX(row) _mm256_madd_epi16(_mm256_shuffle_epi8( \
    _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(rows[row] + at))), spread), w)
            s0 = _mm256_add_epi32(s0, MIX(0));
            s1 = _mm256_add_epi32(s1, MIX(1));
            s2 = _mm256_add_epi32(s2, MIX(2));
            s3 = _mm256_add_epi32(s3, MIX(3));
#undef MIX
        }
        __m256i s01 = _mm256_add_epi32(_mm256_permute2x128_si256(s0, s1, 0x20), _mm256_permute2x128_si256(s0, s1, 0x31));
        __m256i s23 = _mm256_add_epi32(_mm256_permute2x128_si256(s2, s3, 0x20), _mm256_permute2x128_si256(s2, s3, 0x31));
        s01 = _mm256_srai_epi32(_mm256_add_epi32(s01, half), 14);
        s23 = _mm256_srai_epi32(_mm256_add_epi32(s23, half), 14);
        __m256i packed = _mm256_packs_epi32(s01, s23);
        packed = _mm256_packus_epi16(packed, packed);
        uint64_t even = (uint64_t)_mm_cvtsi128_si64(_mm256_castsi256_si128(packed));
        uint64_t odd = (uint64_t)_mm_cvtsi128_si64(_mm256_extracti128_si256(packed, 1));
        store(out[0] + i * step, (uint32_t)even);
        store(out[1] + i * step, (uint32_t)odd);
        store(out[2] + i * step, (uint32_t)(even >> 32));
        store(out[3] + i * step, (uint32_t)(odd >> 32));
    }
}

bool mz_has_avx2(void) { return __builtin_cpu_supports("avx2"); }
#else
#define mix_rows_avx2 mix_rows_portable
#define mix_pixels_avx2 mix_pixels_portable
bool mz_has_avx2(void) { return false; }
#endif

void mz_mix_rows(bool avx2, const uint8_t *const *rows, const int16_t *weights, int taps, uint8_t *out, size_t bytes) {
    (avx2 ? mix_rows_avx2 : mix_rows_portable)(rows, weights, taps, out, bytes);
}

void mz_mix_pixels(bool avx2, const uint8_t *const *rows, const int32_t *first, const int16_t *weights, int taps, int count,
    uint8_t *const *out, ptrdiff_t step) {
    (avx2 ? mix_pixels_avx2 : mix_pixels_portable)(rows, first, weights, taps, count, out, step);
}

void mz_png_paeth(const uint8_t *restrict row, const uint8_t *restrict above, uint8_t *restrict out, size_t bytes) {
    for (size_t i = 0; i < 3 && i < bytes; i++) out[i] = (uint8_t)(row[i] - above[i]);
    for (size_t i = 3; i < bytes; i++) {
        int16_t a = row[i - 3], b = above[i], c = above[i - 3];
        int16_t pa = (int16_t)(b > c ? b - c : c - b), pb = (int16_t)(a > c ? a - c : c - a);
        int16_t both = (int16_t)(a + b - 2 * c), pc = (int16_t)(both < 0 ? -both : both);
        int16_t guess = pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
        out[i] = (uint8_t)(row[i] - guess);
    }
}
