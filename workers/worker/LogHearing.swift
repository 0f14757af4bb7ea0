internal import Clocks
internal import Ports
internal import Posix
internal import Records
internal import WorkerRuntime

/// The log's data on this worker's partitions, polled now and then: a scrape never waits for brokers.
struct LogHearing: Sendable {
    /// Lag; nil: the log did not respond.
    private(set) var lags: [PartitionLag]?
    /// Whether the last poll succeeded; nil before the first one.
    private(set) var isConnected: Bool?
    /// Start of the poll that has no response yet.
    private var askedAt: Instant?
    /// Time after which a pending poll counts as failed. Each request waits for brokers that are gone, so a poll takes
    /// several times as long.
    private static let patience = Duration.seconds(5)
    /// Open dead letters by partition, and the end of the topic at which they were counted.
    private var dead: [PartitionID: (end: Int64, deadLetters: Int)] = [:]

    func deadLetters(of partition: PartitionID) -> Int? { dead[partition]?.deadLetters }

    mutating func ask(at now: Instant) { askedAt = now }

    /// The current view; empty if the log does not respond.
    func known(at now: Instant) -> LogHearing {
        guard let askedAt, now - askedAt > Self.patience else { return self }
        var view = self
        (view.lags, view.isConnected) = (nil, false)
        return view
    }

    /// Polls the log once more.
    mutating func look(at log: any Log, _ status: WorkerStatus) async {
        askedAt = nil
        do {
            // A worker without partitions polls, too: otherwise it would not notice that brokers are gone.
            let asked = status.owned.isEmpty ? [PartitionID(0)] : status.owned
            let ends = try await log.partitionOffsets([.dead], asked)
            let last = lags ?? []
            // The worker knows the records it has read, and an unchanged committed offset was read before.
            lags = try await log.lags(try await log.partitionOffsets(Topic.consumed, status.owned)) { offsets in
                let (topic, partition) = (offsets.topic, offsets.partition)
                return KnownRecords(
                    finished: status.finished[partition]?[topic],
                    oldest: status.oldestTimes[partition]?[topic]
                        ?? last.first { ($0.topic, $0.partition, $0.start) == (topic, partition, offsets.start) }?
                        .oldest)
            }
            isConnected = true
            try await count(ends.filter { status.owned.contains($0.partition) }, in: log)
        } catch {
            (lags, isConnected) = (nil, false)
        }
    }

    /// Counts only partitions whose topic has grown: dead letters and their tombstones are records.
    private mutating func count(_ ends: [PartitionOffsets], in log: any Log) async throws {
        dead = dead.filter { partition, _ in ends.contains { $0.partition == partition } }
        for offsets in ends where dead[offsets.partition]?.end != offsets.bounds.upperBound {
            let deadLetters = try await log.standingDeadLetters(in: offsets.partition, withBodies: false).deadLetters
            dead[offsets.partition] = (offsets.bounds.upperBound, deadLetters.count)
        }
    }
}
