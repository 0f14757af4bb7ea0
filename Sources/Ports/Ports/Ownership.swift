package import Records

/// A partition, owned in an epoch: who appends as its owner says in which, so that what was decided in one ownership is
/// not written when it is over.
package struct Ownership: Sendable, Hashable {
    package let partition: PartitionID
    package let epoch: Int64

    package init(_ partition: PartitionID, epoch: Int64) { (self.partition, self.epoch) = (partition, epoch) }
}

/// How a log whose partitions a group gives out numbers its ownerships: above every earlier one of the partition.
///
/// The changelog's end never shrinks, and each owner begins with a record in it; between two owners of whom the first never
/// got to that, the group's generation decides. It starts anew only when a group was gone for days. Small enough for the
/// whole numbers of JSON readers (2⁵³) up to 2³³ records in a changelog.
///
/// A changelog that was recreated does begin again. What an owner of the old one appends shows that: nobody reckons an epoch
/// from an offset that no record has yet. Of two epochs of which one is such, the generations tell the later. An owner of
/// 0.1.0 continued in a recreated changelog, in an epoch of an offset that none will ever have: its rows may land late, where the
/// next owner has long reckoned from lower offsets. `after` outbids it once generations have begun again.
package enum GroupEpoch {
    private static let generationBits: Int64 = 20
    private static let nowhere: Int64 = 1 << 32

    /// Highest epoch that counts in `parked`. Bids come to 2⁵² and a little more.
    package static let mostInParked: Int64 = 1 << 54

    package static func epoch(changelogEnd end: Int64, generation: Int64) -> Int64 {
        end << generationBits + generation
    }

    private static func generation(_ epoch: Int64) -> Int64 { epoch & (1 << generationBits - 1) }

    /// Whether an epoch that is told at this offset was reckoned in another log.
    package static func isOfAnotherLog(_ epoch: Int64, at offset: Int64) -> Bool { epoch >> generationBits > offset }

    /// Whether a record that names this epoch at this offset was meant for another log. An owner that had to outbid others
    /// (`after`) names an offset that no log has.
    package static func isStranded(_ epoch: Int64, at offset: Int64) -> Bool {
        isOfAnotherLog(epoch, at: offset) && epoch >> generationBits & nowhere == 0
    }

    /// Whether an epoch is before another one, each told at its offset.
    package static func isBefore(_ a: Int64, at aOffset: Int64, _ b: Int64, at bOffset: Int64) -> Bool {
        guard isOfAnotherLog(a, at: aOffset) || isOfAnotherLog(b, at: bOffset) else { return a < b }
        return isBefore(a, b)
    }

    /// Whether an epoch is before another one in a topic from whose offsets neither is reckoned. The group's generation
    /// decides: the changelog may have been recreated between the two.
    package static func isBefore(_ a: Int64, _ b: Int64) -> Bool { (generation(a), a) < (generation(b), b) }

    /// An epoch that is after both, wherever they are told. Wherever it is told, generations decide whether it is before another.
    package static func after(_ a: Int64, _ b: Int64) -> Int64 {
        let end = max(a, b) >> generationBits + 1
        return epoch(changelogEnd: end | nowhere, generation: max(generation(a), generation(b)))
    }
}
