internal import Clocks
internal import Ports
internal import Records
internal import SQLite

/// Reads the log through a read-only connection of its own.
///
/// Every read is a transaction of its own and is over when it returns, so that the WAL can be reset behind it.
///
/// - Concurrency: one thread.
final class LogReader {
    private let layout: LogLayout
    private let connection: Connection
    /// Those that were read last, by the place that each is named after: statements take 6 KiB a table, of which 256
    /// partitions have 3,328 in a log of version 3.
    private var tables: [TablePlace: Table] = [:]
    private var committedOffsets: Statement
    private var version: Statement
    /// Made when an owner first asks.
    private var ends: [Ends]?

    /// The newest offsets of some of the tables that an owner drains: one statement has no room for all.
    private final class Ends {
        static let most = 1_000
        let places: [(place: TablePlace, part: TablePart)]
        var statement: Statement
        init(_ connection: Connection, _ layout: LogLayout, _ places: ArraySlice<TablePlace>) throws(SQLiteFailure) {
            self.places = places.map { ($0, layout.part(of: $0)) }
            let columns = self.places.map { _, part in
                "(SELECT max(offset) FROM \(part.table.table) WHERE offset BETWEEN \(part.rows.lowerBound) AND \(part.rows.upperBound))"
            }
            statement = try connection.prepare("SELECT " + columns.joined(separator: ", "))
        }
    }

    private final class Table {
        var scan: Statement
        let bounds: LogTable.Bounds
        let hasShortKeys: Bool
        init(_ connection: Connection, _ place: TablePlace) throws(SQLiteFailure) {
            hasShortKeys = try LogSchema.hasShortKeys(connection, place)
            scan = try connection.prepare(
                "SELECT offset, at, key, value, headers FROM \(place.table) WHERE offset BETWEEN ?1 AND ?3 ORDER BY offset LIMIT ?2"
            )
            bounds = try LogTable.Bounds(connection, place)
        }
    }

    static func open(_ folder: LogFolder) throws(LogFailure) -> LogReader {
        try logged(LogReader(folder.openForReading(), folder.layout))
    }

    init(_ connection: Connection, _ layout: LogLayout) throws(SQLiteFailure) {
        (self.connection, self.layout) = (connection, layout)
        committedOffsets = try connection.prepare(
            "SELECT watermark FROM watermarks WHERE topic = ?1 AND partition = ?2")
        version = try connection.prepare("PRAGMA data_version")
    }

    /// What the body asks for is read as of one moment: to begin a transaction costs more than to read one row.
    func together<Result>(_ body: () throws(LogFailure) -> Result) throws(LogFailure) -> Result {
        try logged(connection.execute("BEGIN"))
        defer { try? connection.execute("COMMIT") }
        return try body()
    }

    /// Whether the log has the table: one that an older program made lacks those of newer topics until a worker or a
    /// publisher opens it.
    func has(_ place: TablePlace) throws(LogFailure) -> Bool {
        guard place.isWithin(layout.partitions) else { return false }
        // To look for its name among those of 256 partitions takes a fifth of a millisecond.
        do throws(SQLiteFailure) { _ = try statements(layout.part(of: place)) } catch {
            guard error.isMisfit else { throw LogFailure(error) }
            return false
        }
        return true
    }

    private func allEnds() throws(SQLiteFailure) -> [Ends] {
        if let ends { return ends }
        let drained = TablePlace.all(Topic.drained, of: layout.partitions)
        var made: [Ends] = []
        for first in stride(from: 0, to: drained.count, by: Ends.most) {
            made.append(try Ends(connection, layout, drained[first...].prefix(Ends.most)))
        }
        ends = made
        return made
    }

    /// Changes when another connection has committed.
    func dataVersion() throws(LogFailure) -> Int64 {
        defer { version.reset() }
        return try logged(version.step()) ? version.integer(0) : 0
    }

    /// The next offset of everything that an owner drains.
    func drainedEnds() throws(LogFailure) -> [(place: TablePlace, end: Int64)] {
        var found: [(place: TablePlace, end: Int64)] = []
        for ends in try logged(allEnds()) {
            defer { ends.statement.reset() }
            guard try logged(ends.statement.step()) else { continue }
            for (column, end) in ends.places.enumerated() {
                let last = try logged(end.part.optionalOffset(ends.statement, Int32(column)))
                found.append((end.place, (last ?? -1) + 1))
            }
        }
        return found
    }

    func bounds(_ place: TablePlace) throws(LogFailure) -> Range<Int64> {
        let (table, part) = try table(place)
        guard let found = try logged(table.bounds.read(part)) else { return 0..<0 }
        return found.lowerBound..<found.upperBound + 1
    }

    func committed(_ place: TablePlace) throws(LogFailure) -> Int64? {
        defer { committedOffsets.reset() }
        committedOffsets.bind(1, place.topic.rawValue)
        committedOffsets.bind(2, Int64(place.partition.number))
        return try logged(committedOffsets.step()) ? logged(committedOffsets.integer(0, in: LogSchema.offsets)) : nil
    }

    func records(_ place: TablePlace, from offset: Int64, limit: Int) throws(LogFailure) -> [Record] {
        let (table, part) = try table(place)
        // A page of another partition of the table, as in a torn copy, ends the scan like the last record. That one always stays.
        let end = layout.isShared ? try logged(table.bounds.read(part))?.upperBound : nil
        table.scan.bind(1, offset <= 0 ? part.rows.lowerBound : part.row(of: offset))
        table.scan.bind(2, Int64(limit))
        table.scan.bind(3, part.rows.upperBound)
        defer { table.scan.reset() }
        var records: [Record] = []
        var bytes = 0
        while bytes < EmbeddedLogConfiguration.readBytes, records.count < limit {
            guard try logged(table.scan.step()) else {
                if let end, end >= offset, end > records.last?.offset ?? -1 {
                    throw damage(
                        "\(place.table) ends at offset \(end), and has no record after \(records.last?.offset ?? offset - 1)"
                    )
                }
                break
            }
            let record = try record(place, part, table.scan, hasShortKey: table.hasShortKeys)
            guard record.offset > records.last?.offset ?? -1, record.offset >= offset else {
                throw damage("\(place.table) has offset \(record.offset) out of order")
            }
            bytes += record.key.count + (record.value?.count ?? 0)
            records.append(record)
        }
        return records
    }

    /// The newest record of each key that begins with `prefix`, in the order of the keys as they are stored.
    func latest(_ place: TablePlace, keyPrefix prefix: [UInt8]) throws(LogFailure) -> [Record] {
        let (table, part) = try table(place)
        guard table.hasShortKeys else { return try latest(place, part, storedPrefix: prefix, isShort: false) }
        var newest: [Record] = []
        for stored in ShortKey.prefixes(prefix) {
            newest += try latest(place, part, storedPrefix: stored, isShort: true)
        }
        return newest.filter { $0.key.starts(with: prefix) }
    }

    private func latest(
        _ place: TablePlace, _ part: TablePart, storedPrefix prefix: [UInt8], isShort: Bool
    ) throws(LogFailure) -> [Record] {
        let past = Self.firstPast(prefix)
        let sql =
            "SELECT offset, at, key, value, headers FROM \(part.table.table) WHERE key >= ?1"
            + (past == nil ? "" : " AND key < ?2") + " AND +offset BETWEEN ?3 AND ?4 ORDER BY key, offset"
        var scan = try logged(connection.prepare(sql))
        scan.bind(1, prefix)
        if let past { scan.bind(2, past) }
        part.bindRows(to: &scan, from: 3)
        var newest: [Record] = []
        while try logged(scan.step()) {
            let record = try record(place, part, scan, hasShortKey: isShort)
            if newest.last?.key == record.key { newest.removeLast() }
            newest.append(record)
        }
        return newest.filter { $0.value != nil }
    }

    private func table(_ place: TablePlace) throws(LogFailure) -> (Table, TablePart) {
        guard place.isWithin(layout.partitions) else { throw place.absence(of: layout.partitions) }
        let part = layout.part(of: place)
        return (try logged(statements(part)), part)
    }

    private func statements(_ part: TablePart) throws(SQLiteFailure) -> Table {
        if let table = tables[part.table] { return table }
        let table = try Table(connection, part.table)
        if tables.count >= LogSchema.openTables { tables.removeAll(keepingCapacity: true) }
        tables[part.table] = table
        return table
    }

    private func record(
        _ place: TablePlace, _ part: TablePart, _ row: borrowing Statement, hasShortKey: Bool
    ) throws(LogFailure) -> Record {
        let offset = try logged(part.optionalOffset(row, 0)) ?? 0
        let key = hasShortKey ? ShortKey.plain(row.bytes(2)) : row.bytes(2)
        let body: (headers: RecordHeaders, value: [UInt8]?)? =
            if !row.isInteger(3) {
                row.withBytes(4, ShortHeaders.headers).map { ($0, row.optionalBytes(3)) }
            } else {
                switch row.integer(3) {
                case LogTable.packed:
                    row.withBytes(4) { RowPacking.unpack($0, key: key) }.map { ($0.headers, $0.value) }
                case LogTable.packedBefore:
                    row.withBytes(4) { OldRowPacking.unpack($0, key: key) }.map { ($0.headers, $0.value) }
                default: nil
                }
            }
        guard let body else {
            throw damage("the headers of \(place.table) at \(offset) are damaged")
        }
        return Record(
            topic: place.topic, partition: place.partition, offset: offset,
            timestamp: WallTime(milliseconds: row.integer(1)), key: key, value: body.value, headers: body.headers)
    }

    private func damage(_ reason: String) -> LogFailure { LogFailure(.damaged(connection.path, reason)) }

    /// The least bytes above everything that begins with `prefix`; nil if there are none.
    private static func firstPast(_ prefix: [UInt8]) -> [UInt8]? {
        guard let last = prefix.lastIndex(where: { $0 < 0xff }) else { return nil }
        return prefix[..<last] + [prefix[last] + 1]
    }
}
