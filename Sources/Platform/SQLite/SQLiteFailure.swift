internal import CSQLite

/// An error of SQLite, and the file it concerns.
package struct SQLiteFailure: Error, Sendable, Hashable, CustomStringConvertible {
    package let path: String
    /// The extended result code; its low byte is the primary one.
    package let extendedCode: Int32
    package let message: String

    package init(path: String, extendedCode: Int32, message: String) {
        (self.path, self.extendedCode, self.message) = (path, extendedCode, message)
    }

    /// Failure for a file with contradictory content, which SQLite does not detect.
    package static func damaged(_ path: String, _ message: String) -> SQLiteFailure {
        SQLiteFailure(path: path, extendedCode: SQLITE_CORRUPT, message: message)
    }

    /// Failure for a file that a newer program wrote. SQLite itself no longer uses this code.
    package static func newer(_ path: String, _ message: String) -> SQLiteFailure {
        SQLiteFailure(path: path, extendedCode: SQLITE_FORMAT, message: message)
    }

    package var code: Int32 { extendedCode & 0xff }
    package var description: String { "\(message) (SQLite \(extendedCode))" }

    /// Whether the disk, or the limit set on the file, is used up. No part of the transaction was kept.
    package var isFull: Bool { code == SQLITE_FULL }
    package var isBusy: Bool { code == SQLITE_BUSY }
    /// Whether the file is no database, or a damaged one.
    package var isCorrupt: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB }
    package var isOfNewerVersion: Bool { code == SQLITE_FORMAT }
    /// Whether the statement does not fit the file's tables.
    package var isMisfit: Bool { code == SQLITE_ERROR }
    /// Whether the file could not be opened, or created.
    package var isUnopened: Bool { code == SQLITE_CANTOPEN }
    /// Whether its folder is read-only, so that a file needed for reading cannot be created
    /// (SQLITE_READONLY_DIRECTORY).
    package var isInReadOnlyFolder: Bool { extendedCode == SQLITE_READONLY | 6 << 8 }
    /// Whether reading or writing failed below SQLite: after a failed commit, the file's content is unknown.
    package var isInputOutput: Bool { code == SQLITE_IOERR }
}
