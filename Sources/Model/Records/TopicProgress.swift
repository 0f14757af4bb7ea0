package import Clocks

/// Progress of a partition's owners in one topic whose records they finish.
package struct TopicProgress: Sendable, Hashable {
    /// Number of offsets after `next` for which a row can record that they are finished.
    package static let finishedLimit = OffsetBitmap.byteLimit * 8

    /// Offset to commit: every record below it is finished.
    package var next: Int64
    /// The group's durable offset at that time; a lower offset means that an operator has reset it. nil if unknown.
    package var committed: Int64?
    /// Finished offsets above `next`, ascending.
    package var finished: [Int64]
    /// Fingerprint of the log: a record in it. nil if no record was looked at yet.
    package var fingerprint: RecordFingerprint?
    /// Last received record, if it is another one than the fingerprint. A log that was truncated and has grown again
    /// may still have the fingerprint, but not this record.
    package var last: RecordFingerprint?

    package init(
        next: Int64, committed: Int64? = nil, finished: [Int64] = [], fingerprint: RecordFingerprint? = nil,
        last: RecordFingerprint? = nil
    ) {
        (self.next, self.committed, self.finished) = (next, committed, finished)
        (self.fingerprint, self.last) = (fingerprint, last)
    }
}

/// One record that identifies a log: another log of the same name has another record at its offset, or none.
package struct RecordFingerprint: Sendable, Hashable {
    package let offset: Int64
    /// Append time of the record.
    package let timestamp: WallTime

    package init(offset: Int64, timestamp: WallTime) { (self.offset, self.timestamp) = (offset, timestamp) }
}

/// Bitmap of offsets that starts at a given offset, as a progress row stores the offsets finished ahead.
enum OffsetBitmap {
    /// Most bytes of a bitmap, 4 KiB. Offsets beyond its end are finished again by the next owner.
    static let byteLimit = 4_096

    static func bytes(_ offsets: [Int64], from start: Int64) -> [UInt8] {
        var bytes: [UInt8] = []
        for offset in offsets {
            let place = offset - start
            guard place >= 0, place < Int64(byteLimit) * 8 else { continue }
            let byte = Int(place / 8)
            while bytes.count <= byte { bytes.append(0) }
            bytes[byte] |= 1 << UInt8(place % 8)
        }
        return bytes
    }

    static func offsets(_ bytes: [UInt8], from start: Int64) -> [Int64] {
        var offsets: [Int64] = []
        for (place, byte) in bytes.enumerated() where byte != 0 {
            for bit in 0..<8 where byte & 1 << UInt8(bit) != 0 { offsets.append(start + Int64(place * 8 + bit)) }
        }
        return offsets
    }
}
