import Canonical
import Clocks
import Digest
import Failures
import Hosts
import ImageModel
import Jobs
import Ledger
import Partition
import Permits
import Planning
import Ports
import Positions
import Records
import TestSupport
import VariantSpec

extension OutageTests {
    /// One partition, its lanes and parked jobs, permits, and hosts of which one may be away. Jobs whose host responds are
    /// done with that: their sources do not exist.
    struct World: ~Copyable {
        static let readAhead = 256
        static let lanes: [Topic] = [.jobsFast, .jobsSlow]

        let dead = "http://dead.example/"
        var now: Moment { core.now }
        /// How long a response takes: of the one host, and of others.
        var times: (slow: Duration, others: Duration) = (100, 20)
        var isAway = false
        /// One in so many of the one host's URLs, here and there, responds with 503; 0: none.
        var brokenOf = 0
        var core: Performer
        var logs: [Topic: [Record]] = [:]
        var read: [Topic: Int] = [:]
        var parked = Parked()
        var fetches: [(ends: Moment, flight: FlightID, url: String)] = []
        /// When each request to the one host began, and each first one to others.
        var requests: [WallTime] = []
        var others: [WallTime] = []
        /// URLs of the one host, in the order of its requests.
        var asked: [String] = []
        var rows: [String: Int] = [:]
        var (done, dead_) = (0, 0)
        /// When each unfinished fast job was published, and how long the finished ones took.
        var published: [String: WallTime] = [:]
        var took: [Duration] = []
        var causes: Set<String> = []
        /// Of the variants of dead letters.
        var failures: Set<String?> = []
        var most = (memory: 0, fetches: 0)

        init() {
            var rules = PartitionRules(reuse: ReuseRules(), retry: RetryPolicy(attempts: 0))
            rules.hostShare = Self.readAhead / 4
            let origins = OriginRules()
            rules.origins = origins
            core = Performer(rules, PermitRules(render: 2, origins: origins))
            core.now = 1_000_000
            for topic in Self.lanes { core.state.begin(topic, at: 0) }
        }

        mutating func publish(_ url: String, _ lane: Lane) {
            let number = logs.values.reduce(0) { $0 + $1.count }
            if lane == .fast { published["\(url)\(number)"] = now.wall }
            let topic = Topic.jobs(lane)
            logs[topic, default: []].append(
                Record(
                    topic: topic, partition: PartitionID(0), offset: Int64(logs[topic]?.count ?? 0), timestamp: now.wall,
                    key: [], value: Array("\(url)\(number)".utf8), headers: []))
        }

        private mutating func take(_ topic: Topic) -> [Record] {
            let start = read[topic, default: 0]
            let records = (logs[topic] ?? []).dropFirst(start).prefix(Self.readAhead - core.state.unfinished(topic))
            read[topic] = start + records.count
            return Array(records)
        }

        private mutating func feed(_ event: PartitionEvent) {
            core.feed(event)
            collect()
        }

        private mutating func collect() {
            for (id, request) in exchange(&core.fetches, with: []) {
                let url = request.url.fetched
                let isOne = url.hasPrefix(dead)
                if isOne { requests.append(now.wall) } else { others.append(now.wall) }
                if isOne { asked.append(url) }
                fetches.append((now + (isOne ? times.slow : times.others), id, url))
            }
            for (record, disposition) in exchange(&core.answers, with: []) {
                if let row = disposition.parked {
                    rows[row.pending.job.id, default: 0] += 1
                    parked.write(row, at: now.wall)
                    continue
                }
                parked.delete(record)
                switch disposition {
                case .dead(let deadLetter, let outcome):
                    dead_ += 1
                    failures.formUnion(outcome.variants.map { $0.failure?.code })
                    causes.insert("\(deadLetter.cause.code): \(deadLetter.cause.message)")
                case .outcome(let outcome):
                    done += 1
                    if let begin = published.removeValue(forKey: outcome.job) { took.append(now.wall - begin) }
                case .refreshing, .paid, .changed: done += 1
                case .park, .unpark, .move, .control, .rekey: break
                }
            }
        }

        private func pending(_ record: Record) -> PendingJob {
            let url = String(decoding: record.value ?? [], as: UTF8.self)
            let job = Job(
                id: url, url: SourceURL(url), source: SourceKey(SHA256.digest(of: Array(url.utf8))),
                variants: [VariantSpec(width: 10, height: 10, format: .webp)], lane: record.topic.lane ?? .slow)
            return PendingJob(job: job, record: record)
        }

        private func isBroken(_ url: String) -> Bool {
            guard brokenOf > 0, let number = Int(url.dropFirst(dead.count)) else { return false }
            // By chance: what follows from the numbers comes in runs, and a run closes the host.
            var chance = SplitMix64(state: UInt64(number))
            return chance.next() % UInt64(brokenOf) == 0
        }

        /// Those have no end.
        var isAllButBroken: Bool {
            let jobs = Self.lanes.flatMap { logs[$0] ?? [] }
            return done == jobs.count { !isBroken(String(decoding: $0.value ?? [], as: UTF8.self)) }
        }

        /// One tick of the worker.
        mutating func step() {
            core.now += 50
            while let place = fetches.firstIndex(where: { $0.ends.wall <= now.wall }) {
                let (_, flight, url) = fetches.remove(at: place)
                let complete: OriginResponse =
                    isBroken(url)
                    ? .refused(after: nil, mayBeOfURL: true)
                    : isAway && url.hasPrefix(dead) ? .failed : .responded(bytes: 0)
                let note =
                    complete == .responded(bytes: 0)
                    ? FailureNote(code: "fetch.not-found", message: "no", verdict: .fail)
                    : FailureNote(code: "fetch.connection", message: "no", verdict: .retry)
                feed(.unfetched(flight, Unfetched(note, complete)))
            }
            feed(.tick)
            startParked()
            for topic in Self.lanes {
                for (place, record) in take(topic).enumerated() {
                    feed(.arrived(pending(record)))
                    if place % 32 == 31 { settle() }
                }
                settle()
            }
            let running = fetches.count { $0.url.hasPrefix(dead) }
            most = (max(most.memory, core.state.held.values.reduce(0, +)), max(most.fetches, running))
        }

        /// As `Worker.startParked`.
        private mutating func startParked() {
            parked.makeReady(at: now.wall)
            for row in parked.ending(at: now.wall) { feed(.arrived(row)) }
            let moment = now
            var table = exchange(&parked, with: Parked())
            let next = table.next(limit: Self.readAhead) {
                core.state.room(for: $0, atMost: core.permits.use(of: $0.host, at: moment))
            }
            parked = table
            for (share, jobs) in next {
                let lane = HostLane(share.host, share.lane)
                for _ in 0..<jobs {
                    guard core.state.room(for: lane, atMost: core.permits.use(of: share.host, at: moment)) > 0,
                        let row = parked.start(of: share)
                    else { break }
                    feed(.arrived(row))
                }
            }
            core.state.note(parked: parked.waiting.filter { core.permits.use(of: $0.host, at: now) > 0 })
            settle()
        }

        private mutating func settle() {
            core.grant()
            collect()
        }

        mutating func run(until end: Moment, _ isOver: (borrowing World) -> Bool = { _ in false }) {
            while now.wall < end.wall, !isOver(self) { step() }
        }
    }

    /// The table of parked jobs, whose rows are applied as soon as they are written.
    struct Parked {
        private struct Entry: Comparable {
            let order: (WallTime, Int64)
            let key: RecordKey
            static func < (a: Self, b: Self) -> Bool { a.order < b.order }
            static func == (a: Self, b: Self) -> Bool { a.order == b.order }
        }

        private var jobs: [RecordKey: (double: ParkedDouble, job: ParkedJob, isReady: Bool)] = [:]
        private var counts: [ParkedShare: ParkedCount] = [:]
        private var starts = ParkedStarts()
        /// By age in each share, by due time, and by end. Entries of earlier rows of a key are passed over.
        private var oldest: [ParkedShare: Heap<Entry>] = [:]
        private var due = Heap<Entry>()
        private var ends = Heap<Entry>()
        private var offset: Int64 = 0

        func count(_ host: OriginHost) -> Int { counts.reduce(0) { $0 + ($1.key.host == host ? $1.value.jobs : 0) } }
        var waiting: Set<HostLane> {
            Set(counts.lazy.filter { $1.ready > starts.count($0) }.map { HostLane($0.key.host, $0.key.lane) })
        }

        mutating func write(_ double: ParkedDouble, at now: WallTime) {
            let pending = double.pending
            let identity = JobIdentity(of: pending.record)
            let note = RetryNote(
                job: pending.job.id, lane: pending.job.lane, attempt: pending.attempts, notBefore: pending.notBefore,
                firstSeen: pending.firstSeen, cause: double.cause, origin: RecordOrigin(pending.record))
            let row = ParkedRow(
                pending.job.source, identity, note, host: double.parking.host, worksAs: double.parking.worksAs,
                ends: double.parking.ends, body: [])
            offset += 1
            remove(row.key, of: pending.place)
            jobs[row.key] = (double, ParkedJob(row, offset: offset, isReady: false), false)
            counts[double.share, default: ParkedCount(jobs: 0, ready: 0)].jobs += 1
            due.push(Entry(order: (pending.notBefore, offset), key: row.key))
            if double.parking.isRunning {
                starts.hold(row.key, double.share)
                starts.landed(row.key, at: offset, of: RecordPlace(pending.record))
            }
            if let end = row.ends { ends.push(Entry(order: (end, offset), key: row.key)) }
            makeReady(at: now)
        }

        /// Deletes the row of a completed job, if the job was parked.
        mutating func delete(_ completed: Record) {
            guard let known = ParkedKey(completed) else { return }
            offset += 1
            remove(.parked(known.source, known.identity), of: RecordPlace(completed))
        }

        private mutating func remove(_ key: RecordKey, of place: RecordPlace) {
            starts.landed(key, at: offset, of: place)
            starts.fold(key, at: offset)
            guard let old = jobs.removeValue(forKey: key), var count = counts[old.double.share] else { return }
            count.jobs -= 1
            if old.isReady { count.ready -= 1 }
            counts[old.double.share] = count.jobs > 0 ? count : nil
        }

        private func job(_ entry: Entry) -> (double: ParkedDouble, job: ParkedJob, isReady: Bool)? {
            jobs[entry.key].flatMap { $0.job.offset == entry.order.1 ? $0 : nil }
        }

        mutating func makeReady(at now: WallTime) {
            while let first = due.first, first.order.0 <= now {
                _ = due.pop()
                guard let known = job(first) else { continue }
                jobs[first.key]?.isReady = true
                counts[known.double.share]?.ready += 1
                oldest[known.double.share, default: Heap()].push(
                    Entry(order: (known.double.pending.firstSeen, first.order.1), key: first.key))
            }
        }

        /// Starts jobs that expire or are abandoned by now.
        mutating func ending(at now: WallTime) -> [PendingJob] {
            var ending: [PendingJob] = []
            while let first = ends.first, first.order.0 <= now {
                _ = ends.pop()
                if let row = begin(first) { ending.append(row) }
            }
            return ending
        }

        mutating func next(limit: Int, room: (HostLane) -> Int) -> [(share: ParkedShare, jobs: Int)] {
            starts.next(of: counts, limit: limit, room: room)
        }

        /// Starts the oldest ready job of a host and lane.
        mutating func start(of share: ParkedShare) -> PendingJob? {
            while let entry = oldest[share]?.pop() {
                if let row = begin(entry) { return row }
            }
            return nil
        }

        private mutating func begin(_ entry: Entry) -> PendingJob? {
            guard let known = job(entry), starts.begin(known.job) else { return nil }
            return known.double.started(offset: known.job.offset)
        }
    }
}
