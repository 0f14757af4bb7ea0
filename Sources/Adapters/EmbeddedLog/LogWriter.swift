internal import Clocks
internal import Ports
internal import Posix
internal import Records
internal import SQLite
internal import Synchronization

/// The thread that writes the log: appends of many tasks are committed in groups, each with one sync of the disk.
///
/// - Concurrency: an actor on a thread of ours; batches come in through its inbox without waiting for it.
/// - Failure: a group is refused if it certainly is not in the file. If the commit itself failed below SQLite it is
///   unknown, and the file is opened anew, since a second sync may report what the first could not write as written.
actor LogWriter {
    nonisolated let folder: LogFolder
    nonisolated let configuration: EmbeddedLogConfiguration
    private nonisolated let thread = PollThread("log writer")
    private nonisolated let inbox: Inbox
    var open: OpenLog?
    /// Set while this process owns the log: only then are records deleted, and commits told at home.
    private(set) var owner: (@Sendable (Set<TablePlace>) -> Void)?
    private(set) var passed: [TablePlace: Int64] = [:]
    /// When the owner looks again how much room there is.
    var nextLook = Instant.distantPast
    /// Records that wait for the owner, and when they were counted.
    var unfinished: (records: Int, counted: Instant) = (0, .distantPast)
    /// The reserve is given up and mostly used: what is left is for the jobs that the worker has. It takes no more.
    nonisolated let isHalted = Atomic(false)
    /// The disk has less room than is kept for the owner: nothing waits to be deleted together.
    var isTight = false
    var oldDeadLetters: OldDeadLetters

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(_ folder: LogFolder, _ configuration: EmbeddedLogConfiguration) {
        (self.folder, self.configuration) = (folder, configuration)
        inbox = Inbox(reserve: configuration.reserve)
        oldDeadLetters = OldDeadLetters(every: configuration.deadLetterLook)
    }

    /// Begins to take turns; apart from `init` because the thread may only know the writer once it is whole.
    nonisolated func start() {
        thread.poll { [weak self] in self?.assumeIsolated { $0.turn() } }
    }

    nonisolated func append(_ records: [NewRecord]) async -> [AppendResult] {
        var results: [AppendResult] = []
        results.reserveCapacity(records.count)
        // What is large is committed in pieces: on a full disk each makes room for the next.
        for piece in inbox.pieces(of: records.map(PendingRow.init)) { results += await append(piece) }
        return results
    }

    private nonisolated func append(_ rows: [PendingRow]) async -> [AppendResult] {
        await withCheckedContinuation { continuation in
            if inbox.add(Inbox.Batch(rows: rows) { continuation.resume(returning: $0) }) {
                thread.wake()
            } else {
                continuation.resume(returning: rows.map { _ in .refused(.closed) })
            }
        }
    }

    nonisolated func commit(_ committed: Int64, of place: TablePlace) {
        if inbox.add(committed, of: place, now: SystemTime.monotonic) { thread.wake() }
    }

    /// Begins the time of an owner in this process: new epochs, and `onCommit` hears of what every commit touched.
    func beginOwnership(
        _ onCommit: @escaping @Sendable (Set<TablePlace>) -> Void
    ) throws(LogFailure) -> (epochs: [Int64], committed: [TablePlace: Int64]) {
        try beginWithRoom()
        let (epochs, committedOffsets) = try writing { (log) throws(SQLiteFailure) in
            resumeLooks(in: log)
            return (try log.bumpEpochs(), try log.committedOffsets())
        }
        (owner, passed, nextLook) = (onCommit, committedOffsets, .distantPast)
        thread.wake()
        return (epochs, committedOffsets)
    }

    /// Removes tombstones that are old, below an offset of each place; of `variants` those that the partition's index has folded.
    func dropTombstones(below offsets: [TablePlace: Int64]) throws(LogFailure) {
        let before = SystemTime.wall - configuration.tombstonesKept
        try writing { (log) throws(SQLiteFailure) in
            try log.connection.transaction { () throws(SQLiteFailure) in
                try log.dropTombstones(below: offsets, olderThan: before)
            }
        }
    }

    /// Ends it: everything that waits is committed, what is finished deleted, and the WAL moved into the file.
    func endOwnership() {
        commitAll()
        // What fails here the next owner does.
        try? writing { (log) throws(SQLiteFailure) in
            while try log.trimAlone(passed, configuration, isTight: isTight) {}
            try log.connection.checkpoint(.truncate)
            folder.reserve.take()
        }
        owner = nil
    }

    /// Commits what waits and takes no more.
    func close() {
        inbox.close()
        commitAll()
        // A group that failed ends that: whoever waits for what is behind it still hears.
        while case let left = inbox.take(now: .distantPast, isForced: true), !left.batches.isEmpty {
            for batch in left.batches { batch.answer(batch.rows.map { _ in .refused(.closed) }) }
        }
        thread.stopPolling()
        open = nil
    }

    private func commitAll() {
        while true {
            let group = inbox.take(now: SystemTime.monotonic, isForced: true)
            guard !group.isEmpty, commit(group) else { return }
        }
    }

    private func turn() -> Instant? {
        let now = SystemTime.monotonic
        let group = inbox.take(now: now, isForced: false)
        if !group.isEmpty { _ = commit(group) }
        if inbox.due == .distantPast { thread.wake() }
        guard owner != nil else { return inbox.due }
        if now >= nextLook { look(at: now) }
        return min(inbox.due ?? .distantFuture, nextLook)
    }

    /// Commits a group and answers its batches. Returns whether it went in.
    private func commit(_ group: Inbox.Group) -> Bool {
        var touched: Set<TablePlace> = []
        var result = attempt(group, &touched)
        // What the owner commits is what frees the disk, sooner or later.
        if case .refused(let failure) = result, owner != nil, isFull(failure), findRoom() {
            touched = []
            result = attempt(group, &touched)
        }
        switch result {
        case .committed(let answers):
            if let owner { owner(touched) } else if !touched.isEmpty { folder.bell.ring() }
            for (batch, answer) in zip(group.batches, answers) { batch.answer(answer) }
            return true
        case .refused(let failure): fail(group, .refused(failure))
        case .unknown(let failure): fail(group, .unknown(failure))
        }
        return false
    }

    private func attempt(_ group: Inbox.Group, _ touched: inout Set<TablePlace>) -> CommitResult {
        do throws(LogFailure) {
            let result = try writing { (log) throws(SQLiteFailure) in
                defer { tidy(log) }
                return try commit(group, to: log, &touched)
            }
            // It may have gone meanwhile, with what was committed.
            do throws(LogFailure) { try folder.checkPlace() } catch { return .unknown(error) }
            return result
        } catch {
            return .refused(error)
        }
    }

    private enum CommitResult {
        case committed([[AppendResult]])
        case refused(LogFailure)
        case unknown(LogFailure)
    }

    private func commit(
        _ group: Inbox.Group, to log: OpenLog, _ touched: inout Set<TablePlace>
    ) throws(SQLiteFailure) -> CommitResult {
        var answers: [[AppendResult]] = []
        var room = try room(for: group, in: log)
        try log.connection.begin()
        do throws(SQLiteFailure) {
            for batch in group.batches {
                if let refusal = refusal(of: batch, room) {
                    answers.append(batch.rows.map { _ in .refused(refusal) })
                } else {
                    answers.append(try log.append(batch.rows, &touched, isOwner: owner != nil))
                    room?.take(batch.bytes)
                }
            }
            for (place, committed) in group.committedOffsets { try log.save(committed, of: place) }
            if owner != nil {
                passed.merge(group.committedOffsets) { $1 }
                let isIdle = group.batches.isEmpty
                _ = try log.trim(
                    passed, changed: group.committedOffsets, touched: touched, configuration, isIdle: isIdle,
                    isTight: isTight)
            }
        } catch {
            log.connection.rollback()
            throw error
        }
        do throws(SQLiteFailure) { try log.connection.commit() } catch {
            log.connection.rollback()
            // Of these two SQLite says for certain that the transaction is not in the file.
            return error.isFull || error.isBusy ? .refused(LogFailure(error)) : .unknown(LogFailure(error))
        }
        return .committed(answers)
    }

    private func fail(_ group: Inbox.Group, _ result: AppendResult) {
        open = nil
        inbox.putBack(group.committedOffsets, due: SystemTime.monotonic + .seconds(1))
        for batch in group.batches { batch.answer(batch.rows.map { _ in result }) }
    }

    func writing<Result>(_ body: (OpenLog) throws(SQLiteFailure) -> Result) throws(LogFailure) -> Result {
        try folder.withWriteLock { () throws(LogFailure) in
            try folder.checkPlace()
            defer { open?.forgetTables() }
            return try logged(body(opened()))
        }
    }

    private func opened() throws(SQLiteFailure) -> OpenLog {
        if let open { return open }
        let connection = try folder.openForWriting(reserve: configuration.reserve)
        let log = OpenLog(connection, folder.layout)
        open = log
        // From the first job on, so that a worker finds it on a disk that others filled.
        if folder.reserve.held == 0 { folder.reserve.take() }
        return log
    }
}
