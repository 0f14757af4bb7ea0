package import Clocks
internal import Glibc
internal import JSONText
internal import Synchronization

/// Output of log lines and the progress line: one stream with one writer at a time, so that they never mix.
///
/// Each line is one `write(2)` as it comes, because the last line before a crash matters most.
package final class LogOutput: Sendable {
    package static let standardError = LogOutput(STDERR_FILENO)

    package let isTerminal: Bool
    private let stream: Int32
    private let now: @Sendable () -> WallTime
    private let state = Mutex(State())
    private let last = Mutex<LastLine?>(nil)

    private struct State: ~Copyable {
        /// The progress text in the terminal's last line.
        var progress = ""
        var json = JSONWriter(reserving: 1024)
    }

    /// - Parameter isTerminal: nil asks the stream.
    package init(
        _ stream: Int32, isTerminal: Bool? = nil, now: @escaping @Sendable () -> WallTime = { LogOutput.wallClock }
    ) {
        (self.stream, self.isTerminal, self.now) = (stream, isTerminal ?? (isatty(stream) == 1), now)
    }

    package static var wallClock: WallTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return WallTime.epoch + .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    func write(_ level: Logger.Level, _ message: String, _ common: [Logger.Field], _ own: Logger.Metadata) {
        let time = now()
        let last = level >= LastLine.level ? last.withLock { $0 } : nil
        let readable = isTerminal || last != nil ? Self.readable(time, level, message, common, own) : ""
        last?.keep(readable)
        state.withLock { state in
            if isTerminal {
                put(state.progress.isEmpty ? readable : "\r\u{1B}[K" + readable + state.progress)
            } else {
                state.json.clear()
                state.json.line(time, level, message, common, own)
                // The output may later be read on a terminal.
                put(PlainText.of(state.json.withBytes { String(decoding: $0, as: UTF8.self) }, keepingLines: true))
            }
        }
    }

    /// Keeps each line from now on, for the next process.
    package func keep(in last: LastLine) { self.last.withLock { $0 = last } }

    /// Keeps the reason why the program ends, as its last line; nil: it ends cleanly.
    package func end(with reason: String?) {
        guard let last = last.withLock({ $0 }) else { return }
        guard let reason else { return last.end() }
        last.keep(PlainText.of("\(Timestamp.text(now()).dropFirst(11).dropLast(5)) \(reason)"))
        last.flush()
    }

    /// Replaces the terminal's last line.
    func show(progress text: String) {
        let line = PlainText.of(text)
        state.withLock { state in
            // A line that wraps could not be replaced.
            state.progress = String(line.prefix(max(20, columns - 1)))
            put("\r\u{1B}[K" + state.progress)
        }
    }

    func endProgress() {
        state.withLock { state in
            if !state.progress.isEmpty { put("\n") }
            state.progress = ""
        }
    }

    private static func readable(
        _ time: WallTime, _ level: Logger.Level, _ message: String, _ common: [Logger.Field], _ own: Logger.Metadata
    ) -> String {
        var line = "\(Timestamp.text(time).dropFirst(11).dropLast(5)) "
        if level != .info { line += "\(level.rawValue.uppercased()) " }
        line += message
        for (name, value) in common { line += " \(name)=\(value.text)" }
        for (name, value) in own { line += " \(name)=\(value.text)" }
        return PlainText.of(line) + "\n"
    }

    private var columns: Int {
        var size = winsize()
        guard ioctl(stream, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    private func put(_ text: String) {
        var text = text
        text.withUTF8 { put(UnsafeRawBufferPointer($0)) }
    }

    private func put(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes
        while !rest.isEmpty {
            let n = Glibc.write(stream, rest.baseAddress, rest.count)
            if n < 0, errno == EINTR { continue }
            if n < 0, errno == EAGAIN, isWritable(within: .seconds(1)) { continue }
            // The log has no reader any more, but the work continues.
            guard n > 0 else { return }
            rest = UnsafeRawBufferPointer(rebasing: rest[n...])
        }
    }

    /// Waits for a pipe that is non-blocking and full.
    private func isWritable(within limit: Duration) -> Bool {
        var wanted = pollfd(fd: stream, events: Int16(POLLOUT), revents: 0)
        return poll(&wanted, 1, Int32(limit.milliseconds)) > 0
    }
}

extension JSONWriter {
    fileprivate mutating func line(
        _ time: WallTime, _ level: Logger.Level, _ message: String, _ common: [Logger.Field], _ own: Logger.Metadata
    ) {
        beginObject()
        key("ts")
        self.time(time)
        field("level", level.rawValue)
        field("msg", message)
        for (name, value) in common { field(named: name, value) }
        for (name, value) in own { field(named: name, value) }
        endObject()
        endLine()
    }

    private mutating func field(named name: String, _ value: Logger.Value) {
        key(named: name)
        switch value {
        case .string(let text): string(text)
        case .int(let number): integer(number)
        case .double(let number): self.number(number)
        case .bool(let flag): boolean(flag)
        }
    }
}

extension Logger.Value {
    fileprivate var text: String {
        switch self {
        case .string(let text): text
        case .int(let number): "\(number)"
        case .double(let number): "\(number)"
        case .bool(let flag): "\(flag)"
        }
    }
}
