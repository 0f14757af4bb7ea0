internal import Records
internal import SQLite

/// One table of the log as the writer sees it.
final class LogTable {
    /// Stands for a value that is packed together with its headers, in their place. No other value is a number.
    static let packed: Int64 = 1

    let place: TablePlace
    private let connection: Connection
    private var insert: Statement
    private var last: Statement
    private var trim: Statement
    /// For topics looked up by key: what a new record makes obsolete.
    private var byKey: ByKey?
    private let hasShortKeys: Bool
    /// The offset of the next record, as of the last append through this connection.
    private(set) var next: Int64 = 0

    private final class ByKey {
        var dropOlder: Statement
        var find: Statement
        var drop: Statement
        init(_ connection: Connection, _ table: String) throws(SQLiteFailure) {
            dropOlder = try connection.prepare("DELETE FROM \(table) WHERE key = ?1 AND offset < ?2")
            find = try connection.prepare(
                "SELECT offset, headers, value IS NULL FROM \(table) WHERE key = ?1 AND offset < ?2")
            drop = try connection.prepare("DELETE FROM \(table) WHERE offset = ?1")
        }
    }

    init(_ connection: Connection, _ place: TablePlace) throws(SQLiteFailure) {
        (self.connection, self.place) = (connection, place)
        insert = try connection.prepare("INSERT INTO \(place.table) VALUES (?1, ?2, ?3, ?4, ?5)")
        last = try connection.prepare("SELECT max(offset) FROM \(place.table)")
        // The newest record always stays: the next offset is the one after it.
        trim = try connection.prepare(
            "DELETE FROM \(place.table) WHERE offset < min(?1, (SELECT max(offset) FROM \(place.table)))")
        hasShortKeys = try LogSchema.hasShortKeys(connection, place)
        byKey = place.topic.hasKeyIndex ? try ByKey(connection, place.table) : nil
    }

    /// Once in each write transaction, before its first append: another process may have appended since.
    func beginGroup() throws(SQLiteFailure) {
        defer { last.reset() }
        next = try last.step() ? (last.optionalInteger(0, in: LogSchema.offsets) ?? -1) + 1 : 0
    }

    /// Returns the record's offset.
    func append(_ row: PendingRow, _ now: Int64, isShort: Bool) throws(SQLiteFailure) -> Int64 {
        let offset = next
        insert.bind(1, offset)
        insert.bind(2, now)
        let key = hasShortKeys ? ShortKey.stored(row.key) : row.key
        insert.bind(3, key)
        switch row.body {
        case .packed: insert.bind(4, Self.packed)
        case .value(let value): insert.bind(4, value)
        case .tombstone: insert.bindNull(4)
        }
        insert.bind(5, isShort ? row.shortHeaders ?? row.headers : row.headers)
        try insert.run()
        next += 1
        guard let byKey else { return offset }
        if place.topic.isCompacted {
            byKey.dropOlder.bind(1, key)
            byKey.dropOlder.bind(2, offset)
            try byKey.dropOlder.run()
        } else if let discarded = row.discarded {
            try discard(discarded, key: row.key, before: offset, byKey)
        }
        return offset
    }

    /// Deletes what is below `offset`, but for the newest record.
    func trim(below offset: Int64) throws(SQLiteFailure) {
        trim.bind(1, offset)
        try trim.run()
    }

    /// Takes a dead letter away, and the marks of earlier discards of its key that have nothing left to say.
    private func discard(_ id: [UInt8], key: [UInt8], before offset: Int64, _ byKey: ByKey) throws(SQLiteFailure) {
        var obsolete: [Int64] = []
        byKey.find.bind(1, key)
        byKey.find.bind(2, offset)
        defer { byKey.find.reset() }
        while try byKey.find.step() {
            let headers = byKey.find.withBytes(1, ShortHeaders.headers) ?? []
            let isMark = byKey.find.integer(2) == 1
            if isMark || headers["ce_id"] == id {
                obsolete.append(byKey.find.integer(0))
            }
        }
        byKey.find.reset()
        for offset in obsolete {
            byKey.drop.bind(1, offset)
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
    /// The id of the dead letter that this record discards.
    let discarded: [UInt8]?
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
            record.topic == .dead && record.value == nil
            ? record.headers[DeadLetterDiscard.header] : nil
        let value = if case .value(let value) = body { value.count } else { 0 }
        bytes = key.count + value + headers.count
    }
}
