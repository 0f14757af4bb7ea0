#ifndef MZ_CYAML_SHIM_H
#define MZ_CYAML_SHIM_H
#include <yaml.h>
#endif
