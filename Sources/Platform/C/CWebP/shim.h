#ifndef MZ_CWEBP_SHIM_H
#define MZ_CWEBP_SHIM_H
#include <webp/encode.h>
#endif
