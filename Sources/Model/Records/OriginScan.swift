package import Clocks

/// Two passes over the records of `origins` that build a report. It does not hold all rows: 500,000 rows of 50 workers
/// took 650 MiB together.
///
/// The first pass finds the newest record of each key, and the last of each worker. The second takes the rows of these
/// records, one by one. Workers write meanwhile: a row that is written again between the passes counts once.
package struct OriginScan: Sendable {
    private let now: WallTime
    /// For the hash of each key: offset of its newest record, or `taken`.
    private var newest: [Int: Int64] = [:]
    private var operators: [[UInt8]: OriginRow] = [:]
    /// Last record of each worker, by the hash of its name.
    private var last: [Int: Record] = [:]
    /// End of the first pass.
    private var end: Int64 = 0

    private static let taken = Int64.max
    /// Most records of one read.
    package static let page = OriginReading.page

    package init(at now: WallTime) { self.now = now }

    /// Takes records of the first pass, in the log's order.
    package mutating func find(_ records: [Record]) {
        for record in records {
            end = record.offset + 1
            let key = Self.hash(record.key[...])
            guard OriginRow.mayCount(record, within: OriginRow.kept * 2, at: now) else {
                newest[key] = nil
                operators[record.key] = nil
                continue
            }
            newest[key] = record.offset
            let name = record.key.prefix { $0 != UInt8(ascii: " ") }
            if name.elementsEqual(OriginRow.operatorName.utf8) {
                operators[record.key] = OriginRow(record)
            } else if !name.starts(with: OriginRow.slotPrefix.utf8) {
                last[Self.hash(name)] = record
            }
        }
    }

    /// Report that the second pass fills.
    ///
    /// - Parameter owners: owners of partitions as the log reports them; nil if they are unknown.
    package func begun(owners: Set<String>?) -> OriginReport {
        let last = last.values.sorted { $0.offset < $1.offset }.compactMap(row)
        return OriginReport(last: last, operators: Array(operators.values), owners: owners, at: now)
    }

    /// Takes records of the second pass, in the log's order, including records written since the first pass.
    package mutating func fold(_ records: [Record], into report: inout OriginReport) {
        for record in records {
            let key = Self.hash(record.key[...])
            let known = newest[key]
            // If a key was written again, its earlier record may be gone.
            guard known == record.offset || (record.offset >= end && known != Self.taken) else { continue }
            guard let row = row(record), !row.isOperators else { continue }
            newest[key] = Self.taken
            report.take(row)
        }
    }

    private func row(_ record: Record) -> OriginRow? {
        OriginRow(record).flatMap { $0.isForgettable(at: now) ? nil : $0 }
    }

    static func hash(_ bytes: ArraySlice<UInt8>) -> Int {
        var hasher = Hasher()
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }
}
