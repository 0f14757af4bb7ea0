import Canonical
import Clocks
import Digest
import Digest
import Failures
import ImageModel
@testable import Jobs
import Planning
import Ports
import Positions
import Records
import TestSupport
import Testing
import VariantSpec

@testable import Partition

@Suite("Answers that no progress row tells of", .timeLimit(.minutes(1)))
struct OutcomeTailTests {
    private static let partition = PartitionID(3)

    private func record(_ topic: Topic, _ offset: Int64, at time: WallTime = 1_000, _ headers: RecordHeaders = [])
        -> Record
    {
        Record(
            topic: topic, partition: Self.partition, offset: offset, timestamp: time, key: [], value: [],
            headers: headers)
    }

    private func answer(_ topic: Topic, to completed: Record) -> Record {
        var headers = RecordHeaders()
        headers.append(completed: completed)
        return record(topic, 0, headers)
    }

    private static let cause = FailureNote(FetchFailure.resolution(url: "http://o/a"))

    private func deadLetter(to completed: Record) -> DeadLetter {
        DeadLetter(of: completed, id: "job", cause: Self.cause, attempts: 1, url: nil, at: 0)
    }

    @Test("An answer names its record, and when that was appended", arguments: [Topic.jobsFast, .retry10m])
    func names(topic: Topic) {
        let completed = record(topic, 1 << 40, at: 1_763_802_000_123)
        let outcome = answer(.outcomes, to: completed)
        #expect(outcome.header(EventHeader.answers) == "\(topic.rawValue)-3-1099511627776-1763802000123")
        #expect(CompletedRecord(completedBy: outcome) == CompletedRecord(completed))
    }

    @Test(
        "What names no record is the answer to none",
        arguments: [
            "", "jobs.fast-3-17", "jobs.fast-3-17-x", "jobs.fast-3-17-1-alive", "jobs.fast-3-17-1-dead", "none-3-17-1",
            "jobs.fast-3--1-1",
        ])
    func damaged(text: String) {
        let record = record(.outcomes, 0, [RecordHeader(EventHeader.answers, text)])
        #expect(CompletedRecord(completedBy: record) == nil)
    }

    @Test(
        "A topic is read from where the row tells of all; without a row not at all, and all of one that was made anew",
        arguments: [
            (told: nil, bounds: 5..<50, unread: 50..<50), (told: 20, bounds: 5..<50, unread: 20..<50),
            (told: 2, bounds: 5..<50, unread: 5..<50), (told: 50, bounds: 5..<50, unread: 50..<50),
            (told: 51, bounds: 0..<50, unread: 0..<50),
        ] as [(told: Int64?, bounds: Range<Int64>, unread: Range<Int64>)])
    func unread(row: (told: Int64?, bounds: Range<Int64>, unread: Range<Int64>)) {
        let tail = OutcomeTail(after: row.told.map { [.outcomes: $0] } ?? [:])
        #expect(tail.unread(.outcomes, in: row.bounds) == row.unread)
    }

    @Test("A dead letter without its outcome is kept with its cause; what another partition's record answers is not")
    func deadLetters() {
        var tail = OutcomeTail(after: nil, committed: [.jobsFast: 1, .jobsSlow: 7])
        for offset in [0, 1] as [Int64] { tail.read(answer(.outcomes, to: record(.jobsFast, offset))) }
        tail.read(answer(.retry1m, to: record(.jobsSlow, 7, at: 5)))
        for offset in [0, 1, 2] as [Int64] {
            let completed = record(.jobsFast, offset)
            var new = deadLetter(to: completed).newRecord(partition: Self.partition)
            new.headers.append(completed: completed)
            tail.read(record(.dead, 0, new.headers))
        }
        tail.read(answer(.dead, to: record(.jobsFast, 3)))
        #expect(tail.deadLetters(.jobsFast) == [2: LoneDeadLetter(deadLetter(to: record(.jobsFast, 2)), appended: 1_000)])
        var other = record(.jobsFast, 9)
        other.partition = PartitionID(0)
        tail.read(answer(.outcomes, to: other))
        #expect(tail.count == 2)
        #expect(tail.completed(.jobsFast) == [1: 1_000] && tail.completed(.jobsSlow) == [7: 5])
        #expect(tail.completedBelow(.jobsSlow) == OffsetSet())
        tail.drop(.jobsSlow)
        #expect(tail.count == 1)
        tail.drop(.jobsFast)
        #expect(tail.count == 0 && tail.deadLetters(.jobsFast).isEmpty)
    }

    @Test("What was answered between the row and the group's offset is counted, each record once, and not done again")
    func completedBelow() {
        let row = ProgressRow(
            partition: Self.partition,
            topics: [.jobsFast: TopicProgress(next: 3), .jobsSlow: TopicProgress(next: 200)],
            answers: [.outcomes: 0], at: 0)
        var tail = OutcomeTail(after: row, committed: [.jobsFast: 130, .jobsSlow: 7, .retry1m: 5])
        for offset in [2, 3, 64, 64, 129, 130] as [Int64] {
            tail.read(answer(.outcomes, to: record(.jobsFast, offset)))
        }
        for offset in [199, 200] as [Int64] { tail.read(answer(.outcomes, to: record(.jobsSlow, offset))) }
        tail.read(answer(.outcomes, to: record(.retry1m, 4)))
        tail.read(answer(.dead, to: record(.jobsFast, 5)))
        #expect(tail.count == 2 && tail.completed(.jobsFast).keys.sorted() == [130])
        let below = tail.completedBelow(.jobsFast)
        #expect([3, 64, 129].allSatisfy(below.contains) && below.count(from: 0) == 3)
        #expect(tail.hasFound(.jobsFast) && !tail.hasFound(.retry1m))
        #expect(tail.completedBelow(.jobsSlow) == OffsetSet() && tail.completedBelow(.retry1m) == OffsetSet())
        tail.drop(.jobsFast)
        #expect(tail.completedBelow(.jobsFast) == OffsetSet())
    }

    @Test("A row tells of an owner's own answers; of those that it found only once their records have come")
    func ends() {
        var tail = OutcomeTail(after: [.outcomes: 10])
        tail.finish(.outcomes, at: 20)
        tail.note([(.outcomes, 24), (.outcomes, 22)], isAll: true)
        #expect(tail.ends(isWhole: true) == [.outcomes: 25] && tail.ends(isWhole: false) == [.outcomes: 10])
        tail.wrote([.outcomes: 23], parkedEpoch: 0)
        #expect(tail.ends(isWhole: true) == [.outcomes: 25] && tail.ends(isWhole: false) == [.outcomes: 23])
        // A topic whose end is not known.
        var partial = OutcomeTail(after: [.outcomes: 10, .retry1h: 3])
        partial.finish(.outcomes, at: 20)
        partial.note([(.retry1h, 9)], isAll: true)
        #expect(partial.ends(isWhole: true) == [.outcomes: 20, .retry1h: 3])
    }

    /// A record of `parked`, whose key names the record that it stands for. nil: its writer is unknown.
    private func row(of completed: Record?, epoch: Int64?, at offset: Int64 = 0) -> Record {
        var headers = RecordHeaders()
        if let epoch { headers.append(RecordHeader(EventHeader.epoch, "\(epoch)")) }
        var row = record(.parked, offset, headers)
        if let completed {
            row.key = RecordKey.parked(SourceKey(SHA256.digest(of: [])), .record(CompletedRecord(completed))).bytes
        }
        return row
    }

    @Test(
        "A row of `parked` finishes its lane record unless it is of a lower epoch than the newest before it, or of none",
        arguments: [
            (told: nil, epochs: [5, 6, 5, 6, nil, 7], counts: [true, true, false, true, false, true], newest: 7),
            (told: 6, epochs: [5, 6, 5], counts: [false, true, false], newest: 6),
            (told: 6, epochs: [], counts: [], newest: 6),
        ] as [(told: Int64?, epochs: [Int64?], counts: [Bool], newest: Int64)])
    func parkedRows(told: Int64?, epochs: [Int64?], counts: [Bool], newest: Int64) {
        let parked = told.map { ProgressRow.Parked(epoch: $0, lanes: ByLane { _ in .none }) }
        let left = ProgressRow(
            partition: Self.partition, topics: [.jobsFast: TopicProgress(next: 0)], answers: [.parked: 0], parked: parked, at: 0)
        var tail = OutcomeTail(after: left, committed: [:])
        for (offset, epoch) in epochs.enumerated() {
            tail.read(row(of: record(.jobsFast, Int64(offset)), epoch: epoch, at: Int64(offset)))
        }
        #expect(tail.completed(.jobsFast).keys.sorted() == counts.indices.filter { counts[$0] }.map(Int64.init))
        // A row covers this epoch together with the records up to it.
        #expect(tail.parkedEpoch(isWhole: true) == newest && tail.parkedEpoch(isWhole: false) == told ?? 0)
        tail.wrote([.parked: 9], parkedEpoch: newest)
        #expect(tail.parkedEpoch(isWhole: false) == newest)
    }

    @Test("An epoch row without a lane record counts for the rows behind it; so does this owner's own, which it covers")
    func parkedEpochs() {
        var tail = OutcomeTail(after: [.parked: 0])
        tail.read(row(of: nil, epoch: 8))
        tail.read(row(of: record(.jobsFast, 1), epoch: 7))
        #expect(tail.count == 0)
        tail.finish(.parked, at: 20)
        tail.opened(9, at: 24)
        #expect(tail.parkedEpoch(isWhole: true) == 9 && tail.ends(isWhole: true) == [.parked: 25])
        // A zombie of an epoch between comes behind it. Another owner may already be ahead.
        tail.read(row(of: record(.jobsFast, 2), epoch: 8))
        tail.read(row(of: record(.jobsFast, 3), epoch: 10))
        tail.opened(9, at: 22)
        #expect(tail.completed(.jobsFast).keys.sorted() == [3] && tail.parkedEpoch(isWhole: true) == 10)
        #expect(tail.ends(isWhole: true) == [.parked: 25])
    }

    @Test("An outcome read later names the parked job that it completes; how far `outcomes` was read is known")
    func lateOutcomes() {
        var tail = OutcomeTail(after: [.outcomes: 4])
        var outcome = answer(.outcomes, to: record(.jobsFast, 3))
        outcome.key = RecordKey.job(.numbered(1)).bytes
        tail.finish(.parked, at: 3)
        #expect(tail.outcomesRead == 0)
        tail.finish(.outcomes, at: 6)
        tail.readParkedEnd(outcome)
        #expect(tail.outcomesRead == 6 && tail.count == 0)
        #expect(tail.endedParked == [ParkedKey(.numbered(1), .record(CompletedRecord(record(.jobsFast, 3))))])
        // A record with another key completes no parked job.
        outcome.key = []
        tail.readParkedEnd(outcome)
        #expect(tail.endedParked.count == 1)
    }

    @Test("A row tells of a parked job's outcome only once its tombstone is there", arguments: [JobIdentity(ofOwn: "j"), nil])
    func parkedEnds(own: JobIdentity?) {
        let source = SourceKey.numbered(1)
        let identity = own ?? .record(CompletedRecord(record(.jobsFast, 3)))
        var headers = RecordHeaders()
        headers.append(completed: identity)
        var outcome = record(.outcomes, 5, headers)
        outcome.key = RecordKey.job(source).bytes
        var tail = OutcomeTail(after: [.outcomes: 4])
        tail.read(outcome)
        tail.finish(.outcomes, at: 6)
        #expect(tail.endedParked == [ParkedKey(source, identity)])
        #expect(tail.ends(isWhole: true) == [.outcomes: 4])
        tail.dropEndedParked([ParkedKey(SourceKey.numbered(2), identity)])
        #expect(tail.ends(isWhole: true) == [.outcomes: 4])
        tail.dropEndedParked([ParkedKey(source, identity)])
        #expect(tail.ends(isWhole: true) == [.outcomes: 6])
    }

    @Test("An owner's own outcomes of parked jobs count with the batch that has their tombstones")
    func ownParked() {
        var tail = OutcomeTail(after: [.outcomes: 4])
        tail.finish(.outcomes, at: 4)
        tail.note([(.outcomes, 4), (.outcomes, 5)], isAll: true, endsParked: true)
        #expect(tail.ends(isWhole: true) == [.outcomes: 4])
        // The batch with the tombstones is refused in part, and then goes again.
        tail.note([(.outcomes, 6)], isAll: false)
        #expect(tail.ends(isWhole: true) == [.outcomes: 4])
        tail.note([(.parked, 9), (.outcomes, 7)], isAll: true)
        #expect(tail.ends(isWhole: true) == [.outcomes: 8])
    }

    @Test("A row tells of a letter only once its outcome is there")
    func deadLetterEnds() {
        var tail = OutcomeTail(after: [:])
        tail.finish(.dead, at: 5)
        tail.note([(.dead, 5), (.outcomes, 1), (.dead, 6)], isAll: true)
        #expect(tail.ends(isWhole: true) == [.dead: 5])
        tail.note([(.outcomes, 2), (.outcomes, 3), (.dead, 7)], isAll: true)
        #expect(tail.ends(isWhole: true) == [.dead: 7])
        tail.note([(.outcomes, 4)], isAll: true)
        #expect(tail.ends(isWhole: true) == [.dead: 8])
        // A letter is there, and something else of its batch is not; then its outcome is not.
        tail.note([(.dead, 9)], isAll: false)
        tail.note([(.dead, 10)], isAll: false)
        #expect(tail.ends(isWhole: true) == [.dead: 8])
        tail.note([(.outcomes, 5), (.outcomes, 6)], isAll: true)
        #expect(tail.ends(isWhole: true) == [.dead: 11])
    }

    @Test(
        "A lone letter's record gets its outcome, and is not done again; another log's record at its offset is",
        arguments: [(1_000, true), (1_001, false)] as [(WallTime, Bool)])
    func lone(appended: WallTime, isLone: Bool) throws {
        let rules = PartitionRules(reuse: ReuseRules(), retry: RetryPolicy())
        var state = PartitionState(Self.partition, rules: rules, seed: 1)
        let old = LoneDeadLetter(deadLetter(to: record(.jobsFast, 4)), appended: 1_000)
        state.begin(.jobsFast, at: 0, deadLetters: [4: old])
        var isUnproved = [state.hasUnprovedOutcomes]
        let job = Job(
            id: "job", url: "http://o/a", source: SourceKey(SHA256.digest(of: [])),
            variants: [VariantSpec(width: 10, height: 10, format: .webp)], lane: .fast)
        let pending = PendingJob(job: job, record: record(.jobsFast, 4, at: appended))
        var effects: [JobEffect] = []
        state.reduce(.arrived(pending), at: 5_000, into: &effects)
        let outcomes = effects.compactMap {
            if case .work(.complete(_, .outcome(let outcome))) = $0 { outcome } else { nil }
        }
        #expect(outcomes.map(\.kind) == (isLone ? [.dead] : []))
        // As those who publish are told it.
        #expect(outcomes.map { $0.failure?.published.code } == (isLone ? ["fetch.unreachable"] : []))
        state.reduce(.acknowledged([pending.place]), at: 5_000, into: &effects)
        isUnproved.append(state.hasUnprovedOutcomes)
        #expect(isUnproved == [true, false])
    }

    @Test("A record that was answered is done no more, another log's at its offset is, and nobody is told of it before")
    func receives() {
        var offsets = CommittableOffset(from: 5, completed: [6: 1_000, 7: 1_000, 9: 1_000])
        #expect(offsets.hasUnprovedOutcomes && offsets.finishedOffsets.isEmpty)
        let taken = [(5, 900), (6, 1_000), (7, 1_001), (8, 1_002)].map { offsets.receive($0.0, appended: $0.1) }
        #expect(taken == [true, false, true, true] && offsets.finishedOffsets == [6])
        // The offset 9 is a gap.
        #expect(offsets.hasUnprovedOutcomes)
        #expect(offsets.receive(10, appended: 1_003) && !offsets.hasUnprovedOutcomes)
    }

    @Test("Where reading begins, what was answered counts in the same log, and not where an operator set offsets back")
    func starts() {
        let progress = TopicProgress(
            next: 10, committed: 10, fingerprint: RecordFingerprint(offset: 9, timestamp: 5))
        let completed: [Int64: WallTime] = [9: 1, 12: 1, 40: 1]
        func start(committed: Int64, fingerprinted: WallTime) -> StartingPoint {
            StartingPoint(
                after: progress, committed: committed, bounds: 0..<30, fingerprinted: fingerprinted, completed: completed)
        }
        let same = start(committed: 10, fingerprinted: 5)
        #expect(same.position == 10 && same.completed == [12: 1])
        let reset = start(committed: 3, fingerprinted: 5)
        #expect(reset.position == 3 && reset.completed.isEmpty)
        let other = start(committed: 10, fingerprinted: 6)
        #expect(other.position == 0 && other.completed.isEmpty)
    }
}
