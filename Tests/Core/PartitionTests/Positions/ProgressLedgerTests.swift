import Clocks
import ImageModel
import Partition
import Positions
import Records
import TestSupport
import Testing

@Suite("When a progress row is written", .timeLimit(.minutes(1)))
struct ProgressLedgerTests {
    private static func row(
        _ progress: TopicProgress, isClean: Bool = false, crashes: Int = 0,
        quarantined: [ProgressRow.QuarantinedJob] = [],
        at: WallTime = 1
    ) -> ProgressRow {
        ProgressRow(
            partition: PartitionID(0), topics: [.jobsFast: progress], isClean: isClean, crashes: crashes,
            quarantined: quarantined, at: at)
    }

    private static let quiet = row(TopicProgress(next: 10, committed: 10))
    private static let later = row(TopicProgress(next: 10, committed: 10), at: 2)
    private static let moved = row(TopicProgress(next: 11, committed: 11))
    private static let ahead = row(TopicProgress(next: 10, committed: 10, finished: [12]))
    private static let leaving = row(TopicProgress(next: 10, committed: 10), isClean: true)
    private static let after = row(TopicProgress(next: 10, committed: 10), crashes: 1)
    private static let naming = row(
        TopicProgress(next: 10, committed: 10), quarantined: [.init(.jobsFast, 10, crashes: 0, begun: .beside)])

    private static func parked(fast: Int64, slow: Int64 = 0) -> ProgressRow {
        var row = quiet
        row.parked = ProgressRow.Parked(epoch: 1, lanes: ByLane { .init($0 == .fast ? fast : slow, oldest: 1) })
        return row
    }

    private struct Case: CustomTestStringConvertible {
        let written, current: ProgressRow
        let now: Instant
        let isLast, isWritten: Bool

        init(_ written: ProgressRow, _ current: ProgressRow, at now: Instant, isLast: Bool = false, _ isWritten: Bool) {
            (self.written, self.current, self.now) = (written, current, now)
            (self.isLast, self.isWritten) = (isLast, isWritten)
        }

        var testDescription: String {
            "\(written.json.count) to \(current.json.count) bytes at \(now.nanoseconds / 1_000_000) ms"
        }
    }

    @Test(
        "Once a second while something is finished ahead or suspects change, once a minute where offsets moved, and when the partition goes",
        arguments: [
            Case(quiet, later, at: 600_000, isLast: true, false),
            Case(quiet, moved, at: 1_000, false),
            Case(quiet, moved, at: 59_999, false),
            Case(quiet, moved, at: 60_000, true),
            Case(quiet, moved, at: 1, isLast: true, true),
            Case(quiet, ahead, at: 999, false),
            Case(quiet, ahead, at: 1_000, true),
            // What is finished without a gap by now is told as soon.
            Case(ahead, moved, at: 1_000, true),
            // A last row says that its owner left in good order.
            Case(quiet, leaving, at: 1, isLast: true, true),
            Case(leaving, leaving, at: 1, isLast: true, false),
            // What is under way no more, and a run of crashes that ended.
            Case(naming, quiet, at: 999, false),
            Case(naming, quiet, at: 1_000, true),
            Case(after, quiet, at: 1_000, true),
            // The number of parked jobs is right to a quarter.
            Case(quiet, parked(fast: 1), at: 1_000, true),
            Case(parked(fast: 100), parked(fast: 100, slow: 25), at: 59_999, false),
            Case(parked(fast: 100), parked(fast: 25, slow: 100), at: 60_000, true),
            Case(parked(fast: 100), parked(fast: 26, slow: 100), at: 1_000, true),
            Case(parked(fast: 100), parked(fast: 74), at: 1_000, true),
            Case(parked(fast: 1), quiet, at: 1_000, true),
        ])
    private func due(_ given: Case) {
        var ledger = ProgressLedger(given.written, at: 0)
        let row = ledger.beginWrite(at: given.now, isLast: given.isLast) { given.current }
        #expect((row != nil) == given.isWritten)
    }

    @Test("One row at a time; one that failed is written again a second later")
    func failure() {
        var ledger = ProgressLedger(Self.quiet, at: 0)
        #expect(ledger.beginWrite(at: 1_000) { Self.ahead } == Self.ahead)
        #expect(!ledger.isIdle)
        #expect(ledger.beginWrite(at: 5_000, isLast: true) { Self.moved } == nil)
        ledger.failed(Self.ahead, at: 5_000)
        #expect(ledger.beginWrite(at: 5_500) { Self.ahead } == nil)
        #expect(ledger.beginWrite(at: 6_500) { Self.ahead } == Self.ahead)
        ledger.wrote(Self.ahead, at: 6_500)
        #expect(ledger.isIdle && ledger.written == Self.ahead)
    }

    @Test("A row that may be in the log blames a job until another takes its place, be it the same as before")
    func doubtful() {
        var alone = Self.quiet
        alone.isClean = false
        alone.quarantined = [.init(.jobsFast, 1, crashes: 2, begun: .alone)]
        var ledger = ProgressLedger(Self.quiet, at: 0)
        #expect(ledger.beginMarker() && !ledger.blames)
        ledger.failed(alone, at: 0)
        #expect(ledger.blames)
        #expect(ledger.beginWrite(at: 1_000) { Self.quiet } == Self.quiet)
        ledger.failed(Self.quiet, at: 1_000)
        #expect(ledger.blames)
        #expect(ledger.beginWrite(at: 2_000, isLast: true) { Self.quiet } == Self.quiet)
        ledger.wrote(Self.quiet, at: 2_000)
        #expect(!ledger.blames)
        #expect(ledger.beginWrite(at: 3_000, isLast: true) { Self.quiet } == nil)
    }

    @Test("A marker is written at once, and no other row with it")
    func marker() {
        var ledger = ProgressLedger(Self.quiet, at: 0)
        var isBegun = ledger.beginMarker()
        #expect(isBegun)
        isBegun = ledger.beginMarker()
        #expect(!isBegun)
        #expect(ledger.beginWrite(at: 5_000, isLast: true) { Self.moved } == nil)
        ledger.restored(Self.quiet, at: 1)
        #expect(!ledger.isIdle)
        ledger.wrote(Self.naming, at: 1)
        isBegun = ledger.beginMarker()
        #expect(isBegun)
    }
}
