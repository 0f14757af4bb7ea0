internal import Clocks
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
    struct Answer: Sendable {
        /// The record without parts that its outcome does not need. A mis-keyed record may have megabytes, in its key
        /// and headers too.
        let record: Record
        let disposition: Disposition
        let at: WallTime

        /// - Parameter key: record key of an outcome that has no source.
        init(_ record: Record, _ disposition: Disposition, key: [UInt8] = [], at now: WallTime) {
            var record = record
            record.key = key
            switch disposition {
            case .outcome, .owing, .paid, .changed, .dead: (record.value, record.headers) = (nil, [])
            case .retry, .rekey: break
            }
            (self.record, self.disposition, at) = (record, disposition, now)
        }
    }

    /// Outcomes that go to the log together.
    struct Batch: Sendable {
        /// Outcomes that were not acknowledged the last time.
        let again: Written
        let new: [Answer]
    }

    private var again = Written()
    private var waiting: [Answer] = []
    private var isSending = false
    /// Number of records, by topic, whose outcome is decided and not acknowledged.
    private var answered = [Int](repeating: 0, count: Topic.allCases.count)

    var isEmpty: Bool { !isSending && again.isEmpty && waiting.isEmpty }
    func count(_ topic: Topic) -> Int { answered[topic.ordinal] }

    mutating func add(_ answer: Answer) {
        answered[answer.record.topic.ordinal] += 1
        waiting.append(answer)
    }

    /// The next batch, if none is being appended.
    mutating func next() -> Batch? {
        guard !isSending, !again.isEmpty || !waiting.isEmpty else { return nil }
        isSending = true
        defer { (again, waiting) = (Written(), []) }
        return Batch(again: again, new: waiting)
    }

    /// Takes back a batch. Outcomes that were not acknowledged are appended again, first.
    mutating func returned(_ finished: [RecordPlace], failed: Written) {
        for place in finished { answered[place.topic.ordinal] -= 1 }
        (again, isSending) = (failed, false)
    }
}
