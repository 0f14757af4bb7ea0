#ifndef MZ_ALLOCATIONS_H
#define MZ_ALLOCATIONS_H
#include <stddef.h>

// Bytes of the first allocation that this process was refused since the last call; 0: it got all that it asked for.
size_t mz_take_refused_bytes(void);

// Whether this process was refused a thread since the last call, though there was memory for it.
int mz_take_refused_thread(void);

// From now on this process exits with `status`, or `thread_status`, where it would crash after such a refusal: of what asks for memory without
// looking whether it came (Swift, GLib, C++). All other crashes stay what they are, told by their own signal.
void mz_exit_when_refused(int status, int thread_status);

// Lets the threads of libvips end that have nothing to do, which they else do after 15 s. To be called until there are none,
// and only while libvips is asked for nothing; then the other.
void mz_end_idle_threads(void);
void mz_keep_idle_threads(void);

// Readies the heap for children that this process will fork: what they allocate comes from its untouched end, `bytes` long, where
// the kernel may give huge pages. Otherwise they fill the holes that their parent left, at a fault and a copy for each page: 500
// for a photograph.
void mz_ready_heap(size_t bytes);

#endif
