internal import CRdkafka
internal import Clocks
internal import Ports
internal import Posix
internal import Records

/// Records that librdkafka has fetched from one partition of one topic, in a queue of its own.
///
/// - Ownership: one reference to the queue, given back by `deinit`.
/// - Concurrency: the poll thread.
final class PartitionQueue {
    let place: KafkaPlace
    /// Every record below this offset was handed out, or no longer exists.
    private(set) var position: Int64
    /// The next offset to read from librdkafka.
    var next: Int64 { early.last.map { $0.offset + 1 } ?? position }
    private let queue: OpaquePointer
    private let buffer = MessageBuffer()
    /// Records that `peek` read before the first `drain`.
    private var early: [Record] = []
    /// The partition's end when it was last reached: the changelog's last records may be compacted away.
    private var end: Int64 = 0
    private var failure: LogFailure?
    /// Whether reading went back: librdkafka starts over by itself if the log no longer holds its offset. No record is
    /// handed out until the consumer decides where reading continues.
    private var hasGoneBack = false
    /// Whether a seek to `position` is pending: records that librdkafka holds come from another offset.
    private(set) var isSeeking = false
    /// When the next refusal of a seek is reported, and the interval between two reports.
    private var nextRefusal = Instant.distantPast
    private static let refusalInterval = Duration.seconds(10)
    private let client: KafkaClient
    private let name: String

    /// Call it before the assignment: fetched records must find the queue unforwarded.
    init?(_ client: KafkaClient, _ place: KafkaPlace, name: String, from position: Int64, slot: Int, wake: Int32) {
        guard let queue = rd_kafka_queue_get_partition(client.handle, name, place.partition.number) else { return nil }
        (self.queue, self.place, self.position) = (queue, place, position)
        (self.client, self.name) = (client, name)
        rd_kafka_queue_forward(queue, nil)
        var payload = UInt16(slot)
        rd_kafka_queue_io_event_enable(queue, wake, &payload, 2)
    }

    deinit { rd_kafka_queue_destroy(queue) }

    /// Looks for records to drain. Afterwards the queue has some, or it is empty and wakes when more arrive. True if
    /// there is something to report.
    ///
    /// Call it once for every queue at each assignment, with or without a wake-up. Reading drops the records of an
    /// earlier assignment, and a queue that never becomes empty sends no wake-up again (30 of 30 queues after a
    /// rebalance with librdkafka 2.0.2).
    func peek() -> Bool {
        seek()
        guard !isSeeking else { return failure != nil }
        let oldEnd = end
        while early.isEmpty, fill(&early, upTo: 1) {}
        // The end may be reached without a record: the last one may be a transaction's marker.
        if early.isEmpty { position = max(position, end) }
        return !early.isEmpty || failure != nil || (place.topic.isFolded && end != oldEnd)
    }

    /// Fewer records than `limit` mean that the queue was emptied: a wake-up follows when more arrive.
    func drain(_ limit: Int) throws(LogFailure) -> [Record] {
        seek()
        guard !isSeeking else {
            guard let failure = exchange(&failure, with: nil) else { return [] }
            throw failure
        }
        var records = Array(early.prefix(limit))
        early.removeFirst(records.count)
        while records.count < limit, fill(&records, upTo: limit) {}
        if records.isEmpty, let failure {
            self.failure = nil
            throw failure
        }
        if let last = records.last { position = max(position, last.offset + 1) }
        if early.isEmpty { position = max(position, end) }
        return records
    }

    /// Reads from `offset` on. If librdkafka refuses the seek, it is retried, and no record is handed out before.
    func rewind(to offset: Int64) {
        (early, failure, end, position, hasGoneBack) = ([], nil, 0, offset, false)
        (isSeeking, nextRefusal) = (true, SystemTime.monotonic + Self.refusalInterval)
        seek()
    }

    /// Waits for librdkafka's own thread, which takes microseconds: only then does it know its earlier fetches as
    /// outdated. After an assignment, a partition is neither read nor stopped until the commit in progress has its
    /// result. Until then librdkafka refuses seeks.
    private func seek() {
        guard isSeeking else { return }
        let list = PartitionList(capacity: 1)
        list.add(name, place.partition.number, offset: position)
        let subject = "seeking in \(name), partition \(place.partition)"
        do throws(LogFailure) {
            // No limit: librdkafka 2.0.2 takes milliseconds for microseconds, and the call waits for its own thread,
            // not for a broker.
            try check(rd_kafka_seek_partitions(client.handle, list.pointer, -1), subject)
            try list.error(0).check(subject)
            (isSeeking, failure) = (false, nil)
        } catch {
            let now = SystemTime.monotonic
            guard now >= nextRefusal else { return }
            (failure, nextRefusal) = (error, now + Self.refusalInterval)
        }
    }

    /// Makes one call of librdkafka; false if that emptied the queue. The timeout is 0, because any other waits until
    /// the buffer is full.
    private func fill(_ records: inout [Record], upTo limit: Int) -> Bool {
        let room = min(limit - records.count, MessageBuffer.capacity)
        let count = max(0, rd_kafka_consume_batch_queue(queue, 0, buffer.messages, room))
        records.reserveCapacity(records.count + count)
        for index in 0..<count {
            guard let message = buffer.messages[index] else { continue }
            switch message.pointee.err {
            case _ where isBehind(message.pointee, records.last):
                failure = .recreated(
                    topic: place.topic, partition: place.partition,
                    .wentBack(from: position, to: message.pointee.offset))
                hasGoneBack = true
            case RD_KAFKA_RESP_ERR_NO_ERROR: records.append(Record(message, place))
            case RD_KAFKA_RESP_ERR__PARTITION_EOF: end = max(end, message.pointee.offset)
            // The reset itself already reports more.
            case _ where hasGoneBack: break
            default:
                failure = LogFailure(
                    message.pointee.err, "reading \(place.topic.rawValue), partition \(place.partition)")
            }
            rd_kafka_message_destroy(message)
        }
        return count == room
    }

    /// Whether a record, or the end of the log, lies below the offset already read.
    private func isBehind(_ message: rd_kafka_message_t, _ last: Record?) -> Bool {
        guard message.err == RD_KAFKA_RESP_ERR_NO_ERROR || message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF else {
            return false
        }
        return hasGoneBack || message.offset < max(position, last.map { $0.offset + 1 } ?? 0)
    }
}
