package import Records

/// A partition, owned in an epoch: who appends as its owner says in which, so that what was decided in one ownership is
/// not written when it is over.
package struct Ownership: Sendable, Hashable {
    package let partition: PartitionID
    package let epoch: Int64

    package init(_ partition: PartitionID, epoch: Int64) { (self.partition, self.epoch) = (partition, epoch) }
}
