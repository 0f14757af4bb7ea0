internal import CRdkafka
internal import KafkaSetup
internal import Ports
internal import Records
internal import Synchronization

/// A batch on its way to the broker: a slot for each record, one result for the whole batch.
///
/// Each message carries the address of its slot, so that its delivery report finds the slot.
///
/// - Ownership: keeps itself alive until every slot is settled.
/// - Concurrency: each slot is settled once, by the caller that refused the record or by the thread of the delivery
///   reports. The count makes all slots visible to the last one that settles.
final class AppendBatch: @unchecked Sendable {
    struct Slot {
        unowned(unsafe) let batch: AppendBatch
        var result: AppendResult
        /// The doubt count of `AcknowledgedPlaces` when the record was handed over.
        var doubts = 0
    }

    let records: [NewRecord]
    private let slots: UnsafeMutablePointer<Slot>
    private let left: Atomic<Int>
    private let answer: @Sendable ([AppendResult]) -> Void

    init(_ records: [NewRecord], answer: @escaping @Sendable ([AppendResult]) -> Void) {
        (self.records, self.answer) = (records, answer)
        left = Atomic(records.count)
        slots = .allocate(capacity: records.count)
        _ = Unmanaged.passRetained(self)
        slots.initialize(repeating: Slot(batch: self, result: .unknown(.closed)), count: records.count)
    }

    deinit {
        slots.deinitialize(count: records.count)
        slots.deallocate()
    }

    func slot(_ index: Int, doubts: Int) -> UnsafeMutableRawPointer {
        slots[index].doubts = doubts
        return UnsafeMutableRawPointer(slots + index)
    }

    func settle(_ index: Int, _ result: AppendResult) {
        slots[index].result = result
        guard left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
        answer((0..<records.count).map { slots[$0].result })
        Unmanaged.passUnretained(self).release()
    }

    /// Settles the slot that a delivery report belongs to.
    static func settle(_ message: UnsafePointer<rd_kafka_message_t>, _ places: borrowing Mutex<AcknowledgedPlaces>) {
        guard let address = message.pointee._private else { return }
        let slot = address.assumingMemoryBound(to: Slot.self)
        let batch = slot.pointee.batch
        let index = slot - batch.slots
        let error = message.pointee.err
        if error.isNone {
            let (record, offset) = (batch.records[index], message.pointee.offset)
            let doubts = slot.pointee.doubts
            let isPlaced = places.withLock {
                $0.take(offset, of: record.topic, record.partition, doubts: doubts)
            }
            batch.settle(index, isPlaced ? .acknowledged(offset) : .unknown(.unplaced(record)))
        } else {
            let failure = LogFailure(error, of: batch.records[index])
            let isCertain = rd_kafka_message_status(message) == RD_KAFKA_MSG_STATUS_NOT_PERSISTED
            batch.settle(index, isCertain ? .refused(failure) : .unknown(failure))
        }
    }
}

extension LogFailure {
    fileprivate static func unplaced(_ record: NewRecord) -> LogFailure {
        .unavailable(
            reason:
                "a record of \(record.topic.rawValue), partition \(record.partition), was acknowledged without a place of its own"
        )
    }

    /// The reason why a record was not appended.
    init(_ error: rd_kafka_resp_err_t, of record: NewRecord) {
        if error == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE {
            self = .tooLarge(topic: record.topic, bytes: record.byteCount, limit: KafkaConfiguration.recordBytes)
        } else {
            self.init(error, "appending to \(record.topic.rawValue), partition \(record.partition)")
        }
    }
}
