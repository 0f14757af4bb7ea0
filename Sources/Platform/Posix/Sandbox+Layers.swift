internal import CPosix
internal import Glibc

/// Further layers of protection, in case the filter fails: each one if the kernel has it and allows it.
extension Sandbox {
    package enum Layer: String, Sendable, CaseIterable {
        /// For a worker that is root: the user nobody, who owns nothing.
        case user = "another user"
        case userNamespace = "user namespace"
        case networkNamespace = "network namespace"
        case messageNamespace = "IPC namespace"
        case mountNamespace = "mount namespace, empty root"
        case landlock = "Landlock"
        case threads = "limit of threads"
        /// Last, because a user namespace grants all capabilities again, inside it.
        case capabilities = "no capabilities"
        /// Only for children: existing processes stay where they are.
        case processNamespace = "process namespace"
        /// Only for children, too: each then has a thread limit of its own.
        case childNamespace = "user namespace of each child"
    }

    /// Threads and processes of one sandbox, its own included: libaom and libvips have ten, dav1d one for each core.
    private static var threadLimit: Int { max(48, 16 + 4 * SystemFacts.cores) }

    /// Applies each layer; returns every layer with its failure, if it could not be applied.
    ///
    /// One thread must call it, once libraries have opened their files, before `limit`.
    ///
    /// - Parameters:
    ///   - first: for a process that forks children: confines the first process of their namespace.
    ///   - children: most children at once; each has a thread limit of its own (`limitChild`).
    package static func enterLayers(
        first: (() -> Void)?, children: Int = 1
    ) -> [(layer: Layer, failure: SystemFailure?)] {
        var results: [(layer: Layer, failure: SystemFailure?)] = []
        func attempt(_ layer: Layer, _ result: Int32) {
            results.append((layer, result == 0 ? nil : SystemFailure("enter", on: layer.rawValue, code: result)))
        }
        func code(_ result: Int32) -> Int32 { result == 0 ? 0 : errno }
        var isRoot = geteuid() == 0
        if isRoot {
            // The user nobody may not do this.
            _ = mz_drop_bounding_set()
            attempt(.user, code(mz_set_user(nobody)))
            isRoot = results[0].failure != nil
        }
        let (user, group) = (geteuid(), getegid())
        attempt(.userNamespace, code(mz_unshare(Namespace.user)))
        let isOwn = results.last?.failure == nil
        let mapping = isOwn && first != nil ? mz_map_user(user, group) : 0
        attempt(.networkNamespace, code(mz_unshare(Namespace.network)))
        attempt(.messageNamespace, code(mz_unshare(Namespace.messages)))
        let hasMounts = code(mz_unshare(Namespace.mounts))
        attempt(.mountNamespace, hasMounts == 0 ? mz_empty_root() : hasMounts)
        attempt(.landlock, mz_no_new_privileges() == 0 ? mz_landlock() : errno)
        // After Landlock, which lets no signal out of its domain: the first process must learn of this one's end.
        let hasProcesses = first == nil ? 0 : code(mz_unshare(Namespace.processes))
        attempt(.capabilities, mz_drop_capabilities())
        // Children of one parent share a process namespace: they must not inspect each other, should the filter fail.
        _ = mz_hide()
        if let first {
            attempt(.processNamespace, hasProcesses == 0 ? startProcessNamespace(confine: first) : hasProcesses)
        }
        // Without a namespace of its own, all processes of the user would count; for root the kernel has no limit.
        let limited = isOwn && !isRoot ? code(mz_limit_threads(UInt64(threadLimit * (children + 1)))) : ENOTSUP
        attempt(.threads, limited == 0 ? mapping : limited)
        return results
    }

    /// Gives a forked child limits that it does not share with its siblings: CPU time, and, in a user namespace of its
    /// own, threads. Call it before its filter is narrowed.
    ///
    /// Without such a namespace it shares the limit of its parent, if there is one (`enterLayers`).
    package static func limitChild(cpuSeconds: Int) throws(SystemFailure) {
        if enterChildLayer().failure == nil {
            let code = mz_drop_capabilities()
            guard code == 0 else { throw SystemFailure("enter", on: Layer.capabilities.rawValue, code: code) }
            guard mz_limit_threads(UInt64(threadLimit)) == 0 else {
                throw SystemFailure("limit", on: "threads", code: errno)
            }
        }
        guard mz_limit_cpu(UInt64(cpuSeconds)) == 0 else { throw SystemFailure("limit", on: "CPU", code: errno) }
    }

    /// Enters a child's own user namespace, after `enterLayers`.
    package static func enterChildLayer() -> (layer: Layer, failure: SystemFailure?) {
        let layer = Layer.childNamespace
        let code = mz_unshare(Namespace.user) == 0 ? 0 : errno
        return (layer, code == 0 ? nil : SystemFailure("enter", on: layer.rawValue, code: code))
    }

    /// Puts children into a namespace whose first process does nothing, and dies with this one.
    private static func startProcessNamespace(confine: () -> Void) -> Int32 {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return errno }
        defer { for end in ends { close(end) } }
        let pid = mz_fork()
        if pid == 0 {
            _ = mz_die_with_parent()
            confine()
            for descriptor in Array(0..<16) + ends { close(descriptor) }
            while true { pause() }
        }
        guard pid > 0 else { return errno }
        // The first process would miss an end before its request to be notified, so this waits until it has closed the
        // pipe.
        close(exchange(&ends[1], with: -1))
        var byte: UInt8 = 0
        while read(ends[0], &byte, 1) < 0, errno == EINTR {}
        return 0
    }

    private static let nobody: UInt32 = 65_534

    private enum Namespace {
        static let mounts: Int32 = 0x20000
        static let messages: Int32 = 0x8000000
        static let user: Int32 = 0x1000_0000
        static let processes: Int32 = 0x2000_0000
        static let network: Int32 = 0x4000_0000
    }
}
