package import Records

/// Identifier of one source that is being processed, unique in the worker.
package struct FlightID: Sendable, Hashable, Comparable {
    package let partition: PartitionID
    package let number: Int
    package init(_ partition: PartitionID, _ number: Int) { (self.partition, self.number) = (partition, number) }
    package static func < (a: Self, b: Self) -> Bool { (a.partition, a.number) < (b.partition, b.number) }
}
