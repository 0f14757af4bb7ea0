internal import Ports
internal import SQLite

/// How much room the log has for records: all in bytes.
///
/// The owner, too, stops while there is some left: a WAL that found no room in the file could never be written over, and
/// not even what deletes could be committed.
struct LogRoom: Sendable, Equatable {
    /// Of the disk.
    var free: Int
    /// Pages of the file that hold something.
    var used: Int
    /// Pages of the file that hold nothing.
    var spare: Int
    /// In the WAL, and not yet in the file.
    var unmoved: Int
    /// Of the WAL's file, what is written over before that grows.
    var walSpare: Int
    /// To be left free on the disk.
    var floor: Int
    /// Of `used`.
    var most: Int?

    /// Why so many bytes of records may not come in; nil if they may. A byte goes to the WAL first, and to the file when
    /// that is moved.
    func shortage(for bytes: Int) -> LogFailure.Shortage? {
        if let most, used + bytes > most { return .limit(used: used, most: most) }
        let needed = max(0, bytes - walSpare) + max(0, bytes + unmoved - spare)
        return floor > 0 && free - needed < floor ? .disk(free: free, kept: floor) : nil
    }

    mutating func take(_ bytes: Int) {
        free -= max(0, bytes - walSpare)
        walSpare = max(0, walSpare - bytes)
        used += bytes
        unmoved += bytes
    }
}

extension OpenLog {
    /// What of the WAL's file has no part in the log any more is written over.
    ///
    /// - Parameters:
    ///   - free: of the disk.
    ///   - wal: the length of the WAL's file.
    ///   - checkpoint: how much of it is in use, and how much of that in the file; nil: taken to be all, and nothing.
    func room(
        free: Int, wal: Int, after checkpoint: (pages: Int, moved: Int)?, floor: Int, most: Int?
    ) throws(SQLiteFailure) -> LogRoom {
        let size = Int(try connection.number("PRAGMA page_size") ?? 0)
        let pages = Int(try connection.number("PRAGMA page_count") ?? 0)
        let spare = Int(try connection.number("PRAGMA freelist_count") ?? 0)
        let frame = size + Self.frameHeaderBytes
        return LogRoom(
            free: free, used: (pages - spare) * size, spare: spare * size,
            unmoved: checkpoint.map { max(0, $0.pages - $0.moved) * size } ?? wal,
            walSpare: checkpoint.map { max(0, wal - $0.pages * frame) } ?? 0, floor: floor, most: most)
    }

    /// Before each page in a WAL.
    private static let frameHeaderBytes = 24

    /// Gives the disk back some of the pages that hold nothing. True if there may be more.
    ///
    /// Files that older programs made have no way to; those are copied at a start where they hold little (`copyIfOld`).
    ///
    /// - Parameter room: bytes that may be written for it.
    func giveBack(within room: Int) throws(SQLiteFailure) -> Bool {
        guard try connection.number("PRAGMA auto_vacuum") == 2,
            let spare = try connection.number("PRAGMA freelist_count")
        else { return false }
        // A page that moves is written, and so are its parent's and what the file knows of pages' parents.
        let pages = min(spare, Int64(room / LogSchema.pageSize / 4), Self.givenBackPages)
        guard pages > 0 else { return false }
        try connection.transaction { () throws(SQLiteFailure) in
            try connection.execute("PRAGMA incremental_vacuum(\(pages))")
        }
        return try connection.checkpoint(.passive).moved > 0 && spare > pages
    }

    /// 4 MiB at a time, so that appends wait some milliseconds for it.
    private static let givenBackPages: Int64 = 512
}
