internal import CSeccomp
internal import Glibc
package import Posix

/// The system calls that a child may make once it is warm: those for its work and one socket.
///
/// Calls that open, look up or query a file fail with an error, since a library that looks for an optional file must
/// not end a job. All other unlisted calls end the process, and so do calls of another ABI.
package enum SystemCallFilter {
    /// The purpose of a process, which determines its calls.
    package enum Role: String, Sendable, CaseIterable {
        /// Forks renderers, which decode and encode with the threads of libvips and libaom; each one narrows its filter
        /// (`narrow`).
        case parent
        /// Reads headers in Swift, with one thread.
        case inspector
        /// Closes its descriptors and waits, as the first process of a parent's namespace.
        case first
    }

    private static let common = [
        "recvmsg", "sendmsg", "close", "fstat", "munmap", "mremap", "madvise", "brk", "futex", "rt_sigprocmask",
        "rt_sigreturn", "exit_group", "gettid", "getpid", "alarm", "setitimer", "getrandom", "restart_syscall",
    ]
    private static let rendering = [
        "write", "pwrite64", "rt_sigaction", "sigaltstack", "set_robust_list", "rseq", "exit", "sched_getaffinity",
        "sched_yield", "sysinfo", "clock_gettime", "clock_nanosleep",
    ]
    private static let waiting = [
        "pause", "close", "brk", "munmap", "madvise", "rt_sigreturn", "restart_syscall", "exit_group",
    ]
    private static let refused = [
        "open", "openat", "access", "faccessat", "faccessat2", "readlink", "stat", "statx", "newfstatat", "ioctl",
    ]

    /// Applies the filter to every thread of this process, permanently.
    ///
    /// - Failure: the kernel's error; if it has no filters, that they are missing.
    package static func load(for role: Role) throws(SystemFailure) {
        let filter = try Filter(otherwise: mz_seccomp_kill())
        if role == .first {
            for name in waiting { try filter.add(mz_seccomp_allow(), name) }
            return try filter.load(forAllThreads: false)
        }
        for name in common { try filter.add(mz_seccomp_allow(), name) }
        for name in refused { try filter.add(mz_seccomp_errno(EACCES), name) }
        try filter.add(mz_seccomp_errno(ENOSYS), "clone3")
        // No memory is made executable, nor shared: shared memory counts for no limit, and would prevent sealing the
        // output.
        try filter.add(mz_seccomp_allow(), "mprotect", argument(2, SCMP_CMP_MASKED_EQ, UInt64(PROT_EXEC), 0))
        try filter.add(
            mz_seccomp_allow(), "mmap", argument(2, SCMP_CMP_MASKED_EQ, UInt64(PROT_EXEC), 0),
            argument(3, SCMP_CMP_MASKED_EQ, UInt64(MAP_SHARED), 0))
        if role == .inspector {
            try filter.add(mz_seccomp_allow(), "pread64")
            // Fatal errors are written to the log.
            try filter.add(mz_seccomp_allow(), "write", argument(0, SCMP_CMP_EQ, 2))
        } else {
            for name in rendering { try filter.add(mz_seccomp_allow(), name) }
            // Threads only. glibc uses the older call, whose flags are visible, when the newer one is missing.
            try filter.add(mz_seccomp_allow(), "clone", argument(0, SCMP_CMP_MASKED_EQ, cloneThread, cloneThread))
            try filter.add(mz_seccomp_allow(), "prctl", argument(0, SCMP_CMP_EQ, setName))
        }
        if role == .parent {
            try filter.add(mz_seccomp_allow(), "clone", argument(0, SCMP_CMP_EQ, forkFlags))
            for name in ["wait4", "seccomp", "tgkill", "capset"] { try filter.add(mz_seccomp_allow(), name) }
            // Calls of `Sandbox.limitChild` in each child.
            try filter.add(mz_seccomp_allow(), "unshare", argument(0, SCMP_CMP_EQ, newUser))
            try filter.add(mz_seccomp_allow(), "prlimit64", argument(0, SCMP_CMP_EQ, 0))
            for option in boundingSet { try filter.add(mz_seccomp_allow(), "prctl", argument(0, SCMP_CMP_EQ, option)) }
        } else {
            // Signals only itself, as abort does; never the worker.
            try filter.add(mz_seccomp_allow(), "tgkill", argument(0, SCMP_CMP_EQ, UInt64(getpid())))
        }
        try filter.load(forAllThreads: true)
    }

    /// Applies the filter to the first process of a namespace, which cannot report a failure. If it fails, its parent's
    /// filter fails, too, and the parent reports it.
    package static func loadForFirst() { try? load(for: .first) }

    /// Removes the calls that only the parent needs from its child's filter.
    package static func narrow() throws(SystemFailure) {
        let filter = try Filter(otherwise: mz_seccomp_allow())
        try filter.add(mz_seccomp_kill(), "clone", argument(0, SCMP_CMP_MASKED_EQ, cloneThread, 0))
        for name in ["wait4", "seccomp", "capset", "unshare", "prlimit64"] { try filter.add(mz_seccomp_kill(), name) }
        try filter.add(mz_seccomp_kill(), "prctl", argument(0, SCMP_CMP_NE, setName))
        try filter.add(mz_seccomp_kill(), "tgkill", argument(0, SCMP_CMP_NE, UInt64(getpid())))
        try filter.load(forAllThreads: false)
    }

    private static let cloneThread: UInt64 = 0x10000
    /// CLONE_CHILD_SETTID, CLONE_CHILD_CLEARTID and SIGCHLD: glibc's fork.
    private static let forkFlags: UInt64 = 0x1200011
    private static let setName: UInt64 = 15
    /// PR_CAPBSET_READ and PR_CAPBSET_DROP.
    private static let boundingSet: [UInt64] = [23, 24]
    /// CLONE_NEWUSER.
    private static let newUser: UInt64 = 0x1000_0000

    private static func argument(_ place: UInt32, _ how: scmp_compare, _ a: UInt64, _ b: UInt64 = 0) -> scmp_arg_cmp {
        scmp_arg_cmp(arg: place, op: how, datum_a: a, datum_b: b)
    }
}

/// A filter under construction.
private struct Filter: ~Copyable {
    private let context: scmp_filter_ctx

    init(otherwise action: UInt32) throws(SystemFailure) {
        guard let context = seccomp_init(action) else { throw Self.failure(ENOMEM) }
        self.context = context
    }

    deinit { seccomp_release(context) }

    /// Adds a rule for a call, under conditions on its arguments.
    func add(_ action: UInt32, _ name: String, _ conditions: scmp_arg_cmp...) throws(SystemFailure) {
        let number = seccomp_syscall_resolve_name(name)
        guard number != mz_seccomp_unknown() else { throw SystemFailure("filter", on: name, code: ENOSYS) }
        var conditions = conditions
        try Self.check(seccomp_rule_add_array(context, action, number, UInt32(conditions.count), &conditions))
    }

    func load(forAllThreads: Bool) throws(SystemFailure) {
        try Self.check(seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, mz_seccomp_kill()))
        // The sandbox's limits dropped the privileges earlier.
        try Self.check(seccomp_attr_set(context, SCMP_FLTATR_CTL_NNP, 0))
        // libvips may have started threads by now.
        if forAllThreads { try Self.check(seccomp_attr_set(context, SCMP_FLTATR_CTL_TSYNC, 1)) }
        try Self.check(seccomp_load(context))
    }

    private static func check(_ result: Int32) throws(SystemFailure) { if result != 0 { throw failure(-result) } }
    private static func failure(_ code: Int32) -> SystemFailure {
        SystemFailure("filter", on: "system calls", code: code)
    }
}
