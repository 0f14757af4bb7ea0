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

    /// A disk that is short of room gets the reserve at once: a start makes indexes and moves the WAL, and needs more than
    /// can be told before. A disk that is full then, too, is waited for.
    func beginWithRoom() throws(LogFailure) {
        let reserve = folder.reserve
        isTight = reserve.free < max(configuration.reserve, EmbeddedLogConfiguration.startBytes)
        guard isTight else { return }
        try folder.withWriteLock { () throws(LogFailure) in
            repeat {} while reserve.giveUp(piece) && reserve.free < EmbeddedLogConfiguration.startBytes
        }
        guard reserve.free >= EmbeddedLogConfiguration.startBytes else { throw .full(path: folder.path) }
    }

    /// Whether the log has the room that is kept for it, so that others may use the disk.
    nonisolated var keepsRoom: Bool {
        let keeps =
            configuration.reserve == 0 || folder.reserve.held >= wanted.load(ordering: .relaxed)
            || folder.reserve.free >= folder.reserve.part(2, of: configuration.reserve)
        if !keeps { isStoreRefused.store(true, ordering: .relaxed) }
        return keeps
    }

    /// The owner's look at the disk: where it is short, or where most of a large file is spare, pages that hold nothing go
    /// back to it, a few at a time beside the work; where there is room again the reserve is taken again.
    func look(at now: Instant) {
        nextLook = now + Self.lookInterval
        let reserve = folder.reserve
        let held = reserve.held
        // A disk that can hold no file of nothing is short of room only where little is free.
        isTight = reserve.free < configuration.reserve || held + reserve.free < 2 * configuration.reserve
        // What fails here is tried again at the next look.
        let hasMore = try? writing { (log) throws(SQLiteFailure) in
            if configuration.reserve > 0 { try countUnfinished(in: log) }
            wanted.store(configuration.reserve + answersRoom, ordering: .relaxed)
            giveToOthers()
            defer { reserve.take(configuration.reserve, and: answersRoom) }
            guard isTight else {
                guard try log.isMostlySpare() else { return false }
                return try log.giveBack(within: .max)
            }
            let isTrimmed = try !log.trimAlone(passed, configuration, isTight: true)
            let wal = FileSystem.length(of: folder.file + "-wal") ?? 0
            let moved = try log.connection.checkpoint(.passive)
            let room = try log.room(free: reserve.free, wal: wal, after: moved, floor: 0, most: nil)
            return try log.giveBack(within: room.free + room.walSpare - room.unmoved) || !isTrimmed
        }
        let hasMoreLetters = trimOldLetters(at: now)
        if hasMore == true || hasMoreLetters { nextLook = now + Self.lookInterval / 50 }
    }

    /// Goes on with an earlier owner's looks at dead letters.
    func resumeLooks(in log: OpenLog) {
        // Where that cannot be read, this owner's first look counts as the first.
        guard let boot = SystemTime.boot, let last = try? log.lastLook(since: boot),
            last.at <= SystemTime.monotonic
        else { return }
        oldLetters.resume(last.ends, lookedAt: last.at)
    }

    /// Old dead letters go in transactions of their own: where their tables are damaged, nothing else fails, and those who
    /// append or read letters hear of it. Returns whether there is more.
    private func trimOldLetters(at now: Instant) -> Bool {
        let isDue = oldLetters.beginLook(at: now)
        guard isDue || !oldLetters.ends.isEmpty else { return false }
        do throws(LogFailure) {
            var found: [Int64]?
            let hasMore = try writing { (log) throws(SQLiteFailure) in
                if isDue {
                    let ends = try log.endsOfLetters(olderThan: SystemTime.wall - configuration.deadKept)
                    oldLetters.look(ends)
                    found = ends
                }
                return try log.trimLetters(below: oldLetters.ends, isTight: isTight)
            }
            if let found, let boot = SystemTime.boot { saveLook(found, at: now, since: boot) }
            if !hasMore { oldLetters.finish() }
            return hasMore
        } catch {
            // Counts made in the failed transaction are wrong: the file is opened anew.
            open = nil
            // A full disk is tried again at the next look; damage at the next that finds letters old.
            if case .full = error {} else { oldLetters.finish() }
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
        if folder.reserve.giveUp(piece) { _ = log.checkpoint() }
    }

    /// Room for a commit that the disk refused: the reserve, and what of the WAL can be written over once it is moved. False
    /// if there is none. The file is opened again: counts made in the failed transaction are wrong.
    func findRoom() -> Bool {
        (open, isTight) = (nil, true)
        let isGivenUp = try? folder.withWriteLock { () throws(LogFailure) in folder.reserve.giveUp(piece) }
        let moved = try? writing { (log) throws(SQLiteFailure) in try log.connection.checkpoint(.truncate) }
        return isGivenUp == true || (moved.map { $0.pages == $0.moved } ?? false)
    }

    /// What a group finds; nil where there is enough of it, or no record to append.
    ///
    /// Publishers leave `log.reserve` to the owner, and the room of the answers to all jobs that wait. The owner leaves a
    /// quarter of the reserve to what deletes.
    func room(for group: Inbox.Group, in log: OpenLog) throws(SQLiteFailure) -> LogRoom? {
        let reserve = configuration.reserve
        let (isOwner, free) = (owner != nil, folder.reserve.free)
        // All of the WAL at most is not in the file yet; how much of it, only a checkpoint tells.
        let wal = FileSystem.length(of: folder.file + "-wal") ?? 0
        if isOwner {
            guard reserve > 0, free - wal < 2 * reserve, !group.batches.isEmpty else { return nil }
        } else {
            guard configuration.byteLimit != nil || reserve > 0, group.batches.contains(where: \.isPublished) else {
                return nil
            }
        }
        let floor =
            isOwner
            ? folder.reserve.part(4, of: reserve) : reserve == 0 ? 0 : try publishersFloor(for: group, in: log)
        let most = isOwner ? nil : configuration.byteLimit.map { $0 - reserve }
        let bytes = group.batches.reduce(0) { $0 + $1.bytes }
        let room = try log.room(free: free, wal: wal, after: nil, floor: floor, most: most)
        guard room.shortage(for: bytes) != nil else { return room }
        let moved = try? log.connection.checkpoint(.passive)
        if isOwner { isTight = true }
        func measured() throws(SQLiteFailure) -> LogRoom {
            try log.room(free: folder.reserve.free, wal: wal, after: moved, floor: floor, most: most)
        }
        let exact = try measured()
        guard isOwner, exact.shortage(for: bytes) != nil, folder.reserve.giveUp(piece) else { return exact }
        return try measured()
    }

    /// What publishers leave on the disk: what is kept for the owner, less what of it the file of nothing holds already.
    private func publishersFloor(for group: Inbox.Group, in log: OpenLog) throws(SQLiteFailure) -> Int {
        try countUnfinished(in: log)
        unfinished.records += group.batches.reduce(0) { $0 + $1.rows.count }
        let held = max(0, folder.reserve.held - configuration.reserve)
        return configuration.reserve + max(0, unfinished.records * Self.answerBytes - held)
    }

    /// Records that wait for the owner. Counted once a second: what other publishers add meanwhile is little beside the
    /// reserve.
    func countUnfinished(in log: OpenLog) throws(SQLiteFailure) {
        let now = SystemTime.monotonic
        if now >= unfinished.counted + Self.lookInterval { unfinished = (min(try log.unfinished(), 1 << 40), now) }
    }

    /// Room of the answers to all that waits: an answer takes more than its job leaves, until outcomes are too many.
    var answersRoom: Int {
        let step = LogReserve.step(of: configuration.reserve)
        return configuration.reserve == 0 ? 0 : unfinished.records * Self.answerBytes / step * step
    }

    /// What publishers let in makes the file of nothing grow, so that others cannot take what it needs; the owner gives back
    /// what is done.
    func holdAnswersRoom() {
        guard owner == nil, folder.reserve.held < configuration.reserve + answersRoom else { return }
        folder.reserve.take(configuration.reserve, and: answersRoom)
    }

    /// Lets some of the file of nothing go for what cannot do so itself: the store where it was refused room, which leaves
    /// half of it, and indexes where jobs wait and nothing is free.
    private func giveToOthers() {
        let reserve = folder.reserve
        let isStoreShort =
            isStoreRefused.exchange(false, ordering: .relaxed)
            && reserve.free < reserve.part(2, of: configuration.reserve)
        let isEmpty =
            unfinished.records > 0
            && reserve.free < min(EmbeddedLogConfiguration.startBytes, reserve.part(4, of: configuration.reserve))
        if isStoreShort || isEmpty { _ = reserve.giveUp(piece) }
    }

    /// What of the file of nothing is given up at a time.
    private var piece: Int { configuration.reserve == 0 ? .max : configuration.reserve }

    /// Why a batch may not come in; nil if it may. A tombstone makes room, so any process may append one.
    func refusal(of batch: Inbox.Batch, _ room: LogRoom?) -> LogFailure? {
        guard let shortage = room?.shortage(for: batch.bytes) else { return nil }
        if owner != nil { return .full(path: folder.path) }
        if batch.isPublished { unfinished.records -= batch.rows.count }
        return batch.isPublished ? .reserved(path: folder.path, shortage) : nil
    }
}
