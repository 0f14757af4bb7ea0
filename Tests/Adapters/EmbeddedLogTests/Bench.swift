import Clocks
import EmbeddedLog
import Foundation
import Ports
import Records
import Synchronization
import TestSupport

/// What the tests of the embedded log share: records, a listener that says what came, the log's files.
enum Bench {
    static let p0 = PartitionID(0)

    static func job(_ text: String, in partition: PartitionID = p0, key: String = "key") -> NewRecord {
        NewRecord(topic: .jobsFast, partition: partition, key: Array(key.utf8), value: Array(text.utf8))
    }

    /// The tombstone of a dead letter, as programs before 0.2.0 wrote it; nil if the letter has no id.
    static func discard(_ deadLetter: Record) -> NewRecord? {
        guard deadLetter.topic == .dead, let id = deadLetter.header(EventHeader.id) else { return nil }
        return NewRecord(
            topic: .dead, partition: deadLetter.partition, key: deadLetter.key, value: nil,
            headers: [RecordHeader(EventHeader.discards, id)])
    }

    static func text(_ record: Record) -> String { String(decoding: record.value ?? [], as: UTF8.self) }

    static func size(_ path: String) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    }
}

/// Counts what is readable and passes it on, for a test to wait for.
final class Ears: LogListener {
    let readable: AsyncStream<(Topic, PartitionID)>
    private let sink: AsyncStream<(Topic, PartitionID)>.Continuation
    let failure = Mutex<LogFailure?>(nil)

    init() { (readable, sink) = AsyncStream.makeStream() }

    func hear(_ topic: Topic, _ partition: PartitionID) async {
        for await (t, p) in readable where t == topic && p == partition { return }
    }

    func assigned(
        _ partition: PartitionID, epoch: Int64, folded: ByFoldedTopic<Range<Int64>>
    ) -> ByFoldedTopic<Int64> { ByFoldedTopic { folded[$0].upperBound } }
    func readable(_ topic: Topic, _ partition: PartitionID) { sink.yield((topic, partition)) }
    func revoked(_ partition: PartitionID, deadline: Instant) {}
    func lost(_ partition: PartitionID) {}
    func halted(_ failure: LogFailure?) {}
    func failed(_ failure: LogFailure) {
        self.failure.withLock { $0 = failure }
        sink.finish()
    }
}
