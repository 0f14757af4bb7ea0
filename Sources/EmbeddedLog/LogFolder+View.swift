internal import Ports
internal import Posix
internal import SQLite

extension LogFolder {
    /// The folder as somebody sees it who makes nothing in it and takes no lock.
    struct View: Sendable {
        let partitionCount: Int
        private let path: String
        private let asking: FileLock
        private let identity: FileSystem.Identity?

        init(_ path: String) throws(LogFailure) {
            self.path = path
            // First: what takes the file's place from here on is another one.
            identity = FileSystem.identity(of: Self.file(path))
            do throws(SystemFailure) { asking = try FileLock(path + "/lock", .asking) } catch {
                throw LogFailure(error, path: path)
            }
            partitionCount = try logged(LogSchema.partitionCount(Self.connection(path)))
        }

        func open() throws(LogFailure) -> LogReader {
            try logged(LogReader(Self.connection(path), partitions: partitionCount))
        }

        var owner: String? { LogFolder.owner(asking) }
        var isInPlace: Bool { FileSystem.identity(of: Self.file(path)) == identity }

        private static func file(_ path: String) -> String { path + "/log.sqlite" }

        private static func connection(_ path: String) throws(SQLiteFailure) -> Connection {
            let connection = try Connection(file(path), .readOnly)
            connection.checkpointOnlyWhenTold()
            return connection
        }
    }
}
