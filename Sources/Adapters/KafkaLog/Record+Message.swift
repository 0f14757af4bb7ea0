internal import CRdkafka
internal import Clocks
internal import Glibc
internal import Records

extension Record {
    /// Copies a fetched message. A kept message would pin its whole fetch buffer, so none is kept.
    init(_ message: UnsafePointer<rd_kafka_message_t>, _ place: KafkaPlace) {
        var kind = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        let fields = message.pointee
        self.init(
            topic: place.topic, partition: place.partition, offset: fields.offset,
            timestamp: WallTime(milliseconds: rd_kafka_message_timestamp(message, &kind)),
            key: [UInt8](UnsafeRawBufferPointer(start: fields.key, count: fields.key_len)),
            value: fields.payload.map { [UInt8](UnsafeRawBufferPointer(start: $0, count: fields.len)) },
            headers: Self.headers(message))
    }

    private static func headers(_ message: UnsafePointer<rd_kafka_message_t>) -> RecordHeaders {
        var list: OpaquePointer?
        guard rd_kafka_message_headers(message, &list).isNone, let list else { return [] }
        var headers = RecordHeaders(reserving: 256)
        var name: UnsafePointer<CChar>?
        var start: UnsafeRawPointer?
        var (size, next) = (0, 0)
        while rd_kafka_header_get_all(list, next, &name, &start, &size).isNone, let name {
            headers.append(
                UnsafeRawBufferPointer(start: name, count: strlen(name)),
                UnsafeRawBufferPointer(start: start, count: size))
            next += 1
        }
        return headers
    }
}

/// Buffer for the messages of one call of librdkafka.
struct MessageBuffer: ~Copyable {
    static let capacity = 500
    let messages = UnsafeMutablePointer<UnsafeMutablePointer<rd_kafka_message_t>?>.allocate(capacity: capacity)
    deinit { messages.deallocate() }
}
