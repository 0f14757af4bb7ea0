import Canonical
import Clocks
import Failures
import Hosts
import ImageModel
import Jobs
import Ports
import Records
import TestSupport
import Testing

@Suite("Which parked jobs start")
struct ParkedStartsTests {
    private static func share(_ host: String, _ lane: Lane = .fast) -> ParkedShare {
        ParkedShare(OriginHost(group: host), lane)
    }

    private static func job(_ number: Int, offset: Int64, host: String = "a", lane: Lane = .fast) -> ParkedJob {
        let record = Record(
            topic: .jobs(lane), partition: PartitionID(0), offset: Int64(number), timestamp: 1, key: [], value: [],
            headers: [])
        let note = RetryNote(
            job: "job-\(number)", lane: lane, attempt: 0, notBefore: .epoch, firstSeen: 1,
            cause: FailureNote(code: "c", message: "m", verdict: .retry), origin: RecordOrigin(record))
        let row = ParkedRow(
            .numbered(number), .record(CompletedRecord(record)), note, host: OriginHost(group: host), worksAs: lane, body: [])
        return ParkedJob(row, offset: offset, isReady: true)
    }

    private static func next(
        _ starts: inout ParkedStarts, _ parked: [ParkedShare: ParkedCount], _ limit: Int, _ room: Int
    ) -> [String] {
        starts.next(of: parked, limit: limit) { _ in room }.map { "\($0.share.host) \($0.share.lane) \($0.jobs)" }
    }

    @Test("A row starts once, and again when its owner has written a later one; other records of its key change nothing")
    func once() {
        var starts = ParkedStarts()
        let job = Self.job(1, offset: 5)
        #expect([starts.begin(job), starts.begin(job)] == [true, false])
        #expect(starts.count == 1 && starts.isStarted(job.row.key))
        // The table is read from the log again, or the row was appended once more.
        for offset in [3, 5, 6, 7] as [Int64] { starts.fold(job.row.key, at: offset) }
        #expect(!starts.begin(Self.job(1, offset: 7)) && starts.count == 1)
        starts.landed(job.row.key, at: 5, of: RecordPlace(.jobs(.fast), 3))
        starts.landed(job.row.key, at: 7, of: RecordPlace(.jobs(.fast), 3))
        starts.landed(job.row.key, at: 9, of: RecordPlace(.parked, 5))
        #expect([starts.begin(Self.job(1, offset: 7))] == [false])
        starts.fold(job.row.key, at: 9)
        #expect(starts.count == 0 && !starts.isStarted(job.row.key) && starts.count(job.row.share) == 0)
        #expect([starts.begin(Self.job(1, offset: 9))] == [true])
        // The reader may be before the answer of the log.
        starts.fold(job.row.key, at: 12)
        starts.landed(job.row.key, at: 12, of: RecordPlace(.parked, 9))
        #expect(starts.count == 0)
        starts.checkInvariants()
    }

    /// The embedded log deletes earlier rows of a key at once: the reader may see the later row alone.
    @Test("The row of a job that runs does not start, whenever it comes; the job's next row does", arguments: [true, false])
    func held(seesBoth: Bool) {
        var starts = ParkedStarts()
        let job = Self.job(1, offset: 5)
        starts.hold(job.row.key, job.row.share)
        #expect(starts.isStarted(job.row.key) && starts.count(job.row.share) == 1)
        if seesBoth { starts.fold(job.row.key, at: 5) }
        #expect(!starts.begin(job) && starts.count == 1)
        // Its flight failed, and the reader is before both answers of the log.
        starts.fold(job.row.key, at: 8)
        starts.landed(job.row.key, at: 5, of: RecordPlace(.jobs(.fast), 3))
        #expect([starts.begin(Self.job(1, offset: 8))] == [false])
        starts.landed(job.row.key, at: 8, of: RecordPlace(.parked, -1))
        #expect(starts.count == 0)
        #expect([starts.begin(Self.job(1, offset: 8))] == [true])
        starts.checkInvariants()
    }

    @Test("As many start as their host has room for; those that were started count, too")
    func room() {
        var starts = ParkedStarts()
        let parked = [Self.share("a"): ParkedCount(jobs: 9, ready: 5), Self.share("b"): ParkedCount(jobs: 9, ready: 0)]
        #expect(Self.next(&starts, parked, 100, 3) == ["a fast 3"])
        for number in 1...3 { _ = starts.begin(Self.job(number, offset: Int64(number))) }
        #expect(Self.next(&starts, parked, 100, 9) == ["a fast 2"])
        #expect(Self.next(&starts, parked, 100, 0).isEmpty)
        #expect(Self.next(&starts, parked, 4, 9) == ["a fast 1"])
        #expect(Self.next(&starts, parked, 3, 9).isEmpty)
    }

    @Test("Lanes have limits of their own, and the urgent one comes first")
    func lanes() {
        var starts = ParkedStarts()
        let parked = [
            Self.share("a", .slow): ParkedCount(jobs: 9, ready: 9), Self.share("b"): ParkedCount(jobs: 9, ready: 9),
        ]
        #expect(Self.next(&starts, parked, 2, 9) == ["b fast 2", "a slow 2"])
        for number in 1...2 { _ = starts.begin(Self.job(number, offset: Int64(number), host: "b")) }
        #expect(Self.next(&starts, parked, 2, 9) == ["a slow 2"])
    }

    @Test("Hosts without room take no part of the limit")
    func withoutRoom() {
        var starts = ParkedStarts()
        let parked = Dictionary(
            uniqueKeysWithValues: ["a", "b", "c"].map { (Self.share($0), ParkedCount(jobs: 99, ready: 99)) })
        let next = starts.next(of: parked, limit: 9) { $0.host == Self.share("b").host ? 99 : 0 }
        #expect(next.map(\.jobs) == [9])
    }

    @Test("Hosts share what is left of the limit, and take turns where it is less than their number")
    func turns() {
        var starts = ParkedStarts()
        let parked = Dictionary(
            uniqueKeysWithValues: ["a", "b", "c"].map { (Self.share($0), ParkedCount(jobs: 99, ready: 99)) })
        #expect(Self.next(&starts, parked, 9, 99) == ["a fast 3", "b fast 3", "c fast 3"])
        var served: [String] = []
        for _ in 0..<3 { served += Self.next(&starts, parked, 2, 99) }
        #expect(served == ["a", "b", "c", "a", "b", "c"].map { "\($0) fast 1" })
    }
}
