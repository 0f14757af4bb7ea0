#ifndef MZ_CJPEG_SHIM_H
#define MZ_CJPEG_SHIM_H
// libjpeg leaves by longjmp, which must not pass through Swift: each call that may do so is wrapped here. No logic.
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jpeglib.h>
#include <jerror.h>

struct mz_jpeg_errors {
    struct jpeg_error_mgr base;
    jmp_buf escape;
    char reason[JMSG_LENGTH_MAX];
};
static inline void mz_jpeg_exit(j_common_ptr info) {
    struct mz_jpeg_errors *errors = (struct mz_jpeg_errors *)info->err;
    errors->base.format_message(info, errors->reason);
    longjmp(errors->escape, 1);
}
// Whether the data end at a marker above the last row of blocks, so that libjpeg has no data for the rest. After a
// restart marker, or one that does not exist, a following interval continues; without intervals no data follow.
static inline int mz_jpeg_lacks_rows(j_common_ptr info) {
    int code = info->err->msg_code;
    if (!info->is_decompressor || (code != JWRN_HIT_MARKER && code != JWRN_MUST_RESYNC)) return 0;
    j_decompress_ptr reader = (j_decompress_ptr)info;
    int marker = reader->unread_marker, is_passed = marker < 0xc0 || (marker >= 0xd0 && marker <= 0xd7);
    return !(reader->restart_interval && is_passed) && reader->input_iMCU_row + 1 < reader->total_iMCU_rows;
}
// libjpeg only warns of a truncated file and then fills the rest with grey. Here it is an error, with or without an end
// marker. So is the hundredth warning, as in libvips: noise that costs time and shows nothing.
static inline void mz_jpeg_message(j_common_ptr info, int level) {
    if (level >= 0) return;
    if (info->err->msg_code == JWRN_JPEG_EOF) info->err->msg_code = JERR_INPUT_EOF;
    else if (!mz_jpeg_lacks_rows(info) && ++info->err->num_warnings < 100) return;
    mz_jpeg_exit(info);
}
static inline struct jpeg_error_mgr *mz_jpeg_watch(struct mz_jpeg_errors *errors) {
    jpeg_std_error(&errors->base);
    errors->base.error_exit = mz_jpeg_exit;
    errors->base.emit_message = mz_jpeg_message;
    return &errors->base;
}

struct mz_jpeg_reader {
    struct jpeg_decompress_struct info;
    struct mz_jpeg_errors errors;
    JOCTET *profile;
    unsigned int profile_bytes;
};
static inline struct mz_jpeg_reader *mz_jpeg_reader_new(void) {
    struct mz_jpeg_reader *reader = (struct mz_jpeg_reader *)calloc(1, sizeof *reader);
    if (!reader) return NULL;
    reader->info.err = mz_jpeg_watch(&reader->errors);
    if (setjmp(reader->errors.escape)) { free(reader); return NULL; }
    jpeg_create_decompress(&reader->info);
    return reader;
}
static inline int mz_jpeg_open(struct mz_jpeg_reader *reader, const void *bytes, size_t count) {
    if (setjmp(reader->errors.escape)) return -1;
    jpeg_mem_src(&reader->info, (const unsigned char *)bytes, count);
    jpeg_save_markers(&reader->info, JPEG_APP0 + 2, 0xffff);
    jpeg_read_header(&reader->info, TRUE);
    jpeg_read_icc_profile(&reader->info, &reader->profile, &reader->profile_bytes);
    return 0;
}
static inline int mz_jpeg_start(struct mz_jpeg_reader *reader, int shrink, int is_converted) {
    if (setjmp(reader->errors.escape)) return -1;
    reader->info.scale_num = 1;
    reader->info.scale_denom = (unsigned int)shrink;
    reader->info.out_color_space = is_converted ? JCS_EXT_RGB : reader->info.jpeg_color_space;
    jpeg_start_decompress(&reader->info);
    return 0;
}
static inline int mz_jpeg_read(struct mz_jpeg_reader *reader, JSAMPARRAY rows, int count) {
    if (setjmp(reader->errors.escape)) return -1;
    return (int)jpeg_read_scanlines(&reader->info, rows, (JDIMENSION)count);
}
static inline void mz_jpeg_reader_free(struct mz_jpeg_reader *reader) {
    jpeg_destroy_decompress(&reader->info);
    free(reader->profile);
    free(reader);
}
static inline const char *mz_jpeg_reason(const struct mz_jpeg_reader *reader) { return reader->errors.reason; }
static inline int mz_jpeg_version(void) { return LIBJPEG_TURBO_VERSION_NUMBER; }
static inline int mz_jpeg_is_three(const struct mz_jpeg_reader *reader) {
    return reader->info.num_components == 3
        && (reader->info.jpeg_color_space == JCS_YCbCr || reader->info.jpeg_color_space == JCS_RGB);
}

// Encodes the whole picture at once; the caller must free `out`.
static inline int mz_jpeg_write(const uint8_t *pixels, int width, int height, int quality, int full_chroma,
    int progressive, unsigned char **out, unsigned long *bytes, char reason[JMSG_LENGTH_MAX]) {
    struct jpeg_compress_struct info;
    struct mz_jpeg_errors errors;
    info.err = mz_jpeg_watch(&errors);
    if (setjmp(errors.escape)) {
        memcpy(reason, errors.reason, JMSG_LENGTH_MAX);
        jpeg_destroy_compress(&info);
        *out = NULL; // libjpeg has freed that block if it needed a larger one.
        return -1;
    }
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, out, bytes);
    info.image_width = (JDIMENSION)width;
    info.image_height = (JDIMENSION)height;
    info.input_components = 3;
    info.in_color_space = JCS_EXT_RGB;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, quality, TRUE);
    if (full_chroma) info.comp_info[0].h_samp_factor = info.comp_info[0].v_samp_factor = 1;
    info.optimize_coding = TRUE;
    if (progressive) jpeg_simple_progression(&info);
    jpeg_start_compress(&info, TRUE);
    while (info.next_scanline < info.image_height) {
        JSAMPROW row = (JSAMPROW)(pixels + (size_t)info.next_scanline * (size_t)width * 3);
        jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    return 0;
}
#endif
