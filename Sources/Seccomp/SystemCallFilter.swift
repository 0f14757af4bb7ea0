internal import CSeccomp
internal import Glibc
package import Posix

/// The system calls that a renderer may make once its codecs are warm: what decoding, encoding and one socket need.
///
/// What would open, look up or ask about a file is refused with an error, since a library that looks for a file it can do
/// without must not end a job; everything else that is not listed ends the process.
package enum SystemCallFilter {
    private static let allowed = [
        "recvmsg", "sendmsg", "write", "pwrite64", "close", "fstat", "munmap", "mremap", "madvise", "brk", "futex",
        "rt_sigprocmask", "rt_sigaction", "rt_sigreturn", "sigaltstack", "set_robust_list", "rseq", "exit", "exit_group",
        "sched_getaffinity", "sched_yield", "sysinfo", "gettid", "getpid", "alarm", "setitimer",
        "clock_gettime", "clock_nanosleep", "getrandom", "restart_syscall",
    ]
    private static let refused = ["open", "openat", "access", "faccessat", "faccessat2", "readlink", "stat", "statx", "ioctl"]

    /// Puts it in place for every thread of this process, for good.
    ///
    /// - Failure: the kernel's answer; where it knows no filters, that they are missing.
    package static func load() throws(SystemFailure) {
        guard let filter = seccomp_init(mz_seccomp_kill()) else { throw failure(ENOMEM) }
        defer { seccomp_release(filter) }
        // libvips has threads of its own by now.
        try check(seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1))
        for name in allowed { try add(filter, mz_seccomp_allow(), name) }
        for name in refused { try add(filter, mz_seccomp_errno(EACCES), name) }
        // Threads only; and glibc takes the older call, whose flags can be seen, when the newer one is not there.
        try add(filter, mz_seccomp_allow(), "clone", (0, SCMP_CMP_MASKED_EQ, cloneThread, cloneThread))
        try add(filter, mz_seccomp_errno(ENOSYS), "clone3")
        try add(filter, mz_seccomp_allow(), "prctl", (0, SCMP_CMP_EQ, setName, 0))
        // fstat by another name; with a path it is refused as the others are.
        try add(filter, mz_seccomp_allow(), "newfstatat", (3, SCMP_CMP_EQ, emptyPath, 0))
        try add(filter, mz_seccomp_errno(EACCES), "newfstatat", (3, SCMP_CMP_NE, emptyPath, 0))
        // Itself, as abort does; never the worker.
        try add(filter, mz_seccomp_allow(), "tgkill", (0, SCMP_CMP_EQ, UInt64(getpid()), 0))
        // Memory is never made executable, nor shared: that counts to no limit, and would keep an answer from being sealed.
        try add(filter, mz_seccomp_allow(), "mprotect", (2, SCMP_CMP_MASKED_EQ, UInt64(PROT_EXEC), 0))
        var map = [
            scmp_arg_cmp(arg: 2, op: SCMP_CMP_MASKED_EQ, datum_a: UInt64(PROT_EXEC), datum_b: 0),
            scmp_arg_cmp(arg: 3, op: SCMP_CMP_MASKED_EQ, datum_a: UInt64(MAP_SHARED), datum_b: 0),
        ]
        try check(
            seccomp_rule_add_array(filter, mz_seccomp_allow(), seccomp_syscall_resolve_name("mmap"), UInt32(map.count), &map))
        try check(seccomp_load(filter))
    }

    private static let cloneThread: UInt64 = 0x10000
    private static let setName: UInt64 = 15
    private static let emptyPath: UInt64 = 0x1000

    /// A rule for a call, where one of its arguments is as said.
    private static func add(
        _ filter: scmp_filter_ctx, _ action: UInt32, _ name: String,
        _ condition: (argument: UInt32, how: scmp_compare, a: UInt64, b: UInt64)? = nil
    ) throws(SystemFailure) {
        let number = seccomp_syscall_resolve_name(name)
        guard number != mz_seccomp_unknown() else { throw SystemFailure("filter", on: name, code: ENOSYS) }
        guard let condition else { return try check(seccomp_rule_add_array(filter, action, number, 0, nil)) }
        let (argument, how, a, b) = condition
        var comparison = scmp_arg_cmp(arg: argument, op: how, datum_a: a, datum_b: b)
        try check(seccomp_rule_add_array(filter, action, number, 1, &comparison))
    }

    private static func check(_ result: Int32) throws(SystemFailure) { if result != 0 { throw failure(-result) } }
    private static func failure(_ code: Int32) -> SystemFailure { SystemFailure("filter", on: "system calls", code: code) }
}
