internal import CRdkafka
internal import Clocks
internal import KafkaSetup
internal import Ports
internal import Posix
internal import Records

/// Reads partitions from outside, one at a time, without joining the group. All calls block.
///
/// - Concurrency: one thread.
final class KafkaReader {
    private let client: KafkaClient
    private let configuration: KafkaConfiguration

    /// A read ends after this many bytes, to bound its memory.
    private static let readBytes = 8 << 20

    /// Longest wait for a response.
    private let patience: Duration

    init(
        _ configuration: KafkaConfiguration, _ kind: ClientKind = .reader, patience: Duration? = nil
    ) throws(LogFailure) {
        (self.configuration, self.patience) = (configuration, patience ?? configuration.timing.response)
        client = try KafkaClient(configuration, kind)
    }

    /// - Parameter range: the offsets that the partition holds.
    func records(_ place: KafkaPlace, _ range: Range<Int64>, limit: Int) throws(LogFailure) -> [Record] {
        var records: [Record] = []
        var bytes = 0
        try scan(place, range) { record in
            bytes += record.key.count + (record.value?.count ?? 0)
            records.append(record)
            return records.count < limit && bytes < Self.readBytes
        }
        return records
    }

    /// Append times of the records at these offsets, all asked at once; nil for an offset without a record.
    ///
    /// - Parameter isFirstAfter: whether the next record counts for an offset without a record.
    func timestamps(
        at points: [KafkaPlace: Int64], isFirstAfter: Bool = false
    ) -> [KafkaPlace: Result<WallTime?, LogFailure>] {
        var found: [KafkaPlace: Result<WallTime?, LogFailure>] = [:]
        let list = PartitionList(capacity: points.count)
        for (place, offset) in points {
            list.add(configuration.name(place.topic), place.partition.number, offset: offset)
        }
        client.learnLeaders(of: points.keys.map(\.topic))
        let error = rd_kafka_assign(client.handle, list.pointer)
        defer { rd_kafka_assign(client.handle, nil) }
        let deadline = SystemTime.monotonic + patience
        while error.isNone, found.count < points.count, SystemTime.monotonic < deadline {
            guard let message = rd_kafka_consumer_poll(client.handle, 500) else { continue }
            defer { rd_kafka_message_destroy(message) }
            guard let name = rd_kafka_topic_name(message.pointee.rkt).map({ String(cString: $0) }),
                let place = points.keys.first(where: {
                    $0.partition.number == message.pointee.partition && configuration.name($0.topic) == name
                }), found[place] == nil
            else { continue }
            switch message.pointee.err {
            case RD_KAFKA_RESP_ERR_NO_ERROR:
                let isThere = isFirstAfter || message.pointee.offset == points[place]
                found[place] = .success(isThere ? Record(message, place).timestamp : nil)
            case RD_KAFKA_RESP_ERR__PARTITION_EOF: found[place] = .success(nil)
            default:
                found[place] = .failure(
                    LogFailure(message.pointee.err, "reading \(name), partition \(place.partition)"))
            }
        }
        for place in points.keys where found[place] == nil {
            let subject = "reading \(configuration.name(place.topic)), partition \(place.partition)"
            found[place] = .failure(
                error.isNone
                    ? .unavailable(reason: "\(subject): no response within \(patience.description)")
                    : LogFailure(error, subject))
        }
        return found
    }

    /// The newest record of each key, in the keys' order, without tombstones.
    func latest(_ place: KafkaPlace, _ range: Range<Int64>, keyPrefix prefix: [UInt8]) throws(LogFailure) -> [Record] {
        var newest: [[UInt8]: Record] = [:]
        try scan(place, range) { record in
            if record.key.starts(with: prefix) { newest[record.key] = record.value == nil ? nil : record }
            return true
        }
        return newest.values.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    }

    /// Reads until `body` returns false, or to the range's end. Offsets have gaps, even at the end, so librdkafka's
    /// end-of-partition event marks the end.
    private func scan(
        _ place: KafkaPlace, _ range: Range<Int64>, _ body: (Record) -> Bool
    ) throws(LogFailure) {
        if range.isEmpty { return }
        let list = PartitionList(capacity: 1)
        list.add(configuration.name(place.topic), place.partition.number, offset: range.lowerBound)
        client.learnLeaders(of: [place.topic])
        try rd_kafka_assign(client.handle, list.pointer).check("reading \(configuration.name(place.topic))")
        defer { rd_kafka_assign(client.handle, nil) }
        var deadline = SystemTime.monotonic + patience
        while SystemTime.monotonic < deadline {
            guard let message = rd_kafka_consumer_poll(client.handle, 500) else { continue }
            defer { rd_kafka_message_destroy(message) }
            let offset = message.pointee.offset
            switch message.pointee.err {
            case RD_KAFKA_RESP_ERR_NO_ERROR:
                if offset >= range.upperBound { return }
                if offset >= range.lowerBound, !body(Record(message, place)) { return }
                if offset + 1 >= range.upperBound { return }
            case RD_KAFKA_RESP_ERR__PARTITION_EOF: if offset >= range.upperBound { return }
            default: throw LogFailure(message.pointee.err, "reading \(configuration.name(place.topic))")
            }
            deadline = SystemTime.monotonic + patience
        }
        let subject = "reading \(configuration.name(place.topic)), partition \(place.partition)"
        throw .unavailable(reason: "\(subject): no response within \(patience.description)")
    }
}
