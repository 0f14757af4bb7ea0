internal import Canonical
internal import Clocks
internal import Digest
internal import ImageModel
internal import Ports
internal import Records
internal import SQLite

/// The tables of parked jobs in an index file.
///
/// `shares` has a row for each host and lane with jobs, and their numbers. Random keys cost a page for each changed row, so
/// a job has two of them only: its source and its id. Its identity is indexed by offset, in the order of the log.
final class ParkedTable {
    private let connection: Connection
    private var find: Statement
    private var ofSource: Statement
    private var ofJob: Statement
    private var after: Statement
    private var oldest: Statement
    private var due: Statement
    private var ending: Statement
    private var nextDue: Statement
    private var oldestSeen: Statement
    private var insert: Statement
    private var delete: Statement
    private var makeReady: Statement
    private var setShare: Statement
    private var dropShare: Statement
    private var setPosition: Statement
    private var pages: Statement
    private(set) var checkpoint: IndexCheckpoint?
    private var shares = Shares()
    /// Highest offset among the first records of jobs that have been in the table.
    private(set) var reach: Int64?

    /// Numbers by share, as the table has them. A copy is changed in a transaction, and replaces this one after it.
    private struct Shares {
        var counts: [ParkedShare: ParkedCount] = [:]
        var ids: [ParkedShare: Int64] = [:]
        var names: [Int64: ParkedShare] = [:]
        var changed: Set<Int64> = []
        var lastID: Int64 = 0

        mutating func id(of share: ParkedShare) -> Int64 {
            if let id = ids[share] { return id }
            lastID += 1
            (ids[share], names[lastID]) = (lastID, share)
            return lastID
        }

        mutating func count(_ id: Int64, jobs: Int, ready: Int) {
            guard let share = names[id] else { return }
            counts[share, default: ParkedCount(jobs: 0, ready: 0)].jobs += jobs
            counts[share]?.ready += ready
            changed.insert(id)
        }
    }

    private static let columns = "id, share, ready, offset, body"
    private static let tables = """
        CREATE TABLE IF NOT EXISTS shares (id INTEGER PRIMARY KEY, host TEXT NOT NULL, lane TEXT NOT NULL, jobs INTEGER NOT NULL, ready INTEGER NOT NULL);
        CREATE TABLE IF NOT EXISTS parked (id INTEGER PRIMARY KEY, identity INTEGER NOT NULL, source INTEGER NOT NULL, job INTEGER NOT NULL, share INTEGER NOT NULL, ready INTEGER NOT NULL, due INTEGER NOT NULL, ends INTEGER, seen INTEGER NOT NULL, offset INTEGER NOT NULL, body BLOB NOT NULL);
        CREATE INDEX IF NOT EXISTS parked_by_identity ON parked (identity);
        CREATE INDEX IF NOT EXISTS parked_by_source ON parked (source);
        CREATE INDEX IF NOT EXISTS parked_by_job ON parked (job);
        CREATE INDEX IF NOT EXISTS parked_by_age ON parked (share, ready, seen, offset);
        CREATE INDEX IF NOT EXISTS parked_by_due ON parked (due) WHERE ready = 0;
        CREATE INDEX IF NOT EXISTS parked_by_end ON parked (ends) WHERE ends IS NOT NULL;
        CREATE TABLE IF NOT EXISTS parked_position (id INTEGER PRIMARY KEY, position INTEGER NOT NULL, inverse INTEGER NOT NULL, epoch INTEGER NOT NULL, at INTEGER NOT NULL, anchors BLOB);
        """

    /// Bytes of rows that were written since the WAL was emptied. Rows have their jobs' bodies, so it can grow to 16 MiB,
    /// which a log on the same disk lacks. It is emptied once no job is parked.
    private var unmoved = 0
    private static let unmovedLimit = 1 << 20

    /// Makes the tables if the file has none, as a file of an older version.
    init(_ connection: Connection) throws(SQLiteFailure) {
        self.connection = connection
        try connection.transaction { () throws(SQLiteFailure) in try connection.execute(Self.tables) }
        let rows = "SELECT \(Self.columns) FROM parked"
        find = try connection.prepare("\(rows) WHERE identity = ?1")
        ofSource = try connection.prepare("\(rows) WHERE source = ?1 ORDER BY offset")
        ofJob = try connection.prepare("\(rows) WHERE job = ?1 ORDER BY offset")
        after = try connection.prepare("\(rows) WHERE id > ?1 ORDER BY id LIMIT ?2")
        oldest = try connection.prepare(
            "\(rows) WHERE share = ?1 AND ready = 1 ORDER BY seen, offset LIMIT ?3 OFFSET ?2")
        due = try connection.prepare(
            "SELECT id, share FROM parked WHERE ready = 0 AND due <= ?1 ORDER BY due, offset LIMIT ?2")
        ending = try connection.prepare("\(rows) WHERE ends <= ?1 ORDER BY ends, offset LIMIT ?2")
        nextDue = try connection.prepare(
            "SELECT (SELECT min(due) FROM parked WHERE ready = 0), (SELECT min(ends) FROM parked WHERE ends IS NOT NULL)")
        oldestSeen = try connection.prepare(
            """
            SELECT min(min(coalesce((SELECT min(seen) FROM parked WHERE share = s.id AND ready = 0), ?2),
                coalesce((SELECT min(seen) FROM parked WHERE share = s.id AND ready = 1), ?2)))
            FROM shares s WHERE lane = ?1
            """)
        insert = try connection.prepare(
            "INSERT INTO parked (identity, source, job, share, ready, due, ends, seen, offset, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
        )
        delete = try connection.prepare("DELETE FROM parked WHERE id = ?1")
        makeReady = try connection.prepare("UPDATE parked SET ready = 1 WHERE id = ?1")
        setShare = try connection.prepare("INSERT OR REPLACE INTO shares VALUES (?1, ?2, ?3, ?4, ?5)")
        dropShare = try connection.prepare("DELETE FROM shares WHERE id = ?1")
        setPosition = try connection.prepare("INSERT OR REPLACE INTO parked_position VALUES (0, ?1, ~?1, ?2, ?3, ?4)")
        pages = try connection.prepare("SELECT id, body FROM parked WHERE id > ?1 ORDER BY id LIMIT ?2")
        checkpoint = try IndexFile.checkpoint(connection, of: "parked_position") ?? nil
        // Rows without a position, or with a damaged one, are read from the log again.
        guard checkpoint != nil else {
            try wipe()
            return
        }
        try readShares()
        reach = try connection.number("SELECT max(identity) FROM parked").flatMap { $0 < 0 ? nil : $0 }
    }

    var counts: [ParkedShare: ParkedCount] { shares.counts }

    private func readShares() throws(SQLiteFailure) {
        var rows = try connection.prepare("SELECT id, host, lane, jobs, ready FROM shares")
        defer { rows.reset() }
        let numbers: ClosedRange<Int64> = 0...1 << 40
        while try rows.step() {
            guard let lane = Lane(rawValue: rows.text(2)) else {
                throw .damaged(connection.path, "shares names the lane \(rows.text(2))")
            }
            let (id, share) = (rows.integer(0), ParkedShare(OriginHost(group: rows.text(1)), lane))
            shares.ids[share] = id
            shares.names[id] = share
            shares.lastID = max(shares.lastID, id)
            shares.counts[share] = ParkedCount(
                jobs: Int(try rows.integer(3, in: numbers)), ready: Int(try rows.integer(4, in: numbers)))
        }
    }

    /// Returns false if a row is damaged.
    func apply(_ changes: [ParkedChange], _ checkpoint: IndexCheckpoint) throws(SQLiteFailure) -> Bool {
        var shares = shares
        let isWhole = try connection.transaction { () throws(SQLiteFailure) -> Bool in
            for change in changes {
                guard try remove(change.key, &shares) else { return false }
                if case .park(let row, let offset) = change { try add(row, offset, &shares) }
            }
            try save(&shares)
            setPosition.bind(1, checkpoint.position)
            setPosition.bind(2, checkpoint.epoch)
            setPosition.bind(3, checkpoint.at.milliseconds)
            if let fingerprints = checkpoint.fingerprints { setPosition.bind(4, fingerprints.packed) } else { setPosition.bindNull(4) }
            try setPosition.run()
            return true
        }
        guard isWhole else { return false }
        (self.shares, self.checkpoint) = (shares, checkpoint)
        if shares.counts.isEmpty, unmoved > Self.unmovedLimit {
            // A full disk refuses it: the next change tries again.
            if (try? connection.checkpoint(.truncate)) != nil { unmoved = 0 }
        }
        return true
    }

    private func add(_ row: ParkedRow, _ offset: Int64, _ shares: inout Shares) throws(SQLiteFailure) {
        let (share, isReady) = (shares.id(of: row.share), row.isReadyAtOnce)
        insert.bind(1, row.identity.word)
        insert.bind(2, row.source.word)
        insert.bind(3, row.note.job.word)
        insert.bind(4, share)
        insert.bind(5, isReady ? 1 : 0)
        insert.bind(6, row.note.notBefore.milliseconds)
        if let ends = row.ends { insert.bind(7, ends.milliseconds) } else { insert.bindNull(7) }
        insert.bind(8, row.note.firstSeen.milliseconds)
        insert.bind(9, offset)
        let body = ParkedCoding.encode(row)
        unmoved += body.count
        insert.bind(10, body)
        try insert.run()
        if case .record(let first) = row.identity { reach = max(reach ?? 0, first.offset) }
        shares.count(share, jobs: 1, ready: isReady ? 1 : 0)
    }

    /// Removes the row of a key, if there is one. Returns false if a row is damaged.
    private func remove(_ key: RecordKey, _ shares: inout Shares) throws(SQLiteFailure) -> Bool {
        guard case .parked(_, let identity) = key else { return true }
        var found: (id: Int64, share: Int64, isReady: Bool)?
        find.bind(1, identity.word)
        let isWhole = try Self.read(&find) { id, share, job in
            if job.row.key == key { found = (id, share, job.isReady) }
            return found == nil
        }
        guard isWhole, let found else { return isWhole }
        delete.bind(1, found.id)
        try delete.run()
        shares.count(found.share, jobs: -1, ready: found.isReady ? -1 : 0)
        return true
    }

    private func save(_ shares: inout Shares) throws(SQLiteFailure) {
        for id in shares.changed {
            guard let share = shares.names[id], let count = shares.counts[share] else { continue }
            if count.jobs == 0 {
                dropShare.bind(1, id)
                try dropShare.run()
                (shares.counts[share], shares.ids[share], shares.names[id]) = (nil, nil, nil)
                continue
            }
            setShare.bind(1, id)
            setShare.bind(2, share.host.description)
            setShare.bind(3, share.lane.rawValue)
            setShare.bind(4, Int64(count.jobs))
            setShare.bind(5, Int64(count.ready))
            try setShare.run()
        }
        shares.changed = []
    }

    func ready(at now: WallTime, limit: Int) throws(SQLiteFailure) -> Int {
        let ids = try dueRows(at: now, limit: limit)
        // A transaction at each tick would cost more than the look.
        if ids.isEmpty { return 0 }
        var shares = shares
        try connection.transaction { () throws(SQLiteFailure) in
            for (id, share) in ids {
                makeReady.bind(1, id)
                try makeReady.run()
                shares.count(share, jobs: 0, ready: 1)
            }
            try save(&shares)
        }
        self.shares = shares
        return ids.count
    }

    private func dueRows(at now: WallTime, limit: Int) throws(SQLiteFailure) -> [(id: Int64, share: Int64)] {
        due.bind(1, now.milliseconds)
        due.bind(2, Int64(limit))
        defer { due.reset() }
        var rows: [(id: Int64, share: Int64)] = []
        while try due.step() { rows.append((due.integer(0), due.integer(1))) }
        return rows
    }

    /// Reads the whole table, because no index has offsets first. Few owners ask, and each once.
    func offsets(among offsets: Set<Int64>) throws(SQLiteFailure) -> Set<Int64> {
        let list = offsets.map(String.init).joined(separator: ",")
        var rows = try connection.prepare("SELECT offset FROM parked WHERE offset IN (\(list))")
        defer { rows.reset() }
        var found: Set<Int64> = []
        while try rows.step() { found.insert(rows.integer(0)) }
        return found
    }

    func firstDue() throws(SQLiteFailure) -> WallTime? {
        defer { nextDue.reset() }
        guard try nextDue.step() else { return nil }
        let times = [nextDue.optionalInteger(0), nextDue.optionalInteger(1)].compactMap(\.self)
        return times.min().map { WallTime(milliseconds: $0) }
    }

    func oldestSeen(_ lane: Lane) throws(SQLiteFailure) -> WallTime? {
        defer { oldestSeen.reset() }
        oldestSeen.bind(1, lane.rawValue)
        oldestSeen.bind(2, Int64.max)
        guard try oldestSeen.step(), let time = oldestSeen.optionalInteger(0), time < .max else { return nil }
        return WallTime(milliseconds: time)
    }

    /// nil: a row is damaged.
    func job(_ key: RecordKey) throws(SQLiteFailure) -> ParkedJob?? {
        guard case .parked(_, let identity) = key else { return .some(nil) }
        find.bind(1, identity.word)
        guard let jobs = try Self.jobs(&find, limit: 1, where: { $0.key == key }) else { return nil }
        return .some(jobs.first)
    }

    func jobs(of source: SourceKey, limit: Int) throws(SQLiteFailure) -> [ParkedJob]? {
        ofSource.bind(1, source.word)
        return try Self.jobs(&ofSource, limit: limit) { $0.source == source }
    }

    func jobs(id: String, limit: Int) throws(SQLiteFailure) -> [ParkedJob]? {
        ofJob.bind(1, id.word)
        return try Self.jobs(&ofJob, limit: limit) { $0.note.job == id }
    }

    func jobs(after place: Int64, limit: Int) throws(SQLiteFailure) -> (jobs: [ParkedJob], end: Int64?)? {
        after.bind(1, place)
        after.bind(2, Int64(limit))
        var (jobs, end): ([ParkedJob], Int64) = ([], place)
        let isWhole = try Self.read(&after) { id, _, job in
            jobs.append(job)
            end = id
            return true
        }
        return isWhole ? (jobs, jobs.count < limit ? nil : end) : nil
    }

    func ending(at now: WallTime, limit: Int) throws(SQLiteFailure) -> [ParkedJob]? {
        ending.bind(1, now.milliseconds)
        ending.bind(2, Int64(limit))
        return try Self.jobs(&ending, limit: limit) { _ in true }
    }

    func oldest(of share: ParkedShare, from start: Int, limit: Int) throws(SQLiteFailure) -> [ParkedJob]? {
        guard let id = shares.ids[share] else { return [] }
        oldest.bind(1, id)
        oldest.bind(2, Int64(start))
        oldest.bind(3, Int64(limit))
        return try Self.jobs(&oldest, limit: limit) { _ in true }
    }

    func page(after place: Int64, limit: Int) throws(SQLiteFailure) -> SavedIndex.ParkedPage {
        defer { pages.reset() }
        pages.bind(1, place)
        pages.bind(2, Int64(limit))
        var page = SavedIndex.ParkedPage()
        while try pages.step() {
            page.end = pages.integer(0)
            if let row = pages.withBytes(1, ParkedCoding.decode) { page.rows.append(row) } else { page.damaged += 1 }
        }
        return page
    }

    private static func jobs(
        _ rows: inout Statement, limit: Int, where isMeant: (ParkedRow) -> Bool
    ) throws(SQLiteFailure) -> [ParkedJob]? {
        var jobs: [ParkedJob] = []
        let isWhole = try read(&rows) { _, _, job in
            if isMeant(job.row) { jobs.append(job) }
            return jobs.count < limit
        }
        return isWhole ? jobs : nil
    }

    /// Reads rows until `body` returns false. Returns false if a row is damaged.
    private static func read(
        _ rows: inout Statement, _ body: (_ id: Int64, _ share: Int64, ParkedJob) -> Bool
    ) throws(SQLiteFailure) -> Bool {
        defer { rows.reset() }
        while try rows.step() {
            guard let row = rows.withBytes(4, ParkedCoding.decode) else { return false }
            let job = ParkedJob(row, offset: rows.integer(3), isReady: rows.integer(2) != 0)
            if !body(rows.integer(0), rows.integer(1), job) { break }
        }
        return true
    }

    func wipe() throws(SQLiteFailure) {
        try connection.transaction { () throws(SQLiteFailure) in
            try connection.execute("DELETE FROM parked; DELETE FROM shares; DELETE FROM parked_position")
        }
        (shares, checkpoint, reach) = (Shares(), nil, nil)
    }
}

extension JobIdentity {
    /// Word by which the identity is indexed; several identities may share it. Words of own jobs are negative, so that the
    /// largest is an offset.
    fileprivate var word: Int64 {
        switch self {
        case .record(let record): record.offset
        case .own(let digest): Int64(bitPattern: digest.words.0) | .min
        }
    }
}

extension SourceKey {
    fileprivate var word: Int64 { Int64(bitPattern: digest.words.0) }
}

extension String {
    fileprivate var word: Int64 { Int64(bitPattern: SHA256.digest(of: Array(utf8)).words.0) }
}
