package import Ports
internal import Posix
package import Records

/// The log of one machine: topics, partitions and committed offsets in one SQLite file, in a folder of its own.
///
/// Any process may open it to append and to read; `EmbeddedLogConsumer` is the side of the one worker that owns it. An
/// acknowledged append survives the death of the process, and of the machine as far as its disk keeps what it synced.
///
/// - Concurrency: appends are committed in groups by a thread of ours, reads are done on another.
package final class EmbeddedLog: Log {
    package let partitionCount: Int
    package let hasOwnClock = false
    /// What the person who configured the log should know; empty if all is as configured.
    package let notices: [String]
    let folder: LogFolder
    let writer: LogWriter
    private let reads: LogReads

    /// Opens the log in `path`, or makes it; blocks for some milliseconds.
    package init(_ path: String, _ configuration: EmbeddedLogConfiguration = .init()) throws(LogFailure) {
        folder = try LogFolder(path, configuration)
        partitionCount = folder.partitionCount
        var notices: [String] = []
        if partitionCount != configuration.partitions {
            notices.append(
                "The log at \(path) has \(partitionCount) partition\(partitionCount == 1 ? "" : "s"), not the \(configuration.partitions) of log.partitions: "
                    + "the number is fixed when a log is made. Set log.partitions to \(partitionCount), or name another data directory."
            )
        }
        if configuration.reserve > 0, !folder.reserve.isPossible {
            notices.append(
                "The disk of \(path) takes no room in advance (fallocate), so log.reserve holds none of it: where others fill "
                    + "the disk, the worker waits for room that a person makes. Give the log a disk of its own, or ext4 or XFS."
            )
        }
        self.notices = notices
        writer = LogWriter(folder, configuration)
        reads = LogReads(folder)
        writer.start()
    }

    package func append(_ records: [NewRecord]) async -> [AppendResult] { await writer.append(records) }

    package func bounds(_ topic: Topic, _ partition: PartitionID) async throws(LogFailure) -> Range<Int64> {
        try await reads.bounds(TablePlace(topic: topic, partition: partition))
    }

    package func committed(_ topic: Topic, _ partition: PartitionID) async throws(LogFailure) -> Int64? {
        try await reads.committed(TablePlace(topic: topic, partition: partition))
    }

    package func sights(at places: [LogPoint]) async -> [Result<LogSight, LogFailure>] {
        await reads.sights(at: places)
    }

    package func partitionOffsets(
        _ topics: [Topic], _ partitions: [PartitionID]
    ) async throws(LogFailure) -> [PartitionOffsets] {
        try await reads.offsets(
            of: topics.flatMap { topic in partitions.map { TablePlace(topic: topic, partition: $0) } })
    }

    package func read(
        _ topic: Topic, _ partition: PartitionID, from offset: Int64, limit: Int
    ) async throws(LogFailure) -> [Record] {
        try await reads.records(TablePlace(topic: topic, partition: partition), from: offset, limit: limit)
    }

    package func latest(
        _ topic: Topic, _ partition: PartitionID, keyPrefix prefix: [UInt8]
    ) async throws(LogFailure) -> [Record] {
        try await reads.latest(TablePlace(topic: topic, partition: partition), keyPrefix: prefix)
    }

    package func owner(of partition: PartitionID) async throws(LogFailure) -> String? { folder.owner }

    /// Whether the disk has the room that is kept for the log, so that others may fill it: the store, where it is on the same.
    package var keepsRoom: Bool { writer.keepsRoom }

    package func close() async {
        await writer.close()
        await reads.close()
    }
}

/// Reads for whoever does not own the log, on a thread of ours.
private actor LogReads {
    private nonisolated let thread = PollThread("log reader")
    private let folder: LogFolder
    private var reader: LogReader?
    private var isClosed = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(_ folder: LogFolder) { self.folder = folder }

    func bounds(_ place: TablePlace) throws(LogFailure) -> Range<Int64> { try opened().bounds(place) }
    func committed(_ place: TablePlace) throws(LogFailure) -> Int64? { try opened().committed(place) }

    func sights(at points: [LogPoint]) -> [Result<LogSight, LogFailure>] {
        do throws(LogFailure) {
            let reader = try opened()
            return try reader.together { points.map { sight(at: $0, reader) } }
        } catch {
            return points.map { _ in .failure(error) }
        }
    }

    private func sight(at point: LogPoint, _ reader: LogReader) -> Result<LogSight, LogFailure> {
        do throws(LogFailure) {
            let place = TablePlace(topic: point.topic, partition: point.partition)
            let record = try point.offset.flatMap { offset throws(LogFailure) in
                try reader.records(place, from: offset, limit: 1).first { $0.offset == offset }
            }
            return .success(LogSight(bounds: try reader.bounds(place), timestamp: record?.timestamp))
        } catch { return .failure(error) }
    }

    func offsets(of places: [TablePlace]) throws(LogFailure) -> [PartitionOffsets] {
        let reader = try opened()
        return try reader.together { () throws(LogFailure) in
            var found: [PartitionOffsets] = []
            for place in places {
                found.append(
                    PartitionOffsets(
                        topic: place.topic, partition: place.partition, bounds: try reader.bounds(place),
                        committed: try reader.committed(place)))
            }
            return found
        }
    }

    func records(_ place: TablePlace, from offset: Int64, limit: Int) throws(LogFailure) -> [Record] {
        try opened().records(place, from: offset, limit: limit)
    }
    func latest(_ place: TablePlace, keyPrefix: [UInt8]) throws(LogFailure) -> [Record] {
        try opened().latest(place, keyPrefix: keyPrefix)
    }
    func close() { (reader, isClosed) = (nil, true) }

    private func opened() throws(LogFailure) -> LogReader {
        if let reader { return reader }
        guard !isClosed else { throw .closed }
        let opened = try LogReader.open(folder)
        reader = opened
        return opened
    }
}
