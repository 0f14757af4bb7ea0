internal import Clocks
internal import Records
internal import SQLite

/// One partition of a topic as the writer sees it.
final class LogTable {
    /// Stands for a value that is packed together with its headers, in their place. No other value is a number.
    static let packed: Int64 = 2
    /// The same, as older programs packed rows (`OldRowPacking`).
    static let packedBefore: Int64 = 1

    let place: TablePlace
    private let part: TablePart
    private let statements: Statements
    /// The offset of the next record, as of the last append through this connection.
    private(set) var next: Int64 = 0

    /// The statements of a table, which several partitions may share.
    final class Statements {
        fileprivate var insert: Statement
        fileprivate var bounds: Bounds
        fileprivate var trim: Statement
        /// For topics looked up by key: what a new record makes obsolete.
        fileprivate var byKey: ByKey?
        fileprivate let hasShortKeys: Bool

        init(_ connection: Connection, _ place: TablePlace) throws(SQLiteFailure) {
            insert = try connection.prepare("INSERT INTO \(place.table) VALUES (?1, ?2, ?3, ?4, ?5)")
            bounds = try Bounds(connection, place)
            // The newest record always stays: the next offset is the one after it.
            trim = try connection.prepare(
                """
                DELETE FROM \(place.table) WHERE offset >= ?2
                    AND offset < min(?1, (SELECT max(offset) FROM \(place.table) WHERE offset BETWEEN ?2 AND ?3))
                """)
            hasShortKeys = try LogSchema.hasShortKeys(connection, place)
            byKey = place.topic.hasKeyIndex ? try ByKey(connection, place.table) : nil
        }
    }

    /// Finds the first and the last record.
    final class Bounds {
        private var statement: Statement
        private let path: String
        init(_ connection: Connection, _ place: TablePlace) throws(SQLiteFailure) {
            path = connection.path
            let rows = "FROM \(place.table) WHERE offset BETWEEN ?1 AND ?2"
            statement = try connection.prepare("SELECT (SELECT min(offset) \(rows)), (SELECT max(offset) \(rows))")
        }

        /// nil if there is no record.
        func read(_ part: TablePart) throws(SQLiteFailure) -> ClosedRange<Int64>? {
            defer { statement.reset() }
            part.bindRows(to: &statement, from: 1)
            guard try statement.step(), let last = try part.optionalOffset(statement, 1) else { return nil }
            // So in a copy whose pages are of different times.
            guard let first = try part.optionalOffset(statement, 0), first <= last else {
                throw .damaged(path, "\(part.table.table) ends at offset \(last), before its first record")
            }
            return first...last
        }
    }

    fileprivate final class ByKey {
        var dropOlder: Statement
        var find: Statement
        var drop: Statement
        init(_ connection: Connection, _ table: String) throws(SQLiteFailure) {
            dropOlder = try connection.prepare("DELETE FROM \(table) WHERE key = ?1 AND offset >= ?3 AND offset < ?2")
            find = try connection.prepare(
                "SELECT offset, headers, value IS NULL FROM \(table) WHERE key = ?1 AND offset >= ?3 AND offset < ?2")
            drop = try connection.prepare("DELETE FROM \(table) WHERE offset = ?1")
        }
    }

    init(_ place: TablePlace, _ part: TablePart, _ statements: Statements) {
        (self.place, self.part, self.statements) = (place, part, statements)
    }

    /// Once in each write transaction, before its first append: another process may have appended since.
    func beginGroup() throws(SQLiteFailure) {
        next = try bounds().map { $0.upperBound + 1 } ?? 0
    }

    /// The first and the last offset; nil if there is no record.
    func bounds() throws(SQLiteFailure) -> ClosedRange<Int64>? { try statements.bounds.read(part) }

    /// Returns the record's offset.
    func append(_ row: PendingRow, _ now: WallTime, isShort: Bool) throws(SQLiteFailure) -> Int64 {
        let offset = next
        statements.insert.bind(1, part.row(of: offset))
        statements.insert.bind(2, now.milliseconds)
        let key = statements.hasShortKeys ? ShortKey.stored(row.key) : row.key
        statements.insert.bind(3, key)
        switch row.body {
        case .packed: statements.insert.bind(4, Self.packed)
        case .value(let value): statements.insert.bind(4, value)
        case .tombstone: statements.insert.bindNull(4)
        }
        statements.insert.bind(5, isShort ? row.shortHeaders ?? row.headers : row.headers)
        try statements.insert.run()
        next += 1
        guard let byKey = statements.byKey else { return offset }
        if place.topic.isCompacted {
            byKey.dropOlder.bind(1, key)
            byKey.dropOlder.bind(2, part.row(of: offset))
            byKey.dropOlder.bind(3, part.rows.lowerBound)
            try byKey.dropOlder.run()
        } else if let discarded = row.discarded {
            try discard(discarded, key: row.key, before: offset, byKey)
        }
        return offset
    }

    /// Deletes what is below `offset`, but for the newest record.
    func trim(below offset: Int64) throws(SQLiteFailure) {
        statements.trim.bind(1, part.row(of: offset))
        part.bindRows(to: &statements.trim, from: 2)
        try statements.trim.run()
    }

    /// Takes a dead letter away, and the marks of earlier discards of its key that have nothing left to say.
    private func discard(
        _ deadLetter: DeadLetter.Name, key: [UInt8], before offset: Int64, _ byKey: ByKey
    ) throws(SQLiteFailure) {
        var obsolete: [Int64] = []
        byKey.find.bind(1, key)
        byKey.find.bind(2, part.row(of: offset))
        byKey.find.bind(3, part.rows.lowerBound)
        defer { byKey.find.reset() }
        while try byKey.find.step() {
            let headers = byKey.find.withBytes(1, ShortHeaders.headers) ?? []
            let isMark = byKey.find.integer(2) == 1
            if isMark || deadLetter.covers(headers) {
                obsolete.append(byKey.find.integer(0))
            }
        }
        byKey.find.reset()
        for row in obsolete {
            byKey.drop.bind(1, row)
            try byKey.drop.run()
        }
    }
}

/// A record on its way into the log, encoded by the thread that appends it.
struct PendingRow: Sendable {
    let place: TablePlace
    let key: [UInt8]
    let body: Body
    let headers: [UInt8]
    /// The same where no older program reads the log.
    let shortHeaders: [UInt8]?
    /// The dead letter that this record discards.
    let discarded: DeadLetter.Name?
    let bytes: Int

    enum Body: Sendable {
        case value([UInt8])
        case tombstone
        /// Among the headers.
        case packed
    }

    var isPacked: Bool { if case .packed = body { true } else { false } }

    init(_ record: NewRecord) {
        place = TablePlace(topic: record.topic, partition: record.partition)
        key = record.key
        let isRow = record.topic == .variants
        if let value = record.value, isRow,
            let packed = RowPacking.pack(key: record.key, headers: record.headers.packed, value: value)
        {
            (body, headers, shortHeaders) = (.packed, packed, nil)
        } else {
            (body, headers) = (record.value.map { .value($0) } ?? .tombstone, record.headers.packed)
            shortHeaders = ShortHeaders.stored(record.headers)
        }
        discarded =
            record.topic == .dead && record.value == nil ? DeadLetter.Name(discardedBy: record.headers) : nil
        let value = if case .value(let value) = body { value.count } else { 0 }
        bytes = key.count + value + headers.count
    }
}
