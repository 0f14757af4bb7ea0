internal import CPosix
internal import Glibc

/// A child process that was given a socket as descriptor 3, nothing else of ours, and a group of its own.
///
/// Foundation's `Process` would hand on the blocked signal mask, so that the child could not be ended.
///
/// - Ownership: whoever holds it must `reap` it once.
package struct ChildProcess: Sendable {
    /// How a child ended.
    package enum End: Sendable, Hashable, CustomStringConvertible {
        case status(Int)
        case signal(Int)
        package var description: String {
            switch self {
            case .status(let status): "exit status \(status)"
            case .signal(let signal): "signal \(signal), \(String(cString: strsignal(Int32(signal))))"
            }
        }
    }

    package let pid: Int32

    /// Starts `program` with exactly this environment.
    package init(
        program: String, arguments: [String], environment: [String] = [], socket: PacketSocket
    ) throws(SystemFailure) {
        var argv = ([program] + arguments).map { strdup($0) } + [nil]
        var envp = environment.map { strdup($0) } + [nil]
        defer { for text in argv + envp { free(text) } }
        var pid: pid_t = 0
        let code = mz_spawn(program, &argv, &envp, socket.descriptor, &pid)
        guard code == 0 else { throw SystemFailure("start", on: program, code: code) }
        self.pid = pid
    }

    /// Ends it at once (SIGKILL).
    package func kill() { _ = Glibc.kill(pid, SIGKILL) }

    /// Waits for its end.
    package func reap() -> End {
        var signal: Int32 = 0
        var code: Int32 = 0
        _ = mz_wait(pid, 0, &signal, &code)
        return signal != 0 ? .signal(Int(signal)) : .status(Int(code))
    }

    /// CPU time so far, in nanoseconds, to a hundredth of a second; nil once it has ended.
    package var cpuNanoseconds: Int64? {
        guard let file = try? OpenFile(reading: "/proc/\(pid)/stat"), let bytes = try? file.bytes(at: 0, count: 4096),
            let name = bytes.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        // After the name come the state and ten fields, then user and system time in hundredths.
        let words = bytes[(name + 1)...].split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
        guard words.count > 12, let user = Int64(words[11]), let system = Int64(words[12]) else { return nil }
        return (user + system) * 10_000_000
    }

    /// Resident bytes now and at their highest; nil once it has ended.
    package var memory: (now: Int, peak: Int)? { ProcessMemory.of(pid) }
}

/// What the kernel says of a process's memory.
package enum ProcessMemory {
    /// Of this process, or of `pid`. (`ru_maxrss` would count the parent's memory at the moment of the spawn.)
    package static func of(_ pid: Int32? = nil) -> (now: Int, peak: Int)? {
        guard let file = try? OpenFile(reading: "/proc/\(pid.map(String.init) ?? "self")/status"),
            let bytes = try? file.bytes(at: 0, count: 4096)
        else { return nil }
        var now: Int?
        var peak: Int?
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let words = line.split { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") }
            guard words.count >= 2, let kib = Int(String(decoding: words[1], as: UTF8.self)) else { continue }
            if words[0].elementsEqual("VmRSS:".utf8) { now = kib << 10 }
            if words[0].elementsEqual("VmHWM:".utf8) { peak = kib << 10 }
        }
        guard let now, let peak else { return nil }
        return (now, peak)
    }

    /// CPU time of this process, in nanoseconds.
    package static var ownCPUNanoseconds: Int64 { cpu(RUSAGE_SELF.rawValue) }

    /// CPU time of this process, and of its children that were reaped, in nanoseconds.
    package static var cpuNanoseconds: Int64 { cpu(RUSAGE_SELF.rawValue) + cpu(RUSAGE_CHILDREN.rawValue) }

    private static func cpu(_ who: Int32) -> Int64 {
        var usage = rusage()
        getrusage(who, &usage)
        func nanoseconds(_ time: timeval) -> Int64 { Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_usec) * 1000 }
        return nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime)
    }
}
