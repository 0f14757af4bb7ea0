import Clocks
import Foundation
import Synchronization
import Telemetry
import TestSupport
import Testing

/// An output into a file, and what came there.
final class Captured {
    private let file: FileHandle
    private let path: String
    let output: LogOutput

    /// - Parameter time: what the clock on the wall says.
    init(isTerminal: Bool, time: WallTime = 1_795_256_916_007) throws {
        path = FileManager.default.temporaryDirectory.appending(path: "mezzotint-log-\(UUID().uuidString)").path
        try Data().write(to: URL(filePath: path))
        file = try #require(FileHandle(forWritingAtPath: path))
        output = LogOutput(file.fileDescriptor, isTerminal: isTerminal, now: { time })
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var text: String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
    var lines: [String] { text.split(separator: "\n").map(String.init) }
}

/// A clock that moves when the test says so.
final class ManualClock: Clock {
    struct Instant: InstantProtocol {
        var since: Duration
        func advanced(by duration: Duration) -> Instant { Instant(since: since + duration) }
        func duration(to other: Instant) -> Duration { other.since - since }
        static func < (a: Instant, b: Instant) -> Bool { a.since < b.since }
    }

    private let time = Mutex(Duration.zero)
    var now: Instant { Instant(since: time.withLock { $0 }) }
    var minimumResolution: Duration { .nanoseconds(1) }
    func advance(by duration: Duration) { time.withLock { $0 += duration } }
    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        preconditionFailure("nothing here waits")
    }
}
