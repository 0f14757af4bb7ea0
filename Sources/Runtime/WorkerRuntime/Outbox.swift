internal import Clocks
internal import ImageModel
internal import Jobs
internal import Partition
internal import Ports
internal import Records

/// A partition's outcomes on their way to the log. They are appended in batches, one batch at a time, until each is
/// acknowledged.
///
/// A record's offset counts as finished only when all records of its outcome are durable. Each partition has its own
/// outbox, so that one whose leader is unavailable holds back no other.
struct Outbox {
    /// An outcome before it is written as records. Writing is a job's largest cost here, and any core may do it.
    struct Completion: Sendable {
        /// The record without parts that its outcome does not need. A mis-keyed record may have megabytes, in its key
        /// and headers too.
        let record: Record
        let disposition: Disposition
        let at: WallTime
        /// Key of the row of a job that is parked, or was.
        let parked: ParkedKey?

        /// - Parameter key: record key of an outcome that has no source.
        init(_ record: Record, _ disposition: Disposition, key: [UInt8] = [], at now: WallTime) {
            var parked = ParkedKey(record)
            if case .park(let pending, _, _) = disposition, parked == nil {
                parked = ParkedKey(pending.job.source, JobIdentity(of: record))
            }
            self.parked = parked
            var record = record
            // The key of a parked record is kept, since its answers name the row by it.
            record.key = record.topic == .parked ? record.key : key
            switch disposition {
            case .outcome, .refreshing, .paid, .changed, .dead, .unpark, .move, .control: (record.value, record.headers) = (nil, [])
            case .park, .rekey: break
            }
            (self.record, self.disposition, at) = (record, disposition, now)
        }

        /// Whether it appends to `parked`, or its tombstone there follows. Only an owner that has opened its epoch may do that.
        fileprivate var needsParked: Bool {
            // An outcome may rely on the pending refresh of another that waits.
            if case .refreshing = disposition { return true }
            return parked != nil
        }
    }

    /// Outcomes that go to the log together.
    struct Batch: Sendable {
        /// Outcomes that were not acknowledged the last time.
        let again: Written
        let new: [Completion]
        /// Epoch of the owner in `parked`.
        let parkedEpoch: Int64
    }

    private var again = Written()
    private var waiting: [Completion] = []
    /// Answers that wait until the owner may append to `parked`. Their jobs keep their offsets.
    private var early: [Completion] = []
    private var isSending = false
    /// Number of records, by topic, whose outcome is decided and not acknowledged.
    private var waitingCounts = [Int](repeating: 0, count: Topic.allCases.count)

    var isEmpty: Bool { !isSending && again.isEmpty && waiting.isEmpty && early.isEmpty }
    func count(_ topic: Topic) -> Int { waitingCounts[topic.ordinal] }

    mutating func add(_ completion: Completion) {
        waitingCounts[completion.record.topic.ordinal] += 1
        waiting.append(completion)
    }

    /// The next batch, if none is being appended.
    ///
    /// - Parameters:
    ///   - parkedEpoch: epoch of the owner in `parked`.
    ///   - isOpen: whether the owner may append there.
    mutating func next(parkedEpoch: Int64, isOpen: Bool) -> Batch? {
        if isOpen {
            if !early.isEmpty { (waiting, early) = (early + waiting, []) }
        } else if waiting.contains(where: \.needsParked) {
            early += waiting.filter(\.needsParked)
            waiting.removeAll(where: \.needsParked)
        }
        guard !isSending, !again.isEmpty || !waiting.isEmpty else { return nil }
        isSending = true
        defer { (again, waiting) = (Written(), []) }
        return Batch(again: again, new: waiting, parkedEpoch: parkedEpoch)
    }

    /// Begins an append that no batch may overtake. False: a batch is being appended. It ends with `letGo`.
    mutating func hold() -> Bool {
        defer { isSending = true }
        return !isSending
    }

    /// Ends an append that was held for.
    mutating func letGo() { isSending = false }

    /// Gives up the answers that wait for `parked`, because the partition leaves: its next owner has their jobs.
    mutating func leave() {
        for completion in early { waitingCounts[completion.record.topic.ordinal] -= 1 }
        early = []
    }

    /// Takes back a batch. Outcomes that were not acknowledged are appended again, first.
    mutating func returned(_ finished: [RecordPlace], failed: Written) {
        for place in finished { waitingCounts[place.topic.ordinal] -= 1 }
        (again, isSending) = (failed, false)
    }
}
