#ifndef MZ_CCRYPTO_SHIM_H
#define MZ_CCRYPTO_SHIM_H
#include <openssl/evp.h>
#include <openssl/sha.h>
#endif
