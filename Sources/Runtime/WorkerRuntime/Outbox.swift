internal import Clocks
internal import Jobs
internal import Partition
internal import Ports
internal import Records

/// A partition's answers on their way to the log: appended in batches, one at a time, until each is acknowledged.
///
/// A record's offset counts as finished only when everything that answers it is durable. Each partition has a box of its
/// own, so that one whose leader is away holds back no other.
struct Outbox {
    /// An answer that nobody has written down yet: that is a job's largest part here, and any core may do it.
    struct Answer: Sendable {
        /// Without what its answer has no more use for: a foreign record may have megabytes, in its key and headers too.
        let record: Record
        let disposition: Disposition
        let at: WallTime

        /// - Parameter key: of an outcome that has no source.
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

    /// What goes to the log together.
    struct Batch: Sendable {
        /// Not acknowledged the last time.
        let again: Written
        let new: [Answer]
    }

    private var again = Written()
    private var waiting: [Answer] = []
    private var isSending = false
    /// By topic, records that are decided and whose answer is not acknowledged.
    private var answered = [Int](repeating: 0, count: Topic.allCases.count)

    var isEmpty: Bool { !isSending && again.isEmpty && waiting.isEmpty }
    func count(_ topic: Topic) -> Int { answered[topic.ordinal] }

    mutating func add(_ answer: Answer) {
        answered[answer.record.topic.ordinal] += 1
        waiting.append(answer)
    }

    /// The next batch, if none is on its way.
    mutating func next() -> Batch? {
        guard !isSending, !again.isEmpty || !waiting.isEmpty else { return nil }
        isSending = true
        defer { (again, waiting) = (Written(), []) }
        return Batch(again: again, new: waiting)
    }

    /// The batch came back; what was not acknowledged goes again, first.
    mutating func returned(_ finished: [RecordPlace], failed: Written) {
        for place in finished { answered[place.topic.ordinal] -= 1 }
        (again, isSending) = (failed, false)
    }
}
