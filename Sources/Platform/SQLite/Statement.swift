internal import CSQLite

/// A prepared statement, used repeatedly: bind, step through its rows, reset.
///
/// - Ownership: one owner, finalised by `deinit`; keeps its connection open.
/// - Concurrency: on its connection's thread.
/// - Failure: the next `step` reports a binding that SQLite refused (no memory, too large).
package struct Statement: ~Copyable {
    private let handle: OpaquePointer
    private let connection: Connection
    private var bindFailure: Int32 = SQLITE_OK

    init(_ handle: OpaquePointer, of connection: Connection) { (self.handle, self.connection) = (handle, connection) }

    deinit { sqlite3_finalize(handle) }

    /// Binds a parameter; parameters count from 1, as in SQLite.
    package mutating func bind(_ index: Int32, _ value: Int64) { note(sqlite3_bind_int64(handle, index, value)) }

    package mutating func bindNull(_ index: Int32) { note(sqlite3_bind_null(handle, index)) }

    package mutating func bind(_ index: Int32, _ bytes: [UInt8]) { bytes.withUnsafeBytes { bind(index, $0) } }

    /// Binds a copy of the bytes; no bytes give an empty blob, not NULL.
    package mutating func bind(_ index: Int32, _ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, !bytes.isEmpty else {
            return note(sqlite3_bind_zeroblob(handle, index, 0))
        }
        note(sqlite3_bind_blob64(handle, index, start, UInt64(bytes.count), mz_sqlite_transient()))
    }

    package mutating func bind(_ index: Int32, _ text: String) {
        var text = text
        text.withUTF8 { utf8 in
            utf8.withMemoryRebound(to: CChar.self) {
                // A null pointer would mean NULL: an empty text still needs a pointer.
                let start = $0.baseAddress ?? UnsafePointer(bitPattern: 1)
                note(
                    sqlite3_bind_text64(
                        handle, index, start, UInt64($0.count), mz_sqlite_transient(), UInt8(SQLITE_UTF8)))
            }
        }
    }

    /// Steps to the next row; false if there is none.
    package mutating func step() throws(SQLiteFailure) -> Bool {
        guard bindFailure == SQLITE_OK else {
            defer { bindFailure = SQLITE_OK }
            throw connection.failure(bindFailure)
        }
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            let failure = connection.failure(code)
            sqlite3_reset(handle)
            throw failure
        }
    }

    /// Steps once, for statements without rows, and resets. Returns the number of changed rows.
    @discardableResult
    package mutating func run() throws(SQLiteFailure) -> Int {
        _ = try step()
        reset()
        return Int(sqlite3_changes(connection.database))
    }

    /// Ends the statement's own read; a statement that is not reset keeps the WAL from being reset.
    package mutating func reset() { sqlite3_reset(handle) }

    /// Reads a column; columns count from 0, and are valid while the last `step` returned true.
    package func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    package func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

    /// A number used in computations: one out of `range` counts as damage. nil for NULL.
    package func optionalInteger(_ column: Int32, in range: ClosedRange<Int64>) throws(SQLiteFailure) -> Int64? {
        guard let value = optionalInteger(column) else { return nil }
        guard !range.contains(value) else { return value }
        let name = sqlite3_column_name(handle, column).map { String(cString: $0) } ?? "\(column)"
        throw .damaged(connection.path, "\(name) is \(value), not from \(range.lowerBound) to \(range.upperBound)")
    }

    package func integer(_ column: Int32, in range: ClosedRange<Int64>) throws(SQLiteFailure) -> Int64 {
        try optionalInteger(column, in: range) ?? range.lowerBound
    }

    package func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    package func isInteger(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_INTEGER }

    /// A copy of a blob's bytes.
    package func bytes(_ column: Int32) -> [UInt8] { withBytes(column) { Array($0) } }

    package func optionalBytes(_ column: Int32) -> [UInt8]? { isNull(column) ? nil : bytes(column) }

    /// Lends a blob's or a text's bytes in place, valid only inside `body`.
    package func withBytes<Result>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        // Also nil if memory for it is missing.
        guard let start = sqlite3_column_blob(handle, column) else {
            return body(UnsafeRawBufferPointer(start: nil, count: 0))
        }
        return body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
    }

    package func text(_ column: Int32) -> String { withBytes(column) { String(decoding: $0, as: UTF8.self) } }

    private mutating func note(_ code: Int32) { if code != SQLITE_OK { bindFailure = code } }
}
