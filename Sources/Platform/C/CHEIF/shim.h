#ifndef MZ_CHEIF_SHIM_H
#define MZ_CHEIF_SHIM_H
#include <libheif/heif.h>

// Some versions of libheif refuse a writer's result without a text, even if all is well.
static inline struct heif_error mz_heif_ok(void) {
    struct heif_error ok = {heif_error_Ok, heif_suberror_Unspecified, "Success"};
    return ok;
}
#endif
