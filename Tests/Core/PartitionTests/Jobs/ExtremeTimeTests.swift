import Canonical
import Clocks
import Digest
import Failures
import ImageModel
import Jobs
import Partition
import Permits
import Planning
import Records
import TestSupport
import Testing
import VariantSpec

/// Records with numbers that nobody of ours writes, through the reducer and the scheduler as the worker drives them.
@Suite("A partition's rules, on extreme numbers", .timeLimit(.minutes(1)))
struct ExtremeTimeTests {
    private static let now: WallTime = 1_795_256_916_007
    private static let source = SourceKey(SHA256.digest(of: Array("a".utf8)))
    private static let times: [WallTime] = [.distantPast, .distantPast + 1, -1, 0, .distantFuture - 1, .distantFuture]

    private static func record(_ topic: Topic, offset: Int64, at time: WallTime, _ notBefore: WallTime = 0) -> Record {
        let note = RetryNote(
            job: "j", lane: .slow, attempt: 1_000_000, notBefore: notBefore, firstSeen: time,
            cause: FailureNote(code: "fetch.status", message: "No.", verdict: .retry),
            origin: RecordOrigin(topic: .jobsSlow, partition: PartitionID(0), offset: 1)
        ).newRecord(
            topic: topic, key: [1], body: [], partition: PartitionID(0), at: time)
        return Record(
            topic: topic, partition: PartitionID(0), offset: offset, timestamp: time, key: [], value: [],
            headers: note.headers)
    }

    @Test("Every time of a record, on its way to a dead letter", arguments: times, [Lane.fast, .slow])
    func through(time: WallTime, lane: Lane) throws {
        var world = Performer(
            PartitionRules(reuse: ReuseRules()), PermitRules(fetch: 1, render: 1, slow: 1, slowWait: 1))
        world.now = Moment(Self.now)
        let job = Job(
            id: "j", url: "http://o/a", source: Self.source,
            variants: [VariantSpec(width: 10, height: 10, format: .webp)], lane: lane,
            expires: RecordLimits.time(.distantFuture))
        for (offset, topic) in [Topic.retry, .retry, .jobs(lane)].enumerated() {
            let record = Self.record(topic, offset: Int64(offset), at: time, offset == 0 ? Self.now + 1 : time)
            let note = try RetryNote(record)
            world.feed(
                .arrived(
                    PendingJob(
                        job: job, record: record, attempts: note.attempt, firstSeen: note.firstSeen,
                        notBefore: topic == .retry ? note.notBefore : 0, failingSince: time)))
        }
        var (isOver, started) = (false, 0)
        while !isOver {
            world.now += 40_000
            world.grant()
            isOver = world.fetches.isEmpty && world.now.wall >= Self.now + 200_000
            while let fetch = world.fetches.popLast() {
                world.feed(.failed(fetch.flight, FailureNote(code: "fetch.status", message: "503", verdict: .retry)))
            }
            world.feed(.tick)
            let rows = world.parked
            for row in rows.dropFirst(started) where row.pending.notBefore <= world.now.wall {
                started += 1
                world.feed(.arrived(row.started(offset: Int64(started))))
            }
        }
        let answers = world.answers.map(\.disposition)
        let dead = answers.count {
            if case .dead(let deadLetter, _) = $0 { deadLetter.attempts == 1_000_001 } else { false }
        }
        let isFar = time > Self.now
        // A job that is not due for eight thousand years stays parked.
        #expect(dead == (isFar ? 2 : 3), "\(answers)")
    }
}
