package import Clocks
package import Ports
internal import Posix
package import Records

/// The log of one machine, seen by somebody else: its file is opened for reading alone, and no lock of it is taken.
///
/// - Concurrency: reads are done one after another, on a thread of ours.
package actor EmbeddedLogView: LogView {
    package nonisolated let partitionCount: Int
    package nonisolated let isIndexed = true
    package nonisolated var isInPlace: Bool { folder.isInPlace }
    private nonisolated let thread = PollThread("log view")
    private nonisolated let folder: LogFolder.View
    private var reader: LogReader?
    private var isLocking = false

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Opens the log in `path`; one that is not there is not made.
    package init(_ path: String) throws(LogFailure) {
        folder = try LogFolder.View(path)
        partitionCount = folder.layout.partitions
    }

    package func offsets(of places: [LogPoint]) -> [Result<PartitionOffsets, LogFailure>] {
        places.map { point in
            result { reader throws(LogFailure) in
                let place = TablePlace(topic: point.topic, partition: point.partition)
                guard try reader.has(place) else {
                    return PartitionOffsets(
                        topic: point.topic, partition: point.partition, bounds: 0..<0, committed: nil)
                }
                // First: what is appended and finished between the two would be finished above the end.
                let committed = Topic.consumed.contains(point.topic) ? try reader.committed(place) : nil
                return PartitionOffsets(
                    topic: point.topic, partition: point.partition, bounds: try reader.bounds(place),
                    committed: committed)
            }
        }
    }

    package func members() -> [LogMember] {
        guard let owner = folder.owner else { return [] }
        let partitions = (0..<Int32(partitionCount)).map { PartitionID($0) }
        return [LogMember(id: owner, client: owner, host: "", partitions: partitions)]
    }

    package func appendTimes(at points: [LogPoint]) -> [Result<WallTime?, LogFailure>] {
        points.map { point in
            result { reader throws(LogFailure) in
                let place = TablePlace(topic: point.topic, partition: point.partition)
                return try reader.records(place, from: point.offset ?? 0, limit: 1).first?.timestamp
            }
        }
    }

    package func read(
        _ topic: Topic, _ partition: PartitionID, from offset: Int64, limit: Int
    ) throws(LogFailure) -> [Record] {
        let (reader, place) = (try opened(), TablePlace(topic: topic, partition: partition))
        return try reader.has(place) ? reader.records(place, from: offset, limit: limit) : []
    }

    package func latest(
        _ topic: Topic, _ partition: PartitionID, keyPrefix: [UInt8]
    ) throws(LogFailure) -> [Record] {
        let (reader, place) = (try opened(), TablePlace(topic: topic, partition: partition))
        return try reader.has(place) ? reader.latest(place, keyPrefix: keyPrefix) : []
    }

    package func close() { reader = nil }

    /// Writes one consistent copy to a new file, while a worker may run.
    func copy(to path: String) throws(LogFailure) { try logged(folder.copy(to: path)) }

    var identityOfFolder: FileSystem.Identity? { folder.identityOfFolder }

    private func result<Value>(_ ask: (LogReader) throws(LogFailure) -> Value) -> Result<Value, LogFailure> {
        do throws(LogFailure) { return .success(try ask(opened())) } catch { return .failure(error) }
    }

    private func opened() throws(LogFailure) -> LogReader {
        // On a read-only file system the first reader may come before a writer.
        if let reader, isLocking || !folder.isShared { return reader }
        let (opened, isLocking) = try folder.open()
        (reader, self.isLocking) = (opened, isLocking)
        return opened
    }
}
