/// The newest row of each writer and host, of records of `origins` in the log's order. Rows that do not count go as they are
/// read, so that what is held goes by the hosts that live, and not by all that were ever asked.
package struct OriginReading: Sendable {
    private var kept: [[UInt8]: (offset: Int64, row: OriginRow)] = [:]
    private let now: Int64
    private let isStart: Bool

    /// Records that are read at once: to assign a partition of Kafka takes as long as to read thousands.
    package static let page = 20_000

    /// - Parameters:
    ///   - isStart: whether a worker that starts reads them, which needs blocks, slots and wishes alone.
    ///   - now: milliseconds since 1970.
    package init(isStart: Bool, at now: Int64) { (self.isStart, self.now) = (isStart, now) }

    package mutating func take(_ record: Record) {
        guard !isStart || OriginRow.mayCountAtStart(record, at: now), let row = OriginRow(record),
            isStart ? row.countsAtStart(at: now) : !row.isForgettable(at: now)
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
    fileprivate func countsAtStart(at now: Int64) -> Bool {
        if slot != nil || isOperators || block(isOld: true, at: now) != nil { return true }
        return (partition != nil || slowPartition != nil) && now - at < OriginSummary.freshness
    }

    /// False if it does not for sure: to read the value of each of a million rows takes a minute.
    fileprivate static func mayCountAtStart(_ record: Record, at now: Int64) -> Bool {
        guard let value = record.value else { return false }
        let isNamed = [slotPrefix, operatorName].contains { record.key.starts(with: $0.utf8) }
        return isNamed || now - record.timestamp < 2 * OriginSummary.freshness || value.contains(State.blocked.rawValue)
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
/// It goes on a page at a time beside the work, and finds so many at most: the next pass finds the others.
package struct OriginSweep: Sendable {
    /// The next record to look at.
    package private(set) var next: Int64
    /// Keys whose newest record so far is such a row, and where its slot stands, if it is one's.
    private var found: [[UInt8]: PartitionID?] = [:]
    /// Whether there were more.
    package private(set) var isFull = false
    package static let limit = 100_000
    /// Records that are looked at each second.
    package static let page = 5_000

    package init(from start: Int64) { next = start }

    package var isEmpty: Bool { found.isEmpty }

    /// - Parameters:
    ///   - rows: what these records say; nil where that is not looked at.
    ///   - end: where they end if there are none.
    ///   - mayGo: whether nothing follows from a row.
    package mutating func take(
        _ records: [Record], _ rows: [OriginRow?], upTo end: Int64, mayGo: (OriginRow) -> Bool
    ) {
        for (record, row) in zip(records, rows) {
            guard let row, mayGo(row) else {
                found[record.key] = nil
                continue
            }
            let hasRoom = found.count < Self.limit || found[record.key] != nil
            if hasRoom { found[record.key] = .some(row.slot == nil ? nil : row.partition) } else { isFull = true }
        }
        next = records.last.map { $0.offset + 1 } ?? end
    }

    /// Some of them, to be deleted now.
    package mutating func takeFound(_ limit: Int) -> [(tombstone: NewRecord, slotPlace: PartitionID?)] {
        found.prefix(limit).map { key, place in
            found[key] = nil
            return (OriginRow.tombstone(of: key), place)
        }
    }
}
