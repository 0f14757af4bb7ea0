internal import Ports
internal import SQLite

/// Room for publishers, in bytes.
struct LogRoom: Sendable, Equatable {
    /// Of the disk.
    var free: Int
    /// Pages of the file that hold something.
    var used: Int
    /// To be left free on the disk.
    let floor: Int
    /// Of `used`.
    let most: Int?

    /// The reason to refuse records of this size; nil if there is room. A byte goes to the WAL first, and to the file when
    /// that is moved.
    func shortage(for bytes: Int) -> LogFailure.Shortage? {
        if let most, used + bytes > most { return .limit(used: used, most: most) }
        return floor > 0 && free - 2 * bytes < floor ? .disk(free: free, kept: floor) : nil
    }

    mutating func take(_ bytes: Int) {
        free -= 2 * bytes
        used += bytes
    }
}

extension OpenLog {
    /// Pages of the file that hold something, in bytes.
    func usedBytes() throws(SQLiteFailure) -> Int {
        let pages = try connection.number("PRAGMA page_count") ?? 0
        let spare = try connection.number("PRAGMA freelist_count") ?? 0
        return Int(pages - spare) * Int(try connection.number("PRAGMA page_size") ?? 0)
    }

    /// Gives the disk back some of the pages that hold nothing. True if there may be more.
    ///
    /// A file from before 0.1.0 cannot give pages back. It fills its spare pages again.
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
