#ifndef MZ_ALLOCATIONS_H
#define MZ_ALLOCATIONS_H
#include <stddef.h>

// Bytes of the first allocation that this process was refused since the last call; 0: none was refused.
size_t mz_take_refused_bytes(void);

// Whether this process was refused a thread since the last call, although there was memory for it.
int mz_take_refused_thread(void);

// From now on, this process exits with `status`, or `thread_status`, if it would crash after such a refusal, as code
// does that uses memory without checking the allocation (Swift, GLib, C++). All other crashes still end by their own
// signal.
void mz_exit_when_refused(int status, int thread_status);

// Ends libvips's idle threads, which otherwise end after 15 s. Call the first until there are none, and only while
// libvips has no work; then call the other.
void mz_end_idle_threads(void);
void mz_keep_idle_threads(void);

// Prepares the heap for children that this process will fork: they allocate from its untouched end, `bytes` long, where
// the kernel may provide huge pages. Otherwise they fill the holes that their parent left, with a fault and a copy for
// each page: 500 for a photograph.
void mz_ready_heap(size_t bytes);

#endif
