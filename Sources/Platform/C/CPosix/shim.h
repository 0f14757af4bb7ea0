#ifndef MZ_CPOSIX_SHIM_H
#define MZ_CPOSIX_SHIM_H
// Linux calls that Swift's Glibc module hides, and variadics that Swift cannot call. No logic.
// No _GNU_SOURCE here: it changes struct definitions and clashes with SwiftGlibc's.
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);
extern int pipe2(int ends[2], int flags);

static inline int mz_memfd(const char *name) {
    return (int)syscall(SYS_memfd_create, name, 1u | 2u); // CLOEXEC | ALLOW_SEALING
}
static inline int mz_seal(int fd) { return fcntl(fd, 1033 /* F_ADD_SEALS */, 0x1 | 0x2 | 0x4 | 0x8); }
extern int syncfs(int); // hidden without _GNU_SOURCE
static inline int mz_allocate(int fd, long long bytes) { return fallocate(fd, 0, 0, bytes); }
static inline int mz_syncfs(int fd) { return syncfs(fd); }
extern int sync_file_range(int, off_t, off_t, unsigned); // hidden like syncfs
static inline int mz_start_writing(int fd) { return sync_file_range(fd, 0, 0, 2u /* WRITE */); }
static inline int mz_open(const char *path, int flags, unsigned mode) { return open(path, flags, mode); }

// A lock on one byte of a file, owned by the open file rather than the process, so that two in one process exclude each
// other. The kernel releases it when its holder dies. The F_OFD_ commands are numbers here: glibc defines them only for
// _GNU_SOURCE.
static inline int mz_lock_byte(int fd, long at, int type, int command) {
    struct flock l;
    memset(&l, 0, sizeof l);
    l.l_type = (short)type;
    l.l_whence = SEEK_SET;
    l.l_start = at;
    l.l_len = 1;
    int r;
    do { r = fcntl(fd, command, &l); } while (r < 0 && errno == EINTR);
    return r < 0 ? -1 : l.l_type;
}
static inline int mz_lock_wait(int fd, long at) { return mz_lock_byte(fd, at, F_WRLCK, 38 /* F_OFD_SETLKW */); }
static inline int mz_lock_try(int fd, long at) { return mz_lock_byte(fd, at, F_WRLCK, 37 /* F_OFD_SETLK */); }
static inline int mz_unlock(int fd, long at) { return mz_lock_byte(fd, at, F_UNLCK, 37); }
static inline int mz_is_locked(int fd, long at) {
    return mz_lock_byte(fd, at, F_WRLCK, 36 /* F_OFD_GETLK */) != F_UNLCK;
}

// Sends `len` bytes and up to eight descriptors as one message, if there is room for it at once; returns bytes sent, or
// -errno.
static inline long mz_send_fds(int sock, const void *data, size_t len, const int *fds, int nfds) {
    struct iovec iov = { (void *)data, len };
    union { char buf[CMSG_SPACE(sizeof(int) * 8)]; struct cmsghdr align; } u;
    struct msghdr m;
    memset(&m, 0, sizeof m);
    m.msg_iov = &iov;
    m.msg_iovlen = 1;
    if (nfds > 8) return -EINVAL;
    if (nfds > 0) {
        memset(&u, 0, sizeof u);
        m.msg_control = u.buf;
        m.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)nfds);
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int) * (size_t)nfds);
        memcpy(CMSG_DATA(c), fds, sizeof(int) * (size_t)nfds);
    }
    for (;;) {
        ssize_t r = sendmsg(sock, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (r >= 0) return r;
        if (errno != EINTR) return -errno;
    }
}
// Receives one message; `*nfds` is the room on entry and the count on return. Returns bytes, 0 at the end, or -errno.
static inline long mz_recv_fds(int sock, void *data, size_t len, int *fds, int *nfds) {
    struct iovec iov = { data, len };
    union { char buf[CMSG_SPACE(sizeof(int) * 8)]; struct cmsghdr align; } u;
    struct msghdr m;
    memset(&m, 0, sizeof m);
    m.msg_iov = &iov;
    m.msg_iovlen = 1;
    m.msg_control = u.buf;
    m.msg_controllen = sizeof u.buf;
    int room = *nfds;
    *nfds = 0;
    ssize_t r;
    do { r = recvmsg(sock, &m, MSG_CMSG_CLOEXEC); } while (r < 0 && errno == EINTR);
    if (r < 0) return -errno;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
        int n = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        const int *p = (const int *)CMSG_DATA(c);
        for (int i = 0; i < n; i++) {
            if (*nfds < room) fds[(*nfds)++] = p[i];
            else close(p[i]);
        }
    }
    if (m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) return -EMSGSIZE;
    return r;
}

// Spawns `path` in a process group of its own with `sock` as descriptor 3, /dev/null as 0 and 1, and `log` as 2
// (/dev/null if there is none). It inherits no other descriptor, and a clean signal mask (Foundation's Process passes
// the blocked mask on). Returns 0 or an errno.
static inline int mz_spawn(const char *path, char *const argv[], char *const envp[], int sock, int log, pid_t *pid) {
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t at;
    posix_spawn_file_actions_init(&fa);
    posix_spawnattr_init(&at);
    posix_spawn_file_actions_adddup2(&fa, sock, 3);
    if (log >= 0) posix_spawn_file_actions_adddup2(&fa, log, 2);
    else posix_spawn_file_actions_addopen(&fa, 2, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&fa, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclosefrom_np(&fa, 4);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&at, &none);
    posix_spawnattr_setsigdefault(&at, &all);
    posix_spawnattr_setflags(&at, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&at, 0);
    int r = posix_spawn(pid, path, &fa, &at, argv, envp);
    posix_spawn_file_actions_destroy(&fa);
    posix_spawnattr_destroy(&at);
    return r;
}
// Reports how a child ended; `options` as for waitpid. Returns the pid, 0 if it still runs, or -errno.
static inline int mz_wait(pid_t pid, int options, int *signal, int *code) {
    int st = 0;
    pid_t r;
    do { r = waitpid(pid, &st, options); } while (r < 0 && errno == EINTR);
    *signal = WIFSIGNALED(st) ? WTERMSIG(st) : 0;
    *code = WIFEXITED(st) ? WEXITSTATUS(st) : -1;
    return r < 0 ? -errno : r;
}
static inline int mz_fork(void) { return fork(); } // Swift hides it
extern pid_t _Fork(void); // hidden without _GNU_SOURCE
// Forks without the libraries' fork handlers: the child may not have their code.
static inline int mz_fork_bare(void) { return _Fork(); }
// Reaps the processes of a group that are children of this process by now; returns whether one had not ended yet.
static inline int mz_reap_group(pid_t group) {
    pid_t r;
    do { r = waitpid(-group, NULL, WNOHANG); } while (r > 0 || (r < 0 && errno == EINTR));
    return r == 0;
}
static inline int mz_pidfd(int pid) { return (int)syscall(434 /* pidfd_open */, pid, 0); }
static inline int mz_kill_pidfd(int fd) { return (int)syscall(424 /* pidfd_send_signal */, fd, SIGKILL, NULL, 0); }
// Length of a file, or -1. Not by fstat of glibc 2.36, which uses the call with a path.
static inline long long mz_length(int fd) {
    struct stat s;
    return syscall(SYS_fstat, fd, &s) == 0 ? (long long)s.st_size : -1;
}
// Namespaces by number, since unshare is hidden without _GNU_SOURCE.
static inline int mz_unshare(int flags) { return (int)syscall(SYS_unshare, flags); }
// Maps this process's user and group into its new user namespace: only a mapped user may create another inside. Returns
// 0 or an errno.
static inline int mz_map_user(unsigned user, unsigned group) {
    // The files belong to root while the process is not dumpable, for instance after a change of its user.
    if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0) return errno;
    const char *names[] = { "/proc/self/setgroups", "/proc/self/uid_map", "/proc/self/gid_map" };
    char lines[3][32] = { "deny" };
    snprintf(lines[1], sizeof lines[1], "65534 %u 1", user);
    snprintf(lines[2], sizeof lines[2], "65534 %u 1", group);
    for (int i = 0; i < 3; i++) {
        int fd = open(names[i], O_WRONLY | O_CLOEXEC);
        if (fd < 0) return errno;
        ssize_t n = write(fd, lines[i], strlen(lines[i]));
        int failed = n < 0 ? errno : 0;
        close(fd);
        if (failed) return failed;
    }
    return 0;
}
// From now on, only root may inspect this process or its children. Returns 0 or -1.
static inline int mz_hide(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
static inline int mz_set_user(unsigned id) {
    if (syscall(SYS_setgroups, 0, NULL) != 0 || syscall(SYS_setresgid, id, id, id) != 0) return -1;
    return (int)syscall(SYS_setresuid, id, id, id);
}
// Removes the capabilities that programs executed by this process could regain, as far as allowed. Returns 0 or an
// errno.
static inline int mz_drop_bounding_set(void) {
    for (int capability = 0;; capability++) {
        int held = prctl(PR_CAPBSET_READ, capability, 0, 0, 0);
        if (held < 0) return 0; // The kernel knows no more.
        if (held > 0 && prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) return errno;
    }
}
// Clears all capability sets; the ambient one follows. Returns 0 or an errno.
static inline int mz_drop_capabilities(void) {
    int failed = mz_drop_bounding_set();
    struct { unsigned version; int thread; } head = { 0x20080522 /* _LINUX_CAPABILITY_VERSION_3 */, 0 };
    unsigned none[6] = { 0 };
    return syscall(SYS_capset, &head, none) != 0 ? errno : failed;
}
// Makes an empty folder the root, in a mount namespace of its own. Returns 0 or an errno.
static inline int mz_empty_root(void) {
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return errno;
    if (mount("none", "/proc", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4k,mode=555") != 0) return errno;
    if (chdir("/proc") != 0 || syscall(SYS_pivot_root, ".", ".") != 0 || umount2(".", MNT_DETACH) != 0) return errno;
    return 0;
}
// Forbids all file systems and TCP ports, as far as this kernel has such rules. Returns 0 or an errno.
static inline int mz_landlock(void) {
    long version = syscall(444 /* landlock_create_ruleset */, NULL, 0, 1 /* VERSION */);
    if (version < 1) return errno;
    unsigned long long files = version >= 5 ? 0xffff : version >= 3 ? 0x7fff : version == 2 ? 0x3fff : 0x1fff;
    unsigned long long handled[3] = { files, version >= 4 ? 0x3 : 0, version >= 6 ? 0x3 : 0 };
    size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
    int rules = (int)syscall(444, handled, size, 0);
    if (rules < 0) return errno;
    int failed = syscall(446 /* landlock_restrict_self */, rules, 0) != 0 ? errno : 0;
    close(rules);
    return failed;
}
// Makes a system call of any number, with zero arguments; returns its value, or -errno. Uses the 32-bit ABI if
// `foreign`.
static inline long mz_call(long number, int foreign) {
#if defined(__x86_64__)
    long result = number;
    if (number == SYS_rt_sigreturn) {
        // It takes all registers from the stack. Leftovers may start a loop that never ends; zeros jump to address 0.
        static const char frame[2048] __attribute__((aligned(64)));
        __asm__ volatile("mov %1, %%rsp\n\tsyscall" : : "a"(result), "r"(frame + 1024) : "memory", "rcx", "r11");
        __builtin_unreachable();
    }
    if (foreign) {
        __asm__ volatile("int $0x80" : "+a"(result) : "b"(0), "c"(0), "d"(0), "S"(0), "D"(0) : "memory", "r8", "r9", "r10", "r11");
        return result;
    }
#endif
    long value = syscall(number, 0, 0, 0, 0, 0, 0);
    return value == -1 ? -errno : value;
}
static inline int mz_die_with_parent(void) { return prctl(PR_SET_PDEATHSIG, SIGKILL); }
static inline int mz_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }
static inline void mz_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
// Sets the soft and the hard limit; a lower inherited limit stays.
static inline int mz_limit(int which, unsigned long long v) {
    struct rlimit r;
    if (getrlimit((__rlimit_resource_t)which, &r) == 0 && r.rlim_max < v) v = r.rlim_max;
    r.rlim_cur = r.rlim_max = v;
    return setrlimit((__rlimit_resource_t)which, &r);
}
// Sets only the soft limit of file lengths, which may be raised again; *before is the old one.
static inline int mz_exchange_file_limit(unsigned long long v, unsigned long long *before) {
    struct rlimit r;
    if (getrlimit((__rlimit_resource_t)RLIMIT_FSIZE, &r) != 0) return -1;
    *before = r.rlim_cur;
    r.rlim_cur = v;
    return setrlimit((__rlimit_resource_t)RLIMIT_FSIZE, &r);
}
static inline int mz_signal_thread(int process, int thread, int signal) {
    return (int)syscall(SYS_tgkill, process, thread, signal);
}
static inline int mz_limit_threads(unsigned long long v) { return mz_limit(RLIMIT_NPROC, v); }
static inline int mz_limit_space(unsigned long long v) { return mz_limit(RLIMIT_AS, v); }
static inline int mz_limit_data(unsigned long long v) { return mz_limit(RLIMIT_DATA, v); }
static inline int mz_limit_cpu(unsigned long long v) { return mz_limit(RLIMIT_CPU, v); }
static inline int mz_limit_file(unsigned long long v) { return mz_limit(RLIMIT_FSIZE, v); }
static inline int mz_limit_core(unsigned long long v) { return mz_limit(RLIMIT_CORE, v); }
static inline int mz_limit_files(unsigned long long v) { return mz_limit(RLIMIT_NOFILE, v); }
// Raises the soft limit of open files to the hard one.
static inline int mz_raise_files(void) {
    struct rlimit r;
    if (getrlimit((__rlimit_resource_t)RLIMIT_NOFILE, &r) != 0) return -1;
    return mz_limit(RLIMIT_NOFILE, r.rlim_max);
}
static inline int mz_cores(void) {
    unsigned long set[128]; // 8,192 cores
    long bytes = syscall(SYS_sched_getaffinity, 0, sizeof set, set), cores = 0;
    for (long i = 0; i < bytes / (long)sizeof *set; i++) cores += __builtin_popcountl(set[i]);
    return (int)cores;
}
// Bytes of a TCP connection that its owner has read, or -1. Uses the offset in the kernel's struct tcp_info: glibc's
// struct ends before tcpi_bytes_received.
static inline long long mz_bytes_read(int fd) {
    unsigned char info[136];
    socklen_t len = sizeof info;
    unsigned long long received;
    int waiting = 0;
    if (getsockopt(fd, 6 /* IPPROTO_TCP */, 11 /* TCP_INFO */, info, &len) != 0 || len < sizeof info) return -1;
    memcpy(&received, info + 128, sizeof received);
    if (ioctl(fd, 0x541B /* FIONREAD */, &waiting) != 0) return -1;
    return (long long)received - waiting;
}
// Ends a TCP connection under its reader, including all unread bytes: a shutdown would leave these readable.
static inline int mz_disconnect(int fd) {
    struct sockaddr none;
    memset(&none, 0, sizeof none);
    return connect(fd, &none, sizeof none); // AF_UNSPEC
}
// A socket by which the kernel reports added and removed addresses of this machine; -1 if it does not.
static inline int mz_watch_addresses(void) {
    struct { unsigned short family, pad; unsigned port, groups; } all = {16 /* AF_NETLINK */, 0, 0, 0x10 | 0x100};
    int fd = socket(16, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0 /* NETLINK_ROUTE */);
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&all, sizeof all) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}
// Whether it has reported a change since the last call. Reports lost for lack of room count, too.
static inline int mz_addresses_changed(int fd) {
    char part[64];
    int changed = fd < 0;
    while (fd >= 0 && (recv(fd, part, sizeof part, MSG_DONTWAIT) >= 0 || errno == ENOBUFS)) changed = 1;
    return changed;
}
// Unsets every variable whose line `NAME=value` begins with `start`, in any case.
static inline void mz_forget(const char *start) {
    for (int i = 0; environ && environ[i];) {
        char name[256];
        size_t length = strcspn(environ[i], "=");
        if (strncasecmp(environ[i], start, strlen(start)) != 0 || length == 0 || length >= sizeof name) { i++; continue; }
        memcpy(name, environ[i], length);
        name[length] = 0;
        if (unsetenv(name) != 0) i++;
    }
}
// The processors that a thread may run on, as bits; returns the number of bytes that the kernel uses, or -1. 0: the
// calling thread.
static inline long mz_processors(int thread, unsigned long *set, size_t bytes) {
    return syscall(SYS_sched_getaffinity, thread, bytes, set);
}
static inline int mz_set_processors(int thread, const unsigned long *set, size_t bytes) {
    return (int)syscall(SYS_sched_setaffinity, thread, bytes, set);
}
// The processor on which this thread runs, or -1.
static inline int mz_own_processor(void) {
    unsigned number;
    return syscall(SYS_getcpu, &number, NULL, NULL) == 0 ? (int)number : -1;
}
static inline int mz_malloc_arenas(int n) { return mallopt(M_ARENA_MAX, n); }
static inline int mz_malloc_keep(int bytes) { return mallopt(M_MMAP_THRESHOLD, bytes) & mallopt(M_TRIM_THRESHOLD, bytes); }
static inline long long mz_monotonic_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000000000ll + t.tv_nsec;
}
static inline long long mz_wall_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (long long)t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}
#endif
