package import Clocks

/// State that a starting worker takes from `origins`: blocks, slots and slot requests, the newest row of each writer
/// and host.
///
/// Records arrive in the log's order; rows that do not count are dropped as they are read.
package struct OriginReading: Sendable {
    private var kept: [[UInt8]: (offset: Int64, row: OriginRow)] = [:]
    private let now: WallTime

    /// Most records of one read. It is large, because assigning a Kafka partition takes as long as reading thousands of
    /// records.
    package static let page = 20_000

    package init(at now: WallTime) { self.now = now }

    package mutating func take(_ record: Record) {
        guard OriginRow.mayCount(record, within: OriginSummary.freshness * 2, at: now), let row = OriginRow(record),
            row.countsAtStart(at: now)
        else {
            kept[record.key] = nil
            return
        }
        kept[record.key] = (record.offset, row)
    }

    /// The rows in the log's order.
    package var rows: [OriginRow] { kept.values.sorted { $0.offset < $1.offset }.map(\.row) }
}

extension OriginRow {
    /// Whether a starting worker uses the row. Other workers report everything else again within seconds.
    fileprivate func countsAtStart(at now: WallTime) -> Bool {
        if slot != nil || isOperators || block(isOld: true, at: now) != nil { return true }
        return partition != nil && now - at < OriginSummary.freshness
    }

    /// Whether a record may count; false is certain. A row does not count if it is older than `age` and has no block.
    /// This check avoids decoding, because decoding a million rows takes a minute.
    static func mayCount(_ record: Record, within age: Duration, at now: WallTime) -> Bool {
        guard let value = record.value else { return false }
        let isNamed = [slotPrefix, operatorName].contains { record.key.starts(with: $0.utf8) }
        return isNamed || now - record.timestamp < age || value.contains(State.blocked.rawValue)
    }
}

extension [UInt8] {
    fileprivate func contains(_ word: String) -> Bool {
        withUnsafeBufferPointer { bytes in
            var word = word
            return word.withUTF8 { word in
                guard let first = word.first, bytes.count >= word.count else { return false }
                for place in 0...bytes.count - word.count where bytes[place] == first {
                    if UnsafeBufferPointer(rebasing: bytes[place...]).starts(with: word) { return true }
                }
                return false
            }
        }
    }
}

/// Pass over `origins` that finds obsolete rows, which a compacted topic would keep for ever.
///
/// It reads a page at a time beside other work. It stops at the end that the topic had at its start, because workers
/// may write faster than it reads. It finds at most `limit` rows; the next pass finds the others.
package struct OriginSweep: Sendable {
    /// Offset of the next record to check.
    package private(set) var next: Int64
    private let end: Int64
    /// Keys whose newest record so far is obsolete. For a slot's row, the value is the partition that has the slot.
    private var found: [[UInt8]: PartitionID?] = [:]
    /// Hashes of keys that were written since the pass began.
    private var written: Set<Int> = []
    /// Whether the pass reached its limit.
    package private(set) var isFull = false
    package static let limit = 100_000
    /// Records that are checked each second.
    package static let page = 5_000

    package init(_ range: Range<Int64>) { (next, end) = (range.lowerBound, range.upperBound) }

    package var hasRead: Bool { next >= end }
    package var isEmpty: Bool { found.isEmpty }

    /// - Parameters:
    /// - rows: decoded rows of these records; nil for records to skip.
    /// - mayGo: whether a row is obsolete.
    package mutating func take(
        _ records: [Record], _ rows: [OriginRow?], mayGo: (OriginRow) -> Bool
    ) {
        for (record, row) in zip(records, rows) {
            guard let row, mayGo(row), !written.contains(OriginScan.hash(record.key[...])) else {
                found[record.key] = nil
                continue
            }
            let hasRoom = found.count < Self.limit || found[record.key] != nil
            if hasRoom { found[record.key] = .some(row.slot == nil ? nil : row.partition) } else { isFull = true }
        }
        next = records.last.map { $0.offset + 1 } ?? end
    }

    /// Excludes a key, because a record of it is newer than the pass.
    package mutating func keep(_ key: [UInt8]) {
        found[key] = nil
        written.insert(OriginScan.hash(key[...]))
    }

    /// Removes up to `limit` found keys and returns their tombstones.
    package mutating func takeFound(_ limit: Int) -> [(tombstone: NewRecord, slotPlace: PartitionID?)] {
        found.prefix(limit).map { key, place in
            found[key] = nil
            return (OriginRow.tombstone(of: key), place)
        }
    }
}
