/// Limits of a record, the same for every producer.
package enum RecordLimits {
    /// A job above this is refused at publish, and becomes a dead letter when found in a log.
    package static let jobBytes = 64 << 10
    /// How much of such a record its dead letter keeps.
    package static let keptPrefix = 4 << 10
}
