internal import CRdkafka
internal import KafkaSetup
internal import Ports
internal import Posix
internal import Records

/// The client that is a member of the group, with its pipe and its queue of commits.
///
/// - Ownership: the queue is freed by `deinit`, before the client ends.
/// - Concurrency: the poll thread.
final class GroupMember {
    let client: KafkaClient
    /// Reads `control` and the old retry topics outside the group. librdkafka 2.0.2 has no fetch sessions: each request
    /// names every partition of every topic, and each record that arrives costs one request. So these topics have a
    /// client of their own.
    let patient: KafkaClient
    let wake: WakePipe
    let commits: OpaquePointer
    private let configuration: KafkaConfiguration
    /// Whether the group assigned partitions, and librdkafka waits for the list of those that this member takes up.
    var isListAwaited = false

    /// Slots of the pipe: events, commits, then the partitions' queues.
    static let firstSlot = 3

    init(_ configuration: KafkaConfiguration) throws(LogFailure) {
        self.configuration = configuration
        do throws(SystemFailure) { wake = try WakePipe() } catch { throw .unavailable(reason: error.description) }
        client = try KafkaClient(configuration, .member, wake: wake)
        patient = try KafkaClient(configuration, .patient, wake: wake)
        // This client never joins the group, so its end need not wait for the coordinator.
        patient.abandon()
        commits = rd_kafka_queue_new(client.handle)
        for (slot, queue) in [client.events, commits, patient.events].enumerated() {
            var payload = UInt16(slot)
            rd_kafka_queue_io_event_enable(queue, wake.writable, &payload, 2)
        }
    }

    deinit { rd_kafka_queue_destroy(commits) }

    func subscribe() throws(LogFailure) {
        let list = PartitionList(capacity: 1)
        list.add(configuration.name(.fingerprint), RD_KAFKA_PARTITION_UA)
        try rd_kafka_subscribe(client.handle, list.pointer).check("joining group \(configuration.group)")
    }

    /// Leaves the group and joins it again, as after a stall: the coordinator may still count this process as a member.
    func rejoin() throws(LogFailure) {
        try rd_kafka_unsubscribe(client.handle).check("leaving group \(configuration.group)")
        try subscribe()
    }

    /// Member id, as the coordinator knows it; nil before the coordinator has responded.
    var id: String? {
        guard let id = rd_kafka_memberid(client.handle) else { return nil }
        defer { rd_kafka_mem_free(client.handle, id) }
        return String(cString: id)
    }

    func leave() {
        if let error = rd_kafka_consumer_close_queue(client.handle, client.events) { rd_kafka_error_destroy(error) }
    }

    var hasLeft: Bool { rd_kafka_consumer_closed(client.handle) != 0 }
    func abandon() { client.abandon() }

    var isLost: Bool { rd_kafka_assignment_lost(client.handle) != 0 }

    /// The client that reads a topic.
    func client(for topic: Topic) -> KafkaClient { topic.isPatient ? patient : client }

    func assign(
        _ list: borrowing PartitionList, patiently others: borrowing PartitionList
    ) -> rd_kafka_resp_err_t {
        let error = rd_kafka_assign(patient.handle, others.pointer)
        isListAwaited = false
        return error.isNone ? rd_kafka_assign(client.handle, list.pointer) : error
    }

    /// Completes the rebalance that librdkafka waits for, with no partitions. If librdkafka waits for a list, the list
    /// must be empty rather than nil: it would wait for ever, and never join again (librdkafka 2.0.2,
    /// `rd_kafka_cgrp_unassign`).
    func unassign() {
        let none = PartitionList(capacity: 1)
        rd_kafka_assign(client.handle, isListAwaited ? none.pointer : nil)
        rd_kafka_assign(patient.handle, nil)
        isListAwaited = false
    }

    /// Stores offsets for the next commit, of topics that the member reads itself. librdkafka leaves out partitions
    /// that are no longer ours.
    func store(_ committedOffsets: [KafkaPlace: Int64]) {
        let list = list(committedOffsets)
        rd_kafka_offsets_store(client.handle, list.pointer)
    }

    private func list(_ offsets: [KafkaPlace: Int64]) -> PartitionList {
        let list = PartitionList(capacity: offsets.count)
        for (place, offset) in offsets {
            list.add(configuration.name(place.topic), place.partition.number, offset: offset)
        }
        return list
    }

    /// Begins to commit these offsets, even lower ones; the result arrives on `commits`. False if no commit began.
    ///
    /// Only while the partitions are owned, and only for offsets that `commitStored` cannot commit: brokers sometimes
    /// accept an explicit commit after the partitions are gone.
    func commit(_ offsets: [KafkaPlace: Int64]) -> Bool {
        let list = list(offsets)
        return rd_kafka_commit_queue(client.handle, list.pointer, commits, nil, nil).isNone
    }

    /// Begins to commit the stored offsets; the result arrives on `commits`. False if no commit began.
    func commitStored() -> Bool { rd_kafka_commit_queue(client.handle, nil, commits, nil, nil).isNone }
}
