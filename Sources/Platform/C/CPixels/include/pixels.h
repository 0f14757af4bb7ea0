#ifndef MZ_PIXELS_H
#define MZ_PIXELS_H
// Inner loops of a resize, for 8 bits a channel or for floats, and of a PNG. Weights are 14-bit fixed point; their sum
// is 1 << 14. Every buffer has 64 readable (and, if written, writable) bytes after its end.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Whether this machine has AVX2; detected once, at start.
bool mz_has_avx2(void);

// Combines the bytes of `taps` (even) rows, weighted, into one row.
void mz_mix_rows(bool avx2, const uint8_t *const *rows, const int16_t *weights, int taps, uint8_t *out, size_t bytes);

// Combines the pixels of four rows, weighted, into `count` pixels of each, `step` bytes apart, of `channels` bytes.
// `first[i]` is the first of the `taps` (a multiple of 4) pixels of output i. Four taps have 16 weights: four times the
// first two, four times the others, as AVX2 multiplies them.
void mz_mix_pixels(bool avx2, const uint8_t *const *rows, const int32_t *first, const int16_t *weights, int taps, int count,
    uint8_t *const *out, ptrdiff_t step, int channels);

// The same for floats, for images of more than 8 bits a channel; `count` and `step` are in floats.
void mz_mix_rows_of_floats(const float *const *rows, const int16_t *weights, int taps, float *out, size_t count);
void mz_mix_floats(const float *const *rows, const int32_t *first, const int16_t *weights, int taps, int count,
    float *const *out, ptrdiff_t step, int channels);

// Adds a row's numbers, floats or bytes, to `sums`, which are doubles or 32-bit numbers.
void mz_add_row(bool floats, const void *row, void *sums, size_t count);
// Computes means of blocks of `across` pixels (fewer at the end) and `down` rows, from the rows' sums, and clears the
// sums.
void mz_take_means(bool floats, void *sums, size_t width, size_t channels, size_t across, size_t down, void *out);

// Counts blocks in a pair of rows whose four pixels, `apart` pixels from each other, differ in colour (R - G or B - G)
// by more than `limit`.
size_t mz_chroma_edges(
    const uint8_t *above, const uint8_t *below, size_t blocks, size_t channels, size_t apart, int limit);

// Filters a row of RGB by PNG's filter 4 (Paeth): each byte minus the neighbour that predicts it best.
void mz_png_paeth(const uint8_t *row, const uint8_t *above, uint8_t *out, size_t bytes);

#endif
