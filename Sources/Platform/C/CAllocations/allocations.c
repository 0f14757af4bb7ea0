#include "allocations.h"
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// Each library reports missing memory in its own words, and some work without it silently: a profile that did not fit
// counts as missing. So this program's own malloc records refusals. It precedes glibc's, for every library too.
static _Atomic size_t refused;

static void *noted(void *block, size_t bytes) {
    size_t none = 0;
    if (!block && bytes) atomic_compare_exchange_strong(&refused, &none, bytes);
    return block;
}

size_t mz_take_refused_bytes(void) { return atomic_exchange(&refused, 0); }

static _Atomic int refused_thread;

int mz_take_refused_thread(void) { return atomic_exchange(&refused_thread, 0); }

static int refused_status, refused_thread_status;

static void crashed(int number) {
    if (atomic_load(&refused)) _exit(refused_status);
    if (atomic_load(&refused_thread)) _exit(refused_thread_status);
    raise(number); // The handler is the default one again.
}

void mz_exit_when_refused(int status, int thread_status) {
    static const int numbers[] = { SIGABRT, SIGTRAP, SIGILL, SIGSEGV, SIGBUS, SIGFPE };
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = crashed;
    action.sa_flags = (int)SA_RESETHAND | SA_NODEFER;
    refused_status = status;
    refused_thread_status = thread_status;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaction(numbers[i], &action, NULL);
}

// libaom accepts a thread refused for lack of a stack, and then writes other bytes than with four threads. A thread
// refused for another reason (too many processes) is no refusal of memory, and recorded separately.
typedef int (*create_thread)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*body)(void *), void *given) {
    static _Atomic(create_thread) real;
    if (!atomic_load(&real)) atomic_store(&real, (create_thread)dlsym(RTLD_NEXT, "pthread_create"));
    int failure = atomic_load(&real)(thread, how, body, given);
    size_t stack = 8 << 20;
    if (failure && how) pthread_attr_getstacksize(how, &stack);
    if (failure) {
        void *room = mmap(NULL, stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
        if (room == MAP_FAILED) noted(NULL, stack); else munmap(room, stack), atomic_store(&refused_thread, 1);
    }
    return failure;
}

// libvips's threads wait 15 s for more work, by the monotonic clock, and cannot be ended otherwise, while a process
// that forks must have none. So this program's clock precedes glibc's. For all threads except the first it repeatedly
// jumps ahead by more than their wait, and each thread is woken, so that it reads the clock.
//
// Call it only when no work is left: libvips hands work to a thread whose time is over, and then waits for ever.
static _Atomic long ahead;
static const long idle_seconds = 16;

typedef int (*read_clock)(clockid_t, struct timespec *);
int clock_gettime(clockid_t clock, struct timespec *now) {
    static _Atomic(read_clock) real;
    if (!atomic_load(&real)) atomic_store(&real, (read_clock)dlsym(RTLD_NEXT, "clock_gettime"));
    int failure = atomic_load(&real)(clock, now);
    long seconds = atomic_load(&ahead);
    if (seconds && clock == CLOCK_MONOTONIC && syscall(SYS_gettid) != getpid()) now->tv_sec += seconds;
    return failure;
}

static void woken(int number) { (void)number; }

void mz_end_idle_threads(void) {
    // Ignored by default: a late signal does nothing.
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = woken;
    sigaction(SIGURG, &action, NULL);
    atomic_fetch_add(&ahead, idle_seconds);
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks) return;
    for (struct dirent *task; (task = readdir(tasks));) {
        long id = atol(task->d_name);
        if (id > 0 && id != getpid()) syscall(SYS_tgkill, getpid(), id, SIGURG);
    }
    closedir(tasks);
}

void mz_keep_idle_threads(void) {
    atomic_store(&ahead, 0);
    signal(SIGURG, SIG_DFL);
}

#if !__has_feature(address_sanitizer)
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

// Called by glibc's names, because the compiler may drop a malloc whose block is never used.
void mz_ready_heap(size_t bytes) {
    const size_t page = 4 << 10, huge = 2 << 20, own = 64 << 10, heads = 64;
    malloc_trim(0);
    char *end = __libc_malloc(bytes), *block;
    if (!end) return;
    size_t skipped = -(size_t)end % page;
    // Advice, which changes no byte.
    madvise(end + skipped, (bytes - skipped) / page * page, MADV_HUGEPAGE);
    __libc_free(end);
    // Allocates for good, and never touches, the holes and the part of the end before its first huge page. This process
    // itself must not touch that page: each child would copy it in small pages. So one hole is left, and the header of
    // the free end lies before the page.
    while ((block = __libc_malloc(page)) && block < end) {}
    __libc_free(block);
    while ((block = __libc_malloc(own)) && block < end) {}
    if (!block) return;
    size_t rest = -(size_t)(block + own) % huge;
    if (rest > page) while ((end = __libc_malloc(rest - heads)) && end < block) {}
    __libc_free(block);
}

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
#else
void mz_ready_heap(size_t bytes) { (void)bytes; }
#endif
