internal import CRdkafka

/// A list of topic-partitions with an offset each, in librdkafka's form.
///
/// - Ownership: one list, freed by `deinit`. Lists inside events belong to the events.
struct PartitionList: ~Copyable {
    let pointer: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>

    init(capacity: Int = 16) { pointer = rd_kafka_topic_partition_list_new(Int32(capacity)) }

    deinit { rd_kafka_topic_partition_list_destroy(pointer) }

    func add(_ topic: String, _ partition: Int32, offset: Int64 = Int64(RD_KAFKA_OFFSET_INVALID)) {
        rd_kafka_topic_partition_list_add(pointer, topic, partition).pointee.offset = offset
    }

    var count: Int { Int(pointer.pointee.cnt) }
    func offset(_ index: Int) -> Int64 { pointer.pointee.elems[index].offset }
    func error(_ index: Int) -> rd_kafka_resp_err_t { pointer.pointee.elems[index].err }

    /// The partitions in a list that has another owner.
    static func partitions(_ list: UnsafePointer<rd_kafka_topic_partition_list_t>, of topic: String) -> [Int32] {
        (0..<Int(list.pointee.cnt)).compactMap { index in
            let entry = list.pointee.elems[index]
            return String(cString: entry.topic) == topic ? entry.partition : nil
        }
    }
}
