internal import Foundation
internal import Glibc
internal import Posix

/// A real Kafka of the test's own, from `../shared`, on free ports of this machine; gone with the test process.
package final class KafkaBroker: Sendable {
    package static let isHere =
        Shared.has("services/kafka/kafka") && FileManager.default.fileExists(atPath: "/usr/bin/java")
    package static let absent = "NOT RUN: needs ../shared/services/kafka and Java 17"

    /// One for all tests that don't harm it; started by whoever comes first, which takes some seconds.
    package static let shared = Task { try await start { _ in ["log.cleaner.backoff.ms=200", "group.min.session.timeout.ms=500"] } }

    package let bootstrap: String
    /// The first broker's; the eight after the next are free for listeners of a test's own.
    package let port: Int
    private let folder: TemporaryFolder
    /// Held open as long as this process lives: then its other end wipes the brokers away, however the process ended.
    private let lifeline: PacketSocket
    private let life: ChildProcess

    /// Starts so many brokers. `settings` are lines of server.properties, for a first port.
    package static func start(
        brokers: Int = 1, settings: @escaping @Sendable (Int) -> [String] = { _ in [] }
    ) async throws -> KafkaBroker {
        try await onOwnThread { try KafkaBroker(brokers: brokers, settings: settings) }
    }

    /// One of the script's commands that take the brokers' folder: `kill 1`, `revive 1`, `wipe`.
    @discardableResult
    package func run(_ words: String...) async throws -> String {
        try await Self.onOwnThread { [folder] in try Self.run(words + ["-d", folder.path]) }
    }

    /// One of Kafka's own tools: `groups`, `topics`, `configs`.
    package func tool(_ name: String, _ words: String...) async throws -> String {
        try await Self.onOwnThread { [bootstrap] in try Self.run([name, "--bootstrap-server", bootstrap] + words) }
    }

    private init(brokers: Int, settings: (Int) -> [String]) throws {
        folder = try TemporaryFolder()
        let (ours, theirs) = try PacketSocket.pair()
        lifeline = ours
        port = try Self.freePorts(brokers)
        let words = ["start", "-n", "\(brokers)", "-p", "\(port)", "-d", folder.path]
            + settings(port).flatMap { ["-o", $0] }
        life = try ChildProcess(
            program: "/bin/bash", arguments: ["-c", Self.life, Self.script, folder.path] + words,
            environment: [Self.path], socket: theirs)
        guard let answer = try lifeline.receive(limit: 64 << 10), answer.bytes.starts(with: Array("127.".utf8)) else {
            throw Failure(description: "kafka \(words.joined(separator: " ")): it did not start; see \(folder.path)/output")
        }
        bootstrap = String(decoding: answer.bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Its end is waited for once the lifeline is closed: a dead child that nobody reaps keeps Swift Testing's exit tests
    /// from hearing of theirs.
    deinit {
        OwnThread.start("kafka end") { [life] in _ = life.reap() }
    }

    /// Starts the brokers, says so, waits until the other end is gone, and wipes them away: one after another, so that a
    /// test process that dies meanwhile leaves none behind.
    private static let life = """
        trap '' PIPE
        folder="$1"; shift
        "$0" "$@" >"$folder/output" 2>&1 </dev/null 3>&-
        tail -n 1 "$folder/output" >&3
        read -r -u 3
        "$0" wipe -d "$folder" >/dev/null 2>&1
        """
    private static let script = Shared.part("services/kafka/kafka")?.path ?? "/nonexistent"
    private static let path = "PATH=/usr/local/bin:/usr/bin:/bin"

    private static func onOwnThread<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            OwnThread.start("kafka script") { continuation.resume(with: Result(catching: body)) }
        }
    }

    /// Not by Foundation's `Process`: its wait ends only when every descendant has ended, the brokers too.
    private static func run(_ words: [String]) throws -> String {
        let scratch = try TemporaryFolder()
        let (_, theirs) = try PacketSocket.pair()
        let child = try ChildProcess(
            program: "/bin/bash",
            arguments: ["-c", "output=\"$1\"; shift; exec \"$0\" \"$@\" >\"$output\" 2>&1 </dev/null", script, scratch.file("output")] + words,
            environment: [path], socket: theirs)
        let end = child.reap()
        let text = try String(contentsOf: scratch.url.appending(path: "output"), encoding: .utf8)
        guard end == .status(0) else {
            throw Failure(description: "kafka \(words.joined(separator: " ")): \(end): \(text)")
        }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    package struct Failure: Error, CustomStringConvertible { package let description: String }

    /// A port whose neighbours that the brokers will use are free too.
    private static func freePorts(_ brokers: Int) throws -> Int {
        for _ in 0..<200 {
            let first = Int.random(in: 20_000..<31_000)
            let wanted = first..<first + 10 * brokers
            if wanted.allSatisfy(isFree) { return first }
        }
        throw Failure(description: "no free ports were found for Kafka")
    }

    /// A port on this machine that nobody listens on now.
    package static func isFree(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
