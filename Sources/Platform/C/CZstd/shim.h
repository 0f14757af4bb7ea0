#ifndef MZ_CZSTD_SHIM_H
#define MZ_CZSTD_SHIM_H
#include <zstd.h>
#endif
