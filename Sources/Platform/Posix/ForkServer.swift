internal import CPosix
internal import Clocks
internal import Glibc

/// Functions for a process that only forks children and reaps them.
///
/// Forking is safe only with one thread: another thread's locks would stay locked in the child for ever.
package enum ForkServer {
    /// Number of threads of this process.
    package static var threads: Int {
        guard let folder = opendir("/proc/self/task") else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while let entry = readdir(folder) { if entry.pointee.d_name.0 != 0x2e { count += 1 } }
        return count
    }

    /// Waits until this process has one thread; false after the time limit.
    ///
    /// - Parameter askToEnd: asks the other threads to end; called until they have ended.
    package static func isSingleThreaded(within limit: Duration, askToEnd: () -> Void) -> Bool {
        let end = SystemTime.monotonic + limit
        while threads != 1 {
            guard SystemTime.monotonic < end else { return false }
            askToEnd()
            _ = poll(nil, 0, 1)
        }
        return true
    }

    /// Memory that this process would share with its forked children, and that a child could write, now or after an
    /// mprotect: lines of the kernel's list.
    package static var sharedMemory: [String] {
        guard let file = try? OpenFile(reading: "/proc/self/smaps"), let bytes = try? file.bytes(at: 0, count: 16 << 20)
        else {
            return ["/proc/self/smaps cannot be read"]
        }
        // 7f30a51f0000-7f30a5200000 rw-s 00000000 fe:00 16237212 /tmp/orcexec.yJCa7t (deleted)
        // …
        // VmFlags: rd wr sh mr mw me ms sd
        var (shared, mapping) = ([String](), "")
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
            if words.count > 4, words[0].contains("-") { mapping = words.joined(separator: " ") }
            if words.first == "VmFlags:", words.contains("sh"), words.contains("mw") { shared.append(mapping) }
        }
        return shared
    }

    /// Forks this process without the libraries' fork handlers; returns the child's number, and 0 in the child.
    package static func fork() throws(SystemFailure) -> Int32 {
        let pid = mz_fork_bare()
        guard pid >= 0 else { throw SystemFailure("fork", on: "child", code: errno) }
        return pid
    }
}
