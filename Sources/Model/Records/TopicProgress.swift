package import Clocks

/// How far a partition's owners have come in one topic whose records they finish.
package struct TopicProgress: Sendable, Hashable {
    /// A row tells of so many offsets what is finished ahead.
    package static let finishedLimit = OffsetBitmap.byteLimit * 8

    /// The committable offset: every record below it is finished.
    package var next: Int64
    /// The group's offset that was durable then; an offset below it is an operator's reset. nil: not known.
    package var committed: Int64?
    /// Finished above `next`, ascending.
    package var finished: [Int64]
    /// Jobs that wait in memory, by ascending offset: their records do not tell how often they were tried.
    package var waits: [Wait]
    /// A record of the log that this is the progress in; nil if none was looked at yet.
    package var anchor: LogAnchor?
    /// The last record that was received, where that is another: a log that was truncated and has grown again still has the
    /// anchor, and no longer this.
    package var last: LogAnchor?

    package init(
        next: Int64, committed: Int64? = nil, finished: [Int64] = [], waits: [Wait] = [], anchor: LogAnchor? = nil,
        last: LogAnchor? = nil
    ) {
        (self.next, self.committed, self.finished, self.waits) = (next, committed, finished, waits)
        (self.anchor, self.last) = (anchor, last)
    }

    /// What the record of a job that was put off does not tell.
    package struct Wait: Sendable, Hashable {
        package let offset: Int64
        package let attempts: Int
        package let notBefore: WallTime
        /// Since when the machine's fault has held it back; nil if that does not.
        package let heldSince: WallTime?
        /// Since when its host has been at fault; nil if it was not.
        package let failingSince: WallTime?
        /// Of the last failed attempt, for people; nil in rows of earlier programs.
        package let code: String?

        package init(
            offset: Int64, attempts: Int, notBefore: WallTime, heldSince: WallTime? = nil,
            failingSince: WallTime? = nil,
            code: String? = nil
        ) {
            (self.offset, self.attempts, self.notBefore) = (offset, attempts, notBefore)
            (self.heldSince, self.failingSince, self.code) = (heldSince, failingSince, code)
        }
    }
}

/// One record by which a log is known: another log under the same name has another one at its offset, or none.
package struct LogAnchor: Sendable, Hashable {
    package let offset: Int64
    /// When it was appended.
    package let timestamp: WallTime

    package init(offset: Int64, timestamp: WallTime) { (self.offset, self.timestamp) = (offset, timestamp) }
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
