internal import CSQLite

/// What SQLite answered instead of a result, and to what.
package struct SQLiteFailure: Error, Sendable, Hashable, CustomStringConvertible {
    package let path: String
    /// The extended result code; its low byte is the primary one.
    package let extendedCode: Int32
    package let message: String

    package init(path: String, extendedCode: Int32, message: String) {
        (self.path, self.extendedCode, self.message) = (path, extendedCode, message)
    }

    /// The file's content contradicts itself, which SQLite does not notice.
    package static func damaged(_ path: String, _ message: String) -> SQLiteFailure {
        SQLiteFailure(path: path, extendedCode: SQLITE_CORRUPT, message: message)
    }

    package var code: Int32 { extendedCode & 0xff }
    package var description: String { "\(message) (SQLite \(extendedCode))" }

    /// The disk, or the limit set on the file, is used up. Nothing of the transaction was kept.
    package var isFull: Bool { code == SQLITE_FULL }
    package var isBusy: Bool { code == SQLITE_BUSY }
    /// The bytes of the file are not a database, or not a sound one.
    package var isCorrupt: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB }
    /// The statement does not fit the file's tables.
    package var isMisfit: Bool { code == SQLITE_ERROR }
    /// The file could not be opened, or made.
    package var isUnopened: Bool { code == SQLITE_CANTOPEN }
    /// A file that must be made beside it to read it cannot be: its folder is read-only (SQLITE_READONLY_DIRECTORY).
    package var isInReadOnlyFolder: Bool { extendedCode == SQLITE_READONLY | 6 << 8 }
    /// Reading or writing failed below SQLite: after a failed commit, what is in the file is not known.
    package var isInputOutput: Bool { code == SQLITE_IOERR }
}
