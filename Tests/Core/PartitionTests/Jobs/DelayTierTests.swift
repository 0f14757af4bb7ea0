import Canonical
import Clocks
import Failures
import Hosts
import ImageModel
import Jobs
internal import Ledger
import Partition
import Positions
import Records
import TestSupport
import Testing

@Suite("Which retry topic a job waits in, and when it is read")
struct DelayTierTests {
    @Test(
        "The longest tier that is not above the wait; the shortest of all is the fast lane's",
        arguments: [
            (wait: 0 as Duration, fast: DelayTier.tenSeconds, slow: DelayTier.minute), (9_999, .tenSeconds, .minute),
            (10_000, .tenSeconds, .minute), (59_999, .tenSeconds, .minute), (60_000, .minute, .minute),
            (599_999, .minute, .minute), (600_000, .tenMinutes, .tenMinutes), (3_599_999, .tenMinutes, .tenMinutes),
            (3_600_000, .hour, .hour), (.milliseconds(Int64.max), .hour, .hour),
        ])
    func tier(wait: Duration, fast: DelayTier, slow: DelayTier) {
        #expect(DelayTier(within: wait, .fast) == fast && DelayTier(within: wait, .slow) == slow)
    }

    @Test("Every tier has a topic of retries, and no other topic is one")
    func topics() {
        #expect(DelayTier.allCases.map(\.topic) == Topic.retries.filter { $0 != .retry })
        for topic in Topic.allCases {
            #expect(DelayTier(topic)?.topic == (topic.isRetry && topic != .retry ? topic : nil))
        }
        #expect(Topic.allCases.map(\.ordinal) == Array(0..<Topic.allCases.count))
    }

    @Test(
        "What the machine's fault has held back waits as long again, at least retry.base and at most an hour",
        arguments: [
            (age: 0 as Duration, least: 50 as Duration, most: 100 as Duration), (1_000, 500, 1_000),
            (9_999, 4_999, 9_999),
            (10_000, 10_000, 10_000), (50_000, 50_000, 50_000), (86_400_000, 3_600_000, 3_600_000),
        ])
    func held(age: Duration, least: Duration, most: Duration) {
        let policy = RetryPolicy(attempts: 5, base: 100)
        #expect(policy.delay(heldFor: age, jitter: 0) == least)
        #expect((least...most).contains(policy.delay(heldFor: age, jitter: 0.999)))
    }

    private func record(_ offset: Int64, at time: WallTime, written: WallTime? = nil) -> Record {
        let note = RetryNote(
            job: "job", lane: .fast, attempt: 1, notBefore: 0, firstSeen: 0, cause: FailureNote(RetryCause.deferred),
            origin: RecordOrigin(topic: .jobsFast, partition: PartitionID(0), offset: 0))
        let headers = written.map {
            note.newRecord(topic: .retry10s, key: [], body: [], partition: PartitionID(0), at: $0).headers
        }
        return Record(
            topic: .retry10s, partition: PartitionID(0), offset: offset, timestamp: time, key: [], value: nil,
            headers: headers ?? [])
    }

    @Test("A head gives what is due, in order, and no more is read before it is empty")
    func head() {
        var head = DelayHead(.tenSeconds)
        #expect(head.isEmpty && head.take(9, at: 0).isEmpty)
        head.add([record(1, at: 100), record(2, at: 100), record(3, at: 150), record(4, at: 700)], at: 1_000)
        #expect(head.take(9, at: 10_099).isEmpty)
        #expect(head.take(1, at: 10_100).map(\.offset) == [1])
        #expect(head.take(9, at: 10_150).map(\.offset) == [2, 3] && !head.isEmpty)
        #expect(head.take(9, at: 90_000).map(\.offset) == [4] && head.isEmpty)
    }

    @Test("What is due and waits for its host alone is taken as the host has room, and else moves on a few at a time")
    func moves() {
        let share = HostLane(OriginHost(of: "http://dead.example/"), .fast)
        var head = DelayHead(.tenSeconds)
        var room = 0
        func take(_ head: inout DelayHead, at now: WallTime) -> [Int64] {
            head.take(9, at: now, awaited: { $0.offset == 4 ? nil : share }, room: { _ in room }).map(\.offset)
        }
        head.add((1...5).map { record($0, at: 100) }, at: 1_000)
        #expect(take(&head, at: 10_099) == [] && !head.isHeldUp)
        #expect(take(&head, at: 10_100) == [] && head.isHeldUp)
        head.allow(DelayHead.Moves(due: 1))
        #expect(take(&head, at: 10_100) == [1] && head.isHeldUp)
        room = 1
        #expect(take(&head, at: 10_100) == [2] && head.isHeldUp)
        room = 0
        head.allow(DelayHead.Moves(due: 1, searched: 9))
        #expect(take(&head, at: 10_100) == [3, 4] && head.isHeldUp)
        room = 1
        #expect(take(&head, at: 0) == [5] && !head.isHeldUp && head.isEmpty)
    }

    @Test("What is due and was written after a search moves on no faster for it")
    func searched() {
        let share = HostLane(OriginHost(of: "http://dead.example/"), .fast)
        var head = DelayHead(.tenSeconds)
        head.allow(DelayHead.Moves(due: 1, searched: 3))
        head.add([10, 11, 50, 51, 52].map { record(Int64($0), at: WallTime($0)) }, at: 1_000)
        #expect(head.take(9, at: 20_000, search: 20, awaited: { _ in share }).map(\.offset) == [10, 11, 50])
        #expect(head.isHeldUp && head.moves == DelayHead.Moves(searched: 1))
    }

    @Test("A tier is known to hold nothing but what waits for hosts once all that came before is out")
    func hostsAlone() {
        var head = DelayHead(.tenSeconds, end: 3)
        #expect(!head.isOfHostsAlone)
        head.add([record(1, at: 100, written: 100), record(2, at: 1_500, written: 9_000)], at: 2_000)
        #expect(!head.isOfHostsAlone)
        // Of an earlier owner, whose clock was ahead.
        _ = head.take(1, at: 90_000)
        #expect(!head.isOfHostsAlone)
        _ = head.take(9, at: 90_000)
        head.add([record(3, at: 3_000, written: 3_000)], at: 90_000)
        #expect(head.isOfHostsAlone)
        head.noteOther(at: 90_000)
        #expect(!head.isOfHostsAlone)
        _ = head.take(9, at: 90_000)
        // Decided in the same turn: which of the two comes first is not known, whenever the log has them.
        head.add([record(4, at: 90_020, written: 90_000)], at: 95_000)
        #expect(!head.isOfHostsAlone)
        _ = head.take(9, at: 110_000)
        head.add([record(5, at: 90_020, written: 90_001)], at: 95_000)
        #expect(head.isOfHostsAlone)
    }

    @Test("Tiers of partitions move on in turn")
    func turns() {
        var turns = TierTurns()
        let places = [Topic.retry1m, .retry10s].flatMap { topic in
            (0..<2).map { TierTurns.Place(PartitionID($0), topic) }
        }
        #expect(turns.next(of: []) == nil)
        let first = (0..<8).compactMap { _ in turns.next(of: places) }
        // Each second turn is one of fast jobs; all others go round.
        #expect(stride(from: 0, to: 8, by: 2).allSatisfy { first[$0].topic == .retry10s })
        #expect(Set(first) == Set(places) && places[..<2].allSatisfy { place in first.count { $0 == place } >= 1 })
        let slow = Array(places[..<2])
        #expect((0..<4).compactMap { _ in turns.next(of: slow) }.count { $0 == slow[0] } == 2)
        // More where less waits for it: nothing else to do, jobs behind them that may begin, a worker that is to end.
        let moves = [(true, false), (true, true), (false, false), (false, true)].map {
            TierTurns.moves(isBusy: $0, isHurried: $1)
        }
        #expect(moves.map(\.due) == [16, 16, 64, 1_024] && moves.map(\.searched) == [256, 256, 1_024, 1_024])
    }

    private static let hour = Duration.hours(1)

    @Test(
        "A worker whose clock is far from the brokers' makes a job wait as long as its tier, by its own clock",
        arguments: [hour, Duration.zero - hour, .zero])
    func skew(ahead: Duration) {
        let brokers = WallTime.epoch + Self.hour * 10
        let own = brokers + ahead
        var head = DelayHead(.tenSeconds)
        head.add([record(1, at: brokers, written: own)], at: own + 20)
        #expect(head.take(9, at: own + 9_999).isEmpty && head.take(9, at: own + 10_000).count == 1)
    }

    @Test("Where the writer's clock was ahead or behind, the brokers' counts")
    func otherWriter() {
        let brokers = WallTime.epoch + Self.hour
        for written in [brokers + Self.hour, 1] {
            var head = DelayHead(.tenSeconds)
            head.add([record(1, at: brokers, written: written)], at: brokers + 20)
            #expect(head.take(9, at: brokers + 9_999).isEmpty && head.take(9, at: brokers + 10_000).count == 1)
        }
    }

    @Test("No clock makes a head wait for longer than its tier")
    func clocks() {
        var ahead = DelayHead(.tenSeconds)
        ahead.add([record(1, at: RecordLimits.times.upperBound)], at: 500)
        #expect(ahead.take(9, at: 10_499).isEmpty && ahead.take(9, at: 10_500).count == 1)
        var back = DelayHead(.tenSeconds)
        back.add([record(1, at: 1_000_000)], at: 1_000_000)
        #expect(back.take(9, at: 5_000).isEmpty && back.take(9, at: 15_000).count == 1)
    }
}
