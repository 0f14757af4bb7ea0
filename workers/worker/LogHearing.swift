internal import Clocks
internal import Ports
internal import Posix
internal import Records
internal import WorkerRuntime

/// What the log says of this worker's partitions when it is asked now and then: a scrape never waits for brokers.
struct LogHearing: Sendable {
    /// What waits; nil: the log did not answer.
    private(set) var lags: [PartitionLag]?
    /// Whether it answered the last time; nil before it was asked.
    private(set) var isConnected: Bool?
    /// When it was asked what it has not answered yet.
    private var askedAt: Instant?
    /// Brokers that are gone are no answer for several times as long: each question waits for them.
    private static let patience = Duration.seconds(5)
    /// Dead letters that stand, by partition, and the end of the topic that they were counted at.
    private var dead: [PartitionID: (end: Int64, letters: Int)] = [:]

    func deadLetters(of partition: PartitionID) -> Int? { dead[partition]?.letters }

    mutating func ask(at now: Instant) { askedAt = now }

    /// What is known now: nothing, of a log that does not answer.
    func known(at now: Instant) -> LogHearing {
        guard let askedAt, now - askedAt > Self.patience else { return self }
        var view = self
        (view.lags, view.isConnected) = (nil, false)
        return view
    }

    /// Asks the log once more.
    mutating func look(at log: any Log, _ status: WorkerStatus) async {
        askedAt = nil
        do {
            // A worker that owns nothing asks, too: else it would not learn that brokers are gone.
            let asked = status.owned.isEmpty ? [PartitionID(0)] : status.owned
            let ends = try await log.partitionOffsets([.dead], asked)
            let last = lags ?? []
            // What the worker has taken up it knows, and a committed offset that stands still was read before.
            lags = try await log.lags(try await log.partitionOffsets(Topic.worked, status.owned)) { offsets in
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

    /// Those partitions alone whose topic has grown: letters and what takes them back are records.
    private mutating func count(_ ends: [PartitionOffsets], in log: any Log) async throws {
        dead = dead.filter { partition, _ in ends.contains { $0.partition == partition } }
        for offsets in ends where dead[offsets.partition]?.end != offsets.bounds.upperBound {
            let letters = try await log.standingDeadLetters(in: offsets.partition, withBodies: false).letters
            dead[offsets.partition] = (offsets.bounds.upperBound, letters.count)
        }
    }
}
