internal import CPosix
internal import Clocks
internal import Glibc

/// A child process in a group of its own, with a socket as descriptor 3 and no other descriptor of ours.
///
/// Foundation's `Process` would pass on the blocked signal mask, so that the child could not be ended.
///
/// - Ownership: its holder must `reap` it once.
package struct ChildProcess: Sendable {
    /// How a child ended.
    package enum End: Sendable, Hashable, CustomStringConvertible {
        case status(Int)
        case signal(Int)
        package static let killed = End.signal(Int(SIGKILL))
        package static let aborted = End.signal(Int(SIGABRT))
        package var description: String {
            switch self {
            case .status(let status): "exit status \(status)"
            case .signal(let signal): "signal \(signal), \(String(cString: strsignal(Int32(signal))))"
            }
        }
    }

    package let pid: Int32
    /// Handle of a process that another one forked for us. It can end the process even if its number is another's by
    /// then.
    private let handle: Handle?
    private let reaper: (@Sendable () -> End)?

    /// Starts `program` with exactly this environment; its standard error goes to `log`.
    package init(
        program: String, arguments: [String], environment: [String] = [], socket: PacketSocket, log: LogPipe? = nil
    ) throws(SystemFailure) {
        var argv = ([program] + arguments).map { strdup($0) } + [nil]
        var envp = environment.map { strdup($0) } + [nil]
        defer { for text in argv + envp { free(text) } }
        var pid: pid_t = 0
        let code = mz_spawn(program, &argv, &envp, socket.descriptor, log?.childEnd ?? -1, &pid)
        guard code == 0 else { throw SystemFailure("start", on: program, code: code) }
        (self.pid, handle, reaper) = (pid, nil, nil)
    }

    /// A process that a child of ours forked; only that child can reap it.
    ///
    /// - Failure: it has ended already, or the kernel has no process handles.
    package init(forked pid: Int32, reaper: @escaping @Sendable () -> End) throws(SystemFailure) {
        let descriptor = mz_pidfd(pid)
        guard descriptor >= 0 else { throw SystemFailure("pidfd_open", on: "renderer \(pid)", code: errno) }
        (self.pid, handle, self.reaper) = (pid, Handle(descriptor: descriptor), reaper)
    }

    private final class Handle: Sendable {
        let descriptor: Int32
        init(descriptor: Int32) { self.descriptor = descriptor }
        deinit { close(descriptor) }
    }

    /// Kills it at once (SIGKILL).
    package func kill() {
        _ = if let handle { mz_kill_pidfd(handle.descriptor) } else { Glibc.kill(pid, SIGKILL) }
    }

    /// Whether its number may be another's by now: it ended, and this process does not reap it.
    var isForgotten: Bool {
        guard let handle else { return false }
        var entry = pollfd(fd: handle.descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) != 0
    }

    /// How long to wait for the end of a process that another one forked: the kernel needs seconds to free much memory.
    private static let longestEnd = Duration.seconds(30)

    /// Waits for its end. If the end of a process that another one forked takes too long, it is not reaped: its parent
    /// would serve no other request while it waited.
    package func reap() -> End {
        guard let handle, let reaper else { return Self.reap(pid) }
        var entry = pollfd(fd: handle.descriptor, events: Int16(POLLIN), revents: 0)
        let end = SystemTime.monotonic + Self.longestEnd
        while SystemTime.monotonic < end {
            let found = poll(&entry, 1, Int32(Self.longestEnd.milliseconds))
            if found > 0 { return reaper() }
            if found == 0 || errno != EINTR { break }
        }
        return .killed
    }

    /// Reaps, within a time limit, the processes that this one left in its group when it ended. They become our
    /// children if we are the first process of a container.
    package func reapOrphans(within limit: Duration) {
        let end = SystemTime.monotonic + limit
        while mz_reap_group(pid) != 0, SystemTime.monotonic < end { _ = poll(nil, 0, 1) }
    }

    /// Reaps a child of this process.
    package static func reap(_ pid: Int32) -> End {
        var signal: Int32 = 0
        var code: Int32 = 0
        _ = mz_wait(pid, 0, &signal, &code)
        return signal != 0 ? .signal(Int(signal)) : .status(Int(code))
    }

    /// CPU time so far, including its reaped children, to a hundredth of a second; nil once it has ended.
    package var cpuTime: Duration? {
        guard let file = try? OpenFile(reading: "/proc/\(pid)/stat"), let bytes = try? file.bytes(at: 0, count: 4096),
            let name = bytes.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        // After the name come the state and ten fields, then user and system time in hundredths, and the children's.
        let words = bytes[(name + 1)...].split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
        guard words.count > 14 else { return nil }
        return .milliseconds(10) * words[11...14].reduce(0) { $0 + (Int64($1) ?? 0) }
    }

    /// Resident bytes, current and peak; nil once it has ended.
    package var memory: (now: Int, peak: Int)? { ProcessMemory.of(pid) }
}

/// A process's memory, as the kernel reports it.
package enum ProcessMemory {
    /// Memory of this process, or of `pid`. (`ru_maxrss` would count the parent's memory at the moment of the spawn.)
    package static func of(_ pid: Int32? = nil) -> (now: Int, peak: Int)? {
        let sizes = sizes(of: pid, ["VmRSS:", "VmHWM:"])
        guard let now = sizes[0], let peak = sizes[1] else { return nil }
        return (now, peak)
    }

    /// Bytes that this process has mapped.
    package static var mapped: Int? { sizes(of: nil, ["VmSize:"])[0] }

    private static func sizes(of pid: Int32?, _ names: [StaticString]) -> [Int?] {
        var sizes = [Int?](repeating: nil, count: names.count)
        guard let file = try? OpenFile(reading: "/proc/\(pid.map(String.init) ?? "self")/status"),
            let bytes = try? file.bytes(at: 0, count: 4096)
        else { return sizes }
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let words = line.split { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") }
            guard words.count >= 2, let kib = Int(String(decoding: words[1], as: UTF8.self)) else { continue }
            for (place, name) in names.enumerated() where words[0].elementsEqual(name.description.utf8) {
                sizes[place] = kib << 10
            }
        }
        return sizes
    }

    /// CPU time of this process.
    package static var ownCPUTime: Duration { cpu(RUSAGE_SELF.rawValue) }

    /// CPU time of its reaped children, and of theirs.
    package static var childrenCPUTime: Duration { cpu(RUSAGE_CHILDREN.rawValue) }

    /// CPU time of this process, and of its reaped children.
    package static var cpuTime: Duration { ownCPUTime + childrenCPUTime }

    private static func cpu(_ who: Int32) -> Duration {
        var usage = rusage()
        getrusage(who, &usage)
        func duration(_ time: timeval) -> Duration { .seconds(time.tv_sec) + .microseconds(time.tv_usec) }
        return duration(usage.ru_utime) + duration(usage.ru_stime)
    }
}

/// A process's resident bytes outside files, for repeated reading.
///
/// - Ownership: one descriptor, which still refers to that process when its number is another's.
package struct PrivateMemory: Sendable {
    private let file: OpenFile?

    package init(of process: ChildProcess) { file = try? OpenFile(reading: "/proc/\(process.pid)/statm") }

    /// Bytes; 0 once it has ended.
    package var bytes: Int {
        // size resident shared text lib data dt, in pages
        let words = (try? file?.bytes(at: 0, count: 128))?.split(separator: UInt8(ascii: " ")) ?? []
        guard words.count > 2 else { return 0 }
        let pages = words[1...2].map { Int(String(decoding: $0, as: UTF8.self)) ?? 0 }
        return (pages[0] - pages[1]) * Int(getpagesize())
    }
}
