internal import CRdkafka
internal import Clocks
internal import Glibc
internal import KafkaSetup
internal import Ports
internal import Posix
internal import Records
internal import Synchronization

/// One idempotent producer of librdkafka. After a fatal error it is useless, and a new one replaces it.
///
/// - Ownership: owns the topics' handles, freed before the client.
/// - Concurrency: produced to from any thread; its events are served by one.
final class ProducerClient: @unchecked Sendable {
    private let client: KafkaClient
    /// Topic handles by the topic's ordinal.
    private let topics: [OpaquePointer]
    private let users = Atomic(0)
    private let places = Mutex(AcknowledgedPlaces())

    /// Connects and learns the whole cluster's metadata. Without it, the first append to each topic would wait for up
    /// to a second. Blocks.
    init(_ configuration: KafkaConfiguration) throws(LogFailure) {
        let client = try KafkaClient(configuration, .producer)
        let topics = Topic.allCases.compactMap { rd_kafka_topic_new(client.handle, configuration.name($0), nil) }
        (self.client, self.topics) = (client, topics)
        _ = try client.learnCluster(configuration)
    }

    deinit { for topic in topics { rd_kafka_topic_destroy(topic) } }

    /// Records may be handed over between `enter` and `leave`; no caller enters a client that was taken out of use.
    func enter() { users.add(1, ordering: .relaxed) }
    func leave() { users.subtract(1, ordering: .releasing) }

    /// Current doubt count of the record's partition, for its slot.
    func doubts(of record: NewRecord) -> Int { places.withLock { $0.doubts(of: record.topic, record.partition) } }

    /// Hands the record over without blocking; nil if it is on its way, and a delivery report will settle its slot.
    func produce(_ record: NewRecord, slot: UnsafeMutableRawPointer) -> rd_kafka_resp_err_t? {
        let headers = Self.headers(record.headers)
        let error = record.key.withUnsafeBytes { key in
            record.value.withBytes { value in
                withUnsafeTemporaryAllocation(of: rd_kafka_vu_t.self, capacity: 7) { fields in
                    var count = 0
                    func add(_ type: rd_kafka_vtype_t, _ set: (inout rd_kafka_vu_t) -> Void) {
                        var field = rd_kafka_vu_t()
                        field.vtype = type
                        set(&field)
                        fields.initializeElement(at: count, to: field)
                        count += 1
                    }
                    // An empty key or value is not null: any address will do for no bytes.
                    func bytes(_ bytes: UnsafeRawBufferPointer) -> (inout rd_kafka_vu_t) -> Void {
                        { field in
                            field.u.mem.ptr = bytes.baseAddress.map { UnsafeMutableRawPointer(mutating: $0) } ?? slot
                            field.u.mem.size = bytes.count
                        }
                    }
                    add(RD_KAFKA_VTYPE_RKT) { $0.u.rkt = topics[record.topic.ordinal] }
                    add(RD_KAFKA_VTYPE_PARTITION) { $0.u.i32 = record.partition.number }
                    add(RD_KAFKA_VTYPE_MSGFLAGS) { $0.u.i = RD_KAFKA_MSG_F_COPY }
                    add(RD_KAFKA_VTYPE_OPAQUE) { $0.u.ptr = slot }
                    add(RD_KAFKA_VTYPE_KEY, bytes(key))
                    if let value { add(RD_KAFKA_VTYPE_VALUE, bytes(value)) }
                    if let headers { add(RD_KAFKA_VTYPE_HEADERS) { $0.u.headers = headers } }
                    return rd_kafka_produceva(client.handle, fields.baseAddress, count)
                }
            }
        }
        guard let error else { return nil }
        // librdkafka owns the headers only once it accepted the record.
        if let headers { rd_kafka_headers_destroy(headers) }
        defer { rd_kafka_error_destroy(error) }
        return rd_kafka_error_code(error)
    }

    private static func headers(_ headers: RecordHeaders) -> OpaquePointer? {
        if headers.isEmpty { return nil }
        let list = rd_kafka_headers_new(8)
        headers.lend { name, value in
            // An empty value is not null: any address will do for no bytes.
            rd_kafka_header_add(
                list, name.baseAddress?.assumingMemoryBound(to: CChar.self), name.count,
                value.baseAddress ?? name.baseAddress, value.count)
        }
        return list
    }

    /// Serves events until one arrives, or a second passes; false if the producer is fatally broken.
    func serve(_ notice: (String) -> Void) -> Bool {
        guard let event = KafkaEvent(from: client.events, of: client, waiting: .seconds(1)) else { return true }
        switch event.kind {
        case RD_KAFKA_EVENT_DR:
            while let message = rd_kafka_event_message_next(event.pointer) { AppendBatch.settle(message, places) }
        case RD_KAFKA_EVENT_ERROR:
            notice(event.text)
            return !event.isFatal
        default:
            // The coordinator is starting: librdkafka retries, and an append that waits for too long fails by itself.
            if let line = event.logLine, line.facility != "GETPID" || !line.text.hasSuffix("retrying") {
                notice(line.text)
            }
        }
        return true
    }

    func refuseQueued() { rd_kafka_purge(client.handle, RD_KAFKA_PURGE_F_QUEUE) }

    /// Ends a wait in `serve`.
    func wake() { rd_kafka_queue_yield(client.events) }

    /// Waits for appends in progress until the deadline, then gives them up: every slot is settled when this returns.
    /// Blocks.
    func settleAll(until deadline: Instant) {
        while users.load(ordering: .acquiring) > 0 { sched_yield() }
        while rd_kafka_outq_len(client.handle) > 0, SystemTime.monotonic < deadline {
            if !serve({ _ in }) { break }
        }
        rd_kafka_purge(client.handle, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT)
        while rd_kafka_outq_len(client.handle) > 0 { _ = serve { _ in } }
    }

    /// Fails as if a broker had responded with an error that breaks idempotence; for tests.
    func breakFatally() {
        rd_kafka_test_fatal_error(client.handle, RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, "said by a test")
    }
}

extension [UInt8]? {
    fileprivate func withBytes<R>(_ body: (UnsafeRawBufferPointer?) -> R) -> R {
        switch self {
        case .none: body(nil)
        case .some(let bytes): bytes.withUnsafeBytes { body($0) }
        }
    }
}
