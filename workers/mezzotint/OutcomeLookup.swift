internal import Canonical
internal import Clocks
import CommandLine
import Ports
import Posix
internal import Records

/// Searches the log for a job, or for the jobs of a source: in the source's partition, or in all of them.
struct OutcomeLookup {
    private let log: any Log
    private let isOfSource: Bool
    private let partitions: [PartitionID]
    /// Most records of one type to read: the newest outcomes, and the first unfinished records.
    private let limit: Int
    private var search: OutcomeSearch
    /// Where reading of a partition's outcomes ended.
    private var ends: [PartitionID: Int64] = [:]
    /// Outcomes from before this time are no longer kept, or were not read; nil: all outcomes were read.
    private(set) var outcomesSince: WallTime?
    private var progress = ReadingProgress()

    static let limit = 1_000_000

    init(_ subject: OutcomeSearch.Subject, in log: any Log, intake: Intake, limit: Int = limit) {
        (self.log, self.limit) = (log, limit)
        search = OutcomeSearch(subject, intake: intake)
        if case .source(let source) = subject {
            (isOfSource, partitions) = (true, [source.partition(of: log.partitionCount)])
        } else {
            (isOfSource, partitions) = (false, log.partitions)
        }
    }

    var ended: [OutcomeSearch.Ended] { search.ended }
    var pending: [OutcomeSearch.Pending] { search.pending }

    /// Unseen records that may contain the job; nil if a job was found.
    func unseen() async -> UnseenRecords? {
        guard ended.isEmpty, pending.isEmpty else { return nil }
        let unseen = await log.unseenRecords(in: partitions)
        return unseen.isEmpty ? nil : unseen
    }

    mutating func run() async throws {
        for partition in partitions { try await readOutcomes(partition) }
        for partition in partitions {
            let bounds = try await log.bounds(.dead, partition)
            try await read(.dead, partition, newest(of: bounds)..<bounds.upperBound)
        }
        // Searching for an ended job in a backlog of millions is slow, so it is avoided.
        guard isOfSource || search.ended.isEmpty else { return }
        try await readUnfinished()
        // A job that ended meanwhile was found in neither.
        if search.ended.isEmpty, search.pending.isEmpty {
            for partition in partitions { try await readOutcomes(partition) }
        }
    }

    private mutating func readOutcomes(_ partition: PartitionID) async throws {
        let bounds = try await log.bounds(.outcomes, partition)
        let newest = newest(of: bounds)
        let start = min(max(newest, ends[partition] ?? newest), bounds.upperBound)
        if newest > 0, ends[partition] == nil {
            let first = try await log.read(.outcomes, partition, from: newest, limit: 1).first?.timestamp
            outcomesSince = max(outcomesSince ?? .epoch, first ?? SystemTime.wall)
        }
        ends[partition] = bounds.upperBound
        try await read(.outcomes, partition, start..<bounds.upperBound)
    }

    private func newest(of bounds: Range<Int64>) -> Int64 {
        max(bounds.lowerBound, bounds.upperBound - Int64(limit / partitions.count))
    }

    private mutating func readUnfinished() async throws {
        for partition in partitions {
            if isOfSource {
                for record in try await log.latest(.parked, partition, keyPrefix: search.keyPrefix) { search.take(record) }
            } else {
                // A million rows at once would not fit into memory.
                try await read(.parked, partition, try await log.bounds(.parked, partition))
            }
        }
        for place in try await log.partitionOffsets(Topic.jobTopics, partitions) {
            let end = min(place.bounds.upperBound, place.start + Int64(limit / partitions.count))
            try await read(place.topic, place.partition, min(place.start, end)..<end)
        }
    }

    private mutating func read(_ topic: Topic, _ partition: PartitionID, _ range: Range<Int64>) async throws {
        var next = range.lowerBound
        while next < range.upperBound {
            // Jobs may have 64 KiB each.
            let records = try await log.read(topic, partition, from: next, limit: topic == .outcomes ? 2_000 : 500)
            guard let last = records.last else { break }
            for record in records where record.offset < range.upperBound { search.take(record) }
            progress.took(min(last.offset + 1, range.upperBound) - next, of: topic)
            next = last.offset + 1
        }
    }
}
