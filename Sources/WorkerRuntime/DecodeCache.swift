internal import ImageModel
internal import Partition
internal import Records

/// What was read of the last jobs' bytes: those that come in a burst for one picture differ in little but their ids, and
/// to read one is a fifth of what a stored job costs.
struct DecodeCache: Sendable {
    /// A value, whose eight-byte words are mixed before they are hashed: Swift's own hash of each would cost more than all
    /// else here, and no more than `limit` values can be made to meet.
    private struct Bytes: Hashable {
        let value: [UInt8]
        let word: UInt64

        init(_ value: [UInt8]) {
            self.value = value
            word = value.withUnsafeBytes { bytes in
                var mixed = UInt64(truncatingIfNeeded: bytes.count)
                func mix(_ word: UInt64) {
                    mixed = (mixed ^ word) &* 0x9e37_79b9_7f4a_7c15
                    mixed ^= mixed >> 32
                }
                for place in stride(from: 0, through: bytes.count - 8, by: 8) {
                    mix(bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
                }
                for byte in bytes.suffix(bytes.count % 8) { mix(UInt64(byte)) }
                return mixed
            }
        }

        func hash(into hasher: inout Hasher) { hasher.combine(word) }
    }

    private var known: [Bytes: JobReading] = [:]
    private var seen = SeenBefore()
    private var parts = RecentParts()

    /// As many as a slice of records has. All are let go when there is no room.
    private static let limit = 256
    /// Larger ones are seldom the same, and would be kept.
    private static let valueBytes = 1_024

    mutating func job(of record: Record, by intake: Intake) throws(JobFailure) -> Job {
        guard let value = record.value, value.count <= Self.valueBytes else {
            return try intake.job(intake.reading(of: record, &parts), from: record)
        }
        let bytes = Bytes(value)
        if let reading = known[bytes] { return try intake.job(reading, from: record) }
        let reading = try intake.reading(of: record, &parts)
        guard seen.note(bytes.word) else { return try intake.job(reading, from: record) }
        if known.count >= Self.limit { known.removeAll(keepingCapacity: true) }
        known[bytes] = reading
        return try intake.job(reading, from: record)
    }
}
