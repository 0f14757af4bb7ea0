#ifndef MZ_CHEIF_SHIM_H
#define MZ_CHEIF_SHIM_H
#include <libheif/heif.h>
#endif
