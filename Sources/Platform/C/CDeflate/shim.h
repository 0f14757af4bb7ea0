#ifndef MZ_CDEFLATE_SHIM_H
#define MZ_CDEFLATE_SHIM_H
#include <libdeflate.h>
#endif
