#ifndef MZ_CVIPS_SHIM_H
#define MZ_CVIPS_SHIM_H
#include <vips/vips.h>
#endif
