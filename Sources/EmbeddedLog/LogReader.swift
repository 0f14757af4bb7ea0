internal import Ports
internal import Records
internal import SQLite

/// Reads the log through a read-only connection of its own.
///
/// Every read is a transaction of its own and is over when it returns, so that the WAL can be reset behind it.
///
/// - Concurrency: one thread.
final class LogReader {
    let partitionCount: Int
    private let connection: Connection
    /// Those that were read last: statements take 6 KiB a table, of which 256 partitions have 3,328.
    private var tables: [TablePlace: Table] = [:]
    private var committedOffsets: Statement
    private var version: Statement
    /// Made when an owner first asks.
    private var ends: [Ends]?

    /// The newest offsets of some of the tables that an owner drains: one statement has no room for all.
    private final class Ends {
        static let most = 1_000
        let places: ArraySlice<TablePlace>
        var statement: Statement
        init(_ connection: Connection, _ places: ArraySlice<TablePlace>) throws(SQLiteFailure) {
            self.places = places
            let columns = places.map { "(SELECT max(offset) FROM \($0.table))" }
            statement = try connection.prepare("SELECT " + columns.joined(separator: ", "))
        }
    }

    private final class Table {
        var scan: Statement
        var bounds: Statement
        let hasShortKeys: Bool
        init(_ connection: Connection, _ place: TablePlace) throws(SQLiteFailure) {
            hasShortKeys = try LogSchema.hasShortKeys(connection, place)
            scan = try connection.prepare(
                "SELECT offset, at, key, value, headers FROM \(place.table) WHERE offset >= ?1 ORDER BY offset LIMIT ?2"
            )
            bounds = try connection.prepare(
                "SELECT (SELECT min(offset) FROM \(place.table)), (SELECT max(offset) FROM \(place.table))")
        }
    }

    static func open(_ folder: LogFolder) throws(LogFailure) -> LogReader {
        try logged(LogReader(folder.openForReading(), partitions: folder.partitionCount))
    }

    init(_ connection: Connection, partitions: Int) throws(SQLiteFailure) {
        (self.connection, partitionCount) = (connection, partitions)
        committedOffsets = try connection.prepare(
            "SELECT watermark FROM watermarks WHERE topic = ?1 AND partition = ?2")
        version = try connection.prepare("PRAGMA data_version")
    }

    /// Whether the log has the table: one that an older program made lacks those of newer topics until a worker or a
    /// publisher opens it.
    func has(_ place: TablePlace) throws(LogFailure) -> Bool {
        if tables[place] != nil { return true }
        guard place.isWithin(partitionCount) else { return false }
        // To look for its name among those of 256 partitions takes a fifth of a millisecond.
        do throws(SQLiteFailure) { keep(try Table(connection, place), place) } catch {
            guard error.isMisfit else { throw LogFailure(error) }
            return false
        }
        return true
    }

    private func allEnds() throws(SQLiteFailure) -> [Ends] {
        if let ends { return ends }
        let drained = TablePlace.all(Topic.drained, of: partitionCount)
        var made: [Ends] = []
        for first in stride(from: 0, to: drained.count, by: Ends.most) {
            made.append(try Ends(connection, drained[first...].prefix(Ends.most)))
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
            for (column, place) in ends.places.enumerated() {
                let last = try logged(ends.statement.optionalInteger(Int32(column), in: LogSchema.offsets))
                found.append((place, (last ?? -1) + 1))
            }
        }
        return found
    }

    func bounds(_ place: TablePlace) throws(LogFailure) -> Range<Int64> {
        let table = try table(place)
        defer { table.bounds.reset() }
        guard try logged(table.bounds.step()),
            let last = try logged(table.bounds.optionalInteger(1, in: LogSchema.offsets))
        else { return 0..<0 }
        let first = try logged(table.bounds.integer(0, in: LogSchema.offsets))
        // So in a copy whose pages are of different times.
        guard first <= last else { throw damage("\(place.table) begins at offset \(first) and ends at \(last)") }
        return first..<last + 1
    }

    func committed(_ place: TablePlace) throws(LogFailure) -> Int64? {
        defer { committedOffsets.reset() }
        committedOffsets.bind(1, place.topic.rawValue)
        committedOffsets.bind(2, Int64(place.partition.number))
        return try logged(committedOffsets.step()) ? logged(committedOffsets.integer(0, in: LogSchema.offsets)) : nil
    }

    func records(_ place: TablePlace, from offset: Int64, limit: Int) throws(LogFailure) -> [Record] {
        let table = try table(place)
        table.scan.bind(1, offset)
        table.scan.bind(2, Int64(limit))
        defer { table.scan.reset() }
        var records: [Record] = []
        var bytes = 0
        while bytes < EmbeddedLogConfiguration.readBytes, try logged(table.scan.step()) {
            let record = try record(place, table.scan, hasShortKey: table.hasShortKeys)
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
        guard try table(place).hasShortKeys else { return try latest(place, storedPrefix: prefix, isShort: false) }
        var newest: [Record] = []
        for stored in ShortKey.prefixes(prefix) { newest += try latest(place, storedPrefix: stored, isShort: true) }
        return newest.filter { $0.key.starts(with: prefix) }
    }

    private func latest(
        _ place: TablePlace, storedPrefix prefix: [UInt8], isShort: Bool
    ) throws(LogFailure) -> [Record] {
        let past = Self.firstPast(prefix)
        let sql =
            "SELECT offset, at, key, value, headers FROM \(place.table) WHERE key >= ?1"
            + (past == nil ? "" : " AND key < ?2") + " ORDER BY key, offset"
        var scan = try logged(connection.prepare(sql))
        scan.bind(1, prefix)
        if let past { scan.bind(2, past) }
        var newest: [Record] = []
        while try logged(scan.step()) {
            let record = try record(place, scan, hasShortKey: isShort)
            if newest.last?.key == record.key { newest.removeLast() }
            newest.append(record)
        }
        return newest.filter { $0.value != nil }
    }

    private func table(_ place: TablePlace) throws(LogFailure) -> Table {
        guard place.isWithin(partitionCount) else { throw place.absence(of: partitionCount) }
        if let table = tables[place] { return table }
        let table = try logged(Table(connection, place))
        keep(table, place)
        return table
    }

    private func keep(_ table: Table, _ place: TablePlace) {
        if tables.count >= LogSchema.openTables { tables.removeAll(keepingCapacity: true) }
        tables[place] = table
    }

    private func record(
        _ place: TablePlace, _ row: borrowing Statement, hasShortKey: Bool
    ) throws(LogFailure) -> Record {
        let offset = try logged(row.integer(0, in: LogSchema.offsets))
        let key = hasShortKey ? ShortKey.plain(row.bytes(2)) : row.bytes(2)
        let body: (headers: RecordHeaders, value: [UInt8]?)? =
            if row.isInteger(3) {
                row.withBytes(4) { RowPacking.unpack($0, key: key) }.map { ($0.headers, $0.value) }
            } else {
                row.withBytes(4, ShortHeaders.headers).map { ($0, row.optionalBytes(3)) }
            }
        guard let body else {
            throw damage("the headers of \(place.table) at \(offset) are damaged")
        }
        return Record(
            topic: place.topic, partition: place.partition, offset: offset, timestamp: row.integer(1), key: key,
            value: body.value, headers: body.headers)
    }

    private func damage(_ reason: String) -> LogFailure { LogFailure(.damaged(connection.path, reason)) }

    /// The least bytes above everything that begins with `prefix`; nil if there are none.
    private static func firstPast(_ prefix: [UInt8]) -> [UInt8]? {
        guard let last = prefix.lastIndex(where: { $0 < 0xff }) else { return nil }
        return prefix[..<last] + [prefix[last] + 1]
    }
}
