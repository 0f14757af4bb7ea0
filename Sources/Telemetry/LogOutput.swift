internal import Glibc
internal import JSONText
internal import Synchronization

/// Where log lines and the progress line go: one stream, written by one at a time, so that they never mix.
package final class LogOutput: Sendable {
    package static let standardError = LogOutput(STDERR_FILENO)

    private let stream: Int32
    package let isTerminal: Bool
    /// The progress that stands in the terminal's last line.
    private let progress = Mutex("")

    package init(_ stream: Int32) { (self.stream, isTerminal) = (stream, isatty(stream) == 1) }

    func write(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata) {
        let line = isTerminal ? Self.readable(level, message, metadata) : Self.json(level, message, metadata)
        progress.withLock { standing in
            guard !standing.isEmpty else { return put(line) }
            put(Array("\r\u{1B}[K".utf8) + line + Array(standing.utf8))
        }
    }

    /// Replaces the terminal's last line; elsewhere writes a line of its own.
    func show(progress text: String) {
        progress.withLock { standing in
            guard isTerminal else { return put(Array("\(text)\n".utf8)) }
            standing = text
            put(Array("\r\u{1B}[K\(text)".utf8))
        }
    }

    func endProgress() {
        progress.withLock { standing in
            if !standing.isEmpty { put([0x0A]) }
            standing = ""
        }
    }

    private static func json(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata) -> [UInt8] {
        var json = JSONWriter(reserving: 256)
        json.beginObject()
        json.key("ts")
        json.time(now)
        json.field("level", level.rawValue)
        json.field("msg", message)
        for (name, value) in metadata {
            json.key(named: name)
            switch value {
            case .string(let text): json.string(text)
            case .int(let number): json.integer(number)
            case .double(let number): json.number(number)
            case .bool(let flag): json.boolean(flag)
            }
        }
        json.endObject()
        json.endLine()
        return json.bytes
    }

    private static func readable(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata) -> [UInt8] {
        var line = "\(Timestamp.text(now).dropFirst(11).dropLast(5)) "
        if level != .info { line += "\(level.rawValue.uppercased()) " }
        // A hostile URL in a message must not drive the terminal.
        line.unicodeScalars.append(contentsOf: message.unicodeScalars.map { $0.value < 32 || $0.value == 127 ? "\u{FFFD}" : $0 })
        for (name, value) in metadata { line += " \(name)=\(value.text)" }
        return Array((line + "\n").utf8)
    }

    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    private func put(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes
            while !rest.isEmpty {
                let n = Glibc.write(stream, rest.baseAddress, rest.count)
                if n < 0, errno == EINTR { continue }
                // Nobody reads the log any more: the worker goes on.
                guard n > 0 else { return }
                rest = UnsafeRawBufferPointer(rebasing: rest[n...])
            }
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
