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

static inline void mix_pixels_of(const uint8_t *const *rows, const int32_t *first, const int16_t *weights, int taps, int count,
    uint8_t *const *out, ptrdiff_t step, const int channels) {
    for (int row = 0; row < 4; row++)
        for (int i = 0; i < count; i++) {
            const uint8_t *in = rows[row] + (ptrdiff_t)first[i] * channels;
            const int16_t *own = weights + (ptrdiff_t)i * taps * 4;
            int32_t sums[4] = { 0 };
            for (int k = 0; k < taps; k++) {
                int32_t weight = own[k / 4 * 16 + k % 4 / 2 * 8 + k % 2];
                for (int c = 0; c < channels; c++) sums[c] += in[k * channels + c] * weight;
            }
            for (int c = 0; c < channels; c++) out[row][i * step + c] = rounded(sums[c]);
        }
}

static void mix_pixels_of_any(const uint8_t *const *rows, const int32_t *first, const int16_t *weights, int taps, int count,
    uint8_t *const *out, ptrdiff_t step, int channels) {
    for (int row = 0; row < 4; row++)
        for (int i = 0; i < count; i++)
            for (int c = 0; c < channels; c++) {
                const uint8_t *in = rows[row] + (ptrdiff_t)first[i] * channels + c;
                const int16_t *own = weights + (ptrdiff_t)i * taps * 4;
                int32_t sum = 0;
                for (int k = 0; k < taps; k++) sum += in[k * channels] * own[k / 4 * 16 + k % 4 / 2 * 8 + k % 2];
                out[row][i * step + c] = rounded(sum);
            }
}

static void mix_pixels_portable(const uint8_t *const *rows, const int32_t *first, const int16_t *weights, int taps,
    int count, uint8_t *const *out, ptrdiff_t step, int channels) {
    switch (channels) {
    case 1: mix_pixels_of(rows, first, weights, taps, count, out, step, 1); break;
    case 2: mix_pixels_of(rows, first, weights, taps, count, out, step, 2); break;
    case 3: mix_pixels_of(rows, first, weights, taps, count, out, step, 3); break;
    case 4: mix_pixels_of(rows, first, weights, taps, count, out, step, 4); break;
    default: mix_pixels_of_any(rows, first, weights, taps, count, out, step, channels);
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

AVX2 static inline void store(uint8_t *out, uint32_t pixel, const int channels) {
    if (channels == 4) {
        memcpy(out, &pixel, 4);
    } else {
        memcpy(out, &pixel, 2);
        out[2] = (uint8_t)(pixel >> 16);
    }
}

AVX2 static inline void mix_pixels_vectors(const uint8_t *const *rows, const int32_t *first, const int16_t *weights, int taps,
    int count, uint8_t *const *out, ptrdiff_t step, const int channels, const __m256i spread) {
    const __m256i half = _mm256_set1_epi32(8192);
    for (int i = 0; i < count; i++) {
        __m256i s0 = _mm256_setzero_si256(), s1 = s0, s2 = s0, s3 = s0;
        ptrdiff_t at = (ptrdiff_t)first[i] * channels;
        for (int k = 0; k < taps; k += 4, at += 4 * channels, weights += 16) {
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
        store(out[0] + i * step, (uint32_t)even, channels);
        store(out[1] + i * step, (uint32_t)odd, channels);
        store(out[2] + i * step, (uint32_t)(even >> 32), channels);
        store(out[3] + i * step, (uint32_t)(odd >> 32), channels);
    }
}

// First channels of two pixels side by side, then their second channels, and so on: in the lower half for the first two
// pixels, in the upper half for the others.
AVX2 static void mix_pixels_avx2(const uint8_t *const *rows, const int32_t *first, const int16_t *weights, int taps,
    int count, uint8_t *const *out, ptrdiff_t step, int channels) {
    if (channels == 3)
        mix_pixels_vectors(rows, first, weights, taps, count, out, step, 3,
            _mm256_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1,
                6, -1, 9, -1, 7, -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1));
    else if (channels == 4)
        mix_pixels_vectors(rows, first, weights, taps, count, out, step, 4,
            _mm256_setr_epi8(0, -1, 4, -1, 1, -1, 5, -1, 2, -1, 6, -1, 3, -1, 7, -1,
                8, -1, 12, -1, 9, -1, 13, -1, 10, -1, 14, -1, 11, -1, 15, -1));
    else
        mix_pixels_portable(rows, first, weights, taps, count, out, step, channels);
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
    uint8_t *const *out, ptrdiff_t step, int channels) {
    (avx2 ? mix_pixels_avx2 : mix_pixels_portable)(rows, first, weights, taps, count, out, step, channels);
}

void mz_mix_rows_of_floats(const float *const *rows, const int16_t *weights, int taps, float *out, size_t count) {
    for (size_t x = 0; x < count; x += 16) {
        float sums[16] = { 0 };
        for (int k = 0; k < taps; k++)
            for (int i = 0; i < 16; i++) sums[i] += rows[k][x + i] * (float)weights[k];
        for (int i = 0; i < 16; i++) out[x + i] = sums[i] / 16384;
    }
}

void mz_mix_floats(const float *const *rows, const int32_t *first, const int16_t *weights, int taps, int count,
    float *const *out, ptrdiff_t step, int channels) {
    for (int row = 0; row < 4; row++)
        for (int i = 0; i < count; i++)
            for (int c = 0; c < channels; c++) {
                const float *in = rows[row] + (ptrdiff_t)first[i] * channels + c;
                const int16_t *own = weights + (ptrdiff_t)i * taps * 4;
                float sum = 0;
                for (int k = 0; k < taps; k++) sum += in[k * channels] * (float)own[k / 4 * 16 + k % 4 / 2 * 8 + k % 2];
                out[row][i * step + c] = sum / 16384;
            }
}

void mz_add_row(bool floats, const void *row, void *sums, size_t count) {
    if (floats) {
        const float *restrict in = row;
        double *restrict out = sums;
        for (size_t i = 0; i < count; i++) out[i] += (double)in[i];
    } else {
        const uint8_t *restrict in = row;
        uint32_t *restrict out = sums;
        for (size_t i = 0; i < count; i++) out[i] += in[i];
    }
}

void mz_take_means(bool floats, void *sums, size_t width, size_t channels, size_t across, size_t down, void *out) {
    const size_t row = width * channels, block = across * channels;
    size_t at = 0;
    for (size_t start = 0; start < row; start += block) {
        const size_t end = row - start < block ? row : start + block;
        const uint64_t pixels = (end - start) / channels * down;
        for (size_t c = 0; c < channels; c++, at++) {
            if (floats) {
                double sum = 0;
                for (size_t i = start + c; i < end; i += channels) sum += ((const double *)sums)[i];
                ((float *)out)[at] = (float)(sum / (double)pixels);
            } else {
                uint64_t sum = pixels / 2;
                for (size_t i = start + c; i < end; i += channels) sum += ((const uint32_t *)sums)[i];
                ((uint8_t *)out)[at] = (uint8_t)(sum / pixels);
            }
        }
    }
    memset(sums, 0, row * (floats ? sizeof(double) : sizeof(uint32_t)));
}

static inline int spread_of(int a, int b, int c, int d) {
    int low = a < b ? a : b, high = a < b ? b : a;
    int low2 = c < d ? c : d, high2 = c < d ? d : c;
    return (high > high2 ? high : high2) - (low < low2 ? low : low2);
}

size_t mz_chroma_edges(
    const uint8_t *above, const uint8_t *below, size_t blocks, size_t channels, size_t apart, int limit
) {
    size_t found = 0;
    for (size_t i = 0; i < blocks; i++, above += 2 * apart * channels, below += 2 * apart * channels) {
        const uint8_t *a = above, *b = above + apart * channels, *c = below, *d = below + apart * channels;
        int reds = spread_of(a[0] - a[1], b[0] - b[1], c[0] - c[1], d[0] - d[1]);
        int blues = spread_of(a[2] - a[1], b[2] - b[1], c[2] - c[1], d[2] - d[1]);
        found += (reds > limit) | (blues > limit);
    }
    return found;
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
