#ifndef MZ_CSECCOMP_SHIM_H
#define MZ_CSECCOMP_SHIM_H
// Macros of libseccomp as functions. No logic.
#include <errno.h>
#include <seccomp.h>

static inline uint32_t mz_seccomp_kill(void) { return SCMP_ACT_KILL_PROCESS; }
static inline uint32_t mz_seccomp_allow(void) { return SCMP_ACT_ALLOW; }
static inline uint32_t mz_seccomp_errno(int code) { return SCMP_ACT_ERRNO((uint32_t)code); }
static inline int mz_seccomp_unknown(void) { return __NR_SCMP_ERROR; }
#endif
