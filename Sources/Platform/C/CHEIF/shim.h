#ifndef MZ_CHEIF_SHIM_H
#define MZ_CHEIF_SHIM_H
#include <libheif/heif.h>

// Some libheif refuse a writer's answer without a text, also if all is well.
static inline struct heif_error mz_heif_ok(void) {
    struct heif_error ok = {heif_error_Ok, heif_suberror_Unspecified, "Success"};
    return ok;
}
#endif
