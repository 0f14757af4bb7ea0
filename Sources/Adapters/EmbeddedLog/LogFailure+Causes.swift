internal import Ports
internal import Posix
internal import SQLite

extension LogFailure {
    init(_ failure: SQLiteFailure) {
        if failure.isOfNewerVersion {
            self = .unreadable(path: failure.path, reason: failure.message, .version)
        } else if failure.isFull {
            self = .full(path: failure.path)
        } else if failure.isBusy || failure.isInputOutput {
            self = .unavailable(reason: "\(failure.path): \(failure)")
        } else {
            self = .unreadable(path: failure.path, reason: failure.description, failure.isCorrupt ? .damage : .access)
        }
    }

    init(_ failure: SystemFailure, path: String) {
        self =
            failure.isOutOfSpace
            ? .full(path: path) : .unreadable(path: path, reason: failure.description, .access)
    }
}

/// SQLite's part of something, its failure said in the log's words: `try logged(connection.prepare(sql))`.
func logged<Result: ~Copyable>(_ body: @autoclosure () throws(SQLiteFailure) -> Result) throws(LogFailure) -> Result {
    do throws(SQLiteFailure) { return try body() } catch { throw LogFailure(error) }
}
