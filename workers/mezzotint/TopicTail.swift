internal import Clocks
import Ports
internal import Records

/// Reads on in one topic, all partitions together, in the order of append times.
struct TopicTail {
    private let log: any Log
    private let topic: Topic
    /// Offset at which the next reading of each partition starts.
    private var next: [PartitionID: Int64] = [:]

    /// Starts at the first record that the log keeps.
    init(_ topic: Topic, in log: any Log) { (self.log, self.topic) = (log, topic) }

    /// Starts behind the last record that the log has now.
    init(behind topic: Topic, in log: any Log) async throws {
        self.init(topic, in: log)
        for place in try await log.partitionOffsets([topic], log.partitions) {
            next[place.partition] = place.bounds.upperBound
        }
    }

    /// Passes on the records that the log has now and that were not passed on yet.
    mutating func read(_ body: (Record) throws -> Void) async throws {
        let places = try await log.partitionOffsets([topic], log.partitions)
        var slices: [Slice] = []
        for place in places {
            let start = max(next[place.partition] ?? 0, place.bounds.lowerBound)
            guard start < place.bounds.upperBound else { continue }
            var slice = Slice(partition: place.partition, next: start, end: place.bounds.upperBound)
            try await fill(&slice, of: places.count)
            slices.append(slice)
        }
        while let place = slices.indices.min(by: { slices[$0].time < slices[$1].time }) {
            guard let record = slices[place].records.popLast() else {
                next[slices[place].partition] = slices[place].end
                slices.remove(at: place)
                continue
            }
            try body(record)
            if slices[place].records.isEmpty { try await fill(&slices[place], of: places.count) }
        }
    }

    private func fill(_ slice: inout Slice, of count: Int) async throws {
        guard slice.next < slice.end else { return }
        let records = try await log.read(
            topic, slice.partition, from: slice.next, limit: max(Self.least, Self.most / count))
        slice.records = records.filter { $0.offset < slice.end }.reversed()
        // Offsets have gaps, at the end too.
        slice.next = records.last.map { $0.offset + 1 } ?? slice.end
    }

    /// Records of all partitions, and least records of one, that are in memory.
    private static let (most, least) = (4_000, 50)

    private struct Slice {
        let partition: PartitionID
        /// Offset behind the records.
        var next: Int64
        let end: Int64
        /// Newest first.
        var records: [Record] = []

        var time: WallTime { records.last?.timestamp ?? .distantPast }
    }
}
