internal import Clocks
internal import Records

/// What may be chosen about an embedded log.
package struct EmbeddedLogConfiguration: Sendable, Hashable {
    /// Of every topic; counts only when the log is created.
    package var partitions: Int
    /// About how many outcomes are kept over all partitions; older ones go.
    package var outcomesKept: Int
    /// How long a tombstone is kept at least, for those who have not read it yet.
    package var tombstonesKept: Duration
    /// How long a dead letter is kept; older ones go, and what took them back.
    package var deadKept: Duration
    /// Time between the owner's looks for old ones: those that are old at two looks go.
    package var deadLetterLook: Duration
    /// What publishers may fill, less `reserve`; nil for no limit. The owner is not bound by it.
    package var byteLimit: Int?
    /// Bytes that publishers leave free on the disk, beside room for the answers to all that waits; as many again are held by
    /// `LogReserve`.
    package var reserve: Int

    package init(
        partitions: Int = 8, outcomesKept: Int = 100_000, tombstonesKept: Duration = .days(7),
        deadKept: Duration = DeadLetter.kept, deadLetterLook: Duration = .hours(1),
        byteLimit: Int? = nil, reserve: Int = 0
    ) {
        (self.deadKept, self.deadLetterLook) = (deadKept, deadLetterLook)
        (self.partitions, self.outcomesKept) = (partitions, outcomesKept)
        (self.tombstonesKept, self.byteLimit, self.reserve) = (tombstonesKept, byteLimit, reserve)
    }

    /// With less a worker does not begin: indexes and locks are files too.
    static let startBytes = 512 << 10

    /// The largest record: what is above a topic's own limit still comes in, to become a dead letter.
    static let recordBytes = 64 << 20
    /// What one read brings at most, except that a larger record comes alone.
    static let readBytes = 4 << 20
}
