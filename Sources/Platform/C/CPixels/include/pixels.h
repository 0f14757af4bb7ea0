#ifndef MZ_PIXELS_H
#define MZ_PIXELS_H
// The inner loops of a resize, of 8 bits a channel or of floats, and of a PNG. Weights are 14-bit fixed point; a sum of them is 1 << 14.
// Every buffer has 64 readable (and, where written, writable) bytes behind it.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Whether this machine has AVX2; asked once, at start.
bool mz_has_avx2(void);

// Bytes of `taps` (even) rows, weighted, as one row.
void mz_mix_rows(bool avx2, const uint8_t *const *rows, const int16_t *weights, int taps, uint8_t *out, size_t bytes);

// Pixels of four rows, weighted, as `count` pixels of each, `step` bytes apart, of `channels` bytes. `first[i]` is the first of the `taps`
// (a multiple of 4) pixels of output i. For four taps there are 16 weights: four times the first two, four times the
// others, as AVX2 multiplies them.
void mz_mix_pixels(bool avx2, const uint8_t *const *rows, const int32_t *first, const int16_t *weights, int taps, int count,
    uint8_t *const *out, ptrdiff_t step, int channels);

// The same of floats, for images of more than 8 bits a channel; `count` and `step` are in floats.
void mz_mix_rows_of_floats(const float *const *rows, const int16_t *weights, int taps, float *out, size_t count);
void mz_mix_floats(const float *const *rows, const int32_t *first, const int16_t *weights, int taps, int count,
    float *const *out, ptrdiff_t step, int channels);

// A row's numbers, floats or bytes, added to `sums`, which are doubles or of 32 bits.
void mz_add_row(bool floats, const void *row, void *sums, size_t count);
// Means of blocks of `across` pixels (at the end fewer) and `down` rows, from the rows' sums, which become 0.
void mz_take_means(bool floats, void *sums, size_t width, size_t channels, size_t across, size_t down, void *out);

// Of every `step`-th pair of rows, how many blocks of 2 × 2 pixels have colours (R - G or B - G) more than `limit` apart.
size_t mz_chroma_edges(const uint8_t *pixels, int width, int height, int channels, int step, int limit);

// A row of RGB as PNG's filter 4 (Paeth) leaves it: each byte less the one of its neighbours that predicts it best.
void mz_png_paeth(const uint8_t *row, const uint8_t *above, uint8_t *out, size_t bytes);

#endif
