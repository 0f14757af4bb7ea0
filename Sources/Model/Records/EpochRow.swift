package import Clocks
internal import JSONText

/// Owner of a partition, its epoch, and whether it left the partition with nothing in progress.
///
/// It is stored in the changelog under a reserved key, because librdkafka 2.0.2 loses commit metadata. If an owner
/// finds the flag unset, the previous owner crashed. `parked` has epoch rows of its own.
package struct EpochRow: Sendable, Hashable {
    package var partition: PartitionID
    package var epoch: Int64
    /// Host and process of the owner, for people.
    package var owner: String
    /// Set by a clean drain, cleared when the next owner starts.
    package var isClean: Bool
    package var at: WallTime

    package init(partition: PartitionID, epoch: Int64, owner: String, isClean: Bool, at: WallTime) {
        (self.partition, self.epoch, self.owner, self.isClean, self.at) = (partition, epoch, owner, isClean, at)
    }

    /// - Parameter topic: `variants` or `parked`.
    package func newRecord(topic: Topic = .variants) -> NewRecord {
        var json = JSONWriter(reserving: 128)
        json.beginObject()
        json.field("epoch", epoch)
        json.field("owner", owner)
        json.field("clean", isClean)
        json.field("at", at)
        json.endObject()
        return NewRecord(
            topic: topic, partition: partition, key: RecordKey.epoch(partition).bytes, value: json.bytes,
            headers: EventHeader.event(
                EventHeader.partitionOwned, id: "@epoch/\(partition)/\(epoch)-\(isClean ? "left" : "begun")", at: at,
                traceparent: nil))
    }

    init(partition: PartitionID, json: [UInt8]) throws(JSONFailure) {
        self = try JSONReader.read(json) { (reader) throws(JSONFailure) -> EpochRow in
            var epoch: Int64?
            var owner: String?
            var isClean: Bool?
            var at: WallTime?
            try reader.openObject()
            while let key = try reader.nextKey() {
                switch key {
                case "epoch": epoch = try reader.epoch()
                case "owner": owner = try reader.string()
                case "clean": isClean = try reader.boolean()
                case "at": at = try reader.time()
                default: try reader.skip()
                }
            }
            return EpochRow(
                partition: partition, epoch: try epoch.field("epoch"), owner: try owner.field("owner"),
                isClean: try isClean.field("clean"), at: try at.field("at"))
        }
    }
}
