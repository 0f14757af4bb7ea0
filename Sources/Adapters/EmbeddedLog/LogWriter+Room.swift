internal import Clocks
internal import Ports
internal import Posix
internal import SQLite
internal import Synchronization

/// How much room there is: what publishers may still take, and what the owner does where the disk is short of it.
extension LogWriter {
    private static let lookInterval = Duration.seconds(1)
    /// What a job may leave on the log's disk: 1.5 KB were measured in log and index for a source of two variants, and 3.9 in
    /// logs that older programs made.
    private static let answerBytes = 6 << 10

    /// Gives the reserve to a disk that is short of room: a start makes indexes and moves the WAL, and nobody knows before how
    /// much that takes. If the disk is full nevertheless, the worker waits for it.
    func beginWithRoom() throws(LogFailure) {
        let reserve = folder.reserve
        isTight = reserve.free < max(reserve.bytes, EmbeddedLogConfiguration.startBytes)
        defer { lookForHalt() }
        guard reserve.free < EmbeddedLogConfiguration.startBytes else { return }
        _ = try folder.withWriteLock { () throws(LogFailure) in reserve.release() }
        guard reserve.free >= EmbeddedLogConfiguration.startBytes else { throw .full(path: folder.path) }
    }

    /// Whether the log has enough room, so that the store may use the same disk.
    nonisolated var keepsRoom: Bool { folder.reserve.held + folder.reserve.free >= folder.reserve.part(2) }

    /// The owner's look at the disk: where it is short, or where most of a large file is spare, pages that hold nothing go
    /// back to it, a few at a time beside the work; where there is room again the reserve is taken again.
    func look(at now: Instant) {
        nextLook = now + Self.lookInterval
        let reserve = folder.reserve
        // What fails here is tried again at the next look.
        let hasMore = try? writing { (log) throws(SQLiteFailure) in
            isTight = reserve.free < (try publishersFloor(for: [], in: log))
            defer { reserve.take() }
            guard isTight else { return try log.isMostlySpare() ? log.giveBack(within: .max) : false }
            let isTrimmed = try !log.trimAlone(passed, configuration, isTight: true)
            let isMoved = try movesWAL(log)
            return try log.giveBack(within: max(reserve.free, isMoved ? walBytes : 0)) || !isTrimmed
        }
        lookForHalt()
        let hasMoreDeadLetters = trimOldDeadLetters(at: now)
        if hasMore == true || hasMoreDeadLetters { nextLook = now + Self.lookInterval / 50 }
    }

    /// Halts the owner if less than a quarter of the reserve is left, until half of it is.
    private func lookForHalt() {
        let reserve = folder.reserve
        let least = reserve.part(isHalted.load(ordering: .relaxed) ? 2 : 4)
        isHalted.store(reserve.held + reserve.free < least, ordering: .relaxed)
    }

    /// Moves the WAL into the file, so that new records overwrite it. Returns false if a part stays.
    private func movesWAL(_ log: OpenLog) throws(SQLiteFailure) -> Bool {
        let (pages, moved) = try log.connection.checkpoint(.passive)
        return pages == moved
    }

    private var walBytes: Int { FileSystem.length(of: folder.file + "-wal") ?? 0 }

    /// Goes on with an earlier owner's looks at dead letters.
    func resumeLooks(in log: OpenLog) {
        // Where that cannot be read, this owner's first look counts as the first.
        guard let boot = SystemTime.boot, let last = try? log.lastLook(since: boot),
            last.at <= SystemTime.monotonic
        else { return }
        oldDeadLetters.resume(last.ends, lookedAt: last.at)
    }

    /// Old dead letters go in transactions of their own: where their tables are damaged, nothing else fails, and those who
    /// append or read letters hear of it. Returns whether there is more.
    private func trimOldDeadLetters(at now: Instant) -> Bool {
        let isDue = oldDeadLetters.beginLook(at: now)
        guard isDue || !oldDeadLetters.ends.isEmpty else { return false }
        do throws(LogFailure) {
            var found: [Int64]?
            let hasMore = try writing { (log) throws(SQLiteFailure) in
                if isDue {
                    let ends = try log.endsOfDeadLetters(olderThan: SystemTime.wall - configuration.deadKept)
                    oldDeadLetters.look(ends)
                    found = ends
                }
                return try log.trimDeadLetters(below: oldDeadLetters.ends, isTight: isTight)
            }
            if let found, let boot = SystemTime.boot { saveLook(found, at: now, since: boot) }
            if !hasMore { oldDeadLetters.finish() }
            return hasMore
        } catch {
            // Counts made in the failed transaction are wrong: the file is opened anew.
            open = nil
            // A full disk is tried again at the next look; damage at the next that finds letters old.
            if case .full = error {} else { oldDeadLetters.finish() }
            return false
        }
    }

    /// Nothing but the next owner's first look rests on it.
    private func saveLook(_ ends: [Int64], at now: Instant, since boot: String) {
        do throws(LogFailure) {
            try writing { (log) throws(SQLiteFailure) in try log.saveLook(ends, at: now, since: boot) }
        } catch { open = nil }
    }

    /// SQLite calls it an I/O error where the memory that its connections share finds no room.
    func isFull(_ failure: LogFailure) -> Bool {
        switch failure {
        case .full: true
        case .unavailable: folder.reserve.free < EmbeddedLogConfiguration.startBytes
        default: false
        }
    }

    /// Moves the WAL into the file when that is due. An owner gives the reserve up for it: else the WAL would go on growing
    /// until nothing can be written at all.
    func tidy(_ log: OpenLog) {
        guard !log.checkpointIfDue(isOwner: owner != nil, reserve: configuration.reserve, folder), owner != nil else {
            return
        }
        isTight = true
        if folder.reserve.release() { _ = log.checkpoint() }
    }

    /// Room for a commit that the disk refused: the reserve, and what of the WAL can be written over once it is moved. False
    /// if there is none. The file is opened again: counts made in the failed transaction are wrong.
    func findRoom() -> Bool {
        (open, isTight) = (nil, true)
        let isGivenUp = try? folder.withWriteLock { () throws(LogFailure) in folder.reserve.release() }
        let moved = try? writing { (log) throws(SQLiteFailure) in try log.connection.checkpoint(.truncate) }
        return isGivenUp == true || (moved.map { $0.pages == $0.moved } ?? false)
    }

    /// The room for publishers; nil for the owner, and if there is no limit.
    func room(for group: Inbox.Group, in log: OpenLog) throws(SQLiteFailure) -> LogRoom? {
        guard owner == nil, configuration.byteLimit != nil || configuration.reserve > 0,
            group.batches.contains(where: \.isPublished)
        else { return nil }
        let used = try log.usedBytes()
        let floor = try publishersFloor(for: group.batches, in: log)
        func room(isMoved: Bool) -> LogRoom {
            LogRoom(
                free: folder.reserve.free - (isMoved ? 0 : walBytes), used: used, floor: floor,
                most: configuration.byteLimit.map { $0 - configuration.reserve })
        }
        // At most the whole WAL is not in the file yet; only a checkpoint shows the exact part.
        let least = room(isMoved: false)
        guard least.shortage(for: group.batches.reduce(0) { $0 + $1.bytes }) != nil else { return least }
        return room(isMoved: (try? movesWAL(log)) ?? false)
    }

    /// Bytes that publishers leave on the disk: the reserve once more, and room for the answers to all pending jobs. These are
    /// counted once a second: other publishers add little to them meanwhile.
    private func publishersFloor(for batches: [Inbox.Batch], in log: OpenLog) throws(SQLiteFailure) -> Int {
        guard configuration.reserve > 0 else { return 0 }
        let now = SystemTime.monotonic
        if now >= unfinished.counted + Self.lookInterval { unfinished = (min(try log.unfinished(), 1 << 40), now) }
        unfinished.records += batches.reduce(0) { $0 + $1.rows.count }
        return configuration.reserve + unfinished.records * Self.answerBytes
    }

    /// Why a batch may not come in; nil if it may. A tombstone makes room, so any process may append one.
    func refusal(of batch: Inbox.Batch, _ room: LogRoom?) -> LogFailure? {
        guard batch.isPublished, let shortage = room?.shortage(for: batch.bytes) else { return nil }
        unfinished.records -= batch.rows.count
        return .reserved(path: folder.path, shortage)
    }
}
