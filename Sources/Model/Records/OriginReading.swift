package import Clocks

/// What a worker that starts needs of `origins`: blocks, slots and wishes, the newest row of each writer and host. Records come
/// in the log's order, and rows that do not count go as they are read.
package struct OriginReading: Sendable {
    private var kept: [[UInt8]: (offset: Int64, row: OriginRow)] = [:]
    private let now: WallTime

    /// Records that are read at once: to assign a partition of Kafka takes as long as to read thousands.
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

    /// In the log's order.
    package var rows: [OriginRow] { kept.values.sorted { $0.offset < $1.offset }.map(\.row) }
}

extension OriginRow {
    /// Whether a worker that starts goes by it: others tell again within seconds what else they know.
    fileprivate func countsAtStart(at now: WallTime) -> Bool {
        if slot != nil || isOperators || block(isOld: true, at: now) != nil { return true }
        return partition != nil && now - at < OriginSummary.freshness
    }

    /// False if the record certainly does not count: it is older than `age`, and tells of no block. To decode each
    /// of a million rows takes a minute.
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

/// A pass over `origins` that finds rows from which nothing follows any more: a compacted topic keeps them otherwise.
///
/// It reads a page at a time beside the work, up to the end that it began with: workers may write more than it reads. It finds
/// so many at most, and the next pass finds the others.
package struct OriginSweep: Sendable {
    /// The next record to look at.
    package private(set) var next: Int64
    private let end: Int64
    /// Keys whose newest record so far is such a row, and where its slot stands, if it is one's.
    private var found: [[UInt8]: PartitionID?] = [:]
    /// Hashes of keys that were written since it began.
    private var written: Set<Int> = []
    /// Whether there were more.
    package private(set) var isFull = false
    package static let limit = 100_000
    /// Records that are looked at each second.
    package static let page = 5_000

    package init(_ range: Range<Int64>) { (next, end) = (range.lowerBound, range.upperBound) }

    package var hasRead: Bool { next >= end }
    package var isEmpty: Bool { found.isEmpty }

    /// - Parameters:
    ///   - rows: what these records say; nil where that is not looked at.
    ///   - mayGo: whether nothing follows from a row.
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

    /// A record of the key is newer than the sweep: what it found or finds of the key is not the newest.
    package mutating func keep(_ key: [UInt8]) {
        found[key] = nil
        written.insert(OriginScan.hash(key[...]))
    }

    /// Some of them, to be deleted now.
    package mutating func takeFound(_ limit: Int) -> [(tombstone: NewRecord, slotPlace: PartitionID?)] {
        found.prefix(limit).map { key, place in
            found[key] = nil
            return (OriginRow.tombstone(of: key), place)
        }
    }
}
