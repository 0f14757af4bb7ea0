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
    /// One partition, its lanes and tiers, permits, and hosts of which one may be away. Jobs whose host answers are done
    /// with that: their sources are not there.
    struct World: ~Copyable {
        static let readAhead = 256
        static let lanes: [Topic] = [.jobsFast, .jobsSlow]

        let dead = "http://dead.example/"
        var now: Moment { core.now }
        /// How long an answer takes: of the one host, and of others.
        var times: (slow: Duration, others: Duration) = (100, 20)
        var isAway = false
        /// One in so many of the one host's URLs, here and there, answers 503; 0: none.
        var brokenOf = 0
        var core: Performer
        var logs: [Topic: [Record]] = [:]
        var read: [Topic: Int] = [:]
        var heads: [Topic: DelayHead] = [:]
        var turns = TierTurns()
        var search = TierSearch()
        var fetches: [(ends: Moment, flight: FlightID, url: String)] = []
        /// When each request to the one host began, and each first one to others.
        var requests: [WallTime] = []
        var others: [WallTime] = []
        var appends: [String: Int] = [:]
        var (done, dead_) = (0, 0)
        /// When each unfinished fast job was published, and how long the finished ones took.
        var published: [String: WallTime] = [:]
        var took: [Duration] = []
        /// Records that went from one tier to another.
        var moved = 0
        var causes: Set<String> = []
        /// Of the variants of dead letters.
        var failures: Set<String?> = []
        var most = (memory: 0, fetches: 0, moves: 0)

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
            append(
                NewRecord(topic: .jobs(lane), partition: PartitionID(0), key: [], value: Array("\(url)\(number)".utf8)))
        }

        /// What a worker that failed to do the job leaves.
        mutating func putOff(_ url: String, for wait: Duration, _ lane: Lane) {
            let note = RetryNote(
                job: url, lane: lane, attempt: 1, notBefore: now.wall + wait, firstSeen: now.wall,
                cause: FailureNote(RetryCause.deferred),
                origin: RecordOrigin(topic: .jobs(lane), partition: PartitionID(0), offset: 0))
            let topic = DelayTier(within: wait, lane).topic
            append(
                note.newRecord(topic: topic, key: [], body: Array(url.utf8), partition: PartitionID(0), at: now.wall))
        }

        private mutating func append(_ new: NewRecord) {
            let offset = Int64(logs[new.topic]?.count ?? 0)
            logs[new.topic, default: []].append(
                Record(
                    topic: new.topic, partition: new.partition, offset: offset, timestamp: now.wall, key: [],
                    value: new.value, headers: new.headers))
        }

        private func url(_ record: Record) -> String { String(decoding: record.value ?? [], as: UTF8.self) }

        private mutating func next(_ topic: Topic, _ limit: Int) -> [Record] {
            let start = read[topic, default: 0]
            let records = (logs[topic] ?? []).dropFirst(start).prefix(limit)
            read[topic] = start + records.count
            return Array(records)
        }

        private mutating func take(_ topic: Topic) -> [Record] {
            let room = Self.readAhead - (core.state.unfinished(topic) - core.state.waiting(topic))
            guard let tier = DelayTier(topic) else { return next(topic, room) }
            var head = heads[topic] ?? DelayHead(tier)
            if head.isEmpty { head.add(next(topic, DelayHead.limit), at: now.wall) }
            let moment = now
            let moves = head.moves.searched
            let records = head.take(room, at: now.wall, search: search.before) {
                Self.awaited(by: $0, at: moment.wall)
            } room: {
                core.state.room(for: $0, atMost: core.permits.use(of: $0.host, at: moment))
            }
            heads[topic] = head
            search.note(moved: moves - head.moves.searched)
            return records
        }

        private static func awaited(by record: Record, at now: WallTime) -> HostLane? {
            guard let note = try? RetryNote(record), note.cause.isOfHost, note.notBefore <= now else { return nil }
            let lane = RetryPolicy().lane(note.lane, failingSince: note.failingSince, at: now)
            return HostLane(OriginHost(of: String(decoding: record.value ?? [], as: UTF8.self)), lane)
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
                fetches.append((now + (isOne ? times.slow : times.others), id, url))
            }
            for (record, disposition) in exchange(&core.answers, with: []) {
                switch disposition {
                case .retry(let pending, let tier, let cause):
                    appends[pending.job.id, default: 0] += 1
                    if record.topic.isRetry { moved += 1 }
                    let note = RetryNote(
                        job: pending.job.id, lane: pending.job.lane, attempt: pending.attempts,
                        notBefore: pending.notBefore, firstSeen: pending.firstSeen, heldSince: pending.heldSince,
                        failingSince: pending.failingSince, cause: cause, origin: record.jobOrigin)
                    append(
                        note.newRecord(
                            topic: tier.topic, key: [], body: record.value ?? [], partition: PartitionID(0),
                            at: now.wall
                        ))
                case .dead(let letter, let outcome):
                    dead_ += 1
                    failures.formUnion(outcome.variants.map { $0.failure?.code })
                    causes.insert("\(letter.cause.code): \(letter.cause.message)")
                case .outcome(let outcome):
                    done += 1
                    if let begin = published.removeValue(forKey: outcome.job) { took.append(now.wall - begin) }
                case .owing, .paid, .changed: done += 1
                case .rekey: break
                }
            }
        }

        private func pending(_ record: Record) -> PendingJob {
            let url = url(record)
            let note = record.topic.isRetry ? try? RetryNote(record) : nil
            let job = Job(
                id: url, url: SourceURL(url), source: SourceKey(SHA256.digest(of: Array(url.utf8))),
                variants: [VariantSpec(width: 10, height: 10, format: .webp)],
                lane: note?.lane ?? record.topic.lane ?? .slow)
            return PendingJob(
                job: job, record: record, attempts: note?.attempt ?? 0, firstSeen: note?.firstSeen,
                notBefore: note?.notBefore ?? .epoch, heldSince: note?.heldSince, failingSince: note?.failingSince,
                heldBy: note?.cause.hold)
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
                let answer: OriginAnswer =
                    isBroken(url)
                    ? .refused(after: nil, mayBeOfURL: true)
                    : isAway && url.hasPrefix(dead) ? .failed : .answered(bytes: 0)
                let note =
                    answer == .answered(bytes: 0)
                    ? FailureNote(code: "fetch.not-found", message: "no", verdict: .fail)
                    : FailureNote(code: "fetch.connection", message: "no", verdict: .retry)
                feed(.unfetched(flight, Unfetched(note, answer)))
            }
            feed(.tick)
            let before = moved
            if now.wall.milliseconds.isMultiple(of: TierSearch.interval.milliseconds) {
                let hosts = core.state.hostsBehind(heads.values, in: core.permits, at: now) { [now] in
                    Self.awaited(by: $0, at: now.wall)
                }
                search.look(for: hosts, at: now.wall, isOpen: core.permits.isOpen)
            }
            let heldUp = heads.filter(\.value.isHeldUp).map { TierTurns.Place(PartitionID(0), $0.key) }
            for topic in heads.keys { heads[topic]?.allow(DelayHead.Moves()) }
            if let place = turns.next(of: heldUp) {
                heads[place.topic]?.allow(TierTurns.moves(isBusy: !fetches.isEmpty))
            }
            for topic in Topic.retries + Self.lanes {
                // A worker goes on with a tier as long as records of it are taken up.
                repeat {
                    let records = take(topic)
                    for (place, record) in records.enumerated() {
                        feed(.arrived(pending(record)))
                        if place % 32 == 31 { settle() }
                    }
                    settle()
                    if records.isEmpty { break }
                } while topic.isRetry
            }
            let running = fetches.count { $0.url.hasPrefix(dead) }
            most = (
                max(most.memory, core.state.unfinished), max(most.fetches, running), max(most.moves, moved - before)
            )
        }

        private mutating func settle() {
            core.grant()
            collect()
        }

        mutating func run(until end: Moment, _ isOver: (borrowing World) -> Bool = { _ in false }) {
            while now.wall < end.wall, !isOver(self) { step() }
        }
    }
}
