internal import CRdkafka
internal import ImageModel

extension Record {
    /// A copy of a fetched message. A message that is kept pins its whole fetch buffer, so that none is.
    init(_ message: UnsafePointer<rd_kafka_message_t>, _ place: KafkaPlace) {
        let message = message
        var kind = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        let fields = message.pointee
        self.init(
            topic: place.topic, partition: place.partition, offset: fields.offset,
            timestamp: rd_kafka_message_timestamp(message, &kind), key: Self.bytes(fields.key, fields.key_len),
            value: fields.payload == nil ? nil : Self.bytes(fields.payload, fields.len), headers: Self.headers(message))
    }

    private static func bytes(_ start: UnsafeRawPointer?, _ count: Int) -> [UInt8] {
        [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }

    private static func headers(_ message: UnsafePointer<rd_kafka_message_t>) -> [RecordHeader] {
        var list: OpaquePointer?
        guard rd_kafka_message_headers(message, &list).isNone, let list else { return [] }
        let count = rd_kafka_header_cnt(list)
        return [RecordHeader](unsafeUninitializedCapacity: count) { headers, filled in
            var name: UnsafePointer<CChar>?
            var value: UnsafeRawPointer?
            var size = 0
            while filled < count, rd_kafka_header_get_all(list, filled, &name, &value, &size).isNone, let name {
                headers.initializeElement(at: filled, to: RecordHeader(String(cString: name), bytes(value, size)))
                filled += 1
            }
        }
    }
}

/// Room for the messages of one call of librdkafka.
struct MessageBuffer: ~Copyable {
    static let capacity = 500
    let messages = UnsafeMutablePointer<UnsafeMutablePointer<rd_kafka_message_t>?>.allocate(capacity: capacity)
    deinit { messages.deallocate() }
}
