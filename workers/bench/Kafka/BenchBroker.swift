internal import CommandLine
internal import Foundation
internal import TestSupport

/// A real Kafka of the benchmark's own, from `../shared/services/kafka`, or an existing one.
///
/// - Ownership: its own Kafka is removed when this process ends in any way.
final class BenchBroker {
    let bootstrap: String
    /// Its other end is the shell that runs the broker: when ours is closed, the shell removes it.
    private let lifeline: Pipe?
    private let keeper: Process?

    static let option = Option(
        "bootstrap", value: "brokers",
        help: "An existing Kafka; by default, one is started from ../shared/services/kafka.")

    init(_ arguments: ParsedArguments) throws {
        if let given = arguments.value("bootstrap") {
            (bootstrap, lifeline, keeper) = (given, nil, nil)
            return
        }
        guard let script = Shared.part("services/kafka/kafka") else {
            throw UsageError(
                "There is no Kafka: name one with --bootstrap, or set MEZZOTINT_SHARED (services/kafka, Java 17).")
        }
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "mezzotint-bench-kafka-\(UUID().uuidString)")
        let (keeper, lifeline, output) = (Process(), Pipe(), Pipe())
        keeper.executableURL = URL(filePath: "/bin/bash")
        keeper.arguments = ["-c", Self.life, script.path, folder.path, "\(Int.random(in: 2_000..<3_000) * 10)"]
        keeper.standardInput = lifeline
        keeper.standardOutput = output
        try keeper.run()
        (self.keeper, self.lifeline) = (keeper, lifeline)
        var said = Data()
        while case let more = output.fileHandleForReading.availableData, !more.isEmpty {
            said += more
            if said.last == UInt8(ascii: "\n") { break }
        }
        bootstrap = String(decoding: said, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard bootstrap.hasPrefix("127.") else {
            throw BenchFailure(description: "Kafka did not start; its output is above.")
        }
    }

    deinit {
        try? lifeline?.fileHandleForWriting.close()
        keeper?.waitUntilExit()
    }

    private static let life = """
        trap '' PIPE INT TERM
        "$0" start -d "$1" -p "$2" 3>&- || exit 1
        cat >/dev/null
        "$0" wipe -d "$1" >/dev/null 2>&1
        """
}
