#ifndef MZ_CLCMS_SHIM_H
#define MZ_CLCMS_SHIM_H
#include <lcms2.h>

// The pixel format is a macro of shifts.
static inline cmsUInt32Number mz_lcms_rgb8(void) { return TYPE_RGB_8; }
#endif
