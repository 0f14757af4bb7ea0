internal import CRdkafka
internal import Glibc
internal import ImageModel

extension Record {
    /// A copy of a fetched message. A message that is kept pins its whole fetch buffer, so that none is.
    ///
    /// - Parameter last: headers of the record before, most of which are the same: sharing them saves half of the copy.
    init(_ message: UnsafePointer<rd_kafka_message_t>, _ place: KafkaPlace, after last: inout [RecordHeader]) {
        var kind = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        let fields = message.pointee
        last = Self.headers(message, after: last)
        self.init(
            topic: place.topic, partition: place.partition, offset: fields.offset,
            timestamp: rd_kafka_message_timestamp(message, &kind),
            key: [UInt8](UnsafeRawBufferPointer(start: fields.key, count: fields.key_len)),
            value: fields.payload.map { [UInt8](UnsafeRawBufferPointer(start: $0, count: fields.len)) }, headers: last)
    }

    private static func headers(
        _ message: UnsafePointer<rd_kafka_message_t>, after last: [RecordHeader]
    ) -> [RecordHeader] {
        var list: OpaquePointer?
        guard rd_kafka_message_headers(message, &list).isNone, let list else { return [] }
        let count = rd_kafka_header_cnt(list)
        return [RecordHeader](unsafeUninitializedCapacity: count) { headers, filled in
            var name: UnsafePointer<CChar>?
            var start: UnsafeRawPointer?
            var size = 0
            while filled < count, rd_kafka_header_get_all(list, filled, &name, &start, &size).isNone, let name {
                let value = UnsafeRawBufferPointer(start: start, count: size)
                let header = filled < last.count && last[filled].isSame(name, value)
                    ? last[filled] : RecordHeader(String(cString: name), [UInt8](value))
                headers.initializeElement(at: filled, to: header)
                filled += 1
            }
        }
    }
}

extension RecordHeader {
    fileprivate func isSame(_ otherName: UnsafePointer<CChar>, _ otherValue: UnsafeRawBufferPointer) -> Bool {
        guard value.count == otherValue.count else { return false }
        return value.withUnsafeBytes { $0.elementsEqual(otherValue) } && name.withCString { strcmp($0, otherName) == 0 }
    }
}

/// Room for the messages of one call of librdkafka.
struct MessageBuffer: ~Copyable {
    static let capacity = 500
    let messages = UnsafeMutablePointer<UnsafeMutablePointer<rd_kafka_message_t>?>.allocate(capacity: capacity)
    deinit { messages.deallocate() }
}
