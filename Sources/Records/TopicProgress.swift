/// How far a partition's owners have come in one topic whose records they finish.
package struct TopicProgress: Sendable, Hashable {
    /// The committable offset: every record below it is finished.
    package var next: Int64
    /// The group's offset that was durable then; an offset below it is an operator's reset. nil: not known.
    package var committed: Int64?
    /// Finished above `next`, ascending.
    package var finished: [Int64]
    /// A record of the log that this is the progress in; nil if none was looked at yet.
    package var anchor: LogAnchor?

    package init(next: Int64, committed: Int64? = nil, finished: [Int64] = [], anchor: LogAnchor? = nil) {
        (self.next, self.committed, self.finished, self.anchor) = (next, committed, finished, anchor)
    }
}

/// One record by which a log is known: another log under the same name has another one at its offset, or none.
package struct LogAnchor: Sendable, Hashable {
    package let offset: Int64
    /// When it was appended, milliseconds since 1970.
    package let timestamp: Int64

    package init(offset: Int64, timestamp: Int64) { (self.offset, self.timestamp) = (offset, timestamp) }
}

/// Offsets as bits, the first for a given offset: what a progress row holds of what is finished ahead.
enum OffsetBitmap {
    /// A bitmap has at most 4 KiB: offsets beyond its end are finished again by the next owner.
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
