#ifndef MZ_ALLOCATIONS_H
#define MZ_ALLOCATIONS_H
#include <stddef.h>

// Bytes of the first allocation that this process was refused since the last call; 0: it got all that it asked for.
size_t mz_take_refused_bytes(void);

// From now on this process exits with `status` where it would crash after such a refusal: of what asks for memory without
// looking whether it came (Swift, GLib, C++). All other crashes stay what they are, told by their own signal.
void mz_exit_when_refused(int status);

// Whether threads of libvips that have nothing to do end at once, and not after 15 s.
void mz_hurry_idle_threads(int hurry);

#endif
