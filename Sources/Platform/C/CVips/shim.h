#ifndef MZ_CVIPS_SHIM_H
#define MZ_CVIPS_SHIM_H
// libvips's operations take a variable argument list, which Swift cannot call: one function for each use. No logic.
#include <vips/vips.h>
#include <vips/vector.h>
#include <gmodule.h>

// glibc's Dl_info, which its header declares only for _GNU_SOURCE, and a module's header can't define that.
struct mz_place { const char *file; void *base; const char *symbol; void *address; };
extern int mz_place_of(const void *address, struct mz_place *place) __asm__("dladdr");
static inline const char *mz_vips_file(void) {
    struct mz_place place;
    return mz_place_of((const void *)vips_init, &place) ? place.file : NULL;
}

static inline int mz_vips_start(const char *name) { return VIPS_INIT(name); }

#define MZ_VIPS_LOAD VIPS_ACCESS_SEQUENTIAL, "fail_on", VIPS_FAIL_ON_TRUNCATED
static inline int mz_vips_jpegload(const void *data, size_t bytes, int shrink, VipsImage **out) {
    return vips_jpegload_buffer((void *)data, bytes, out, "access", MZ_VIPS_LOAD, "shrink", shrink, NULL);
}
static inline int mz_vips_pngload(const void *data, size_t bytes, VipsImage **out) {
    return vips_pngload_buffer((void *)data, bytes, out, "access", MZ_VIPS_LOAD, NULL);
}
static inline int mz_vips_webpload(const void *data, size_t bytes, int frames, double scale, VipsImage **out) {
    return vips_webpload_buffer((void *)data, bytes, out, "access", MZ_VIPS_LOAD, "n", frames, "scale", scale, NULL);
}
static inline int mz_vips_gifload(const void *data, size_t bytes, int frames, VipsImage **out) {
    return vips_gifload_buffer((void *)data, bytes, out, "access", MZ_VIPS_LOAD, "n", frames, NULL);
}
static inline int mz_vips_heifload(const void *data, size_t bytes, VipsImage **out) {
    return vips_heifload_buffer((void *)data, bytes, out, "access", MZ_VIPS_LOAD, NULL);
}
static inline int mz_vips_tiffload(const void *data, size_t bytes, VipsImage **out) {
    return vips_tiffload_buffer((void *)data, bytes, out, "access", MZ_VIPS_LOAD, NULL);
}
static inline int mz_vips_jxlload(const void *data, size_t bytes, VipsImage **out) {
    return vips_jxlload_buffer((void *)data, bytes, out, "access", MZ_VIPS_LOAD, NULL);
}
static inline int mz_vips_svgload(const void *data, size_t bytes, double scale, VipsImage **out) {
    return vips_svgload_buffer((void *)data, bytes, out, "access", MZ_VIPS_LOAD, "dpi", 96.0, "scale", scale,
        NULL);
}

// libvips's own thumbnail, for comparison.
static inline int mz_vips_thumbnail(const void *data, size_t bytes, int w, int h, int crop, VipsImage **out) {
    return vips_thumbnail_buffer((void *)data, bytes, out, w, "height", h, "size", VIPS_SIZE_DOWN, "crop",
        crop ? VIPS_INTERESTING_CENTRE : VIPS_INTERESTING_NONE, NULL);
}
static inline int mz_vips_thumbnail_image(VipsImage *in, int w, int h, int crop, VipsImage **out) {
    return vips_thumbnail_image(in, out, w, "height", h, "size", VIPS_SIZE_DOWN, "no_rotate", TRUE, "crop",
        crop ? VIPS_INTERESTING_CENTRE : VIPS_INTERESTING_NONE, NULL);
}

static inline int mz_vips_extract(VipsImage *in, int x, int y, int w, int h, VipsImage **out) {
    return vips_extract_area(in, out, x, y, w, h, NULL);
}
static inline int mz_vips_reduce_down(VipsImage *in, double shrink, VipsImage **out) {
    return vips_reducev(in, out, shrink, "kernel", VIPS_KERNEL_LANCZOS3, "gap", 2.0, NULL);
}
// An image in memory with the same bands, format and metadata, of this size, whose pixels are to be written.
static inline int mz_vips_memory_like(VipsImage *in, int w, int h, VipsImage **out) {
    VipsImage *image = vips_image_new_memory();
    if (vips_image_pipelinev(image, VIPS_DEMAND_STYLE_ANY, in, NULL) == 0) {
        image->Xsize = w;
        image->Ysize = h;
        if (vips_image_write_prepare(image) == 0) {
            *out = image;
            return 0;
        }
    }
    g_object_unref(image);
    return -1;
}
static inline int mz_vips_prepare(VipsRegion *region, int x, int y, int w, int h) {
    VipsRect rect = { x, y, w, h };
    return vips_region_prepare(region, &rect);
}
static inline const void *mz_vips_row(VipsRegion *region, int x, int y) { return VIPS_REGION_ADDR(region, x, y); }
static inline int mz_vips_pixel_bytes(VipsImage *in) { return (int)VIPS_IMAGE_SIZEOF_PEL(in); }
static inline int mz_vips_extend(VipsImage *in, int w, int h, VipsImage **out) {
    return vips_embed(in, out, 0, 0, w, h, "extend", VIPS_EXTEND_COPY, NULL);
}
static inline int mz_vips_pad(VipsImage *in, int x, int y, int w, int h, VipsImage **out) {
    return vips_embed(in, out, x, y, w, h, "extend", VIPS_EXTEND_BLACK, NULL);
}
static inline int mz_vips_premultiply(VipsImage *in, VipsImage **out) { return vips_premultiply(in, out, NULL); }
static inline int mz_vips_unpremultiply(VipsImage *in, VipsImage **out) { return vips_unpremultiply(in, out, NULL); }
static inline size_t mz_vips_bytes(VipsImage *in) { return VIPS_IMAGE_SIZEOF_IMAGE(in); }
static inline int mz_vips_msb(VipsImage *in, VipsImage **out) { return vips_msb(in, out, NULL); }
static inline int mz_vips_round(VipsImage *in, VipsImage **out) { return vips_rint(in, out, NULL); }
static inline int mz_vips_cast(VipsImage *in, VipsBandFormat format, VipsImage **out) {
    return vips_cast(in, out, format, NULL);
}
static inline int mz_vips_flatten(VipsImage *in, double *colour, int bands, VipsImage **out) {
    VipsArrayDouble *background = vips_array_double_new(colour, bands);
    int failed = vips_flatten(in, out, "background", background, NULL);
    vips_area_unref((VipsArea *)background);
    return failed;
}
static inline int mz_vips_colourspace(VipsImage *in, VipsInterpretation space, VipsImage **out) {
    return vips_colourspace(in, out, space, NULL);
}
static inline int mz_vips_to_srgb(VipsImage *in, int embedded, const char *profile, VipsIntent intent,
    VipsImage **out) {
    return vips_icc_transform(in, out, "srgb", "embedded", embedded, "input_profile", profile, "intent",
        intent, "black_point_compensation", intent == VIPS_INTENT_RELATIVE, "depth", 8, NULL);
}
static inline int mz_vips_least(VipsImage *in, double *least) { return vips_min(in, least, NULL); }
static inline int mz_vips_band(VipsImage *in, int band, VipsImage **out) { return vips_extract_band(in, out, band, NULL); }
static inline int mz_vips_linear(VipsImage *in, double *scale, double *offset, int bands, VipsImage **out) {
    return vips_linear(in, out, scale, offset, bands, NULL);
}
// Converts CIELAB for the white D50 to XYZ for D65, by Bradford's adaptation. Further bands are treated as in libvips.
static inline int mz_vips_lab_of_d50(VipsImage *in, VipsImage **out) {
    static const double d50[3] = {96.42, 100.0, 82.49};
    static const double bradford[9] = {0.9555766, -0.0230393, 0.0631636, -0.0282895, 1.0099416, 0.0210077,
                                       0.0122982, -0.0204830, 1.3299098};
    VipsImage *lab = NULL, *print = NULL, *screen = NULL;
    VipsArrayDouble *white = vips_array_double_new(d50, 3);
    VipsImage *matrix = vips_image_new_matrix_from_array(3, 3, bradford, 9);
    int failed = vips_colourspace(in, &lab, VIPS_INTERPRETATION_LAB, NULL);
    if (!failed && vips_image_get_bands(lab) != 3)
        failed = vips_Lab2XYZ(lab, out, NULL);
    else if (!failed)
        failed = vips_Lab2XYZ(lab, &print, "temp", white, NULL) || vips_recomb(print, &screen, matrix, NULL) ||
                 vips_copy(screen, out, "interpretation", VIPS_INTERPRETATION_XYZ, NULL);
    VIPS_UNREF(lab);
    VIPS_UNREF(print);
    VIPS_UNREF(screen);
    VIPS_UNREF(matrix);
    vips_area_unref((VipsArea *)white);
    return failed;
}
static inline int mz_vips_turn(VipsImage *in, VipsAngle angle, VipsImage **out) { return vips_rot(in, out, angle, NULL); }
static inline int mz_vips_mirror(VipsImage *in, VipsDirection direction, VipsImage **out) {
    return vips_flip(in, out, direction, NULL);
}
static inline int mz_vips_copy(VipsImage *in, VipsImage **out) { return vips_copy(in, out, NULL); }
static inline int mz_vips_noise(int w, int h, VipsImage **out) {
    return vips_gaussnoise(out, w, h, "mean", 128.0, "sigma", 30.0, NULL);
}
static inline int mz_vips_join3(VipsImage *band, VipsImage **out) {
    VipsImage *bands[3] = { band, band, band };
    return vips_bandjoin(bands, out, 3, NULL);
}
static inline int mz_vips_name_srgb(VipsImage *in, VipsImage **out) {
    return vips_copy(in, out, "interpretation", VIPS_INTERPRETATION_sRGB, NULL);
}

static inline int mz_vips_name_bands(VipsImage *in, VipsImage **out) {
    return vips_copy(in, out, "interpretation", VIPS_INTERPRETATION_MULTIBAND, NULL);
}

static inline int mz_vips_name_inks(VipsImage *in, VipsImage **out) {
    return vips_copy(in, out, "interpretation", VIPS_INTERPRETATION_CMYK, NULL);
}

static inline int mz_vips_jpegsave(VipsImage *in, int quality, int full_chroma, int progressive, int strip, void **out, size_t *bytes) {
    return vips_jpegsave_buffer(in, out, bytes, "Q", quality, "optimize_coding", TRUE, "interlace", progressive, "strip", strip, "subsample_mode",
        full_chroma ? VIPS_FOREIGN_SUBSAMPLE_OFF : VIPS_FOREIGN_SUBSAMPLE_ON, NULL);
}
static inline int mz_vips_webpsave(VipsImage *in, int quality, int effort, int sharp, int strip, void **out, size_t *bytes) {
    return vips_webpsave_buffer(in, out, bytes, "Q", quality, "effort", effort, "smart_subsample", sharp, "strip", strip,
        NULL);
}
static inline int mz_vips_pngsave(VipsImage *in, int compression, int strip, void **out, size_t *bytes) {
    return vips_pngsave_buffer(in, out, bytes, "compression", compression, "strip", strip, NULL);
}
static inline int mz_vips_avifsave(VipsImage *in, int quality, int effort, int full_chroma, int strip, void **out,
    size_t *bytes) {
    return vips_heifsave_buffer(in, out, bytes, "Q", quality, "effort", effort, "compression",
        VIPS_FOREIGN_HEIF_COMPRESSION_AV1, "bitdepth", 8, "strip", strip, "subsample_mode",
        full_chroma ? VIPS_FOREIGN_SUBSAMPLE_OFF : VIPS_FOREIGN_SUBSAMPLE_ON, NULL);
}
static inline int mz_vips_gifsave(VipsImage *in, int effort, void **out, size_t *bytes) {
    return vips_gifsave_buffer(in, out, bytes, "effort", effort, "strip", TRUE, NULL);
}

// Animations: frames are stacked vertically.
static inline int mz_vips_stack(VipsImage **in, int count, VipsImage **out) {
    return vips_arrayjoin(in, out, count, "across", 1, NULL);
}
static inline void mz_vips_set_frames(VipsImage *image, int height, const int *delays, int count, int loops) {
    vips_image_set_int(image, VIPS_META_PAGE_HEIGHT, height);
    vips_image_set_int(image, VIPS_META_N_PAGES, count);
    vips_image_set_array_int(image, "delay", delays, count);
    vips_image_set_int(image, "loop", loops);
}

// Effects beyond size and quality.
static inline int mz_vips_blur(VipsImage *in, double sigma, VipsImage **out) { return vips_gaussblur(in, out, sigma, NULL); }
static inline int mz_vips_sharpen(VipsImage *in, double slope, VipsImage **out) {
    return vips_sharpen(in, out, "sigma", 0.6, "m1", 0.0, "m2", slope, NULL);
}
static inline int mz_vips_find_trim(VipsImage *in, double threshold, double *background, int bands, int *x, int *y,
    int *width, int *height) {
    VipsArrayDouble *colour = vips_array_double_new(background, bands);
    int failed = vips_find_trim(in, x, y, width, height, "threshold", threshold, "background", colour, NULL);
    vips_area_unref((VipsArea *)colour);
    return failed;
}
static inline int mz_vips_attention(VipsImage *in, int width, int height, int *x, int *y) {
    VipsImage *crop = NULL;
    int failed = vips_smartcrop(in, &crop, width, height, "interesting", VIPS_INTERESTING_ATTENTION, "attention_x", x,
        "attention_y", y, NULL);
    if (crop) g_object_unref(crop);
    return failed;
}
static inline int mz_vips_overlay(VipsImage *base, VipsImage *top, int x, int y, VipsImage **out) {
    return vips_composite2(base, top, out, VIPS_BLEND_MODE_OVER, "x", x, "y", y, NULL);
}
static inline int mz_vips_scale_last(VipsImage *in, double factor, VipsImage **out) {
    double scale[4] = { 1.0, 1.0, 1.0, factor };
    double offset[4] = { 0.0, 0.0, 0.0, 0.0 };
    return vips_linear(in, out, scale, offset, 4, "uchar", TRUE, NULL);
}
static inline int mz_vips_first_bands(VipsImage *in, int count, VipsImage **out) {
    return vips_extract_band(in, out, 0, "n", count, NULL);
}
// Keeps the second of three equal bands, and the bands after the third.
static inline int mz_vips_grey(VipsImage *in, int alpha, VipsImage **out) {
    VipsImage *bands[3] = { NULL, NULL, NULL };
    int failed = vips_extract_band(in, &bands[0], 1, NULL);
    if (!failed && alpha) failed = vips_extract_band(in, &bands[1], 3, NULL);
    if (!failed) failed = vips_bandjoin(bands, &bands[2], alpha ? 2 : 1, NULL);
    if (!failed) failed = vips_copy(bands[2], out, "interpretation", VIPS_INTERPRETATION_B_W, NULL);
    for (int i = 0; i < 3; i++) if (bands[i]) g_object_unref(bands[i]);
    return failed;
}
static inline int mz_vips_add_alpha(VipsImage *in, VipsImage **out) { return vips_addalpha(in, out, NULL); }
static inline int mz_vips_subsample(VipsImage *in, int across, int down, VipsImage **out) {
    return vips_subsample(in, out, across, down, NULL);
}
static inline int mz_vips_shrink_to(VipsImage *in, int width, int height, VipsImage **out) {
    return vips_thumbnail_image(in, out, width, "height", height, "size", VIPS_SIZE_FORCE, "no_rotate", TRUE, NULL);
}
#endif
