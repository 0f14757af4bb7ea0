internal import ImageModel

/// What was read of the last jobs' bytes: those that come in a burst for one picture differ in little but their ids, and
/// to read one is a fifth of what a stored job costs.
struct RecentReadings: Sendable {
    private var known: [[UInt8]: JobReading] = [:]

    /// As many as a slice of records has. All are let go when there is no room.
    private static let limit = 256
    /// Larger ones are seldom the same, and would be kept.
    private static let valueBytes = 1_024

    mutating func job(of record: Record, by intake: Intake) throws(JobFailure) -> Job {
        guard let value = record.value, value.count <= Self.valueBytes else { return try intake.job(from: record) }
        if let reading = known[value] { return try intake.job(reading, from: record) }
        let reading = try intake.reading(of: record)
        if known.count >= Self.limit { known.removeAll(keepingCapacity: true) }
        known[value] = reading
        return try intake.job(reading, from: record)
    }
}
