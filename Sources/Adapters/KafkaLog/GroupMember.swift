internal import CRdkafka
internal import KafkaSetup
internal import Ports
internal import Posix
internal import Records

/// The client that is a member of the group, with what belongs to it: pipe and queue of commits.
///
/// - Ownership: the queue is freed by `deinit`, before the client ends.
/// - Concurrency: the poll thread.
final class GroupMember {
    let client: KafkaClient
    /// librdkafka 2.0.2 has no fetch sessions: each request names every partition of every topic, and each record that comes
    /// costs one. So what nobody waits for is read by a client of its own, outside the group.
    let patient: KafkaClient
    let wake: WakePipe
    let commits: OpaquePointer
    private let configuration: KafkaConfiguration
    /// The group gave partitions, and librdkafka waits for the list of those that are taken up.
    var isListAwaited = false

    /// Slots of the pipe: events, commits, then the partitions' queues.
    static let firstSlot = 3

    init(_ configuration: KafkaConfiguration) throws(LogFailure) {
        self.configuration = configuration
        do throws(SystemFailure) { wake = try WakePipe() } catch { throw .unavailable(reason: error.description) }
        client = try KafkaClient(configuration, .member, wake: wake)
        patient = try KafkaClient(configuration, .patient, wake: wake)
        // It has nothing to tell the coordinator.
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
        list.add(configuration.name(.anchor), RD_KAFKA_PARTITION_UA)
        try rd_kafka_subscribe(client.handle, list.pointer).check("joining group \(configuration.group)")
    }

    /// Leaves the group and joins it again, as after a stall: the coordinator may think that we are still there.
    func rejoin() throws(LogFailure) {
        try rd_kafka_unsubscribe(client.handle).check("leaving group \(configuration.group)")
        try subscribe()
    }

    /// As the coordinator knows it; nil before that has answered.
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

    /// Takes up nothing, or gives all up: whatever librdkafka waits for. Where it is a list, none at all is no answer: it
    /// would wait for ever, and never join again (librdkafka 2.0.2, `rd_kafka_cgrp_unassign`).
    func unassign() {
        let none = PartitionList(capacity: 1)
        rd_kafka_assign(client.handle, isListAwaited ? none.pointer : nil)
        rd_kafka_assign(patient.handle, nil)
        isListAwaited = false
    }

    /// Offsets for the next commit, of topics that the member reads itself. Those of partitions that are not ours any more
    /// are left out by librdkafka.
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

    /// Begins to commit these offsets, lower ones too; the answer comes on `commits`. False if nothing was begun.
    ///
    /// Only while the partitions are held, and for what `commitStored` cannot do: an explicit commit after they are gone
    /// is accepted now and then.
    func commit(_ offsets: [KafkaPlace: Int64]) -> Bool {
        let list = list(offsets)
        return rd_kafka_commit_queue(client.handle, list.pointer, commits, nil, nil).isNone
    }

    /// Begins to commit what was stored; the answer comes on `commits`. False if nothing was begun.
    func commitStored() -> Bool { rd_kafka_commit_queue(client.handle, nil, commits, nil, nil).isNone }
}
