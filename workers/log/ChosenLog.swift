internal import EmbeddedLog
internal import KafkaLog
internal import KafkaSetup
package import Ports
package import Posix
package import Settings
internal import StoreChoice

/// The log that the settings name, embedded in the data directory or on a Kafka cluster. Only this type chooses.
package struct ChosenLog: Sendable {
    package let log: any Log
    /// Folder of a worker's indexes of this log's changelog. Indexes of another log would have other rows at the same
    /// positions.
    package let indexDirectory: String
    /// Whether other processes may own partitions of it at the same time.
    package let isShared: Bool
    /// Whether the store may use the free space of its disk: on the log's disk, some is kept for the log.
    package let hasRoomForStore: @Sendable (_ root: String) -> Bool
    private let makeConsumer: @Sendable (_ place: FileLock?) -> any LogConsumer

    /// The owning side, for a worker. `place` names the last one that ran here, if others may own partitions too.
    package func consumer(at place: FileLock?) -> any LogConsumer { makeConsumer(place) }

    /// Problems of the log's settings beyond their form, by key. Every program loads its settings with this check, so
    /// that all refuse the same problems as `config check`.
    package static func problems(of settings: Settings) -> [(key: String, message: String)] {
        (settings.kafkaConfiguration?.problems ?? []).map { ($0.key, $0.message) }
    }

    /// Connects, or opens the file and creates it if it does not exist.
    ///
    /// - Parameters:
    ///   - notice: receives events that help an operator to find trouble.
    ///   - detail: receives more text on them.
    package static func open(
        _ settings: Settings, notice: @escaping @Sendable (String) -> Void = { _ in },
        detail: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> ChosenLog {
        guard let configuration = settings.kafkaConfiguration else { return try embedded(settings, notice) }
        let log = try await KafkaLog.open(configuration, notice: notice, detail: detail)
        return ChosenLog(
            log: log, indexDirectory: "\(settings.indexDirectory)/kafka-\(log.clusterID)-\(configuration.prefix)",
            isShared: true, hasRoomForStore: { _ in true }, makeConsumer: { KafkaLogConsumer(log, at: $0) })
    }

    /// Opens the log for a publisher.
    /// - Failure: a job topic removes jobs.
    package static func publishing(_ settings: Settings) async throws -> any Log {
        let log = try await open(settings).log
        do { try await (log as? KafkaLog)?.checkPublishing() } catch {
            await log.close()
            throw error
        }
        return log
    }

    /// Opens the log for a worker that waits for brokers, which may start later. Only an unreachable cluster is
    /// awaited. Wrong settings, a refused client and missing topics are thrown, since waiting does not change them.
    ///
    /// - Parameter waits: receives the reason after each failed attempt.
    package static func openWhenItResponds(
        _ settings: Settings, notice: @escaping @Sendable (String) -> Void,
        detail: @escaping @Sendable (String) -> Void,
        waits: (LogFailure) -> Void
    ) async throws -> ChosenLog {
        while true {
            do {
                return try await open(settings, notice: notice, detail: detail)
            } catch let failure as LogFailure where failure.kind == .unavailable && settings.kafkaConfiguration != nil {
                waits(failure)
                try await Task.sleep(for: pause)
            }
        }
    }

    /// Pause between two attempts, each of which takes up to `kafka.timing.response`.
    private static let pause = Duration.seconds(1)

    /// The same log for a reader: it creates nothing and joins no group.
    package static func view(_ settings: Settings) async throws(LogFailure) -> any LogView {
        if let configuration = settings.kafkaConfiguration { return try await KafkaLogView.open(configuration) }
        return try EmbeddedLogView(settings.logDirectory)
    }

    /// The same log for a command that changes nothing: an embedded one may be on read-only media.
    package static func reading(_ settings: Settings) async throws -> any Log {
        if let configuration = settings.kafkaConfiguration {
            return try await KafkaLog.open(configuration, notice: { _ in }, detail: { _ in })
        }
        return try EmbeddedLogView(settings.logDirectory)
    }

    /// Writes an embedded log to one new file, while a worker may run. Returns the file's length in bytes; nil: the log
    /// is not embedded.
    package static func backUp(_ settings: Settings, to file: String) async throws -> Int? {
        guard settings.embeddedLogFile != nil else { return nil }
        let view = try EmbeddedLogView(settings.logDirectory)
        let bytes = try await view.backUp(to: file)
        await view.close()
        return bytes
    }

    private static func embedded(_ settings: Settings, _ notice: (String) -> Void) throws -> ChosenLog {
        settings.makeData()
        let log = try EmbeddedLog(
            settings.logDirectory,
            EmbeddedLogConfiguration(
                partitions: settings.log.partitions, outcomesKept: settings.log.outcomesKept,
                byteLimit: settings.log.byteLimit, reserve: settings.log.reserve))
        let path = settings.logDirectory
        for text in log.notices { notice(text) }
        return ChosenLog(
            log: log, indexDirectory: settings.indexDirectory, isShared: false,
            hasRoomForStore: { root in !FileSystem.isOneDisk(root, path) || log.keepsRoom },
            makeConsumer: { _ in EmbeddedLogConsumer(log) })
    }
}

extension Settings {
    /// Creates the data directory. If it contains the store, web servers must be able to enter it, though they need not
    /// see its other files. Later users of the directory report failures.
    package func makeData() {
        let holdsStore = ChosenStore.site(self).folders.contains { $0.isPublic && $0.path.hasPrefix(data + "/") }
        try? Folder.make(data, mode: holdsStore ? 0o711 : FileMode.own.folders)
    }
}
