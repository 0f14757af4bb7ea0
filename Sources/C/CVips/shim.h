#ifndef MZ_CVIPS_SHIM_H
#define MZ_CVIPS_SHIM_H
// libvips's operations take a variable argument list, which Swift cannot call: one function for each use. No logic.
#include <vips/vips.h>

static inline int mz_vips_start(const char *name) { return VIPS_INIT(name); }

#define MZ_VIPS_LOAD VIPS_ACCESS_SEQUENTIAL, "fail_on", VIPS_FAIL_ON_TRUNCATED
static inline int mz_vips_jpegload(const void *data, size_t bytes, int shrink, VipsImage **out) {
    return vips_jpegload_buffer((void *)data, bytes, out, "access", MZ_VIPS_LOAD, "shrink", shrink, NULL);
}
static inline int mz_vips_pngload(const void *data, size_t bytes, VipsImage **out) {
    return vips_pngload_buffer((void *)data, bytes, out, "access", MZ_VIPS_LOAD, NULL);
}
static inline int mz_vips_webpload(const void *data, size_t bytes, VipsImage **out) {
    return vips_webpload_buffer((void *)data, bytes, out, "access", MZ_VIPS_LOAD, NULL);
}

// libvips's own way, for comparison.
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
static inline int mz_vips_reduce_across(VipsImage *in, double shrink, VipsImage **out) {
    return vips_reduceh(in, out, shrink, "kernel", VIPS_KERNEL_LANCZOS3, "gap", 2.0, NULL);
}
// Pixel centres stay centres: half a pixel in, half a pixel out.
static inline int mz_vips_enlarge(VipsImage *in, double across, double down, double dx, double dy, int w, int h,
    VipsImage **out) {
    VipsInterpolate *bicubic = vips_interpolate_new("bicubic");
    int area[4] = { 0, 0, w, h };
    VipsArrayInt *oarea = vips_array_int_new(area, 4);
    int failed = vips_affine(in, out, across, 0.0, 0.0, down, "interpolate", bicubic, "oarea", oarea, "idx", 0.5 + dx,
        "idy", 0.5 + dy, "odx", -0.5, "ody", -0.5, "extend", VIPS_EXTEND_COPY, "premultiplied", TRUE, NULL);
    vips_area_unref((VipsArea *)oarea);
    g_object_unref(bicubic);
    return failed;
}
static inline int mz_vips_extend(VipsImage *in, int w, int h, VipsImage **out) {
    return vips_embed(in, out, 0, 0, w, h, "extend", VIPS_EXTEND_COPY, NULL);
}
static inline int mz_vips_premultiply(VipsImage *in, VipsImage **out) { return vips_premultiply(in, out, NULL); }
static inline int mz_vips_unpremultiply(VipsImage *in, VipsImage **out) { return vips_unpremultiply(in, out, NULL); }
static inline int mz_vips_round(VipsImage *in, VipsImage **out) { return vips_rint(in, out, NULL); }
static inline int mz_vips_cast(VipsImage *in, VipsBandFormat format, VipsImage **out) {
    return vips_cast(in, out, format, NULL);
}
static inline int mz_vips_flatten(VipsImage *in, double level, VipsImage **out) {
    VipsArrayDouble *background = vips_array_double_new(&level, 1);
    int failed = vips_flatten(in, out, "background", background, NULL);
    vips_area_unref((VipsArea *)background);
    return failed;
}
static inline int mz_vips_colourspace(VipsImage *in, VipsInterpretation space, VipsImage **out) {
    return vips_colourspace(in, out, space, NULL);
}
static inline int mz_vips_to_srgb(VipsImage *in, int embedded, const char *profile, VipsImage **out) {
    return vips_icc_transform(in, out, "srgb", "embedded", embedded, "input_profile", profile, "depth", 8, NULL);
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

static inline int mz_vips_jpegsave(VipsImage *in, int quality, int full_chroma, void **out, size_t *bytes) {
    return vips_jpegsave_buffer(in, out, bytes, "Q", quality, "optimize_coding", TRUE, "strip", TRUE, "subsample_mode",
        full_chroma ? VIPS_FOREIGN_SUBSAMPLE_OFF : VIPS_FOREIGN_SUBSAMPLE_ON, NULL);
}
static inline int mz_vips_webpsave(VipsImage *in, int quality, int effort, void **out, size_t *bytes) {
    return vips_webpsave_buffer(in, out, bytes, "Q", quality, "effort", effort, "strip", TRUE, NULL);
}
static inline int mz_vips_pngsave(VipsImage *in, int compression, void **out, size_t *bytes) {
    return vips_pngsave_buffer(in, out, bytes, "compression", compression, "strip", TRUE, NULL);
}
#endif
