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
    private var tables: [Table?]
    private var committedOffsets: Statement
    private var version: Statement
    private var ends: Statement
    private let drained: [TablePlace]

    private final class Table {
        var scan: Statement
        var bounds: Statement
        init(_ connection: Connection, _ place: TablePlace) throws(SQLiteFailure) {
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

    private init(_ connection: Connection, partitions: Int) throws(SQLiteFailure) {
        (self.connection, partitionCount) = (connection, partitions)
        tables = Array(repeating: nil, count: Topic.allCases.count * partitions)
        committedOffsets = try connection.prepare(
            "SELECT watermark FROM watermarks WHERE topic = ?1 AND partition = ?2")
        version = try connection.prepare("PRAGMA data_version")
        drained = TablePlace.all(Topic.drained, of: partitions)
        let columns = drained.map { "(SELECT max(offset) FROM \($0.table))" }
        ends = try connection.prepare("SELECT " + columns.joined(separator: ", "))
    }

    /// Changes when another connection has committed.
    func dataVersion() throws(LogFailure) -> Int64 {
        defer { version.reset() }
        return try logged(version.step()) ? version.integer(0) : 0
    }

    /// The next offset of everything that an owner drains, in one look.
    func drainedEnds() throws(LogFailure) -> [(place: TablePlace, end: Int64)] {
        defer { ends.reset() }
        guard try logged(ends.step()) else { return [] }
        var found: [(place: TablePlace, end: Int64)] = []
        for (column, place) in drained.enumerated() {
            found.append((place, (try logged(ends.optionalInteger(Int32(column), in: LogSchema.offsets)) ?? -1) + 1))
        }
        return found
    }

    func bounds(_ place: TablePlace) throws(LogFailure) -> Range<Int64> {
        let table = try table(place)
        defer { table.bounds.reset() }
        guard try logged(table.bounds.step()),
            let last = try logged(table.bounds.optionalInteger(1, in: LogSchema.offsets))
        else { return 0..<0 }
        return try logged(table.bounds.integer(0, in: LogSchema.offsets))..<last + 1
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
            let record = try record(place, table.scan)
            bytes += record.key.count + (record.value?.count ?? 0)
            records.append(record)
        }
        return records
    }

    /// The newest record of each key from `prefix` on, in the keys' order.
    func latest(_ place: TablePlace, keyPrefix prefix: [UInt8]) throws(LogFailure) -> [Record] {
        let past = Self.firstPast(prefix)
        let sql =
            "SELECT offset, at, key, value, headers FROM \(place.table) WHERE key >= ?1"
            + (past == nil ? "" : " AND key < ?2") + " ORDER BY key, offset"
        var scan = try logged(connection.prepare(sql))
        scan.bind(1, prefix)
        if let past { scan.bind(2, past) }
        var newest: [Record] = []
        while try logged(scan.step()) {
            let record = try record(place, scan)
            if newest.last?.key == record.key { newest.removeLast() }
            newest.append(record)
        }
        return newest.filter { $0.value != nil }
    }

    private func table(_ place: TablePlace) throws(LogFailure) -> Table {
        guard place.isWithin(partitionCount) else { throw place.absence(of: partitionCount) }
        let index = place.index(of: partitionCount)
        if let table = tables[index] { return table }
        let table = try logged(Table(connection, place))
        tables[index] = table
        return table
    }

    private func record(_ place: TablePlace, _ row: borrowing Statement) throws(LogFailure) -> Record {
        let offset = try logged(row.integer(0, in: LogSchema.offsets))
        guard let headers = row.withBytes(4, { RecordHeaders(packed: $0) }) else {
            throw .unreadable(
                path: connection.path, reason: "the headers of \(place.table) at \(offset) are damaged", isDamaged: true
            )
        }
        return Record(
            topic: place.topic, partition: place.partition, offset: offset, timestamp: row.integer(1),
            key: row.bytes(2), value: row.optionalBytes(3), headers: headers)
    }

    /// The least bytes above everything that begins with `prefix`; nil if there are none.
    private static func firstPast(_ prefix: [UInt8]) -> [UInt8]? {
        guard let last = prefix.lastIndex(where: { $0 < 0xff }) else { return nil }
        return prefix[..<last] + [prefix[last] + 1]
    }
}
