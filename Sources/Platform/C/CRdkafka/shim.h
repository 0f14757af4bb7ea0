#ifndef MZ_CRDKAFKA_SHIM_H
#define MZ_CRDKAFKA_SHIM_H
#include <librdkafka/rdkafka.h>
#endif
