import Canonical
import Clocks
import Digest
import Failures
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

/// A partition in a world of one seed: a log, an index, origins that fail, permits, and crashes that drop all but
/// what is durable.
struct Simulation: ~Copyable {
    // Durable.
    var jobs:
        [(
            topic: Topic, job: Job, record: Record, attempts: Int, firstSeen: WallTime, notBefore: WallTime,
            heldSince: WallTime?
        )] =
            []
    var offsets: [Topic: Int64] = [:]
    var committed: [Topic: Int64] = [:]
    var changelog: [IndexChange] = []
    var outcomes: [String: [Outcome]] = [:]
    // Lost in a crash.
    var state: PartitionState
    var scheduler: PermitScheduler
    var index: [SourceKey: SourceSnapshot] = [:]
    var indexed = 0
    var read: [Topic: Int64] = [:]
    var pending: [Pending] = []
    var fetching: Set<SourceKey> = []

    var now: Moment = 1_000
    var numbers: Numbers
    var fetches: [SourceKey: Int] = [:]
    var crashes = 0
    /// The store takes nothing now.
    var isFull = false
    /// The log takes no rows now.
    var isAway = false
    var fetchesLostInCrash = 0
    let rules: PartitionRules

    enum Pending {
        case work(PartitionWork)
        case append(Record, Disposition)
    }

    init(seed: UInt64, keepOriginals: Bool) {
        numbers = Numbers(state: seed)
        rules = PartitionRules(reuse: ReuseRules(), retry: RetryPolicy(attempts: 4, base: 10, cap: 100), holdLimit: 500)
        state = Self.state(rules, seed)
        scheduler = Self.scheduler()
        self.keepOriginals = keepOriginals
    }

    let keepOriginals: Bool

    static func state(_ rules: PartitionRules, _ seed: UInt64) -> PartitionState {
        PartitionState(PartitionID(0), rules: rules, seed: seed)
    }
    static func scheduler() -> PermitScheduler { PermitScheduler(PermitRules(fetch: 3, render: 2)) }

    static func key(_ number: Int) -> SourceKey { SourceKey(SHA256.digest(of: Array("source \(number)".utf8))) }

    mutating func publish(
        _ id: String, source: Int, _ variants: [VariantSpec], lane: Lane, expires: WallTime? = nil
    ) {
        let job = Job(
            id: id, url: SourceURL("http://origin/\(source)"), source: Simulation.key(source), variants: variants,
            lane: lane,
            expires: expires)
        append(PendingJob(job: job, record: record(.jobs(lane))))
    }

    private mutating func append(_ pending: PendingJob) {
        jobs.append(
            (
                pending.record.topic, pending.job, pending.record, pending.attempts, pending.firstSeen,
                pending.notBefore,
                pending.heldSince
            ))
    }

    private mutating func record(_ topic: Topic) -> Record {
        // Gaps, as compaction and transaction markers leave them.
        let offset = offsets[topic, default: 0] + Int64.random(in: 0...1, using: &numbers)
        offsets[topic] = offset + 1
        return Record(
            topic: topic, partition: PartitionID(0), offset: offset, timestamp: now.wall, key: [], value: [],
            headers: [])
    }

    var isDone: Bool {
        state.unfinished == 0 && pending.isEmpty
            && Topic.consumed.allSatisfy { topic in
                !jobs.contains { $0.topic == topic && $0.record.offset >= read[topic, default: 0] }
            }
    }

    /// One random thing happens.
    mutating func step() {
        now += .milliseconds(Int64.random(in: 0...5, using: &numbers))
        switch Int.random(in: 0..<10, using: &numbers) {
        case 0...2: deliver()
        case 3: fold()
        case 4: feed(.tick)
        default:
            if pending.isEmpty {
                deliver()
            } else {
                perform(pending.remove(at: Int.random(in: 0..<pending.count, using: &numbers)))
            }
        }
        for (kind, flight) in scheduler.grants(at: now) { feed(.granted(kind, flight)) }
    }

    mutating func crash() {
        crashes += 1
        fetchesLostInCrash += fetching.count
        state = Self.state(rules, numbers.next())
        scheduler = Self.scheduler()
        (index, indexed, pending, fetching) = ([:], 0, [], [])
        read = committed
        while indexed < changelog.count { fold() }
    }

    /// The partition goes to another worker, which does nothing, and comes back: the worker kept what it knows of its end.
    mutating func move() {
        let kept = Topic.worked.compactMap { topic in state.progress(topic).map { (topic, $0) } }
        crash()
        for (topic, progress) in kept {
            let end = offsets[topic, default: 0]
            var progress = progress
            progress.anchor = LogAnchor(offset: 0, timestamp: 1)
            let start = StartingPoint(
                after: progress, committed: committed[topic], bounds: 0..<max(end, progress.next), anchored: 1)
            state.begin(topic, at: start.position, finished: start.finished, waits: start.waits)
            read[topic] = start.position
        }
        indexed = 0
        index = [:]
        while indexed < changelog.count { fold() }
    }

    private mutating func deliver() {
        let unread = Topic.worked.filter { offsets[$0, default: 0] > read[$0, default: 0] }
        guard let topic = unread.randomElement(using: &numbers) else { return }
        let next = jobs.filter { $0.topic == topic && $0.record.offset >= read[topic, default: 0] }
            .min { $0.record.offset < $1.record.offset }
        guard let next, next.record.timestamp + (DelayTier(topic)?.wait ?? .zero) <= now.wall else { return }
        read[topic] = next.record.offset + 1
        feed(
            .arrived(
                PendingJob(
                    job: next.job, record: next.record, attempts: next.attempts, firstSeen: next.firstSeen,
                    notBefore: next.notBefore, heldSince: next.heldSince)))
    }

    private mutating func fold() {
        if indexed < changelog.count {
            switch changelog[indexed] {
            case .source(let row): index[row.source, default: SourceSnapshot()].source = row
            case .variant(let row):
                index[row.source, default: SourceSnapshot()].variants.removeAll { $0.spec == row.spec }
                index[row.source, default: SourceSnapshot()].variants.append(row)
            case .dropSource(let key): index[key]?.source = nil
            case .dropVariant(let key, let spec): index[key]?.variants.removeAll { $0.spec == spec }
            }
            indexed += 1
        }
        feed(.folded(Int64(indexed)))
    }

    private mutating func feed(_ event: PartitionEvent) {
        var work: [PartitionWork] = []
        let index = index
        state.run(event, at: now, permits: &scheduler, into: &work) {
            index[$0.job.source] ?? SourceSnapshot()
        }
        for piece in work {
            switch piece {
            case .commit(let topic, let offset):
                precondition(offset >= committed[topic, default: 0], "a committable offset went back")
                committed[topic] = offset
            case .answer(let record, let disposition): pending.append(.append(record, disposition))
            case .fetch(_, let request):
                let url = request.url
                let key = Simulation.key(Int(url.fetched.split(separator: "/").last ?? "") ?? 0)
                precondition(fetching.insert(key).inserted, "two fetches of one source at once")
                let isWanted = jobs.contains { $0.job.source == key && ($0.job.expires ?? .distantFuture) > now.wall }
                precondition(isWanted, "a fetch for jobs that have all expired")
                fetches[key, default: 0] += 1
                pending.append(.work(piece))
            case .render: pending.append(.work(piece))
            case .abort(let id): abort(id)
            case .checked, .stoodIn, .putOff, .tell: break
            case .await: preconditionFailure("the index is always there")
            }
        }
    }

    /// What the fetch brings comes to nobody.
    private mutating func abort(_ id: FlightID) {
        let place = pending.firstIndex { if case .work(.fetch(id, _)) = $0 { true } else { false } }
        guard let place, case .work(.fetch(_, let request)) = pending.remove(at: place) else {
            preconditionFailure("a fetch is aborted that does not run")
        }
        fetching.remove(Simulation.key(Int(request.url.fetched.split(separator: "/").last ?? "") ?? 0))
        scheduler.forget(id)
    }

    private mutating func perform(_ pending: Pending) {
        switch pending {
        case .append(let record, let disposition):
            answer(record, disposition)
            feed(.acknowledged([RecordPlace(record)]))
        case .work(.fetch(let id, let request)):
            let url = request.url
            let number = Int(url.fetched.split(separator: "/").last ?? "") ?? 0
            fetching.remove(Simulation.key(number))
            // Each tenth source is gone for good, each seventh fails now and then.
            if number % 10 == 9 {
                feed(.failed(id, FailureNote(code: "fetch.not-found", message: "gone", verdict: .fail)))
            } else if number % 7 == 3, Int.random(in: 0..<3, using: &numbers) > 0 {
                feed(.failed(id, FailureNote(code: "fetch.connection", message: "cut", verdict: .retry)))
            } else {
                feed(
                    .fetched(id, FetchedPicture(Array(url.fetched.utf8), size: PixelSize(width: 2_000, height: 1_500))))
            }
        case .work(.render(let id, let task)):
            feed(.rendered(id))
            if isFull { return feed(.failed(id, FailureNote(code: "store.full", message: "full", verdict: .wait))) }
            scheduler.announce(id)
            if isAway {
                return feed(.unannounced(id, FailureNote(code: "log.unavailable", message: "away", verdict: .wait)))
            }
            let original = keepOriginals && task.source != nil ? "original" : nil
            if var source = task.source {
                source.original = original
                changelog.append(.source(source))
            }
            let rows = task.rows(at: now.wall, bytes: 10) { $0.description }
            for row in rows + task.renewed { changelog.append(.variant(row)) }
            feed(.announced(id, original: original, rows: rows, position: Int64(changelog.count)))
        case .work: break
        }
    }

    private mutating func answer(_ record: Record, _ disposition: Disposition) {
        switch disposition {
        case .outcome(let outcome), .owing(let outcome, _), .paid(let outcome), .changed(_, _, let outcome),
            .dead(_, let outcome):
            outcomes[outcome.job, default: []].append(outcome)
        case .rekey: preconditionFailure("every job has its right key here")
        case .retry(let pending, let tier, _):
            append(
                PendingJob(
                    job: pending.job, record: self.record(tier.topic), attempts: pending.attempts,
                    firstSeen: pending.firstSeen, notBefore: pending.notBefore, heldSince: pending.heldSince))
        }
    }
}
