internal import Clocks
internal import Ports
internal import Posix
internal import Records
internal import SQLite

/// The log's file, open for writing: what is done inside a write transaction, under the write lock.
final class OpenLog {
    let connection: Connection
    private let layout: LogLayout
    /// Those that were written last (`forgetTables`).
    private var tables: [TablePlace: LogTable] = [:]
    /// By the place that their table is named after.
    private var statements: [TablePlace: LogTable.Statements] = [:]
    /// By table: everything below is deleted, but for the newest record.
    private var firsts: [TablePlace: Int64] = [:]
    /// Offsets below which records are to be deleted; nil before the first look at all committed offsets.
    private var untrimmed: [TablePlace: Int64]?
    private var saveCommitted: Statement?
    /// The file's version says that older programs cannot read what is written; nil where it was not looked at.
    private var isNewest: Bool?
    /// Of the WAL's pages, those that the last checkpoint moved.
    private var movedPages = 0

    /// Pages in the WAL at which it is moved into the file: 16 MiB by the owner. Publishers alone let it grow to 64.
    private static let ownerPages = 2_048
    private static let othersPages = 8_192
    private static let leastPages = 128
    /// At most so many records are deleted in one transaction.
    private static let trimmedRecords: Int64 = 8_192
    /// Where the disk is short of room: each transaction must find some.
    private static let trimmedWhereTight: Int64 = 512
    /// A free part of the file below this is left for new records.
    private static let keptFreeBytes: Int64 = 64 << 20

    init(_ connection: Connection, _ layout: LogLayout) { (self.connection, self.layout) = (connection, layout) }

    private var partitionCount: Int { layout.partitions }

    func append(
        _ rows: [PendingRow], _ touched: inout Set<TablePlace>, isOwner: Bool
    ) throws(SQLiteFailure) -> [AppendResult] {
        let now = SystemTime.wall
        let wasNewest = if let isNewest { isNewest } else { try LogSchema.isNewest(connection) }
        // Packed rows come from owners alone, and no older program reads them.
        let isOwners = isOwner || rows.contains(where: \.isPacked)
        if isOwners, !wasNewest { try LogSchema.markNewest(connection) }
        let isShort = isOwners || wasNewest
        isNewest = isShort
        var results: [AppendResult] = []
        results.reserveCapacity(rows.count)
        for row in rows {
            guard row.place.isWithin(partitionCount) else {
                results.append(.refused(row.place.absence(of: partitionCount)))
                continue
            }
            guard row.bytes <= EmbeddedLogConfiguration.recordBytes else {
                let limit = EmbeddedLogConfiguration.recordBytes
                results.append(.refused(.tooLarge(topic: row.place.topic, bytes: row.bytes, limit: limit)))
                continue
            }
            let table = try table(row.place)
            if touched.insert(row.place).inserted { try table.beginGroup() }
            results.append(.acknowledged(try table.append(row, now, isShort: isShort)))
        }
        return results
    }

    func save(_ committed: Int64, of place: TablePlace) throws(SQLiteFailure) {
        if saveCommitted == nil {
            saveCommitted = try connection.prepare("INSERT OR REPLACE INTO watermarks VALUES (?1, ?2, ?3)")
        }
        saveCommitted?.bind(1, place.topic.rawValue)
        saveCommitted?.bind(2, Int64(place.partition.number))
        saveCommitted?.bind(3, committed)
        try saveCommitted?.run()
    }

    func committedOffsets() throws(SQLiteFailure) -> [TablePlace: Int64] {
        var found: [TablePlace: Int64] = [:]
        var rows = try connection.prepare("SELECT topic, partition, watermark FROM watermarks")
        while try rows.step() {
            guard let topic = Topic(rawValue: rows.text(0)) else { continue }
            let partition = PartitionID(Int32(truncatingIfNeeded: rows.integer(1)))
            found[TablePlace(topic: topic, partition: partition)] = try rows.integer(2, in: LogSchema.offsets)
        }
        return found
    }

    /// A new epoch for every partition, in their order.
    func bumpEpochs() throws(SQLiteFailure) -> [Int64] {
        try connection.transaction { () throws(SQLiteFailure) in try bumpEpochsInside() }
    }

    private func bumpEpochsInside() throws(SQLiteFailure) -> [Int64] {
        var bump = try connection.prepare(
            "INSERT INTO epochs VALUES (?1, 1) ON CONFLICT DO UPDATE SET epoch = epoch + 1 RETURNING epoch")
        var epochs: [Int64] = []
        for partition in 0..<Int64(partitionCount) {
            bump.bind(1, partition)
            while try bump.step() { epochs.append(try bump.integer(0, in: RecordLimits.epochs)) }
            bump.reset()
        }
        guard epochs.count == partitionCount else {
            throw .damaged(connection.path, "\(epochs.count) of \(partitionCount) partitions took a new epoch")
        }
        return epochs
    }

    /// Records that no owner has finished.
    func unfinished() throws(SQLiteFailure) -> Int {
        let committed = try committedOffsets()
        var records = 0
        for place in TablePlace.all(Topic.consumed, of: partitionCount) {
            let next = try bounds(place).map { $0.upperBound + 1 } ?? 0
            records += Int(clamping: max(0, next - (committed[place] ?? 0)))
        }
        return records
    }

    /// Deletes what committed offsets have passed, and the outcomes that are too many. Returns whether there is more.
    ///
    /// While appends come, a table waits until a thousand records have gathered: fewer pages are written twice.
    ///
    /// - Parameters:
    ///   - committedOffsets: of all places.
    ///   - changed: those of them that are new since the last call.
    ///   - touched: places that were appended to since.
    func trim(
        _ committedOffsets: [TablePlace: Int64], changed: [TablePlace: Int64], touched: Set<TablePlace>,
        _ configuration: EmbeddedLogConfiguration, isIdle: Bool, isTight: Bool
    ) throws(SQLiteFailure) -> Bool {
        let least: Int64 = isIdle || isTight ? 1 : 1_000
        let outcomesKept = Int64(max(1, configuration.outcomesKept / partitionCount))
        var due = untrimmed ?? committedOffsets
        due.merge(changed) { $1 }
        for place in touched where place.topic == .outcomes || place.topic == .events {
            due[place] = try table(place).next - outcomesKept
        }
        var left = isTight ? Self.trimmedWhereTight : Self.trimmedRecords
        for (place, offset) in due {
            if place.isWithin(partitionCount) { left -= try trim(place, below: offset, least: least, limit: left) }
            if firsts[place] ?? .max >= offset { due[place] = nil }
        }
        untrimmed = due
        return left == 0
    }

    /// Deletes what is below `offset` if that is `least` or more, at most `limit`. Returns how many offsets it passed.
    private func trim(
        _ place: TablePlace, below offset: Int64, least: Int64, limit: Int64
    ) throws(SQLiteFailure) -> Int64 {
        let first = if let known = firsts[place] { known } else { try bounds(place)?.lowerBound ?? 0 }
        firsts[place] = first
        let bound = min(offset, first + limit)
        guard offset - first >= least, bound > first else { return 0 }
        try table(place).trim(below: bound)
        firsts[place] = bound
        return bound - first
    }

    /// The first and the last offset; nil if the place has no record.
    private func bounds(_ place: TablePlace) throws(SQLiteFailure) -> ClosedRange<Int64>? {
        let part = layout.part(of: place)
        // Statements of the 3,328 tables that a log of version 3 may have are not kept.
        if layout.tables > LogLayout.mostTables, tables[place] == nil {
            return try LogTable.Bounds(connection, part.table).read(part)
        }
        return try table(place).bounds()
    }

    /// By partition: dead letters below it are older than `time`.
    func endsOfDeadLetters(olderThan time: WallTime) throws(SQLiteFailure) -> [Int64] {
        var ends: [Int64] = []
        for partition in 0..<Int32(partitionCount) {
            ends.append(try end(of: TablePlace(topic: .dead, partition: PartitionID(partition)), olderThan: time))
        }
        return ends
    }

    private func end(of place: TablePlace, olderThan time: WallTime) throws(SQLiteFailure) -> Int64 {
        let part = layout.part(of: place)
        let rows = "FROM \(part.table.table) WHERE offset BETWEEN ?2 AND ?3"
        var found = try connection.prepare(
            "SELECT coalesce((SELECT offset \(rows) AND at >= ?1 ORDER BY offset LIMIT 1), (SELECT max(offset) \(rows)))"
        )
        found.bind(1, time.milliseconds)
        part.bindRows(to: &found, from: 2)
        return try found.step() ? part.optionalOffset(found, 0) ?? 0 : 0
    }

    /// What the last look at dead letters since the machine was started found, by partition, and when that was; nil
    /// if there was none.
    func lastLook(since boot: String) throws(SQLiteFailure) -> (ends: [Int64], at: Instant)? {
        guard try connection.number("SELECT 1 FROM sqlite_schema WHERE name = 'looks'") != nil else { return nil }
        var rows = try connection.prepare("SELECT below, at FROM looks WHERE boot = ?1 ORDER BY partition")
        rows.bind(1, boot)
        var (ends, at): ([Int64], Instant) = ([], .distantPast)
        while try rows.step() {
            ends.append(try rows.integer(0, in: LogSchema.offsets))
            at = max(at, Instant(milliseconds: try rows.integer(1, in: 0...Int64.max)))
        }
        return ends.isEmpty ? nil : (ends, at)
    }

    /// For the next owner's first look; made anew each time, so that one that is damaged lasts no longer.
    func saveLook(_ ends: [Int64], at time: Instant, since boot: String) throws(SQLiteFailure) {
        try connection.transaction { () throws(SQLiteFailure) in
            try connection.execute("DROP TABLE IF EXISTS looks")
            try connection.execute(
                "CREATE TABLE looks (partition INTEGER PRIMARY KEY, below INTEGER NOT NULL, at INTEGER NOT NULL, boot TEXT NOT NULL)"
            )
            var save = try connection.prepare("INSERT INTO looks (partition, below, at, boot) VALUES (?1, ?2, ?3, ?4)")
            save.bind(3, time.nanoseconds / 1_000_000)
            save.bind(4, boot)
            for (partition, end) in ends.enumerated() {
                save.bind(1, Int64(partition))
                save.bind(2, end)
                try save.run()
            }
        }
    }

    /// Deletes dead letters below these, by partition. Returns whether there is more.
    func trimDeadLetters(below ends: [Int64], isTight: Bool) throws(SQLiteFailure) -> Bool {
        try connection.transaction { () throws(SQLiteFailure) in
            var left = isTight ? Self.trimmedWhereTight : Self.trimmedRecords
            for (partition, end) in ends.enumerated() {
                let dead = TablePlace(topic: .dead, partition: PartitionID(Int32(partition)))
                left -= try trim(dead, below: end, least: 1, limit: left)
            }
            return left == 0
        }
    }

    func trimAlone(
        _ committedOffsets: [TablePlace: Int64], _ configuration: EmbeddedLogConfiguration, isTight: Bool
    ) throws(SQLiteFailure) -> Bool {
        do throws(SQLiteFailure) {
            return try connection.transaction { () throws(SQLiteFailure) in
                try trim(committedOffsets, changed: [:], touched: [], configuration, isIdle: true, isTight: isTight)
            }
        } catch {
            // Nothing was deleted.
            (firsts, untrimmed) = ([:], nil)
            throw error
        }
    }

    func dropTombstones(below offsets: [TablePlace: Int64], olderThan time: WallTime) throws(SQLiteFailure) {
        let places = offsets.map { (part: layout.part(of: $0), offset: $1) }
        for (table, places) in Dictionary(grouping: places, by: \.part.table) {
            // The newest record always stays: the next offset is the one after it.
            var drop = try connection.prepare(
                """
                DELETE FROM \(table.table) WHERE value IS NULL AND at < ?2 AND offset >= ?3
                    AND offset < min(?1, (SELECT max(offset) FROM \(table.table) WHERE offset BETWEEN ?3 AND ?4))
                """)
            drop.bind(2, time.milliseconds)
            for (part, offset) in places {
                drop.bind(1, part.row(of: offset))
                part.bindRows(to: &drop, from: 3)
                try drop.run()
            }
        }
    }

    /// Moves the WAL into the file when it has grown enough, under the write lock. Without an owner publishers do it,
    /// late: a log that is only written to must not grow twice. False if the disk had no room for the file to grow.
    func checkpointIfDue(isOwner: Bool, reserve: Int, _ folder: LogFolder) -> Bool {
        let pages = connection.walPages
        // Fewer than before: readers let the WAL begin anew.
        if pages < movedPages { movedPages = 0 }
        guard pages - movedPages >= Self.duePages(isOwner: isOwner, reserve: reserve), isOwner || folder.owner == nil
        else { return true }
        return checkpoint(isTruncating: pages >= 8 * Self.othersPages)
    }

    /// One that fails costs nothing: the pages stay in the WAL for the next.
    func checkpoint(isTruncating: Bool = false) -> Bool {
        do throws(SQLiteFailure) {
            movedPages = try connection.checkpoint(isTruncating ? .truncate : .passive).moved
            return true
        } catch {
            movedPages = connection.walPages
            return !error.isFull
        }
    }

    /// What is in the WAL must find room in the file: a quarter of the reserve is enough for the owner's, and half for what
    /// publishers left.
    static func duePages(isOwner: Bool, reserve: Int) -> Int {
        let most = isOwner ? ownerPages : othersPages
        return reserve == 0 ? most : min(most, max(leastPages, reserve / LogSchema.pageSize / (isOwner ? 4 : 2)))
    }

    /// Whether most of a large file is pages that hold nothing: a backlog was worked off.
    func isMostlySpare() throws(SQLiteFailure) -> Bool {
        let spare = try connection.number("PRAGMA freelist_count") ?? 0
        let pages = try connection.number("PRAGMA page_count") ?? 0
        return spare * Int64(LogSchema.pageSize) > Self.keptFreeBytes && spare > pages / 2
    }

    private func table(_ place: TablePlace) throws(SQLiteFailure) -> LogTable {
        if let table = tables[place] { return table }
        let part = layout.part(of: place)
        let shared =
            if let known = statements[part.table] { known } else { try LogTable.Statements(connection, part.table) }
        statements[part.table] = shared
        let table = LogTable(place, part, shared)
        tables[place] = table
        return table
    }

    /// Between transactions, since a table counts its next offset in one: of many partitions statements would take as much
    /// memory as all else.
    func forgetTables() { if statements.count > LogSchema.openTables { (tables, statements) = ([:], [:]) } }
}
