internal import ImageModel

/// What was read of the last jobs' bytes: those that come in a burst for one picture differ in little but their ids, and
/// to read one is a fifth of what a stored job costs.
struct RecentReadings: Sendable {
    private struct Bytes: Hashable {
        let key: [UInt8]
        let value: [UInt8]

        /// Of the key alone, whose digits are a digest's: they are spread as well as any hash of all.
        func hash(into hasher: inout Hasher) {
            key.withUnsafeBytes { hasher.combine($0.count < 16 ? 0 : $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)) }
        }
    }

    private var known: [Bytes: JobReading] = [:]

    /// As many as a slice of records has. All are let go when there is no room.
    private static let limit = 256
    /// Larger ones are seldom the same, and would be kept.
    private static let valueBytes = 1_024

    mutating func job(of record: Record, by intake: Intake) throws(JobFailure) -> Job {
        guard let value = record.value, value.count <= Self.valueBytes else { return try intake.job(from: record) }
        let bytes = Bytes(key: record.key, value: value)
        if let reading = known[bytes] { return try intake.job(reading, from: record) }
        let reading = try intake.reading(of: record)
        if known.count >= Self.limit { known.removeAll(keepingCapacity: true) }
        known[bytes] = reading
        return try intake.job(reading, from: record)
    }
}
