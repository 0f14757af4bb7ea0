#include "allocations.h"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

// Libraries tell of missing memory in as many words as there are libraries, and some do without in silence: a profile that
// could not be held is none. So this program's own malloc, which stands before glibc's for every library too, takes note.
static _Atomic size_t refused;

static void *noted(void *block, size_t bytes) {
    size_t none = 0;
    if (!block && bytes) atomic_compare_exchange_strong(&refused, &none, bytes);
    return block;
}

size_t mz_take_refused_bytes(void) { return atomic_exchange(&refused, 0); }

static int refused_status;

static void crashed(int number) {
    if (atomic_load(&refused)) _exit(refused_status);
    raise(number); // The handler is the default one again.
}

void mz_exit_when_refused(int status) {
    static const int numbers[] = { SIGABRT, SIGTRAP, SIGILL, SIGSEGV, SIGBUS, SIGFPE };
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = crashed;
    action.sa_flags = (int)SA_RESETHAND | SA_NODEFER;
    refused_status = status;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaction(numbers[i], &action, NULL);
}

// A thread that could not be had, for lack of a stack, is no refusal to libaom: with one it writes other bytes than with four.
// One that could not be had for another reason (too many processes) is none of memory's.
typedef int (*create_thread)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*body)(void *), void *given) {
    static _Atomic(create_thread) real;
    if (!atomic_load(&real)) atomic_store(&real, (create_thread)dlsym(RTLD_NEXT, "pthread_create"));
    int failure = atomic_load(&real)(thread, how, body, given);
    size_t stack = 8 << 20;
    if (failure && how) pthread_attr_getstacksize(how, &stack);
    if (failure) {
        void *room = mmap(NULL, stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
        if (room == MAP_FAILED) noted(NULL, stack); else munmap(room, stack);
    }
    return failure;
}

// libvips's threads wait 15 s for more to do, by GLib's clock, and cannot be ended otherwise: a process that forks must have
// none. So this program's clock stands before GLib's, and is behind while they are to end: 20 ms are left of 15 s.
//
// Not of a thread's first wait, for what it was made for: libvips hands it that after the thread has begun to wait, and frees
// what belongs to one whose time is over. On a busy machine whoever makes it may be kept from its processor for longer.
static _Atomic int hurries;
static _Thread_local int has_waited;

void mz_hurry_idle_threads(int hurry) { atomic_store(&hurries, hurry); }

long g_get_monotonic_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long microseconds = now.tv_sec * 1000000 + now.tv_nsec / 1000;
    int is_first = !has_waited;
    has_waited = 1;
    return atomic_load(&hurries) && !is_first ? microseconds - 14980000 : microseconds;
}

#if !__has_feature(address_sanitizer)
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

void *malloc(size_t bytes) { return noted(__libc_malloc(bytes), bytes); }
void *calloc(size_t count, size_t bytes) {
    void *block = __libc_calloc(count, bytes);
    size_t all;
    return noted(block, __builtin_mul_overflow(count, bytes, &all) ? (size_t)-1 : all);
}
void *realloc(void *old, size_t bytes) { return noted(__libc_realloc(old, bytes), bytes); }
void *memalign(size_t boundary, size_t bytes) { return noted(__libc_memalign(boundary, bytes), bytes); }
void *aligned_alloc(size_t boundary, size_t bytes) { return memalign(boundary, bytes); }
int posix_memalign(void **block, size_t boundary, size_t bytes) {
    if (boundary % sizeof(void *) || !boundary || boundary & (boundary - 1)) return EINVAL;
    void *made = memalign(boundary, bytes);
    if (!made && bytes) return ENOMEM;
    *block = made;
    return 0;
}
#endif
