#ifndef MZ_CIDN2_SHIM_H
#define MZ_CIDN2_SHIM_H
#include <idn2.h>
#endif
