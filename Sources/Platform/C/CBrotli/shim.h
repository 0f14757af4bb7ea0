#ifndef MZ_CBROTLI_SHIM_H
#define MZ_CBROTLI_SHIM_H
#include <brotli/decode.h>
#endif
